"""Values at the leaves of depth-limited subgames: an interface, and the oracles that need no learning."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import AlgorithmError
from treeplex.forms.subgames.batch import Places, cut
from treeplex.forms.subgames.public_states import PublicState
from treeplex.games.public import PublicTree

Floats = NDArray[np.float64]
Ranges = tuple[Floats, Floats]


class LeafValue(Protocol):
    """What the hands at cut-off public states are worth."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Values of every hand of both players at each place.

        Args:
            places: K public states.
            believed: for each player float64 [K, H_i], reach by the policies on which the play below is based.
            reached: the same by the policies whose values are wanted; the same arrays in all but CFR-AVG.
            player: whose values are wanted, where the other never comes they may be left out; None for both players'.

        Returns:
            For each player float64 [K, H_i], its expected payoff with each hand against the other's hands as ``reached``
            and chance make them likely, in the game's units. Hands that cannot be there may have any finite value.
        """
        ...


class NoLeaf:
    """Where a subgame is played to its end."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if len(places):
            raise AlgorithmError("the subgame is cut off, so its leaves need values: give leaf=")
        return believed


class ZeroLeaf:
    """Nothing: what comes after the leaves is ignored."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return np.zeros_like(believed[0]), np.zeros_like(believed[1])


class ExactLeaf:
    """The rest of the game, solved anew each time; exact as ``iterations`` grow.

    Attributes:
        rules: the public-tree rules.
        method: how the rest is solved, one of :data:`treeplex.search.subgame.METHODS`.
        iterations: of each solve.
    """

    def __init__(self, rules: PublicTree, *, method: str = "dcfr", iterations: int = 200) -> None:
        self.rules, self.method, self.iterations = rules, method, iterations
        self._compiled: dict[int, object] = {}
        self._states: dict[int, tuple[PublicState, ...]] = {}

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        from treeplex.forms.subgames.batch import Subgames
        from treeplex.search.subgame import METHODS, SubgameSearch

        if not len(places):
            return believed
        key = id(places.states)
        if self._states.get(key) is not places.states:
            self._states[key] = places.states
            self._compiled[key] = cut(self.rules, places.states)
        subgames = self._compiled[key]
        assert isinstance(subgames, Subgames)
        search = SubgameSearch(subgames, METHODS[self.method], NoLeaf(), (with_trace(believed[0]), with_trace(believed[1])))
        search.run(self.iterations)
        return search.values_of_average(reached)


TRACE = 1e-9
"""Of the largest reach, what every hand has at least, so that a solve says how it would play."""


def with_trace(reached: Floats) -> Floats:
    """Reaches [K, H] with a trace of every hand.

    A hand that nobody believes in has a value as well, what it gets if it plays best (equation 1). Its average policy, which
    weighs by own reach, would otherwise be no policy at all.
    """
    traced: Floats = np.maximum(reached, TRACE * reached.max(axis=1, keepdims=True))
    return traced
