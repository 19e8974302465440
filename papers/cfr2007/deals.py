"""Complete deals of limit poker with bucketed cards: each deal traverses the betting tree of all streets once.

Streets before the last are float64; the last, which has nearly all the numbers, is float32. :mod:`papers.cfr2007.street`
handles a single street.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from papers.cfr2007.street import (
    END,
    FOLD,
    BettingArrays,
    Tables,
    learn,
    match_positive,
    reach_nodes,
    show_down,
    value_nodes,
)
from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.engine.kernel import kernel

Sequences = NDArray[np.uint16]


class Scratch(NamedTuple):
    """Working memory of one traversal; streets before the last are stored consecutively at the offsets ``at``.

    Attributes:
        at: int64 [S, 3], where each street begins in ``policy``, ``reach`` and ``values``; for the last street, the end of the
            others.
        policy, reach, values, total: float64, streets before the last.
        late_policy, late_reach, late_values, late_ends, late_total: float32, the last street.
        following, ends: float64, reach and values of the starts of the next street.
        late_levels: float32, levels of the last street.
        constants, late_constants: 0, 1, 1/2, 1/3.
        nothing: float32 [0].
    """

    at: Ints
    policy: Floats
    reach: Floats
    values: Floats
    total: Floats
    late_policy: Singles
    late_reach: Singles
    late_values: Singles
    late_ends: Singles
    late_total: Singles
    following: Floats
    ends: Floats
    late_levels: Singles
    constants: Floats
    late_constants: Singles
    nothing: Singles


@kernel(error_model="numpy")
def scratch_for(betting: BettingArrays) -> Scratch:
    """Working memory for this betting."""
    last = betting.streets.shape[0] - 1
    at = np.zeros((last + 1, 3), dtype=np.int64)
    for street in range(last):
        nodes, n, slots = betting.streets[street, 1], betting.streets[street, 2], betting.streets[street, 3]
        at[street + 1, 0] = at[street, 0] + slots * n
        at[street + 1, 1] = at[street, 1] + 2 * nodes * n
        at[street + 1, 2] = at[street, 2] + nodes * n
    nodes, n, slots, ends = (
        betting.streets[last, 1],
        betting.streets[last, 2],
        betting.streets[last, 3],
        betting.streets[last, 4],
    )
    constants = np.array([0.0, 1.0, 1.0 / 2.0, 1.0 / 3.0])
    return Scratch(
        at,
        np.zeros(at[last, 0]),
        np.zeros(at[last, 1]),
        np.zeros(at[last, 2]),
        np.zeros(n),
        np.zeros(slots * n, dtype=np.float32),
        np.zeros(2 * nodes * n, dtype=np.float32),
        np.zeros(nodes * n, dtype=np.float32),
        np.zeros(ends * n, dtype=np.float32),
        np.zeros(n, dtype=np.float32),
        np.zeros(2 * n),
        np.zeros(n),
        betting.levels[betting.streets[last, 6] :].astype(np.float32),
        constants,
        constants.astype(np.float32),
        np.zeros(0, dtype=np.float32),
    )


@kernel(error_model="numpy")
def find_rows(betting: BettingArrays, tables: Tables, sequence: int, rows: Ints) -> None:
    """Write the offsets of a sequence's rows on each street."""
    for street in range(rows.shape[0]):
        width = betting.streets[street, 2] * betting.streets[street, 3]
        rows[street] = tables.offsets[street] + sequence // tables.tails[street] * width


@kernel(error_model="numpy")
def play_rows(betting: BettingArrays, one: Tables, two: Tables, rows: Ints, work: Scratch) -> None:
    """Set the policies of both players on all streets from rows [2, S] of their tables."""
    last = betting.streets.shape[0] - 1
    for player in range(2):
        tables = one if player == 0 else two
        for street in range(last):
            policy = work.policy[work.at[street, 0] : work.at[street + 1, 0]]
            match_positive(betting, street, player, tables.early, rows[player, street], work.constants, work.total, policy)
        match_positive(
            betting, last, player, tables.late, rows[player, last], work.late_constants, work.late_total, work.late_policy
        )


@kernel(error_model="numpy")
def reach_all(betting: BettingArrays, work: Scratch) -> None:
    """Both players' reach of every node of all streets."""
    last = betting.streets.shape[0] - 1
    work.following[:2] = 1.0
    for street in range(last):
        n, wide = betting.streets[street, 2], 2 * betting.streets[street + 1, 2]
        reach = work.reach[work.at[street, 1] : work.at[street + 1, 1]]
        reach[: 2 * n] = work.following[: 2 * n]
        policy = work.policy[work.at[street, 0] : work.at[street + 1, 0]]
        reach_nodes(betting, street, policy, reach, work.following[:wide])
    for j in range(2 * betting.streets[last, 2]):
        work.late_reach[j] = work.following[j]
    reach_nodes(betting, last, work.late_policy, work.late_reach, work.nothing)


@kernel(error_model="numpy")
def value_late(betting: BettingArrays, win: np.float32, work: Scratch) -> None:
    """Values of the last street; those of its starts are also written to ``work.ends``."""
    last = betting.streets.shape[0] - 1
    show_down(betting, work.late_levels, win, work.late_ends)
    value_nodes(betting, last, work.late_policy, work.late_levels, work.late_ends, work.late_values)
    for j in range(betting.streets[last, 2]):
        work.ends[j] = work.late_values[j]


@kernel(error_model="numpy")
def learn_deals(
    betting: BettingArrays, regrets: Tables, average: Tables, first: Sequences, second: Sequences, wins: Singles
) -> None:
    """Chance-sampled CFR: for each deal, regret matching and then simultaneous updates of both players.

    Args:
        betting: the betting.
        regrets, average: tables of both players, updated in place.
        first, second: uint16 [D], the two players' bucket sequences on the last street.
        wins: float32 [D], the expected sign of the showdown for player 0.
    """
    last = betting.streets.shape[0] - 1
    work = scratch_for(betting)
    rows = np.zeros((2, last + 1), dtype=np.int64)
    for deal in range(first.shape[0]):
        find_rows(betting, regrets, first[deal], rows[0])
        find_rows(betting, regrets, second[deal], rows[1])
        play_rows(betting, regrets, regrets, rows, work)
        reach_all(betting, work)
        value_late(betting, wins[deal], work)
        for player in range(2):
            learn(
                betting, last, player, work.late_policy, work.late_reach, work.late_levels, work.late_ends, work.late_values,
                regrets.late, average.late, rows[player, last],
            )  # fmt: skip
        for street in range(last - 1, -1, -1):
            n, level = betting.streets[street, 2], betting.streets[street, 6]
            policy = work.policy[work.at[street, 0] : work.at[street + 1, 0]]
            reach = work.reach[work.at[street, 1] : work.at[street + 1, 1]]
            values = work.values[work.at[street, 2] : work.at[street + 1, 2]]
            levels = betting.levels[level : level + n]
            value_nodes(betting, street, policy, levels, work.ends, values)
            for player in range(2):
                learn(
                    betting, street, player, policy, reach, levels, work.ends, values,
                    regrets.early, average.early, rows[player, street],
                )  # fmt: skip
            work.ends[:n] = values[:n]


@kernel(error_model="numpy")
def value_deals(
    betting: BettingArrays, one: Tables, two: Tables, first: Sequences, second: Sequences, wins: Singles, results: Floats
) -> None:
    """The value of each deal, exact over all betting, when players act in proportion to tables.

    Args:
        betting: the betting.
        one, two: tables of player 0 and of player 1; they may have different buckets.
        first, second, wins: as for :func:`learn_deals`.
        results: float64 [D], output: chips for player 0.
    """
    last = betting.streets.shape[0] - 1
    work = scratch_for(betting)
    rows = np.zeros((2, last + 1), dtype=np.int64)
    for deal in range(first.shape[0]):
        find_rows(betting, one, first[deal], rows[0])
        find_rows(betting, two, second[deal], rows[1])
        play_rows(betting, one, two, rows, work)
        value_late(betting, wins[deal], work)
        for street in range(last - 1, -1, -1):
            n, level = betting.streets[street, 2], betting.streets[street, 6]
            policy = work.policy[work.at[street, 0] : work.at[street + 1, 0]]
            values = work.values[work.at[street, 2] : work.at[street + 1, 2]]
            value_nodes(betting, street, policy, betting.levels[level : level + n], work.ends, values)
            work.ends[:n] = values[:n]
        results[deal] = work.ends[0]


@kernel(error_model="numpy")
def draw_pairs(pairs: NDArray[np.float32], sums: Floats, draws: Floats, first: Sequences, second: Sequences) -> None:
    """Draw cells of a table in proportion to its entries.

    Args:
        pairs: float32 [S, S], nonnegative.
        sums: float64 [S], sums of its rows.
        draws: float64 [D], ascending, in [0, total).
        first, second: uint16 [D], output: rows and columns.
    """
    size = pairs.shape[0]
    row = column = 0
    below = 0.0  # of all rows before this one
    inside = np.float64(pairs[0, 0])  # of this row, up to and with this column
    for draw in range(draws.shape[0]):
        while row < size - 1 and draws[draw] >= below + sums[row]:
            below += sums[row]
            row += 1
            column = 0
            inside = np.float64(pairs[row, 0])
        while draws[draw] - below >= inside and column < size - 1:
            column += 1
            inside += pairs[row, column]
        first[draw], second[draw] = row, column


@kernel(error_model="numpy")
def weight(tables: Tables, last: bool, place: int) -> float:
    """One entry of a table."""
    return float(tables.late[place]) if last else float(tables.early[place])


@kernel(error_model="numpy")
def draw_action(betting: BettingArrays, street: int, node: int, start: int, sequence: int, tables: Tables, draw: float) -> int:
    """The action selected by ``draw`` in [0, 1) at a node, in proportion to a table; uniform if the entries are zero."""
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
    betting: BettingArrays,
    one: Tables,
    two: Tables,
    first: Sequences,
    second: Sequences,
    wins: NDArray[np.float32],
    draws: Floats,
    results: Floats,
) -> None:
    """Play one hand per deal.

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
