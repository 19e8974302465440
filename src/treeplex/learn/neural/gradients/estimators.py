"""Estimators of policy gradients, judged exactly: what each is on average, and how much it varies from episode to episode.

=============== ======================================= ==========================================================
``reinforce``   ``u``                                   Williams 1992
``value``       ``u - V(h)``                            REINFORCE with a baseline
``coma``        ``Q(h, a) - sum over b of pi(b) Q(h, b)``  Foerster et al. 2018, COMA, equation 4
=============== ======================================= ==========================================================

``V`` and ``Q`` are exact, those of the policy itself, at histories: they know all players' information, as the central critic
of COMA does. All three have one mean, the gradient.

COMA asks its critic for values of joint actions, with the others' actions as they were. That fits moves made at once. Where
players see each other move, holding later actions fixed is wrong, for they answer: its mean is no longer the gradient. So here
nothing later is held fixed, and ``Q(h, a)`` is the value of the history after the action.
"""

from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.spec import nearest
from treeplex.engine.histories.policy_gradient import BASELINE, COUNTERFACTUAL, RETURN, gradient_moments
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.tabular import Policy

ESTIMATORS = {"reinforce": RETURN, "value": BASELINE, "coma": COUNTERFACTUAL}
"""Estimators by name."""


@dataclass(frozen=True)
class GradientMoments:
    """What one episode says of a gradient.

    Attributes:
        mean: float64 [Q], the expected derivative of each player's payoff by its own logits, sequence by sequence.
        variance: the total variance, the trace of the covariance.
    """

    mean: Floats
    variance: float


def estimator_moments(policy: Policy, estimator: str) -> GradientMoments:
    """Mean and variance of an estimator of :data:`ESTIMATORS` when episodes follow a policy, by a sweep over all histories.

    Raises:
        AlgorithmError: no such estimator.
        GameError: the game has too many histories.
    """
    if estimator not in ESTIMATORS:
        raise AlgorithmError(f"unknown estimator {estimator!r}{nearest(estimator, ESTIMATORS)}")
    game = policy.game
    layout = np.asarray(game.tree.infoset_layout, np.int64)
    mean, variance = gradient_moments(histories_of(game), layout, policy.probabilities, ESTIMATORS[estimator])
    return GradientMoments(mean, float(variance))
