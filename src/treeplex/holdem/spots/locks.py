"""Node locks: fixed strategies at a decision, given as text or hand by hand."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats


@dataclass(frozen=True)
class TextLock:
    """A fixed strategy at one decision, for some or all hands.

    Attributes:
        line: line to the decision, as in ``show``; empty for the root.
        hands: float64 [1326], weights whose positive entries are locked; None for all hands.
        strategy: actions as in lines (``x``, ``c``, ``f``, ``b50%``, ``r2.5x``, ``a``) with their frequencies, which sum to 1.
        place: position in the source text.
    """

    line: str
    hands: Floats | None
    strategy: tuple[tuple[str, float], ...]
    place: str


@dataclass(frozen=True, eq=False)
class NodeLock:
    """The strategy of every hand at one decision, such as that of a :class:`treeplex.holdem.policies.view.NodeView`.

    Attributes:
        line: line to the decision. Cards may be omitted from some street on; the lock then applies to all cards.
        hands: int [n], indices of ``format.hands``; other hands are not locked.
        strategy: [actions, n], probabilities in the order of the actions; a column of NaN leaves a hand unlocked.
        place: name of the lock in messages.
    """

    line: str
    hands: NDArray[np.integer]
    strategy: NDArray[np.floating]
    place: str = "lock"


AnyLock = TextLock | NodeLock
