"""Exact values at the leaves of depth-limited subgames: what follows, solved to the end."""

from typing import Protocol

from treeplex.search.leaf import NoLeaf, Prepared
from treeplex.search.methods import METHODS
from treeplex.search.subgame import SubgameSearch
from treeplex.search.subgames.batch import PairPlaces, Subgames, cut_states
from treeplex.search.subgames.beliefs import with_trace
from treeplex.search.subgames.subgame import Places, Ranges


class Endgames(Protocol):
    """All that follows some places, compiled once and solved to the end for beliefs."""

    def values(self, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Values when all play the solution for what is believed; shapes as :class:`LeafValue`'s."""
        ...


class ExactLeaf:
    """The rest of the game, solved anew for each belief; exact as ``iterations`` grow.

    Attributes:
        method: how it is solved: in hold'em a variant of CFR with fixed weights, elsewhere any of
            :data:`treeplex.search.methods.METHODS`.
        iterations: of each solve.
        threads, storage: in hold'em, see :class:`treeplex.holdem.search.leaves.endgames.HoldemEndgames`.
    """

    def __init__(self, *, method: str = "dcfr", iterations: int = 200, threads: int = 1, storage: str = "float64") -> None:
        self.method, self.iterations, self.threads, self.storage = method, iterations, threads, storage
        self.endgames: Prepared[Places, Endgames] = Prepared(self._compiled)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if not len(places):
            return believed
        return self.endgames(places).values(believed, reached, player)

    def _compiled(self, places: Places) -> Endgames:
        """What follows the places."""
        if isinstance(places, PairPlaces):
            return PairEndgames(cut_states(places.game, places.states), self.method, self.iterations)
        from treeplex.holdem.search.leaves.endgames import HoldemEndgames, subgame_of

        below = subgame_of(places)
        return HoldemEndgames(below, method=self.method, iterations=self.iterations, threads=self.threads, storage=self.storage)


class PairEndgames:
    """Subgames of public trees, solved to the end."""

    def __init__(self, subgames: Subgames, method: str, iterations: int) -> None:
        self.subgames, self.method, self.iterations = subgames, method, iterations

    def values(self, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """As :class:`Endgames` says, of both players."""
        search = SubgameSearch(self.subgames, METHODS[self.method], NoLeaf(), tuple(with_trace(own) for own in believed))
        search.run(self.iterations)
        return search.values_of_average(reached)
