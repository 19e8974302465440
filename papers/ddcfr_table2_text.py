"""Tables, sentences and the plot of ``ddcfr_table2.py``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.ticker import EngFormatter, FuncFormatter

from ddcfr_runs import ITERATIONS, described
from drawing import dress, panels, save
from results import Picture, Table
from treeplex.solvers.rules.discount_policy import DiscountPolicy

SLOW = 100e-6
"""Seconds of an iteration from which on the network should not matter."""


@dataclass(frozen=True)
class Costs:
    """Seconds of processor time of 1000 iterations on one game, each the least of its rounds.

    Attributes:
        alone: DCFR.
        judged: DCFR with exploitability before every iteration.
        as_often: DCFR with exploitability where DDCFR needs it.
        replayed: DCFR with exploitability there and DDCFR's exponents, given in advance; None where that was not timed.
        ddcfr: DDCFR.
        rounds: how often each was timed.
        decisions: how often DDCFR looked and decided.
        network: of evaluating the network so often, measured by itself.
    """

    alone: float
    judged: float
    as_often: float
    replayed: float | None
    ddcfr: float
    rounds: int
    decisions: int
    network: float

    @property
    def overhead(self) -> float:
        """Of DDCFR over DCFR with as many exploitabilities."""
        return self.ddcfr / self.as_often - 1.0

    @property
    def share(self) -> float:
        """The network's part of DDCFR's time."""
        return self.network / self.ddcfr

    @property
    def iteration(self) -> float:
        """Seconds of one iteration of DDCFR, all included."""
        return self.ddcfr / ITERATIONS


def seconds(value: float) -> str:
    """Three digits, as seconds or milliseconds."""
    return f"{value:.3g} s" if value >= 1.0 else f"{1000 * value:.3g} ms"


def percent(value: float) -> str:
    """A share, with enough digits where it is small."""
    return f"{100 * value:+.2f}%" if abs(value) < 0.1 else f"{100 * value:+.0f}%"


def costs_table(known: Mapping, found: Mapping[str, Costs]) -> Table:
    """The paper's columns, published and measured."""
    rows = []
    for name, row in found.items():
        paper = known.get(name)
        cells = [f"{paper[0]:,.0f} s", f"{paper[1]:,.0f} s", percent(paper[1] / paper[0] - 1)] if paper else ["-", "-", "-"]
        speed = f"{paper[1] / row.ddcfr:,.0f}" if paper else "-"
        rows.append([name, *cells, seconds(row.as_often), seconds(row.ddcfr), percent(row.overhead), speed])
    head = ["", "DCFR, published", "DDCFR, published", "overhead, published", "DCFR judged as often", "DDCFR, measured"]
    head += ["overhead, measured", "DDCFR published / measured"]
    return Table(f"Time of {ITERATIONS} iterations", head, rows)


def shares_table(known: Mapping, found: Mapping[str, Costs]) -> Table:
    """Where the time goes."""
    rows = [
        [
            name,
            f"{1e6 * row.iteration:,.1f} µs",
            f"{row.decisions}",
            percent(row.share).lstrip("+"),
            seconds(row.alone),
            seconds(row.judged),
            percent(row.ddcfr / row.replayed - 1) if row.replayed else "-",
            percent(row.ddcfr / row.judged - 1),
            percent(row.ddcfr / row.alone - 1),
        ]
        for name, row in found.items()
    ]
    head = ["", "one iteration", "decisions", "network's share", "DCFR alone", "DCFR, exploitability each iteration"]
    head += ["DDCFR against its own weights replayed", "against DCFR judged each time", "against DCFR alone"]
    return Table("Where DDCFR's time goes", head, rows)


def findings(known: Mapping, found: Mapping[str, Costs], call: float) -> list[str]:
    """What to read first."""
    slow = {name: row for name, row in found.items() if row.iteration > SLOW}
    fast = {name: row for name, row in found.items() if row.iteration <= SLOW}
    parts = [f"one evaluation of the network takes {1e6 * call:.2f} µs."]
    for rows, words in ((slow, "more than"), (fast, "at most")):
        if rows:
            shares = [row.share for row in rows.values()]
            parts.append(
                f"Where an iteration takes {words} {1e6 * SLOW:.0f} µs ({', '.join(rows)}), that is "
                f"{between([100 * share for share in shares])}% of the time."
            )
    both = [name for name in found if name in known]
    speeds = [known[name][1] / found[name].ddcfr for name in both]
    paper = [known[name][1] / known[name][0] - 1 for name in both]
    return [
        parts[0].capitalize() + " " + " ".join(parts[1:]),
        f"The paper's overhead is {100 * sum(paper) / len(paper):.2f}% on average over these games; measured here against DCFR "
        "that computes exploitability as often it is "
        + ", ".join(f"{percent(found[name].overhead)} on {name}" for name in both)
        + f". {replayed_sentence(found)}",
        f"The paper's per cents and these cannot be compared directly: iterations here are {between(speeds)} times faster than "
        "the authors', so the same network weighs so much more.",
        "What DDCFR really costs is the exploitability that it looks at: against DCFR that computes none it takes "
        + ", ".join(f"{percent(row.ddcfr / row.alone - 1)} on {name}" for name, row in found.items())
        + ". The paper computes it for both algorithms and notes that it could run beside the iterations.",
    ]


def replayed_sentence(found: Mapping[str, Costs]) -> str:
    """How much slower DDCFR is than a run that does all the same but for the network."""
    parts = [f"{percent(row.ddcfr / row.replayed - 1)} on {name}" for name, row in found.items() if row.replayed]
    return (
        "Against a run that is given DDCFR's own weights in advance, and does all the same but for the network and its "
        f"features, it takes {', '.join(parts)}: what differs there by more than the network's share comes from how the two "
        "loops are compiled and laid out in memory, from the clock and, on the smallest games, from what goes with a decision."
    )


def between(values: list[float]) -> str:
    """The range of some numbers, to two digits."""
    low, high = (f"{value:,.0f}" if value >= 10 else f"{value:.2g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def draw(known: Mapping, found: Mapping[str, Costs]) -> Picture:
    """The network's share against the time of an iteration, ours and the paper's overhead."""
    figure, (axes,) = panels(1, 1, size=(8.6, 4.4))
    points = sorted((row.iteration, 100 * row.share, name) for name, row in found.items())
    axes.plot(
        [x for x, _, _ in points], [y for _, y, _ in points], color="#4B2E83", linestyle="none", marker="o", markersize=6,
        label="the network's share, here",
    )  # fmt: skip
    for number, (x, y, name) in enumerate(points):
        side: dict[str, Any] = {"xytext": (7, 3)} if number % 2 == 0 else {"xytext": (-7, -8), "ha": "right"}
        axes.annotate(name, (x, y), textcoords="offset points", fontsize=8.5, color="#222222", **side)
    paper = {name: pair for name, pair in known.items() if name in found}
    axes.plot(
        [pair[1] / ITERATIONS for pair in paper.values()],
        [100 * (pair[1] / pair[0] - 1) for pair in paper.values()],
        color="#000000", linestyle="none", marker="D", markersize=5.5, markerfacecolor="none", label="overhead, published",
    )  # fmt: skip
    dress(axes, "The network's part of DDCFR's time")
    axes.xaxis.set_major_formatter(EngFormatter(unit="s"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}%"))
    axes.set_xlim(min(point[0] for point in points) / 8)
    axes.set_xlabel("time of one iteration, exploitability included")
    axes.legend(frameon=False, fontsize=10, loc="upper right")
    return save(
        figure,
        "ddcfr-table-2.png",
        "The network's share of DDCFR's time against the time of an iteration, one point a game, both axes logarithmic, beside "
        "the overheads that the paper reports",
    )


def notes(policy: DiscountPolicy, holdem: bool) -> list[str]:
    """How it was measured."""
    return [
        "All ways run in one compiled loop each, iteration by iteration, with the same kernels and the same way to find an "
        "iteration's weights from exponents; DDCFR's differs by the network and by what it writes down. Making a solver, its "
        "start and compilation are not timed.",
        f"Our policy ({described(policy)}) was used. How often it decides follows from its tau, and time from that. The "
        f"network has {policy.parameters.size:,} numbers.",
        "Times are processor time. Ways are interleaved, forwards and backwards in turn, and each has its least time of all "
        "rounds. On the smallest games differences of some per cent are noise of the clock and of memory layout.",
        "The network's share is measured by itself: the least time of an evaluation in a loop, times decisions, over DDCFR's "
        "time. Features other than exploitability cost nothing to speak of.",
        "Hold'em runs in the hand engine, single precision, one thread; there the loop over iterations is Python, some "
        "microseconds each, for all ways alike"
        + ("." if holdem else "; its rows are as an earlier run left them, if there was one, for its files were not at hand."),
    ]
