"""ReBeL Figure 6, left, with 52 cards: search on the turn with exact values, by four methods, two of them with both orders of
updates.

Stored searches are not repeated; delete ``results/turn_search.jsonl`` to run all of them again. With 64 or 256 iterations per
river, a search takes 25 to 45 minutes on one core.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from papers.common.curves import log_points
from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.holdem import hand_curve
from papers.common.kept import code, effort, kept
from papers.common.results import Picture, Result, Table, published, store_run_with, stored_with, verdict
from papers.common.study import study
from treeplex.holdem import BetPlan, HoldemSolver, Spot, turn_endgame_holdem
from treeplex.holdem.policies.judge import judging_crew
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_spot

NAME = "rebel/turn_search"
ITERATIONS, MARKS, RIVER = 64, (8, 16, 32, 64), 64
"""Iterations of a search, those at which tables sample it, and iterations of a river solve."""
FINE = 256
"""River iterations in a second run of the methods in the paper's claims."""
BETS, RAISES = "100%,a", "a"
"""First bets and raises; the paper's, ``50%,100%,a`` and ``75%,a``, take about six times as long."""
WHOLE = 256
"""Iterations of linear CFR on the full game, and of DCFR for the control."""
RIVERS = (16, 32, 64, 128)
"""Iterations of the rivers in the control."""
STORAGE = "float32"
EXACT = {
    "lcfr": "CFR-D",
    "lcfr-avg": "CFR-AVG",
    "lcfr-avg-modified": "modified CFR-AVG",
    "flop": "FP",
    "lcfr-avg-simultaneous": "CFR-AVG, simultaneous updates",
    "lcfr-avg-modified-simultaneous": "modified CFR-AVG, simultaneous updates",
}
"""Methods by name; updates alternate, as in the paper, unless the name says otherwise."""
CODE = (
    *("papers.rebel.turn_search", "papers.common.holdem"),
    "treeplex.holdem.policies.judge",
    *("treeplex.search", "treeplex.solvers", "treeplex.forms", "treeplex.engine", "treeplex.holdem.rules"),
)
"""Modules that affect results; see ``kept.py``."""
Curve = Mapping[str, Sequence[float]]


def control(player: Player, whole: int) -> dict[str, float]:
    """Exploitability of a solution of the full game, and of its turn strategy with rivers solved for its beliefs."""
    solver = HoldemSolver(player.subgame.whole, "dcfr", threads=1, storage=STORAGE, horizon=whole)
    solver.run(whole)
    average = np.asarray(solver.store.average, np.float64)
    top, below = average[: player.subgame.top.stored], average[player.subgame.top.stored :]
    solved = np.zeros_like(below)
    player.add(player.search("dcfr", whole), solved, 0.0, 1.0, top, top)
    return {"whole": player.exploitability(top, below), "rivers": player.exploitability(top, solved)}


def spot() -> Spot:
    """Turn endgame hold'em with these sizes."""
    return replace(turn_endgame_holdem(), bets=BetPlan.same(BETS, RAISES, min_bet=100.0))


def points() -> list[int]:
    """Iterations at which policies are evaluated."""
    return log_points(ITERATIONS, a_decade=6, also=MARKS)


def settings() -> dict[str, Any]:
    """Settings that determine all stored numbers."""
    rivers = {"river": RIVER, "fine": FINE, "storage": STORAGE, "whole": WHOLE}
    return {"game": spot().identity, "points": points(), **rivers}


def searched(turn: HoldemSubgame, method: str, group: str = "exact") -> Curve:
    """A search with rivers solved at its leaves, ``exact`` by :data:`RIVER` iterations or ``fine`` by :data:`FINE`."""
    known = stored_with(NAME, settings()).get(group, {})
    if method in known:
        return dict(known[method])
    river = FINE if group == "fine" else RIVER
    key = {"what": NAME, "game": turn.game.spot.identity, "method": method, "river": river, "points": points()}
    key |= {"storage": STORAGE, "code": code(*CODE)}
    found = dict(kept(key, lambda: Player(turn, river, storage=STORAGE).curve(method, points())))
    store_run_with(NAME, settings(), [group, method], found)
    print(group, method, at_marks(found["played"]), at_marks(found["average"]), flush=True)
    return found


def controlled(turn: HoldemSubgame, river: int) -> dict[str, float]:
    """Loss from rivers solved with a given number of iterations after a good turn strategy."""
    known = stored_with(NAME, settings()).get("control", {})
    if str(river) in known:
        return dict(known[str(river)])
    key = {"what": "rebel/turn_search control", "game": turn.game.spot.identity, "whole": WHOLE, "river": river}
    return dict(
        kept({**key, "storage": STORAGE, "code": code(*CODE)}, lambda: control(Player(turn, river, storage=STORAGE), WHOLE))
    )


def whole_game(turn: HoldemSubgame) -> dict[int, float]:
    """Exploitability of linear CFR on the whole game, by iterations."""
    at = sorted({*points(), *log_points(WHOLE, a_decade=24)})
    known = {int(point): value for point, value in stored_with(NAME, settings()).get("whole_game", {}).items()}
    if set(at) <= set(known):
        return known
    key = {"what": "rebel/turn_search whole", "game": turn.game.spot.identity, "points": at, "code": code(*CODE)}

    def make() -> list[float]:
        return hand_curve(turn.whole, "lcfr", at, judging_crew(turn.whole, 1), storage=STORAGE)

    return dict(zip(at, kept({**key, "storage": STORAGE}, make), strict=True))


BIG_BLIND = 100.0
PLAIN, SOUND, BETTER, FP, *AT_ONCE = EXACT
CLAIMED = (PLAIN, SOUND, BETTER)
"""What the paper's claims name."""
GAME = (
    "no-limit hold'em with 52 cards from the turn 3s7hTdKs, every hand equally likely, 1,000 chips per player in the "
    f"pot, 19,000 behind, big blind 100; first bets `{BETS}`, raises `{RAISES}` (`a`: all-in; turn endgame hold'em "
    "has `50%,100%,a` and `75%,a`)."
)


def thousandths(chips: float) -> str:
    """Chips in mbb, as text."""
    return f"{1000.0 * chips / BIG_BLIND:,.0f}"


def in_thousandths(chips: Sequence[float]) -> list[float]:
    """Chips in mbb."""
    return [1000.0 * each / BIG_BLIND for each in chips]


def draw_panel(panel: Any, title: str, curves: Mapping[str, Sequence[float]], tabular: Sequence[float]) -> None:
    """Curves by name, in chips, and that of the full game."""
    for number, (label, chips) in enumerate(curves.items()):
        panel.plot(points(), in_thousandths(chips), label=label, **line_style(number))
    panel.plot(points(), in_thousandths(tabular), label="whole game, linear CFR", color="#9A9A9A", linewidth=1.2)
    dress(panel, title)
    plain_labels(panel)
    panel.set(xlim=(1, ITERATIONS), xlabel="iterations (each updates both players)")
    ticks = [1, 2, 4, *MARKS]
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.legend(frameon=False, fontsize=9, handlelength=3.0, loc="lower left")


def draw(left: Mapping[str, Curve], fine: Mapping[str, Curve], tabular: Sequence[float]) -> Picture:
    """Played policies and average policies with rivers solved for their beliefs; finer rivers in the lower panels."""
    figure, axes = panels(2, 2, size=(11.0, 8.8))
    places = [(found, river, which) for found, river in ((left, RIVER), (fine, FINE)) for which in ("played", "average")]
    for panel, (found, river, which) in zip(axes, places, strict=True):
        title = "played" if which == "played" else "average policy"
        curves = {name: curve[which] for name, curve in of_names(found).items()}
        draw_panel(panel, f"Figure 6 left, 52 cards: {title}, rivers of {river}", curves, tabular)
        if which == "played":
            panel.set_ylabel("exploitability, mbb/hand")
    return save(
        figure,
        "rebel-teh-search.png",
        "Exploitability against iterations of search on a turn of hold'em with 52 cards and exact values, four panels with "
        "logarithmic axes: CFR-D, CFR-AVG, modified CFR-AVG and fictitious play, and linear CFR on the whole game, with rivers "
        f"of {RIVER} iterations above and of {FINE} below",
    )


def at_marks(values: Sequence[float]) -> list[str]:
    """A curve at the marks, in mbb/hand."""
    return [thousandths(values[points().index(mark)]) for mark in MARKS]


def of_names(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """Curves by method label."""
    return {EXACT[method]: found for method, found in curves.items()}


def curves_table(curves: Mapping[str, Curve], tabular: Sequence[float], river: int = RIVER) -> Table:
    """Curves by name at the marks, and that of the full game."""
    rows = [[name, *at_marks(found["played"]), *at_marks(found["average"])] for name, found in curves.items()]
    rows.append(["whole game, linear CFR", *at_marks(tabular), *[""] * len(MARKS)])
    columns = [f"{which}, {mark}" for which in ("played", "average") for mark in MARKS]
    caption = f"Exploitability in mbb/hand by number of iterations, rivers of {river} iterations"
    return Table(caption, ["", *columns], rows)


def control_table(control: Mapping[int, Mapping[str, float]]) -> Table:
    """Accuracy of the exact values."""
    rows = [[f"{river}", thousandths(found["rivers"])] for river, found in control.items()]
    return Table(
        f"The turn of {WHOLE} iterations of DCFR on the whole game, with rivers solved for its beliefs, in mbb/hand; "
        f"with its own rivers {thousandths(next(iter(control.values()))['whole'])}",
        ["iterations of the rivers", "exploitability"],
        rows,
    )


def findings(left: Mapping[str, Curve], fine: Mapping[str, Curve], tabular: Mapping[int, float]) -> list[str]:
    """The findings, compared with the paper's claims."""
    claims = published("rebel")["turn_search"]["claims"]
    text = {method: f"{EXACT[method]} {ends_of(found)}" for method, found in left.items()}
    best = min(left, key=lambda method: left[method]["played"][-1])
    whole = level_of(left[best]["played"][-1], tabular)
    (sound, better), finely = held(left), held(fine)
    in_fine = ", ".join(f"{EXACT[method]} {ends_of(fine[method])}" for method in CLAIMED)
    least = min(found["played"][-1] for found in fine.values())
    return [
        f'Published: "{claims[0]}". Here, after {ITERATIONS} iterations with exact values: {text[SOUND]}, {text[PLAIN]} '
        "mbb/hand; in brackets the average policy with rivers solved for its beliefs. "
        f"{sound}",
        f'Published: "{claims[1]}". With exact values: {text[PLAIN]}, {text[BETTER]}; {text[FP]}. {better}',
        "Updates alternate, as in the paper. With simultaneous updates: " + ", ".join(text[method] for method in AT_ONCE) + ".",
        f"The lowest played policy is that of {EXACT[best]}, {thousandths(left[best]['played'][-1])}, the level of "
        f"{whole} iterations of linear CFR on the whole game. With rivers solved by so few iterations no method can "
        "be much lower: see the last table.",
        f"With rivers of {FINE} iterations: {in_fine}. The first claim: {finely[0]} The second: {finely[1]} The "
        f"lowest played policy is at the level of {level_of(least, tabular)} iterations on the whole game.",
    ]


def ends_of(found: Curve) -> str:
    """A search's final exploitability in mbb/hand: played policy, and in brackets the average policy."""
    played, average = (thousandths(found[which][-1]) for which in ("played", "average"))
    return f"{played} ({average})"


def held(curves: Mapping[str, Curve]) -> list[str]:
    """Whether CFR-AVG ends above CFR-D, and whether CFR-D ends above the modified form."""
    return [
        verdict(*(curves[one][which][-1] > curves[other][which][-1] for which in ("played", "average")))
        for one, other in ((SOUND, PLAIN), (PLAIN, BETTER))
    ]


def level_of(chips: float, whole: Mapping[int, float]) -> str:
    """Iterations of linear CFR on the full game needed to reach a level in chips."""
    below = [at for at, found in whole.items() if found <= chips]
    return str(min(below)) if below else f"more than {WHOLE}"


def notes(turn: HoldemSubgame) -> list[str]:
    """How it was measured."""
    game, ends = turn.whole, turn.whole.forests[turn.streets - 1].ends
    return [
        f"The game: {GAME} {game.decisions:,} public decisions, {game.infosets:,} infosets, {game.stored:,} sequences.",
        f"A search covers the turn's betting with all {len(game.boards[0][0].hands[0]):,} hands. It ends with that "
        f"betting, before the river is dealt, at {len(turn.open_ends)} of {len(ends)} ends. The other ends are all-ins, "
        f"after which all rivers are enumerated.",
        f"Exact values are from {RIVER} iterations of DCFR, or {FINE}, from the beliefs at the ends, for all rivers "
        "at once, repeated for each query. The last table shows how exact they are. Played and average policies are as in "
        "the figures with a small deck. CFR is linear, FP linear optimistic. An iteration updates both players.",
        f"Rivers are in {STORAGE}, turn and evaluation in float64. " + effort(),
    ]


@study(title="ReBeL, Figure 6, left: search on the turn with 52 cards", place=8, minutes=150)
def reproduce() -> Result:
    turn, paper = cut_spot(spot()), published("rebel")
    left = {method: searched(turn, method) for method in EXACT}
    fine = {method: searched(turn, method, "fine") for method in CLAIMED}
    control = {river: controlled(turn, river) for river in RIVERS}
    tabular = whole_game(turn)
    curve = [tabular[point] for point in points()]
    return Result(
        source=f"{paper['source']}; {paper['turn_search']['source']}",
        findings=findings(left, fine, tabular),
        tables=[
            *(curves_table(of_names(found), curve, river) for found, river in ((left, RIVER), (fine, FINE))),
            control_table(control),
        ],
        pictures=[draw(left, fine, curve)],
        notes=notes(turn),
        numbers={
            "points": points(),
            "settings": settings(),
            "exact": left,
            "fine": fine,
            "control": control,
            "whole_game": tabular,
        },
    )
