"""Tables and sentences of ``ddcfr_holdem.py``: published beside measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from results import Table, short

NAMES = ("subgame-3", "subgame-4")
AUTHORS = ("cfr", "cfr+", "dcfr")
EARLY = 10
SHOWN = (1, 10, 20, 50, 100, 200, 500, 1000)
SAME = 5e-3
"""Relative difference within which two numbers count as equal."""


@dataclass(frozen=True)
class Runs:
    """One algorithm on one game; exploitability in big blinds.

    Attributes:
        curve: at all points.
        low, high: the range over this run and perturbed ones, at the last so many points.
        finals: all of them at the last point, the undisturbed run first.
    """

    curve: list[float]
    low: list[float]
    high: list[float]
    finals: list[float]

    @property
    def last(self) -> float:
        return self.curve[-1]

    @property
    def ends(self) -> str:
        """The range at the last point, as text."""
        low, high = short(self.low[-1]), short(self.high[-1])
        return low if low == high else f"{low} to {high}"

    def text(self) -> str:
        """The last value, and its range where there is one."""
        return short(self.last) + (f" ({self.ends})" if " " in self.ends else "")

    def below(self, value: float) -> str:
        """How many runs end below a value."""
        return f"{sum(final < value for final in self.finals)} of {len(self.finals)}"


Found = Mapping[str, Runs]
Games = Mapping[str, Found]


def authors_table(known: Mapping, single: Games, double: Games, orders: Mapping) -> Table:
    """The authors' three algorithms at iteration 1000."""
    rows = []
    for name in NAMES:
        for key in AUTHORS:
            reference = known["reference"][name].get(key)
            rows.append(
                [
                    f"{name}, {key}",
                    short(known["curves"][name][key][-1]),
                    single[name][key].text(),
                    double[name][key].text(),
                    short(reference[-1]) if reference else "-",
                    short(orders[name][key][-1]),
                ]
            )
    head = ["", "published (float32)", "measured, float32", "measured, float64", "independent, float64", "other order, float64"]
    return Table("Exploitability at iteration 1000, big blinds; in brackets the range of perturbed runs", head, rows)


def curves_table(known: Mapping, points: Sequence[int], single: Games) -> Table:
    """Published beside measured over the iterations."""
    curves = known["curves"]
    rows = []
    for name in NAMES:
        for key in AUTHORS:
            theirs = dict(zip(curves["t"], curves[name][key], strict=True))
            ours = dict(zip(points, single[name][key].curve, strict=True))
            rows.append([f"{name}, {key}", *(f"{theirs[t]:.3g} / {ours[t]:.3g}" for t in SHOWN)])
    return Table("Over the iterations, published / measured in float32", ["iteration", *map(str, SHOWN)], rows)


def variants_table(caption: str, algorithms: Sequence[str], reference: Mapping, runs: Games) -> Table:
    """Independent solver / measured, both games."""
    rows = []
    for key in algorithms:
        cells = []
        for name in NAMES:
            theirs = reference[name].get(key)
            cells.append(f"{short(theirs[-1]) if theirs else '-'} / {runs[name][key].text()}")
        rows.append([key, *cells])
    return Table(caption, ["", *NAMES], rows)


def learned_table(known: Mapping, single: Games) -> Table:
    """Table 1, and what fixed schedules reach."""
    table1 = known["table1"]
    rows = [
        [f"{column} (published)", *(short(table1[name][k], 4) for name in NAMES)] for k, column in enumerate(table1["columns"])
    ]
    rows.append(["DCFR (published, figure 3)", *(short(known["curves"][name]["dcfr"][-1], 4) for name in NAMES)])
    rows += [[f"{key} (measured)", *(single[name][key].text() for name in NAMES)] for key in ("dcfr", "dcfr+")]
    caption = "Table 1: learned schedules, published, and fixed ones, float32 (range of perturbed runs)"
    return Table(caption, ["", *NAMES], rows)


def times_table(known: Mapping, times: Mapping[str, Sequence[float]]) -> Table:
    """Table 2."""
    rows = []
    for name, (alone, judged) in times.items():
        paper = known["table2"][name][0]
        rows.append([name, f"{paper:.0f}", f"{judged:.2f}", f"{alone:.2f}", f"{paper / judged:.0f}", f"{paper / alone:.0f}"])
    head = ["", "published", "measured, judged", "measured, alone", "published / judged", "published / alone"]
    return Table("Table 2: seconds for 1000 iterations of DCFR", head, rows)


def sizes_table(known: Mapping, found: Mapping[str, Sequence[int]]) -> Table:
    """Table 4."""
    rows = []
    for name, ours in found.items():
        theirs = known["table4"][name]
        cells = [f"{a:,} / {b:,}" for a, b in zip(theirs, ours, strict=True)]
        rows.append([name, *cells, "yes" if theirs == list(ours) else "**no**"])
    head = ["", "histories", "infosets", "terminals", "depth", "largest infoset", "equal"]
    return Table("Table 4: sizes, published / measured", head, rows)


def early_gap(known: Mapping, points: Sequence[int], single: Games) -> float:
    """The greatest relative difference from the authors' files up to iteration 10."""
    curves, gaps = known["curves"], []
    for name in NAMES:
        for key in AUTHORS:
            pairs = zip(curves["t"], curves[name][key], strict=True)
            gaps += [abs(single[name][key].curve[points.index(t)] / value - 1.0) for t, value in pairs if t <= EARLY]
    return max(gaps)


def tally(known: Mapping, points: Sequence[int], single: Games) -> str:
    """How the authors' files compare."""
    same, inside, outside = [], [], []
    for name in NAMES:
        for key in AUTHORS:
            value, runs = known["curves"][name][key][-1], single[name][key]
            if abs(runs.last / value - 1.0) <= SAME:
                same.append(key)
            elif runs.low[-1] <= value <= runs.high[-1]:
                inside.append(f"{key} on {name}")
            else:
                gap = max(value / runs.high[-1] - 1.0, runs.low[-1] / value - 1.0)
                outside.append(f"{key} on {name} by {gap:.1%}")
    parts = [f"{len(same)} of {len(NAMES) * len(AUTHORS)} numbers agree within {SAME:.1%}"]
    parts += [f"{len(inside)} are in the range of perturbed runs ({', '.join(inside)})"] if inside else []
    parts += [f"{len(outside)} outside it ({', '.join(outside)})"] if outside else []
    return (
        f"Up to iteration {EARLY} CFR, CFR+ and DCFR follow the authors' files with a relative difference of at most "
        f"{early_gap(known, points, single):.0e} (both in single precision). At iteration 1000, {'; '.join(parts)}. DCFR's "
        "runs part after some tens of iterations, where rounding decides ties."
    )


def learned(known: Mapping, single: Games) -> str:
    """What is known of DDCFR beside the spread of DCFR."""
    parts = []
    for name in NAMES:
        theirs, fixed = known["curves"][name]["ddcfr"][-1], known["curves"][name]["dcfr"][-1]
        dcfr, plus = single[name]["dcfr"], single[name]["dcfr+"]
        parts.append(
            f"on {name} it is published at {short(theirs)}, {1 - theirs / fixed:.0%} below the published DCFR; "
            f"{dcfr.below(theirs)} runs of DCFR and {plus.below(theirs)} of the fixed `dcfr+`, which differ by rounding only, "
            f"end below that (ranges {dcfr.ends} and {plus.ends})"
        )
    return f"DDCFR's learned schedule is not run here. The paper shows one run of it: {'; '.join(parts)}."


def order_sentence(orders: Mapping, double: Games, points: Sequence[int]) -> str:
    """What the order of updates does early."""
    place = points.index(EARLY)
    pairs = [f"{double[name]['cfr'].curve[place]:.3g} and {orders[name]['cfr'][0]:.3g} on {name}" for name in NAMES]
    return (
        "In the authors' program the player in position updates first; the library begins with the player out of position. "
        f"That alone changes CFR's exploitability after {EARLY} iterations (theirs and ours: {', '.join(pairs)}), so the runs "
        "here use their order."
    )


def true_sentence(known: Mapping, double: Games, true: Games) -> str:
    """How much the misread cards matter."""
    reference = known["true"]
    gaps = [abs(true[name][key].last / reference[name][key][-1] - 1.0) for name in NAMES for key in ("cfr+", "dcfr")]
    dcfr = ", ".join(f"{short(double[name]['dcfr'].last)} and {short(true[name]['dcfr'].last)} on {name}" for name in NAMES)
    return (
        "The authors' program swaps the ranges and misreads six cards at showdown. With both put right the subgames are other "
        f"games: DCFR ends at {dcfr}. The independent solver's CFR+ and DCFR there are met within {max(gaps):.1%}."
    )


def times_sentence(known: Mapping, times: Mapping[str, Sequence[float]]) -> str:
    """Seconds beside the paper's."""
    parts = [f"{judged:.2f} s on {name} ({known['table2'][name][0]:.0f} s)" for name, (_, judged) in times.items()]
    return (
        f"1000 iterations of DCFR with exploitability after each take {' and '.join(parts)}, the paper's times in brackets; "
        "its machine is not known."
    )
