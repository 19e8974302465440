"""All histories of a game as arrays, for what walks the game tree itself: sampling, structure, recursion."""

from typing import NamedTuple

from treeplex.base.arrays import Floats, SmallInts

CHANCE, TERMINAL = -1, -4
"""Who acts at a history that is no player's turn; the numbers of :mod:`treeplex.games.base`."""
ACTOR, CHILD, CHILDREN, KEY = 0, 1, 2, 3
"""Columns of :attr:`Histories.nodes`."""


class Histories(NamedTuple):
    """A game tree. The children of a history are contiguous, after it, in the order of its actions; the root is 0.

    Attributes:
        nodes: int32 [H, 4], for each history who acts (a player, ``CHANCE`` or ``TERMINAL``), its first child, its number of
            children, and a key: of a decision its infoset, of a chance node the first of its entries in ``chance``, of a
            terminal its row of ``payoffs``.
        chance: float64 [C], the probabilities of chance's actions, one chance node after another.
        payoffs: float64 [Z, N], what each player gets, in the game's units.
    """

    nodes: SmallInts
    chance: Floats
    payoffs: Floats
