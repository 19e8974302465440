"""What a search of hold'em's turn plays in the whole game, rivers played by exact solutions, and how exploitable that is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.evaluate.holdem.judge import HoldemJudgement, judge_spot, judging_crew
from treeplex.forms.holdem.split_turn import SplitTurn
from treeplex.search.holdem.leaf import HoldemLeaf, RiverLeaf
from treeplex.search.holdem.subgame import HoldemSearch
from treeplex.search.search_trace import steps
from treeplex.search.subgame import METHODS

Floats = NDArray[np.float64]


class Player:
    """A turn, its rivers, and the judge of strategies of the whole game.

    Attributes:
        turn: the compiled turn.
        rivers: the rivers solved for the beliefs at the turn's open ends.
    """

    def __init__(self, turn: SplitTurn, river: int, *, storage: str = "float32", threads: int = 1) -> None:
        """Prepare the arrays.

        Args:
            turn: the compiled turn.
            river: iterations of Discounted CFR in a solution of the rivers.
            storage: kind of numbers of these solutions, ``float32`` or ``float64``.
            threads: that boards are shared out to.
        """
        self.turn, self.rivers = turn, RiverLeaf(turn, iterations=river, storage=storage, threads=threads)
        self._judge = judging_crew(turn.game, threads)
        self._store = self.rivers.solver.store

    def search(self, method: str, iterations: int, leaf: HoldemLeaf | None = None) -> HoldemSearch:
        """A search of the turn from its spot's ranges, not yet run.

        Args:
            method: a name of :data:`treeplex.search.METHODS`.
            iterations: planned.
            leaf: values where the turn's betting ends; None for those of the rivers solved, exact.
        """
        first, second = self.turn.game.spot.ranges
        return HoldemSearch(self.turn, METHODS[method], leaf or self.rivers, (first, second), horizon=iterations)

    def curve(self, method: str, points: Sequence[int], leaf: HoldemLeaf | None = None) -> dict[str, list[float]]:
        """Exploitability in chips after each of ``points`` iterations of a search with a leaf's values, of two policies.

        Without a leaf values are those of the rivers solved, exact. Rivers are played by solutions in any case.

        ``played``: what the agent plays over the draw of its iteration, the policy of theorems 3 and 5 (Brown et al. 2020): on
        the turn each iteration's policy, below an end a solution of the rivers for that iteration's beliefs, all averaged with
        the weights of the average policy. Those beliefs are the current policies' in CFR-D, the averages' in CFR-AVG and
        fictitious play (section 5.2). ``average``: see :meth:`average`.
        """
        search = self.search(method, points[-1], leaf)
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

    def average(self, search: HoldemSearch) -> Floats:
        """The average policy of a search on the turn, and rivers solved for its beliefs: a strategy of the game, [Q]."""
        below = np.zeros(self.turn.below.stored)
        self.add(search, below, 0.0, 1.0, search.average, search.average)
        return np.concatenate((search.average, below))

    def add(self, search: HoldemSearch, below: NDArray[Any], keep: float, add: float, played: Floats, believed: Floats) -> None:
        """Discount a strategy of the rivers [Q] and add their solution for the beliefs of one policy, reached by another."""
        policy = self.rivers.solution(search.reach_at_ends(believed))
        self.rivers.enter(search.reach_at_ends(played))
        for player in (0, 1):
            self.rivers.walk(player, policy, below, keep=keep, add=add)

    def exploitability(self, top: NDArray[Any], below: NDArray[Any]) -> float:
        """Of a strategy of the whole game, up to a factor, in chips."""
        return self.judge(np.concatenate((top, below)), expected=False).exploitability

    def judge(self, strategy: NDArray[Any], *, expected: bool = True) -> HoldemJudgement:
        """Judge a strategy of the whole game [Q], up to a factor; see :func:`treeplex.evaluate.holdem.judge.judge_spot`."""
        return judge_spot(self.turn.game, strategy, self._store, self._judge, expected=expected)
