"""Calls of game rules by address, so that kernels are compiled once for all games.

The functions of a game are combined into two, :class:`Calls`, each called once per node.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types  # type: ignore[attr-defined]
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import GOLDEN, mixed

ODD = np.uint64(0xD1B54A32D192ED03)
CHANCE = -1
TERMINAL = -4
"""Actor codes of chance and of the end of the game, as in :mod:`treeplex.games.base`."""
COUNT, KEY = range(2)
"""Output indices of ``enter``: the number of actions, and the number of the infoset."""
EVERYBODY = -1
"""Request the payoffs of all players at terminals."""

Function = Callable[..., Any]
_integers: Any = types.CPointer(types.int64)  # type: ignore[no-untyped-call]
_reals: Any = types.CPointer(types.float64)  # type: ignore[no-untyped-call]
ENTER = types.int64(_integers, types.int64, _integers, _integers, _reals)
STEP = types.void(_integers, _integers, types.int64)


class Calls(NamedTuple):
    """Two compiled functions of a game, and their array sizes.

    Attributes:
        enter: address of ``enter(state, wanted, actions, about, numbers)``, which returns the actor and writes ``actions``, and
            ``about`` (:data:`COUNT`, :data:`KEY`). ``numbers`` gets chance probabilities or payoffs; at a terminal only those
            of player ``wanted``, unless it is :data:`EVERYBODY`.
        step: address of ``step(state, below, action)``, which writes the next state.
        players, words, most_actions: number of players, numbers per state, and maximum number of actions.
    """

    enter: int
    step: int
    players: int
    words: int
    most_actions: int


def as_compiled(function: Function) -> Function:
    """Return the function compiled by Numba."""
    return function if isinstance(function, Dispatcher) else njit(function)


@lru_cache
def enter_of(
    functions: tuple[Function, Function, Function, Function], probability: Function | None, sizes: tuple[int, int, int]
) -> Any:
    """Build ``enter`` from ``actor``, ``actions``, ``infoset``, ``payoff``; ``sizes``: players, words, most actions."""
    actor, actions, infoset, payoff = map(as_compiled, functions)
    players, words, most_actions = sizes
    longest = max(players, most_actions)
    share = share_of(probability)

    @cfunc(ENTER)
    def enter(state_at: Any, wanted: int, actions_at: Any, about_at: Any, numbers_at: Any) -> int:
        state, legal = carray(state_at, words), carray(actions_at, most_actions)
        about, numbers = carray(about_at, 2), carray(numbers_at, longest)
        player = np.int64(actor(state))
        if player == TERMINAL:
            for i in range(players):
                if wanted in (i, EVERYBODY):
                    numbers[i] = payoff(state, i)
            return player  # type: ignore[return-value]
        count: int = np.int64(actions(state, legal))  # type: ignore[assignment]
        about[COUNT] = count
        if player == CHANCE:
            for a in range(min(count, most_actions)):
                numbers[a] = share(state, legal[a], count)
        elif 0 <= player < players:
            about[KEY] = np.int64(infoset(state, player))
        return player  # type: ignore[return-value]

    return enter


@lru_cache
def step_of(play: Function, words: int) -> Any:
    """Build the compiled ``step``."""
    play = as_compiled(play)

    @cfunc(STEP)
    def step(state_at: Any, below_at: Any, action: int) -> None:
        state, below = carray(state_at, words), carray(below_at, words)
        for word in range(words):
            below[word] = state[word]
        play(below, action)

    return step


def share_of(probability: Function | None) -> Function:
    """Return ``share(state, action, count)``, the probability of one of ``count`` chance actions (None: uniform)."""
    if probability is None:

        @njit
        def share(state: Any, action: int, count: int) -> float:
            return 1.0 / count

    else:
        known = as_compiled(probability)

        @njit
        def share(state: Any, action: int, count: int) -> float:
            return known(state, action)  # type: ignore[no-any-return]

    function: Function = share
    return function


def _call(signature: Any) -> Any:
    """Return the Numba code generator for calling an address with this signature; pointers are passed as addresses."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        wanted = [context.get_value_type(arg) for arg in signature.args]
        given = [
            builder.inttoptr(argument, kind) if isinstance(kind, ir.PointerType) else argument
            for argument, kind in zip(arguments[1:], wanted, strict=True)
        ]
        void = signature.return_type == types.void
        result = ir.VoidType() if void else context.get_value_type(signature.return_type)
        pointer = builder.inttoptr(arguments[0], ir.FunctionType(result, wanted).as_pointer())
        called = builder.call(pointer, given)
        return context.get_dummy_value() if void else called

    return signature.return_type(types.int64, *[types.int64] * len(signature.args)), generate


@intrinsic
def _call_enter(typing: Any, address: Any, state: Any, wanted: Any, actions: Any, about: Any, numbers: Any) -> Any:
    """Call the compiled ``enter``."""
    return _call(ENTER)


@intrinsic
def _call_step(typing: Any, address: Any, state: Any, below: Any, action: Any) -> Any:
    """Call the compiled ``step``."""
    return _call(STEP)


call_enter: Function = _call_enter
call_step: Function = _call_step


@kernel()
def mix(number: int, value: int) -> int:
    """Hash a pair of numbers to a number below 2**63; two pairs collide with probability 2**-63.

    Use it for infosets of more than 63 bits: ``mix(mix(mix(0, first), second), third)``.
    """
    hashed: int = np.int64(mixed((np.uint64(number) + GOLDEN) ^ (np.uint64(value) * ODD)) >> np.uint64(1))  # type: ignore[assignment]
    return hashed
