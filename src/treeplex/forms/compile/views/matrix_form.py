"""The payoff of two players as one sparse matrix over their sequences."""

import numpy as np
from scipy.sparse import csr_array

from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.public_tree import dense_entries


def payoff_matrix(game: CompiledGame, player: int = 0) -> csr_array:
    """Return the payoff matrix A of ``player`` in ``u = x0' A x1``, [sequences of player 0, sequences of player 1].

    Args:
        game: a compiled game of two players.
        player: the player whose payoffs are returned.

    Raises:
        AlgorithmError: no payoffs are stored.
    """
    game.need_stored("a matrix of payoffs")
    shape = game.sequences
    first, second = (int(n) for n in game.tree.sequence_offsets[:2])
    sparse = game.payoff.sparse
    start, end = (int(n) for n in game.tree.sequence_offsets[player : player + 2])
    sequences = np.repeat(np.arange(start, end), np.diff(sparse.pointers[start : end + 1]))
    entries = slice(int(sparse.pointers[start]), int(sparse.pointers[end]))
    other = sparse.others[entries, 0].astype(np.int64)
    rows, columns = (sequences, other) if player == 0 else (other, sequences)
    dense_rows, dense_columns, dense_values = dense_entries(game.payoff.dense)
    values = np.concatenate((sparse.values[entries], dense_values if player == 0 else -dense_values))
    rows, columns = np.concatenate((rows, dense_rows)) - first, np.concatenate((columns, dense_columns)) - second
    matrix = csr_array((values, (rows, columns)), shape=shape)
    return matrix + factored_matrix(game, player) if len(game.payoff.factors.values) else matrix


def factored_matrix(game: CompiledGame, player: int) -> csr_array:
    """Return the factored operator multiplied out, for :func:`payoff_matrix` of small games."""
    factors, offsets = game.payoff.factors, game.tree.sequence_offsets
    members = []
    for owner in (0, 1):
        begin, end = int(offsets[owner]), int(offsets[owner + 1])
        pointers = factors.pointers[begin : end + 1]
        lists, many = factors.lists[pointers[0] : pointers[-1]], np.diff(pointers)
        weights = np.repeat(factors.weights[begin:end], many) if len(factors.weights) else np.ones(len(lists))
        members.append(csr_array((weights, lists, pointers - pointers[0]), shape=(end - begin, int(factors.counts[owner]))))
    values = np.repeat(factors.values, np.diff(factors.ends, prepend=0))
    terms = csr_array((values, factors.others, np.append(0, factors.ends)), shape=tuple(factors.counts.tolist()))
    product = members[0] @ terms @ members[1].T
    return product if player == 0 else -product
