"""DDCFR Figures 3 and 6 and Tables 1, 2 and 4, hold'em columns: two river subgames of Libratus, 1000 iterations.

The game files are not part of the project: ``TREEPLEX_ENDGAMES`` names the folder of LibratusEndgames' subgame3.txt and
subgame4.txt.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import perm
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from curves import SEEDS, log_points
from ddcfr_holdem_text import (
    AUTHORS,
    EARLY,
    NAMES,
    Found,
    Games,
    Runs,
    authors_table,
    curves_table,
    learned,
    learned_table,
    order_sentence,
    sizes_table,
    tally,
    times_sentence,
    times_table,
    true_sentence,
    variants_table,
)
from drawing import dress, line_style, panels, save
from holdem import compile_renumbered, endgame, hand_curve
from results import Picture, Result, finish, published
from treeplex.evaluate.poker import judge_spot, judging_crew
from treeplex.forms.hand_compile import HandGame, compile_spot
from treeplex.games.poker.betting import BettingTree, Decision
from treeplex.games.poker.libratus import BIG_BLIND
from treeplex.games.poker.spot import Spot
from treeplex.solvers.poker import PokerSolver

ITERATIONS = 1000
NUMBERS = dict(zip(NAMES, (3, 4), strict=True))
OTHERS = ("lcfr", "pcfr+", "pdcfr", "dcfr+", "pdcfr+", "apcfr+", "sapcfr+", "hs-dcfr", "hs-pcfr+")
DRAWN = ("cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "pdcfr+", "dcfr+", "hs-dcfr")
OTHER_SEEDS, MANY_SEEDS = SEEDS[:3], range(1, 25)
LATE = range(500, ITERATIONS + 1, 50)
TIMES = 5
MARK = {"linestyle": "none", "marker": "o", "markersize": 4.5, "markerfacecolor": "white", "zorder": 5}
LEARNED = {"color": "#000000", "linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "white", "zorder": 5}


def scale_of(game: HandGame) -> float:
    """From chips a dealt pair of hands to the authors' unit.

    They scale each range to sum to one and count pairs that share a card as pairs that win nothing, in big blinds.
    """
    return share_of(game) / BIG_BLIND


def share_of(game: HandGame) -> float:
    """The share of pairs of hands that share no card, ranges taken as independent."""
    first, second = game.spot.ranges
    return game.compatible / (first.sum() * second.sum())


def measure(
    game: HandGame, algorithms: Mapping[str, Sequence[int]], points: Sequence[int], storage: str = "float64"
) -> dict[str, Runs]:
    """Runs of some algorithms on a game; perturbed ones with the seeds of each."""
    crew, scale, found = judging_crew(game, 1), scale_of(game), {}

    def run(algorithm: str, points: Sequence[int], seed: int | None = None) -> list[float]:
        chips = hand_curve(game, algorithm, points, crew, storage=storage, seed=seed)
        return [scale * value for value in chips]

    for algorithm, seeds in algorithms.items():
        curve = run(algorithm, points)
        late = [curve[points.index(point)] for point in LATE]
        every = [late, *(run(algorithm, LATE, seed) for seed in seeds)]
        low, high = list(map(min, *every, late)), list(map(max, *every, late))
        found[algorithm] = Runs(curve, low, high, [run[-1] for run in every])
    return found


def other_order(spot: Spot) -> dict[str, list[float]]:
    """The authors' algorithms in the library's order, at iterations 10 and 1000."""
    game = compile_spot(spot)
    crew, scale = judging_crew(game, 1), scale_of(game)
    return {key: [scale * value for value in hand_curve(game, key, [EARLY, ITERATIONS], crew)] for key in AUTHORS}


def seconds(game: HandGame, *, judged: bool) -> float:
    """The least time of 1000 iterations of DCFR, with exploitability after each or without."""
    crew, taken = judging_crew(game, 1), []
    for _ in range(TIMES):
        solver = PokerSolver(game, "dcfr", threads=1)
        solver.run(0)
        start = time.perf_counter()
        if judged:
            for _ in range(ITERATIONS):
                solver.run(1)
                judge_spot(game, solver.store.average, solver.store, crew, expected=False)
        else:
            solver.run(ITERATIONS)
        taken.append(time.perf_counter() - start)
    return min(taken)


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


def draw(known: Mapping, points: Sequence[int], single: Games, double: Games, true: Games) -> Picture:
    """A row a game: all iterations, the last 500, and the game with its cards read rightly."""
    figure, axes = panels(2, 3, size=(11.5, 8.2))
    curves = known["curves"]
    for row, name in enumerate(NAMES):
        whole, late, right = axes[3 * row : 3 * row + 3]
        for number, key in enumerate(DRAWN):
            whole.plot(points, double[name][key].curve, **line_style(number))
            right.plot(points, true[name][key].curve, **line_style(number))
        for number, key in enumerate(AUTHORS):
            whole.plot(curves["t"], curves[name][key], **mark(number), clip_on=False)
        whole.plot(curves["t"], curves[name]["ddcfr"], **LEARNED, clip_on=False)
        draw_late(late, curves, name, points, single[name])
        dress(whole, name)
        dress(right, f"{name}, cards read rightly")
        for panel in (whole, right):
            panel.set(xlim=(1, ITERATIONS), ylim=(1e-3, 60.0))
        whole.set_ylabel("exploitability, big blinds")
        for panel in (whole, late, right) if row else ():
            panel.set_xlabel("iterations")
    entries = {
        **{f"{key}, measured": line_style(number) for number, key in enumerate(DRAWN)},
        **{f"{key}, published": mark(number) for number, key in enumerate(AUTHORS)},
        "ddcfr (learned), published": LEARNED,
        "range of perturbed runs": {"color": "#9A9A9A", "linewidth": 8, "alpha": 0.4},
    }
    handles = [Line2D([], [], label=label, **style) for label, style in entries.items()]  # type: ignore[arg-type]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=9.5, handlelength=3.2)
    return save(
        figure,
        "ddcfr-holdem.png",
        "Exploitability against iterations on the two hold'em subgames: eight fixed variants as curves and the published "
        "CFR, CFR+, DCFR and DDCFR as marks; the last 500 iterations enlarged; and the subgames with cards read rightly",
    )


def mark(number: int) -> dict[str, object]:
    """Published numbers in the colour of their curve."""
    return {**MARK, "color": line_style(number)["color"]}


def draw_late(axes: Axes, curves: Mapping, name: str, points: Sequence[int], found: Found) -> None:
    """Iterations 500 to 1000 as in the paper's figure 3, with the ranges of perturbed runs."""
    for number, key in enumerate(AUTHORS):
        if key != "cfr":
            runs, style = found[key], line_style(number)
            axes.fill_between(LATE, runs.low, runs.high, color=style["color"], alpha=0.25, linewidth=0)
            axes.plot(LATE, [runs.curve[points.index(point)] for point in LATE], **style)
            axes.plot(curves["t"], curves[name][key], **mark(number), clip_on=True)
    axes.plot(curves["t"], curves[name]["ddcfr"], **LEARNED)
    dress(axes, f"{name}, last 500 iterations")
    axes.set_xscale("linear")
    axes.set(xlim=(488, ITERATIONS + 12), ylim=(1.5e-3, 5e-2), xticks=[500, 600, 700, 800, 900, 1000])
    axes.set_yticks([2e-3, 5e-3, 1e-2, 2e-2, 5e-2], ["0.002", "0.005", "0.01", "0.02", "0.05"])


def main() -> None:
    known: dict[str, Any] = published()["ddcfr"]["holdem"]
    points = log_points(ITERATIONS, also=(*known["curves"]["t"], *LATE))
    misread = {name: compile_renumbered(endgame(number, "ddcfr")) for name, number in NUMBERS.items()}
    right = {name: compile_renumbered(endgame(number, "true")) for name, number in NUMBERS.items()}
    times = {name: (seconds(game, judged=False), seconds(game, judged=True)) for name, game in misread.items()}
    theirs, others = dict.fromkeys(AUTHORS, SEEDS), dict.fromkeys(OTHERS, OTHER_SEEDS)
    chaotic = dict.fromkeys(("dcfr", "dcfr+"), MANY_SEEDS)
    single = {name: measure(game, {**theirs, **chaotic}, points, "float32") for name, game in misread.items()}
    double = {name: measure(game, {**theirs, **others}, points) for name, game in misread.items()}
    true = {name: measure(game, {**theirs, **dict.fromkeys(OTHERS, ())}, points) for name, game in right.items()}
    orders = {name: other_order(endgame(number, "ddcfr")) for name, number in NUMBERS.items()}
    counted = {name: sizes(game) for name, game in misread.items()}
    shares = " and ".join(f"{share_of(game):.3f} on {name}" for name, game in misread.items())
    finish(
        Result(
            name="ddcfr_holdem",
            title="DDCFR, hold'em: Figures 3 and 6, Tables 1, 2 and 4",
            source=f"{published()['ddcfr']['source']}; {known['source']}",
            findings=[
                tally(known, points, single),
                order_sentence(orders, double, points),
                learned(known, single),
                true_sentence(known, double, true),
                times_sentence(known, times),
            ],
            tables=[
                authors_table(known, single, double, orders),
                curves_table(known, points, single),
                variants_table(
                    "Other fixed variants at iteration 1000, independent solver / measured, float64 (range of perturbed runs)",
                    OTHERS,
                    known["reference"],
                    double,
                ),
                learned_table(known, single),
                variants_table(
                    "Cards read rightly, iteration 1000, independent solver / measured, float64 (range of perturbed runs)",
                    (*AUTHORS, *OTHERS),
                    known["true"],
                    true,
                ),
                times_table(known, times),
                sizes_table(known, counted),
            ],
            pictures=[draw(known, points, single, double, true)],
            notes=notes(known, shares),
            numbers={
                "iterations": points,
                "ranges_at": list(LATE),
                "float32": as_numbers(single),
                "float64": as_numbers(double),
                "cards_read_rightly": as_numbers(true),
                "other_order": {"iterations": [EARLY, ITERATIONS], **orders},
                "seconds": times,
                "sizes": counted,
            },
        )
    )


def notes(known: Mapping, shares: str) -> list[str]:
    """How it was measured."""
    return [
        f"Published: {known['curves']['source']}. Independent solver: {known['reference']['source']}; for cards read rightly, "
        f"{known['true']['source']}.",
        "The games are what the authors' program plays: each player has the other's range, and at showdown 3h 4h 4d 5h 5d 5s "
        "are taken for 2d 2s 3s 2c 3c 4c. What its lookup table does with a card that then occurs twice is not published; the "
        "reading used gives its exploitability of the uniform strategy on both games.",
        "The unit is the authors': big blinds, ranges scaled to sum to one, pairs of hands that share a card count as nothing "
        f"won. For big blinds a hand dealt, divide by the share of possible pairs, {shares}.",
        "Ranges are over the run and perturbed ones, whose regrets were changed by 1e-14 (float64) or 1e-7 (float32) of "
        f"themselves in the first three iterations: {len(MANY_SEEDS)} for `dcfr` and `dcfr+` in float32, {len(SEEDS)} for "
        f"{', '.join(AUTHORS)} otherwise, {len(OTHER_SEEDS)} for the other variants, none for these with cards read rightly. "
        "They do not show the whole range: zeros stay zeros, and sums keep their order. The last 500 iterations are drawn in "
        "float32, the rest in float64; the judge computes in float64.",
        f"Times: the least of {TIMES}, one thread, float32; "
        '"alone" is without judging. The paper\'s DDCFR needs exploitability at every iteration and takes 0.2% longer than its '
        "DCFR, so its times seem to contain that too.",
        "Table 4 counts hole cards in either order; depth, as in the library's other sizes, is nodes on the longest path. Its "
        "infosets are twice the library's, which also leave out hands of weight zero.",
    ]


def as_numbers(games: Games) -> dict[str, dict[str, dict[str, Any]]]:
    """Runs for a JSON file."""
    return {name: {key: asdict(runs) for key, runs in found.items()} for name, found in games.items()}


if __name__ == "__main__":
    main()
