"""Trinal-clip PPO (Zhao et al. 2022): PPO with a third bound on the ratio, and bounds on the return of a hand.

PPO clips the ratio of new to old probability only where that stops the policy from moving further. With a negative advantage
and a large ratio its loss is unbounded; there a third parameter bounds the ratio:

    min(r, 1 + clip) A    where A >= 0
    min(max(r, 1 - clip), most) A    where A < 0

Values are fitted to returns clipped to the player's possible losses and winnings in the hand: the chips that it and its
opponent put in.
"""

from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.learn.common.device import torch_module

Tensor = Any


def policy_loss(ratios: Tensor, advantages: Tensor, *, clip: float, most: float) -> Tensor:
    """Mean loss over decisions, to be minimised.

    Args:
        ratios: [D], new over old probability of the chosen column.
        advantages: [D].
        clip: PPO's clip range.
        most: the third bound, which must exceed ``1 + clip``.
    """
    torch = torch_module()
    above = ratios.clamp(max=1.0 + clip)
    below = ratios.clamp(min=1.0 - clip).clamp(max=most)
    return -(torch.where(advantages >= 0, above, below) * advantages).mean()


def value_loss(values: Tensor, returns: Tensor, lost: Tensor, won: Tensor) -> Tensor:
    """Mean squared error to returns clipped to ``[-lost, won]``; all arrays [D], in the same unit."""
    return ((values - returns.clamp(min=-lost, max=won)) ** 2).mean()


def traced_advantages(values: Floats, payoff: float, discount: float, trace: float) -> Floats:
    """Generalised advantage estimates of a player's decisions in a hand that pays only at its end.

    ``A_t = d_t + discount * trace * A_{t+1}`` with ``d_t = discount * V_{t+1} - V_t`` and ``d_T = payoff - V_T`` at the last
    decision (Schulman et al. 2016, equation 16).

    Args:
        values: [T], predicted value at each decision.
        payoff: the hand's payoff.
        discount: discount factor per decision.
        trace: lambda.
    """
    advantages, later = np.empty(len(values)), 0.0
    for at in range(len(values) - 1, -1, -1):
        last = at == len(values) - 1
        error = (payoff if last else discount * values[at + 1]) - values[at]
        later = error + (0.0 if last else discount * trace * later)
        advantages[at] = later
    return advantages
