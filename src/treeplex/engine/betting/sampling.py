"""External-sampling MCCFR on betting trees with any number of players.

Lanctot, Waugh, Zinkevich and Bowling 2009; discounts and pruning as in Brown and Sandholm 2019 (Pluribus). A walk lists the
decisions that it visits, parents first, and then processes the list backwards, without recursion.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.betting.pots import Ends, payoff
from treeplex.engine.kernel import INLINED, NO_COUNTS, kernel
from treeplex.engine.sampling.streams import advanced, start, unit

HIGHEST = 2_000_000_000.0
"""Bound on the absolute regret, so that it fits into 32 bits."""
LOWEST = 31.0 / 30.0
"""With pruning, lower bound of regrets as a multiple of the pruning threshold, so that actions can recover."""


class Nodes(NamedTuple):
    """A betting tree: D decisions, parents first, S actions ("slots"), T terminals.

    Attributes:
        player, street: int64 [D].
        first, actions: int64 [D], first slot and number of actions of each decision.
        child: int64 [S], decision after each slot; terminal k is -1 - k.
        labels: int64 [S], the game's labels of the actions.
        kinds: int8 [S], 0 fold, 1 check or call, 2 other.
        ends: settlements of the terminals.
        rows: int64 [D], start of each decision's entries in the tables.
    """

    player: Ints
    street: Ints
    first: Ints
    actions: Ints
    child: Ints
    labels: Ints
    kinds: NDArray[np.int8]
    ends: Ends
    rows: Ints


class SampledTables(NamedTuple):
    """Tables of a run, with a row of A actions for each decision and bucket.

    Attributes:
        regrets: int32, in units of :attr:`BoardWalks.unit`.
        average: float32, sums of policies.
    """

    regrets: NDArray[np.int32]
    average: NDArray[np.float32]


class BoardWalks(NamedTuple):
    """Settings of the walks on a board.

    Attributes:
        seed: random seed.
        deals: deals per board; each deal is walked once per player.
        unit: chips per unit of regret.
        prune: fraction of deals in which actions with very negative regrets are skipped, except on the last street.
        prune_below: pruning threshold in units of regret.
    """

    seed: int
    deals: int
    unit: float
    prune: float
    prune_below: float


class BoardHands(NamedTuple):
    """All hands on one complete board.

    Attributes:
        rows: int32 [streets, H], table row of each hand on each street; -1 for blocked hands.
        keys: int32 [H], strengths.
        hands: uint8 [H, C], cards of each hand.
    """

    rows: NDArray[np.int32]
    keys: NDArray[np.int32]
    hands: NDArray[np.uint8]


@kernel(error_model="numpy", **INLINED)
def match_regrets(regrets: NDArray[np.int32], slot: int, count: int, policy: Floats, first: int) -> None:
    """Write the regret-matching policy of one row; uniform if no regret is positive."""
    total = 0.0
    for action in range(count):
        total += max(regrets[slot + action], 0)
    for action in range(count):
        policy[first + action] = max(regrets[slot + action], 0) / total if total > 0 else 1.0 / count


@kernel(error_model="numpy")
def walk_board(
    nodes: Nodes,
    tables: SampledTables,
    cards: BoardHands,
    walks: BoardWalks,
    number: int,
    scratch: tuple[Floats, Floats, Ints, Ints],
) -> int:
    """Walk the deals of one board and update the tables.

    Args:
        nodes, tables, cards, walks: betting tree, tables, hands on the board, and settings.
        number: board number, from 0; with the seed it determines all draws.
        scratch: float64 [S], float64 [N], int64 [N] and int64 [N].

    Returns:
        Number of decisions visited.
    """
    stream = start(np.uint64(walks.seed), np.uint64(number), np.uint64(0))
    players = nodes.ends.put.shape[1]
    live = np.flatnonzero(cards.rows[0] >= 0)
    held, rows = np.zeros(players, dtype=np.int64), np.zeros((players, cards.rows.shape[0]), dtype=np.int64)
    strengths = np.zeros(players, dtype=np.int64)
    met = 0
    for _ in range(walks.deals):
        for player in range(players):
            stream = advanced(stream)
            held[player] = live[int(unit(stream) * live.shape[0])]
            while meets(cards.hands, held, player):
                stream = advanced(stream)
                held[player] = live[int(unit(stream) * live.shape[0])]
            strengths[player] = cards.keys[held[player]]
            for street in range(rows.shape[1]):
                rows[player, street] = cards.rows[street, held[player]]
        stream = advanced(stream)
        prunes = unit(stream) < walks.prune
        for player in range(players):
            stream, seen = walk(
                nodes, tables, (rows, strengths), player, (walks.unit, walks.prune_below, prunes), stream, scratch
            )
            met += seen
    return met


@kernel(error_model="numpy")
def meets(hands: NDArray[np.uint8], held: Ints, player: int) -> bool:
    """Return whether a player's hand shares a card with the hand of an earlier player."""
    for other in range(player):
        for card in hands[held[other]]:
            for other_card in hands[held[player]]:
                if other_card == card:
                    return True
    return False


@kernel(error_model="numpy", **NO_COUNTS)
def walk(
    nodes: Nodes,
    tables: SampledTables,
    deal: tuple[Ints, Ints],
    traverser: int,
    rules: tuple[float, float, bool],
    stream: np.uint64,
    scratch: tuple[Floats, Floats, Ints, Ints],
) -> tuple[np.uint64, int]:
    """Run one walk; return the random stream after it and the number of decisions visited.

    Args:
        nodes, tables, scratch: as for :func:`walk_board`.
        deal: table rows of the players' hands, int64 [N, streets], and their strengths, int64 [N].
        traverser: the player all of whose actions are followed.
        rules: chips per unit of regret, pruning threshold, and whether to prune.
        stream: state of the random stream.
    """
    (rows, strengths), (chips, below, prunes), (policy, values, order, waiting) = deal, rules, scratch
    last = rows.shape[1] - 1
    size, top = 0, 1
    waiting[0] = 0
    while top:
        top -= 1
        node = waiting[top]
        order[size] = node
        size += 1
        first, count, player, street = nodes.first[node], nodes.actions[node], nodes.player[node], nodes.street[node]
        slot = nodes.rows[node] + rows[player, street] * count
        match_regrets(tables.regrets, slot, count, policy, first)
        if player == traverser:
            for action in range(count):
                child = nodes.child[first + action]
                if child < 0:
                    continue
                if prunes and street < last and tables.regrets[slot + action] < below:
                    policy[first + action] = -1.0
                    continue
                waiting[top] = child
                top += 1
            continue
        stream = advanced(stream)
        left, drawn = unit(stream), count - 1
        for action in range(count):
            tables.average[slot + action] += np.float32(policy[first + action])
            left -= policy[first + action]
            if left < 0 and drawn == count - 1:
                drawn = action
        for action in range(count):
            policy[first + action] = 1.0 if action == drawn else 0.0
        if nodes.child[first + drawn] >= 0:
            waiting[top] = nodes.child[first + drawn]
            top += 1
    for k in range(size - 1, -1, -1):
        node = order[k]
        first, count, player = nodes.first[node], nodes.actions[node], nodes.player[node]
        value = 0.0
        for action in range(count):
            share = policy[first + action]
            if share > 0.0:
                value += share * value_after(nodes, first + action, strengths, traverser, values)
        values[node] = value
        if player == traverser:
            slot = nodes.rows[node] + rows[player, nodes.street[node]] * count
            for action in range(count):
                if policy[first + action] >= 0.0:
                    gain = (value_after(nodes, first + action, strengths, traverser, values) - value) / chips
                    known = min(max(tables.regrets[slot + action] + gain, LOWEST * below), HIGHEST)
                    tables.regrets[slot + action] = np.int32(np.rint(known))
    return stream, size


@kernel(error_model="numpy", **INLINED)
def value_after(nodes: Nodes, slot: int, strengths: Ints, traverser: int, values: Floats) -> float:
    """Return the value of an action to the traverser."""
    child = nodes.child[slot]
    return float(values[child]) if child >= 0 else payoff(nodes.ends, -1 - child, strengths, traverser)


@kernel(error_model="numpy")
def discount(tables: SampledTables, factor: float) -> None:
    """Multiply all sums by ``factor``."""
    for slot in range(tables.regrets.shape[0]):
        tables.regrets[slot] = np.int32(np.rint(tables.regrets[slot] * factor))
        tables.average[slot] *= np.float32(factor)
