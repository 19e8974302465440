"""Regularised Nash dynamics: R-NaD of DeepNash (Perolat et al. 2022), for two players and zero sums.

Every decision costs its player ``eta log(pi(a) / reg(a))``, which the other gets, for a regularisation policy reg: the
transformed game has one equilibrium, which NeuRD's dynamics come to. Then reg becomes what was come to, and so on; over the
first half of each phase it passes from the last reg but one to the last. Rows of an update move logits by the advantages of

    Q(a) = V - eta log(pi(a) / reg(a)) + 1[a sampled] / pi(a) (G - V),

with the return G of v-trace after the decision and its cost, and NeuRD's threshold over logits centred over legal actions
(methods, equations 8 to 11).

Deviations: an update is made from episodes of its own policy, so ratios of importance are 1; the result is the average policy,
where the paper plays the fine-tuned one (``result=fine_tuned``): the last policies circle around the equilibrium, and what is
averaged over them is less exploitable than any of them; by the rules, where there is no such average, it is the target; costs
come in their mean by the policy at each infoset; payoffs are divided by the greatest, so that eta means the same in every game.
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
RESULT_OF = "which policy is learned; by the rules, where there is no average, the target"


@dataclass(frozen=True)
class RNaDSettings(ActorSettings):
    """Settings of a training by R-NaD."""

    steps: int = setting(27_000, "updates of the policy", low=1)
    rate: float = setting(0.002, "step size of the policy and its values", above=0)
    regularisation: float = setting(0.1, "eta, what a decision costs against the regularisation policy", above=0)
    phase: int = setting(1_000, "updates until the regularisation policy changes", low=2)
    target: float = setting(0.01, "how fast the averaged logits and values follow", above=0, high=1)
    threshold: float = setting(2.0, "logits, less their mean, are not pushed further from zero than this", above=0)
    clip: float = setting(10_000.0, "the most that an advantage or a gradient's norm may be", above=0)
    smoothing: float = setting(1.0, "lambda of the returns", low=0, high=1)
    least: float = setting(0.03, "probabilities below are dropped from the policy that is played", low=0, below=0.5)
    result: str = setting(AVERAGE, RESULT_OF, choices=(AVERAGE, LAST, TARGET, TUNED))
    parts: int = setting(32, "the others are rounded to multiples of one part of so many", low=1)


class RNaD(Actor):
    """Regularised Nash dynamics: NeuRD in a sequence of regularised games.

    Attributes:
        critic: values of infosets, [I, 1].
        target_logits, target_critic: averages of both over updates, of weights where there are networks.
        anchors: logits of the last two regularisation policies, the newer one first.
    """

    settings_class = RNaDSettings
    momentum: ClassVar[float] = 0.0
    zero_sum = "r-nad"
    source = "Perolat et al. 2022, Mastering the game of Stratego with model-free multiagent reinforcement learning (Science)"

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        if not self.sampler.numbered and settings.result == TUNED:
            raise AlgorithmError(f"result={TUNED} changes tables, and {game} is walked by its rules; set result={TARGET}")
        self.critic = self.outputs(1)
        self.target_logits, self.target_critic = self.copied(self.logits), self.copied(self.critic)
        self.anchors = [self.copied(self.logits) for _ in range(2)]

    def copied(self, one: Outputs) -> Outputs:
        """Another that begins as this one is."""
        found = self.outputs(one.values().shape[1])
        found.follow(one, 1.0)
        return found

    def parts(self) -> Iterator[tuple[str, Any]]:
        """The logits and the values, their averages, and the regularisation policies."""
        yield from super().parts()
        yield "critic", self.critic
        yield "target_logits", self.target_logits
        yield "target_critic", self.target_critic
        yield from ((f"anchor{number}", each) for number, each in enumerate(self.anchors))

    def logarithms(self, policy: Floats) -> Floats:
        """Logarithms of a policy [I, A]; zero for illegal actions."""
        return np.log(np.where(self.seen.legal, policy, 1.0))

    def costs(self, policy: Floats) -> Floats:
        """Regularisation cost of each action against the regularisation policies, float64 [I, A]."""
        passed = min(2.0 * (self.updates % self.settings.phase) / self.settings.phase, 1.0)
        newer, older = (self.logarithms(self.seen.softmax(each.values())) for each in self.anchors)
        return np.asarray(self.settings.regularisation * (self.logarithms(policy) - passed * newer - (1.0 - passed) * older))

    def update(self) -> Mapping[str, float]:
        """A step by the rows of some episodes."""
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
        gained = surprise * episodes.probability  # how much the mean over actions rises
        rises = np.zeros_like(policy)
        whole = -costs[infosets] - (gained - means[infosets])[:, None]  # advantages of one row for every action
        whole[np.arange(len(infosets)), actions] += surprise
        np.add.at(rises, infosets, np.clip(whole, -settings.clip, settings.clip))
        rises = inside(np.where(seen.legal, rises, 0.0), seen.centred(self.logits.values()), settings.threshold)
        self.logits.move(-seen.centred(rises) / len(infosets), settings.rate * self.share)
        sums = np.bincount(infosets, returns - means[infosets], len(means))[:, None]
        loss = self.critic.fit(sums / np.maximum(visits, 1.0), visits, settings.rate * self.share)
        self.follow()
        return {"critic_loss": loss}

    def follow(self) -> None:
        """Let the averages follow, and change the regularisation policy at the end of a phase."""
        self.target_logits.follow(self.logits, self.settings.target)
        self.target_critic.follow(self.critic, self.settings.target)
        if (self.updates + 1) % self.settings.phase == 0:
            newer, older = self.anchors
            older.follow(newer, 1.0)
            newer.follow(self.target_logits, 1.0)

    def policies(self) -> dict[str, Policy]:
        """The average over updates, the last one, that of the averaged logits, and this one fine-tuned."""
        target = self.seen.softmax(self.target_logits.values())
        tuned = fine_tuned(target, self.settings.least, self.settings.parts)
        tables = {name: self.infosets.table(each) for name, each in ((TARGET, target), (TUNED, tuned))}
        return {**super().policies(), **{name: Policy(self.compiled, table) for name, table in tables.items()}}

    @property
    def resulting(self) -> Outputs:
        """By the rules, the averaged logits unless the last ones are asked for."""
        return self.logits if self.settings.result == LAST else self.target_logits


def fine_tuned(policy: Floats, least: float, parts: int) -> Floats:
    """A policy [I, A] without its rare actions, the rest rounded to multiples of one part, so that they still sum to 1.

    The largest remainders are rounded up, as in an election.
    """
    kept = np.where(policy >= least, policy, 0.0)
    kept = np.where(kept.any(axis=1, keepdims=True), kept, policy)
    kept *= parts / kept.sum(axis=1, keepdims=True)
    whole = np.floor(kept + 1e-9)
    order = np.argsort(np.argsort(whole - kept, axis=1, kind="stable"), axis=1, kind="stable")
    left = np.rint(parts - whole.sum(axis=1, keepdims=True))
    rounded: Floats = (whole + (order < left)) / parts
    return rounded
