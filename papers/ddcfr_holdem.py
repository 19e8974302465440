"""DDCFR Figures 3 and 6 and Table 4, hold'em columns: two river subgames of Libratus, 1000 iterations.

The game files are not part of the project: ``TREEPLEX_ENDGAMES`` names the folder of LibratusEndgames' subgame3.txt and
subgame4.txt.
"""

from collections.abc import Mapping, Sequence
from math import perm
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from curves import SEEDS, log_points
from ddcfr_hands import NUMBERS, Subgame, hand_run
from ddcfr_holdem_text import (
    AUTHORS,
    EARLY,
    NAMES,
    Found,
    Games,
    authors_table,
    curves_table,
    learned_sentence,
    learned_table,
    order_sentence,
    sizes_table,
    tally,
    true_sentence,
    variants_table,
)
from ddcfr_runs import ITERATIONS, LATE, Run, Theirs, as_numbers, as_runs, digest, own_policy, theirs
from drawing import dress, line_style, panels, save
from holdem import hand_curve
from kept import effort
from results import Picture, Result, Table, finish, published
from treeplex.evaluate.holdem.judge import judging_crew
from treeplex.forms.holdem.compile_spot import CompiledSpot, compile_spot
from treeplex.games.poker.betting.tree import BettingTree, Decision
from treeplex.solvers.rules.discount_policy import DiscountPolicy

OTHERS = ("lcfr", "pcfr+", "pdcfr", "dcfr+", "pdcfr+", "apcfr+", "sapcfr+", "hs-dcfr", "hs-pcfr+", "vt-cfr+")
DRAWN = ("cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "pdcfr+", "dcfr+", "hs-dcfr")
OTHER_SEEDS, MANY_SEEDS = SEEDS[:3], range(1, 25)
LOWEST = 9e-4
"""Of the panels with the last 500 iterations, big blinds."""
MARK = {"linestyle": "none", "marker": "o", "markersize": 4.5, "markerfacecolor": "white", "zorder": 5}
LEARNED = {"color": "#000000", "linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "none", "zorder": 6}
STYLES = {
    "theirs": {"color": "#E69F00", "linestyle": (0, (5, 1.5)), "linewidth": 2.0},
    "ours": {"color": "#000000", "linestyle": "-", "linewidth": 1.6},
}
SHORT = {"theirs": "ddcfr, authors' network", "ours": "ddcfr, our policy"}
"""Of learned runs."""


def measure(
    game: Subgame, algorithms: Mapping[str, Sequence[int]], points: Sequence[int], storage: str = "float64"
) -> dict[str, Run]:
    """Runs of some algorithms on a game; perturbed ones with the seeds of each."""
    return {key: hand_run(game, key, points, seeds, storage=storage) for key, seeds in algorithms.items()}


def other_order(game: Subgame) -> dict[str, list[float]]:
    """The authors' algorithms in the library's order, at iterations 10 and 1000."""
    plain = compile_spot(game.spot)
    crew = judging_crew(plain, 1)
    return {key: [game.scale * value for value in hand_curve(plain, key, [EARLY, ITERATIONS], crew)] for key in AUTHORS}


def sizes(game: CompiledSpot) -> list[int]:
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


def draw(known: Mapping, points: Sequence[int], single: Games, learned: Mapping, double: Games, true: Games) -> Picture:
    """A row a game: all iterations, the last 500, and the game with its cards read rightly."""
    figure, axes = panels(2, 3, size=(11.5, 8.4))
    curves = known["curves"]
    for row, name in enumerate(NAMES):
        whole, late, right = axes[3 * row : 3 * row + 3]
        for number, key in enumerate(DRAWN):
            whole.plot(points, double[name][key].curve, **line_style(number))
            right.plot(points, true[name][key].curve, **line_style(number))
        for number, key in enumerate(AUTHORS):
            whole.plot(curves["t"], curves[name][key], **mark(number), clip_on=False)
        whole.plot(curves["t"], curves[name]["ddcfr"], **LEARNED, clip_on=False)
        draw_late(late, curves, name, single[name], {key: runs[name] for key, runs in learned.items() if runs})
        dress(whole, name)
        dress(right, f"{name}, cards read rightly")
        for panel in (whole, right):
            panel.set(xlim=(1, ITERATIONS), ylim=(1e-3, 60.0))
        whole.set_ylabel("exploitability, big blinds")
        for panel in (whole, late, right) if row else ():
            panel.set_xlabel("iterations")
    entries = {
        **{key: line_style(number) for number, key in enumerate(DRAWN)},
        **{f"{key}, published": mark(number) for number, key in enumerate(AUTHORS)},
        "ddcfr, published": LEARNED,
        "range of perturbed runs": {"color": "#9A9A9A", "linewidth": 8, "alpha": 0.4},
        **{SHORT[key]: style for key, style in STYLES.items() if learned[key]},
    }
    handles = [Line2D([], [], label=label, **style) for label, style in entries.items()]  # type: ignore[arg-type]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=9.5, handlelength=3.2)
    return save(
        figure,
        "ddcfr-holdem.png",
        "Exploitability against iterations on the two hold'em subgames: eight fixed variants as curves and the published "
        "CFR, CFR+, DCFR and DDCFR as marks; the last 500 iterations enlarged, with DDCFR as run here; and the subgames with "
        "cards read rightly",
    )


def mark(number: int) -> dict[str, object]:
    """Published numbers in the colour of their curve."""
    return {**MARK, "color": line_style(number)["color"]}


def draw_late(axes: Axes, curves: Mapping, name: str, fixed: Found, learned: Found) -> None:
    """Iterations 500 to 1000 as in the paper's figure 3, with the ranges of perturbed runs."""
    lines = [(fixed[key], line_style(number)) for number, key in enumerate(AUTHORS) if key != "cfr"]
    for run, style in [*lines, *((run, STYLES[key]) for key, run in learned.items())]:
        axes.fill_between(LATE, run.low, run.high, color=style["color"], alpha=0.2, linewidth=0)
        axes.plot(LATE, run.late[0], **style)
    for number, key in enumerate(AUTHORS):
        if key != "cfr":
            axes.plot(curves["t"], curves[name][key], **mark(number), clip_on=True)
    axes.plot(curves["t"], curves[name]["ddcfr"], **LEARNED)
    dress(axes, f"{name}, last 500 iterations")
    axes.set_xscale("linear")
    axes.set(xlim=(488, ITERATIONS + 12), ylim=(LOWEST, 5e-2), xticks=[500, 600, 700, 800, 900, 1000])
    axes.set_yticks([1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2], ["0.001", "0.002", "0.005", "0.01", "0.02", "0.05"])


def learned_runs(games: Mapping[str, Subgame], points: Sequence[int]) -> tuple[dict[str, dict[str, Run]], Theirs]:
    """Our policy and, if it is at hand or stored, the authors' network, in single precision."""

    def by(policy: DiscountPolicy) -> dict[str, Run]:
        return {name: hand_run(game, policy, points, SEEDS) for name, game in games.items()}

    authors = theirs("ddcfr_holdem", lambda policy: as_numbers({"runs": by(policy)})["runs"])
    return {"ours": by(own_policy()), "theirs": as_runs(authors.found or {})}, authors


def main() -> None:
    known: dict[str, Any] = published()["ddcfr"]["holdem"]
    points = log_points(ITERATIONS, also=(*known["curves"]["t"], *LATE))
    misread = {name: Subgame(name) for name in NUMBERS}
    right = {name: Subgame(name, "true") for name in NUMBERS}
    usual, others = dict.fromkeys(AUTHORS, SEEDS), dict.fromkeys(OTHERS, OTHER_SEEDS)
    chaotic = dict.fromkeys(("dcfr", "dcfr+"), MANY_SEEDS)
    learned, authors = learned_runs(misread, points)
    single = {name: measure(game, {**usual, **chaotic}, points, "float32") for name, game in misread.items()}
    double = {name: measure(game, {**usual, **others}, points) for name, game in misread.items()}
    true = {name: measure(game, {**usual, **dict.fromkeys(OTHERS, ())}, points) for name, game in right.items()}
    orders = {name: other_order(game) for name, game in misread.items()}
    counted = {name: sizes(game.compiled) for name, game in misread.items()}
    shares = " and ".join(f"{game.share:.3f} on {name}" for name, game in misread.items())
    finish(
        Result(
            name="ddcfr_holdem",
            title="DDCFR, hold'em: Figures 3 and 6, Table 4",
            source=f"{published()['ddcfr']['source']}; {known['source']}",
            findings=[
                tally(known, points, single),
                order_sentence(orders, double, points),
                learned_sentence(known, single, learned),
                true_sentence(known, double, true),
            ],
            tables=tables(known, points, single, learned, double, true, orders, counted),
            pictures=[draw(known, points, single, learned, double, true)],
            notes=[*notes(known, shares), authors.note, effort()],
            numbers={
                "iterations": points,
                "ranges_at": list(LATE),
                "float32": as_numbers(single),
                "learned": as_numbers({key: runs for key, runs in learned.items() if runs}),
                "policy": digest(own_policy()),
                "authors_network": authors.record,
                "float64": as_numbers(double),
                "cards_read_rightly": as_numbers(true),
                "other_order": {"iterations": [EARLY, ITERATIONS], **orders},
                "sizes": counted,
            },
        )
    )


def tables(
    known: Mapping,
    points: Sequence[int],
    single: Games,
    learned: Mapping,
    double: Games,
    true: Games,
    orders: Mapping,
    counted: Mapping[str, Sequence[int]],
) -> list[Table]:
    """All tables, in order."""
    return [
        authors_table(known, single, double, orders),
        learned_table(known, single, learned),
        curves_table(known, points, single),
        variants_table(
            "Other fixed variants at iteration 1000, independent solver / measured, float64 (range of perturbed runs)",
            OTHERS,
            known["reference"],
            double,
        ),
        variants_table(
            "Cards read rightly, iteration 1000, independent solver / measured, float64 (range of perturbed runs)",
            (*AUTHORS, *OTHERS),
            known["true"],
            true,
        ),
        sizes_table(known, counted),
    ]


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
        f"{', '.join(AUTHORS)} otherwise and for `ddcfr`, {len(OTHER_SEEDS)} for the other variants, none for these with cards "
        "read rightly. They do not show the whole range: zeros stay zeros, and sums keep their order. The last 500 iterations "
        "and `ddcfr` are drawn in float32, the rest in float64; the judge computes in float64.",
        "The learned scheme sees exploitability in the authors' unit. It computes it in the solver's single precision.",
        "Table 4 counts hole cards in either order; depth, as in the library's other sizes, is nodes on the longest path. Its "
        "infosets are twice the library's, which also leave out hands of weight zero.",
    ]


if __name__ == "__main__":
    main()
