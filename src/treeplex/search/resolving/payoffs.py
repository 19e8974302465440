"""Payoffs of pairs of hands below leaves under continuation policies, computed once per leaf.

In public trees the rest of the game is traversed. Other games may provide their own :class:`Walk`, as hold'em does
(:mod:`treeplex.holdem.search.leaves.walk`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.public import Chance, PublicState, PublicTree, Terminal
from treeplex.search.subgames.batch import PairPlaces
from treeplex.search.subgames.policy_tables import table_at
from treeplex.search.subgames.subgame import Places


class Payoffs(Protocol):
    """Player 0's payoffs below K leaves for each pair of hands.

    Attributes:
        hands: for each player the n_i hands, of H_i, that have payoffs.
        boards: number of complete boards sampled below each leaf; 0 if none are sampled.
    """

    @property
    def hands(self) -> tuple[Any, Any]: ...
    @property
    def boards(self) -> int: ...

    def entries(self, player: int, reached: Floats) -> Floats:
        """Return counterfactual values of a player's hands by continuation, float64 [C_i, K, n_i].

        Args:
            player: the player whose hands are evaluated.
            reached: reach of the opponent's hands at each leaf, by continuation, [C, K, n].
        """
        ...


class Walk(Protocol):
    """Protocol for computing payoffs below leaves."""

    def __call__(self, places: Places, seconds: float = inf) -> Payoffs:
        """Traverse the rest of the game.

        Args:
            places: the leaves.
            seconds: approximate time limit, for games that can use less time.
        """
        ...


@dataclass(frozen=True, eq=False)
class PairPayoffs:
    """Payoffs below leaves of public trees.

    Attributes:
        pairs: float64 [K, C_0, C_1, H_0, H_1], player 0's payoffs times the chance probability of each pair.
    """

    pairs: Floats
    hands: tuple[Any, Any] = (slice(None), slice(None))
    boards: int = 0

    def entries(self, player: int, reached: Floats) -> Floats:
        """See :class:`Payoffs`."""
        facing = reached.transpose(1, 0, 2)
        if player == 0:
            entries = np.matmul(self.pairs, facing[:, None, :, :, None])[..., 0].sum(axis=2)
        else:
            entries = -np.matmul(facing[:, :, None, None, :], self.pairs)[..., 0, :].sum(axis=1)
        return np.asarray(entries.transpose(1, 0, 2))


class PairWalk:
    """Payoffs below leaves of public trees."""

    def __init__(self, rules: PublicTree, policies: Sequence[Sequence[Any]]) -> None:
        """Store the policies of both players.

        Raises:
            AlgorithmError: a policy is not a policy table.
        """
        tables = [[policy for policy in of_player if isinstance(policy, Policy)] for of_player in policies]
        if [*map(len, tables)] != [*map(len, policies)]:
            raise AlgorithmError("policies over hold'em hands work only in hold'em; give policy tables of this game")
        self.rules, self._policies = rules, tables

    def __call__(self, places: Places, seconds: float = inf) -> Payoffs:
        """Traverse the rest of the game for all hands at each leaf, without a time limit.

        Raises:
            AlgorithmError: the leaves are not those of a public tree.
        """
        return PairPayoffs(self._walk_places(places.trees))

    def _walk_places(self, places: PairPlaces) -> Floats:
        """Player 0's payoff for each pair of hands, times its chance probability, float64 [K, C_0, C_1, H_0, H_1]."""
        lengths = [len(of_place) for of_place in self._policies]
        table = np.zeros((len(places), *lengths, *places.widths))
        for of_place, state in zip(table, places.true_states, strict=True):
            for a, first in enumerate(self._policies[0]):
                for b, second in enumerate(self._policies[1]):
                    payoffs = state.weight * expected_payoffs(self.rules, state, (first, second))
                    of_place[a, b, : payoffs.shape[0], : payoffs.shape[1]] = payoffs
        return table


def expected_payoffs(rules: PublicTree, state: PublicState, policies: tuple[Policy, Policy]) -> Floats:
    """Player 0's expected payoff for each pair of hands under the policies, float64 [H_0, H_1]."""
    visited, following = state.successors(rules)
    if isinstance(visited, Terminal):
        return np.asarray(visited.scale * visited.matrix, np.float64)
    below = (
        expected_payoffs(rules, successor, policies) if successor.weight.any() else np.zeros(successor.weight.shape)
        for successor in following
    )
    if isinstance(visited, Chance):
        return np.asarray(sum(weight * part for (_, weight), part in zip(visited.outcomes, below, strict=True)))
    axis = visited.player
    policy = table_at(policies[axis], rules, state)
    if visited.private:
        (whole,) = below
        parts = np.moveaxis(whole, axis, 0).reshape(policy.shape[1], policy.shape[0], -1)
        return np.moveaxis(np.einsum("hao,ah->ho", parts, policy), 0, axis)
    shares = policy[:, :, None] if axis == 0 else policy[:, None, :]
    return np.asarray(sum(share * part for share, part in zip(shares, below, strict=True)))
