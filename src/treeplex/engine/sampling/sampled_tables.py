"""The tables of Monte Carlo CFR (regrets, policies, averages) and their updates at each visit."""

import math
from typing import NamedTuple

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.kernel import INLINED, NO_COUNTS, kernel
from treeplex.engine.sampling.schemes import (
    AVERAGE_WEIGHT,
    LAZY,
    NAIVE,
    NEGATIVE_LOG,
    OPTIMISTIC,
    POSITIVE_LOG,
    STOCHASTIC,
    SchemeCodes,
    Traversal,
)

REGRET, POLICY, AVERAGE, MARK = 0, 1, 2, 3
"""Columns of :attr:`Tables.rows`; ``MARK`` is used only at an infoset's first action."""


class Tables(NamedTuple):
    """State of a run, one row per action ("slot"); an infoset's slots are contiguous, infosets in top-down order.

    Attributes:
        rows: float64 [S, 4], regret, current policy, average, mark.
        logs: float64 [S, 2], at an infoset's first slot the cumulative log discounts of positive and negative regrets at its
            last visit; [0, 2] without discounts.
        totals: float64 [N], sum of iteration weights in each player's average.
        baselines: float64 [N, B], estimated values of histories for each traverser.
        quantiles: float64 [N, C], for each traverser and chance node (at its first outcome) the last quantile used; [N, 0] if
            outcomes are drawn at random.
    """

    rows: Floats
    logs: Floats
    totals: Floats
    baselines: Floats
    quantiles: Floats


class Layout(NamedTuple):
    """Table layout of a game.

    Attributes:
        infosets: int64 [I, 3], first slot, number of actions, slot of the player's previous action (-1 for none).
        offsets: int64 [N+1], slice of infosets of each player.
        edges: int32 [H], column of ``baselines`` of each history; -1 for none.
    """

    infosets: Ints
    offsets: Ints
    edges: SmallInts


@kernel(**INLINED)
def catch_up(
    rules: SchemeCodes,
    tables: Tables,
    player: int,
    key: int,
    actions: int,
    before: int,
    own_reach: float,
    sample_reach: float,
    weights: Floats,
) -> None:
    """Apply pending updates of the average and pending discounts at a visited infoset, before its regrets change."""
    rows, total = tables.rows, tables.totals[player]
    share = 0.0
    if rules.averaging == LAZY:
        parent = rows[before, AVERAGE] if before >= 0 else total
        share = max(parent - rows[key, MARK], 0.0)
        rows[key, MARK] = parent
    elif rules.averaging == OPTIMISTIC:
        share = max(total - rows[key, MARK], 0.0) * own_reach
        rows[key, MARK] = total
    elif rules.averaging == STOCHASTIC:
        share = weights[AVERAGE_WEIGHT] * own_reach / sample_reach
    elif rules.averaging == NAIVE:
        share = weights[AVERAGE_WEIGHT] * own_reach
    if share > 0.0:
        for a in range(actions):
            rows[key + a, AVERAGE] += share * rows[key + a, POLICY]
    if rules.discounts:
        positive = math.exp(min(weights[POSITIVE_LOG] - tables.logs[key, 0], 0.0))
        negative = math.exp(min(weights[NEGATIVE_LOG] - tables.logs[key, 1], 0.0))
        tables.logs[key, 0], tables.logs[key, 1] = weights[POSITIVE_LOG], weights[NEGATIVE_LOG]
        for a in range(actions):
            rows[key + a, REGRET] *= positive if rows[key + a, REGRET] > 0.0 else negative


@kernel(**INLINED)
def add_regrets(
    rows: Floats, key: int, actions: int, traversal: Traversal, scale: float, sampled: Floats, chosen: Floats, value: float
) -> None:
    """Add ``scale`` times the advantage over the infoset's ``value`` to the regrets of followed actions."""
    for a in range(actions):
        if traversal.skipped == -math.inf or chosen[a] > 0.0:
            rows[key + a, REGRET] = max(rows[key + a, REGRET] + scale * (sampled[a] - value), traversal.lowest)


@kernel(**NO_COUNTS)
def match_regrets(floor: bool, rows: Floats, touched: Ints, count: int) -> None:
    """Set the next policy of the infosets visited by a walk: proportional to positive regrets, else uniform."""
    for n in range(count):
        key, actions = touched[n, 0], touched[n, 1]
        total = 0.0
        for a in range(actions):
            if floor and rows[key + a, REGRET] < 0.0:
                rows[key + a, REGRET] = 0.0
            total += max(rows[key + a, REGRET], 0.0)
        for a in range(actions):
            rows[key + a, POLICY] = max(rows[key + a, REGRET], 0.0) / total if total > 0.0 else 1.0 / actions


@kernel(**NO_COUNTS)
def add_whole_policy(layout: Layout, player: int, weight: float, rows: Floats, reach: Floats) -> None:
    """Add the player's policy at all infosets, weighted by own reach, to the average: exact, but a full sweep."""
    for infoset in range(layout.offsets[player], layout.offsets[player + 1]):
        key, actions, before = layout.infosets[infoset, 0], layout.infosets[infoset, 1], layout.infosets[infoset, 2]
        arrived = reach[before] if before >= 0 else 1.0
        for a in range(actions):
            reach[key + a] = arrived * rows[key + a, POLICY]
            rows[key + a, AVERAGE] += weight * reach[key + a]


@kernel(**NO_COUNTS)
def settle(layout: Layout, totals: Floats, policy: Floats, mark: Floats, average: Floats) -> None:
    """Bring a lazily updated average up to date, from the root down.

    Args:
        layout: the infosets, parents before children.
        totals: [N], as in :class:`Tables`.
        policy, mark: [S], columns of the rows.
        average: [S], in: the column of the rows; out: the exact sum over iterations of weight times own reach times policy.
    """
    for player in range(layout.offsets.shape[0] - 1):
        for infoset in range(layout.offsets[player], layout.offsets[player + 1]):
            key, actions, before = layout.infosets[infoset, 0], layout.infosets[infoset, 1], layout.infosets[infoset, 2]
            owed = (average[before] if before >= 0 else totals[player]) - mark[key]
            if owed > 0.0:
                for a in range(actions):
                    average[key + a] += owed * policy[key + a]


@kernel(**NO_COUNTS)
def settle_tables(layout: Layout, rules: SchemeCodes, tables: Tables, weights: Floats) -> None:
    """Apply pending discounts, and with lazy averaging pending updates of the average, at all infosets, parents first.

    Args:
        layout: the infosets.
        rules: the scheme; its averaging is ``LAZY`` or one that visits of the traverser do not update.
        tables: the tables of a thread, updated in place.
        weights: [4], the weights of the last iteration.
    """
    for player in range(layout.offsets.shape[0] - 1):
        for infoset in range(layout.offsets[player], layout.offsets[player + 1]):
            key, actions, before = layout.infosets[infoset, 0], layout.infosets[infoset, 1], layout.infosets[infoset, 2]
            catch_up(rules, tables, player, key, actions, before, 1.0, 1.0, weights)


@kernel(**NO_COUNTS)
def average_regrets(infosets: Ints, rows: Floats) -> None:
    """Replace the regrets of every thread by their mean over threads, and its policy by the one that matches them.

    Args:
        infosets: [I, 3], see :class:`treeplex.engine.sampling.sampled_tables.Layout`.
        rows: [T, S, 4], the rows of each thread, settled.
    """
    threads = rows.shape[0]
    for infoset in range(infosets.shape[0]):
        key, actions = infosets[infoset, 0], infosets[infoset, 1]
        total = 0.0
        for slot in range(key, key + actions):
            mean = 0.0
            for thread in range(threads):
                mean += rows[thread, slot, REGRET]
            mean /= threads
            for thread in range(threads):
                rows[thread, slot, REGRET] = mean
            total += max(mean, 0.0)
        for slot in range(key, key + actions):
            probability = max(rows[0, slot, REGRET], 0.0) / total if total > 0.0 else 1.0 / actions
            for thread in range(threads):
                rows[thread, slot, POLICY] = probability
