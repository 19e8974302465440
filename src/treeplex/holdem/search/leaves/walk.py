"""Payoffs for pairs of hands beyond hold'em leaves if both players follow given policies, computed once per leaf.

The traversal is that of :mod:`treeplex.holdem.search.leaves.continuations`.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.policies.by_hand import HandPolicy
from treeplex.holdem.rules.public import HoldemState
from treeplex.holdem.search.leaves.continuations import ContinuationPayoffs, counterpart
from treeplex.holdem.search.subgames.subgame import HoldemPlaces
from treeplex.search.resolving.payoffs import Payoffs
from treeplex.search.subgames.subgame import Places

MOST_KEPT = 16
"""Number of leaves whose payoffs are cached during a game."""


@dataclass(frozen=True, eq=False)
class HoldemPayoffs:
    """Payoffs for pairs of hands at hold'em leaves.

    Attributes:
        pairs: for each leaf float32 [C_0, C_1, n_0, n_1], or [1, 1, n_0, n_1] where no decision remains.
        scales: for each leaf the factor that converts its payoffs to the game's chips.
        hands: for each player int64 [n_i], hands by index.
        boards: smallest number of complete boards examined below a leaf; 0 if no decision remains at any leaf.
    """

    pairs: Sequence[Singles]
    scales: Sequence[float]
    hands: tuple[Ints, Ints]
    boards: int

    def entries(self, player: int, reached: Floats) -> Floats:
        """Payoffs at states; see :class:`Payoffs`."""
        facing, leaf_values = reached.astype(np.float32), list[Floats]()
        for k, (pairs, scale) in enumerate(zip(self.pairs, self.scales, strict=True)):
            other = facing[:, k] if pairs.shape[1 - player] > 1 else facing[:, k].sum(axis=0, keepdims=True)
            if player == 0:
                payoffs = np.matmul(pairs, other[None, :, :, None])[..., 0].sum(axis=1)
            else:
                payoffs = -np.matmul(other[:, None, None, :], pairs)[..., 0, :].sum(axis=0)
            leaf_values.append(scale * payoffs.astype(np.float64))
        return np.stack(np.broadcast_arrays(*leaf_values), axis=1)


class HoldemWalk:
    """Payoffs beyond hold'em leaves."""

    def __init__(self, policies: Sequence[Sequence[HandPolicy | Policy]], boards: int) -> None:
        """Prepare the payoffs under both players' policies.

        Raises:
            AlgorithmError: the policies are not policies of hands, see :class:`treeplex.holdem.policies.by_hand.HandPolicy`; or
                as in :class:`ContinuationPayoffs`.
        """
        first, second = ([policy for policy in choices if not isinstance(policy, Policy)] for choices in policies)
        if [len(first), len(second)] != [*map(len, policies)]:
            raise AlgorithmError("in hold'em, continuations must be policies over hands, not tables of a compiled game")
        self._continued = ContinuationPayoffs((first, second), boards)
        self._kept: OrderedDict[tuple[HoldemState, bytes, bytes], tuple[Singles, int]] = OrderedDict()

    def __call__(self, places: Places, seconds: float = inf) -> Payoffs:
        """Traverse the game beyond leaves, for the hands of the subgame.

        Args:
            places: the leaves.
            seconds: approximate time limit, see :meth:`ContinuationPayoffs.payoffs`.

        Raises:
            AlgorithmError: the places are not leaves of a hold'em subgame.
        """
        if not isinstance(places, HoldemPlaces) or places.subgame is None:
            raise AlgorithmError(
                "a hold'em blueprint has values only at the leaves of a subgame; cut a subgame and use its leaves"
            )
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
        """Payoffs at states in the chips of the policies' betting, and the number of boards; cached for other subgames."""
        began, names = perf_counter(), (hands[0].tobytes(), hands[1].tobytes())
        known = {state: self._kept[state, *names] for state in states if (state, *names) in self._kept}
        by_board = dict[tuple[int, ...], list[HoldemState]]()
        for state in dict.fromkeys(states):
            if state not in known:
                by_board.setdefault(state.board, []).append(state)
        for done, missing in enumerate(by_board.values()):
            share = (seconds - (perf_counter() - began)) / (len(by_board) - done)
            pairs, boards = self._continued.payoffs(missing, hands, share)
            known |= {state: (payoff, boards) for state, payoff in zip(missing, pairs, strict=True)}
        for state, result in known.items():
            self._kept[state, *names] = result
            self._kept.move_to_end((state, *names))
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return known
