"""Exact values at the leaves of depth-limited subgames, by endgame solving."""

from treeplex.search.leaf import NoLeaf, SingleEntryCache
from treeplex.search.methods import METHODS
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import Subgames, cut_states
from treeplex.search.subgames.beliefs import with_trace
from treeplex.search.subgames.subgame import Endgames, Places, Ranges


class ExactLeaf:
    """Leaf values from solving the rest of the game for each belief; they become exact as ``iterations`` grows.

    Attributes:
        method: one of :data:`treeplex.search.methods.METHODS`; for games with a specialised engine, a CFR variant with fixed
            weights.
        iterations: iterations of each solve.
        threads, storage: for games with a specialised engine, such as
            :class:`treeplex.holdem.search.leaves.endgames.HoldemEndgames`.
    """

    def __init__(self, *, method: str = "dcfr", iterations: int = 200, threads: int = 1, storage: str = "float64") -> None:
        self.method, self.iterations, self.threads, self.storage = method, iterations, threads, storage
        self.endgames: SingleEntryCache[Places, Endgames] = SingleEntryCache(self._compiled)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if not len(places):
            return believed
        return self.endgames(places).values(believed, reached, player)

    def _compiled(self, places: Places) -> Endgames:
        """Compile the endgames that begin at these public states."""
        specialised = places.endgames(self.method, self.iterations, threads=self.threads, storage=self.storage)
        return specialised or PairEndgames(cut_states(places.trees.game, places.trees.states), self.method, self.iterations)


class PairEndgames:
    """Endgames of public trees, solved by CFR."""

    def __init__(self, subgames: Subgames, method: str, iterations: int) -> None:
        self.subgames, self.method, self.iterations = subgames, method, iterations

    def values(self, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """See :class:`treeplex.search.subgames.subgame.Endgames`; returns values of both players."""
        search = SubgameSearch(self.subgames, METHODS[self.method], NoLeaf(), tuple(with_trace(reach) for reach in believed))
        search.run(self.iterations)
        return search.values_of_average(reached)
