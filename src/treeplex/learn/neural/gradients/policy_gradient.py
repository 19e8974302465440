"""Policy gradients of actor-critic learners: QPG, RPG, RMPG (Srinivasan et al. 2018) and NeuRD (Hennes et al. 2020).

All of them update the logits at every infoset from the advantages ``A(I, a) = q(I, a) - sum_b pi(I, b) q(I, b)`` of its
actions, summed over the infosets reached in play; they differ in the direction of the update. The critic's values q are exact,
from a sweep over the compiled game, or learned from the payoffs of sampled episodes.

Deviations from the papers: a network evaluates all infosets of all players in one pass, and a batch's rows are summed by
infoset, which gives the same gradient; each step of a learned critic regresses on all payoffs of a batch; step sizes and
entropy may fall to zero (``decay``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.settings import setting
from treeplex.errors import AlgorithmError
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.outputs import Outputs
from treeplex.learn.neural.gradients.actor import AVERAGE, LAST, Actor, ActorSettings, entropy_slopes

EXACT, LEARNED = "exact", "learned"


def check_critic(learner: Actor) -> None:
    """Check that exact values are used only in compiled games.

    Raises:
        AlgorithmError: exact values are requested in an uncompiled game.
    """
    if not learner.sampler.numbered and learner.settings.critic == EXACT:
        raise AlgorithmError(
            f"critic={EXACT} sweeps all infosets, but {learner.game} is sampled from its rules; set critic={LEARNED}"
        )


def q_direction(policy: Floats, advantages: Floats) -> Floats:
    """QPG: the gradient of ``sum_a pi_a q_a``, which is ``pi_a A_a`` (Srinivasan et al. 2018, section 3.1)."""
    return policy * advantages


def regret_direction(policy: Floats, advantages: Floats) -> Floats:
    """RPG: the gradient of ``-sum_a max(q_a - sum_b pi_b q_b, 0)`` (section 3.2).

    Each of the k positive regrets contributes QPG's gradient, so the sum is k times QPG's; with two actions k is 1 unless all
    regrets are zero.
    """
    direction: Floats = (advantages > 0.0).sum(axis=1, keepdims=True) * policy * advantages
    return direction


def matching_direction(policy: Floats, advantages: Floats) -> Floats:
    """RMPG: the gradient of ``sum_a pi_a max(A_a, 0)`` with regrets held fixed (section 3.3)."""
    gains = np.maximum(advantages, 0.0)
    direction: Floats = policy * (gains - (policy * gains).sum(axis=1, keepdims=True))
    return direction


def replicator_direction(policy: Floats, advantages: Floats) -> Floats:
    """NeuRD: the advantages themselves, without the softmax's derivative (Hennes et al. 2020, equation 4)."""
    return advantages


@dataclass(frozen=True)
class PolicyGradientSettings(ActorSettings):
    """Settings of policy gradients."""

    critic: str = setting(LEARNED, "source of action values", choices=(EXACT, LEARNED), fixed=True)
    batch: int = setting(1024, "episodes per update", low=1)
    critic_rate: float = setting(0.003, "step size of a learned critic", above=0)
    critic_steps: int = setting(2, "gradient steps of a learned critic per update of the policy", low=1)
    entropy: float = setting(0.2, "initial weight of the policy's entropy, as a fraction of the largest payoff", low=0)
    decay: float = setting(
        1.5, "multiply step sizes and entropy weight by the remaining fraction of training raised to this power", low=0
    )
    result: str = setting(LAST, "the resulting policy: the average over updates, or the last", choices=(AVERAGE, LAST))


class PolicyGradient(Actor):
    """A policy whose logits follow advantages in a given direction.

    Attributes:
        direction: function from policy and advantages to the update direction of logits.
        critic: learned action values, [I, A].
    """

    settings_class = PolicyGradientSettings
    direction: "ClassVar[staticmethod[[Floats, Floats], Floats]]"
    own_reach: ClassVar[bool] = True
    """Whether exact advantages are also weighted by own reach, as rows from sampled episodes are."""

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        check_critic(self)
        self.critic = None if settings.critic == EXACT else self.outputs(self.seen.legal.shape[1])

    @property
    def countable(self) -> Sequence[str]:
        """Units of effort: histories, and episodes unless values are exact."""
        return ("nodes",) if self.settings.critic == EXACT else super().countable

    def parts(self) -> Iterator[tuple[str, Any]]:
        """The logits, and the critic if it is learned."""
        yield from super().parts()
        if self.critic is not None:
            yield "critic", self.critic

    def update(self) -> Mapping[str, float]:
        """Take a gradient step."""
        numbers, policy, advantages, weights = self.exact() if self.critic is None else self.sampled(self.critic)
        rises = weights * self.direction(policy, np.where(self.seen.legal, advantages, 0.0))
        rises += weights * self.settings.entropy * self.scale * self.share * entropy_slopes(policy)
        self.logits.move(-self.applied_part(rises), self.settings.rate * self.share)
        return numbers

    def applied_part(self, rises: Floats) -> Floats:
        """The components of a step that are applied; here all of them."""
        return rises

    def exact(self) -> tuple[dict[str, float], Floats, Floats, Floats]:
        """Exact quantities: progress numbers, the policy [I, A], counterfactual advantages [I, A] and infoset weights [I,
        1]."""
        policy = self.current
        values = self.infosets.action_values(policy)
        self.sampler.count(self.compiled.size.histories, 0)
        weights = values.own_reach if self.own_reach else np.ones_like(values.own_reach)
        return {}, policy, values.advantages, weights[:, None]

    def sampled(self, critic: Outputs) -> tuple[dict[str, float], Floats, Floats, Floats]:
        """The quantities of :meth:`exact` estimated from sampled episodes, and losses; also trains the critic."""
        episodes = self.play()
        policy = self.current
        lengths = np.diff(episodes.first)
        earned = np.repeat(episodes.payoffs, lengths, axis=0)[np.arange(len(episodes.player)), episodes.player]
        counts = self.seen.sums(episodes.infoset, episodes.action, np.ones_like(earned))
        targets = self.seen.sums(episodes.infoset, episodes.action, earned) / np.maximum(counts, 1.0)
        losses = [critic.fit(targets, counts, self.settings.critic_rate) for _ in range(self.settings.critic_steps)]
        values = critic.values()
        advantages = values - (policy * values).sum(axis=1, keepdims=True)
        return {"critic_loss": losses[0]}, policy, advantages, counts.sum(axis=1, keepdims=True) / self.settings.batch


class Qpg(PolicyGradient):
    """Q-based policy gradient: an actor-critic method that updates all actions of an infoset at once."""

    source = "Srinivasan et al. 2018, Actor-critic policy optimization in partially observable multiagent environments"
    direction = staticmethod(q_direction)


class Rpg(PolicyGradient):
    """Regret policy gradient: descends on the sum of positive regrets; for two-player constant-sum games."""

    source = Qpg.source
    zero_sum = "rpg"
    direction = staticmethod(regret_direction)


class Rmpg(PolicyGradient):
    """Regret matching policy gradient: ascends on positive regrets; for two-player constant-sum games."""

    source = Qpg.source
    zero_sum = "rmpg"
    direction = staticmethod(matching_direction)


@dataclass(frozen=True)
class NeuRDSettings(PolicyGradientSettings):
    """Settings of NeuRD."""

    critic: str = setting(EXACT, "source of action values", choices=(EXACT, LEARNED), fixed=True)
    entropy: float = setting(0.0, "initial weight of the policy's entropy, as a fraction of the largest payoff", low=0)
    result: str = setting(AVERAGE, "the resulting policy: the average over updates, or the last", choices=(AVERAGE, LAST))
    decay: float = setting(
        1.0, "multiply step sizes and entropy weight by the remaining fraction of training raised to this power", low=0
    )
    threshold: float = setting(2.0, "threshold beyond which centred logits are not pushed further from zero", above=0)


class NeuRD(PolicyGradient):
    """Neural replicator dynamics: logits follow advantages without the softmax's derivative."""

    source = "Hennes et al. 2020, Neural replicator dynamics: multiagent learning via hedging policy gradients (AAMAS)"
    settings_class = NeuRDSettings
    direction = staticmethod(replicator_direction)
    own_reach = False

    def applied_part(self, rises: Floats) -> Floats:
        """Zero the components that push a logit beyond the threshold (section 4.3); logits are centred over legal actions."""
        centred = self.seen.centred(self.logits.values())
        applied: Floats = self.seen.centred(inside(rises, centred, self.settings.threshold))
        return applied


def inside(rises: Floats, logits: Floats, threshold: float) -> Floats:
    """Zero the components of a step that push centred logits beyond a threshold; all arrays [I, A]."""
    return np.where((logits * rises > 0.0) & (np.abs(logits) >= threshold), 0.0, rises)


__all__ = ["NeuRD", "Qpg", "Rmpg", "Rpg"]
