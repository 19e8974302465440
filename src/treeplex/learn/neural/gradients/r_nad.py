"""Regularised Nash dynamics: R-NaD of DeepNash (Perolat et al. 2022), for two players and zero sums.

Every decision costs its player ``eta log(pi(a) / reg(a))``, which the other gets, for a regularisation policy reg: the
transformed game has one equilibrium, which NeuRD's dynamics come to. Then reg becomes what was come to, and so on; over the
first half of each phase it passes from the last reg but one to the last. Rows of an update move logits by the advantages of

    Q(a) = V - eta log(pi(a) / reg(a)) + 1[a sampled] / pi(a) (G - V),

with the return G of v-trace after the decision and its cost, and NeuRD's threshold over logits centred over legal actions
(methods, equations 8 to 11).

Deviations: an update is made from episodes of its own policy, so ratios of importance are 1; averaged targets are those of
logits and values themselves, read into tables, not those of weights; the result is the average policy, where the paper plays
the fine-tuned one (``result=fine_tuned``): the last policies circle around the equilibrium, and what is averaged over them is
less exploitable than any of them; costs come in their mean by the policy at each infoset;
payoffs are divided by the greatest, so that eta means the same in every game.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.returns import lambda_returns
from treeplex.engine.tree.form import Floats
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.outputs import Arrays, Outputs
from treeplex.learn.neural.frame import check_zero_sum
from treeplex.learn.neural.gradients.actor import AVERAGE, LAST, Actor, ActorSettings
from treeplex.learn.neural.gradients.policy_gradient import inside
from treeplex.settings import setting

TARGET, TUNED = "target", "fine_tuned"


@dataclass(frozen=True)
class RNaDSettings(ActorSettings):
    """What a training by R-NaD is asked to do."""

    steps: int = setting(27_000, "updates of the policy", low=1)
    rate: float = setting(0.002, "step size of the policy and its values", above=0)
    regularisation: float = setting(0.1, "eta, what a decision costs against the regularisation policy", above=0)
    phase: int = setting(1_000, "updates until the regularisation policy changes", low=2)
    target: float = setting(0.01, "how fast the averaged logits and values follow", above=0, high=1)
    threshold: float = setting(2.0, "logits, less their mean, are not pushed further from zero than this", above=0)
    clip: float = setting(10_000.0, "the most that an advantage or a gradient's norm may be", above=0)
    smoothing: float = setting(1.0, "lambda of the returns", low=0, high=1)
    least: float = setting(0.03, "probabilities below are dropped from the policy that is played", low=0, below=0.5)
    result: str = setting(AVERAGE, "which policy is learned", choices=(AVERAGE, LAST, TARGET, TUNED))
    parts: int = setting(32, "the others are rounded to multiples of one part of so many", low=1)


class RNaD(Actor):
    """Regularised Nash dynamics: NeuRD in a sequence of regularised games.

    Attributes:
        critic: values of infosets, [I, 1].
        targets: float64 [I, A+1], averaged logits and values.
        anchors: float64 [2, I, A], logarithms of the last two regularisation policies, the newer one first.
    """

    settings_class = RNaDSettings
    walks_rules: ClassVar[bool] = False
    momentum: ClassVar[float] = 0.0
    source = "Perolat et al. 2022, Mastering the game of Stratego with model-free multiagent reinforcement learning (Science)"

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        check_zero_sum(self, "r-nad")
        self.critic = self.outputs(1)
        self.targets = np.concatenate([self.logits.values(), self.critic.values()], axis=1)
        self.anchors = np.stack([self.logarithms(self.current)] * 2)

    def parts(self) -> Iterator[tuple[str, Outputs]]:
        """The logits and the values."""
        yield from super().parts()
        yield "critic", self.critic

    def logarithms(self, policy: Floats) -> Floats:
        """Logarithms of a policy [I, A]; zero for illegal actions."""
        return np.log(np.where(self.grid.legal, policy, 1.0))

    def update(self) -> Mapping[str, float]:
        """A step by the rows of some episodes."""
        settings, grid, policy = self.settings, self.grid, self.current
        passed = min(2.0 * (self.updates % settings.phase) / settings.phase, 1.0)
        costs = self.logarithms(policy) - passed * self.anchors[0] - (1.0 - passed) * self.anchors[1]
        costs *= settings.regularisation
        means = (policy * costs).sum(axis=1)
        episodes = self.play()
        infosets, actions = episodes.infoset, episodes.action
        values = self.targets[infosets, -1]
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
        rises = inside(np.where(grid.legal, rises, 0.0), grid.centred(self.logits.values()), settings.threshold)
        self.logits.move(-grid.centred(rises) / len(infosets), settings.rate * self.share)
        sums = np.bincount(infosets, returns - means[infosets], len(means))[:, None]
        loss = self.critic.fit(sums / np.maximum(visits, 1.0), visits, settings.rate * self.share)
        self.follow()
        return {"critic_loss": loss}

    def follow(self) -> None:
        """Let the averaged numbers follow, and change the regularisation policy at the end of a phase."""
        now = np.concatenate([self.logits.values(), self.critic.values()], axis=1)
        self.targets += self.settings.target * (now - self.targets)
        if (self.updates + 1) % self.settings.phase == 0:
            self.anchors = np.stack([self.logarithms(self.grid.softmax(self.targets[:, :-1])), self.anchors[0]])

    def policies(self) -> dict[str, Policy]:
        """The average over updates, the last one, that of the averaged logits, and this one fine-tuned."""
        target = self.grid.softmax(self.targets[:, :-1])
        tuned = fine_tuned(target, self.settings.least, self.settings.parts)
        others = {TARGET: target, TUNED: tuned}
        return {**super().policies(), **{name: Policy(self.compiled, self.grid.table(each)) for name, each in others.items()}}

    def state(self) -> Mapping[str, NDArray[Any]]:
        """What all have, the averaged numbers and the regularisation policies."""
        return {**super().state(), "targets": self.targets, "anchors": self.anchors}

    def restore(self, arrays: Arrays) -> None:
        """Restore all of that."""
        super().restore(arrays)
        self.targets, self.anchors = np.array(arrays["targets"]), np.array(arrays["anchors"])


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
