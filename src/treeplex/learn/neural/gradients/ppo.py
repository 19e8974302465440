"""Proximal policy optimisation in self-play (Schulman et al. 2017), with the entropy bonus that imperfect-information games
require.

With the ratio ``r = pi(a) / mu(a)`` to the sampling policy mu, and standardised advantages A, an update ascends

    mean over rows of min(r A, clip(r, 1 - trust, 1 + trust) A) + entropy H(pi) - kl KL(pi || mu).

Rows of the same infoset and action have the same ratio, and only the sign of A determines on which side the ratio is clipped.
Sums of positive and of negative advantages by infoset and action therefore give the whole gradient, and a network evaluates all
infosets at once.

Rudolph et al. 2025 (arXiv 2502.08938, appendix) found entropy weights of 0.05 to 0.2 for such games. Deviations: returns are
not discounted, since payoffs come at the end of an episode; the value loss is not clipped; a row's entropy and divergence are
exact instead of estimated from the sampled action.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.settings import setting
from treeplex.engine.histories.episodes import Episodes
from treeplex.engine.histories.returns import lambda_returns
from treeplex.games.base import Game
from treeplex.learn.neural.gradients.actor import Actor, ActorSettings, entropy_slopes


@dataclass(frozen=True)
class PpoSettings(ActorSettings):
    """Settings of PPO."""

    steps: int = setting(1_000, "number of updates, each with several passes over its episodes", low=1)
    batch: int = setting(1024, "episodes per update", low=1)
    rate: float = setting(0.00025, "step size of the policy", above=0)
    decay: float = setting(1.0, "multiply step sizes by the remaining fraction of steps raised to this power", low=0)
    critic_rate: float = setting(0.001, "step size of the values", above=0)
    trust: float = setting(0.1, "PPO's clip range of the probability ratio", above=0, below=1)
    passes: int = setting(4, "passes over the rows of an update", low=1)
    minibatches: int = setting(4, "gradient steps per pass", low=1)
    smoothing: float = setting(0.95, "lambda of the generalised advantage estimates", low=0, high=1)
    entropy: float = setting(0.05, "weight of the entropy bonus", low=0)
    kl: float = setting(0.0, "weight of the divergence from the sampling policy", low=0)
    clip: float = setting(0.5, "maximum gradient norm, to which gradients are clipped", above=0)


class Ppo(Actor):
    """Proximal policy optimisation in self-play."""

    settings_class = PpoSettings
    source = "Schulman et al. 2017, Proximal policy optimization algorithms (arXiv 1707.06347)"

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.critic = self.outputs(1)

    def parts(self) -> Iterator[tuple[str, Any]]:
        """The logits and the values."""
        yield from super().parts()
        yield "critic", self.critic

    def update(self) -> Mapping[str, float]:
        """Play episodes and run optimisation passes over their rows."""
        settings, episodes = self.settings, self.play()
        whole, before = self.seen, self.current
        returns, advantages = self.returns(episodes)
        losses = []
        for _ in range(settings.passes):
            order = self.generator.permutation(len(returns))
            for rows in np.array_split(order, settings.minibatches):
                part, chosen, infosets = whole.within(episodes.infoset[rows])
                self.look(part)
                actions, policy = episodes.action[rows], self.current
                gains = part.sums(infosets, actions, np.maximum(advantages[rows], 0.0))
                falls = part.sums(infosets, actions, np.minimum(advantages[rows], 0.0))
                visits = np.bincount(infosets, minlength=len(part)).astype(np.float64)[:, None]
                rises = clipped_slopes(policy, before[chosen], gains, falls, settings.trust)
                rises += visits * settings.entropy * entropy_slopes(policy)
                rises -= visits * settings.kl * divergence_slopes(policy, before[chosen])
                self.logits.move(self.padded(-rises / len(rows)), settings.rate * self.share)
                sums = np.bincount(infosets, returns[rows], len(visits))[:, None]
                losses.append(self.critic.fit(sums / np.maximum(visits, 1.0), visits, settings.critic_rate * self.share))
        return {"critic_loss": float(np.mean(losses))}

    def padded(self, slopes: Floats) -> Floats:
        """Pad slopes of the logits with zeros to all columns, [I, A + auxiliary]."""
        return np.pad(slopes, ((0, 0), (0, self.auxiliary)))

    def returns(self, episodes: Episodes) -> tuple[Floats, Floats]:
        """Returns after each decision and standardised advantages, both float64 [D]; payoffs are divided by the largest."""
        values = self.critic.values()[episodes.infoset, 0]
        costs = np.zeros(len(values))
        payoffs = episodes.payoffs / self.scale
        returns = lambda_returns(episodes.first, episodes.player, payoffs, values, costs, self.settings.smoothing)
        advantages = returns - values
        return returns, (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def clipped_slopes(policy: Floats, before: Floats, gains: Floats, losses: Floats, trust: float) -> Floats:
    """Gradient of the clipped objective with respect to logits, float64 [I, A].

    Args:
        policy: float64 [I, A].
        before: float64 [I, A], the sampling policy.
        gains, losses: float64 [I, A], sums of the positive and of the negative advantages of rows.
        trust: PPO's clip range.
    """
    ratio = policy / np.where(before > 0.0, before, 1.0)
    pulls = ratio * (gains * (ratio < 1.0 + trust) + losses * (ratio > 1.0 - trust))
    slopes: Floats = pulls - policy * pulls.sum(axis=1, keepdims=True)
    return slopes


def divergence_slopes(policy: Floats, before: Floats) -> Floats:
    """Gradient of each row's ``KL(policy || before)`` with respect to the logits of ``policy``, float64 [I, A]."""
    logs = np.log(np.where(policy > 0.0, policy, 1.0)) - np.log(np.where(before > 0.0, before, 1.0))
    slopes: Floats = policy * (logs - (policy * logs).sum(axis=1, keepdims=True))
    return slopes
