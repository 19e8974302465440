"""Orders in which the players of a single-act game can move without any change of information."""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.engine.histories.form import ACTOR, CHILD, KEY, TERMINAL
from treeplex.forms.structure.decomposition import Decomposition

MOST_PLAYERS = 6
"""Maximum number of players for which all orders are tried."""
MOST_PLAYS = 100_000
"""Maximum number of plays (paths from the root to a terminal)."""

Orders = tuple[tuple[int, ...] | None, tuple[int, ...] | None, tuple[int, ...] | None]


def nested_orders(parts: Decomposition) -> Orders | str:
    """Find an admissible, a nested and a ladder-nested player order of a single-act form without chance.

    An order is admissible if each player's information is determined by the moves of earlier players (Basar and Olsder 1999,
    around figure 3.4: the same game in another extensive form).

    Returns:
        Three orders, each None if there is none; or the reason why orders were not tried.
    """
    nodes = parts.tree.nodes
    ends = np.flatnonzero(nodes[:, ACTOR] == TERMINAL)
    players = sorted({int(player) for player in nodes[:, ACTOR] if player >= 0})
    if len(players) > MOST_PLAYERS or len(ends) > MOST_PLAYS:
        return f"other orders of play are tried up to {MOST_PLAYERS} players and {MOST_PLAYS:,} plays only"
    knows, does = plays(parts, ends, players)
    if (knows < 0).any():
        return "other orders of play are tried only where all players move in every play"
    orders: list[tuple[int, ...] | None] = [None, None, None]
    for order in permutations(range(len(players))):
        kind = classify_order(knows[:, order], does[:, order])
        for lower in range(kind + 1):
            orders[lower] = orders[lower] or tuple(players[column] for column in order)
    return orders[0], orders[1], orders[2]


def plays(parts: Decomposition, ends: Ints, players: list[int]) -> tuple[Ints, Ints]:
    """Return each player's infoset and action index in every play, int64 [plays, players]; -1 without a move."""
    nodes, parent = parts.tree.nodes, parts.lines.parent
    knows, does = np.full((2, len(ends), len(players)), -1, np.int64)
    after = ends.copy()
    while (parent[after] >= 0).any():
        inner = np.flatnonzero(parent[after] >= 0)
        before = parent[after[inner]]
        moves = nodes[before, ACTOR] >= 0
        rows, columns = inner[moves], np.searchsorted(players, nodes[before[moves], ACTOR])
        knows[rows, columns] = nodes[before[moves], KEY]
        does[rows, columns] = after[rows] - nodes[before[moves], CHILD]
        after[inner] = before
    return knows, does


def classify_order(knows: Ints, does: Ints) -> int:
    """Classify a player order: -1 if it is not admissible, 0 if it is, 1 if the form is nested, 2 if ladder-nested."""
    prefix = np.zeros(len(knows), np.int64)
    kind = 2
    single = np.ones(0, bool)
    for column in range(knows.shape[1]):
        if not determines(prefix, knows[:, column]):
            return -1
        if column > 0:
            before = knows[:, column - 1]
            if not determines(knows[:, column], before):
                kind = 0
            blind = ~single
            if not determines(before[blind], knows[blind, column]):
                kind = min(kind, 1)
        single = alone(prefix, knows[:, column])
        prefix = np.unique(np.column_stack((prefix, knows[:, column], does[:, column])), axis=0, return_inverse=True)[1].ravel()
    return kind


def determines(cause: Ints, effect: Ints) -> bool:
    """Return whether rows with equal causes always have equal effects."""
    return len(np.unique(cause)) == len(np.unique(np.column_stack((cause, effect)), axis=0))


def alone(prefix: Ints, infoset: Ints) -> NDArray[np.bool_]:
    """Return for each play whether the infoset contains only one history."""
    pairs = np.unique(np.column_stack((infoset, prefix)), axis=0)
    infosets, counts = np.unique(pairs[:, 0], return_counts=True)
    return np.asarray(counts[np.searchsorted(infosets, infoset)] == 1)
