"""Iterations of the CFR family on several threads, bit for bit equal to :func:`treeplex.engine.tree.regret.iterate`.

Each thread owns some sequences. It computes their gradient, adds their strategy to the average, and updates a part of every
level of the treeplex. Backup is a gather: the owner of a sequence adds the values of the infosets below it, in the order in
which the loop on one thread adds them. Threads wait for each other after each level.
"""

import math
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.barrier import wait_at_barrier
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Dense, Payoff, Sparse, Tree, TreeState, Workspace, iteration_time
from treeplex.engine.tree.gradient import dense_gradient, sparse_rows
from treeplex.engine.tree.regret import (
    AVERAGE,
    AVERAGE_DISCOUNT,
    FLOOR,
    NEGATIVE,
    POSITIVE,
    PREDICTED_NEGATIVE,
    PREDICTED_POSITIVE,
    PREDICTION,
    REGRET,
)

PIECE = 64
"""Pieces of blocks begin at multiples of this many infosets, so that threads share no cache line of an action's values."""
WAIT = 10_000.0
"""Nanoseconds in which all threads wait for each other, a cautious estimate."""
MOST_THREADS = 16


class Division(NamedTuple):
    """The division of a tree's work among threads.

    Attributes:
        rows: int64 [N, T+1], bounds of the sequences of each player for each thread.
        pieces: int64 [P, 3], pieces of blocks: block, first and last infoset within it; by player, level and thread.
        levels: int64 [N+1], slice of levels of each player, top-down.
        bounds: int64 [levels, T+1], slice of pieces of each thread at each level.
        pointers: int64 [Q+1], the infosets below sequence q are ``below[pointers[q]:pointers[q+1]]``.
        below: int32 [I], in the order in which their values are added.
        grows: uint8 [B], whether any sequence of a block has infosets below it.
    """

    rows: Ints
    pieces: Ints
    levels: Ints
    bounds: Ints
    pointers: Ints
    below: SmallInts
    grows: np.ndarray


class Share(NamedTuple):
    """The part of a payoff that a thread computes.

    Attributes:
        sparse: the whole operator.
        first, second: the terminals of the dense operator at the thread's sequences of player 0, and of player 1.
    """

    sparse: Sparse
    first: Dense
    second: Dense


@kernel()
def iterate_shared(
    tree: Tree,
    share: Share,
    division: Division,
    weights: Floats,
    alternating: bool,
    state: TreeState,
    work: Workspace,
    thread: int,
    gate: Ints,
) -> None:
    """Run a thread's part of the iterations of :func:`treeplex.engine.tree.regret.iterate`, without adaptive prediction.

    Args:
        tree, weights, alternating, state, work: as there.
        share: the thread's part of the payoff.
        division: the division of the tree.
        thread: index of the thread.
        gate: see :func:`treeplex.engine.barrier.wait_at_barrier`.
    """
    players, threads = division.rows.shape[0], division.rows.shape[1] - 1
    strategy, average, values = state.strategy, state.averages[0], work.values
    for k in range(weights.shape[0]):
        row = weights[k]
        if not alternating:
            for player in range(players):
                own_gradient(share, division, player, thread, strategy, values)
            wait_at_barrier(gate, threads)
        for player in range(players):
            if alternating:
                own_gradient(share, division, player, thread, strategy, values)
            discount, weight = row[AVERAGE_DISCOUNT], row[AVERAGE]
            for q in range(division.rows[player, thread], division.rows[player, thread + 1]):
                average[q] = discount * average[q] + weight * strategy[q]
            wait_at_barrier(gate, threads)
            for level in range(division.levels[player + 1] - 1, division.levels[player] - 1, -1):
                for piece in range(division.bounds[level, thread], division.bounds[level, thread + 1]):
                    update_piece(tree, division, piece, row, state, work)
                wait_at_barrier(gate, threads)
            if alternating:
                reach_levels(tree, division, player, thread, state.policy, strategy, gate)
        if not alternating:
            for player in range(players):
                reach_levels(tree, division, player, thread, state.policy, strategy, gate)


@kernel()
def own_gradient(share: Share, division: Division, player: int, thread: int, strategy: Floats, values: Floats) -> None:
    """Write the gradient of a thread's sequences of a player."""
    start, end = division.rows[player, thread], division.rows[player, thread + 1]
    if share.sparse.values.shape[0] > 0:
        sparse_rows(share.sparse, start, end, strategy, values)
    else:
        values[start:end] = 0.0
    dense = share.first if player == 0 else share.second
    if dense.groups.shape[0] > 0:
        dense_gradient(dense, player, strategy, values)


@kernel()
def update_piece(tree: Tree, division: Division, piece: int, row: Floats, state: TreeState, work: Workspace) -> None:
    """Back up values and update regrets and policy of a piece of a block; see :func:`treeplex.engine.tree.regret.update`."""
    positive, negative, regret_weight, floor = row[POSITIVE], row[NEGATIVE], row[REGRET], row[FLOOR] > 0.0
    predicted_positive, predicted_negative = row[PREDICTED_POSITIVE], row[PREDICTED_NEGATIVE]
    lowest, strength = 0.0 if floor else -math.inf, row[PREDICTION]
    b, first, last = division.pieces[piece, 0], division.pieces[piece, 1], division.pieces[piece, 2]
    q0, i0, n, actions = tree.blocks[b, 0] + first, tree.blocks[b, 1] + first, tree.blocks[b, 2], tree.blocks[b, 3]
    size, pointers, below, values = last - first, division.pointers, division.below, work.values
    if division.grows[b]:
        for a in range(actions):
            for q in range(q0 + a * n, q0 + a * n + size):
                for child in range(pointers[q], pointers[q + 1]):
                    values[q] += work.infoset_values[below[child]]
    block_values, total = work.infoset_values[i0 : i0 + size], work.totals[i0 : i0 + size]
    for j in range(size):
        block_values[j] = 0.0
        total[j] = 0.0
    for a in range(actions):
        action_values = values[q0 + a * n : q0 + a * n + size]
        probabilities = state.policy[q0 + a * n : q0 + a * n + size]
        for j in range(size):
            block_values[j] += probabilities[j] * action_values[j]
    for a in range(actions - 1, -1, -1):
        action_values, next_policy = values[q0 + a * n : q0 + a * n + size], state.policy[q0 + a * n : q0 + a * n + size]
        action_regrets = state.regrets[q0 + a * n : q0 + a * n + size]
        for j in range(size):
            new = action_values[j] - block_values[j]
            old = action_regrets[j]
            regret = max(old * (positive if old > 0.0 else negative) + regret_weight * new, lowest)
            action_regrets[j] = regret
            guess = regret * (predicted_positive if regret > 0.0 else predicted_negative) + strength * new
            guess = max(guess, 0.0)
            next_policy[j] = guess
            total[j] += guess
    uniform = 1.0 / actions
    for a in range(actions):
        next_policy = state.policy[q0 + a * n : q0 + a * n + size]
        for j in range(size):
            next_policy[j] = next_policy[j] / total[j] if total[j] > 0.0 else uniform


@kernel()
def reach_levels(
    tree: Tree, division: Division, player: int, thread: int, policy: Floats, strategy: Floats, gate: Ints
) -> None:
    """Write a thread's part of a player's sequence-form strategy, level by level."""
    threads = division.rows.shape[1] - 1
    for level in range(division.levels[player], division.levels[player + 1]):
        for piece in range(division.bounds[level, thread], division.bounds[level, thread + 1]):
            b, first, last = division.pieces[piece, 0], division.pieces[piece, 1], division.pieces[piece, 2]
            q0, i0, n, actions = tree.blocks[b, 0] + first, tree.blocks[b, 1] + first, tree.blocks[b, 2], tree.blocks[b, 3]
            size, end = last - first, q0 + (actions - 1) * n
            parents = tree.infoset_parent[i0 : i0 + size]
            own_reach, last_policy = strategy[end : end + size], policy[end : end + size]
            for j in range(size):
                own_reach[j] = strategy[parents[j]]
            for a in range(actions - 1):
                below, probabilities = strategy[q0 + a * n : q0 + a * n + size], policy[q0 + a * n : q0 + a * n + size]
                for j in range(size):
                    below[j] = own_reach[j] * probabilities[j]
            for j in range(size):
                own_reach[j] *= last_policy[j]
        wait_at_barrier(gate, threads)


def threads_for(tree: Tree, payoff: Payoff, most: int) -> int:
    """Return the number of threads that pay for a game, at most ``most``; 1 for payoffs that threads do not share."""
    if most < 2 or payoff.walk >= 0 or payoff.factors.values.size or len(tree.blocks) == 0:
        return 1
    waiting = WAIT * sum(2 + 2 * len(levels) for levels in levels_of(tree))
    return max(1, min(most, MOST_THREADS, int(iteration_time(tree, payoff) / (2.0 * waiting)) + 1))


def divide(tree: Tree, payoff: Payoff, threads: int) -> tuple[Division, list[Share]]:
    """Divide a game among threads; returns the division and each thread's share of the payoff."""
    players = len(tree.sequence_offsets) - 1
    levels, pieces, bounds, counts = levels_of(tree), list[Ints](), list[list[int]](), [0]
    for player in range(players):
        for blocks in levels[player]:
            parts = divide_level(tree, blocks, threads)
            begun = sum(map(len, pieces))
            bounds.append([begun, *(begun + np.cumsum([len(part) for part in parts])).tolist()])
            pieces.extend(parts)
        counts.append(len(bounds))
    pointers, below = infosets_below(tree)
    sequences = tree.blocks[:, 2] * tree.blocks[:, 3]
    grows = np.array(
        [pointers[first + size] > pointers[first] for first, size in zip(tree.blocks[:, 0], sequences, strict=True)], np.uint8
    )
    rows, shares = divide_payoff(tree, payoff, threads)
    flat = np.concatenate([np.asarray(part, np.int64).reshape(-1, 3) for part in pieces])
    division = Division(rows, flat, np.array(counts, np.int64), np.array(bounds, np.int64), pointers, below, grows)
    return division, shares


def levels_of(tree: Tree) -> list[list[range]]:
    """Return for each player runs of blocks, top-down, such that no block of a run has a parent in the same run."""
    owner = np.full(int(tree.sequence_offsets[-1]), -1, np.int64)  # block of each sequence
    for number, (first, _, n, actions) in enumerate(tree.blocks.tolist()):
        owner[first : first + n * actions] = number
    levels = []
    for player in range(len(tree.sequence_offsets) - 1):
        runs, start = list[range](), int(tree.block_offsets[player])
        for number in range(start, int(tree.block_offsets[player + 1])):
            _, first, n, _ = tree.blocks[number].tolist()
            if owner[tree.infoset_parent[first : first + n]].max() >= start:
                runs.append(range(start, number))
                start = number
        runs.append(range(start, int(tree.block_offsets[player + 1])))
        levels.append([run for run in runs if len(run)])
    return levels


def divide_level(tree: Tree, blocks: range, threads: int) -> list[Ints]:
    """Return for each thread its pieces of a level, int64 [n, 3]: about the same number of sequences each."""
    cells = [
        (number, first, min(first + PIECE, int(tree.blocks[number, 2])), int(tree.blocks[number, 3]))
        for number in blocks
        for first in range(0, int(tree.blocks[number, 2]), PIECE)
    ]
    ends = np.cumsum([(last - first) * actions for _, first, last, actions in cells])
    thread_of = np.minimum((ends - 1) * threads // ends[-1], threads - 1)
    parts = []
    for thread in range(threads):
        merged = list[list[int]]()
        for number, first, last, _ in (cells[place] for place in np.flatnonzero(thread_of == thread)):
            if merged and merged[-1][0] == number and merged[-1][2] == first:
                merged[-1][2] = last
            else:
                merged.append([number, first, last])
        parts.append(np.array(merged, np.int64).reshape(-1, 3))
    return parts


def infosets_below(tree: Tree) -> tuple[Ints, SmallInts]:
    """Return pointers [Q+1] and the infosets below each sequence, in the order of the sweep: last block first."""
    block_of = np.repeat(np.arange(len(tree.blocks)), tree.blocks[:, 2])
    infosets = np.concatenate([np.arange(first, first + n) for _, first, n, _ in tree.blocks.tolist()])
    order = np.lexsort((infosets, -block_of, tree.infoset_parent[infosets]))
    pointers = np.zeros(int(tree.sequence_offsets[-1]) + 1, np.int64)
    np.cumsum(np.bincount(tree.infoset_parent, minlength=len(pointers) - 1), out=pointers[1:])
    return pointers, infosets[order].astype(np.int32)


def divide_payoff(tree: Tree, payoff: Payoff, threads: int) -> tuple[Ints, list[Share]]:
    """Return bounds of sequences [N, T+1], and each thread's share: the operators' work at its sequences."""
    players = len(tree.sequence_offsets) - 1
    work, dense = np.ones(int(tree.sequence_offsets[-1])), payoff.dense
    if len(payoff.sparse.values):
        work += 2 * np.diff(payoff.sparse.pointers)
    group = np.repeat(np.arange(len(dense.groups)), dense.groups[:, 4] - dense.groups[:, 3])
    products = (dense.groups[:, 1] * dense.groups[:, 2])[group] if len(group) else np.empty(0, np.int64)
    blocked = np.zeros(len(work) + 1, bool)  # a terminal's sequences must stay with one thread
    for player in range(players):
        if len(group):
            starts, sizes = dense.starts[:, player], dense.groups[group, 1 + player]
            np.add.at(work, starts, products)
            for start, size in {*zip(starts.tolist(), sizes.tolist(), strict=True)}:
                blocked[start + 1 : start + size] = True
    rows = np.empty((players, threads + 1), np.int64)
    for player in range(players):
        first, last = tree.sequence_offsets[player : player + 2].tolist()
        open_cuts = np.flatnonzero(~blocked[first : last + 1]) + first
        done = np.concatenate(([0.0], np.cumsum(work[first:last])))
        wanted = done[-1] * np.arange(threads + 1) / threads
        cuts = np.searchsorted(done[open_cuts - first], wanted)
        rows[player] = open_cuts[np.minimum(cuts, len(open_cuts) - 1)]
        rows[player, 0], rows[player, -1] = first, last
    shares = []
    for thread in range(threads):
        own = [part_of(dense, group, player, *rows[player, thread : thread + 2]) for player in range(min(players, 2))]
        shares.append(Share(payoff.sparse, own[0], own[-1]))
    return rows, shares


def part_of(dense: Dense, group: Ints, player: int, first: int, last: int) -> Dense:
    """Return the terminals whose sequences of a player begin between ``first`` and ``last``, in the same order."""
    if not len(group):
        return dense
    chosen = (dense.starts[:, player] >= first) & (dense.starts[:, player] < last)
    counts = np.bincount(group[chosen], minlength=len(dense.groups))
    ends = np.cumsum(counts)
    groups = np.stack((*dense.groups[:, :3].T, ends - counts, ends), axis=1)[counts > 0]
    return Dense(dense.matrices, np.ascontiguousarray(groups), dense.starts[chosen], dense.scales[chosen])
