"""All histories of a game as arrays, for sampling, structural analysis and backward recursion."""

from typing import NamedTuple

from treeplex.base.arrays import Floats, SmallInts

CHANCE, TERMINAL = -1, -4
"""Actor codes of chance and terminal histories, as in :mod:`treeplex.games.base`."""
ACTOR, CHILD, CHILDREN, KEY = 0, 1, 2, 3
"""Columns of :attr:`Histories.nodes`."""


class Histories(NamedTuple):
    """A game tree. Children are contiguous, after their parent, in the order of its actions; the root is 0.

    Attributes:
        nodes: int32 [H, 4], for each history the actor (a player, ``CHANCE`` or ``TERMINAL``), first child, number of children,
            and a key: the infoset of a decision, the first index into ``chance`` of a chance node, or the row of ``payoffs`` of
            a terminal.
        chance: float64 [C], chance probabilities, node by node.
        payoffs: float64 [Z, N], terminal payoffs in the game's units.
    """

    nodes: SmallInts
    chance: Floats
    payoffs: Floats
