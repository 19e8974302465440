"""Learned discounting: a network observes the run and chooses the next discounts (Xu et al. 2024, DDCFR, section 3).

Decisions, iterations and evaluation all run in compiled code. A training episode of 1000 iterations with an exploitability at
each takes milliseconds.
"""

import math
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel
from treeplex.engine.networks.mlp_single import forward
from treeplex.engine.tree.discount import average_discount, discount
from treeplex.engine.tree.form import Payoff, Tree, TreeState, Workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.regret import (
    AVERAGE,
    AVERAGE_DISCOUNT,
    FLOOR,
    NEGATIVE,
    POSITIVE,
    PREDICTED_NEGATIVE,
    PREDICTED_POSITIVE,
    PREDICTION,
    REGRET,
    Weights,
    iterate,
)
from treeplex.engine.tree.sweeps import best_value, reach

FEATURES = ("iteration", "exploitability", "regret", "movement")
"""Input features by code. With k iterations done of T:

iteration: ``k / T``. exploitability: ``(log10 e_k + 12) / (log10 e_0 + 12)`` of the average policy, e floored at 1e-12.
regret: ``log10(|R_k| / |R_j|) / log10 T`` with the Euclidean norm of positive regrets, j the first decision after an iteration;
0 until then.
movement: ``(log10 m + 12) / 12`` with m the mean change of a probability since the last decision; 1 for k = 0.
"""

EXPONENTS = ("alpha", "beta", "gamma", "prediction")
"""Outputs by code: the exponents of DCFR, and the prediction strength."""

LOWEST = 1e-12
"""Smallest exploitability (and change) that is distinguished from zero."""

INITIAL, NORM, LEFT, SET, LATEST, OUTSIDE = 0, 1, 2, 3, 7, 8
"""Indices into ``memory``: exploitability of the uniform policy, first observed norm of regrets, iterations for which the
exponents still hold, the four exponents, exploitability at the last decision, iterations outside theorem 1's ranges."""
MEMORY = 9

TIME, SEEN, CHOSEN, HELD, HEAD = 0, 1, 2, 6, 7
"""Columns of a trace: t, exploitability before it, the four exponents, the iterations held; then features and outputs."""

COLUMNS = len(Weights._fields)


class DiscountNetwork(NamedTuple):
    """A learned discount policy in a form that Numba can use.

    Attributes:
        sizes, parameters: the network, see :func:`treeplex.engine.networks.mlp_single.forward`.
        features: [F], codes of :data:`FEATURES`, the network's inputs.
        exponents: [A], codes of :data:`EXPONENTS` set by the outputs, in order.
        low, high: [A], their ranges.
        levels: [A], 0 for a continuous output, ``low + (high - low) (tanh x + 1) / 2``; n for n outputs, whose argmax selects
            one of n equally spaced values.
        holds: [H], choices of the number of iterations a decision holds, by the argmax of H more outputs; empty: always 1.
        defaults: [4], exponents that the network does not set; an infinite alpha or beta means no discount.
        floor: 1.0 to set negative regrets to zero after adding, else 0.0.
        clipped: whether alpha is at least 1 from iteration T/2 on, as required by DDCFR's theorem 1.
    """

    sizes: Ints
    parameters: Floats
    features: Ints
    exponents: Ints
    low: Floats
    high: Floats
    levels: Ints
    holds: Ints
    defaults: Floats
    floor: float
    clipped: bool


class LearnedState(NamedTuple):
    """Additional state of a learned rule besides :class:`TreeState`, float64, updated in place.

    Attributes:
        seen: [Q], policy at the last decision; empty if no feature uses its movement.
        memory: [MEMORY], last observations and decisions.
        network: [P], a copy of the network, so that a changed file does not affect the run.
    """

    seen: Floats
    memory: Floats
    network: Floats


@kernel()
def weigh(exponents: Floats, floor: float, t: int, row: Floats) -> None:
    """Write the :class:`treeplex.engine.tree.regret.Weights` that the exponents give at iteration t.

    With a prediction strength above 0, the next policy uses regrets discounted by the next factor, as in PDCFR. An infinite
    alpha or beta means no discount, also at t = 1.
    """
    alpha, beta, gamma, prediction = exponents[0], exponents[1], exponents[2], exponents[3]
    row[POSITIVE] = discount(t - 1.0, alpha) if alpha < math.inf else 1.0
    row[NEGATIVE] = discount(t - 1.0, beta) if beta < math.inf else 1.0
    row[REGRET], row[FLOOR] = 1.0, floor
    row[PREDICTED_POSITIVE] = discount(float(t), alpha) if prediction > 0.0 and alpha < math.inf else 1.0
    row[PREDICTED_NEGATIVE] = discount(float(t), beta) if prediction > 0.0 and beta < math.inf else 1.0
    row[PREDICTION] = prediction
    row[AVERAGE_DISCOUNT] = average_discount(float(t), gamma)
    row[AVERAGE] = 1.0


@kernel()
def outside_theorem(exponents: Floats, t: int, horizon: int) -> bool:
    """Return whether any exponent is outside the range covered by the convergence proof (Xu et al. 2024, theorem 1).

    Alpha is in [0, 5], from T/2 on in [1, 5]; beta in [-5, 0]; gamma in [0, 5].
    """
    least = 1.0 if 2 * t >= horizon else 0.0
    alpha, beta, gamma = exponents[0], exponents[1], exponents[2]
    return not (least <= alpha <= 5.0 and -5.0 <= beta <= 0.0 and 0.0 <= gamma <= 5.0)


@kernel()
def decide(scheme: DiscountNetwork, activations: Floats, noise: Floats, t: int, horizon: int, exponents: Floats) -> int:
    """Evaluate the network on the features at the front of ``activations`` and write the four exponents.

    Args:
        scheme: the learned scheme.
        activations: see :func:`treeplex.engine.networks.mlp_single.forward`.
        noise: [outputs], added to the outputs (and left in ``activations``); empty for none.
        t: the next iteration, from 1.
        horizon: total number of planned iterations.
        exponents: [4], output.

    Returns:
        Number of iterations for which the decision holds.
    """
    first = forward(scheme.sizes, scheme.parameters, activations)
    for o in range(noise.shape[0]):
        activations[first + o] += noise[o]
    for k in range(len(exponents)):
        exponents[k] = scheme.defaults[k]
    output = first
    for a in range(scheme.exponents.shape[0]):
        span, levels = scheme.high[a] - scheme.low[a], scheme.levels[a]
        if levels == 0:
            share = 0.5 * (math.tanh(activations[output]) + 1.0)
            output += 1
        else:
            share = np.argmax(activations[output : output + levels]) / max(levels - 1.0, 1.0)
            output += levels
        exponents[scheme.exponents[a]] = scheme.low[a] + span * share
    if scheme.clipped and 2 * t >= horizon:
        exponents[0] = max(exponents[0], 1.0)
    holds = scheme.holds.shape[0]
    return scheme.holds[np.argmax(activations[output : output + holds])] if holds else 1


@kernel()
def exploitability_of_sums(tree: Tree, payoff: Payoff, average: Floats, work: Workspace) -> float:
    """Return the exploitability of the average policy from sequence-form sums, float64 [Q]; two-player zero-sum.

    Gradients are linear in the opponent's strategy, so sums are normalised only at the end.
    """
    total = 0.0
    for player in range(2):
        gradient(tree, payoff, player, average, work.values)
        total += best_value(tree, player, work.values, work.infoset_values) / average[tree.sequence_offsets[1 - player]]
    return 0.5 * total


@kernel()
def observe(
    tree: Tree,
    payoff: Payoff,
    scheme: DiscountNetwork,
    done: int,
    horizon: int,
    state: TreeState,
    learned: LearnedState,
    work: Workspace,
    activations: Floats,
) -> None:
    """Write the run's features to the front of ``activations`` and, if it is used, the exploitability to ``memory[LATEST]``."""
    regrets, policy, seen, memory = state.regrets, state.policy, learned.seen, learned.memory
    for f in range(scheme.features.shape[0]):
        feature = scheme.features[f]
        if feature == 0:
            activations[f] = done / horizon
        elif feature == 1:
            current = memory[INITIAL]
            if done > 0:
                current = max(exploitability_of_sums(tree, payoff, state.averages[0], work), LOWEST)
            memory[LATEST] = current
            scale = math.log10(memory[INITIAL]) + 12.0
            activations[f] = (math.log10(current) + 12.0) / scale if scale > 0.0 else 0.0
        elif feature == 2:
            squares = 0.0
            for q in range(regrets.shape[0]):
                squares += max(regrets[q], 0.0) ** 2
            norm = max(math.sqrt(squares), LOWEST)
            if memory[NORM] <= LOWEST:
                memory[NORM] = norm
            activations[f] = math.log10(norm / memory[NORM]) / math.log10(max(horizon, 2))
        else:
            moved = 0.0
            for q in range(policy.shape[0]):
                moved += abs(policy[q] - seen[q])
                seen[q] = policy[q]
            change = max(moved / max(policy.shape[0], 1), LOWEST) if done > 0 else 1.0
            activations[f] = (math.log10(change) + 12.0) / 12.0


@kernel()
def iterate_learned(
    tree: Tree,
    payoff: Payoff,
    scheme: DiscountNetwork,
    done: int,
    iterations: int,
    horizon: int,
    alternating: bool,
    state: TreeState,
    learned: LearnedState,
    work: Workspace,
    activations: Floats,
    noise: Floats,
    trace: Floats,
) -> int:
    """Run iterations ``done + 1 ... done + iterations``; the network decides again whenever its last decision expires.

    Args:
        tree, payoff: a two-player zero-sum game.
        scheme: the learned scheme.
        done, iterations, horizon: iterations done so far, to run now, and planned in total (T).
        alternating: the order of updates.
        state, learned: the solver's state, updated in place.
        work, activations: scratch.
        noise: [D, outputs], added to the outputs at each decision of this call; [0, outputs] for none.
        trace: [D, HEAD + features + outputs], one row per decision; [0, ...] for none.

    Returns:
        The number of decisions.
    """
    row, silent, memory = np.empty((1, COLUMNS)), np.empty(0), learned.memory
    exponents = memory[SET : SET + 4]
    features = scheme.features.shape[0]
    outputs = activations.shape[0] - scheme.sizes[-1]
    decisions = 0
    for k in range(done, done + iterations):
        if memory[LEFT] <= 0.0:
            observe(tree, payoff, scheme, k, horizon, state, learned, work, activations)
            hold = decide(scheme, activations, noise[decisions] if noise.shape[0] > 0 else silent, k + 1, horizon, exponents)
            memory[LEFT] = float(hold)
            if trace.shape[0] > 0:
                record = trace[decisions]
                record[TIME], record[SEEN], record[HELD] = k + 1.0, memory[LATEST], float(hold)
                record[CHOSEN:HELD] = exponents
                record[HEAD : HEAD + features] = activations[:features]
                record[HEAD + features :] = activations[outputs:]
            decisions += 1
        memory[OUTSIDE] += outside_theorem(exponents, k + 1, horizon)
        weigh(exponents, scheme.floor, k + 1, row[0])
        iterate(tree, payoff, row, alternating, state, work)
        memory[LEFT] -= 1.0
    return decisions


@kernel()
def run_episode(tree: Tree, payoff: Payoff, scheme: DiscountNetwork, horizon: int, noise: Floats, trace: Floats) -> float:
    """Run T alternating iterations from the uniform policy; return the exploitability of the average policy.

    ``noise`` and ``trace`` are as in :func:`iterate_learned`, [0, ...] for none; unused rows of ``trace`` keep t = 0.
    """
    sequences, infosets = tree.sequence_offsets[-1], tree.infoset_offsets[-1]
    policy, strategy, average, memory = np.empty(sequences), np.empty(sequences), np.zeros((1, sequences)), np.zeros(MEMORY)
    seen = np.zeros(sequences if (scheme.features == 3).any() else 0)
    none = np.empty(0)
    state = TreeState(np.zeros(sequences), policy, strategy, average, none, np.empty((2, 0)))
    learned = LearnedState(seen, memory, none)
    work = Workspace(np.empty(sequences), np.empty(infosets), np.empty(infosets))
    for q in range(sequences):
        infoset = tree.sequence_infoset[q]
        policy[q] = 1.0 / tree.infoset_layout[infoset, 2] if infoset >= 0 else 1.0
    for player in range(2):
        reach(tree, player, policy, strategy)
    memory[INITIAL] = max(exploitability_of_sums(tree, payoff, strategy, work), LOWEST)
    activations = np.empty(scheme.sizes.sum())
    iterate_learned(tree, payoff, scheme, 0, horizon, horizon, True, state, learned, work, activations, noise, trace)
    return exploitability_of_sums(tree, payoff, average[0], work)


def play_episode(tree: Tree, payoff: Payoff, scheme: DiscountNetwork, horizon: int) -> float:
    """Return the exploitability of the average policy after ``horizon`` iterations, in the game's units."""
    empty = np.empty((0, 0))
    return float(run_episode(tree, payoff, scheme, horizon, empty, empty))


def trace_episode(
    tree: Tree, payoff: Payoff, scheme: DiscountNetwork, horizon: int, noise: Floats | None = None
) -> tuple[float, Floats]:
    """Run an episode and record its decisions.

    Args:
        tree, payoff: a two-player zero-sum game.
        scheme: the learned scheme.
        horizon: number of iterations.
        noise: [horizon, outputs], added to the network's outputs at each decision; None for none.

    Returns:
        The final exploitability, and one row per decision, float64 [D, HEAD + F + outputs]: its iteration, the observed
            exploitability (0 if unused), alpha, beta, gamma, prediction, the number of iterations it holds, the features and
            the network's outputs (with noise).
    """
    outputs = int(scheme.sizes[-1])
    trace = np.zeros((horizon, HEAD + len(scheme.features) + outputs))
    exploitability = run_episode(tree, payoff, scheme, horizon, np.empty((0, outputs)) if noise is None else noise, trace)
    return float(exploitability), trace[trace[:, TIME] > 0]
