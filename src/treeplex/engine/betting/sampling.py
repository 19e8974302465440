"""External-sampling MCCFR on betting trees of any number of players.

Lanctot, Waugh, Zinkevich and Bowling 2009; discounts and pruning as in Brown and Sandholm 2019 (Pluribus). A walk lists the
decisions that it meets, parents first, and then goes through the list backwards; nothing is recursive.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.betting.pots import Ends, payoff
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit

HIGHEST = 2_000_000_000.0
"""No regret goes above this, or below minus this, so that 32 bits hold it."""
LOWEST = 31.0 / 30.0
"""Where walks prune, no regret falls below this multiple of what is skipped, so that an action can come back."""


class Nodes(NamedTuple):
    """A betting tree: D decisions, parents first, S actions ("slots"), T ends.

    Attributes:
        player, street: int64 [D].
        first, actions: int64 [D], a decision's first slot, and how many it has.
        child: int64 [S], the decision after each; end k is -1 - k.
        labels: int64 [S], what the game calls the actions.
        kinds: int8 [S], 0 for folding, 1 for checking and calling, 2 for all else.
        ends: who can win what.
        rows: int64 [D], where each decision's numbers begin in the tables.
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
    """The learned tables of a run: a row of A numbers for each decision and bucket.

    Attributes:
        regrets: int32, in units of :attr:`BoardWalks.unit`.
        average: float32, sums of policies.
    """

    regrets: NDArray[np.int32]
    average: NDArray[np.float32]


class BoardWalks(NamedTuple):
    """How boards are walked.

    Attributes:
        seed: of the draws.
        deals: hands of all players on each board; each deal is walked once for every player.
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
        rows: int32 [streets, H], the row of each hand in the tables of each street; -1 where the board blocks it.
        keys: int32 [H], strengths.
        hands: uint8 [H, C], their cards.
    """

    rows: NDArray[np.int32]
    keys: NDArray[np.int32]
    hands: NDArray[np.uint8]


@kernel(error_model="numpy")
def match_regrets(regrets: NDArray[np.int32], place: int, count: int, policy: Floats, first: int) -> None:
    """Regret matching of one row into ``policy``; uniform where no regret is positive."""
    total = 0.0
    for action in range(count):
        total += max(regrets[place + action], 0)
    for action in range(count):
        policy[first + action] = max(regrets[place + action], 0) / total if total > 0 else 1.0 / count


@kernel(error_model="numpy")
def walk_board(
    nodes: Nodes,
    tables: SampledTables,
    cards: BoardHands,
    walks: BoardWalks,
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
    """Whether a player's hand has a card in common with that of an earlier player."""
    for other in range(player):
        for card in hands[held[other]]:
            for own in hands[held[player]]:
                if own == card:
                    return True
    return False


@kernel(error_model="numpy")
def walk(
    nodes: Nodes,
    tables: SampledTables,
    deal: tuple[Ints, Ints],
    traverser: int,
    rules: tuple[float, float, bool],
    stream: np.uint64,
    scratch: tuple[Floats, Floats, Ints, Ints],
) -> tuple[np.uint64, int]:
    """One walk; the stream after it, and how many decisions it met.

    Args:
        nodes, tables, scratch: as for :func:`walk_board`.
        deal: int64 [N, streets], the rows of the players' hands in the tables, and int64 [N], their strengths.
        traverser: the player whose actions are all walked.
        rules: chips of a unit of regret, below what regret actions are skipped, and whether they are.
        stream: of draws.
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
            place = nodes.rows[node] + rows[player, nodes.street[node]] * count
            for action in range(count):
                if policy[first + action] >= 0.0:
                    gain = (value_after(nodes, first + action, strengths, traverser, values) - value) / chips
                    known = min(max(tables.regrets[place + action] + gain, LOWEST * below), HIGHEST)
                    tables.regrets[place + action] = np.int32(np.rint(known))
    return stream, size


@kernel(error_model="numpy")
def value_after(nodes: Nodes, slot: int, strengths: Ints, traverser: int, values: Floats) -> float:
    """The value of an action to the traverser."""
    child = nodes.child[slot]
    return float(values[child]) if child >= 0 else payoff(nodes.ends, -1 - child, strengths, traverser)


@kernel(error_model="numpy")
def discount(tables: SampledTables, factor: float) -> None:
    """Multiply all sums."""
    for place in range(tables.regrets.shape[0]):
        tables.regrets[place] = np.int32(np.rint(tables.regrets[place] * factor))
        tables.average[place] *= np.float32(factor)
