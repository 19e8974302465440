"""Tables and sentences of ``ddcfr_figure4.py``: what the learned schemes choose, and whether it is what the paper says."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ddcfr_runs import described, own_policy
from results import Table
from treeplex.engine.tree.regret import Weights
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
"""Places in :data:`TIMES` of the first and the last hundred iterations."""
BIGGER = 0.05
"""Differences below this are none."""

Trace = Mapping[str, Sequence[float]]
Traces = Mapping[str, Trace]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper about figure 4, and whether it holds of one run.

    Attributes:
        words: what the paper says.
        holds: of a trace.
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
    """On how many games each claim holds."""
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
    """Exponents of a fixed variant at an iteration."""
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
    """The authors' network on Leduc, as read off before and as run here."""
    rows = []
    for key in FIXED:
        pairs = zip(known["t"], known[key], strict=True)
        rows.append([SYMBOLS[key], *(f"{value:.3g} / {trace[key][TIMES.index(t)]:.3g}" for t, value in pairs)])
    caption = "The authors' network on Leduc, as published.json has it / measured here"
    return Table(caption, ["", *map(str, known["t"])], rows)


def findings(known: Mapping, shown: Mapping[str, Traces]) -> list[str]:
    """What to read first."""
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
            f"On Leduc the authors' network chooses what was read off it before, to {max(gaps):.2g} at worst; there rounding "
            "decides ties, so two runs see slightly different exploitabilities."
        )
    found.append(
        "The first hundred iterations are called early, the last hundred late; the paper gives its figure as a picture only, "
        "so what can be compared is what it says of it."
    )
    return found
