"""The payoff of two players as one sparse matrix over their sequences."""

import numpy as np
from scipy.sparse import csr_array

from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.public_tree import dense_entries


def payoff_matrix(game: CompiledGame, player: int = 0) -> csr_array:
    """What ``player`` gets: ``u = x0' A x1`` with shape [sequences of player 0, sequences of player 1].

    Args:
        game: a compiled game of two players.
        player: whose payoffs.

    Raises:
        AlgorithmError: no payoffs are stored.
    """
    game.need_stored("a matrix of payoffs")
    shape = game.sequences
    first, second = (int(n) for n in game.tree.sequence_offsets[:2])
    sparse = game.payoff.sparse
    start, end = (int(n) for n in game.tree.sequence_offsets[player : player + 2])
    own = np.repeat(np.arange(start, end), np.diff(sparse.pointers[start : end + 1]))
    entries = slice(int(sparse.pointers[start]), int(sparse.pointers[end]))
    other = sparse.others[entries, 0].astype(np.int64)
    rows, columns = (own, other) if player == 0 else (other, own)
    dense_rows, dense_columns, dense_values = dense_entries(game.payoff.dense)
    values = np.concatenate((sparse.values[entries], dense_values if player == 0 else -dense_values))
    rows, columns = np.concatenate((rows, dense_rows)) - first, np.concatenate((columns, dense_columns)) - second
    matrix = csr_array((values, (rows, columns)), shape=shape)
    return matrix + factored_matrix(game, player) if len(game.payoff.factors.values) else matrix


def factored_matrix(game: CompiledGame, player: int) -> csr_array:
    """The part of terminals whose payoffs factor, multiplied out, as :func:`payoff_matrix` has it; for small games."""
    factors, offsets = game.payoff.factors, game.tree.sequence_offsets
    members = []
    for owner in (0, 1):
        pointers = factors.pointers[offsets[owner] : offsets[owner + 1] + 1]
        lists = factors.lists[pointers[0] : pointers[-1]]
        shape = len(pointers) - 1, int(factors.counts[owner])
        members.append(csr_array((np.ones(len(lists)), lists, pointers - pointers[0]), shape=shape))
    terms = csr_array((factors.values, tuple(factors.terms.T)), shape=tuple(factors.counts.tolist()))
    found = members[0] @ terms @ members[1].T
    return found if player == 0 else -found
