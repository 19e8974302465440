"""Exact variance of the updates of Monte Carlo CFR traversals, by two sweeps over all histories.

At a history h whose actions are followed with probabilities rho (two of them together with probability ``P_ab``), the sampled
value of action a is ``b_a + [a followed] (u(ha) - b_a) / rho_a``. With ``d_a`` the expectation of ``u(ha) - b_a``, the
covariances of these values are

    C_aa = (Var u(ha) + d_a^2) / rho_a - d_a^2        C_ab = (P_ab / (rho_a rho_b) - 1) d_a d_b

because samples below different actions are independent. So ``Var u(h) = p' C p``, and variances are computed bottom up.
"""

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.sampled_tables import AVERAGE, POLICY, Layout, Tables
from treeplex.engine.sampling.schemes import ALL, EACH, LEARNED, ONE, ORACLE, SchemeCodes
from treeplex.engine.sampling.walks import exact_values

VALUE, REGRET, WITHIN, VISITS, FIELDS = 0, 1, 2, 3, 4
"""Columns of :func:`walk_variances`."""


@kernel()
def walk_variances(histories: Histories, layout: Layout, rules: SchemeCodes, tables: Tables, player: int) -> Floats:
    """Variances of one traversal by ``player`` with the current tables, float64 [S, 4], zero in others' rows.

    Columns: ``VALUE``, the variance of an action's sampled counterfactual value ``W(h) u(h, a)``, which is 0 in traversals that
    do not reach the infoset; ``REGRET``, that of its regret ``W(h) (u(h, a) - u(h))``; ``WITHIN``, the part of ``VALUE`` from
    samples after reaching a history of the infoset (measured by Schmid et al. 2019, Figure 5); ``VISITS``, the probability of
    reaching the infoset.

    A traversal must reach an infoset at most once, which holds if one action of chance and of the others is followed, so not
    with ``others`` ``ALL``.
    """
    nodes = histories.nodes
    count, widest = nodes.shape[0], max(1, nodes[:, CHILDREN].max())
    found = np.zeros((tables.rows.shape[0], FIELDS))
    means, variances = np.empty(count), np.zeros(count)
    chance, follow, differences = np.empty(widest), np.empty(widest), np.empty(widest)
    exact_values(histories, player, tables.rows, means)
    for node in range(count - 1, -1, -1):
        if nodes[node, ACTOR] != TERMINAL:
            pair = node_numbers(histories, layout, rules, tables, player, node, means, chance, follow, differences)
            child, children = nodes[node, CHILD], nodes[node, CHILDREN]
            variances[node] = combined(children, child, chance, -1, follow, differences, variances, pair)
    comes, weight, second = np.zeros(count), np.zeros(count), np.zeros((tables.rows.shape[0], 4))
    comes[0] = weight[0] = 1.0
    for node in range(count):
        actor, child, children, key = nodes[node, ACTOR], nodes[node, CHILD], nodes[node, CHILDREN], nodes[node, KEY]
        if actor == TERMINAL or comes[node] == 0.0:
            continue
        pair = node_numbers(histories, layout, rules, tables, player, node, means, chance, follow, differences)
        for a in range(children):
            importance = 1.0 if actor == player else chance[a]
            comes[child + a] = comes[node] * follow[a] if importance > 0.0 else 0.0
            weight[child + a] = weight[node] * importance / follow[a] if follow[a] > 0.0 else 0.0
            if actor != player:
                continue
            difference = differences[a]
            within = (variances[child + a] + difference * difference) / follow[a] - difference * difference
            regret = combined(children, child, chance, a, follow, differences, variances, pair)
            mean, gap, square = means[child + a], means[child + a] - means[node], weight[node] * weight[node]
            found[key + a, WITHIN] += comes[node] * square * within
            found[key + a, VISITS] += comes[node]
            second[key + a, 0] += comes[node] * square * (within + mean * mean)
            second[key + a, 1] += comes[node] * weight[node] * mean
            second[key + a, 2] += comes[node] * square * (regret + gap * gap)
            second[key + a, 3] += comes[node] * weight[node] * gap
    found[:, VALUE] = second[:, 0] - second[:, 1] ** 2
    found[:, REGRET] = second[:, 2] - second[:, 3] ** 2
    return found


@kernel()
def node_numbers(
    histories: Histories,
    layout: Layout,
    rules: SchemeCodes,
    tables: Tables,
    player: int,
    node: int,
    means: Floats,
    chance: Floats,
    follow: Floats,
    differences: Floats,
) -> float:
    """Write for each action of a history its probability, its sampling probability, and its mean minus its baseline.

    Returns:
        ``P_ab / (rho_a rho_b)`` for two different actions.
    """
    nodes, rows = histories.nodes, tables.rows
    actor, child, children, key = nodes[node, ACTOR], nodes[node, CHILD], nodes[node, CHILDREN], nodes[node, KEY]
    rule = ONE if actor == CHANCE else rules.own if actor == player else rules.others
    total, pair, wanted = 0.0, 1.0, min(rules.size, children)
    for a in range(children):
        chance[a] = histories.chance[key + a] if actor == CHANCE else rows[key + a, POLICY]
        total += rows[key + a, AVERAGE] if actor >= 0 else 0.0
    if rule == ONE:
        pair = 0.0
    elif rule != ALL and rule != EACH and children > 1:
        pair = children * (wanted - 1) / (wanted * (children - 1))
    for a in range(children):
        if rule == ALL:
            follow[a] = 1.0
        elif rule == ONE:
            follow[a] = chance[a]
            if actor == player:
                follow[a] = rules.exploration / children + (1.0 - rules.exploration) * chance[a]
        elif rule == EACH:
            share = (rules.bonus + rules.scale * rows[key + a, AVERAGE]) / (rules.bonus + total)
            follow[a] = min(1.0, max(rules.least, share))
        else:
            follow[a] = wanted / children
        edge = layout.edges[child + a] if rules.baseline == LEARNED else -1
        baseline = tables.baselines[player, edge] if edge >= 0 else 0.0
        differences[a] = 0.0 if rules.baseline == ORACLE else means[child + a] - baseline
    return pair


@kernel()
def combined(
    children: int,
    child: int,
    chance: Floats,
    action: int,
    follow: Floats,
    differences: Floats,
    variances: Floats,
    pair: float,
) -> float:
    """The variance of a history's value (``action`` -1), or of an action's value minus it."""
    total = linear = own = 0.0
    for a in range(children):
        factor = (1.0 if a == action else 0.0) - chance[a]
        if factor == 0.0:
            continue
        square = differences[a] * differences[a]
        total += factor * factor * (variances[child + a] + square) / follow[a]
        own += factor * factor * square
        linear += factor * differences[a]
    return total - own + (pair - 1.0) * (linear * linear - own)
