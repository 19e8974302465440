"""ReBeL Figure 6, left, with 52 cards: search on the turn with exact values, by four methods, of two in both orders.

``python papers/rebel_teh_search.py`` takes some twenty minutes on one core; runs are kept in ``runs/papers`` one by one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from drawing import dress, line_style, panels, plain_labels, save
from kept import effort
from rebel_teh_search_runs import (
    BETS,
    EXACT,
    ITERATIONS,
    MARKS,
    RAISES,
    RIVER,
    RIVERS,
    STORAGE,
    WHOLE,
    Curve,
    controlled,
    points,
    searched,
    spot,
    whole_game,
)
from results import Picture, Result, Table, finish, published, verdict
from treeplex.forms.holdem.subgame import HoldemSubgame, cut_spot

BIG_BLIND = 100.0
PLAIN, SOUND, BETTER, FP, *AT_ONCE = EXACT
GAME = (
    "no-limit hold'em with 52 cards from the turn 3s7hTdKs, every hand equally likely, 1,000 chips a player in the pot, 19,000 "
    f"behind, big blind 100; first bets `{BETS}`, raises `{RAISES}` (`a`: all-in; turn endgame hold'em has `50%,100%,a` and "
    "`75%,a`)."
)


def thousandths(chips: float) -> str:
    """Chips in thousandths of a big blind, as text."""
    return f"{1000.0 * chips / BIG_BLIND:,.0f}"


def in_thousandths(chips: Sequence[float]) -> list[float]:
    """Of a big blind."""
    return [1000.0 * each / BIG_BLIND for each in chips]


def draw_panel(panel: Any, title: str, curves: Mapping[str, Sequence[float]], tabular: Sequence[float]) -> None:
    """Curves by name, in chips, and that of the whole game."""
    for number, (label, chips) in enumerate(curves.items()):
        panel.plot(points(), in_thousandths(chips), label=label, **line_style(number))
    panel.plot(points(), in_thousandths(tabular), label="whole game, linear CFR", color="#9A9A9A", linewidth=1.2)
    dress(panel, title)
    plain_labels(panel)
    panel.set(xlim=(1, ITERATIONS), xlabel="iterations (each updates both players)")
    panel.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}")
    ticks = [1, 2, 4, *MARKS]
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.legend(frameon=False, fontsize=9, handlelength=3.0, loc="lower left")


def draw(left: Mapping[str, Curve], tabular: Sequence[float]) -> Picture:
    """What is played, and the average policy with rivers solved for its beliefs."""
    figure, axes = panels(1, 2, size=(11.0, 4.6))
    for panel, which, title in zip(axes, ("played", "average"), ("played", "average policy"), strict=True):
        curves = {EXACT[method]: found[which] for method, found in left.items()}
        draw_panel(panel, f"Figure 6 left, 52 cards: {title}", curves, tabular)
    axes[0].set_ylabel("exploitability, thousandths of a big blind")
    return save(
        figure,
        "rebel-teh-search.png",
        "Exploitability against iterations of search on a turn of hold'em with 52 cards and exact values, two panels with "
        "logarithmic axes: CFR-D, CFR-AVG, modified CFR-AVG and fictitious play, and linear CFR on the whole game",
    )


def at_marks(values: Sequence[float]) -> list[str]:
    """A curve at the marks, in thousandths of a big blind."""
    return [thousandths(values[points().index(mark)]) for mark in MARKS]


def curves_table(curves: Mapping[str, Curve], tabular: Sequence[float]) -> Table:
    """Curves by name at the marks, and that of the whole game."""
    rows = [[name, *at_marks(found["played"]), *at_marks(found["average"])] for name, found in curves.items()]
    rows.append(["whole game, linear CFR", *at_marks(tabular), *[""] * len(MARKS)])
    columns = [f"{which}, {mark}" for which in ("played", "average") for mark in MARKS]
    return Table("Exploitability in thousandths of a big blind after so many iterations", ["", *columns], rows)


def control_table(control: Mapping[int, Mapping[str, float]]) -> Table:
    """How exact the exact values are."""
    rows = [[f"{river}", thousandths(found["rivers"])] for river, found in control.items()]
    return Table(
        f"The turn of {WHOLE} iterations of DCFR on the whole game, with rivers solved for its beliefs, in thousandths; "
        f"with its own rivers {thousandths(next(iter(control.values()))['whole'])}",
        ["iterations of the rivers", "exploitability"],
        rows,
    )


def findings(left: Mapping[str, Curve], tabular: Mapping[int, float]) -> list[str]:
    """What the figure says, beside what the paper says."""
    claims = published()["rebel"]["turn_search"]["claims"]
    ends = {method: [thousandths(found[which][-1]) for which in ("played", "average")] for method, found in left.items()}
    text = {method: f"{EXACT[method]} {played} ({average})" for method, (played, average) in ends.items()}
    best = min(left, key=lambda method: left[method]["played"][-1])
    whole = level_of(left[best]["played"][-1], tabular)
    sound, better = (
        verdict(*(left[one][which][-1] > left[other][which][-1] for which in ("played", "average")))
        for one, other in ((SOUND, PLAIN), (PLAIN, BETTER))
    )
    return [
        f'Published: "{claims[0]}". Here, after {ITERATIONS} iterations with exact values: {text[SOUND]}, {text[PLAIN]} '
        "thousandths of a big blind; in brackets the average policy with rivers solved for its beliefs. "
        f"{sound}",
        f'Published: "{claims[1]}". With exact values: {text[PLAIN]}, {text[BETTER]}; {text[FP]}. {better}',
        "Updates alternate, as the paper's do. With both players updated at once: "
        + ", ".join(text[method] for method in AT_ONCE)
        + ".",
        f"The least is that of {EXACT[best]}, {ends[best][0]}, as {whole} iterations of linear CFR on the whole game. Rivers "
        "solved with so few iterations do not let any method come much lower: see the second table.",
    ]


def level_of(chips: float, whole: Mapping[int, float]) -> str:
    """How many iterations of linear CFR on the whole game come to so many chips."""
    below = [at for at, found in whole.items() if found <= chips]
    return str(min(below)) if below else f"more than {WHOLE}"


def notes(turn: HoldemSubgame) -> list[str]:
    """How it was measured."""
    game, ends = turn.whole, turn.game.forests[0].ends
    return [
        f"The game: {GAME} {game.decisions:,} public decisions, {game.infosets:,} infosets, {game.stored:,} sequences.",
        f"A search holds the turn's betting with all {len(game.boards[0][0].hands[0]):,} hands, and ends with it, before the "
        f"river is seen, at {len(turn.open_ends)} of {len(ends)} ends; after the others, all-ins, rivers are dealt exactly.",
        f"Exact values are those of {RIVER} iterations of DCFR from the beliefs at the ends, all rivers at once, anew for each "
        f"question. The second table says how exact they are. Played and average as in the figures with a small deck. CFR is "
        "linear, FP linear optimistic. An iteration updates both players.",
        f"Rivers in {STORAGE}, turn and judge in float64. " + effort(),
    ]


def main() -> None:
    turn, paper = cut_spot(spot()), published()["rebel"]
    left = {method: searched(turn, method) for method in EXACT}
    control = {river: controlled(turn, river) for river in RIVERS}
    tabular = whole_game(turn)
    curve = [tabular[point] for point in points()]
    finish(
        Result(
            name="rebel_teh_search",
            title="ReBeL, Figure 6, left: search on the turn with 52 cards",
            source=f"{paper['source']}; {paper['turn_search']['source']}",
            findings=findings(left, tabular),
            tables=[curves_table({EXACT[method]: found for method, found in left.items()}, curve), control_table(control)],
            pictures=[draw(left, curve)],
            notes=notes(turn),
            numbers={"points": points(), "exact": left, "control": control, "whole_game": tabular},
        )
    )


if __name__ == "__main__":
    main()
