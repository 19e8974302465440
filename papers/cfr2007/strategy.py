"""Strategies for limit hold'em: buckets of real hands, and a policy for each sequence of buckets."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from papers.cfr2007.game import LimitGame, empty_tables, widths
from papers.cfr2007.street import END, FOLD, NODE, Tables
from treeplex.errors import PolicyError, SpecError
from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.buckets.compile_buckets import Infostates
from treeplex.holdem.buckets.game import BucketGame
from treeplex.policies import Policy


@dataclass(frozen=True, eq=False)
class LimitStrategy:
    """How to play both seats of limit hold'em.

    Attributes:
        name: for tables and messages.
        game: the game of buckets, of fixed limit.
        average: sums of policies of both seats; actions are chosen in proportion to them, or uniformly if all are zero.
    """

    name: str
    game: LimitGame
    average: Tables = field(repr=False)


@dataclass(frozen=True, eq=False)
class PreflopNode:
    """A decision before the flop: who acts, the names of the actions, probabilities float64 [buckets, actions]."""

    player: int
    actions: tuple[str, ...]
    probabilities: NDArray[np.float64]


def strategy_of(policy: Policy, name: str) -> LimitStrategy:
    """The strategy for a policy on a compiled bucketed game.

    Raises:
        PolicyError: the policy is for another kind of game.
        GameError: its betting is not fixed limit.
    """
    rules, infostates = policy.game.rules, policy.game.infostates
    if not isinstance(rules, BucketGame) or not isinstance(infostates, Infostates):
        raise PolicyError(f"{name} is a policy for {policy.game}; give one for bucketed_holdem")
    game = LimitGame.of(rules)
    betting, tree = game.betting, policy.game.tree
    places = np.zeros((len(game.tree), 3), dtype=np.int64)  # street, first slot times starts, start of each decision
    stack = [(0, 0, 0, 0)]
    while stack:
        number, street, node, start = stack.pop()
        decision, row, starts = game.tree.nodes[number], betting.streets[street, 0] + node, betting.streets[street, 2]
        assert isinstance(decision, Decision)
        places[number] = street, betting.nodes[row, 2] * starts, start
        for action, below in enumerate(decision.children):
            child, after = int(betting.children[row, action]), game.tree.nodes[below]
            if betting.kinds[row, action] == NODE:
                stack.append((below, street, child, start))
            elif isinstance(after, StreetEnd):
                stack.append((after.child, street + 1, 0, int(child * starts + start)))
    streets, slots, starts_of = places[infostates.nodes].T
    tables = empty_tables(game)
    first = tables.offsets[streets] + infostates.sequences * np.array(widths(betting))[streets] + slots + starts_of
    last = streets == len(game.counts) - 1
    for action in range(int(tree.infoset_layout[:, 2].max())):
        has = tree.infoset_layout[:, 2] > action
        played = policy.probabilities[tree.infoset_layout[has, 0] + action * tree.infoset_layout[has, 1]]
        where = first[has] + action * betting.streets[streets[has], 2]
        tables.early[where[~last[has]]] = played[~last[has]]
        tables.late[where[last[has]]] = played[last[has]]
    return LimitStrategy(name, game, tables)


def preflop_strategy(strategy: LimitStrategy, line: str) -> PreflopNode:
    """The strategy of the player to act after a preflop line of calls (c) and raises (r).

    Raises:
        SpecError: a line that ends the street or is not possible.
    """
    betting = strategy.game.betting
    node = 0
    for place, letter in enumerate(line):
        kinds = names(strategy, node)
        wanted = {"c": "call", "x": "call", "r": "raise"}.get(letter, "")
        if wanted not in kinds or betting.kinds[node, kinds.index(wanted)] == END:
            raise SpecError(f"line {line!r}: no {letter!r} at place {place + 1} before the flop; use c and r, say r or cr")
        node = int(betting.children[node, kinds.index(wanted)])
    _, _, starts, slots = betting.streets[0, :4]
    player, actions, slot = betting.nodes[node]
    table = strategy.average.early[: strategy.game.counts[0] * slots * starts].reshape(-1, slots)
    sums = table[:, slot : slot + actions]
    total = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, total, out=np.full(sums.shape, 1.0 / actions), where=total > 0)
    return PreflopNode(int(player), tuple(names(strategy, node)), shares)


def names(strategy: LimitStrategy, node: int) -> list[str]:
    """The actions of a node of the first street."""
    betting = strategy.game.betting
    kinds = betting.kinds[node, : betting.nodes[node, 1]]
    folds = int(FOLD in kinds)
    found = ["fold"] * folds + ["call"]
    return found + ["raise"] * (len(kinds) - len(found))
