"""Reach (top-down) and backup (bottom-up) over one player's treeplex, and evaluation built from them."""

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Payoff, Tree
from treeplex.engine.tree.gradient import gradient


@kernel(ahead="treeplex.evaluate.ahead:update_and_judge")
def reach(tree: Tree, player: int, policy: Floats, strategy: Floats) -> None:
    """Write the sequence-form strategy of ``player``: own reach times the probability of the last action.

    Args:
        tree: the treeplexes.
        player: owner of the slice that is written.
        policy: [Q], behaviour probabilities.
        strategy: [Q], output; the empty sequence gets 1.
    """
    strategy[tree.sequence_offsets[player]] = 1.0
    for b in range(tree.block_offsets[player], tree.block_offsets[player + 1]):
        q0, i0, n, actions = tree.blocks[b, 0], tree.blocks[b, 1], tree.blocks[b, 2], tree.blocks[b, 3]
        parents = tree.infoset_parent[i0 : i0 + n]
        last = q0 + (actions - 1) * n
        own_reach, last_policy = strategy[last : last + n], policy[last : last + n]
        for j in range(n):
            own_reach[j] = strategy[parents[j]]
        for a in range(actions - 1):
            below, probabilities = strategy[q0 + a * n : q0 + a * n + n], policy[q0 + a * n : q0 + a * n + n]
            for j in range(n):
                below[j] = own_reach[j] * probabilities[j]
        for j in range(n):
            own_reach[j] *= last_policy[j]


@kernel()
def backup(tree: Tree, player: int, policy: Floats, values: Floats, infoset_values: Floats) -> float:
    """Convert the gradient of ``player`` to action values, bottom-up; return the value at the root.

    Args:
        tree: the treeplexes.
        player: owner of the slice that is swept.
        policy: [Q], behaviour probabilities that weight infoset values.
        values: [Q], in: the gradient; out: counterfactual values of sequences.
        infoset_values: [I], output: counterfactual values of infosets.
    """
    for b in range(tree.block_offsets[player + 1] - 1, tree.block_offsets[player] - 1, -1):
        q0, i0, n, actions = tree.blocks[b, 0], tree.blocks[b, 1], tree.blocks[b, 2], tree.blocks[b, 3]
        block_values = infoset_values[i0 : i0 + n]
        block_values[:] = 0.0
        for a in range(actions):
            action_values = values[q0 + a * n : q0 + (a + 1) * n]
            probabilities = policy[q0 + a * n : q0 + (a + 1) * n]
            for j in range(n):
                block_values[j] += probabilities[j] * action_values[j]
        for j in range(n):
            values[tree.infoset_parent[i0 + j]] += block_values[j]
    return float(values[tree.sequence_offsets[player]])


@kernel()
def best_value(tree: Tree, player: int, values: Floats, infoset_values: Floats) -> float:
    """Return the best-response value of ``player`` against a gradient: :func:`backup` with max instead of the average."""
    for b in range(tree.block_offsets[player + 1] - 1, tree.block_offsets[player] - 1, -1):
        q0, i0, n, actions = tree.blocks[b, 0], tree.blocks[b, 1], tree.blocks[b, 2], tree.blocks[b, 3]
        block_values = infoset_values[i0 : i0 + n]
        for j in range(n):
            block_values[j] = values[q0 + j]
        for a in range(1, actions):
            action_values = values[q0 + a * n : q0 + (a + 1) * n]
            for j in range(n):
                block_values[j] = max(block_values[j], action_values[j])
        for j in range(n):
            values[tree.infoset_parent[i0 + j]] += block_values[j]
    return float(values[tree.sequence_offsets[player]])


@kernel()
def best_response(tree: Tree, player: int, values: Floats, infoset_values: Floats, policy: Floats) -> float:
    """Return :func:`best_value` and write the pure policy that attains it; ties go to the first action."""
    value = best_value(tree, player, values, infoset_values)
    for b in range(tree.block_offsets[player], tree.block_offsets[player + 1]):
        q0, i0, n, actions = tree.blocks[b, 0], tree.blocks[b, 1], tree.blocks[b, 2], tree.blocks[b, 3]
        for j in range(n):
            open_choice = True
            for a in range(actions):
                chosen = open_choice and values[q0 + a * n + j] == infoset_values[i0 + j]
                policy[q0 + a * n + j] = 1.0 if chosen else 0.0
                open_choice = open_choice and not chosen
    return value


@kernel()
def normalise(tree: Tree, player: int, weights: Floats, policy: Floats) -> None:
    """Write ``policy`` [Q] proportional to ``weights`` [Q] >= 0 at each infoset of ``player``; uniform if they sum to 0."""
    policy[tree.sequence_offsets[player]] = 1.0
    for b in range(tree.block_offsets[player], tree.block_offsets[player + 1]):
        q0, n, actions = tree.blocks[b, 0], tree.blocks[b, 2], tree.blocks[b, 3]
        for j in range(n):
            total = 0.0
            for a in range(actions):
                total += weights[q0 + a * n + j]
            for a in range(actions):
                q = q0 + a * n + j
                policy[q] = weights[q] / total if total > 0.0 else 1.0 / actions


@kernel()
def value_and_best_response(
    tree: Tree, payoff: Payoff, policy: Floats, strategy: Floats, values: Floats, infoset_values: Floats, results: Floats
) -> None:
    """Write expected values to ``results[0]`` and best-response values to ``results[1]``; other arrays are scratch."""
    players = results.shape[1]
    for player in range(players):
        reach(tree, player, policy, strategy)
    for player in range(players):
        gradient(tree, payoff, player, strategy, values)
        expected = 0.0
        for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
            expected += values[q] * strategy[q]
        results[0, player] = expected
        results[1, player] = best_value(tree, player, values, infoset_values)
