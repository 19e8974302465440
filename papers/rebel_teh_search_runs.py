"""Searches on the turn of hold'em with 52 cards and what they play in the whole game, for ``rebel_teh_search.py``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from curves import log_points
from holdem import hand_curve
from kept import code, kept
from treeplex.evaluate.holdem.judge import judging_crew
from treeplex.forms.holdem.subgame import HoldemSubgame
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.spots.known import turn_endgame_holdem
from treeplex.games.poker.spots.spot import Spot
from treeplex.search.holdem.play_distribution import Player
from treeplex.solvers.holdem.solver import HoldemSolver

ITERATIONS, MARKS, RIVER = 64, (8, 16, 32, 64), 64
"""Of a search, where tables read its curves, and of a solution of the rivers."""
BETS, RAISES = "100%,a", "a"
"""First bets and raises; the paper's are ``50%,100%,a`` and ``75%,a``, which take some six times as long."""
WHOLE = 256
"""Iterations of linear CFR on the whole game, and of DCFR for the control."""
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
"""Methods by name; updates alternate, as in the paper, unless it says otherwise."""
CODE = (
    *("rebel_teh_search_runs", "holdem"),
    "treeplex.evaluate.holdem.judge",
    *("treeplex.search", "treeplex.solvers", "treeplex.forms", "treeplex.engine", "treeplex.games.poker"),
)
"""What decides the numbers of a run, besides its settings; see ``kept.py``."""
Curve = Mapping[str, Sequence[float]]


def control(player: Player, whole: int) -> dict[str, float]:
    """Exploitability of a solution of the whole game, and of its turn with rivers solved for its beliefs instead."""
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
    """Iterations at which policies are judged."""
    return log_points(ITERATIONS, a_decade=6, also=MARKS)


def searched(turn: HoldemSubgame, method: str) -> Curve:
    """A search with rivers solved at its leaves."""
    key = {"what": "rebel_teh_search", "game": turn.game.spot.identity, "method": method, "river": RIVER, "points": points()}
    key |= {"storage": STORAGE, "code": code(*CODE)}
    return dict(kept(key, lambda: Player(turn, RIVER, storage=STORAGE).curve(method, points())))


def controlled(turn: HoldemSubgame, river: int) -> dict[str, float]:
    """What rivers solved with so many iterations cost on a good turn."""
    key = {"what": "rebel_teh_search control", "game": turn.game.spot.identity, "whole": WHOLE, "river": river}
    return dict(
        kept({**key, "storage": STORAGE, "code": code(*CODE)}, lambda: control(Player(turn, river, storage=STORAGE), WHOLE))
    )


def whole_game(turn: HoldemSubgame) -> dict[int, float]:
    """Exploitability of linear CFR on the whole game, by iterations."""
    at = sorted({*points(), *log_points(WHOLE, a_decade=24)})
    key = {"what": "rebel_teh_search whole", "game": turn.game.spot.identity, "points": at, "code": code(*CODE)}

    def make() -> list[float]:
        return hand_curve(turn.whole, "lcfr", at, judging_crew(turn.whole, 1), storage=STORAGE)

    return dict(zip(at, kept({**key, "storage": STORAGE}, make), strict=True))
