"""Estimators of policy gradients: exact mean and variance of each over episodes.

=============== ======================================= ==========================================================
``reinforce``   ``u``                                   Williams 1992
``value``       ``u - V(h)``                            REINFORCE with a baseline
``coma``        ``Q(h, a) - sum over b of pi(b) Q(h, b)``  Foerster et al. 2018, COMA, equation 4
=============== ======================================= ==========================================================

``V`` and ``Q`` are exact values of the policy at histories: they depend on all players' information, like COMA's central
critic. All three have the same mean, the gradient.

COMA's critic values joint actions with the others' actions fixed, which is right for simultaneous moves. If players observe
moves, later actions respond to earlier ones, so with fixed later actions the mean is no longer the gradient. Here later actions
are not fixed, and ``Q(h, a)`` is the value of the history after the action.

Mean and variance come from two sweeps over all histories. An episode estimates the gradient of each player's expected payoff by
the logits of its own policy. It sums over its decisions ``A (e_a - pi)``, where ``A`` is the estimated advantage of the action
that was taken. With perfect recall an episode reaches an infoset at most once, so the estimate's square is the sum of its
decisions' squares, and the mean square is

    sum over h, a of P(h) pi(a) E[A^2 | h, a] |e_a - pi|^2
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from treeplex import Policy
from treeplex.base.arrays import Floats, Ints
from treeplex.base.spec import nearest
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.views.histories import histories_of

RETURN, BASELINE, COUNTERFACTUAL = 0, 1, 2
"""Advantage: the return, the return minus the history's value, or the action's value minus the history's value."""
ESTIMATORS = {"reinforce": RETURN, "value": BASELINE, "coma": COUNTERFACTUAL}
"""Estimators by name."""


@dataclass(frozen=True)
class GradientMoments:
    """Moments of one episode's gradient estimate.

    Attributes:
        mean: float64 [Q], the expected derivative of each player's payoff by its own logits, sequence by sequence.
        variance: the total variance, the trace of the covariance.
    """

    mean: Floats
    variance: float


def estimator_moments(policy: Policy, estimator: str) -> GradientMoments:
    """Mean and variance of an estimator of :data:`ESTIMATORS` when episodes follow a policy, by a sweep over all histories.

    Raises:
        AlgorithmError: unknown estimator.
        GameError: the game has too many histories.
    """
    if estimator not in ESTIMATORS:
        raise AlgorithmError(f"unknown estimator {estimator!r}{nearest(estimator, ESTIMATORS)}")
    game = policy.game
    layout = np.asarray(game.tree.infoset_layout, np.int64)
    mean, variance = gradient_moments(histories_of(game), layout, policy.probabilities, ESTIMATORS[estimator])
    return GradientMoments(mean, float(variance))


@njit(cache=True, nogil=True)
def history_values(histories: Histories, layout: Ints, policy: Floats, moment: int) -> Floats:
    """The expectation of each player's payoff to the power of ``moment`` at every history, float64 [H, N].

    Args:
        histories: of the game.
        layout: int64 [I, 3], for each infoset its first sequence, the stride of its sequences and the number of actions.
        policy: float64 [Q].
        moment: 1 or 2.
    """
    nodes, players = histories.nodes, histories.payoffs.shape[1]
    values = np.zeros((len(nodes), players))
    for node in range(len(nodes) - 1, -1, -1):
        actor, key, child = nodes[node, ACTOR], nodes[node, KEY], nodes[node, CHILD]
        if actor == TERMINAL:
            for player in range(players):
                values[node, player] = histories.payoffs[key, player] ** moment
            continue
        for a in range(nodes[node, CHILDREN]):
            share = histories.chance[key + a] if actor == CHANCE else policy[layout[key, 0] + layout[key, 1] * a]
            for player in range(players):
                values[node, player] += share * values[child + a, player]
    return values


@njit(cache=True, nogil=True)
def gradient_moments(histories: Histories, layout: Ints, policy: Floats, advantage: int) -> tuple[Floats, float]:
    """The mean of the estimate of one episode, float64 [Q], and its total variance, the trace of its covariance.

    Arguments as for :func:`history_values`; ``advantage`` is ``RETURN``, ``BASELINE`` or ``COUNTERFACTUAL``.
    """
    nodes = histories.nodes
    means = history_values(histories, layout, policy, 1)
    squares = history_values(histories, layout, policy, 2)
    reached, gradient, mean_square = np.zeros(len(nodes)), np.zeros(len(policy)), 0.0
    reached[0] = 1.0
    for node in range(len(nodes)):
        actor, key, child, children = nodes[node, ACTOR], nodes[node, KEY], nodes[node, CHILD], nodes[node, CHILDREN]
        if actor == TERMINAL:
            continue
        norm = 0.0
        if actor != CHANCE:
            for a in range(children):
                norm += policy[layout[key, 0] + layout[key, 1] * a] ** 2
        for a in range(children):
            if actor == CHANCE:
                reached[child + a] = reached[node] * histories.chance[key + a]
                continue
            taken = policy[layout[key, 0] + layout[key, 1] * a]
            reached[child + a] = reached[node] * taken
            baseline = 0.0 if advantage == RETURN else means[node, actor]
            mean = means[child + a, actor] - baseline
            square = mean * mean
            if advantage != COUNTERFACTUAL:  # the variance of what comes later
                square += squares[child + a, actor] - means[child + a, actor] ** 2
            mean_square += reached[child + a] * square * (1.0 - 2.0 * taken + norm)
            for b in range(children):
                moved = (1.0 if a == b else 0.0) - policy[layout[key, 0] + layout[key, 1] * b]
                gradient[layout[key, 0] + layout[key, 1] * b] += reached[child + a] * mean * moved
    return gradient, mean_square - np.sum(gradient * gradient)
