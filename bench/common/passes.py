"""The engine's passes and plain passes, repeated inside one compiled call to exclude the time of calls from Python."""

import numpy as np
from numba import njit

from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.regret import accumulate, update
from treeplex.engine.tree.sweeps import reach


@njit(nogil=True)
def gradients(times, tree, payoff, strategy, values):
    """``times`` gradients of every player."""
    for _ in range(times):
        for player in range(tree.sequence_offsets.shape[0] - 1):
            gradient(tree, payoff, player, strategy, values)


@njit(nogil=True)
def reaches(times, tree, policy, strategy):
    """``times`` reach sweeps of every player."""
    for _ in range(times):
        for player in range(tree.sequence_offsets.shape[0] - 1):
            reach(tree, player, policy, strategy)


@njit(nogil=True)
def averages(times, tree, strategy, average):
    """``times`` additions of the strategy to the average."""
    for _ in range(times):
        for player in range(tree.sequence_offsets.shape[0] - 1):
            accumulate(tree, player, 1.0, 1.0, strategy, average)


@njit(nogil=True)
def updates(times, tree, row, fresh, state, work):
    """``times`` updates of every player, each after a copy of the gradient ``fresh`` into ``values``."""
    for _ in range(times):
        copy(fresh, work.values)
        for player in range(tree.sequence_offsets.shape[0] - 1):
            update(tree, player, row, state, work)


@njit(nogil=True)
def copies(times, source, target):
    """``times`` copies, to be subtracted from the cost of :func:`updates`."""
    for _ in range(times):
        copy(source, target)


@njit(nogil=True)
def copy(source, target):
    for k in range(source.shape[0]):
        target[k] = source[k]


@njit(nogil=True)
def plain(times, read_only, in_place, write_only):
    """Read one array, rewrite another, write a third, ``times`` times."""
    found = 0.0
    for turn in range(times):
        found += total(read_only)
        rewrite(in_place)
        fill(write_only, float(turn))
    return found


@njit(nogil=True, fastmath=True)
def total(array):
    found = 0.0
    for k in range(array.shape[0]):
        found += array[k]
    return found


@njit(nogil=True)
def rewrite(array):
    for k in range(array.shape[0]):
        array[k] = 1.0 - array[k]


@njit(nogil=True)
def fill(array, value):
    for k in range(array.shape[0]):
        array[k] = value


def plain_arrays(*sizes: float) -> list[np.ndarray]:
    """Float64 arrays of the given sizes in bytes."""
    return [np.ones(int(size) // 8) for size in sizes]
