"""The engine's four operations on PyTorch tensors, for any device: reach, gradient, backup and update, average.

On a GPU every operation is a kernel launch, and launch overhead dominates for subgames with thousands of sequences. A player's
sequences are therefore arranged in *slots*, which require few operations. The first two slots are constant path factors 1 and
0. They are followed by the root sequences, and by one row per infoset, ordered by own depth and padded to the maximum number of
actions. Strategies are products along paths (one gather and one product, regardless of the tree's depth), and terminals that
share a payoff matrix are stacked for one batched matrix product.

No function here copies tensor contents to the host, and no shape depends on them.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.form import Dense, Factors, Payoff, Sparse, Tree
from treeplex.engine.tree.regret import Weights
from treeplex.learn.common.device import torch_module

Tensor = Any
ONE, ZERO, CONSTANTS = 0, 1, 2
"""Slots of the constant factors 1 and 0, and the number of such slots."""
WASTE = 1.25
"""Maximum factor by which stacking may increase the number of rows."""


@dataclass(frozen=True)
class Placement:
    """A PyTorch device and number type (float32 or float64) for tensors."""

    device: Any
    dtype: Any

    def numbers(self, array: NDArray[Any]) -> Tensor:
        """Copy an array to the device as floating-point numbers."""
        return torch_module().tensor(array, dtype=self.dtype, device=self.device)

    def places(self, array: Ints) -> Tensor:
        """Copy an array to the device as int64."""
        return torch_module().tensor(array, dtype=torch_module().int64, device=self.device)


@dataclass(frozen=True, eq=False)
class Treeplex:
    """One player's treeplex of N slots: I infosets with at most A actions, at depths below D in the treeplex.

    Attributes:
        begin: the player's first sequence.
        slots: int64 [own sequences], slot of each sequence, on the host.
        head: number of slots before those of infosets.
        shape: I and A.
        ancestors: int64 [D, N], each slot, its parent, and so on up, padded with :data:`ONE`.
        levels: slots of each own depth, deepest first, and their parents' slots, int64.
        lowest, highest: [1] 0, and [I, A] infinity for actions, 0 for padding.
        uniform: [I, A], the uniform policy.
    """

    begin: int
    slots: Ints
    head: int
    shape: tuple[int, int]
    ancestors: Tensor
    levels: tuple[tuple[slice, Tensor], ...]
    lowest: Tensor
    highest: Tensor
    uniform: Tensor

    @classmethod
    def of(cls, tree: Tree, player: int, at: Placement) -> "Treeplex":
        """Arrange a player's sequences in slots."""
        begin, end = (int(offset) for offset in tree.sequence_offsets[player : player + 2])
        first_infoset, last_infoset = (int(offset) for offset in tree.infoset_offsets[player : player + 2])
        infosets, layout = tree.sequence_infoset[begin:end], tree.infoset_layout[first_infoset:last_infoset]
        rows, most = len(layout), int(layout[:, 2].max(initial=1))
        inner = infosets >= 0
        head = CONSTANTS + int((~inner).sum())
        slots = np.empty(end - begin, np.int64)
        slots[~inner] = np.arange(CONSTANTS, head)
        row = infosets[inner] - first_infoset
        slots[inner] = head + row * most + (np.flatnonzero(inner) + begin - layout[row, 0]) // layout[row, 1]
        above = slots[tree.infoset_parent[first_infoset:last_infoset] - begin]
        parent = np.concatenate((np.full(head, ONE), np.repeat(above, most)))
        ancestors, begins = [np.arange(len(parent))], []
        while (following := parent[ancestors[-1]]).any():
            ancestors.append(following)
            begins.append(
                int(np.flatnonzero(following != ONE)[0])
            )  # sorted by own depth, so all later slots are at least as deep
        levels = [slice(*ends) for ends in pairwise([*begins, len(parent)])]
        legal = np.arange(most) < layout[:, 2:]
        return cls(
            begin=begin,
            slots=slots,
            head=head,
            shape=(rows, most),
            ancestors=at.places(np.stack(ancestors)),
            levels=tuple((level, at.places(parent[level])) for level in reversed(levels)),
            lowest=at.numbers(np.zeros(1)),
            highest=at.numbers(np.where(legal, np.inf, 0.0)),
            uniform=at.numbers(legal / layout[:, 2:]),
        )

    @property
    def size(self) -> int:
        """N, the number of slots."""
        return self.head + self.shape[0] * self.shape[1]

    def sources(self, sequences: Ints) -> Ints:
        """Slots that hold the given sequences; :data:`ZERO` for -1."""
        return np.where(sequences >= 0, self.slots[np.maximum(sequences - self.begin, 0)], ZERO)

    def targets(self, sequences: Ints) -> Ints:
        """Flat slots for adding values at sequences. Entries -1, where only zeros are added, get distinct arbitrary slots to
        avoid contention."""
        anywhere = np.arange(sequences.size).reshape(sequences.shape) % self.size
        return np.where(sequences >= 0, self.slots[np.maximum(sequences - self.begin, 0)], anywhere).ravel()

    def spread(self, numbers: Floats) -> Floats:
        """Arrange sequence-wise numbers, [own sequences], in slots, float64 [N]; 0 in padding."""
        slots = np.zeros(self.size)
        slots[self.slots] = numbers
        return slots

    def inner(self, slots: Any) -> Any:
        """The entries of slot-wise numbers that belong to infosets, [I, A]."""
        return slots[self.head :].reshape(self.shape)


def factors(head: Tensor, policy: Tensor) -> Tensor:
    """Path factors of slots, [N], from those of the first slots, [head], and a policy, [I, A]."""
    return torch_module().cat((head, policy.flatten()))


def sequence_form(treeplex: Treeplex, along: Tensor) -> Tensor:
    """Sequence-form strategy, [N], from path factors, [N]."""
    return along[treeplex.ancestors].prod(dim=0)


def back_up(treeplex: Treeplex, along: Tensor, values: Tensor) -> None:
    """Convert a gradient, [N], in place into counterfactual values of sequences, given the policy's path factors, [N]."""
    for below, parents in treeplex.levels:
        values.index_add_(0, parents, values[below] * along[below])


def best_reply(treeplex: Treeplex, values: Tensor) -> Tensor:
    """Pure best response, [I, A], with ties going to the first action; backs up its values in place.

    Args:
        treeplex: the player's treeplex.
        values: [N], a gradient; overwritten by best-response counterfactual values of sequences.
    """
    torch, (rows, actions) = torch_module(), treeplex.shape
    policy = values.new_zeros(rows, actions)
    legal = treeplex.highest > 0.0
    for below, parents in treeplex.levels:
        first, last = ((bound - treeplex.head) // actions for bound in (below.start, below.stop))
        action_values = values[below].view(-1, actions)
        chosen = action_values.masked_fill(~legal[first:last], -torch.inf).argmax(dim=1, keepdim=True)
        policy[first:last].scatter_(1, chosen, 1.0)
        values.index_add_(0, parents, (action_values * policy[first:last]).flatten())
    return policy


def regret_update(treeplex: Treeplex, row: Weights, values: Tensor, policy: Tensor, regrets: Tensor) -> tuple[Tensor, Tensor]:
    """The next policy and regrets, both [I, A], as in :func:`treeplex.engine.tree.regret.update`.

    Args:
        treeplex: the player's treeplex.
        row: the iteration's weights.
        values: [N], counterfactual values.
        policy, regrets: [I, A]; padding has policy 0 and arbitrary regrets.
    """
    action_values = treeplex.inner(values)
    new = action_values - (policy * action_values).sum(dim=1, keepdim=True)
    regrets = discounted_sum(regrets, row.positive, row.negative, new, row.regret)
    if row.floor > 0.0:
        regrets = regrets.relu()
    guess = discounted_sum(regrets, row.predicted_positive, row.predicted_negative, new, row.prediction)
    guess = guess.clamp(treeplex.lowest, treeplex.highest)
    total = guess.sum(dim=1, keepdim=True)
    return torch_module().where(total > 0.0, guess / total, treeplex.uniform), regrets


def discounted_sum(regrets: Tensor, positive: float, negative: float, new: Tensor, weight: float) -> Tensor:
    """``regrets * (positive if above 0, else negative) + weight * new``, with as few operations as the factors allow."""
    torch, factor = torch_module(), positive
    if positive == 0.0 != negative:
        regrets, factor = regrets.clamp(max=0.0), negative
    elif positive != negative:
        regrets = torch.nn.functional.leaky_relu(regrets, negative / positive)
    if factor == 1.0:
        return torch.add(regrets, new, alpha=weight) if weight else regrets
    return torch.add(new if weight == 1.0 else new * weight, regrets, alpha=factor)


def next_average(row: Weights, average: Tensor, strategy: Tensor) -> Tensor:
    """The average after an iteration, [N]: the old one, discounted, plus the weighted strategy."""
    return torch_module().add(strategy if row.average == 1.0 else strategy * row.average, average, alpha=row.average_discount)


def stacking(sizes: Ints) -> tuple[Ints, Ints]:
    """Split groups of consecutive rows into chunks of equal length for one batched product.

    Args:
        sizes: [G], rows of each group, at least 1.

    Returns:
        Rows of each chunk, int64 [S, C] (-1 in padding), and the group of each chunk, int64 [S]. A single group is one chunk;
        otherwise C is the largest power of two with at most :data:`WASTE` times as many rows.
    """
    length = int(sizes.max())
    if len(sizes) > 1:
        length = 1 << (length.bit_length() - 1)
        while length > 1 and length * (-(-sizes // length)).sum() > WASTE * sizes.sum():
            length //= 2
    counts = -(-sizes // length)
    group = np.repeat(np.arange(len(sizes)), counts)
    chunk = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    indices = chunk[:, None] * length + np.arange(length)
    rows = (np.cumsum(sizes) - sizes)[group][:, None] + indices
    return np.where(indices < sizes[group][:, None], rows, -1), group


@dataclass(frozen=True, eq=False)
class DenseOperator:
    """Dense payoff operator for one player: S chunks of C terminals, at most h own and h' opposing hands.

    Attributes:
        matrices: [S, h', h].
        scales: [S, C, 1], each terminal's factor for this player; 0 in padding.
        sources: int64 [S, C, h'], the other player's slots.
        targets: int64 [S * C * h], the player's own slots.
    """

    matrices: Tensor
    scales: Tensor
    sources: Tensor
    targets: Tensor

    @classmethod
    def of(cls, dense: Dense, player: int, treeplexes: tuple[Treeplex, Treeplex], at: Placement) -> "DenseOperator | None":
        """Create the operator; None without terminals."""
        if not len(dense.groups):
            return None
        offsets, shapes = dense.groups[:, 0], dense.groups[:, 1:3]
        rows, group = stacking(dense.groups[:, 4] - dense.groups[:, 3])
        widest = shapes.max(axis=0)
        matrices = np.zeros((len(shapes), *widest))
        for matrix, offset, (n0, n1) in zip(matrices, offsets, shapes, strict=True):
            matrix[:n0, :n1] = dense.matrices[offset : offset + n0 * n1].reshape(n0, n1)
        tables = []
        for owner in (0, 1):
            hands = np.arange(widest[owner])
            there = (rows >= 0)[:, :, None] & (hands < shapes[group, owner][:, None, None])
            tables.append(np.where(there, dense.starts[rows, owner][:, :, None] + hands, -1))
        matrix = matrices[group].transpose(0, 2, 1) if player == 0 else matrices[group]
        scales = np.where(rows >= 0, dense.scales[rows], 0.0)[:, :, None]
        return cls(
            matrices=at.numbers(np.ascontiguousarray(matrix)),
            scales=at.numbers(scales if player == 0 else -scales),
            sources=at.places(treeplexes[1 - player].sources(tables[1 - player])),
            targets=at.places(treeplexes[player].targets(tables[player])),
        )


@dataclass(frozen=True, eq=False)
class SparseOperator:
    """Sparse payoff operator for one player: E values, with the other player's slots and the player's own slots, int64 [E]."""

    values: Tensor
    sources: Tensor
    targets: Tensor

    @classmethod
    def of(cls, sparse: Sparse, player: int, treeplexes: tuple[Treeplex, Treeplex], at: Placement) -> "SparseOperator | None":
        """Create the operator; None without entries."""
        treeplex, other = treeplexes[player], treeplexes[1 - player]
        pointers = sparse.pointers[treeplex.begin : treeplex.begin + len(treeplex.slots) + 1]
        taken = slice(int(pointers[0]), int(pointers[-1]))
        if taken.start == taken.stop:
            return None
        return cls(
            values=at.numbers(sparse.values[taken]),
            sources=at.places(other.sources(sparse.others[taken, 0].astype(np.int64))),
            targets=at.places(np.repeat(treeplex.slots, np.diff(pointers))),
        )


@dataclass(frozen=True, eq=False)
class FactorOperator:
    """Factored payoff operator for one player.

    Attributes:
        sources, summed, shares: int64 [E], int64 [E] and [E], slots of the other player, their lists, and their weights.
        lists, targets, weights: int64 [F], int64 [F] and [F], the player's lists, the slots in them, and their weights.
        others, own: int64 [K], both players' lists at each terminal.
        values: [K], the player's payoff.
        counts: number of lists of the other player, and of the player.
    """

    sources: Tensor
    summed: Tensor
    shares: Tensor
    lists: Tensor
    targets: Tensor
    weights: Tensor
    others: Tensor
    own: Tensor
    values: Tensor
    counts: tuple[int, int]

    @classmethod
    def of(cls, factors: Factors, player: int, treeplexes: tuple[Treeplex, Treeplex], at: Placement) -> "FactorOperator | None":
        """Create the operator; None without terminals."""
        if not len(factors.values):
            return None

        def members(owner: int) -> tuple[Ints, Ints, Floats]:
            begin, count = treeplexes[owner].begin, len(treeplexes[owner].slots)
            pointers = factors.pointers[begin : begin + count + 1]
            places = np.repeat(np.arange(count), np.diff(pointers))
            weights = factors.weights[begin + places] if len(factors.weights) else np.ones(len(places))
            return places, factors.lists[pointers[0] : pointers[-1]].astype(np.int64), weights

        treeplex, other = treeplexes[player], treeplexes[1 - player]
        (targets, lists, weights), (sources, summed, shares) = members(player), members(1 - player)
        many = np.diff(factors.ends, prepend=0)
        terms = np.repeat(np.arange(len(many)), many), factors.others.astype(np.int64)
        values = np.repeat(factors.values if player == 0 else -factors.values, many)
        return cls(
            sources=at.places(other.sources(sources + other.begin)),
            summed=at.places(summed),
            shares=at.numbers(shares),
            lists=at.places(lists),
            targets=at.places(treeplex.slots[targets]),
            weights=at.numbers(weights),
            others=at.places(terms[1 - player]),
            own=at.places(terms[player]),
            values=at.numbers(values),
            counts=(int(factors.counts[1 - player]), int(factors.counts[player])),
        )

    def add(self, strategy: Tensor, values: Tensor) -> None:
        """Add payoffs against the other player's strategy to the values of the player's slots, [N] in place."""
        sums = strategy.new_zeros(self.counts[0]).index_add_(0, self.summed, self.shares * strategy[self.sources])
        worth = strategy.new_zeros(self.counts[1]).index_add_(0, self.own, self.values * sums[self.others])
        values.index_add_(0, self.targets, self.weights * worth[self.lists])


@dataclass(frozen=True, eq=False)
class Terminals:
    """Payoffs at a game's terminals for one player of N slots."""

    size: int
    stacked: DenseOperator | None
    entries: SparseOperator | None
    factored: FactorOperator | None

    @classmethod
    def of(cls, payoff: Payoff, player: int, treeplexes: tuple[Treeplex, Treeplex], at: Placement) -> "Terminals":
        """Create a player's operators."""
        return cls(
            treeplexes[player].size,
            DenseOperator.of(payoff.dense, player, treeplexes, at),
            SparseOperator.of(payoff.sparse, player, treeplexes, at),
            FactorOperator.of(payoff.factors, player, treeplexes, at),
        )

    def gradient(self, strategy: Tensor) -> Tensor:
        """Values of the player's slots against the other's strategy, [N]."""
        values = strategy.new_zeros(self.size)
        if self.stacked is not None:
            ends = strategy[self.stacked.sources].bmm(self.stacked.matrices) * self.stacked.scales
            values.index_add_(0, self.stacked.targets, ends.flatten())
        if self.entries is not None:
            values.index_add_(0, self.entries.targets, strategy[self.entries.sources] * self.entries.values)
        if self.factored is not None:
            self.factored.add(strategy, values)
        return values
