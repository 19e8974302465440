"""DDCFR Figures 3 and 6 and Tables 1, 2 and 4, hold'em columns: two river subgames of Libratus, 1000 iterations.

The game files are not part of the project: ``TREEPLEX_ENDGAMES`` names the folder of LibratusEndgames' subgame3.txt and
subgame4.txt.
"""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import perm
from typing import Any

from curves import SEEDS, log_points
from drawing import dress, legend_in, line_style, panels, save
from holdem import endgame, hand_curve
from results import Picture, Result, Table, finish, published, short
from treeplex.evaluate.poker import judge_spot, judging_crew
from treeplex.forms.hand_compile import HandGame, compile_spot
from treeplex.games.poker.betting import BettingTree, Decision
from treeplex.games.poker.libratus import BIG_BLIND
from treeplex.solvers.poker import PokerSolver

ITERATIONS = 1000
NUMBERS = {"subgame-3": 3, "subgame-4": 4}
AUTHORS = ("cfr", "cfr+", "dcfr")
OTHERS = ("lcfr", "pcfr+", "pdcfr", "dcfr+", "pdcfr+", "apcfr+", "sapcfr+", "hs-dcfr", "hs-pcfr+")
DRAWN = ("cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "pdcfr+", "dcfr+", "hs-dcfr")
OTHER_SEEDS = SEEDS[:3]
THEIR_FIRST = 1
"""In the authors' program the player in position, who acts last, updates first."""
EARLY = 10
SHOWN = (1, 10, 20, 50, 100, 200, 500, 1000)
LATE = range(500, ITERATIONS + 1, 50)
TIMES = 5
PUBLISHED_STYLE = {"linestyle": "none", "marker": "o", "markersize": 4.5, "markerfacecolor": "white", "zorder": 5}
LEARNED_STYLE = {
    "color": "#000000",
    "linestyle": "none",
    "marker": "D",
    "markersize": 5,
    "markerfacecolor": "white",
    "zorder": 5,
}


@dataclass(frozen=True)
class Runs:
    """One algorithm: exploitability at all points, and the range at the last over it and perturbed runs; in big blinds."""

    curve: list[float]
    low: float
    high: float

    @property
    def last(self) -> float:
        return self.curve[-1]

    def text(self) -> str:
        """The last value, and the range where there is one."""
        if short(self.low) == short(self.high):
            return short(self.last)
        return f"{short(self.last)} ({short(self.low)} to {short(self.high)})"


Found = dict[str, Runs]


def scale_of(game: HandGame) -> float:
    """From chips a dealt pair of hands to the authors' unit.

    They scale each range to sum to one and count pairs that share a card as pairs that win nothing, in big blinds.
    """
    return share_of(game) / BIG_BLIND


def share_of(game: HandGame) -> float:
    """The share of pairs of hands that share no card, ranges taken as independent."""
    first, second = game.spot.ranges
    return game.compatible / (first.sum() * second.sum())


def measure(game: HandGame, algorithms: Sequence[str], points: Sequence[int], storage: str = "float64") -> Found:
    """All runs of some algorithms on a game, the authors' order of updates."""
    crew, scale, found = judging_crew(game, 1), scale_of(game), {}

    def run(algorithm: str, points: Sequence[int], seed: int | None = None) -> list[float]:
        chips = hand_curve(game, algorithm, points, crew, storage=storage, first=THEIR_FIRST, seed=seed)
        return [scale * value for value in chips]

    for algorithm in algorithms:
        curve = run(algorithm, points)
        seeds = SEEDS if algorithm in AUTHORS else OTHER_SEEDS
        every = [curve[-1], *(run(algorithm, [ITERATIONS], seed)[-1] for seed in seeds)]
        found[algorithm] = Runs(curve, min(every), max(every))
    return found


def other_order(game: HandGame) -> dict[str, list[float]]:
    """The authors' algorithms when the player out of position updates first, at iterations 10 and 1000."""
    crew, scale = judging_crew(game, 1), scale_of(game)
    return {key: [scale * value for value in hand_curve(game, key, [EARLY, ITERATIONS], crew)] for key in AUTHORS}


def seconds(game: HandGame, *, judged: bool) -> float:
    """Median time of 1000 iterations of DCFR, with exploitability after each or without."""
    crew, taken = judging_crew(game, 1), []
    for _ in range(TIMES):
        solver = PokerSolver(game, "dcfr", threads=1)
        start = time.perf_counter()
        if judged:
            for _ in range(ITERATIONS):
                solver.run(1)
                judge_spot(game, solver.store.average, solver.store, crew, expected=False)
        else:
            solver.run(ITERATIONS)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def sizes(game: HandGame) -> list[int]:
    """The columns of Table 4, counted as the paper does: the two hole cards of a player in either order."""
    left = len(game.spot.format.deck) - len(game.spot.board)
    own, other = perm(left, 2), perm(left - 2, 2)
    nodes = game.betting.nodes
    decisions = sum(isinstance(node, Decision) for node in nodes)
    histories = 1 + own + own * other * len(nodes)
    return [histories, decisions * own, (len(nodes) - decisions) * own * other, 2 + longest(game.betting), other]


def longest(betting: BettingTree, number: int = 0) -> int:
    """Nodes on the longest path of a betting tree."""
    node = betting.nodes[number]
    return 1 + (max(longest(betting, child) for child in node.children) if isinstance(node, Decision) else 0)


def authors_table(known: Mapping, single: Mapping[str, Found], double: Mapping[str, Found], orders: Mapping) -> Table:
    """The authors' three algorithms at iteration 1000."""
    rows = []
    for name in NUMBERS:
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
    return Table("Exploitability at iteration 1000, big blinds; in brackets the range of nine runs", head, rows)


def curves_table(known: Mapping, points: Sequence[int], single: Mapping[str, Found]) -> Table:
    """Published beside measured over the iterations."""
    curves = known["curves"]
    rows = []
    for name in NUMBERS:
        for key in AUTHORS:
            theirs = dict(zip(curves["t"], curves[name][key], strict=True))
            ours = dict(zip(points, single[name][key].curve, strict=True))
            rows.append([f"{name}, {key}", *(f"{short(theirs[t])} / {short(ours[t])}" for t in SHOWN)])
    return Table("Over the iterations, published / measured in float32", ["iteration", *map(str, SHOWN)], rows)


def variants_table(caption: str, algorithms: Sequence[str], reference: Mapping, runs: Mapping[str, Found]) -> Table:
    """Independent solver / measured, both games."""
    rows = []
    for key in algorithms:
        cells = []
        for name in NUMBERS:
            theirs = reference[name].get(key)
            cells.append(f"{short(theirs[-1]) if theirs else '-'} / {runs[name][key].text()}")
        rows.append([key, *cells])
    return Table(caption, ["", *NUMBERS], rows)


def learned_table(known: Mapping, single: Mapping[str, Found], double: Mapping[str, Found]) -> Table:
    """Table 1, and what fixed schedules reach."""
    table1 = known["table1"]
    rows = [
        [f"{column} (published)", *(short(table1[name][k], 4) for name in NUMBERS)]
        for k, column in enumerate(table1["columns"])
    ]
    rows.append(["dcfr, published", *(short(known["curves"][name]["dcfr"][-1]) for name in NUMBERS)])
    rows.append(["dcfr, float32 (measured)", *(single[name]["dcfr"].text() for name in NUMBERS)])
    rows += [[f"{key}, float64 (measured)", *(double[name][key].text() for name in NUMBERS)] for key in ("dcfr", "dcfr+")]
    return Table("Table 1: learned schedules, published, and fixed ones, measured", ["", *NUMBERS], rows)


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


def draw(known: Mapping, points: Sequence[int], single: Mapping, double: Mapping, true: Mapping) -> Picture:
    """A row a game: all iterations, the last 500, and the game with its cards read rightly."""
    figure, axes = panels(3, 3, size=(11.5, 10.0))
    curves, late = known["curves"], [k for k, t in enumerate(points) if t in LATE]
    for row, name in enumerate(NUMBERS):
        whole, end, right = axes[3 * row : 3 * row + 3]
        for number, key in enumerate(DRAWN):
            style = line_style(number)
            whole.plot(points, double[name][key].curve, **style)
            right.plot(points, true[name][key].curve, **style)
        for number, key in enumerate(AUTHORS):
            style = {**PUBLISHED_STYLE, "color": line_style(number)["color"]}
            whole.plot(curves["t"], curves[name][key], **style, clip_on=False)
            if key != "cfr":
                end.plot([points[k] for k in late], [single[name][key].curve[k] for k in late], **line_style(number))
                end.vlines(ITERATIONS + 12, single[name][key].low, single[name][key].high, color=style["color"], linewidth=4)
                end.plot(curves["t"], curves[name][key], **style)
        whole.plot(curves["t"], curves[name]["ddcfr"], **LEARNED_STYLE, clip_on=False)
        end.plot(curves["t"], curves[name]["ddcfr"], **LEARNED_STYLE)
        dress(whole, f"{name}")
        dress(end, f"{name}, from 500")
        dress(right, f"{name}, cards read rightly")
        for panel in (whole, right):
            panel.set(xlim=(1, ITERATIONS), ylim=(1e-3, 60.0))
        end.set_xscale("linear")
        end.set(xlim=(490, ITERATIONS + 25), ylim=(1.2e-3, 6e-2), xticks=[500, 600, 700, 800, 900, 1000])
        whole.set_ylabel("exploitability, big blinds")
        for panel in (whole, end, right) if row else ():
            panel.set_xlabel("iterations")
    styles = {key: line_style(number) for number, key in enumerate(DRAWN)}
    legend_in(axes[6], styles, title="Measured", columns=2)
    marks = {key: {**PUBLISHED_STYLE, "color": line_style(number)["color"]} for number, key in enumerate(AUTHORS)}
    legend_in(axes[7], marks | {"ddcfr (learned)": LEARNED_STYLE}, title="Published")
    bar = {"range of nine runs at 1000": {"color": "#5F5F5F", "linewidth": 4}}
    legend_in(axes[8], bar, title="Bars")
    return save(
        figure,
        "ddcfr-holdem.png",
        "Exploitability against iterations on the two hold'em subgames: eight fixed variants as curves and the published "
        "CFR, CFR+, DCFR and DDCFR as marks on them; the last 500 iterations enlarged; and the subgames with cards read rightly",
    )


def early_gap(known: Mapping, points: Sequence[int], single: Mapping[str, Found]) -> float:
    """The greatest relative difference from the authors' files up to iteration 10."""
    curves, gaps = known["curves"], []
    for name in NUMBERS:
        for key in AUTHORS:
            for t, value in zip(curves["t"], curves[name][key], strict=True):
                if t <= EARLY:
                    gaps.append(abs(single[name][key].curve[points.index(t)] / value - 1.0))
    return max(gaps)


def tally(known: Mapping, single: Mapping[str, Found], double: Mapping[str, Found]) -> str:
    """Which published numbers at iteration 1000 lie in a measured range."""
    inside, outside = [], []
    for name in NUMBERS:
        for key in AUTHORS:
            value, ranges = known["curves"][name][key][-1], (single[name][key], double[name][key])
            low, high = min(runs.low for runs in ranges), max(runs.high for runs in ranges)
            gap = max(value / high - 1.0, low / value - 1.0)
            (inside if gap <= 0.0 else outside).append(f"{key} on {name} by {gap:.1%}")
    text = (
        f"At iteration {ITERATIONS}, {len(inside)} of {len(inside) + len(outside)} published numbers lie in the measured ranges"
    )
    return text + (f"; outside: {', '.join(outside)}." if outside else ".")


def learned(known: Mapping, double: Mapping[str, Found]) -> str:
    """What is known of DDCFR beside the spread of DCFR."""
    parts = []
    for name in NUMBERS:
        theirs, fixed = known["curves"][name]["ddcfr"][-1], known["curves"][name]["dcfr"][-1]
        dcfr, plus = double[name]["dcfr"], double[name]["dcfr+"]
        parts.append(
            f"on {name} it is published {1 - theirs / fixed:.0%} below DCFR ({short(theirs)} and {short(fixed)}), while nine runs "
            f"of DCFR that differ by rounding span {short(dcfr.low)} to {short(dcfr.high)}, and fixed DCFR+ reaches "
            f"{short(plus.low)} to {short(plus.high)}"
        )
    return f"DDCFR's learned schedule is not run here: {'; '.join(parts)}."


def order_sentence(orders: Mapping, double: Mapping[str, Found], points: Sequence[int]) -> str:
    """What the order of updates does early."""
    place = points.index(EARLY)
    pairs = [f"{double[n]['cfr'].curve[place]:.3g} and {orders[n]['cfr'][0]:.3g} on {n}" for n in NUMBERS]
    return (
        "In the authors' program the player in position updates first; the library begins with the player out of position. "
        f"That alone changes CFR's exploitability after {EARLY} iterations ({', '.join(pairs)}), so these runs use their order."
    )


def true_sentence(known: Mapping, double: Mapping[str, Found], true: Mapping[str, Found]) -> str:
    """How much the misread cards matter."""
    reference = known["true"]
    gaps = [
        abs(true[name][key].last / values[-1] - 1.0)
        for name in NUMBERS
        for key, values in reference[name].items()
        if key in ("cfr+", "dcfr")
    ]
    dcfr = ", ".join(f"{short(double[n]['dcfr'].last)} and {short(true[n]['dcfr'].last)} on {n}" for n in NUMBERS)
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


def main() -> None:
    known: dict[str, Any] = published()["ddcfr"]["holdem"]
    points = log_points(ITERATIONS, also=(*known["curves"]["t"], *LATE))
    misread = {name: compile_spot(endgame(number, "ddcfr")) for name, number in NUMBERS.items()}
    right = {name: compile_spot(endgame(number, "true")) for name, number in NUMBERS.items()}
    times = {name: (seconds(game, judged=False), seconds(game, judged=True)) for name, game in misread.items()}
    single = {name: measure(game, AUTHORS, points, "float32") for name, game in misread.items()}
    double = {name: measure(game, (*AUTHORS, *OTHERS), points) for name, game in misread.items()}
    true = {name: measure(game, (*AUTHORS, *OTHERS), points) for name, game in right.items()}
    orders = {name: other_order(game) for name, game in misread.items()}
    counted = {name: sizes(game) for name, game in misread.items()}
    shares = " and ".join(f"{share_of(game):.3f} on {name}" for name, game in misread.items())
    finish(
        Result(
            name="ddcfr_holdem",
            title="DDCFR, hold'em: Figures 3 and 6, Tables 1, 2 and 4",
            source=f"{published()['ddcfr']['source']}; columns of {known['source']}",
            findings=[
                f"Up to iteration {EARLY} CFR, CFR+ and DCFR follow the authors' files within "
                f"{early_gap(known, points, single):.1%} (greatest relative difference, both in single precision). "
                + tally(known, single, double),
                order_sentence(orders, double, points),
                learned(known, double),
                true_sentence(known, double, true),
                times_sentence(known, times),
            ],
            tables=[
                authors_table(known, single, double, orders),
                curves_table(known, points, single),
                variants_table(
                    "The other fixed variants at iteration 1000, independent solver / measured, float64 (range of four runs)",
                    OTHERS,
                    known["reference"],
                    double,
                ),
                learned_table(known, single, double),
                variants_table(
                    "Cards read rightly, iteration 1000, independent solver / measured, float64 (range of nine or four runs)",
                    (*AUTHORS, *OTHERS),
                    known["true"],
                    true,
                ),
                times_table(known, times),
                sizes_table(known, counted),
            ],
            pictures=[draw(known, points, single, double, true)],
            notes=[
                f"Published: {known['curves']['source']}. Independent solver: {known['reference']['source']}; for cards read "
                f"rightly, {known['true']['source']}.",
                "The games are what the authors' program plays: each player has the other's range, and at showdown 3h 4h 4d 5h 5d "
                "5s are taken for 2d 2s 3s 2c 3c 4c. What its lookup table does with a card that then occurs twice is not "
                "published; the reading used gives its exploitability of the uniform strategy on both games.",
                "The unit is the authors': big blinds, ranges scaled to sum to one, pairs that share a card count as nothing "
                f"won. For big blinds a hand dealt, divide by the share of possible pairs, {shares}.",
                "Ranges are over the run and perturbed ones, whose regrets were changed by 1e-14 (float64) or 1e-7 (float32) of "
                f"themselves in the first three iterations: {len(SEEDS)} for {', '.join(AUTHORS)}, {len(OTHER_SEEDS)} for the "
                "others. They do not show the whole range, and the order of sums adds to it. The judge computes in float64.",
                f"Times: medians of {TIMES}, one thread, float32, the library's own order of updates (the work is the same), "
                '"alone" without judging. The paper\'s DDCFR needs exploitability at every iteration and takes 0.2% longer than '
                "its DCFR, so its times must contain that too.",
                "Table 4 counts hole cards in either order, and depth as the library's other sizes: nodes on the longest path. Its "
                "infosets are twice the library's, which also leaves out hands with weight zero.",
            ],
            numbers={
                "iterations": points,
                "float32": as_numbers(single),
                "float64": as_numbers(double),
                "cards_read_rightly": as_numbers(true),
                "other_order": {"iterations": [EARLY, ITERATIONS], **orders},
                "seconds": times,
                "sizes": counted,
            },
        )
    )


def as_numbers(games: Mapping[str, Found]) -> dict[str, dict[str, dict[str, Any]]]:
    """Runs for a JSON file."""
    return {name: {key: asdict(runs) for key, runs in found.items()} for name, found in games.items()}


if __name__ == "__main__":
    main()
