"""Regularised Nash dynamics, DeepNash's R-NaD (Perolat et al. 2022), for two-player zero-sum games.

At every decision the acting player pays the opponent ``eta log(pi(a) / reg(a))``, for a regularisation policy reg: the
transformed game has a unique equilibrium, to which NeuRD's dynamics converge. Then reg is set to that equilibrium, and a new
phase begins. Over the first half of each phase, reg is interpolated from the previous regularisation policy to the new one.
Rows of an update change logits by the advantages of

    Q(a) = V - eta log(pi(a) / reg(a)) + 1[a sampled] / pi(a) (G - V),

with the v-trace return G after the decision and its cost, and NeuRD's threshold on logits centred over legal actions (methods,
equations 8 to 11).

Deviations: an update uses episodes of the current policy, so importance ratios are 1. The result is the average policy, while
the paper plays the fine-tuned policy (``result=fine_tuned``): the last policies cycle around the equilibrium, and their average
is less exploitable than any of them. In uncompiled games no such average exists, and the result is the target network. At each
infoset, costs are replaced by their mean under the policy. Payoffs are divided by the largest, so that eta has the same meaning
in every game.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.settings import setting
from treeplex.engine.histories.returns import lambda_returns
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.outputs import Outputs
from treeplex.learn.neural.gradients.actor import AVERAGE, LAST, Actor, ActorSettings
from treeplex.learn.neural.gradients.policy_gradient import inside

TARGET, TUNED = "target", "fine_tuned"
RESULT_OF = "the resulting policy (in uncompiled games, which have no average, the target)"


@dataclass(frozen=True)
class RNaDSettings(ActorSettings):
    """Settings of R-NaD."""

    steps: int = setting(27_000, "updates of the policy", low=1)
    rate: float = setting(0.002, "step size of the policy and its values", above=0)
    regularisation: float = setting(0.1, "eta, the cost of deviating from the regularisation policy", above=0)
    phase: int = setting(1_000, "updates between changes of the regularisation policy", low=2)
    target: float = setting(0.01, "rate of the moving averages of logits and values", above=0, high=1)
    threshold: float = setting(2.0, "threshold beyond which centred logits are not pushed further from zero", above=0)
    clip: float = setting(10_000.0, "limit on an advantage and on a gradient's norm", above=0)
    smoothing: float = setting(1.0, "lambda of the returns", low=0, high=1)
    least: float = setting(0.03, "probability below which actions are dropped from the fine-tuned policy", low=0, below=0.5)
    result: str = setting(AVERAGE, RESULT_OF, choices=(AVERAGE, LAST, TARGET, TUNED))
    parts: int = setting(32, "round probabilities of the fine-tuned policy to multiples of 1 divided by this number", low=1)


class RNaD(Actor):
    """Regularised Nash dynamics: NeuRD in a sequence of regularised games.

    Attributes:
        critic: values of infosets, [I, 1].
        target_logits, target_critic: moving averages of both outputs (of weights, for networks).
        anchors: logits of the last two regularisation policies, the newer one first.
    """

    settings_class = RNaDSettings
    momentum: ClassVar[float] = 0.0
    zero_sum = "r-nad"
    source = "Perolat et al. 2022, Mastering the game of Stratego with model-free multiagent reinforcement learning (Science)"

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        if not self.sampler.numbered and settings.result == TUNED:
            raise AlgorithmError(f"result={TUNED} modifies tables, but {game} is sampled from its rules; set result={TARGET}")
        self.critic = self.outputs(1)
        self.target_logits, self.target_critic = self.copied(self.logits), self.copied(self.critic)
        self.anchors = [self.copied(self.logits) for _ in range(2)]

    def copied(self, one: Outputs) -> Outputs:
        """A copy of trainable outputs."""
        copied = self.outputs(one.values().shape[1])
        copied.follow(one, 1.0)
        return copied

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Names and objects to save: logits, values, their moving averages, and the regularisation policies."""
        yield from super().parts()
        yield "critic", self.critic
        yield "target_logits", self.target_logits
        yield "target_critic", self.target_critic
        yield from ((f"anchor{number}", anchor) for number, anchor in enumerate(self.anchors))

    def logarithms(self, policy: Floats) -> Floats:
        """Logarithms of a policy [I, A]; zero for illegal actions."""
        return np.log(np.where(self.seen.legal, policy, 1.0))

    def costs(self, policy: Floats) -> Floats:
        """Regularisation cost of each action against the regularisation policies, float64 [I, A]."""
        passed = min(2.0 * (self.updates % self.settings.phase) / self.settings.phase, 1.0)
        newer, older = (self.logarithms(self.seen.softmax(anchor.values())) for anchor in self.anchors)
        return np.asarray(self.settings.regularisation * (self.logarithms(policy) - passed * newer - (1.0 - passed) * older))

    def update(self) -> Mapping[str, float]:
        """Run an update on the rows of new episodes."""
        episodes = self.play()
        settings, seen, policy = self.settings, self.seen, self.current
        costs = self.costs(policy)
        means = (policy * costs).sum(axis=1)
        infosets, actions = episodes.infoset, episodes.action
        values = self.target_critic.values()[infosets, 0]
        returns = lambda_returns(
            episodes.first, episodes.player, episodes.payoffs / self.scale, values, means[infosets], settings.smoothing
        )
        visits = np.bincount(infosets, minlength=len(means)).astype(np.float64)[:, None]
        surprise = (returns - values) / episodes.probability
        gained = surprise * episodes.probability  # increase of the mean over actions
        rises = np.zeros_like(policy)
        whole = -costs[infosets] - (gained - means[infosets])[:, None]  # advantages of a row for every action
        whole[np.arange(len(infosets)), actions] += surprise
        np.add.at(rises, infosets, np.clip(whole, -settings.clip, settings.clip))
        rises = inside(np.where(seen.legal, rises, 0.0), seen.centred(self.logits.values()), settings.threshold)
        self.logits.move(-seen.centred(rises) / len(infosets), settings.rate * self.share)
        sums = np.bincount(infosets, returns - means[infosets], len(means))[:, None]
        loss = self.critic.fit(sums / np.maximum(visits, 1.0), visits, settings.rate * self.share)
        self.follow()
        return {"critic_loss": loss}

    def follow(self) -> None:
        """Update the moving averages, and the regularisation policy at the end of a phase."""
        self.target_logits.follow(self.logits, self.settings.target)
        self.target_critic.follow(self.critic, self.settings.target)
        if (self.updates + 1) % self.settings.phase == 0:
            newer, older = self.anchors
            older.follow(newer, 1.0)
            newer.follow(self.target_logits, 1.0)

    def policies(self) -> dict[str, Policy]:
        """Policies by name: the average over updates, the last policy, the policy of the averaged logits, and its fine-tuned
        version."""
        target = self.seen.softmax(self.target_logits.values())
        tuned = fine_tuned(target, self.settings.least, self.settings.parts)
        tables = {name: self.infosets.table(logits) for name, logits in ((TARGET, target), (TUNED, tuned))}
        return {**super().policies(), **{name: Policy(self.compiled, table) for name, table in tables.items()}}

    @property
    def resulting(self) -> Outputs:
        """In uncompiled games, the logits of the resulting policy: the averaged logits unless the last ones are requested."""
        return self.logits if self.settings.result == LAST else self.target_logits


def fine_tuned(policy: Floats, least: float, parts: int) -> Floats:
    """Fine-tune a policy [I, A]: drop rare actions, and round other probabilities to multiples of 1 / ``parts`` that sum to 1.

    Probabilities with the largest remainders are rounded up.
    """
    tuned = np.where(policy >= least, policy, 0.0)
    tuned = np.where(tuned.any(axis=1, keepdims=True), tuned, policy)
    tuned *= parts / tuned.sum(axis=1, keepdims=True)
    whole = np.floor(tuned + 1e-9)
    order = np.argsort(np.argsort(whole - tuned, axis=1, kind="stable"), axis=1, kind="stable")
    left = np.rint(parts - whole.sum(axis=1, keepdims=True))
    rounded: Floats = (whole + (order < left)) / parts
    return rounded
