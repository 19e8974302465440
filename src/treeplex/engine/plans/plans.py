"""Kernels over reduced plans: pure strategies that are undefined at infosets excluded by their own actions."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit
from treeplex.engine.tree.form import Payoff, Tree
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import normalise

ROUNDING = 2.0**-52
"""Probabilities that :func:`decompose` treats as zero."""


@kernel()
def follow(tree: Tree, player: int, plan: SmallInts, strategy: Floats) -> None:
    """Write the sequence form of a plan: 1 on the sequences it plays, 0 on all others of ``player``.

    Args:
        tree: the treeplexes.
        player: owner of the plan and of the slice of ``strategy`` that is written.
        plan: [I_i], action index at each infoset of the player, -1 at excluded infosets.
        strategy: [Q], output.
    """
    strategy[tree.sequence_offsets[player] : tree.sequence_offsets[player + 1]] = 0.0
    strategy[tree.sequence_offsets[player]] = 1.0
    first = tree.infoset_offsets[player]
    for local in range(plan.shape[0]):
        action = plan[local]
        if action >= 0:
            layout = tree.infoset_layout[first + local]
            strategy[layout[0] + action * layout[1]] = 1.0


@kernel()
def misfit(tree: Tree, player: int, plan: SmallInts, strategy: Floats) -> int:
    """Return the player's first infoset at which ``plan`` is not a reduced plan; -1 if it is one.

    A reduced plan has an action exactly at the infosets that its own actions lead to. ``strategy`` [Q] is scratch and holds the
    plan's sequence form if the plan is valid.
    """
    first = tree.infoset_offsets[player]
    strategy[tree.sequence_offsets[player] : tree.sequence_offsets[player + 1]] = 0.0
    strategy[tree.sequence_offsets[player]] = 1.0
    for local in range(plan.shape[0]):
        layout = tree.infoset_layout[first + local]
        action = plan[local]
        reached = strategy[tree.infoset_parent[first + local]] > 0.0
        if action < -1 or action >= layout[2] or reached != (action >= 0):
            return local
        if reached:
            strategy[layout[0] + action * layout[1]] = 1.0
    return -1


@kernel()
def first_misfit(tree: Tree, player: int, plans: SmallInts) -> tuple[int, int]:
    """Return the first row of ``plans`` [P, I_i] that is not a reduced plan, and the infoset; (-1, -1) if all are."""
    strategy = np.zeros(tree.sequence_offsets[-1])
    for number in range(plans.shape[0]):
        bad = misfit(tree, player, plans[number], strategy)
        if bad >= 0:
            return number, bad
    return -1, -1


@kernel()
def joint_gradients(
    tree: Tree,
    payoff: Payoff,
    plans: SmallInts,
    plan_offsets: Ints,
    support: Ints,
    weights: Floats,
    gradients: Floats,
    values: Floats,
) -> None:
    """Compute the expected payoffs of a distribution over joint plans, and the gradients against the other players' plans.

    Args:
        tree, payoff: the game.
        plans: flat, all plans of player 0, then those of player 1, and so on.
        plan_offsets: [N], start of each player's plans.
        support: [S, N], plan index of each player.
        weights: [S].
        gradients: [Q], output: weighted sum over the support of each player's gradient against the others' plans.
        values: [N], output: expected payoffs.
    """
    players = tree.sequence_offsets.shape[0] - 1
    strategy, plan_gradient = np.zeros(gradients.shape[0]), np.zeros(gradients.shape[0])
    gradients[:] = 0.0
    values[:] = 0.0
    for s in range(support.shape[0]):
        for player in range(players):
            infosets = tree.infoset_offsets[player + 1] - tree.infoset_offsets[player]
            start = plan_offsets[player] + support[s, player] * infosets
            follow(tree, player, plans[start : start + infosets], strategy)
        for player in range(players):
            gradient(tree, payoff, player, strategy, plan_gradient)
            for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
                gradients[q] += weights[s] * plan_gradient[q]
                values[player] += weights[s] * plan_gradient[q] * strategy[q]


@kernel()
def draw_plan(tree: Tree, player: int, policy: Floats, state: np.uint64, strategy: Floats) -> np.uint64:
    """Sample a reduced plan from a behaviour policy and write its sequence form; return the next stream state.

    One number is drawn at each infoset that the plan leads to, in compiled order. It selects the first action whose cumulative
    probability exceeds it, or else the last action with positive probability.
    """
    strategy[tree.sequence_offsets[player] : tree.sequence_offsets[player + 1]] = 0.0
    strategy[tree.sequence_offsets[player]] = 1.0
    for infoset in range(tree.infoset_offsets[player], tree.infoset_offsets[player + 1]):
        if strategy[tree.infoset_parent[infoset]] > 0.0:
            first, stride, actions = tree.infoset_layout[infoset]
            state = advanced(state)
            drawn, total, chosen = unit(state), 0.0, 0
            for a in range(actions):
                probability = policy[first + a * stride]
                if probability > 0.0:
                    total += probability
                    chosen = a
                    if drawn < total:
                        break
            strategy[first + chosen * stride] = 1.0
    return state


@kernel()
def read_plan(tree: Tree, player: int, strategy: Floats, plan: SmallInts) -> None:
    """Inverse of :func:`follow`: write the plan [I_i] with sequence form ``strategy`` [Q] (zeros and ones)."""
    plan[:] = -1
    for q in range(tree.sequence_offsets[player] + 1, tree.sequence_offsets[player + 1]):
        if strategy[q] > 0.5:
            infoset = tree.sequence_infoset[q]
            layout = tree.infoset_layout[infoset]
            plan[infoset - tree.infoset_offsets[player]] = (q - layout[0]) // layout[1]


@kernel()
def decompose(tree: Tree, player: int, strategy: Floats, plans: SmallInts, weights: Floats) -> int:
    """Decompose a sequence-form strategy into a mixture of plans; return the number of plans.

    Each step takes the plan that maximises the minimum remaining weight over its last sequences, and subtracts that weight from
    them. The remainder is a scaled sequence-form strategy, so a plan of positive weight exists until only rounding (2^-52) is
    left. Each step sets at least one last sequence to zero, so there are at most as many plans as last sequences (those with no
    infoset below). Celli et al. (2019), algorithm 2.

    Args:
        tree: the treeplexes.
        player: owner of the strategy.
        strategy: [Q], sequence form, not modified.
        plans: [L, I_i], output; L is the number of last sequences.
        weights: [L], output; they sum to 1 up to rounding.
    """
    q0, q1 = tree.sequence_offsets[player], tree.sequence_offsets[player + 1]
    i0, i1 = tree.infoset_offsets[player], tree.infoset_offsets[player + 1]
    left, least = strategy[q0:q1].copy(), np.empty(q1 - q0)
    choice, last = np.empty(i1 - i0, np.int32), np.ones(q1 - q0, np.bool_)
    for infoset in range(i0, i1):
        last[tree.infoset_parent[infoset] - q0] = False
    count = 0
    while count < weights.shape[0]:
        for q in range(q1 - q0):
            least[q] = left[q] if last[q] else np.inf
        for infoset in range(i1 - 1, i0 - 1, -1):
            first, stride, actions = tree.infoset_layout[infoset]
            best = -1.0
            for a in range(actions):
                remaining = least[first - q0 + a * stride]
                if remaining > best:
                    best = remaining
                    choice[infoset - i0] = a
            parent = tree.infoset_parent[infoset] - q0
            least[parent] = min(least[parent], best)
        weight = least[0]
        if weight <= ROUNDING:
            break
        weights[count] = weight
        take(tree, player, choice, weight, last, left, plans[count])
        count += 1
    return count


@kernel()
def take(
    tree: Tree, player: int, choice: SmallInts, weight: float, last: NDArray[np.bool_], left: Floats, plan: SmallInts
) -> None:
    """Write the reduced plan that follows these choices [I_i], and subtract its weight from its last sequences."""
    q0, i0 = tree.sequence_offsets[player], tree.infoset_offsets[player]
    played = np.zeros(left.shape[0], np.bool_)
    played[0] = True
    for local in range(choice.shape[0]):
        plan[local] = -1
        if played[tree.infoset_parent[i0 + local] - q0]:
            plan[local] = choice[local]
            layout = tree.infoset_layout[i0 + local]
            played[layout[0] - q0 + choice[local] * layout[1]] = True
    for q in range(left.shape[0]):
        if played[q] and last[q]:
            left[q] -= weight


@kernel()
def product_statistics(tree: Tree, payoff: Payoff, strategies: Floats, gradients: Floats, values: Floats) -> None:
    """Compute the payoffs and gradients of strategy profiles, one profile per row.

    Args:
        tree, payoff: the game.
        strategies: [K, Q], sequence-form strategies of all players.
        gradients: [K, Q], output: gradient of each player against the others.
        values: [K, N], output: expected payoffs.
    """
    for k in range(strategies.shape[0]):
        for player in range(values.shape[1]):
            gradient(tree, payoff, player, strategies[k], gradients[k])
            total = 0.0
            for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
                total += strategies[k, q] * gradients[k, q]
            values[k, player] = total


@kernel()
def decompose_all(tree: Tree, player: int, strategies: Floats, plans: SmallInts, weights: Floats, counts: Ints) -> None:
    """Apply :func:`decompose` to each row of ``strategies`` [K, Q].

    Args:
        tree: the treeplexes.
        player: owner of the strategies.
        strategies: [K, Q], sequence-form strategies.
        plans, weights, counts: [K, L, I_i], [K, L] and [K], output; weights are normalised to sum to 1.
    """
    for k in range(strategies.shape[0]):
        counts[k] = decompose(tree, player, strategies[k], plans[k], weights[k])
        total = weights[k, : counts[k]].sum()
        for p in range(counts[k]):
            weights[k, p] /= total


@kernel()
def cross(counts: Ints, numbers: Ints, parts: Floats, shares: Floats, support: Ints, weights: Floats) -> None:
    """Expand a product of the players' mixtures of plans into joint plans.

    Args:
        counts: [N, K], number of plans of each player in each product.
        numbers, parts: [N, K, L], indices and weights of the plans.
        shares: [K], weight of each product.
        support, weights: [S, N] and [S], output; S is the sum over products of the numbers of combinations.
    """
    players = counts.shape[0]
    indices, s = np.zeros(players, np.int64), 0
    for k in range(counts.shape[1]):
        indices[:] = 0
        while indices[0] < counts[0, k]:
            weights[s] = shares[k]
            for player in range(players):
                support[s, player] = numbers[player, k, indices[player]]
                weights[s] *= parts[player, k, indices[player]]
            s += 1
            player = players - 1
            indices[player] += 1
            while player > 0 and indices[player] == counts[player, k]:
                indices[player] = 0
                player -= 1
                indices[player] += 1


@kernel()
def draw_plans(tree: Tree, player: int, strategies: Floats, seed: int, first: int, plans: SmallInts) -> None:
    """Sample one plan per row of ``strategies`` [K, Q] into ``plans`` [K, I_i]; row k uses the stream ``first + k``."""
    policy, drawn = np.empty(strategies.shape[1]), np.empty(strategies.shape[1])
    for k in range(strategies.shape[0]):
        normalise(tree, player, strategies[k], policy)
        draw_plan(tree, player, policy, start(np.uint64(seed), np.uint64(first + k), np.uint64(player)), drawn)
        read_plan(tree, player, drawn, plans[k])
