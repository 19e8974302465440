"""Rewards and advantages of an epoch's decisions in reinforcement learning."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treeplex.base.arrays import Floats, Ints

LEAST_SPREAD = 0.01
"""Minimum spread of a game's rewards (1% of its exploitability) that is still scaled to unit variance."""


@dataclass(frozen=True)
class Decisions:
    """Trajectories of one epoch: N decisions in E consecutive episodes, the same number of episodes on each of G games.

    Attributes:
        offsets: int64 [E+1], first decision of each episode; no episode is empty.
        game: int64 [E], game of each episode, ascending.
        final: float64 [E], final exploitability, clipped from below.
        features: float64 [N, F].
        sampled: float64 [N, O], the network's outputs, noise included.
        before: float64 [N], exploitability at the decision, clipped from below.
        holds: float64 [N], number of iterations the decision applies to.
    """

    offsets: Ints
    game: Ints
    final: Floats
    features: Floats
    sampled: Floats
    before: Floats
    holds: Floats

    @cached_property
    def episode(self) -> Ints:
        """The episode of each decision, int64 [N]."""
        return np.repeat(np.arange(len(self.game)), np.diff(self.offsets))


def rewards(decisions: Decisions, *, shaped: bool = False) -> Floats:
    """Reward of each decision, float64 [N].

    An episode's rewards sum to ``-log E_T``, standardised over the game's episodes to mean 0 and variance 1, since games differ
    in scale; ``log E_1`` of the paper's ``log E_1 - log E_T`` is constant per game and cancels.

    Args:
        decisions: the epoch's decisions.
        shaped: reward each decision with ``(log e_before - log e_after) / scale``, and the last one also with the centring
            term. Otherwise the whole reward comes at the end, as in the paper.
    """
    table = -np.log(decisions.final).reshape(decisions.game[-1] + 1, -1)
    scales = np.maximum(table.std(axis=1, keepdims=True), LEAST_SPREAD)
    sums = ((table - table.mean(axis=1, keepdims=True)) / scales).ravel()
    paid, last = np.zeros(len(decisions.before)), decisions.offsets[1:] - 1
    if shaped:
        paid[:-1] = -np.diff(np.log(decisions.before)) / scales[decisions.game[decisions.episode[:-1]], 0]
        paid[last] = 0.0
    paid[last] = sums - np.add.reduceat(paid, decisions.offsets[:-1])
    return paid


def estimate_advantages(decisions: Decisions, paid: Floats, values: Floats, discount: float, smoothing: float) -> Floats:
    """Generalised advantage estimates, float64 [N] (Schulman et al. 2016, equation 16).

        delta_d = r_d + gamma^h_d V_d+1 - V_d,    A_d = delta_d + lambda gamma^h_d A_d+1,

    with V and A zero after an episode's last decision.

    Args:
        decisions: the epoch's decisions; h_d is the number of iterations that decision d applies to.
        paid: float64 [N], rewards.
        values: float64 [N], the critic's value estimates V.
        discount: gamma, per iteration.
        smoothing: lambda, per decision.
    """
    lengths = np.diff(decisions.offsets)
    step = np.arange(len(paid)) - decisions.offsets[decisions.episode]
    factors, expected, result = (np.zeros((len(lengths), lengths.max() + 1)) for _ in range(3))
    factors[decisions.episode, step] = discount**decisions.holds
    expected[decisions.episode, step] = values
    result[decisions.episode, step] = paid
    result[:, :-1] += factors[:, :-1] * expected[:, 1:] - expected[:, :-1]
    for d in range(lengths.max() - 1, -1, -1):
        result[:, d] += smoothing * factors[:, d] * result[:, d + 1]
    advantages: Floats = result[decisions.episode, step]
    return advantages
