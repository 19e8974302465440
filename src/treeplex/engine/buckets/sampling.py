"""External sampling on any betting tree with bucketed cards: one player's actions are all walked, the other's are drawn.

Lanctot, Waugh, Zinkevich and Bowling 2009; discounts and pruning as in Brown and Sandholm 2019 (Pluribus). A walk lists the
decisions that it meets, parents first, and then goes through the list backwards; nothing is recursive.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from treeplex.engine.histories.streams import advanced, start, unit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
HIGHEST = 2_000_000_000.0
"""No regret goes above this, or below minus this, so that 32 bits hold it."""
LOWEST = 31.0 / 30.0
"""Where walks prune, no regret falls below this multiple of what is skipped, so that an action can come back."""


class Nodes(NamedTuple):
    """A betting tree of two players: N decisions, parents first, S actions ("slots"), T terminals.

    Attributes:
        player, street: int64 [N].
        first, actions: int64 [N], a decision's first slot, and how many it has.
        child: int64 [S], the decision after each; terminal k is -1 - k.
        labels: int64 [S], the actions of :mod:`treeplex.games.poker.whole.betting`.
        payoffs: float64 [T, 3], for player 0 where it loses the showdown, ties and wins; all the same after a fold.
        rows: int64 [N], where each decision's numbers begin in the tables.
    """

    player: Ints
    street: Ints
    first: Ints
    actions: Ints
    child: Ints
    labels: Ints
    payoffs: Floats
    rows: Ints


class SampledTables(NamedTuple):
    """What a run learns, a row of A numbers for each decision and bucket.

    Attributes:
        regrets: int32, in units of :attr:`Walks.unit`.
        average: float32, sums of policies.
    """

    regrets: NDArray[np.int32]
    average: NDArray[np.float32]


class Walks(NamedTuple):
    """How boards are walked.

    Attributes:
        seed: of the draws.
        deals: pairs of hands on each board; each is walked once for either player.
        unit: chips of one unit of regret.
        prune: the share of deals in which actions with very negative regrets are skipped, the last street's excepted.
        prune_below: how negative, in units of regret.
    """

    seed: int
    deals: int
    unit: float
    prune: float
    prune_below: float


class BoardHands(NamedTuple):
    """All hands on one complete board.

    Attributes:
        sequences: int32 [H], each hand's sequence of buckets; -1 where the board blocks it.
        keys: int32 [H], strengths.
        hands: uint8 [H, 2].
        tails: int64 [streets], by what a sequence is divided for the number of its beginning on a street.
        counts: int64 [streets], buckets of each street; 0 where players remember all earlier ones.
    """

    sequences: NDArray[np.int32]
    keys: NDArray[np.int32]
    hands: NDArray[np.uint8]
    tails: Ints
    counts: Ints


@njit(cache=True, nogil=True, error_model="numpy")
def write_row(cards: BoardHands, hand: int, row: Ints) -> None:
    """Write a hand's bucket, or its number of a sequence of buckets, on each street."""
    for street in range(row.shape[0]):
        number = np.int64(cards.sequences[hand]) // cards.tails[street]
        row[street] = number % cards.counts[street] if cards.counts[street] else number


@njit(cache=True, nogil=True, error_model="numpy")
def match_regrets(regrets: NDArray[np.int32], place: int, count: int, policy: Floats, first: int) -> None:
    """Regret matching of one row into ``policy``; uniform where no regret is positive."""
    total = 0.0
    for action in range(count):
        total += max(regrets[place + action], 0)
    for action in range(count):
        policy[first + action] = max(regrets[place + action], 0) / total if total > 0 else 1.0 / count


@njit(cache=True, nogil=True, error_model="numpy")
def walk_board(
    nodes: Nodes,
    tables: SampledTables,
    cards: BoardHands,
    walks: Walks,
    number: int,
    scratch: tuple[Floats, Floats, Ints, Ints],
) -> int:
    """Walk the deals of one board, and learn from them.

    Args:
        nodes, tables, cards, walks: see the classes.
        number: of the board, from 0 on; with the seed it says what is drawn.
        scratch: float64 [S], float64 [N], int64 [N] and int64 [N].

    Returns:
        Decisions met.
    """
    stream = start(np.uint64(walks.seed), np.uint64(number), np.uint64(0))
    live = np.flatnonzero(cards.sequences >= 0)
    rows = np.zeros((2, cards.tails.shape[0]), dtype=np.int64)
    met = 0
    for _ in range(walks.deals):
        stream = advanced(stream)
        one = live[int(unit(stream) * live.shape[0])]
        two = one
        while share_card(cards.hands[one], cards.hands[two]):
            stream = advanced(stream)
            two = live[int(unit(stream) * live.shape[0])]
        write_row(cards, one, rows[0])
        write_row(cards, two, rows[1])
        result = 1 + int(cards.keys[one] > cards.keys[two]) - int(cards.keys[one] < cards.keys[two])
        stream = advanced(stream)
        prunes = unit(stream) < walks.prune
        for player in range(2):
            stream, seen = walk(nodes, tables, rows, (player, result), (walks.unit, walks.prune_below, prunes), stream, scratch)
            met += seen
    return met


@njit(cache=True, nogil=True, error_model="numpy")
def share_card(one: NDArray[np.uint8], two: NDArray[np.uint8]) -> bool:
    """Whether two hands have a card in common."""
    return bool(one[0] == two[0] or one[0] == two[1] or one[1] == two[0] or one[1] == two[1])


@njit(cache=True, nogil=True, error_model="numpy")
def walk(
    nodes: Nodes,
    tables: SampledTables,
    rows: Ints,
    deal: tuple[int, int],
    rules: tuple[float, float, bool],
    stream: np.uint64,
    scratch: tuple[Floats, Floats, Ints, Ints],
) -> tuple[np.uint64, int]:
    """One walk; the stream after it, and how many decisions it met.

    Args:
        nodes, tables, scratch: as for :func:`walk_board`.
        rows: int64 [2, streets], the players' buckets.
        deal: the player whose actions are all walked, and the showdown for player 0: 0 lost, 1 tied, 2 won.
        rules: chips of a unit of regret, below what regret actions are skipped, and whether they are.
        stream: of draws.
    """
    (traverser, result), (chips, below, prunes), (policy, values, order, waiting) = deal, rules, scratch
    last = rows.shape[1] - 1
    size, top = 0, 1
    waiting[0] = 0
    while top:
        top -= 1
        node = waiting[top]
        order[size] = node
        size += 1
        first, count, player, street = nodes.first[node], nodes.actions[node], nodes.player[node], nodes.street[node]
        place = nodes.rows[node] + rows[player, street] * count
        match_regrets(tables.regrets, place, count, policy, first)
        if player == traverser:
            for action in range(count):
                child = nodes.child[first + action]
                if child < 0:
                    continue
                if prunes and street < last and tables.regrets[place + action] < below:
                    policy[first + action] = -1.0
                    continue
                waiting[top] = child
                top += 1
            continue
        stream = advanced(stream)
        left, drawn = unit(stream), count - 1
        for action in range(count):
            tables.average[place + action] += np.float32(policy[first + action])
            left -= policy[first + action]
            if left < 0 and drawn == count - 1:
                drawn = action
        for action in range(count):
            policy[first + action] = 1.0 if action == drawn else 0.0
        if nodes.child[first + drawn] >= 0:
            waiting[top] = nodes.child[first + drawn]
            top += 1
    sign = 1.0 if traverser == 0 else -1.0
    for k in range(size - 1, -1, -1):
        node = order[k]
        first, count, player = nodes.first[node], nodes.actions[node], nodes.player[node]
        value = 0.0
        for action in range(count):
            share = policy[first + action]
            if share > 0.0:
                value += share * value_after(nodes, first + action, result, sign, values)
        values[node] = value
        if player == traverser:
            place = nodes.rows[node] + rows[player, nodes.street[node]] * count
            for action in range(count):
                if policy[first + action] >= 0.0:
                    gain = (value_after(nodes, first + action, result, sign, values) - value) / chips
                    known = min(max(tables.regrets[place + action] + gain, LOWEST * below), HIGHEST)
                    tables.regrets[place + action] = np.int32(np.rint(known))
    return stream, size


@njit(cache=True, nogil=True, error_model="numpy")
def value_after(nodes: Nodes, slot: int, result: int, sign: float, values: Floats) -> float:
    """What an action is worth to the player whose actions are all walked."""
    child = nodes.child[slot]
    return float(values[child]) if child >= 0 else float(sign * nodes.payoffs[-1 - child, result])


@njit(cache=True, nogil=True, error_model="numpy")
def discount(tables: SampledTables, factor: float) -> None:
    """Multiply all sums."""
    for place in range(tables.regrets.shape[0]):
        tables.regrets[place] = np.int32(np.rint(tables.regrets[place] * factor))
        tables.average[place] *= np.float32(factor)
