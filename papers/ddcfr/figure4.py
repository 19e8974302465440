"""DDCFR Figure 4: alpha, beta, gamma and tau over the iterations, chosen by our policy and by the authors' network."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from papers.common.drawing import dress, legend_outside, line_style, panels, save
from papers.common.kept import code, effort, kept
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from papers.ddcfr.runs import STEERED, Game, Theirs, described, digest, games, own_policy, theirs, training
from treeplex.engine.tree.learned import trace_episode
from treeplex.solvers import DiscountPolicy, Weights
from treeplex.solvers.rules.variants import VARIANTS

HORIZON = 1000
TIMES = (1, *range(10, HORIZON + 1, 10))
SHOWN = (10, 100, 300, 500, 600, 800, 1000)
SYMBOLS = {"alpha": "α", "beta": "β", "gamma": "γ", "tau": "τ"}
FIXED = {"alpha": 1.5, "beta": 0.0, "gamma": 2.0}
"""DCFR's."""
WHO = {"ours": "our policy", "theirs": "authors' network"}
VARIANT_ROWS = ("dcfr", "dcfr+", "hs-dcfr")
EARLY, LATE = slice(0, 11), slice(-11, None)
"""Indices in :data:`TIMES` of the first and last hundred iterations."""
BIGGER = 0.05
"""Differences below this count as zero."""

Trace = Mapping[str, Sequence[float]]
Traces = Mapping[str, Trace]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about figure 4, and a test of it on one run.

    Attributes:
        words: the statement.
        holds: whether a trace satisfies it.
    """

    words: str
    holds: Callable[[Trace], bool]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def rise(trace: Trace, key: str) -> float:
    """Mean of the last hundred iterations over that of the first."""
    return mean(trace[key][LATE]) - mean(trace[key][EARLY])


CLAIMS = (
    Claim("α rises", lambda trace: rise(trace, "alpha") > BIGGER),
    Claim("β falls", lambda trace: rise(trace, "beta") < -BIGGER),
    Claim("γ falls", lambda trace: rise(trace, "gamma") < -BIGGER),
    Claim("early, α is below DCFR's", lambda trace: mean(trace["alpha"][EARLY]) < FIXED["alpha"] - BIGGER),
    Claim("early, γ is above DCFR's", lambda trace: mean(trace["gamma"][EARLY]) > FIXED["gamma"] + BIGGER),
    Claim("β is below DCFR's all the time", lambda trace: max(trace["beta"]) < FIXED["beta"]),
    Claim("early, weights change more often (τ is smaller)", lambda trace: rise(trace, "tau") > BIGGER),
)


def holding(claim: Claim, traces: Traces) -> list[str]:
    """The games on which a claim holds."""
    return [name for name, trace in traces.items() if claim.holds(trace)]


def claims_table(shown: Mapping[str, Traces]) -> Table:
    """Number of games on which each claim holds."""
    rows = []
    for claim in CLAIMS:
        cells = []
        for traces in shown.values():
            found = holding(claim, traces)
            missing = [name for name in traces if name not in found]
            text = f"{len(found)} of {len(traces)}"
            cells.append(text + (f" (not {', '.join(missing)})" if 0 < len(missing) <= 3 else ""))
        rows.append([claim.words, *cells])
    return Table("What the paper says of its figure, and on how many games it holds here", ["", *map(WHO.get, shown)], rows)


def exponents(weights: Weights, t: int) -> dict[str, float]:
    """The alpha, beta and gamma that weights amount to at iteration t > 2, infinite for no discount or for a floor at zero.

    A factor d on regrets is ``(t-1)^a / ((t-1)^a + 1)`` for ``a = ln(d / (1-d)) / ln(t-1)``; the factor on the average is
    ``((t-1)/t)^gamma``.
    """
    gamma = math.log(weights.average_discount) / math.log((t - 1) / t)
    negative = 0.0 if weights.floor else weights.negative
    return {"alpha": exponent(weights.positive, t), "beta": exponent(negative, t), "gamma": gamma}


def exponent(factor: float, t: int) -> float:
    """The exponent of one factor on regrets."""
    if factor in (0.0, 1.0):
        return math.inf if factor else -math.inf
    return math.log(factor / (1.0 - factor)) / math.log(t - 1)


def scheduled(name: str, t: int) -> dict[str, float]:
    """Exponents of a fixed variant at one iteration."""
    variant = VARIANTS[name]
    return exponents(variant.schedule(t, HORIZON, **variant.parameters), t)


def plain(value: float) -> str:
    """An exponent to two decimals."""
    return {math.inf: "∞", -math.inf: "-∞"}.get(value, f"{value:.2f}")


def exponents_table(shown: Mapping[str, Traces], times: Sequence[int]) -> Table:
    """Learned and fixed exponents over the iterations; of learned ones the mean and the range over the games."""
    rows = []
    for key, symbol in SYMBOLS.items():
        for who, traces in shown.items():
            cells = []
            for t in times:
                values = [trace[key][TIMES.index(t)] for trace in traces.values()]
                cells.append(f"{mean(values):.2f} ({min(values):.2f} to {max(values):.2f})")
            rows.append([f"{symbol}, {WHO[who]}", *cells])
        if key in FIXED:
            rows += [[f"{symbol}, {name}", *(plain(scheduled(name, t)[key]) for t in times)] for name in VARIANT_ROWS]
    return Table("At iteration t: mean (range) over the ten games, and fixed variants", ["", *map(str, times)], rows)


def leduc_table(known: Mapping, trace: Trace) -> Table:
    """The authors' network on Leduc, stored and as run here."""
    rows = []
    for key in FIXED:
        pairs = zip(known["t"], known[key], strict=True)
        rows.append([SYMBOLS[key], *(f"{value:.3g} / {trace[key][TIMES.index(t)]:.3g}" for t, value in pairs)])
    caption = "The authors' network on Leduc, as published.json has it / measured here"
    return Table(caption, ["", *map(str, known["t"])], rows)


def findings(known: Mapping, shown: Mapping[str, Traces]) -> list[str]:
    """The findings."""
    found = []
    for who, traces in shown.items():
        whole = [claim.words for claim in CLAIMS if len(holding(claim, traces)) == len(traces)]
        part = [
            f"{claim.words} ({len(holding(claim, traces))})" for claim in CLAIMS if len(holding(claim, traces)) < len(traces)
        ]
        name = {"ours": f"Our policy ({described(own_policy())})", "theirs": "The authors' network"}[who]
        text = f"{name}: on all {len(traces)} games, " + ("; ".join(whole) if whole else "none of the paper's sentences holds")
        found.append(text + (f". Not on all (on how many): {'; '.join(part)}." if part else "."))
    if "theirs" in shown:
        trace = shown["theirs"]["leduc"]
        gaps = [
            abs(trace[key][TIMES.index(t)] - value) for key in FIXED for t, value in zip(known["t"], known[key], strict=True)
        ]
        found.append(
            f"On Leduc the exponents of the authors' network agree with the stored ones to {max(gaps):.2g} at worst. "
            "Rounding decides ties there, so two runs see slightly different exploitabilities."
        )
    found.append(
        "Early means the first hundred iterations and late the last hundred. The paper's figure has no numbers, so only its "
        "description can be compared."
    )
    return found


PAPERS_GAMES = ("small_matrix", "liars_dice-3", "battleship-3", "big_leduc")
"""The games of the paper's figure, and the mean over all games."""
OTHER_STYLE = {"color": "#C4C4C4", "linestyle": "-", "linewidth": 0.9}
MEAN_STYLE = {"color": "#000000", "linestyle": "-", "linewidth": 2.2}
DCFR_STYLE = {"color": "#5F5F5F", "linestyle": (0, (1, 1.5)), "linewidth": 1.6}
LIMITS = {"alpha": (-0.1, 5.1), "beta": (-5.1, 0.1), "gamma": (-0.1, 5.1), "tau": (0.9, 22.0)}


def traced(game: Game, policy: DiscountPolicy) -> dict[str, list[float]]:
    """A policy's choices at each of :data:`TIMES` on a game."""
    key = {"trace": game.identity, "algorithm": digest(policy), "times": list(TIMES), "code": code(*STEERED)}

    def make() -> dict[str, list[float]]:
        _, rows = trace_episode(game.compiled.tree, game.compiled.payoff, policy.compiled, HORIZON)
        place = np.searchsorted(rows[:, 0], TIMES, side="right") - 1
        columns = {"alpha": 2, "beta": 3, "gamma": 4, "tau": 6}
        return {name: rows[place, column].tolist() for name, column in columns.items()}

    found: dict[str, list[float]] = kept(key, make)
    return found


def all_traces(policy: DiscountPolicy) -> Traces:
    """Traces by game."""
    return {name: traced(game, policy) for name, game in games().items()}


def mean_of(traces: Traces, key: str) -> list[float]:
    """Mean over the games."""
    return np.mean([trace[key] for trace in traces.values()], axis=0).tolist()


def draw(shown: Mapping[str, Traces]) -> Picture:
    """A row per network, a panel per quantity."""
    figure, axes = panels(len(shown), 4, size=(11.5, 0.6 + 2.9 * len(shown)))
    for row, (who, traces) in enumerate(shown.items()):
        for column, key in enumerate(SYMBOLS):
            panel = axes[4 * row + column]
            for name in traces:
                if name not in PAPERS_GAMES:
                    panel.plot(TIMES, traces[name][key], **OTHER_STYLE)
            for number, name in enumerate(PAPERS_GAMES):
                panel.plot(TIMES, traces[name][key], **line_style(number))
            panel.plot(TIMES, mean_of(traces, key), **MEAN_STYLE)
            if key in FIXED:
                panel.axhline(FIXED[key], **DCFR_STYLE)
            dress(panel, f"{SYMBOLS[key]}, {WHO[who]}", logarithmic=False)
            panel.set_xscale("linear")
            panel.set(xlim=(0, HORIZON), ylim=LIMITS[key], xticks=[0, 250, 500, 750, 1000])
            if key == "tau":
                panel.set_yscale("log")
                panel.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
                panel.minorticks_off()
            if row == len(shown) - 1:
                panel.set_xlabel("iteration t")
    entries = {name: line_style(number) for number, name in enumerate(PAPERS_GAMES)}
    entries |= {"mean of all ten games": MEAN_STYLE, "the other games": OTHER_STYLE, "DCFR": DCFR_STYLE}
    legend_outside(figure, entries, columns=7, size=9.5, length=2.6)
    return save(
        figure,
        "ddcfr-figure-4.png",
        "Alpha, beta, gamma and tau against iterations, one line per game and one for the mean of all games, with "
        "DCFR's constants; a row of panels for " + " and one for ".join(WHO[who] for who in shown),
    )


@study(title="DDCFR, Figure 4: learned and fixed discounting", place=7, minutes=1)
def reproduce() -> Result:
    numbers = published("ddcfr")
    ours = all_traces(own_policy())
    authors: Theirs = theirs("ddcfr/figure4", all_traces)
    shown: dict[str, Traces] = {"ours": ours} | ({"theirs": authors.found} if authors.found else {})
    return Result(
        source=f"{numbers['source']}; figure 4",
        findings=findings(numbers["figure4"], shown),
        tables=[
            claims_table(shown),
            exponents_table(shown, SHOWN),
            *([leduc_table(numbers["figure4"], shown["theirs"]["leduc"])] if "theirs" in shown else []),
        ],
        pictures=[draw(shown)],
        notes=notes(numbers["figure4"], authors, len(games())),
        numbers={"t": list(TIMES), "ours": ours, "authors_network": authors.record},
    )


def notes(known: Mapping, authors: Theirs, count: int) -> Sequence[str]:
    """How it was measured."""
    return [
        f"One unperturbed run of {HORIZON} iterations per game and network, on the {count} tabular games. A decision that "
        f"applies to tau iterations is plotted for all of them.",
        f"Published points on Leduc: {known['source']}.",
        training(own_policy()),
        authors.note,
        "The exponents of `dcfr+` and `hs-dcfr` are computed from the weights that the solver gets at each t. The "
        "offset 1.5 in the discount of `dcfr+` shows as a slightly smaller alpha. -∞ is a floor at zero.",
        effort(),
    ]
