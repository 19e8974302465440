"""ReBeL Figures 2 and 5: tabular algorithms on turn endgame hold'em, and the level of 125 iterations of linear CFR."""

from collections.abc import Mapping, Sequence
from typing import Any

from papers.common.curves import log_points
from papers.common.drawing import dress, line_style, panels, save
from papers.common.holdem import hand_curve
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from treeplex.holdem import compile as compile_spot
from treeplex.holdem import turn_endgame_holdem
from treeplex.holdem.policies.judge import judging_crew
from treeplex.run.plots import GREY

THREADS = 2
ITERATIONS = 256
MARKS = (16, 32, 63, 125, 256)
"""Iterations at which tables sample the curves; ReBeL's mark is 125, or 63 if one of its iterations updates one player."""
POT, BIG_BLIND = 2_000.0, 100.0
STACKS = {"19,000 behind": 19_000.0, "20,000 behind": 20_000.0}
ALGORITHMS = {"19,000 behind": ("lcfr", "dcfr", "flop", "linear-fp", "fp"), "20,000 behind": ("lcfr", "dcfr")}
NAMES = {"lcfr": "linear CFR", "dcfr": "DCFR", "flop": "FLOP", "linear-fp": "linear FP", "fp": "FP"}

Curves = Mapping[str, Sequence[float]]


def thousandths(chips: float) -> float:
    """Chips as mbb."""
    return 1000.0 * chips / BIG_BLIND


def measure(points: Sequence[int]) -> tuple[dict[str, Curves], list[float], dict[str, int]]:
    """Curves by stack and algorithm, linear CFR in float64 up to iteration 125, and sizes; in chips."""
    runs, sizes, double = {}, {}, []
    for label, behind in STACKS.items():
        game = compile_spot(turn_endgame_holdem(stack_behind=behind))
        crew = judging_crew(game, THREADS)
        runs[label] = {
            key: hand_curve(game, key, points, crew, storage="float32", threads=THREADS) for key in ALGORITHMS[label]
        }
        if not double:
            early = [point for point in MARKS if point <= MARKS[3]]
            double = hand_curve(game, "lcfr", early, crew, threads=THREADS)
        sizes = {"decisions": game.decisions, "infosets": game.infosets, "sequences": game.stored}
    return runs, double, sizes


def draw(points: Sequence[int], curves: Curves, level: float) -> Picture:
    """One panel; percent of the pot on the right."""
    figure, (axes,) = panels(1, 1, size=(7.6, 4.6))
    for number, (key, values) in enumerate(curves.items()):
        axes.plot(points, [thousandths(value) for value in values], label=NAMES[key], **line_style(number))
    axes.plot(MARKS[3], level, marker="o", color="#000000", markersize=6, zorder=6)
    axes.axhline(level, color="#9A9A9A", linewidth=0.9, zorder=1)
    axes.annotate(
        f"125 iterations of linear CFR:\n{level:,.0f} mbb/hand",
        (MARKS[3], level),
        xytext=(-14, -12),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=9,
        color=GREY,
    )
    dress(axes, "Turn endgame hold'em, 19,000 behind")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}")
    axes.set(xlim=(1, points[-1]), xlabel="iterations (each updates both players)")
    axes.set_ylabel("exploitability, mbb/hand")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 125, 256], ["1", "2", "5", "10", "20", "50", "125", "256"])
    axes.legend(frameon=False, fontsize=9.5, handlelength=3.2, loc="upper right")
    percent = axes.secondary_yaxis("right", functions=(lambda y: y * BIG_BLIND / POT / 10, lambda y: y * POT / BIG_BLIND * 10))
    percent.set_ylabel("per cent of the starting pot")
    percent.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    percent.tick_params(which="both", labelsize=9)
    return save(
        figure,
        "rebel-turn-endgame.png",
        "Exploitability against iterations on turn endgame hold'em, both axes logarithmic: DCFR and linear CFR fall fastest, "
        "FLOP, linear FP and FP more slowly; a mark at 125 iterations of linear CFR",
    )


def table(points: Sequence[int], runs: Mapping[str, Curves], double: Sequence[float]) -> Table:
    """All runs at the marks."""
    rows = []
    for label, curves in runs.items():
        for key, values in curves.items():
            rows.append([f"{NAMES[key]}, {label}", *(f"{thousandths(values[points.index(at)]):,.1f}" for at in MARKS)])
    filled = [f"{thousandths(value):,.1f}" for value in double]
    rows.append([f"linear CFR, {next(iter(STACKS))}, float64", *filled, *([""] * (len(MARKS) - len(filled)))])
    return Table("Exploitability in mbb/hand", ["iterations", *map(str, MARKS)], rows)


def equals(points: Sequence[int], values: Sequence[float], level: float) -> str:
    """The first point at which a curve is at or below a level."""
    below = [point for point, value in zip(points, values, strict=True) if value <= level]
    return f"{below[0]}" if below else f"not within {points[-1]}"


@study(title="ReBeL, Figures 2 and 5: turn endgame hold'em", place=6, minutes=5)
def reproduce() -> Result:
    paper: dict[str, Any] = published("rebel")
    mark = paper["turn_endgame"]["iterations"]
    points = log_points(ITERATIONS, a_decade=10, also=(*MARKS, 100, 110, 140, 160, 180))
    runs, double, sizes = measure(points)
    main_runs, other = runs.values()
    place, half = points.index(mark), points.index(63)
    level, other_level = main_runs["lcfr"][place], other["lcfr"][place]
    ends = {NAMES[key]: f"{thousandths(values[-1]):,.0f}" for key, values in main_runs.items()}
    same = equals(points, main_runs["dcfr"], level)
    return Result(
        source=f"{paper['source']}; {paper['turn_endgame']['source']}",
        findings=[
            f"{mark} iterations of linear CFR leave {level:.2f} chips, **{thousandths(level):,.0f} mbb/hand** or "
            f"{100 * level / POT:.2f}% of the pot. This is the level that the paper says ReBeL reaches. In double "
            f"precision it is {thousandths(double[-1]):,.0f} mbb/hand; with 20,000 instead of 19,000 chips behind "
            f"{thousandths(other_level):,.0f}.",
            "The paper does not define an iteration. In the released code for Liar's Dice an iteration updates one player. "
            "Under that interpretation the level is that of 63 iterations here, "
            f"{thousandths(main_runs['lcfr'][half]):,.0f} mbb/hand.",
            f"After {points[-1]} iterations, in mbb/hand: {', '.join(f'{key} {text}' for key, text in ends.items())}. "
            f"DCFR passes the level of {mark} iterations of linear CFR at iteration {same}.",
            ("The curves of ReBeL itself, with trained networks, are in the sections below, on smaller games and on one turn."),
        ],
        tables=[table(points, runs, double)],
        pictures=[draw(points, main_runs, thousandths(level))],
        notes=[
            "The game: no-limit hold'em from the turn, board 3s7hTdKs, every hand equally likely, 1,000 chips per "
            "player in the pot, blinds 50 and 100; first bets 0.5 pot, pot or all-in, raises 0.75 pot or all-in. The "
            "paper's 20,000 chips may include the pot (19,000 behind) or not.",
            f"{sizes['decisions']:,} public decisions, {sizes['infosets']:,} infosets and {sizes['sequences']:,} "
            "sequences of both players, solved without abstraction.",
            "The figures are plots without numbers, so their curves cannot be compared. Figure 5 shows "
            "tabular algorithms of this kind; its caption does not name them.",
            f"Regrets and averages are in float32 ({THREADS} threads), exploitability in float64. An iteration "
            "updates both players, out of position first.",
        ],
        numbers={
            "iterations": points,
            "chips": runs,
            "linear_cfr_float64": dict(zip(MARKS, double, strict=False)),
            **sizes,
        },
        threads=THREADS,
    )
