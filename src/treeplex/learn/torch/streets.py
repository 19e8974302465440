"""One hold'em street on tensors: a batch of boards with the same betting, each with its own chips, cards and ranges.

A showdown is a product with each board's win/loss matrix over pairs of hands. This takes more arithmetic than the sweep by
strength in ``holdem.engine.showdowns.terminal``, but is faster on a GPU: a river of 60 terminals and 64 iterations is about 18
GFLOP. A fold needs no matrix: reach is summed over all hands and for each card.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.tree.regret import Weights
from treeplex.holdem.forms.betting_forest import Forest
from treeplex.learn.common.device import torch_module
from treeplex.learn.torch.kernels import Placement, Tensor

CARDS = 52


@dataclass(frozen=True, eq=False)
class Cards:
    """B boards with N hands each, on a device.

    Attributes:
        held: [B, N, 52], the cards of each hand.
        edge: [B, N, N], 1 if the own hand beats the opposing hand, -1 if it loses, 0 for ties and shared cards.
    """

    held: Tensor
    edge: Tensor

    @classmethod
    def of_rivers(cls, hands: NDArray[Any], start: NDArray[Any], at: Placement) -> "Cards":
        """Create cards for complete boards.

        Args:
            hands: uint8 [B, N, 2], cards of the hands, weakest first.
            start: int [B, N], index of the first hand that ties with each.
            at: device and number type.
        """
        held = one_hot(hands, at)
        strength = at.numbers(start.astype(np.float64))
        apart = held @ held.transpose(1, 2) == 0
        return cls(held, (strength[:, :, None] - strength[:, None]).sign() * apart)

    def met(self, reach: Tensor) -> Tensor:
        """Total opposing reach compatible with each hand; argument and result are [B, K, N]."""
        return reach.sum(dim=2, keepdim=True) - (reach @ self.held) @ self.held.transpose(1, 2) + reach


def one_hot(hands: NDArray[Any], at: Placement) -> Tensor:
    """One-hot cards of each hand, [B, N, 52] from [B, N, 2]."""
    return at.numbers((hands[..., None] == np.arange(CARDS)).any(axis=2).astype(np.float64))


class BettingSequences(NamedTuple):
    """A street's betting tree, which is the same on all boards; sequences are those of a :class:`Forest` with one root.

    Attributes:
        nodes: for each player rows (parent sequence, first sequence, actions), parents first.
        sequences: number of each player's sequences, including the root.
        folds, showdowns, ends: both players' sequences at these terminals.
    """

    nodes: tuple[tuple[tuple[int, int, int], ...], ...]
    sequences: tuple[int, int]
    folds: tuple[tuple[int, int], ...]
    showdowns: tuple[tuple[int, int], ...]
    ends: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, forest: Forest) -> "BettingSequences":
        """The betting of a forest with one root."""
        assert len(forest.roots) == 1
        nodes = tuple(
            tuple((parent, 1 + first, count) for parent, first, count in player_nodes) for player_nodes in forest.nodes
        )
        first, second = forest.actions
        return cls(nodes, (1 + first, 1 + second), tuple(forest.folds), tuple(forest.showdowns), tuple(forest.ends))


class StreetTables:
    """CFR tables for solving a street with alternating updates.

    Attributes:
        betting: betting tree of all boards.
        cards: cards of each board.
        ranges: for each player [B, N], initial reach.
        policies, strategies, averages, regrets: for each player [B, sequences, N], the root's first, where a policy is 1.
    """

    def __init__(
        self,
        betting: BettingSequences,
        cards: Cards,
        ranges: tuple[Floats, Floats],
        fold_values: Floats,
        showdown_values: Floats,
        at: Placement,
    ) -> None:
        """Start at the uniform policy.

        Args:
            betting: betting tree of all boards.
            cards: cards of each board.
            ranges: for each player [B, N].
            fold_values: [B, F, 2], chips for each player.
            showdown_values: [B, D], chips that the winner gains and the loser loses.
            at: device and number type.
        """
        torch = torch_module()
        self.betting, self.cards = betting, cards
        self.ranges = at.numbers(ranges[0]), at.numbers(ranges[1])
        self._folded, self._shown = at.numbers(fold_values), at.numbers(showdown_values)
        self._terminals = [self._places(player, at) for player in (0, 1)]
        shape = self.ranges[0].shape
        self.policies = [self._uniform(player, shape) for player in (0, 1)]
        self.strategies = [self.reach(player, self.policies[player]) for player in (0, 1)]
        self.averages = [torch.zeros_like(strategy) for strategy in self.strategies]
        self.regrets = [torch.zeros_like(strategy) for strategy in self.strategies]

    def _places(self, player: int, at: Placement) -> Tensor:
        """Incidence matrix [sequences, F + D]: 1 where a fold or showdown follows a player's sequence, otherwise 0."""
        sequences = [pair[player] for pair in (*self.betting.folds, *self.betting.showdowns)]
        return at.numbers(
            (np.arange(self.betting.sequences[player])[:, None] == np.array(sequences, np.int64)).astype(np.float64)
        )

    def _uniform(self, player: int, shape: Sequence[int]) -> Tensor:
        """The uniform policy, [B, sequences, N]."""
        policy = self.ranges[0].new_ones((shape[0], self.betting.sequences[player], shape[1]))
        for _, first, count in self.betting.nodes[player]:
            policy[:, first : first + count] = 1.0 / count
        return policy

    def reach(self, player: int, policy: Tensor) -> Tensor:
        """Convert a policy to sequence form, both [B, sequences, N]; the root has the initial reach."""
        strategy = policy.clone()
        strategy[:, 0] = self.ranges[player]
        for parent, first, count in self.betting.nodes[player]:
            strategy[:, first : first + count] *= strategy[:, parent, None]
        return strategy

    def gradient(self, player: int, other: Tensor) -> Tensor:
        """Values of a player's sequences against the other player's strategy, [B, sequences, N], in chips times the other's
        reach."""
        folds = [pair[1 - player] for pair in self.betting.folds]
        shown = [pair[1 - player] for pair in self.betting.showdowns]
        folded = self.cards.met(other[:, folds]) * self._folded[:, :, player, None]
        compared = (other[:, shown] * self._shown[:, :, None]) @ self.cards.edge.transpose(1, 2)
        return self._terminals[player] @ torch_module().cat((folded, compared), dim=1)

    def iterate(self, row: Weights) -> None:
        """Run one iteration, each player in turn."""
        for player in (0, 1):
            self.improve(player, row, self.gradient(player, self.strategies[1 - player]))

    def improve(self, player: int, row: Weights, values: Tensor) -> None:
        """Update one player: add the current strategy to the average, then compute regrets and the next policy.

        Args:
            player: the updating player.
            row: the iteration's weights.
            values: the gradient, [B, sequences, N]; overwritten by counterfactual values, the root's first.
        """
        self.averages[player] = row.average_discount * self.averages[player] + row.average * self.strategies[player]
        regrets, policy = self.regrets[player], self.policies[player]
        for parent, first, count in reversed(self.betting.nodes[player]):
            here = slice(first, first + count)
            action_values, played = values[:, here], policy[:, here]
            mean = (action_values * played).sum(dim=1)
            discounted = regrets[:, here]
            gained = row.regret * (action_values - mean[:, None])
            discounted = torch_module().where(discounted > 0, row.positive * discounted, row.negative * discounted) + gained
            regrets[:, here] = discounted.clamp(min=0.0) if row.floor > 0 else discounted
            policy[:, here] = regret_matching(regrets[:, here])
            values[:, parent] += mean
        self.strategies[player] = self.reach(player, policy)

    def worth_of_average(self) -> tuple[Tensor, Tensor]:
        """Hand values under both average strategies, for each player [B, N], in chips times the other's reach."""
        policies = []
        for player in (0, 1):
            policy = self.averages[player].clone()
            for _, first, count in self.betting.nodes[player]:
                policy[:, first : first + count] = regret_matching(policy[:, first : first + count])
            policies.append(policy)
        hand_values = []
        for player in (0, 1):
            values = self.gradient(player, self.reach(1 - player, policies[1 - player]))
            for parent, first, count in reversed(self.betting.nodes[player]):
                here = slice(first, first + count)
                values[:, parent] += (values[:, here] * policies[player][:, here]).sum(dim=1)
            hand_values.append(values[:, 0])
        return hand_values[0], hand_values[1]


def regret_matching(rows: Tensor) -> Tensor:
    """Regret matching over [B, A, N]: proportional to positive regrets, uniform if there are none."""
    positive = rows.clamp(min=0.0)
    total = positive.sum(dim=1, keepdim=True)
    return torch_module().where(total > 0, positive / total, 1.0 / rows.shape[1])
