"""DDCFR Figures 2, 3, 5 and 6: convergence of the CFR family on the paper's games, 1000 iterations.

The hold'em panels show the stored result of ``holdem.py``, which must be run first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from papers.common.curves import SEEDS
from papers.common.drawing import dress, few_labels, legend_in, legend_outside, line_style, panels, save
from papers.common.kept import effort
from papers.common.results import Picture, Result, Table, published, short
from papers.common.study import study
from papers.ddcfr.runs import (
    FLOOR,
    ITERATIONS,
    LARGE,
    LARGE_SEEDS,
    LATE,
    POINTS,
    Run,
    Theirs,
    as_numbers,
    as_runs,
    games,
    own_policy,
    run_on,
    stored_holdem,
    theirs,
    training,
)

AUTHORS = ("cfr", "cfr+", "dcfr")
OTHERS = ("lcfr", "pcfr+", "pdcfr", "dcfr+", "pdcfr+", "apcfr+", "sapcfr+", "hs-dcfr", "hs-pcfr+")
TESTING = ("goofspiel-4", "liars_dice-4", "leduc", "big_leduc", "battleship-2", "battleship-3", "subgame-3", "subgame-4")
"""The paper's test games."""
EXACT_UNTIL = 10
THREE_DIGITS, TWO_DIGITS = 5e-3, 5e-2
"""Relative tolerance for equal numbers, by number of digits of the reference."""
STABLE = 1e-3
"""Largest relative width of a range over perturbed runs that counts as stable."""
DRAWS = 10_000
SHOWN = (1, 10, 100, 200, 500, 1000)

RunsByGame = Mapping[str, Mapping[str, Run]]
Band = tuple[float, float]


@dataclass(frozen=True)
class DdcfrRuns:
    """DDCFR by game: with the policy of the library, and with the authors' network (None where it has not been run)."""

    ours: Mapping[str, Run]
    theirs: Mapping[str, Run] | None


@dataclass(frozen=True)
class Reference:
    """Published exploitability at iteration 1000, floored, and its noise if known."""

    value: float
    tolerance: float
    band: Band

    def mark(self, run: Run) -> str:
        """Empty for equal digits, ``~`` for overlapping ranges, ``*`` for disjoint ones, ``°`` if neither side has a range."""
        low, high = run.band
        if abs(run.last / self.value - 1.0) <= self.tolerance:
            return ""
        if self.band[0] == self.band[1] and low == high:
            return "°"
        slack = 1.0 + self.tolerance
        return "~" if low <= self.band[1] * slack and self.band[0] <= high * slack else "*"

    def distance(self, run: Run) -> float:
        """Relative gap between the ranges, measured from the nearer end of the reference's."""
        low, high = run.band
        return max(low / self.band[1], self.band[0] / high) - 1.0


References = Mapping[str, Mapping[str, Reference]]


def references(numbers: Mapping) -> dict[str, dict[str, Reference]]:
    """The published numbers by game and algorithm."""
    final, bands = numbers["final"], numbers["noise_band"]["exploitability"]
    found: dict[str, dict[str, Reference]] = {}
    for name, row in final["exploitability"].items():
        rough = final["two_digits"].get(name, ())
        found[name] = {}
        for algorithm, value in row.items():
            value = max(value, FLOOR)
            low, high = bands.get(name, {}).get(algorithm, (value, value))
            tolerance = TWO_DIGITS if algorithm in rough else THREE_DIGITS
            found[name][algorithm] = Reference(value, tolerance, (min(low, value), max(high, value)))
    return found


def cell(reference: Reference | None, run: Run) -> str:
    """Published and measured numbers with the mark."""
    if reference is None:
        return f"- / {short(run.last)}"
    return f"{short(reference.value)} / {short(run.last)} {reference.mark(run)}".strip()


def table(caption: str, algorithms: Sequence[str], runs: RunsByGame, known: References) -> Table:
    """One row per game, one column per algorithm."""
    rows = [[name, *(cell(known[name].get(key), found[key]) for key in algorithms)] for name, found in runs.items()]
    return Table(caption, ["game", *algorithms], rows)


def noise_table(known: References, runs: RunsByGame) -> Table:
    """Ranges of the authors' algorithms, reference and measured."""
    rows = [[name, *(f"{spread(known[name][key].band)}; {found[key].ends}" for key in AUTHORS)] for name, found in runs.items()]
    return Table(
        "Ranges at iteration 1000 under perturbations of the size of rounding: reference; measured", ["game", *AUTHORS], rows
    )


def spread(band: Band) -> str:
    """A range, or one number if both ends print identically."""
    low, high = map(short, band)
    return low if low == high else f"{low} to {high}"


def published_ddcfr(name: str, numbers: Mapping, known: References, key: str = "ddcfr") -> float:
    """A published final value, tabular or hold'em."""
    if name in known:
        return known[name][key].value
    return float(numbers["holdem"]["curves"][name][key][-1])


def fixed_dcfr(runs: RunsByGame) -> dict[str, Run]:
    """DCFR by game; hold'em in the authors' precision, from the stored result of ``holdem.py``."""
    holdem = stored_holdem().get("float32", {})
    return {name: found["dcfr"] for name, found in runs.items()} | as_runs({n: found["dcfr"] for n, found in holdem.items()})


def learned_table(runs: RunsByGame, learned: DdcfrRuns, known: References, numbers: Mapping) -> Table:
    """DDCFR, published and measured, compared with DCFR."""
    fixed, rows = fixed_dcfr(runs), []
    for name, run in learned.ours.items():
        value, base = published_ddcfr(name, numbers, known), fixed[name]
        theirs = learned.theirs.get(name) if learned.theirs else None
        mark = known[name]["ddcfr"].mark(theirs) if theirs and name in known else ""
        rows.append(
            [
                name,
                short(value),
                f"{theirs.text()} {mark}".strip() if theirs else "-",
                run.text(),
                base.text(),
                relative(value / published_ddcfr(name, numbers, known, "dcfr")),
                change(theirs, base) if theirs else "-",
                change(run, base),
            ]
        )
    head = ["game", "published", "authors' network", "our policy", "DCFR, measured"]
    head += ["against DCFR, published", "authors' network", "our policy"]
    return Table("DDCFR at iteration 1000; in brackets ranges of perturbed runs", head, rows)


def change(run: Run, base: Run) -> str:
    """Relative change between two runs by geometric means, with ``~`` if their ranges overlap."""
    overlap = run.band[0] <= base.band[1] and base.band[0] <= run.band[1]
    return relative(run.middle / base.middle) + (" ~" if overlap else "")


def relative(ratio: float) -> str:
    """A ratio as a change in per cent, from three times on as a multiple."""
    return f"{ratio - 1:+.0%}" if ratio < 3.0 else f"× {ratio:.3g}"


def curves_table(numbers: Mapping, theirs: Mapping[str, Run]) -> Table:
    """The authors' network over the iterations, compared with their files."""
    rows = []
    for name, curves in numbers["curves"]["exploitability"].items():
        ours = dict(zip(POINTS, theirs[name].curve, strict=True))
        rows.append([name, *(f"{short(max(curves['ddcfr'][str(t)], FLOOR))} / {short(ours[t])}" for t in SHOWN)])
    caption = "The authors' network over the iterations, their files / measured here"
    return Table(caption, ["iteration", *map(str, SHOWN)], rows)


def gap(numbers: Mapping, name: str, run: Run, times: Sequence[int]) -> float:
    """The greatest relative difference of the authors' network from their file at some iterations."""
    published, ours = numbers["curves"]["exploitability"][name]["ddcfr"], dict(zip(POINTS, run.curve, strict=True))
    return max(abs(ours[t] / max(published[str(t)], FLOOR) - 1.0) for t in times)


def along_curves(numbers: Mapping, theirs: Mapping[str, Run]) -> str:
    """Agreement of the authors' network with their files on stable and unstable runs, as a sentence."""
    curves = numbers["curves"]["exploitability"]
    stable = [name for name in curves if theirs[name].band[1] <= (1.0 + STABLE) * theirs[name].band[0]]
    parts = [f"{name} {gap(numbers, name, theirs[name], SHOWN):.0e}" for name in stable]
    text = f"Where runs are stable, all listed iterations agree with a relative difference of at most {', '.join(parts)}"
    chaotic = [name for name in curves if name not in stable]
    if not chaotic:
        return f"{text}."
    early = [f"{name} {gap(numbers, name, theirs[name], (1, EXACT_UNTIL)):.0e}" for name in chaotic]
    inside = [
        theirs[name].low[LATE.index(t)] <= curves[name]["ddcfr"][str(t)] <= theirs[name].high[LATE.index(t)]
        for name in chaotic
        for t in SHOWN
        if t in LATE
    ]
    return (
        f"{text}. On {' and '.join(chaotic)}, where rounding decides ties, iterations up to {EXACT_UNTIL} agree ("
        f"{', '.join(early)}), and {sum(inside)} of {len(inside)} later numbers lie in the range of perturbed runs."
    )


@dataclass(frozen=True)
class Reduction:
    """Reduction of exploitability from DCFR to DDCFR over several games: geometric mean of ratios, and a 90% range of draws."""

    geometric: float
    low: float
    high: float
    arithmetic: float
    games: tuple[str, ...]

    def text(self) -> str:
        return f"{relative(1 - self.geometric)} (90% of draws of one run per game: {relative(1 - self.high)} to " + (
            f"{relative(1 - self.low)})"
        )


def reduction(fixed: Mapping[str, Run], learned: Mapping[str, Run]) -> Reduction:
    """The reduction over the testing games that have been run."""
    names = tuple(name for name in TESTING if name in learned and name in fixed)
    ratios = [learned[name].middle / fixed[name].middle for name in names]
    random = np.random.default_rng(0)
    logs = np.zeros(DRAWS)
    for name in names:
        above, below = (np.log(runs[name].finals) for runs in (learned, fixed))
        logs += random.choice(above, DRAWS) - random.choice(below, DRAWS)
    high, low = (float(q) for q in np.quantile(logs / len(names), (0.05, 0.95)))
    mean = exp(sum(map(log, ratios)) / len(names))
    return Reduction(1 - mean, 1 - exp(low), 1 - exp(high), 1 - sum(ratios) / len(names), names)


def reduction_sentence(numbers: Mapping, runs: RunsByGame, learned: DdcfrRuns, known: References) -> str:
    """The reduction from DCFR to DDCFR, as a sentence."""
    fixed = fixed_dcfr(runs)
    ours = reduction(fixed, learned.ours)
    ratios = [published_ddcfr(name, numbers, known) / published_ddcfr(name, numbers, known, "dcfr") for name in ours.games]
    geometric, arithmetic = 1 - exp(sum(map(log, ratios)) / len(ratios)), 1 - sum(ratios) / len(ratios)
    parts = [
        f"Relative to DCFR, as the geometric mean of ratios over {len(ours.games)} test games, exploitability at "
        f"iteration {ITERATIONS} changes by {ours.text()} with our policy"
    ]
    if learned.theirs:
        theirs = reduction(fixed, learned.theirs)
        count = "" if theirs.games == ours.games else f" on {len(theirs.games)} games"
        parts.append(f"{theirs.text()} with the authors' network{count}")
    parts.append(f"{relative(1 - geometric)} in the authors' files, which have one run per game")
    paper = (
        "The paper averages relative changes over the games instead and reports -42%. Averaged that way, its files give "
        f"{-arithmetic:.0%}, "
    )
    paper += f"our policy {relative(1 - ours.arithmetic)}"
    paper += f", the authors' network run here {relative(1 - theirs.arithmetic)}." if learned.theirs else "."
    missing = [name for name in TESTING if name not in ours.games]
    paper += f" Not counted, because not run: {', '.join(missing)}." if missing else ""
    return f"{', '.join(parts)}. {paper}"


def tally(pairs: Mapping[str, tuple[Reference, Run]]) -> str:
    """Counts of the marks, as a sentence."""
    marks: dict[str, list[str]] = {mark: [] for mark in ("", "~", "*", "°")}
    for name, (reference, run) in pairs.items():
        mark = reference.mark(run)
        marks[mark].append(f"{name} by {reference.distance(run):.1%}" if mark == "*" else name)
    parts = [f"{len(marks[''])} of {len(pairs)} agree to their digits"]
    parts += [f"for {len(marks['~'])} more the ranges under rounding overlap"] if marks["~"] else []
    parts += [f"apart: {len(marks['*'])} ({', '.join(marks['*'])})"] if marks["*"] else ["none differs"]
    parts += [f"{len(marks['°'])} differ where no range is known ({', '.join(marks['°'])})"] if marks["°"] else []
    return "; ".join(parts) + "."


def tally_of(algorithms: Sequence[str], runs: RunsByGame, known: References) -> str:
    """:func:`tally` of fixed variants."""
    return tally(
        {
            f"{key} on {name}": (known[name][key], found[key])
            for name, found in runs.items()
            for key in algorithms
            if key in known[name]
        }
    )


def network_sentence(numbers: Mapping, learned: DdcfrRuns, known: References) -> str:
    """Whether the authors' network reproduces their results, as a sentence."""
    if not learned.theirs:
        return "The authors' network has not been run here, so whether the scheme is theirs was not checked by it."
    ends = tally({name: (known[name]["ddcfr"], run) for name, run in learned.theirs.items() if name in known})
    return (
        f"The scheme is the authors'. With their network, exploitability at iteration {ITERATIONS} compared with "
        f"their files: {ends} "
    ) + along_curves(numbers, learned.theirs)


def policy_sentence(learned: DdcfrRuns, runs: RunsByGame) -> str:
    """Description of our policy, and the games on which it beats DCFR beyond noise."""
    fixed = fixed_dcfr(runs)
    better = [n for n, run in learned.ours.items() if run.band[1] < fixed[n].band[0]]
    worse = [n for n, run in learned.ours.items() if run.band[0] > fixed[n].band[1]]
    parts = [f"below DCFR's on {len(better)} of {len(learned.ours)} games" + (f" ({', '.join(better)})" if better else "")]
    parts.append(f"above it on {len(worse)}" + (f" ({', '.join(worse)})" if worse else ""))
    policy = own_policy()
    whose = (
        f"{training(policy)} So these numbers may differ from the paper's."
        if policy.card
        else "Our policy is an untrained placeholder. Its columns say nothing about DDCFR."
    )
    return f"{whose} Its whole range lies {', '.join(parts)}; on the other games the ranges overlap."


def early_gap(runs: RunsByGame, reference: Mapping) -> dict[str, float]:
    """The greatest relative difference from the reference run at iterations 1 and 10, by game."""
    return {
        name: max(
            abs(runs[name][key].curve[POINTS.index(t)] / max(values[str(t)], FLOOR) - 1.0)
            for key, values in curves.items()
            if key in runs[name]
            for t in (1, EXACT_UNTIL)
        )
        for name, curves in reference.items()
    }


def double_precision(runs: RunsByGame, numbers: Mapping) -> str:
    """Big Leduc compared with the independent solver, which also uses double precision."""
    reference = numbers["reference"]["exploitability"]["big_leduc"]
    pairs = [f"{key} {short(reference[key][str(ITERATIONS)])} and {short(runs['big_leduc'][key].last)}" for key in AUTHORS]
    return (
        "the authors ran Big Leduc in single precision; the independent solver, in double precision, and this run "
        f"give {', '.join(pairs)}"
    )


def findings(numbers: Mapping, runs: RunsByGame, learned: DdcfrRuns, known: References) -> list[str]:
    """The findings."""
    gaps = early_gap(runs, numbers["reference"]["exploitability"])
    return [
        network_sentence(numbers, learned, known),
        policy_sentence(learned, runs),
        reduction_sentence(numbers, runs, learned, known),
        f"CFR, CFR+ and DCFR at iteration {ITERATIONS}, compared with the authors' files: "
        f"{tally_of(AUTHORS, runs, known)} In addition, {double_precision(runs, numbers)}. On Battleship-3 the "
        "reference is a single run without a range.",
        f"Other fixed variants, compared with the independent solver: {tally_of(OTHERS, runs, known)}",
        f"At iterations 1 and {EXACT_UNTIL}, before rounding matters, the largest relative difference of fixed "
        "variants from the reference runs is " + ", ".join(f"{gap:.0e} on {name}" for name, gap in gaps.items()) + ".",
    ]


def notes(numbers: Mapping, authors: Theirs) -> list[str]:
    """How it was measured."""
    return [
        f"Published curves: {numbers['curves']['source']}.",
        f"Published table: {numbers['final']['source']}.",
        authors.note,
        "Marks: none, the same digits; `~`, the ranges below overlap; `*`, they do not; `°`, no range is known on "
        "either side; `-`, no reference. In the columns that compare with DCFR, `~` means that the ranges of the two "
        "algorithms overlap.",
        f"Reference ranges: {numbers['noise_band']['source']}. Measured ranges: the run and {len(SEEDS)} more with "
        f"the same perturbation ({len(LARGE_SEEDS)} on {' and '.join(LARGE)}, there for {', '.join(AUTHORS)} and "
        "ddcfr only). Near ties one rounding decides the next policy, so two correct programs diverge after some "
        "tens of iterations on some games. Eight runs do not show the whole range.",
        "A reference without a range is a single run, so a `*` next to it is weak evidence.",
        (
            "The comparison of DDCFR with DCFR uses geometric means over those runs. Each comparison draws one run of each "
            "algorithm per game."
        ),
        effort(),
    ]


DRAWN = ("cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "pdcfr+", "dcfr+", "hs-dcfr")
TRAINING = ("small_matrix", "kuhn", "goofspiel-3", "liars_dice-3")
HOLDEM = ("subgame-3", "subgame-4")
OURS_STYLE = {"color": "#4B2E83", "linestyle": "-", "linewidth": 2.0}
THEIRS_STYLE = {"color": "#E69F00", "linestyle": (0, (5, 1.5)), "linewidth": 2.0}
RANGE_STYLE = {"color": "#9A9A9A", "linewidth": 8, "alpha": 0.4}
POINT = {"color": "#000000", "linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "none", "zorder": 6}
CROSS = {"color": "#000000", "linestyle": "none", "marker": "x", "markersize": 6, "zorder": 6}


@dataclass(frozen=True)
class Panel:
    """Content of one panel.

    Attributes:
        title: the game.
        points: iterations of the curves.
        fixed: CFR, CFR+ and DCFR.
        ours, theirs: learned, if they have been run.
        published: DDCFR's published exploitability by iteration.
        ends: the published final value of each fixed algorithm.
    """

    title: str
    points: Sequence[int]
    fixed: Mapping[str, Run]
    ours: Run | None
    theirs: Run | None
    published: Mapping[int, float]
    ends: Mapping[str, float]

    @property
    def lines(self) -> list[tuple[Run, Mapping[str, Any]]]:
        """Runs and their styles."""
        found = [(self.fixed[key], line_style(number)) for number, key in enumerate(AUTHORS)]
        found += [(self.theirs, THEIRS_STYLE)] if self.theirs else []
        return found + ([(self.ours, OURS_STYLE)] if self.ours else [])


def tabular_panels(runs: RunsByGame, learned: DdcfrRuns, known: References, curves: Mapping) -> list[Panel]:
    """A panel per tabular game."""
    found = []
    for name, fixed in runs.items():
        marks = {int(t): max(value, FLOOR) for t, value in curves.get(name, {}).get("ddcfr", {}).items()}
        marks = marks or {ITERATIONS: known[name]["ddcfr"].value}
        ends = {key: known[name][key].value for key in AUTHORS}
        title = name + (" (training)" if name in TRAINING else "")
        found.append(Panel(title, POINTS, fixed, learned.ours[name], learned.theirs and learned.theirs.get(name), marks, ends))
    return found


def holdem_panels(known: Mapping, learned: DdcfrRuns) -> list[Panel]:
    """A panel per hold'em subgame, from the stored result of ``holdem.py``; empty if there is none."""
    numbers, curves, found = stored_holdem(), known["holdem"]["curves"], []
    for name in HOLDEM if numbers else ():
        fixed = {key: Run(**run) for key, run in numbers["float32"][name].items() if key in AUTHORS}
        marks = dict(zip(curves["t"], curves[name]["ddcfr"], strict=True))
        ends = {key: curves[name][key][-1] for key in AUTHORS}
        ours, authors = learned.ours.get(name), learned.theirs and learned.theirs.get(name)
        found.append(Panel(f"{name} (hold'em)", numbers["iterations"], fixed, ours, authors, marks, ends))
    return found


def draw(shown: Sequence[Panel], file: str, alt: str, fill: Callable[[Axes, Panel], None]) -> Picture:
    """A panel per game and one legend."""
    figure, axes = panels(4, 3, size=(10.5, 12.6))
    for place, panel in enumerate(shown):
        fill(axes[place], panel)
        if place % 3 == 0:
            axes[place].set_ylabel("exploitability", fontsize=10)
        if place + 3 >= len(shown):
            axes[place].set_xlabel("iterations", fontsize=10)
    for place in axes[len(shown) :]:
        place.set_axis_off()
    entries = {key: line_style(number) for number, key in enumerate(AUTHORS) if key != "cfr" or fill is whole}
    entries |= {"ddcfr, our policy": OURS_STYLE, "ddcfr, the authors' network": THEIRS_STYLE}
    entries |= {"DDCFR, published": POINT, "fixed variants, published end": CROSS}
    entries |= {"range of perturbed runs": RANGE_STYLE} if fill is late else {}
    legend_outside(figure, entries, columns=4)
    return save(figure, file, alt)


def whole(axes: Axes, panel: Panel) -> None:
    """All iterations, as in figures 5 and 6."""
    for run, style in panel.lines:
        axes.plot(panel.points, run.curve, **style)
    axes.plot(list(panel.published), list(panel.published.values()), **POINT, clip_on=False)
    axes.plot([ITERATIONS] * len(panel.ends), list(panel.ends.values()), **CROSS, clip_on=False)
    dress(axes, panel.title)
    axes.set_xlim(1, ITERATIONS)


def late(axes: Axes, panel: Panel) -> None:
    """The last 500 iterations, as in figures 2 and 3, with the ranges of perturbed runs; CFR is far above and omitted."""
    for run, style in panel.lines[1:]:
        axes.fill_between(LATE, run.low, run.high, color=style["color"], alpha=0.25, linewidth=0)
        axes.plot(LATE, run.late[0], **style)
    marks = {t: value for t, value in panel.published.items() if t >= LATE[0]}
    axes.plot(list(marks), list(marks.values()), **POINT, clip_on=False)
    ends = [value for key, value in panel.ends.items() if key != "cfr"]
    axes.plot([ITERATIONS] * len(ends), ends, **CROSS, clip_on=False)
    dress(axes, panel.title)
    axes.set_xscale("linear")
    axes.set(xlim=(LATE[0], ITERATIONS), xticks=[500, 600, 700, 800, 900, 1000])
    few_labels(axes)


def draw_variants(runs: RunsByGame) -> Picture:
    """The fixed variants missing from the paper, compared with those in it."""
    figure, axes = panels(4, 3, size=(10.5, 11.0))
    for place, (name, found) in enumerate(runs.items()):
        for number, key in enumerate(DRAWN):
            axes[place].plot(POINTS, found[key].curve, **line_style(number))
        dress(axes[place], name)
        axes[place].set_xlim(1, ITERATIONS)
        if place % 3 == 0:
            axes[place].set_ylabel("exploitability", fontsize=10)
        if place >= 7:
            axes[place].set_xlabel("iterations", fontsize=10)
    legend_in(axes[10], {key: line_style(number) for number, key in enumerate(DRAWN)}, title="Measured")
    axes[11].set_axis_off()
    return save(
        figure,
        "ddcfr-variants.png",
        "Exploitability against iterations, both logarithmic, of eight fixed variants on the ten tabular games",
    )


def measure() -> tuple[dict[str, dict[str, Run]], DdcfrRuns, Theirs]:
    """All runs: fixed variants, our policy, the authors' network; hold'em from ``holdem.py``."""
    runs: dict[str, dict[str, Run]] = {}
    ours: dict[str, Run] = {}
    for name, game in games().items():
        few = () if game.seeds is not None and name in ("battleship-3", "big_leduc") else None
        runs[name] = {key: run_on(game, key) for key in AUTHORS} | {key: run_on(game, key, seeds=few) for key in OTHERS}
        ours[name] = run_on(game, own_policy())
        print(f"{name} done", flush=True)
    authors = theirs(
        "ddcfr/curves",
        lambda policy: as_numbers({"runs": {name: run_on(game, policy) for name, game in games().items()}})["runs"],
    )
    holdem = stored_holdem().get("learned", {})
    ours |= as_runs(holdem.get("ours", {}))
    found = as_runs(authors.found) | as_runs(holdem.get("theirs") or {}) if authors.found else None
    return runs, DdcfrRuns(ours, found), authors


@study(title="DDCFR, Figures 2, 3, 5 and 6: convergence", place=2, minutes=4)
def reproduce() -> Result:
    numbers = published("ddcfr")
    runs, learned, authors = measure()
    known = references(numbers)
    shown = [*tabular_panels(runs, learned, known, numbers["curves"]["exploitability"]), *holdem_panels(numbers, learned)]
    return Result(
        source=f"{numbers['source']}; figures 2 and 3 (iterations 500 to 1000), 5 and 6 (all)",
        findings=findings(numbers, runs, learned, known),
        tables=[
            learned_table(runs, learned, known, numbers),
            *([curves_table(numbers, learned.theirs)] if learned.theirs else []),
            table("Exploitability at iteration 1000, authors' files / measured", AUTHORS, runs, known),
            table("The other fixed variants, independent solver / measured", OTHERS, runs, known),
            noise_table(known, runs),
        ],
        pictures=[
            draw(
                shown,
                "ddcfr-curves-late.png",
                "Figures 2 and 3: exploitability over iterations 500 to 1000 on the paper's games, of CFR+, DCFR, our "
                "DDCFR policy and the authors' network, with the ranges of perturbed runs and published numbers as marks",
                late,
            ),
            draw(
                shown,
                "ddcfr-curves.png",
                "Figures 5 and 6: exploitability against iterations, both logarithmic, of CFR, CFR+, DCFR, our DDCFR "
                "policy and the authors' network on the paper's games, with published numbers as marks",
                whole,
            ),
            draw_variants(runs),
        ],
        notes=notes(numbers, authors),
        numbers={
            "iterations": POINTS,
            "ranges_at": list(LATE),
            "runs": as_numbers(runs),
            "ddcfr": as_numbers({"ours": learned.ours})["ours"],
            "authors_network": authors.record,
        },
    )
