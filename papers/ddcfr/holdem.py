"""DDCFR Figures 3 and 6 and Table 4, hold'em columns: two river subgames of Libratus, 1000 iterations.

The game files are not part of the project: ``TREEPLEX_ENDGAMES`` names the folder of LibratusEndgames' subgame3.txt and
subgame4.txt.
"""

from collections.abc import Mapping, Sequence
from math import perm
from typing import Any

from matplotlib.axes import Axes

from papers.common.curves import SEEDS, log_points
from papers.common.drawing import dress, legend_outside, line_style, panels, save
from papers.common.holdem import hand_curve
from papers.common.kept import effort
from papers.common.results import Picture, Result, Table, published, short
from papers.common.study import study
from papers.ddcfr.hands import NUMBERS, Subgame, hand_run
from papers.ddcfr.runs import ITERATIONS, LATE, Run, Theirs, as_numbers, as_runs, described, digest, own_policy, theirs
from treeplex.holdem import CompiledSpot
from treeplex.holdem import compile as compile_spot
from treeplex.holdem.betting.tree import BettingTree, Decision
from treeplex.holdem.policies.judge import judging_crew
from treeplex.solvers import DiscountPolicy

NAMES = ("subgame-3", "subgame-4")
AUTHORS = ("cfr", "cfr+", "dcfr")
EARLY = 10
SHOWN = (1, 10, 20, 50, 100, 200, 500, 1000)
SAME = 5e-3
"""Relative difference within which two numbers count as equal."""


RunsByName = Mapping[str, Run]
Games = Mapping[str, RunsByName]


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
    """Published and measured values over the iterations."""
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


def learned_table(known: Mapping, single: Games, learned: Mapping) -> Table:
    """DDCFR compared with fixed schedules."""
    rows = [[f"{key} (published, figure 3)", *(short(known["curves"][name][key][-1], 4) for name in NAMES)]
            for key in ("dcfr", "ddcfr")]  # fmt: skip
    rows += [[label, *(runs[name].text() for name in NAMES)] for label, runs in labelled(learned).items()]
    rows += [[f"{key} (measured)", *(single[name][key].text() for name in NAMES)] for key in ("dcfr", "dcfr+")]
    caption = "Learned and fixed schedules at iteration 1000, float32 (range of perturbed runs)"
    return Table(caption, ["", *NAMES], rows)


def labelled(learned: Mapping) -> dict[str, Mapping[str, Run]]:
    """Available learned runs by label."""
    names = {"theirs": "ddcfr, authors' network (measured)", "ours": "ddcfr, our policy (measured)"}
    return {label: learned[key] for key, label in names.items() if learned[key]}


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
    """Agreement with the authors' files, as a sentence."""
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
        f"Up to iteration {EARLY}, CFR, CFR+ and DCFR agree with the authors' files within a relative difference of "
        f"{early_gap(known, points, single):.0e} (both in single precision). At iteration 1000, {'; '.join(parts)}. "
        "DCFR's runs diverge after some tens of iterations, where rounding decides ties."
    )


def learned_sentence(known: Mapping, single: Games, learned: Mapping) -> str:
    """DDCFR compared with the spread of DCFR, as a sentence."""
    parts = ["For DDCFR the paper shows one run per game."]
    for name in NAMES:
        value, fixed = known["curves"][name]["ddcfr"][-1], known["curves"][name]["dcfr"][-1]
        dcfr, plus = single[name]["dcfr"], single[name]["dcfr+"]
        parts.append(f"{name.capitalize()}: published {short(value)}, {1 - value / fixed:.0%} below the published DCFR;")
        if learned["theirs"]:
            run = learned["theirs"][name]
            holds = "has" if run.band[0] <= value <= run.band[1] else "does not have"
            parts.append(f"with the authors' network {run.ends} here, a range that {holds} the published number in it;")
        parts.append(f"with our policy {learned['ours'][name].ends};")
        parts.append(
            f"{dcfr.below(value)} runs of DCFR and {plus.below(value)} of the fixed `dcfr+`, which differ by rounding only, "
            f"end below the published DDCFR (ranges {dcfr.ends} and {plus.ends})."
        )
    parts.append(f"Our policy: {described(own_policy())}.")
    return " ".join(parts)


def order_sentence(orders: Mapping, double: Games, points: Sequence[int]) -> str:
    """Effect of the order of updates in early iterations, as a sentence."""
    place = points.index(EARLY)
    pairs = [f"{double[name]['cfr'].curve[place]:.3g} and {orders[name]['cfr'][0]:.3g} on {name}" for name in NAMES]
    return (
        "In the authors' program the player in position updates first. In the library the player out of position does. This "
        f"alone changes CFR's exploitability after {EARLY} iterations (theirs and ours: "
        f"{', '.join(pairs)}), so the runs here use the authors' order."
    )


def true_sentence(known: Mapping, double: Games, true: Games) -> str:
    """Effect of the misread cards, as a sentence."""
    reference = known["true"]
    gaps = [abs(true[name][key].last / reference[name][key][-1] - 1.0) for name in NAMES for key in ("cfr+", "dcfr")]
    dcfr = ", ".join(f"{short(double[name]['dcfr'].last)} and {short(true[name]['dcfr'].last)} on {name}" for name in NAMES)
    return (
        "The authors' program swaps the ranges and misreads six cards at showdown. With both corrected the subgames "
        f"are different games: DCFR ends at {dcfr}. There CFR+ and DCFR agree with the independent solver within "
        f"{max(gaps):.1%}."
    )


OTHERS = ("lcfr", "pcfr+", "pdcfr", "dcfr+", "pdcfr+", "apcfr+", "sapcfr+", "hs-dcfr", "hs-pcfr+", "vt-cfr+")
DRAWN = ("cfr", "cfr+", "dcfr", "lcfr", "pcfr+", "pdcfr+", "dcfr+", "hs-dcfr")
OTHER_SEEDS, MANY_SEEDS = SEEDS[:3], range(1, 25)
LOWEST = 9e-4
"""Limits of the panels with the last 500 iterations, in big blinds."""
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
    """Runs of algorithms on a game, with perturbed runs for each one's seeds."""
    return {key: hand_run(game, key, points, seeds, storage=storage) for key, seeds in algorithms.items()}


def other_order(game: Subgame) -> dict[str, list[float]]:
    """The authors' algorithms in the library's order, at iterations 10 and 1000."""
    plain = compile_spot(game.spot)
    crew = judging_crew(plain, 1)
    return {key: [game.scale * value for value in hand_curve(plain, key, [EARLY, ITERATIONS], crew)] for key in AUTHORS}


def sizes(game: CompiledSpot) -> list[int]:
    """The columns of Table 4, counted as in the paper: the two hole cards of a player in either order."""
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
    """A row per game: all iterations, the last 500, and the game with cards read correctly."""
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
        dress(right, f"{name}, cards read correctly")
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
    legend_outside(figure, entries, columns=5, size=9.5)
    return save(
        figure,
        "ddcfr-holdem.png",
        "Exploitability against iterations on the two hold'em subgames: eight fixed variants as curves and the "
        "published CFR, CFR+, DCFR and DDCFR as marks; the last 500 iterations enlarged, with DDCFR as run here; and "
        "the subgames with cards read correctly",
    )


def mark(number: int) -> dict[str, object]:
    """Published numbers in the colour of their curve."""
    return {**MARK, "color": line_style(number)["color"]}


def draw_late(axes: Axes, curves: Mapping, name: str, fixed: RunsByName, learned: RunsByName) -> None:
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
    """Our policy and, if available or stored, the authors' network, in single precision."""

    def by(policy: DiscountPolicy) -> dict[str, Run]:
        return {name: hand_run(game, policy, points, SEEDS) for name, game in games.items()}

    authors = theirs("ddcfr/holdem", lambda policy: as_numbers({"runs": by(policy)})["runs"])
    return {"ours": by(own_policy()), "theirs": as_runs(authors.found or {})}, authors


@study(title="DDCFR, hold'em: Figures 3 and 6, Table 4", place=1, minutes=4, needs=("TREEPLEX_ENDGAMES",))
def reproduce() -> Result:
    known: dict[str, Any] = published("ddcfr")["holdem"]
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
    return Result(
        source=f"{published('ddcfr')['source']}; {known['source']}",
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
            "Cards read correctly, iteration 1000, independent solver / measured, float64 (range of perturbed runs)",
            (*AUTHORS, *OTHERS),
            known["true"],
            true,
        ),
        sizes_table(known, counted),
    ]


def notes(known: Mapping, shares: str) -> list[str]:
    """How it was measured."""
    return [
        f"Published: {known['curves']['source']}. Independent solver: {known['reference']['source']}. For cards read "
        f"correctly: {known['true']['source']}.",
        "The games are those that the authors' program plays: each player has the other's range, and at showdown 3h "
        "4h 4d 5h 5d 5s are read as 2d 2s 3s 2c 3c 4c. It is not published how its lookup table treats a card that then "
        "occurs twice. The interpretation used here reproduces its exploitability of the uniform strategy on both games.",
        "The unit is the authors': big blinds, with ranges scaled to sum to one and pairs of hands that share a card "
        f"counted as zero. For big blinds per dealt hand, divide by the share of possible pairs, {shares}.",
        "Ranges are over the run and perturbed ones, whose regrets were changed by 1e-14 (float64) or 1e-7 (float32) "
        f"of themselves in the first three iterations: {len(MANY_SEEDS)} for `dcfr` and `dcfr+` in float32, "
        f"{len(SEEDS)} for {', '.join(AUTHORS)} otherwise and for `ddcfr`, {len(OTHER_SEEDS)} for the other variants, "
        "none for those with cards read correctly. They do not show the whole range: zeros stay zeros, and sums keep "
        "their order. The last 500 iterations and `ddcfr` are plotted in float32, the rest in float64. Exploitability "
        "is computed in float64.",
        "The learned scheme sees exploitability in the authors' unit, in the solver's single precision.",
        "Table 4 counts both orders of the hole cards. Depth is the number of nodes on the longest path, as in the "
        "library's other sizes. It counts twice as many infosets as the library, which also leaves out hands of weight zero.",
    ]
