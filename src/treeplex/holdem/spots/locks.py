"""Locks: strategies that a player keeps at a decision, as they are written down or hand by hand."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats


@dataclass(frozen=True)
class TextLock:
    """A strategy that a player keeps at one decision, for all hands or some.

    Attributes:
        line: how one gets to the decision, as in ``show``; empty for the root.
        hands: float64 [1326] weights whose positive entries are locked; None for all.
        strategy: actions as in lines (``x``, ``c``, ``f``, ``b50%``, ``r2.5x``, ``a``) and how often each is taken; sums to 1.
        place: where it was written.
    """

    line: str
    hands: Floats | None
    strategy: tuple[tuple[str, float], ...]
    place: str


@dataclass(frozen=True, eq=False)
class NodeLock:
    """The strategy of every hand at one decision, say a :class:`treeplex.holdem.policies.view.NodeView`'s own.

    Attributes:
        line: how one gets to the decision. Cards may be left out from some street on, which stands for all.
        hands: int [n], rows of ``format.hands``; hands that are not there stay free.
        strategy: [actions, n], probabilities in the order of the actions; a column of NaN leaves a hand free.
        place: what to call the lock in messages.
    """

    line: str
    hands: NDArray[np.integer]
    strategy: NDArray[np.floating]
    place: str = "lock"


AnyLock = TextLock | NodeLock
