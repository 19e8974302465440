"""Monte Carlo CFR on several threads: each has tables of its own, whose regrets are averaged from time to time."""

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import NO_COUNTS, kernel
from treeplex.engine.sampling.sampled_tables import POLICY, REGRET, Layout, Tables, catch_up
from treeplex.engine.sampling.schemes import SchemeCodes


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
