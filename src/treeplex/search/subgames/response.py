"""Best-response values of hands at the public states of a solved subgame.

A re-solving agent uses these values as the alternative values of the opponent's hands at the root of its next solve.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError
from treeplex.games.public import Decision, PublicState, Terminal, pair_state
from treeplex.search.subgames.beliefs import moved_range
from treeplex.search.subgames.subgame import ResponseValues, Subgame

if TYPE_CHECKING:
    from treeplex.search.subgames.batch import BatchArrays, Subgames


def response_values(subgame: Subgame, policy: NDArray[Any], player: int, leaf_values: Floats | None = None) -> ResponseValues:
    """Compute the values of a player's hands under a best response.

    Args:
        subgame: a single subgame, with its initial ranges.
        policy: [Q], the other player's policy, see :meth:`treeplex.search.subgame_search.SubgameSearch.average_policy`.
        player: the player who responds.
        leaf_values: float64 [K, H_player], the values of the player's hands at the leaves.

    Returns:
        The values of each hand at every public state of the subgame, in the game's units.

    Raises:
        AlgorithmError: the subgame has a cut, but no leaf values are given.
    """
    if len(subgame.leaves) and leaf_values is None:
        raise AlgorithmError("the subgame has a cut, so a response needs the values of its leaves; give leaf_values")
    return subgame.responses(policy, player, leaf_values)


class PairResponse:
    """A best response in a subgame of a public tree."""

    def __init__(self, subgame: "Subgames", arrays: "BatchArrays", player: int, entries: Floats) -> None:
        """Store the best response.

        Args:
            subgame: the subgame.
            arrays: arrays after the best response, with the policy and strategy of the other player to which it responds.
            player: the player who responded.
            entries: float64 [K, H_player], counterfactual values at the leaves.
        """
        self.subgame, self.player, self._entries = subgame, player, entries
        self._policy, self._infosets = arrays.policy, arrays.infoset_values
        self._ranges = tuple(weights[0] for weights in arrays.ranges)

    def at(self, path: tuple[int, ...]) -> Floats:
        """See :class:`ResponseValues`."""
        rules, other = self.subgame.game, 1 - self.player
        state = pair_state(self.subgame.roots.states[0])
        reached = self._ranges[other][: state.weight.shape[other]]
        for depth, label in enumerate(path):
            options = rules.options(state)
            if options.player == other:
                table = self._table(path[:depth])
                reached = moved_range(reached, table, list(options.labels).index(label), private=options.private)
            state = rules.after(state, label)
        mass = reached @ (state.weight.T if self.player == 0 else state.weight)
        values = self._below(path, state, reached)
        return np.asarray(np.divide(values, mass, out=np.full(len(mass), np.nan), where=mass > 0))

    def _table(self, path: tuple[int, ...]) -> Floats:
        """The other player's policy for each hand at a decision."""
        return self.subgame.policy_at(self._find("decision", path), self._policy)

    def _find(self, wanted: str, path: tuple[int, ...]) -> int:
        kind, number = self.subgame.find(0, path)
        if kind != wanted:
            raise GameError(f"the subgame has no {wanted} after {path}")
        return number

    def _below(self, path: tuple[int, ...], state: PublicState, reached: Floats) -> Floats:
        """Counterfactual values of the hands at a state, float64 [H], given the other player's reach, [H_other]."""
        rules, size = self.subgame.game, state.weight.shape[self.player]
        if self.subgame.find(0, path)[0] == "leaf":
            return np.asarray(self._entries[self._find("leaf", path), :size])
        visited, following = state.successors(rules)
        if isinstance(visited, Terminal):
            payoffs = state.weight * visited.matrix * visited.scale
            return np.asarray(payoffs @ reached if self.player == 0 else -(reached @ payoffs))
        if isinstance(visited, Decision) and visited.player == self.player:
            infosets = self.subgame.infosets[self._find("decision", path), :size]
            return np.where(infosets >= 0, self._infosets[infosets], 0.0)
        total, labels = np.zeros(size), rules.options(state).labels
        table = self._table(path) if isinstance(visited, Decision) else None
        for number, (label, after) in enumerate(zip(labels, following, strict=False)):
            if after.weight.any():
                private = isinstance(visited, Decision) and visited.private
                moved = reached if table is None else moved_range(reached, table, number, private=private)
                total += self._below((*path, label), after, moved)
        return total
