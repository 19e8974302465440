"""DDCFR Table 3: three normalizations of exploitability, on Kuhn poker."""

import math
from collections.abc import Callable, Mapping, Sequence

from papers.common.kept import effort
from papers.common.results import Result, Table, published, short
from papers.common.study import study
from papers.ddcfr.runs import POINTS, described, games, own_policy, run_on, theirs

FIXED = ("cfr", "cfr+", "dcfr")
SCALES: Mapping[str, Callable[[float], float]] = {"log": math.log, "sqrt": math.sqrt, "linear": float}
SAME = 5e-4
"""Relative difference within which E_t is the published one, which has four digits."""


def normalised(exploitability: Sequence[float], floor: float, scale: Callable[[float], float]) -> list[float]:
    """``(f(E_t) - f(E_min)) / (f(E_1) - f(E_min))`` for each E_t; E_1 is the first."""
    low, high = scale(floor), scale(exploitability[0])
    return [(scale(max(value, floor)) - low) / (high - low) for value in exploitability]


def rows_for(name: str, exploitability: Sequence[float], floor: float) -> list[list[str]]:
    """The exploitability and its three normalisations."""
    scaled = [
        [f"{name}: {label}", *(f"{value:.3f}" for value in normalised(exploitability, floor, scale))]
        for label, scale in SCALES.items()
    ]
    return [[f"{name}: E_t", *(short(value, 4) for value in exploitability)], *scaled]


def used(measured: Mapping[str, Sequence[float]], place: int, floor: float, scale: str) -> str:
    """Share of a scale's range that the runs have covered at one column of the table."""
    shares = [1.0 - normalised(values, floor, SCALES[scale])[place] for values in measured.values()]
    return f"{min(shares):.0%} to {max(shares):.0%}"


def beside(table3: Mapping, measured: Sequence[float] | None) -> Table:
    """Published, recomputed from the published E_t, and measured with the authors' network."""
    floor = table3["floor"]
    rows = [["E_t, published", *(short(value, 4) for value in table3["exploitability"])]]
    rows += [["E_t, the authors' network, measured", *(short(value, 4) for value in measured)]] if measured else []
    for label, scale in SCALES.items():
        rows.append([f"{label}, published", *(f"{value:.3f}" for value in table3[label])])
        recomputed = normalised(table3["exploitability"], floor, scale)
        rows.append([f"{label}, recomputed from that E_t", *(f"{value:.3f}" for value in recomputed)])
        if measured:
            rows.append([f"{label}, measured", *(f"{value:.3f}" for value in normalised(measured, floor, scale))])
    head = ["t", *map(str, table3["t"])]
    return Table("DDCFR on Kuhn poker: published, recomputed from the published E_t, measured", head, rows)


def unequal(table3: Mapping, exploitability: Sequence[float]) -> tuple[list[str], float]:
    """Cells that differ from the published ones in the third decimal, and the largest difference."""
    found, worst = [], 0.0
    for label, scale in SCALES.items():
        ours = normalised(exploitability, table3["floor"], scale)
        for t, a, b in zip(table3["t"], ours, table3[label], strict=True):
            worst = max(worst, abs(a - b))
            found += [f"{label} at t = {t}"] if round(a, 3) != b else []
    return found, worst


def findings(table3: Mapping, network: Sequence[float] | None, measured: Mapping[str, Sequence[float]]) -> list[str]:
    """The findings."""
    cells, place, floor = len(SCALES) * len(table3["t"]), table3["t"].index(100), table3["floor"]
    other, worst = unequal(table3, table3["exploitability"])
    lines = [
        f"{cells - len(other)} of {cells} published cells follow from the published E_t with E_min = 1e-12, rounded to three "
        "decimals" + (f"; {', '.join(other)} is up to {worst:.4f} off: truncated instead of rounded." if other else ".")
    ]
    if network:
        gaps = [abs(a / b - 1.0) for a, b in zip(network, table3["exploitability"], strict=True)]
        count, other = sum(gap <= SAME for gap in gaps), unequal(table3, network)[0]
        lines.append(
            f"With the authors' network DDCFR reproduces the published E_t to its digits at {count} of {len(gaps)} "
            f"iterations, and {cells - len(other)} of {cells} normalized cells."
        )
    lines.append(
        "All runs show the reason for the logarithm: after 100 iterations the linear scale has used "
        f"{used(measured, place, floor, 'linear')} of its range, the logarithmic one "
        f"{used(measured, place, floor, 'log')}."
    )
    return lines


@study(title="DDCFR, Table 3: normalizations of exploitability", place=5, minutes=0.1)
def reproduce() -> Result:
    numbers = published("ddcfr")
    table3 = numbers["table3"]
    game = games("kuhn")["kuhn"]

    def at_times(curve: Sequence[float]) -> list[float]:
        return [curve[POINTS.index(t)] for t in table3["t"]]

    authors = theirs("ddcfr/table3", lambda policy: at_times(run_on(game, policy, seeds=()).curve))
    own = f"ddcfr, our policy ({described(own_policy())})"
    measured = {name: at_times(run_on(game, name, seeds=()).curve) for name in FIXED}
    measured[own] = at_times(run_on(game, own_policy(), seeds=()).curve)
    rows = [row for name, values in measured.items() for row in rows_for(name, values, table3["floor"])]
    head = ["t", *map(str, table3["t"])]
    return Result(
        source=f"{numbers['source']}; {table3['source']}",
        findings=findings(table3, authors.found, measured),
        tables=[beside(table3, authors.found), Table("Measured on Kuhn poker", head, rows)],
        notes=[authors.note, effort()],
        numbers={"measured": measured, "authors_network": authors.record},
    )
