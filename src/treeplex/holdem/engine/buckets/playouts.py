"""Hands of limit poker played out: actions are drawn from two strategies."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.holdem.engine.buckets.deals import Sequences
from treeplex.holdem.engine.buckets.street import END, FOLD, Betting, Tables


@kernel(error_model="numpy")
def weight(tables: Tables, last: bool, place: int) -> float:
    """One number of a table."""
    return float(tables.late[place]) if last else float(tables.early[place])


@kernel(error_model="numpy")
def draw_action(betting: Betting, street: int, node: int, start: int, sequence: int, tables: Tables, draw: float) -> int:
    """The action that ``draw`` in [0, 1) picks at a node, in proportion to a table; uniform where that is zero."""
    number = betting.streets[street, 0] + node
    actions, slot = betting.nodes[number, 1], betting.nodes[number, 2]
    starts, slots = betting.streets[street, 2], betting.streets[street, 3]
    last = street == betting.streets.shape[0] - 1
    row = tables.offsets[street] + sequence // tables.tails[street] * slots * starts + slot * starts + start
    total = 0.0
    for action in range(actions):
        total += weight(tables, last, row + action * starts)
    if total <= 0.0:
        return min(int(draw * actions), int(actions) - 1)
    passed = 0.0
    for action in range(actions - 1):
        passed += weight(tables, last, row + action * starts) / total
        if draw < passed:
            return action
    return int(actions) - 1


@kernel(error_model="numpy")
def play_hands(
    betting: Betting,
    one: Tables,
    two: Tables,
    first: Sequences,
    second: Sequences,
    wins: NDArray[np.float32],
    draws: Floats,
    results: Floats,
) -> None:
    """Play one hand a deal.

    Args:
        betting: the betting.
        one, two: tables of player 0 and of player 1.
        first, second: uint16 [D], their bucket sequences on the last street.
        wins: float32 [D], 1 if player 0 has the better hand, 0 if they tie, else -1.
        draws: float64 [D, n], random numbers in [0, 1), one per action.
        results: float64 [D], output: chips that player 0 wins.
    """
    last = betting.streets.shape[0] - 1
    for deal in range(first.shape[0]):
        street = node = start = moves = 0
        while True:
            number = betting.streets[street, 0] + node
            player = betting.nodes[number, 0]
            level = betting.levels[betting.streets[street, 6] + start]
            if player == 0:
                action = draw_action(betting, street, node, start, first[deal], one, draws[deal, moves])
            else:
                action = draw_action(betting, street, node, start, second[deal], two, draws[deal, moves])
            moves += 1
            kind, child = betting.kinds[number, action], betting.children[number, action]
            if kind == FOLD:
                chips = level + betting.losses[number]
                results[deal] = -chips if player == 0 else chips
                break
            if kind == END:
                if street == last:
                    results[deal] = wins[deal] * (level + betting.ends[betting.streets[street, 5] + child])
                    break
                start += child * betting.streets[street, 2]
                street += 1
                node = 0
            else:
                node = child
