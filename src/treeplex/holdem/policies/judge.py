"""Evaluation of strategies on compiled spots: best responses, exploitability and expected values."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.evaluate.judge import Judgement
from treeplex.holdem.engine.form import COUNT, HANDS, Store
from treeplex.holdem.engine.passes import BEST, EXPECT, BoardPool
from treeplex.holdem.engine.workspace import make_workspace
from treeplex.holdem.forms.compile_spot import CompiledSpot


def root_values(crew: BoardPool, player: int, mode: int, average: NDArray[Any], store: Store) -> Floats:
    """Values of a player's hands at the root, float64 [hands], in chips times the compatible weight of the opponent's range.

    ``mode`` is ``BEST`` (against the other's average) or ``EXPECT`` (both follow the average).
    """
    scales = store.average_scales if average is store.average else store.average_scales[:0]
    crew.answer(player, mode, average, scales, store)
    return np.asarray(crew.root_values(player), np.float64)


def judge_spot(game: CompiledSpot, average: NDArray[Any], store: Store, crew: BoardPool, *, expected: bool = True) -> Judgement:
    """Evaluate the policy proportional to ``average`` (uniform where it is zero); values in chips relative to half the pot.

    Args:
        game: the compiled spot.
        average: [Q], the strategy.
        store: a solver's store, for its locks, which best responses respect.
        crew: thread pool with scratch space, float64 for full accuracy.
        expected: whether to compute expected values; without rake exploitability does not need them, and ``value`` is then NaN.

    Returns:
        Exploitability, gains, and both players' values and best-response values, in chips.
    """
    return judgement_of(game, lambda player, mode: root_values(crew, player, mode, average, store), expected=expected)


def judgement_of(game: CompiledSpot, values: Callable[[int, int], Floats], *, expected: bool = True) -> Judgement:
    """Evaluate a policy with ``values(player, mode)``, which works like :func:`root_values`; see :func:`judge_spot`."""
    best, ev = [], []
    for player in (0, 1):
        first, count = game.form.boards[0, HANDS + player], game.form.boards[0, COUNT + player]
        weights = game.form.weights[first : first + count]
        best.append(float(weights @ values(player, BEST)) / game.compatible)
        if expected or game.raked:
            ev.append(float(weights @ values(player, EXPECT)) / game.compatible)
    value = tuple(ev) if ev else (float("nan"), float("nan"))
    gains = max(sum(best) - (sum(value) if game.raked else 0.0), 0.0)  # rounding may make it negative; NaN stays NaN
    return Judgement(exploitability=gains / 2, nash_conv=gains, value=value, best_response_values=tuple(best))


def judging_crew(game: CompiledSpot, threads: int) -> BoardPool:
    """A thread pool with scratch space in double precision."""
    work = make_workspace(game.form, threads, np.float64, raked=game.raked, packed=True)
    return BoardPool(game.form, work, raked=game.raked, if_useful=True)
