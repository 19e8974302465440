"""Deep CFR and Single Deep CFR: regrets of external sampling, learned by a network that starts anew at each iteration."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.settings import setting
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.averages import (
    Average,
    AveragingLearner,
    LearnedAverage,
    LearnedAverageSettings,
    exact_average,
)
from treeplex.learn.neural.frame import NeuralSettings


@dataclass(frozen=True)
class SingleDeepCfrSettings(NeuralSettings):
    """Settings of Single Deep CFR."""

    walks: int = setting(1500, "walks for each player in an iteration", low=1)
    memory: int = setting(1_000_000, "rows of each reservoir at most", low=1, fixed=True)
    fits: int = setting(750, "gradient steps of each regret network in an iteration", low=1)
    greedy: bool = setting(True, "where no regret is positive, play the action of the largest instead of all alike")


@dataclass(frozen=True)
class DeepCfrSettings(LearnedAverageSettings, SingleDeepCfrSettings):
    """Settings of Deep CFR."""


class SingleDeepCfr(AveragingLearner):
    """Deep CFR without a network of the average: the policies of all iterations are averaged exactly.

    At iteration t each player in turn is the traverser of ``walks`` walks by external sampling, whose sampled regrets go into
    that player's reservoir with weight t. A new network is fitted to the reservoir, sum of ``t (r - R(I, a))^2``; its
    regrets, matched, are the player's next policy. The average policy has weights t and own reach.

    In the first iteration all actions are played alike. Values are divided by the largest payoff; no policy notices.
    """

    settings_class = SingleDeepCfrSettings
    spreads = True
    walks_rules: ClassVar[bool] = True
    source = "Steinberger 2019, Single Deep Counterfactual Regret Minimization (arXiv 1901.07621)"

    def __init__(self, game: Game, settings: SingleDeepCfrSettings) -> None:
        super().__init__(game, settings)
        self.memories = [self.sampler.reservoir(settings.memory) for _ in self.regrets]

    def make_average(self) -> Average:
        return exact_average(self)

    def step(self) -> Mapping[str, float]:
        """An iteration: each player in turn walks, and learns."""
        self.iteration += 1
        losses = []
        for player, (regrets, memory) in enumerate(zip(self.regrets, self.memories, strict=True)):
            self.walk(player)
            self.average.played(player, self.iteration)
            regrets.reset(self.generator)
            losses.append(regrets.fit(memory.rows, self.settings.fits, self.generator))
            self.follow(player)
        return {"loss": float(np.mean(losses))}

    def walk(self, player: int) -> None:
        """The walks of an iteration for a player; what they find goes into the reservoirs."""
        last = self.iteration * self.settings.walks
        for found in self.sampler.external(self.strategy, player, range(last - self.settings.walks, last)):
            rows = found.regrets()
            self.memories[player].add(rows._replace(weights=rows.weights * np.float32(self.iteration)), self.generator)
            self.average.met(found, self.iteration)

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield from ((f"memory{player}", memory) for player, memory in enumerate(self.memories))


class DeepCfr(SingleDeepCfr):
    """Deep CFR: the average policy is learned by a network of its own.

    What each player plays where the other one walks goes into a second reservoir with weight t, to which a network is fitted
    when the average is asked for. See :class:`SingleDeepCfr` for the rest. Brown et al. fit it by squared errors of
    probabilities, we by cross entropy; both are least at the mean policy.
    """

    settings_class = DeepCfrSettings
    source = "Brown, Lerer, Gross and Sandholm 2019, Deep Counterfactual Regret Minimization (ICML)"

    def check_game(self) -> None:
        LearnedAverage.check_game(self)

    def make_average(self) -> Average:
        return LearnedAverage(self)
