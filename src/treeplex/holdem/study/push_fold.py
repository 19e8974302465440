"""Heads-up push or fold: the exact equilibrium by a linear program over the 169 hand classes.

The small blind goes all-in or folds, the big blind calls or folds. Equities are exact over all boards, and pairs of hands
account for card removal, so nothing is sampled. Equilibria are seldom unique: where a hand is indifferent, the program returns
one of them.
"""

from dataclasses import dataclass
from math import isfinite

import numpy as np
from scipy.optimize import linprog

from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
from treeplex.holdem.cards.class_equities import class_equities

SMALL, BIG = 0.5, 1.0
MOST_STACK = 200.0
MOST_STEPS = 1000


@dataclass(frozen=True, eq=False)
class PushFold:
    """A push-or-fold equilibrium; amounts in big blinds.

    Attributes:
        stack: effective stack, blinds and antes included.
        ante: ante of each player.
        push: float64 [169], the small blind's all-in frequency by class, in the order of ``CLASSES``.
        call: float64 [169], the big blind's call frequency.
        push_ev: float64 [169], EV of going all-in relative to a fold.
        call_ev: float64 [169], EV of a call relative to a fold.
        value: the small blind's EV per hand.
        exploitability: mean gain of both players' best responses; nonzero only because of rounding.
    """

    stack: float
    ante: float
    push: Floats
    call: Floats
    push_ev: Floats
    call_ev: Floats
    value: float
    exploitability: float

    @property
    def pushed(self) -> float:
        """The fraction of all hands that the small blind pushes."""
        return float(self.push[HAND_CLASSES].mean())

    @property
    def called(self) -> float:
        """The fraction of all hands with which the big blind calls."""
        return float(self.call[HAND_CLASSES].mean())

    def __repr__(self) -> str:
        shares = f"push {100 * self.pushed:.1f}%, call {100 * self.called:.1f}%"
        return f"<push or fold with {self.stack:g} bb: {shares}, value {self.value:+.4f} bb>"


def push_fold(stack: float, *, ante: float = 0.0) -> PushFold:
    """Solve heads-up push or fold.

    With P the probability of two classes and E the equity of the first, a small blind who pushes with x and a big blind who
    calls with y play for ``sum P (-(1 - x)(1/2 + a) + x (1 - y)(1 + a) + x y S (2 E - 1))``, linear in each. The program
    maximises the small blind's EV against the big blind's best response; y is given by the dual variables.

    Args:
        stack: effective stack in big blinds, before blinds and antes.
        ante: ante of each player, in big blinds.

    Returns:
        The equilibrium: frequencies and EVs by hand class, float64 [169] each, in big blinds.

    Raises:
        SpecError: the stack does not exceed big blind and ante or is above 200, or the ante is negative.
    """
    if not (isfinite(ante) and ante >= 0):
        raise SpecError(f"the ante is {ante:g} big blinds; give 0 or more")
    if not BIG + ante < stack <= MOST_STACK:
        least = f"{BIG + ante:g} (big blind and ante)"
        raise SpecError(f"the stack is {stack:g} big blinds; give more than {least} and at most {MOST_STACK:g}")
    pairs, equity = class_equities()
    chance = pairs / pairs.sum()
    stolen = chance.sum(axis=1) * (BIG + SMALL + 2 * ante)  # EV of a push relative to a fold if the big blind folds
    called = chance * (stack * (2 * equity - 1) - (BIG + ante))  # EV that a call adds
    size = len(CLASSES)
    program = linprog(
        -np.concatenate([stolen, np.ones(size)]),
        A_ub=np.hstack([-called.T, np.eye(size)]),
        b_ub=np.zeros(size),
        bounds=[(0, 1)] * size + [(None, 0)] * size,
        method="highs",
    )
    push, call = np.clip(program.x[:size], 0, 1), np.clip(-program.ineqlin.marginals, 0, 1)
    pushing, calling = stolen + called @ call, -(push @ called)
    value = float(push @ pushing)
    gains = np.maximum(pushing, 0).sum() - value, np.maximum(calling, 0).sum() - float(calling @ call)
    return PushFold(
        stack=stack,
        ante=ante,
        push=push,
        call=call,
        push_ev=pushing / chance.sum(axis=1),
        call_ev=np.divide(calling, push @ chance, out=np.zeros(size), where=push @ chance > 0),
        value=value - (SMALL + ante),
        exploitability=float(sum(gains)) / 2,
    )


def largest_stacks(most: float, *, step: float = 0.5, ante: float = 0.0) -> tuple[Floats, Floats]:
    """The largest stacks, float64 [169] each, with which the small blind pushes and the big blind calls.

    Args:
        most: the largest stack examined, in big blinds.
        step: distance between stacks; the smallest is the first multiple above big blind and ante.
        ante: ante of each player.

    Returns:
        0 for a class that is played at least half of the time with no stack. Some hands, such as 63s, are pushed on separate
            ranges of stacks: this is the largest stack of all.

    Raises:
        SpecError: the ante is negative or leaves no stack to push, or the step is not positive or asks for more than 1,000
            stacks.
    """
    if not 0 < step <= most or most / step > MOST_STEPS:
        raise SpecError(
            f"the step is {step:g} big blinds; give a step above 0 with at most {MOST_STEPS:,} stacks up to {most:g}"
        )
    if not (isfinite(ante) and 0 <= ante < most - BIG):
        raise SpecError(
            f"the ante is {ante:g} big blinds; give 0 or more, so that the largest stack {most:g} exceeds big blind and ante"
        )
    push, call = np.zeros(len(CLASSES)), np.zeros(len(CLASSES))
    for count in range(1, int(most / step + 1e-9) + 1):
        stack = count * step
        if stack > BIG + ante:
            equilibrium = push_fold(stack, ante=ante)
            push[equilibrium.push >= 0.5], call[equilibrium.call >= 0.5] = stack, stack
    return push, call
