"""Last-iterate methods: magnetic mirror descent, and CFR+ on transformed payoffs."""

import math

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Payoff, Tree
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import reach


@kernel()
def iterate_mirror(
    tree: Tree, payoff: Payoff, steps: Floats, alternating: bool, state: Floats, values: Floats, scratch: Floats
) -> None:
    """Run magnetic mirror descent with dilated entropy, one iteration per row of ``steps``.

    Args:
        tree, payoff: the game.
        steps: [K, 2], step size eta and temperature alpha of each iteration.
        alternating: the order of updates.
        state: [3, Q], logarithms of the policy and of the magnet (the logarithm of 0 is kept above ``log 1e-300``), and the
            policy's sequence form; updated in place.
        values: [Q], scratch.
        scratch: [1, Q], scratch for the policy.
    """
    players, logs, magnet, strategy = tree.sequence_offsets.shape[0] - 1, state[0], state[1], state[2]
    policy = scratch[0]
    for k in range(steps.shape[0]):
        eta, alpha = steps[k, 0], steps[k, 1]
        if not alternating:
            for player in range(players):
                gradient(tree, payoff, player, strategy, values)
        for player in range(players):
            if alternating:
                gradient(tree, payoff, player, strategy, values)
            mirror_step(tree, player, eta, alpha, logs, magnet, values, policy)
            if alternating:
                reach(tree, player, policy, strategy)
        if not alternating:
            for player in range(players):
                reach(tree, player, policy, strategy)


@kernel()
def mirror_step(
    tree: Tree, player: int, eta: float, alpha: float, logs: Floats, magnet: Floats, values: Floats, policy: Floats
) -> None:
    """Compute ``argmax eta <g, x> - eta alpha D(x; magnet) - D(x; x_t)`` bottom-up; D is the dilated relative entropy.

    At an infoset ``pi ~ (pi_t magnet^(eta alpha) exp(eta v))^(1 / (1 + eta alpha))`` with v the action values. The value passed
    to the parent sequence is ``(1 + eta alpha) / eta`` times the logarithm of the sum of the right-hand side.
    """
    keep = 1.0 / (1.0 + eta * alpha)
    for b in range(tree.block_offsets[player + 1] - 1, tree.block_offsets[player] - 1, -1):
        q0, i0, n, actions = tree.blocks[b, 0], tree.blocks[b, 1], tree.blocks[b, 2], tree.blocks[b, 3]
        for j in range(n):
            largest = -math.inf
            for a in range(actions):
                q = q0 + a * n + j
                logs[q] = keep * (logs[q] + eta * (alpha * magnet[q] + values[q]))
                largest = max(largest, logs[q])
            total = 0.0
            for a in range(actions):
                total += math.exp(logs[q0 + a * n + j] - largest)
            log_sum = largest + math.log(total)
            for a in range(actions):
                q = q0 + a * n + j
                logs[q] = max(logs[q] - log_sum, LOWEST_LOG)
                policy[q] = math.exp(logs[q])
            values[tree.infoset_parent[i0 + j]] += log_sum / (eta * keep)


LOWEST_LOG = math.log(1e-300)


@kernel()
def iterate_transformed(tree: Tree, payoff: Payoff, steps: Floats, state: Floats, values: Floats) -> None:
    """Run alternating CFR+ on perturbed and regularised payoffs, one iteration per row of ``steps``.

    The gradient of a player is ``g - mu (x - reference)``; values are taken along the perturbed policy
    ``(1 - gamma |A|) pi + gamma``, regrets against the policy ``pi`` itself (Meng et al. 2025, equation 3).

    Args:
        tree, payoff: the game.
        steps: [K, 3], regularisation mu, perturbation gamma, and 1 where the reference becomes the current strategy first.
        state: [4, Q], regrets, perturbed policy, its sequence form, the reference's sequence form; updated in place.
        values: [Q], scratch.
    """
    players, regrets, policy, strategy, reference = tree.sequence_offsets.shape[0] - 1, state[0], state[1], state[2], state[3]
    for k in range(steps.shape[0]):
        mu, gamma = steps[k, 0], steps[k, 1]
        if steps[k, 2] > 0.0:
            for q in range(len(strategy)):
                reference[q] = strategy[q]
        for player in range(players):
            gradient(tree, payoff, player, strategy, values)
            for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
                values[q] -= mu * (strategy[q] - reference[q])
            transformed_step(tree, player, gamma, regrets, policy, values)
            reach(tree, player, policy, strategy)


@kernel()
def transformed_step(tree: Tree, player: int, gamma: float, regrets: Floats, policy: Floats, values: Floats) -> None:
    """Sweep bottom-up: back up values of the perturbed policy, add regrets of the unperturbed one, set the next perturbed
    policy.
    """
    for b in range(tree.block_offsets[player + 1] - 1, tree.block_offsets[player] - 1, -1):
        q0, i0, n, actions = tree.blocks[b, 0], tree.blocks[b, 1], tree.blocks[b, 2], tree.blocks[b, 3]
        for j in range(n):
            worth = total = unperturbed = 0.0
            for a in range(actions):
                q = q0 + a * n + j
                worth += policy[q] * values[q]
                total += regrets[q]
            for a in range(actions):
                q = q0 + a * n + j
                unperturbed += (regrets[q] / total if total > 0.0 else 1.0 / actions) * values[q]
            values[tree.infoset_parent[i0 + j]] += worth
            total = 0.0
            for a in range(actions):
                q = q0 + a * n + j
                regrets[q] = max(regrets[q] + values[q] - unperturbed, 0.0)
                total += regrets[q]
            for a in range(actions):
                q = q0 + a * n + j
                share = regrets[q] / total if total > 0.0 else 1.0 / actions
                policy[q] = (1.0 - gamma * actions) * share + gamma
