"""The betting of whole hold'em for two players as arrays, cards aside: every line that a plan of raises allows."""

import numpy as np

from treeplex.engine.buckets.sampling import Nodes
from treeplex.errors import SpecError
from treeplex.games.base import CHANCE
from treeplex.games.poker.whole.betting import Table
from treeplex.games.poker.whole.hand import HandRules

MOST_NODES = 2_000_000
"""Decisions of a betting tree."""


def betting_nodes(rules: HandRules, buckets: tuple[int, ...]) -> Nodes:
    """The betting tree of a hand, and where each decision's numbers stand in tables.

    Args:
        rules: of two players.
        buckets: how many buckets, or sequences of them, there are on each street.

    Raises:
        SpecError: more players, or more lines than memory should hold.
    """
    if rules.betting.players != 2:
        raise SpecError(f"betting in buckets is for two players, not {rules.betting.players}; write players=2")
    tables = [to_act(rules, rules.first_table)]
    player, street, first, count = list[int](), list[int](), list[int](), list[int]()
    child, labels, payoffs, rows = list[int](), list[int](), list[list[float]](), list[int]()
    size, number = 0, 0
    while number < len(tables):
        table, number = tables[number], number + 1
        actions = list(rules.actions(table))
        player.append(table.player)
        street.append(table.street)
        first.append(len(child))
        count.append(len(actions))
        rows.append(size)
        size += buckets[table.street] * len(actions)
        for action in actions:
            after = to_act(rules, rules.after(table, action))
            labels.append(action)
            if after.player >= 0:
                child.append(len(tables))
                tables.append(after)
            else:
                child.append(-1 - len(payoffs))
                payoffs.append(results(rules, after))
        if len(tables) > MOST_NODES:
            raise SpecError(
                f"the betting has more than {MOST_NODES:,} decisions; give fewer sizes (sizes=[100%;a]), a limit of raises "
                "(raises=[3;3;2;2]) or smaller stacks"
            )
    return Nodes(
        np.array(player, np.int64),
        np.array(street, np.int64),
        np.array(first, np.int64),
        np.array(count, np.int64),
        np.array(child, np.int64),
        np.array(labels, np.int64),
        np.array(payoffs),
        np.array(rows, np.int64),
    )


def to_act(rules: HandRules, table: Table) -> Table:
    """The table once cards that are due have been dealt: somebody acts, or the hand is over."""
    while table.player == CHANCE:
        table = rules.dealt(table, rules.format.board_sizes[table.street + 1])
    return table


def results(rules: HandRules, table: Table) -> list[float]:
    """What player 0 gets at the end of the betting where it loses the showdown, ties and wins."""
    dealt = table.street > 0
    return [rules.paid_out(table, strengths, dealt=dealt)[0] for strengths in ((0, 1), (1, 1), (1, 0))]


def slots_of(nodes: Nodes, node: int) -> slice:
    """The slots of a decision."""
    return slice(int(nodes.first[node]), int(nodes.first[node] + nodes.actions[node]))


def table_size(nodes: Nodes, buckets: tuple[int, ...]) -> int:
    """How many numbers a table has."""
    return int(nodes.rows[-1] + buckets[nodes.street[-1]] * nodes.actions[-1])
