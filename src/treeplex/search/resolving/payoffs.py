"""What pairs of hands get behind leaves if both go on by policies, worked out once for each leaf.

On public trees what follows is walked; in hold'em see :mod:`treeplex.holdem.search.leaves.continuations`.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.public import Chance, PublicState, PublicTree, Terminal
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.forms.subgame import HoldemPlaces
from treeplex.holdem.policies.by_hand import HandPolicy
from treeplex.holdem.rules.public import HoldemState
from treeplex.holdem.search.leaves.continuations import Continued, counterpart
from treeplex.search.subgames.batch import PairPlaces
from treeplex.search.subgames.policy_tables import table_at
from treeplex.search.subgames.subgame import Places

AnyPolicy = Policy | HandPolicy
MOST_KEPT = 16
"""Leaves of hold'em whose payoffs are kept while a play goes on."""


class Payoffs(Protocol):
    """What player 0 gets behind K leaves for each pair of hands.

    Attributes:
        hands: for each player which of its H_i hands these are, n_i of them.
        boards: of hold'em, complete boards that were looked at behind each leaf; 0 in other games.
    """

    @property
    def hands(self) -> tuple[Any, Any]: ...
    @property
    def boards(self) -> int: ...

    def entries(self, player: int, reached: Floats) -> Floats:
        """What a player's hands get by each of its continuations, counterfactual values, float64 [C_i, K, n_i].

        Args:
            player: whose hands.
            reached: how likely the other's hands come to each leaf and choose each of their continuations, [C, K, n].
        """
        ...


@dataclass(frozen=True, eq=False)
class PairPayoffs:
    """Those of public trees.

    Attributes:
        pairs: float64 [K, C_0, C_1, H_0, H_1], times how likely chance makes each pair.
    """

    pairs: Floats
    hands: tuple[Any, Any] = (slice(None), slice(None))
    boards: int = 0

    def entries(self, player: int, reached: Floats) -> Floats:
        """See :class:`Payoffs`."""
        facing = reached.transpose(1, 0, 2)
        if player == 0:
            found = np.matmul(self.pairs, facing[:, None, :, :, None])[..., 0].sum(axis=2)
        else:
            found = -np.matmul(facing[:, :, None, None, :], self.pairs)[..., 0, :].sum(axis=1)
        return np.asarray(found.transpose(1, 0, 2))


@dataclass(frozen=True, eq=False)
class HoldemPayoffs:
    """Those of hold'em.

    Attributes:
        pairs: for each leaf float32 [C_0, C_1, n_0, n_1], or [1, 1, n_0, n_1] where nobody has anything left to choose.
        scales: what they are to be multiplied with.
    """

    pairs: Sequence[Singles]
    scales: Sequence[float]
    hands: tuple[Ints, Ints]
    boards: int

    def entries(self, player: int, reached: Floats) -> Floats:
        """See :class:`Payoffs`."""
        facing, found = reached.astype(np.float32), list[Floats]()
        for k, (pairs, scale) in enumerate(zip(self.pairs, self.scales, strict=True)):
            other = facing[:, k] if pairs.shape[1 - player] > 1 else facing[:, k].sum(axis=0, keepdims=True)
            if player == 0:
                own = np.matmul(pairs, other[None, :, :, None])[..., 0].sum(axis=1)
            else:
                own = -np.matmul(other[:, None, None, :], pairs)[..., 0, :].sum(axis=0)
            found.append(scale * own.astype(np.float64))
        return np.stack(np.broadcast_arrays(*found), axis=1)


class PairWalk:
    """Payoffs behind leaves of public trees."""

    def __init__(self, rules: PublicTree, policies: Sequence[Sequence[AnyPolicy]]) -> None:
        """Go on by policies of both players.

        Raises:
            AlgorithmError: they are of hold'em.
        """
        tables = [[each for each in own if isinstance(each, Policy)] for own in policies]
        if [*map(len, tables)] != [*map(len, policies)]:
            raise AlgorithmError("policies of hold'em's hands go on in hold'em; here give policies of the game")
        self.rules, self._policies = rules, tables

    def __call__(self, places: Places, seconds: float = inf) -> Payoffs:
        """Walk what follows; all of a leaf's hands, however long it takes.

        Raises:
            AlgorithmError: leaves of hold'em.
        """
        if not isinstance(places, PairPlaces):
            raise AlgorithmError("a policy of a public tree has values of its own subgames, not of hold'em")
        return PairPayoffs(self._walk_places(places))

    def _walk_places(self, places: PairPlaces) -> Floats:
        """What player 0 gets for each pair of hands, times how likely chance makes it, float64 [K, C_0, C_1, H_0, H_1]."""
        lengths = [len(own) for own in self._policies]
        found = np.zeros((len(places), *lengths, *places.widths))
        for own, state in zip(found, places.true_states, strict=True):
            for a, first in enumerate(self._policies[0]):
                for b, second in enumerate(self._policies[1]):
                    payoffs = state.weight * expected_payoffs(self.rules, state, (first, second))
                    own[a, b, : payoffs.shape[0], : payoffs.shape[1]] = payoffs
        return found


class HoldemWalk:
    """Payoffs behind leaves of hold'em."""

    def __init__(self, policies: Sequence[Sequence[AnyPolicy]], boards: int) -> None:
        """Go on by policies of both players.

        Raises:
            AlgorithmError: they are no policies of hands, see :class:`treeplex.holdem.policies.by_hand.HandPolicy`; or as
                :class:`Continued`.
        """
        first, second = ([each for each in own if not isinstance(each, Policy)] for own in policies)
        if [len(first), len(second)] != [*map(len, policies)]:
            raise AlgorithmError("in hold'em players go on by policies of hands, not by the table of a compiled game")
        self._continued = Continued((first, second), boards)
        self._kept: OrderedDict[tuple[HoldemState, bytes, bytes], tuple[Singles, int]] = OrderedDict()

    def __call__(self, places: Places, seconds: float = inf) -> Payoffs:
        """Walk what follows, of the hands that the subgame holds.

        Args:
            places: the leaves.
            seconds: about how long it may take, see :meth:`Continued.payoffs`.

        Raises:
            AlgorithmError: leaves of no subgame of hold'em.
        """
        if not isinstance(places, HoldemPlaces) or places.subgame is None:
            raise AlgorithmError("in hold'em a blueprint has values where a subgame is cut off; cut one and take its leaves")
        game, (first, second) = places.game, (np.asarray(places.subgame.held(player), np.int64) for player in (0, 1))
        ends = [isinstance(game.event(state), Showdown) for state in places.states]
        heard = [
            counterpart(game, state, self._continued.game) for state, end in zip(places.states, ends, strict=True) if not end
        ]
        walked, others = self._walked([state for state, _ in heard], (first, second), seconds), iter(heard)
        pairs, scales = list[Singles](), list[float]()
        for state, end in zip(places.states, ends, strict=True):
            if end:
                pairs.append(self._continued.all_in(state.board, (first, second)))
                scales.append(min(game.event(state).contributions))
            else:
                at, scale = next(others)
                pairs.append(walked[at][0])
                scales.append(scale)
        return HoldemPayoffs(pairs, scales, (first, second), min((boards for _, boards in walked.values()), default=0))

    def _walked(
        self, states: Sequence[HoldemState], hands: tuple[Ints, Ints], seconds: float
    ) -> dict[HoldemState, tuple[Singles, int]]:
        """Payoffs at states in the chips of the policies' own betting, and boards looked at; remembered for other subgames."""
        began, names = perf_counter(), (hands[0].tobytes(), hands[1].tobytes())
        found = {state: self._kept[state, *names] for state in states if (state, *names) in self._kept}
        by_board = dict[tuple[int, ...], list[HoldemState]]()
        for state in dict.fromkeys(states):
            if state not in found:
                by_board.setdefault(state.board, []).append(state)
        for done, missing in enumerate(by_board.values()):
            share = (seconds - (perf_counter() - began)) / (len(by_board) - done)
            pairs, boards = self._continued.payoffs(missing, hands, share)
            found |= {state: (own, boards) for state, own in zip(missing, pairs, strict=True)}
        for state, each in found.items():
            self._kept[state, *names] = each
            self._kept.move_to_end((state, *names))
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return found


def expected_payoffs(rules: PublicTree, state: PublicState, policies: tuple[Policy, Policy]) -> Floats:
    """What player 0 gets for each pair of hands at a public state when players follow policies, float64 [H_0, H_1]."""
    visited, following = state.successors(rules)
    if isinstance(visited, Terminal):
        return np.asarray(visited.scale * visited.matrix, np.float64)
    below = (
        expected_payoffs(rules, each, policies) if each.weight.any() else np.zeros(each.weight.shape) for each in following
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
