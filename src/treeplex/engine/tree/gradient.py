"""The utility gradient of a player's sequences against the others' strategies, from the payoff operators."""

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Dense, Factors, Payoff, Sparse, Tree
from treeplex.engine.tree.walked import INTERRUPTED, walked_gradient

LANES = 64
"""Terminals per pass of the dense operator (the vector axis)."""
ROWS = 4
"""Matrix rows multiplied at a time, so that gathered entries are read once for all of them."""


@kernel()
def gradient(tree: Tree, payoff: Payoff, player: int, strategy: Floats, values: Floats) -> None:
    """Write the utility gradient of ``player``: ``g[q] = sum over terminals of u * chance * prod of the others' reach``.

    Args:
        tree: the treeplexes.
        payoff: the operators.
        player: owner of the slice of ``values`` that is written.
        strategy: [Q], sequence-form strategies of all players (the player's own is not read).
        values: [Q], output, in the game's units times the others' reach.
    """
    if payoff.sparse.values.shape[0] > 0:
        sparse_gradient(tree, payoff.sparse, player, strategy, values)
    else:
        values[tree.sequence_offsets[player] : tree.sequence_offsets[player + 1]] = 0.0
    if payoff.dense.groups.shape[0] > 0:
        dense_gradient(payoff.dense, player, strategy, values)
    if payoff.factors.values.shape[0] > 0:
        factor_gradient(tree, payoff.factors, player, strategy, values)
    if payoff.walk >= 0 and walked_gradient(payoff.walk, player, len(values), strategy.ctypes, values.ctypes) != 0:
        raise RuntimeError(INTERRUPTED)


@kernel()
def sparse_gradient(tree: Tree, sparse: Sparse, player: int, strategy: Floats, values: Floats) -> None:
    """Compute the sparse operator's part; overwrites the player's slice of ``values``."""
    sparse_rows(sparse, tree.sequence_offsets[player], tree.sequence_offsets[player + 1], strategy, values)


@kernel(inline="always")
def sparse_rows(sparse: Sparse, start: int, end: int, strategy: Floats, values: Floats) -> None:
    """Write the sparse operator's part of ``values[start:end]``."""
    factors = sparse.others.shape[1]
    for q in range(start, end):
        total = 0.0
        if factors == 1:
            for k in range(sparse.pointers[q], sparse.pointers[q + 1]):
                total += sparse.values[k] * strategy[sparse.others[k, 0]]
        elif factors == 2:
            for k in range(sparse.pointers[q], sparse.pointers[q + 1]):
                total += sparse.values[k] * strategy[sparse.others[k, 0]] * strategy[sparse.others[k, 1]]
        else:
            for k in range(sparse.pointers[q], sparse.pointers[q + 1]):
                term = sparse.values[k]
                for m in range(factors):
                    term *= strategy[sparse.others[k, m]]
                total += term
        values[q] = total


@kernel()
def dense_gradient(dense: Dense, player: int, strategy: Floats, values: Floats) -> None:
    """Add the dense operator's part to the player's slice of ``values``.

    Terminals that share a matrix are gathered ``LANES`` at a time, with hands outermost, so that each matrix entry is one
    multiply-add over a contiguous row of terminals. Sums run over columns in order, regardless of the row grouping.
    """
    matrices, starts, scales, groups = dense.matrices, dense.starts, dense.scales, dense.groups
    widest = 0
    for m in range(groups.shape[0]):
        widest = max(widest, groups[m, 1], groups[m, 2])
    gathered, product = np.empty(widest * LANES, strategy.dtype), np.empty(ROWS * LANES, strategy.dtype)
    player_side, other = player, 1 - player
    sign = 1.0 if player == 0 else -1.0
    for m in range(groups.shape[0]):
        offset, n0, n1, last_terminal = groups[m, 0], groups[m, 1], groups[m, 2], groups[m, 4]
        rows, columns = (n0, n1) if player == 0 else (n1, n0)
        row_step, column_step = (n1, 1) if player == 0 else (1, n1)
        for first in range(groups[m, 3], last_terminal, LANES):
            lanes = min(LANES, last_terminal - first)
            for k in range(lanes):
                source = starts[first + k, other]
                scale = sign * scales[first + k]
                for c in range(columns):
                    gathered[c * LANES + k] = scale * strategy[source + c]
            whole = rows - rows % ROWS
            for r in range(0, whole, ROWS):
                one, two, three, four = (
                    product[:LANES],
                    product[LANES : 2 * LANES],
                    product[2 * LANES : 3 * LANES],
                    product[3 * LANES :],
                )
                product[:] = 0.0
                for c in range(columns):
                    entry = offset + r * row_step + c * column_step
                    e1, e2 = matrices[entry], matrices[entry + row_step]
                    e3, e4 = matrices[entry + 2 * row_step], matrices[entry + 3 * row_step]
                    line = gathered[c * LANES : (c + 1) * LANES]
                    for k in range(lanes):
                        one[k] += e1 * line[k]
                        two[k] += e2 * line[k]
                        three[k] += e3 * line[k]
                        four[k] += e4 * line[k]
                for k in range(lanes):
                    start = starts[first + k, player_side] + r
                    for j in range(ROWS):
                        values[start + j] += product[j * LANES + k]
            for r in range(whole, rows):
                product[:lanes] = 0.0
                for c in range(columns):
                    entry = offset + r * row_step + c * column_step
                    if matrices[entry] != 0.0:
                        for k in range(lanes):
                            product[k] += matrices[entry] * gathered[c * LANES + k]
                for k in range(lanes):
                    values[starts[first + k, player_side] + r] += product[k]


@kernel()
def factor_gradient(tree: Tree, factors: Factors, player: int, strategy: Floats, values: Floats) -> None:
    """Add the factored operator's part to the player's slice of ``values``.

    The opponent's strategy is summed over its lists, terms map these sums to values of the player's lists, and each sequence
    gets the sum of its lists' values.
    """
    pointers, lists, weights, ends, others = factors.pointers, factors.lists, factors.weights, factors.ends, factors.others
    other, weighted = 1 - player, weights.shape[0] > 0
    sums, worth = np.zeros(factors.counts[other]), np.zeros(factors.counts[player])
    for q in range(tree.sequence_offsets[other], tree.sequence_offsets[other + 1]):
        reached = strategy[q]
        if reached != 0.0:
            if weighted:
                reached *= weights[q]
            for entry in range(pointers[q], pointers[q + 1]):
                sums[lists[entry]] += reached
    begin = 0
    for number in range(ends.shape[0]):
        if player == 0:
            total = 0.0
            for term in range(begin, ends[number]):
                total += sums[others[term]]
            worth[number] = factors.values[number] * total
        else:
            loss = factors.values[number] * sums[number]
            for term in range(begin, ends[number]):
                worth[others[term]] -= loss
        begin = ends[number]
    for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
        total = 0.0
        for entry in range(pointers[q], pointers[q + 1]):
            total += worth[lists[entry]]
        values[q] += weights[q] * total if weighted else total


def empty_dense() -> Dense:
    """Return a dense operator without terminals."""
    return Dense(np.empty(0), np.empty((0, 5), np.int64), np.empty((0, 2), np.int64), np.empty(0))


def empty_sparse(sequences: int, players: int) -> Sparse:
    """Return a sparse operator without entries."""
    return Sparse(np.zeros(sequences + 1, np.int64), np.empty((0, players - 1), np.int32), np.empty(0))
