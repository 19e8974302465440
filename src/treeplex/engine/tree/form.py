"""The arrays of a compiled game as named tuples for Numba; kernels only read them."""

from typing import Any, NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, SmallInts


class Tree(NamedTuple):
    """The treeplexes of all players.

    Attributes:
        sequence_offsets: [N+1], slice of sequences of each player, starting with the empty sequence.
        infoset_offsets: [N+1], slice of infosets of each player.
        block_offsets: [N+1], slice of blocks of each player.
        blocks: [B, 4], first sequence, first infoset, number of infosets n and of actions A of each block;
            the sequence of infoset j and action a is ``first_sequence + a * n + j``. Parents come before children.
        infoset_parent: [I], sequence that leads to each infoset.
        infoset_layout: [I, 3], first sequence, stride and number of actions of each infoset.
        sequence_infoset: [Q], infoset of a sequence's last action; -1 for empty sequences.
    """

    sequence_offsets: Ints
    infoset_offsets: Ints
    block_offsets: Ints
    blocks: Ints
    infoset_parent: Ints
    infoset_layout: Ints
    sequence_infoset: Ints


class Sparse(NamedTuple):
    """Payoffs with one entry per tuple of sequences, stored by rows of one player's sequences.

    Row ``q`` (a global sequence number) has the entries ``pointers[q]:pointers[q+1]``: the payoff of the owner of ``q`` times
    the chance probability, and the sequences of the other players (global numbers, in player order).

    Attributes:
        pointers: [Q+1].
        others: [entries, N-1].
        values: [entries].
    """

    pointers: Ints
    others: SmallInts
    values: Floats


class Dense(NamedTuple):
    """Payoff matrices over private hands, shared by many terminals; two players, zero-sum.

    At terminal k of group m player 0 gets ``scale[k] * x0[s0:s0+n0] @ M @ x1[s1:s1+n1]``.

    Attributes:
        matrices: all matrices, flat, row-major.
        groups: [G, 5], offset of the matrix, n0, n1 and slice of terminals of each group.
        starts: [K, 2], first sequence of each player's slice (global numbers).
        scales: [K], scale of each terminal.
    """

    matrices: Floats
    groups: Ints
    starts: Ints
    scales: Floats


class Factors(NamedTuple):
    """Terminals that are products of two lists of sequences; two players, zero-sum.

    With list l of player 0, player 0 gets ``values[l] (sum of x0 over l) (sum over its terms of the sum of x1 over the term's
    list)``. Membership is stored by sequence, so that sweeps read strategies in order: sequence ``q`` is in the lists
    ``lists[pointers[q]:pointers[q+1]]``. A sequence that represents several equally likely ones has their number as weight.

    Attributes:
        pointers: [Q+1]; empty without terminals.
        lists: [entries].
        weights: [Q]; empty if all are 1.
        ends: [lists of player 0], end of each list's terms, which start at the previous list's end.
        others: [terms], list of player 1.
        values: [lists of player 0], payoff of player 0 at each term.
        counts: [2], number of lists of each player.
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
"""Code for no walk: all terminals are stored in operators."""


class Payoff(NamedTuple):
    """The multilinear payoff of a game: the sum of its operators, each possibly empty.

    If terminals are not stored, ``walk`` is the number of the walk over the rules that computes gradients
    (:mod:`treeplex.engine.tree.walked`).
    """

    sparse: Sparse
    dense: Dense
    factors: Factors = NO_FACTORS
    walk: int = STORED


class TreeState(NamedTuple):
    """State of a run on a tree, float64, updated in place; unused arrays are empty.

    Attributes:
        regrets: [Q], cumulative counterfactual regrets; for Greedy Weights their means.
        policy: [Q], current behaviour policy; for fictitious play the last best responses.
        strategy: [Q], its sequence form.
        averages: [M, Q], reach-weighted sums of policies; for fictitious play and Greedy Weights the averages themselves.
        previous: [Q], last instantaneous regrets (APCFR+), or differences of the candidates (value-tested CFR+).
        changes: [2, I], sums of squared changes (APCFR+), or decaying sums of the tests (value-tested CFR+).
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
        values: [Q], values of sequences.
        infoset_values: [I], values of infosets.
        totals: [I], normalisers of policies.
    """

    values: Floats
    infoset_values: Floats
    totals: Floats


def new_state(policy: Floats, **arrays: Floats) -> TreeState:
    """Return the initial state from a policy [Q]; regrets and one average are zero unless given."""
    none = np.empty(0)
    zeros = {"regrets": np.zeros_like(policy), "strategy": np.zeros_like(policy), "averages": np.zeros((1, len(policy)))}
    rest = {"previous": none, "changes": np.empty((2, 0))}
    return TreeState(**{"policy": policy, **zeros, **rest, **arrays})


def in_single_precision(arrays: Any) -> Any:
    """Return a named tuple with float32 in place of all float64 arrays, including those of named tuples within it."""
    if isinstance(arrays, tuple):
        return type(arrays)(*map(in_single_precision, arrays))
    return arrays.astype(np.float32) if isinstance(arrays, np.ndarray) and arrays.dtype == np.float64 else arrays


def workspace(tree: Tree) -> Workspace:
    """Allocate scratch arrays for a tree."""
    infosets = int(tree.infoset_offsets[-1])
    return Workspace(np.empty(int(tree.sequence_offsets[-1])), np.empty(infosets), np.empty(infosets))


SEQUENCE, ENTRY, PRODUCT = 4.0, 1.0, 0.15
"""Nanoseconds for a sequence, an entry of the sparse operator, and a product of the dense one, on one core."""


def iteration_time(tree: Tree, payoff: Payoff) -> float:
    """Estimate the nanoseconds of an iteration on one core, without factored and walked payoffs."""
    groups = payoff.dense.groups
    products = 2 * int((groups[:, 1] * groups[:, 2] * (groups[:, 4] - groups[:, 3])).sum()) if len(groups) else 0
    return SEQUENCE * int(tree.sequence_offsets[-1]) + ENTRY * len(payoff.sparse.values) + PRODUCT * products
