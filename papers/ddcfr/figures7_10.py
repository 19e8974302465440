"""DDCFR Figures 7 to 10: DDCFR compared with Greedy Weights and PCFR+, DPCFR+ with PCFR+, PDDCFR with PDCFR.

The figures have no numbers, so the paper's statements about them are tested.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from papers.common.drawing import dress, few_labels, legend_outside, panels, save
from papers.common.kept import effort
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from papers.ddcfr.runs import (
    ITERATIONS,
    LARGE,
    LARGE_SEEDS,
    LATE,
    POINTS,
    SEEDS,
    Run,
    Theirs,
    as_numbers,
    as_runs,
    described,
    games,
    own_policy,
    run_on,
    theirs,
    training,
)
from treeplex.solvers import DiscountPolicy

NETWORK = "ddcfr, authors' network"
CLOSE = 1.05
"""Largest ratio of geometric means that counts as equal regardless of ranges."""
PAIRS = 0.95
"""If ranges overlap: the least share of pairs of runs, one of each scheme, that must agree on the lower one."""
MANY = range(1, 65)
"""Number of perturbed runs if ranges overlap."""
BASE_STYLE = {"color": "#D55E00", "linestyle": "--", "linewidth": 1.8}
OURS_STYLE = {"color": "#4B2E83", "linestyle": "-", "linewidth": 2.0}
THEIRS_STYLE = {"color": "#E69F00", "linestyle": (0, (5, 1.5)), "linewidth": 2.0}
RANGE_STYLE = {"color": "#9A9A9A", "linewidth": 8, "alpha": 0.4}

POKER, OTHER = ("leduc", "big_leduc"), ("goofspiel-4", "liars_dice-4")
LOWER, HIGHER, NOT_HIGHER = "lower", "higher", "not higher"

Runs = Mapping[str, Mapping[str, Run]]


@dataclass(frozen=True)
class Figure:
    """One figure of the paper.

    Attributes:
        number: of the figure.
        learned, base: the compared schemes.
        says: by game, the paper's statement on how the learned scheme ends relative to the base.
    """

    number: int
    learned: str
    base: str
    says: Mapping[str, str]

    def contenders(self, networks: Mapping[str, Run]) -> tuple[str, ...]:
        """The learned schemes to compare with the base; for DDCFR also the authors' network."""
        return (self.learned, NETWORK) if self.learned == "ddcfr" and networks else (self.learned,)


FIGURES = (
    Figure(7, "ddcfr", "greedy", dict.fromkeys(("battleship-2", "liars_dice-4", "kuhn", "leduc"), LOWER)),
    Figure(8, "ddcfr", "pcfr+", dict.fromkeys(POKER, LOWER) | dict.fromkeys(OTHER, HIGHER)),
    Figure(9, "dpcfr+", "pcfr+", dict.fromkeys(POKER, NOT_HIGHER) | dict.fromkeys(OTHER, LOWER)),
    Figure(10, "pddcfr", "pdcfr", dict.fromkeys((*POKER, *OTHER), LOWER)),
)


def overlap(first: Run, second: Run) -> bool:
    """Whether the ranges of two runs overlap."""
    return first.band[0] <= second.band[1] and second.band[0] <= first.band[1]


def pairs_lower(first: Run, second: Run) -> tuple[int, int]:
    """Number of pairs of runs, one of each, in which the first is lower, and the number of pairs."""
    return sum(one < other for one in first.finals for other in second.finals), len(first.finals) * len(second.finals)


def undecided(first: Run, second: Run) -> bool:
    """Whether the means of two runs are close, or their ranges overlap and too few pairs agree on the lower one."""
    if max(first.middle, second.middle) <= CLOSE * min(first.middle, second.middle):
        return True
    lower, pairs = pairs_lower(first, second)
    return overlap(first, second) and pairs * (1.0 - PAIRS) < lower < pairs * PAIRS


def verdict(learned: Run, base: Run, says: str) -> str:
    """Whether the paper's statement holds here: yes, no, or undecided."""
    if undecided(learned, base):
        return "yes" if says == NOT_HIGHER else "undecided"
    lower, pairs = pairs_lower(learned, base)
    return "yes" if (2 * lower > pairs) == (says != HIGHER) else "no"


def factor(learned: Run, base: Run) -> str:
    """Factor by which the learned scheme ends lower or higher, by geometric means."""
    ratio = learned.middle / base.middle
    return f"{1 / ratio:.3g} times lower" if ratio < 1 else f"{ratio:.3g} times higher"


def measure() -> tuple[dict[str, dict[str, Run]], Theirs]:
    """All runs, by game and name."""
    wanted: dict[str, list[str]] = {}
    for figure in FIGURES:
        for name in figure.says:
            wanted.setdefault(name, []).extend((figure.learned, figure.base))
    found = games(*wanted)
    runs: dict[str, dict[str, Run]] = {}
    for name, keys in wanted.items():
        runs[name] = {key: run_on(found[name], algorithm(key)) for key in dict.fromkeys(keys)}
        if name not in LARGE:
            for key in overlapping(name, runs[name]):
                runs[name][key] = run_on(found[name], algorithm(key), seeds=MANY)
        print(f"{name} done", flush=True)
    authors = theirs(
        "ddcfr/figures7_10",
        lambda policy: as_numbers({"runs": {name: run_on(game, policy) for name, game in found.items()}})["runs"],
    )
    for name, run in as_runs(authors.found or {}).items():
        runs[name][NETWORK] = run
    return runs, authors


def overlapping(name: str, runs: Mapping[str, Run]) -> list[str]:
    """The schemes of a figure whose ranges overlap on a game."""
    pairs = [(figure.learned, figure.base) for figure in FIGURES if name in figure.says]
    return list(dict.fromkeys(key for pair in pairs if overlap(*(runs[key] for key in pair)) for key in pair))


def algorithm(key: str) -> str | DiscountPolicy:
    """A learned scheme's policy, or the name of a fixed algorithm."""
    return own_policy(key) if key in {figure.learned for figure in FIGURES} else key


def comparison(figure: Figure, runs: Runs) -> Table:
    """One figure as a table."""
    rows = []
    for name, says in figure.says.items():
        base = runs[name][figure.base]
        for key in figure.contenders({key: run for key, run in runs[name].items() if key == NETWORK}):
            run = runs[name][key]
            label = key if key == NETWORK else f"{key}, our policy"
            rows.append([f"{name}: {label}", run.text(), base.text(), factor(run, base), says, verdict(run, base, says)])
    head = ["", "learned", f"`{figure.base}`", "the learned scheme ends", "the paper says", "holds"]
    return Table(f"Figure {figure.number}: {figure.learned} and {figure.base}, iteration {ITERATIONS}", head, rows)


def sentence(figure: Figure, runs: Runs, key: str) -> str:
    """Number of games on which the paper's statement holds, as a sentence."""
    verdicts = {name: verdict(runs[name][key], runs[name][figure.base], says) for name, says in figure.says.items()}
    parts = []
    for word, text in (("yes", "holds"), ("no", "does not hold"), ("undecided", "is undecided")):
        names = [name for name, found in verdicts.items() if found == word]
        factors = [f"{name} ({ended(figure, name, key, runs)})" for name in names]
        parts += [f"{text} on {', '.join(factors)}"] if names else []
    whose = "the authors' network" if key == NETWORK else f"our policy ({described(own_policy(key))})"
    what = f"{figure.learned} with {whose} compared with {figure.base}"
    return f"Figure {figure.number}, {what}: the paper's statement {'; '.join(parts)}."


def ended(figure: Figure, name: str, key: str, runs: Runs) -> str:
    """The factor and, if ranges overlap, the number of pairs of runs in which the learned one is lower."""
    learned, base = runs[name][key], runs[name][figure.base]
    if not overlap(learned, base):
        return factor(learned, base)
    lower, pairs = pairs_lower(learned, base)
    return f"{factor(learned, base)}; ranges overlap, lower in {lower:,} of {pairs:,} pairs of runs"


def said(figure: Figure) -> str:
    """The paper's statement, as a sentence."""
    parts = []
    for word in (LOWER, NOT_HIGHER, HIGHER):
        names = [name for name, says in figure.says.items() if says == word]
        parts += [f"{word} on {', '.join(names)}"] if names else []
    return f"figure {figure.number}, {figure.learned} compared with {figure.base}: {' and '.join(parts)}"


def draw(runs: Runs) -> Picture:
    """A row per figure, a panel per game."""
    figure, axes = panels(4, 4, size=(12.0, 11.6))
    for row, one in enumerate(FIGURES):
        for column, name in enumerate(one.says):
            panel = axes[4 * row + column]
            line(panel, runs[name][one.base], BASE_STYLE)
            if NETWORK in runs[name] and one.learned == "ddcfr":
                line(panel, runs[name][NETWORK], THEIRS_STYLE)
            line(panel, runs[name][one.learned], OURS_STYLE)
            dress(panel, name)
            panel.set_xscale("linear")
            panel.set(xlim=(0, ITERATIONS), xticks=[0, 250, 500, 750, 1000])
            few_labels(panel)
            if column == 0:
                panel.set_ylabel(f"Figure {one.number}: {one.learned}, {one.base}\nexploitability", fontsize=10)
            if row == 3:
                panel.set_xlabel("iterations", fontsize=10)
    entries = {
        "learned, our policy": OURS_STYLE,
        "ddcfr, the authors' network": THEIRS_STYLE,
        "what it is compared with": BASE_STYLE,
        "range of perturbed runs": RANGE_STYLE,
    }
    legend_outside(figure, entries, columns=4)
    return save(
        figure,
        "ddcfr-figures-7-10.png",
        "Exploitability over 1000 iterations, a row per figure of the paper and a panel per game: a learned scheme "
        "and its baseline",
    )


def line(panel: Axes, run: Run, style: Mapping[str, Any]) -> None:
    """A curve and, over the last 500 iterations, the range of perturbed runs."""
    panel.fill_between(LATE, run.low, run.high, color=style["color"], alpha=0.25, linewidth=0)
    panel.plot(POINTS, run.curve, **style)


@study(title="DDCFR, Figures 7 to 10: Greedy Weights, PCFR+, DPCFR+ and PDDCFR", place=8, minutes=2)
def reproduce() -> Result:
    runs, authors = measure()
    networks = as_runs(authors.found or {})
    return Result(
        source=f"{published('ddcfr')['source']}; figures 7 to 10",
        findings=[sentence(figure, runs, key) for figure in FIGURES for key in figure.contenders(networks)],
        tables=[comparison(figure, runs) for figure in FIGURES],
        pictures=[draw(runs)],
        notes=notes(authors),
        numbers={
            "iterations": POINTS,
            "ranges_at": list(LATE),
            "runs": as_numbers(runs),
            "authors_network": authors.record,
        },
    )


def notes(authors: Theirs) -> Sequence[str]:
    """How it was measured."""
    return [
        f"The paper's statements about exploitability at the end: {'; '.join(map(said, FIGURES))}. The figures have no "
        f"numbers.",
        f"Ranges in brackets are over the run and {len(SEEDS)} perturbed ones ({len(LARGE_SEEDS)} on {LARGE[1]}, "
        f"{len(MANY)} where the ranges of that many overlap, except for the authors' network). Factors compare "
        f"geometric means. Where ranges overlap, pairs of runs decide, one of each scheme: {PAIRS:.0%} have to agree. "
        f"Undecided: fewer agree, or means are within {CLOSE - 1:.0%}. This rule was introduced after the first ranges, of "
        f"8 perturbed runs, had overlapped on battleship-2. There the unperturbed run of Greedy Weights finds an exact "
        "equilibrium by chance, because the game is symmetric.",
        "Greedy Weights in extensive form is the library's own reading: one weight for all infosets, at least half "
        "the mean weight, simultaneous updates. The authors' adaptation is not published, nor is code for PDCFR, "
        "DPCFR+ and PDDCFR. `pdcfr` is DCFR whose next policy uses regrets with the next discount, plus the last "
        "regrets once more. The authors' networks for DPCFR+ and PDDCFR are not published either.",
        *(training(own_policy(key), key) for key in dict.fromkeys(figure.learned for figure in FIGURES)),
        authors.note,
        effort(),
    ]
