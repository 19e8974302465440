"""Searches on the turn of hold'em with 52 cards and what they play in the whole game, for ``rebel_teh_search.py``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curves import log_points
from holdem import hand_curve
from kept import code, kept
from rebel_turn_search import steps
from treeplex.evaluate.poker import judge_spot, judging_crew
from treeplex.forms.hand_turn import HandTurn
from treeplex.games.poker.bets import BetPlan
from treeplex.games.poker.spot import Spot
from treeplex.games.poker.spots import turn_endgame_holdem
from treeplex.search import METHODS
from treeplex.search.holdem_leaf import HoldemLeaf, RiverLeaf
from treeplex.search.holdem_search import HoldemSearch
from treeplex.solvers.poker import PokerSolver

ITERATIONS, MARKS, RIVER = 64, (8, 16, 32, 64), 64
"""Of a search, where tables read its curves, and of a solution of the rivers."""
BETS, RAISES = "100%,a", "a"
"""First bets and raises; the paper's are ``50%,100%,a`` and ``75%,a``, which take some six times as long."""
WHOLE = 256
"""Iterations of linear CFR on the whole game, and of DCFR for the control."""
RIVERS = (16, 32, 64, 128)
"""Iterations of the rivers in the control."""
STORAGE = "float32"
EXACT = {"lcfr": "CFR-D", "lcfr-avg": "CFR-AVG", "lcfr-avg-modified": "modified CFR-AVG", "flop": "FP"}
CODE = (
    *("rebel_teh_search_runs", "rebel_turn_search", "holdem"),
    "treeplex.evaluate.poker",
    *("treeplex.search", "treeplex.solvers", "treeplex.forms", "treeplex.engine", "treeplex.games.poker"),
)
"""What decides the numbers of a run, besides its settings; see ``kept.py``."""
Curve = Mapping[str, Sequence[float]]


class Player:
    """A turn, its rivers, and the judge of strategies of the whole game.

    Attributes:
        turn: the compiled turn.
        rivers: the rivers solved for the beliefs at the turn's open ends.
    """

    def __init__(self, turn: HandTurn, river: int, *, storage: str = STORAGE) -> None:
        """``river`` iterations in a solution of the rivers."""
        self.turn, self.rivers = turn, RiverLeaf(turn, iterations=river, storage=storage)
        self._judge = judging_crew(turn.game, 1)
        self._store = self.rivers.solver.store

    def curve(self, method: str, points: Sequence[int], leaf: HoldemLeaf | None = None) -> dict[str, list[float]]:
        """Exploitability in chips after each of ``points`` iterations of a search with a leaf's values, of two policies.

        Without a leaf values are those of the rivers solved, exact. Rivers are played by solutions in any case.

        ``played``: what the agent plays over the draw of its iteration; ``average``: the average policy on the turn, and rivers
        solved for its beliefs. Both as in ``rebel_turn_search.Turn.curve``.
        """
        first, second = self.turn.game.spot.ranges
        search = HoldemSearch(self.turn, METHODS[method], leaf or self.rivers, (first, second), horizon=points[-1])
        top, below = np.zeros_like(search.strategy), np.zeros(self.turn.below.stored)
        found: dict[str, list[float]] = {"played": [], "average": []}
        for step in steps(search, points[-1]):
            believed = step.played if search.method.leaves == "current" else step.average
            top[:] = step.discount * top + step.weight * step.played
            self.add(search, below, step.discount, step.weight, step.played, believed)
            if step.number in points:
                found["played"].append(self.exploitability(top, below))
                average = np.zeros_like(below)
                self.add(search, average, 0.0, 1.0, step.average, step.average)
                found["average"].append(self.exploitability(step.average, average))
        return found

    def add(
        self,
        search: HoldemSearch,
        below: NDArray[Any],
        keep: float,
        add: float,
        played: NDArray[np.float64],
        believed: NDArray[np.float64],
    ) -> None:
        """Discount a strategy of the rivers [Q] and add their solution for the beliefs of one policy, reached by another."""
        policy = self.rivers.solution(search.reach_at_ends(believed))
        self.rivers.enter(search.reach_at_ends(played))
        for player in (0, 1):
            self.rivers.walk(player, policy, below, keep=keep, add=add)

    def exploitability(self, top: NDArray[Any], below: NDArray[Any]) -> float:
        """Of a strategy of the whole game, up to a factor, in chips."""
        whole = np.concatenate((top, below))
        return judge_spot(self.turn.game, whole, self._store, self._judge, expected=False).exploitability

    def control(self, whole: int) -> dict[str, float]:
        """Exploitability of a solution of the whole game, and of its turn with rivers solved for its beliefs instead."""
        first, second = self.turn.game.spot.ranges
        solver = PokerSolver(self.turn.game, "dcfr", threads=1, storage=STORAGE, horizon=whole)
        solver.run(whole)
        average = np.asarray(solver.store.average, np.float64)
        top, below = average[: self.turn.top.stored], average[self.turn.top.stored :]
        search = HoldemSearch(self.turn, METHODS["dcfr"], self.rivers, (first, second))
        solved = np.zeros_like(below)
        self.add(search, solved, 0.0, 1.0, top, top)
        return {"whole": self.exploitability(top, below), "rivers": self.exploitability(top, solved)}


def spot() -> Spot:
    """Turn endgame hold'em with these sizes."""
    return replace(turn_endgame_holdem(), bets=BetPlan.same(BETS, RAISES, min_bet=100.0))


def points() -> list[int]:
    """Iterations at which policies are judged."""
    return log_points(ITERATIONS, a_decade=6, also=MARKS)


def searched(turn: HandTurn, method: str) -> Curve:
    """A search with rivers solved at its leaves."""
    key = {"what": "rebel_teh_search", "game": turn.game.spot.identity, "method": method, "river": RIVER, "points": points()}
    key |= {"storage": STORAGE, "code": code(*CODE)}
    return dict(kept(key, lambda: Player(turn, RIVER).curve(method, points())))


def controlled(turn: HandTurn, river: int) -> dict[str, float]:
    """What rivers solved with so many iterations cost on a good turn."""
    key = {"what": "rebel_teh_search control", "game": turn.game.spot.identity, "whole": WHOLE, "river": river}
    return dict(kept({**key, "storage": STORAGE, "code": code(*CODE)}, lambda: Player(turn, river).control(WHOLE)))


def whole_game(turn: HandTurn) -> dict[int, float]:
    """Exploitability of linear CFR on the whole game, by iterations."""
    at = sorted({*points(), *log_points(WHOLE, a_decade=24)})
    key = {"what": "rebel_teh_search whole", "game": turn.game.spot.identity, "points": at, "code": code(*CODE)}

    def make() -> list[float]:
        return hand_curve(turn.game, "lcfr", at, judging_crew(turn.game, 1), storage=STORAGE)

    return dict(zip(at, kept({**key, "storage": STORAGE}, make), strict=True))
