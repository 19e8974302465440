"""The stack of a walk over rules: one frame for each node on the current path."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel
from treeplex.engine.uncompiled.rules import CHANCE, Calls, call_enter, call_step

ABOUT = 0
MOVER, PLACE, FIRST, STRIDE, OWN = range(ABOUT + 2, ABOUT + 7)
"""Columns of a frame's integers: the output of ``enter``, then the actor, the index of the next action, the
first sequence of the infoset and the distance to the next ones, then the last sequence of each player."""
PROBABILITY, NUMBERS = range(2)
"""Columns of a frame's reals: the chance reach so far, then the chance probabilities here or the payoffs."""


class Frames(NamedTuple):
    """The frames of a walk, in few arrays because each array argument costs time.

    Attributes:
        integers: [D, OWN + N + most actions + words]; after the sequences the actions of the node, then its state.
        reals: [D, NUMBERS + most actions or players].
        actions, state: first columns of actions and state.
    """

    integers: Ints
    reals: Floats
    actions: int
    state: int


@kernel()
def new_frames(calls: Calls, start: Ints, empty: Ints, depth: int) -> Frames:
    """Allocate ``depth`` frames; the root frame has the state ``start`` and the sequences ``empty`` [N]."""
    actions = OWN + calls.players
    state = actions + calls.most_actions
    integers = np.zeros((depth, state + calls.words), np.int64)
    reals = np.zeros((depth, NUMBERS + max(calls.most_actions, calls.players)))
    integers[0, OWN:actions], integers[0, state:], integers[:, STRIDE], reals[0, PROBABILITY] = empty, start, 1, 1.0
    return Frames(integers, reals, actions, state)


@kernel(inline="always")
def enter_node(calls: Calls, frames: Frames, depth: int, wanted: int) -> int:
    """Evaluate the rules at the node at ``depth``; return the actor. ``wanted`` selects whose payoffs to compute."""
    integers, reals = frames.integers, frames.reals
    row = integers.ctypes.data + 8 * depth * integers.shape[1]
    numbers = reals.ctypes.data + 8 * (depth * reals.shape[1] + NUMBERS)
    player = call_enter(calls.enter, row + 8 * frames.state, wanted, row + 8 * frames.actions, row + 8 * ABOUT, numbers)
    integers[depth, MOVER], integers[depth, PLACE] = player, 0
    return player  # type: ignore[no-any-return]


@kernel(inline="always")
def step_down(calls: Calls, frames: Frames, depth: int, a: int) -> None:
    """Play action index ``a`` at ``depth``: write state, sequences and probability of the next frame."""
    integers, reals = frames.integers, frames.reals
    width = 8 * integers.shape[1]
    state = integers.ctypes.data + depth * width + 8 * frames.state
    call_step(calls.step, state, state + width, integers[depth, frames.actions + a])
    player, below = integers[depth, MOVER], depth + 1
    for column in range(OWN, frames.actions):
        integers[below, column] = integers[depth, column]
    reals[below, PROBABILITY] = reals[depth, PROBABILITY]
    if player == CHANCE:
        reals[below, PROBABILITY] *= reals[depth, NUMBERS + a]
    else:
        integers[below, OWN + player] = integers[depth, FIRST] + a * integers[depth, STRIDE]
