"""Ranges and values by bins of hand strength, for full-game hold'em with too many hands to learn separately.

Hands are sorted by equity against all hands, averaged over the remaining board cards, and spaced equally on a line. A bin is a
point on this line, and a hand belongs to its two nearest bins with weights. A network's inputs are the cumulative fractions of
each range up to each bin, and the board's ranks and suit counts, so that the network generalises across similar boards.
"""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.holdem.engine.showdowns.rows_of_hands import read_bins, sum_in_bins, write_bins
from treeplex.holdem.rules.features import stacks_in_pots
from treeplex.holdem.street_search.street import Cards
from treeplex.holdem.street_search.suits import Board
from treeplex.holdem.whole.public import PublicHand, PublicHoldem
from treeplex.search.subgames.subgame import Ranges

KEPT = 20_000
"""Maximum number of boards whose bins are cached."""


class Bins:
    """Assignment of hands to bins on boards.

    Attributes:
        count: number of bins.
    """

    def __init__(self, cards: Cards, count: int) -> None:
        self._cards, self.count = cards, count
        self._kept: OrderedDict[Board, tuple[Ints, Singles]] = OrderedDict()

    def of(self, board: Board) -> tuple[Ints, Singles]:
        """The bin below each hand, int64 [H] (-1 for hands that share a card with the board), and the weight of the bin above
        it, float32 [H]."""
        if board not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.popitem(last=False)
            self._kept[board] = self._computed(board)
        return self._kept[board]

    def _computed(self, board: Board) -> tuple[Ints, Singles]:
        shares = self._cards.showdowns.shares(board)
        hands = self._cards.suits.format.hands
        free = np.flatnonzero(~np.isin(hands, board).any(axis=1))
        equity = shares[free].sum(axis=1, dtype=np.float64)
        _, first, counts = np.unique(np.round(equity, 3), return_inverse=True, return_counts=True)
        begins = np.cumsum(counts) - counts
        position = (begins + (counts - 1) / 2)[first] * (self.count - 1) / max(len(free) - 1, 1)
        low, share = np.full(len(hands), -1, np.int64), np.zeros(len(hands), np.float32)
        low[free] = np.minimum(position.astype(np.int64), self.count - 2)
        share[free] = position - low[free]
        return low, share


class BinnedPlaces:
    """Input rows of public states, with ranges given by bins; see :class:`treeplex.learn.common.encoding.EncodedPlaces`.

    Attributes:
        rows: float32 [K, inputs], the last 2 B columns for both players' bins.
    """

    def __init__(self, bins: Bins, rows: Singles, boards: Sequence[Board]) -> None:
        numbers = {board: number for number, board in enumerate(dict.fromkeys(boards))}
        binned = [bins.of(board) for board in numbers]
        self.rows, self._bins = rows, bins.count
        self._low, self._share = np.stack([low for low, _ in binned]), np.stack([share for _, share in binned])
        self._boards = np.array([numbers[board] for board in boards], np.int64)

    def write(self, reached: Ranges) -> Singles:
        """Fill in the beliefs from the players' reach probabilities, float64 [K, H]; returns the rows."""
        first = self.rows.shape[1] - 2 * self._bins
        for player, reach in enumerate(reached):
            columns = self.rows[:, first + player * self._bins : first + (player + 1) * self._bins]
            write_bins(self._boards, self._low, self._share, np.ascontiguousarray(reach, np.float64), columns)
        return self.rows

    def read(self, outputs: Singles, widths: Sequence[int], player: int | None = None) -> Ranges:
        """Interpolate hand values, float64 [K, H] per player, from network outputs [K, 2 B]; zeros for the other player if
        ``player`` is given."""
        values = tuple(np.zeros((len(outputs), width)) for width in widths)
        for owner in (0, 1) if player is None else (player,):
            columns = outputs[:, owner * self._bins : (owner + 1) * self._bins]
            read_bins(self._boards, self._low, self._share, columns, values[owner])
        return values

    def rows_of_values(self, values: Ranges, weights: Ranges) -> tuple[Singles, Singles]:
        """Target outputs: weighted means of both players' hand values, [K, H], over each bin; and bin weights with mean 1. Both
        are float32 [K, 2 B]."""
        targets, counts = [], []
        for hand_values, weight in zip(values, weights, strict=True):
            sums = np.zeros((2, len(hand_values), self._bins))
            sum_in_bins(self._boards, self._low, self._share, hand_values, weight, sums)
            targets.append(np.divide(sums[0], sums[1], out=np.zeros_like(sums[0]), where=sums[1] > 0))
            counts.append(sums[1] * self._bins / np.maximum(weight.sum(axis=1, keepdims=True), 1e-9))
        return np.concatenate(targets, axis=1).astype(np.float32), np.concatenate(counts, axis=1).astype(np.float32)

    def policies(self, bin_policies: Singles) -> Floats:
        """Policies for hands, [K, H, A], from policies for bins, [K, B, A]; uniform for hands that share a card with the
        board."""
        blocked = (self._low < 0)[self._boards][:, :, None]
        policies = np.zeros((*blocked.shape[:2], bin_policies.shape[2]))
        for action in range(bin_policies.shape[2]):
            probabilities = np.zeros(blocked.shape[:2])
            read_bins(self._boards, self._low, self._share, np.ascontiguousarray(bin_policies[:, :, action]), probabilities)
            policies[:, :, action] = probabilities
        return np.where(blocked, 1.0 / bin_policies.shape[2], policies)

    def rows_of_policies(self, policies: Floats, weights: Floats) -> Floats:
        """Policies for bins, [K, B, A]: means of policies for hands, [K, H, A], with weights [K, H]; 0 for bins without
        weight."""
        rows = np.zeros((len(policies), self._bins, policies.shape[2]))
        for action in range(policies.shape[2]):
            sums = np.zeros((2, len(policies), self._bins))
            sum_in_bins(self._boards, self._low, self._share, np.ascontiguousarray(policies[:, :, action]), weights, sums)
            np.divide(sums[0], sums[1], out=rows[:, :, action], where=sums[1] > 0)
        return rows


def look(game: PublicHoldem, state: PublicHand) -> Floats:
    """Features of a public state for networks over strength bins, float64 [9 + ranks] with hold'em's four streets.

    In order: logarithms of the stack-to-pot ratio (smaller stack) and, halved, of the pot in big blinds; the board's number of
    cards, one-hot (all 0 for a complete board); half its number of cards per suit, descending; its number of cards per rank.
    """
    rules, (table, board) = game.rules, state
    pot = float(rules.pot(table))
    behind = float(min(stack - put for stack, put in zip(rules.stacks, table.paid, strict=True)))
    streets = [float(len(board) == size) for size in rules.format.board_sizes[:-1]]
    suits = sorted((sum(card & 3 == suit for card in board) / 2 for suit in range(4)), reverse=True)
    ranks = sorted({card >> 2 for card in rules.format.deck})
    shown = [float(sum(card >> 2 == rank for card in board)) for rank in ranks]
    chips = [stacks_in_pots(behind, pot), np.log(pot / rules.betting.big_blind) / 2]
    return np.array([*chips, *streets, *suits, *shown])


def look_of_betting(game: PublicHoldem, state: PublicHand) -> Floats:
    """Additional features of a decision for policy networks over strength bins, float64 [3].

    The acting player, the amount to call as a fraction of the pot after the call, and the street's number of raises divided by
    4.
    """
    table = state.table
    owed = table.faced - table.paid[table.player]
    return np.array([float(table.player), owed / (float(game.rules.pot(table)) + owed), table.raises / 4])
