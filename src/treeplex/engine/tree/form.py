"""The arrays of a compiled game, as Numba sees them: named tuples, all read-only in use."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, SmallInts


class Tree(NamedTuple):
    """The treeplexes of all players.

    Attributes:
        sequence_offsets: [N+1], the slice of sequences of each player; its first sequence is the empty one.
        infoset_offsets: [N+1], the slice of infosets of each player.
        block_offsets: [N+1], the slice of blocks of each player.
        blocks: [B, 4], for each block its first sequence, first infoset, number of infosets n and of actions A;
            the sequence of infoset j and action a is ``first_sequence + a * n + j``. Parents come before children.
        infoset_parent: [I], the sequence that leads to each infoset.
        infoset_layout: [I, 3], first sequence, stride and number of actions of each infoset.
        sequence_infoset: [Q], the infoset that a sequence leaves; -1 for empty sequences.
    """

    sequence_offsets: Ints
    infoset_offsets: Ints
    block_offsets: Ints
    blocks: Ints
    infoset_parent: Ints
    infoset_layout: Ints
    sequence_infoset: Ints


class Sparse(NamedTuple):
    """One entry for each tuple of sequences with a payoff, as rows of one player's sequences.

    Row ``q`` (a sequence, global number) holds the entries ``pointers[q]:pointers[q+1]``: what the player who owns ``q``
    gets, times the chance probability, and the sequences of the other players (global numbers, in player order).

    Attributes:
        pointers: [Q+1].
        others: [entries, N-1].
        values: [entries].
    """

    pointers: Ints
    others: SmallInts
    values: Floats


class Dense(NamedTuple):
    """Matrices over private hands, each shared by many terminals; two players, zero-sum.

    At terminal k of group m player 0 gets ``scale[k] * x0[s0:s0+n0] @ M @ x1[s1:s1+n1]``.

    Attributes:
        matrices: all matrices, flat, row-major.
        groups: [G, 5], for each group the offset of its matrix, n0, n1 and its slice of terminals.
        starts: [K, 2], the first sequence of each player's slice (global numbers).
        scales: [K], factor of each terminal.
    """

    matrices: Floats
    groups: Ints
    starts: Ints
    scales: Floats


class Factors(NamedTuple):
    """Terminals whose histories are all combinations of two lists of sequences; two players, zero-sum.

    With list l of player 0, player 0 gets ``values[l] (sum of x0 over l) (sum over its terms of the sum of x1 over the term's
    list)``. Members are kept from the sequences' side, so that sweeps run through strategies in order: sequence ``q`` is in the
    lists ``lists[pointers[q]:pointers[q+1]]``. Where a sequence stands for several equally likely ones, its strategy counts
    with its weight.

    Attributes:
        pointers: [Q+1]; empty without terminals.
        lists: [entries].
        weights: [Q]; empty for all 1.
        ends: [lists of player 0], where the terms of each list end; they begin where those of the list before end.
        others: [terms], the list of player 1.
        values: [lists of player 0], what player 0 gets at each term.
        counts: [2], how many lists each player has.
    """

    pointers: Ints
    lists: SmallInts
    weights: Floats
    ends: Ints
    others: SmallInts
    values: Floats
    counts: Ints


NO_FACTORS = Factors(
    np.empty(0, np.int64),
    np.empty(0, np.int32),
    np.empty(0),
    np.empty(0, np.int64),
    np.empty(0, np.int32),
    np.empty(0),
    np.zeros(2, np.int64),
)
"""No terminals."""


STORED = -1
"""No walk: all terminals are in operators."""


class Payoff(NamedTuple):
    """The multilinear payoff of a game: the sum of its operators (each may be empty).

    Where no terminal is stored, ``walk`` is the number of the walk over the rules that finds gradients
    (:mod:`treeplex.engine.tree.walked`).
    """

    sparse: Sparse
    dense: Dense
    factors: Factors = NO_FACTORS
    walk: int = STORED


class TreeState(NamedTuple):
    """The state of a run on a tree, float64, updated in place; unneeded arrays are empty.

    Attributes:
        regrets: [Q], accumulated counterfactual regrets; of Greedy Weights their means.
        policy: [Q], the current behaviour policy; of fictitious play the last pure replies.
        strategy: [Q], its sequence form.
        averages: [M, Q], own-reach-weighted sums of policies; of fictitious play and Greedy Weights the averages themselves.
        previous: [Q], last regrets (APCFR+), or differences of the candidates (value-tested CFR+).
        changes: [2, I], sums of squared changes (APCFR+), or fading sums of the tests (value-tested CFR+).
    """

    regrets: Floats
    policy: Floats
    strategy: Floats
    averages: Floats
    previous: Floats
    changes: Floats


class Workspace(NamedTuple):
    """Scratch arrays of the sweeps.

    Attributes:
        values: [Q], of sequences.
        infoset_values: [I], of infosets.
        totals: [I], what policies are normalised by.
    """

    values: Floats
    infoset_values: Floats
    totals: Floats


def new_state(policy: Floats, **arrays: Floats) -> TreeState:
    """The state before the first iteration: from a policy [Q], with regrets and one average at zero, or as given."""
    none = np.empty(0)
    zeros = {"regrets": np.zeros_like(policy), "strategy": np.zeros_like(policy), "averages": np.zeros((1, len(policy)))}
    rest = {"previous": none, "changes": np.empty((2, 0))}
    return TreeState(**{"policy": policy, **zeros, **rest, **arrays})


def workspace(tree: Tree) -> Workspace:
    """Scratch arrays for a tree."""
    infosets = int(tree.infoset_offsets[-1])
    return Workspace(np.empty(int(tree.sequence_offsets[-1])), np.empty(infosets), np.empty(infosets))
