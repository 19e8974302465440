"""Players' choices among continuations at the leaves of a subgame."""

from collections.abc import Sequence

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.regret import Weights
from treeplex.search.leaf import ManyValued
from treeplex.search.subgames.level import Level
from treeplex.search.subgames.subgame import Places, Ranges


class LeafChoices:
    """Choices among continuations at the leaves of a subgame, solved together with it.

    Attributes:
        leaf: values at the leaves, by continuation.
        places: the K leaves.
        levels: each player's decisions, one per leaf and hand.
        averages: float64 [C_i, K, H_i] for each player, its average reach by continuation; kept by fictitious play.
    """

    def __init__(self, leaf: ManyValued, places: Places, reached: Ranges) -> None:
        """Start from the uniform policy; ``reached`` is each player's reach at the leaves, float64 [K, H_i]."""
        self.leaf, self.places = leaf, places
        self._shapes = [(count, len(places), width) for count, width in zip(leaf.continuations, places.widths, strict=True)]
        self.levels = [Level([(leaves * width, count)]) for count, leaves, width in self._shapes]
        self.averages = [self.split(player, reach) for player, reach in enumerate(reached)]

    def split(self, player: int, reached: Floats) -> Floats:
        """Split a player's reach [K, H_player] by its current policy over continuations, float64 [C, K, H_player]."""
        return np.asarray(reached * self.levels[player].policy[1:].reshape(self._shapes[player]))

    def chosen(self, reached: Ranges) -> list[Floats]:
        """Each player's reach by continuation under the current choices, float64 [C_i, K, H_i]."""
        return [self.split(player, reach) for player, reach in enumerate(reached)]

    def averaged(self, share: float, reached: Ranges) -> list[Floats]:
        """Each player's average reach by continuation after a step of size ``share`` towards the current choices."""
        return [(1.0 - share) * average + share * now for average, now in zip(self.averages, self.chosen(reached), strict=True)]

    def improve(self, player: int, chosen: Sequence[Floats], row: Weights) -> Floats:
        """Update a player's choices against the others'; returns its counterfactual values [K, H] under the old choices."""
        return self.levels[player].improve(self._values(player, chosen), row).reshape(self._shapes[player][1:])

    def respond(self, player: int, chosen: Sequence[Floats]) -> Floats:
        """Set a player's choices to a best response to the others'; returns its counterfactual values [K, H]."""
        return self.levels[player].respond(self._values(player, chosen)).reshape(self._shapes[player][1:])

    def accumulate(self, player: int, discount: float, weight: float, reached: Floats) -> None:
        """Update a player's average, as in :meth:`SubgameArrays.accumulate`."""
        self.averages[player] = discount * self.averages[player] + weight * self.split(player, reached)

    def _values(self, player: int, reached: Sequence[Floats]) -> Floats:
        """Counterfactual values of a player's choices, in the layout of a level, float64 [1 + C K H]."""
        values = self.leaf(self.places, tuple(reached), tuple(reached), player)[player]
        entries = values * self.places.opposing(tuple(reach.sum(axis=0) for reach in reached), player)
        return np.concatenate((np.zeros(1), entries.ravel()))
