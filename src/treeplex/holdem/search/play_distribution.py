"""What a search of hold'em plays in the whole game, endgames played by exact solutions, and how exploitable that is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.evaluate import Judgement
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.search.leaves.endgames import HoldemEndgames
from treeplex.holdem.search.subgames.subgame import HoldemSubgame
from treeplex.search.leaf import LeafValue
from treeplex.search.methods import METHODS
from treeplex.search.search_trace import steps
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.warm_start.begin import begin_search


class Player:
    """A subgame cut at the end of a street, its endgames, and the judge of strategies of the whole game.

    Attributes:
        subgame: the compiled subgame.
        endgames: what follows its leaves, solved for the beliefs there.
    """

    def __init__(self, subgame: HoldemSubgame, iterations: int, *, storage: str = "float32", threads: int = 1) -> None:
        """Prepare the arrays.

        Args:
            subgame: the compiled subgame.
            iterations: of Discounted CFR in a solution of the endgames.
            storage: kind of numbers of these solutions, ``float32`` or ``float64``.
            threads: that boards are shared out to.
        """
        self.subgame = subgame
        self.endgames = HoldemEndgames(subgame, iterations=iterations, storage=storage, threads=threads)
        self._judge = judging_crew(subgame.whole, threads)
        self._store = self.endgames.solver.store

    def search(self, method: str, iterations: int, leaf: LeafValue | None = None) -> SubgameSearch:
        """A search of the subgame from the ranges it was cut with, not yet run.

        Args:
            method: a name of :data:`treeplex.search.METHODS`.
            iterations: planned.
            leaf: values at the leaves; None for those of the endgames solved, exact.
        """
        return begin_search(self.subgame, METHODS[method], leaf or self.endgames, None, iterations)

    def curve(self, method: str, points: Sequence[int], leaf: LeafValue | None = None) -> dict[str, list[float]]:
        """Exploitability in chips after each of ``points`` iterations of a search with a leaf's values, of two policies.

        Without a leaf values are those of the endgames solved, exact. Endgames are played by solutions in any case.

        ``played``: what the agent plays over the draw of its iteration, the policy of theorems 3 and 5 (Brown et al. 2020): in
        the subgame each iteration's policy, below a leaf a solution for that iteration's beliefs, all averaged with the weights
        of the average policy. Those beliefs are the current policies' in CFR-D, the averages' in CFR-AVG and fictitious play
        (section 5.2). ``average``: see :meth:`average`.
        """
        search = self.search(method, points[-1], leaf)
        top, below = np.zeros_like(search.strategy), np.zeros(self.subgame.below.stored)
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

    def average(self, search: SubgameSearch) -> Floats:
        """The average policy of a search, and endgames solved for its beliefs: a strategy of the game, [Q]."""
        below = np.zeros(self.subgame.below.stored)
        self.add(search, below, 0.0, 1.0, search.average, search.average)
        return np.concatenate((search.average, below))

    def add(
        self, search: SubgameSearch, below: NDArray[Any], keep: float, add: float, played: Floats, believed: Floats
    ) -> None:
        """Discount a strategy of the endgames [Q] and add their solution for the beliefs of one policy, reached by another."""
        policy = self.endgames.solution(search.arrays.reach_at_leaves(believed))
        self.endgames.enter(search.arrays.reach_at_leaves(played))
        for player in (0, 1):
            self.endgames.walk(player, policy, below, keep=keep, add=add)

    def exploitability(self, top: NDArray[Any], below: NDArray[Any]) -> float:
        """Exploitability of a strategy of the whole game, up to a factor, in chips."""
        return self.judge(np.concatenate((top, below)), expected=False).exploitability

    def judge(self, strategy: NDArray[Any], *, expected: bool = True) -> Judgement:
        """Judge a strategy of the whole game [Q], up to a factor; see :func:`treeplex.holdem.policies.judge.judge_spot`."""
        return judge_spot(self.subgame.whole, strategy, self._store, self._judge, expected=expected)
