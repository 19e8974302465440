"""The policy that a hold'em search plays in the full game, completed by exact endgame solutions, and its exploitability."""

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
    """A subgame cut at the end of a street, its endgames, and the evaluation of strategies for the full game.

    Attributes:
        subgame: the compiled subgame.
        endgames: the endgames below its leaves, solved for the beliefs there.
    """

    def __init__(self, subgame: HoldemSubgame, iterations: int, *, storage: str = "float32", threads: int = 1) -> None:
        """Prepare the arrays.

        Args:
            subgame: the compiled subgame.
            iterations: iterations of Discounted CFR for the endgames.
            storage: dtype of their solutions, ``float32`` or ``float64``.
            threads: threads that share the boards.
        """
        self.subgame = subgame
        self.endgames = HoldemEndgames(subgame, iterations=iterations, storage=storage, threads=threads)
        self._judge = judging_crew(subgame.whole, threads)
        self._store = self.endgames.solver.store

    def search(self, method: str, iterations: int, leaf: LeafValue | None = None) -> SubgameSearch:
        """A new search of the subgame from its starting ranges.

        Args:
            method: a name of :data:`treeplex.search.METHODS`.
            iterations: iterations planned.
            leaf: values at the leaves; None for exact values by endgame solving.
        """
        return begin_search(self.subgame, METHODS[method], leaf or self.endgames, None, iterations)

    def curve(self, method: str, points: Sequence[int], leaf: LeafValue | None = None) -> dict[str, list[float]]:
        """Exploitability in chips of the policies ``played`` and ``average`` after each number of iterations in ``points``.

        Without a leaf, values are exact by endgame solving. In endgames, agents always play solutions.

        ``played`` is the agent's policy averaged over the draw of its iteration, as in theorems 3 and 5 (Brown et al. 2020):
        in the subgame each iteration's policy, below a leaf a solution for that iteration's beliefs, all averaged with the
        weights of the average policy. Those beliefs are the current policies' in CFR-D, and the averages' in CFR-AVG and
        fictitious play (section 5.2). For ``average`` see :meth:`average`.
        """
        search = self.search(method, points[-1], leaf)
        top, below = np.zeros_like(search.strategy), np.zeros(self.subgame.below.stored)
        curves: dict[str, list[float]] = {"played": [], "average": []}
        for step in steps(search, points[-1]):
            believed = step.played if search.method.leaves == "current" else step.average
            top[:] = step.discount * top + step.weight * step.played
            self.add(search, below, step.discount, step.weight, step.played, believed)
            if step.number in points:
                curves["played"].append(self.exploitability(top, below))
                average = np.zeros_like(below)
                self.add(search, average, 0.0, 1.0, step.average, step.average)
                curves["average"].append(self.exploitability(step.average, average))
        return curves

    def average(self, search: SubgameSearch) -> Floats:
        """The average policy of a search, with endgames solved for its beliefs, as a strategy for the full game, [Q]."""
        below = np.zeros(self.subgame.below.stored)
        self.add(search, below, 0.0, 1.0, search.average, search.average)
        return np.concatenate((search.average, below))

    def add(
        self, search: SubgameSearch, below: NDArray[Any], keep: float, add: float, played: Floats, believed: Floats
    ) -> None:
        """Discount an endgame strategy [Q], then add the solution for one policy's beliefs, weighted by another policy's
        reach.
        """
        policy = self.endgames.solution(search.arrays.reach_at_leaves(believed))
        self.endgames.enter(search.arrays.reach_at_leaves(played))
        for player in (0, 1):
            self.endgames.walk(player, policy, below, keep=keep, add=add)

    def exploitability(self, top: NDArray[Any], below: NDArray[Any]) -> float:
        """The exploitability of an unnormalised strategy for the full game, in chips."""
        return self.judge(np.concatenate((top, below)), expected=False).exploitability

    def judge(self, strategy: NDArray[Any], *, expected: bool = True) -> Judgement:
        """Evaluate an unnormalised strategy for the full game [Q]; see :func:`treeplex.holdem.policies.judge.judge_spot`."""
        return judge_spot(self.subgame.whole, strategy, self._store, self._judge, expected=expected)
