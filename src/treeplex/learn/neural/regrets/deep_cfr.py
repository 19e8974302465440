"""Deep CFR and Single Deep CFR: regrets from external sampling, learned by a network that is retrained at each iteration."""

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

    walks: int = setting(1500, "traversals per player and iteration", low=1)
    memory: int = setting(1_000_000, "maximum rows of each reservoir", low=1, fixed=True)
    fits: int = setting(750, "gradient steps of each regret network per iteration", low=1)
    greedy: bool = setting(True, "if no regret is positive, play the action with the largest regret instead of uniformly")


@dataclass(frozen=True)
class DeepCfrSettings(LearnedAverageSettings, SingleDeepCfrSettings):
    """Settings of Deep CFR."""


class SingleDeepCfr(AveragingLearner):
    """Deep CFR without an average-policy network: the policies of all iterations are averaged exactly.

    At iteration t each player in turn is the traverser in ``walks`` external-sampling traversals, whose sampled regrets are
    added to that player's reservoir with weight t. A new network is fitted to the reservoir, minimising the sum of ``t (r -
    R(I, a))^2``; the player's next policy follows by regret matching. The average policy is weighted by t and own reach.

    The first iteration's policy is uniform. Values are divided by the largest payoff, to which regret matching is invariant.
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
        """Run an iteration: for each player in turn, run traversals and fit its regrets."""
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
        """Run an iteration's traversals for a player, and add their rows to the reservoirs."""
        last = self.iteration * self.settings.walks
        for walks in self.sampler.external(self.strategy, player, range(last - self.settings.walks, last)):
            rows = walks.regrets()
            self.memories[player].add(rows._replace(weights=rows.weights * np.float32(self.iteration)), self.generator)
            self.average.met(walks, self.iteration)

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield from ((f"memory{player}", memory) for player, memory in enumerate(self.memories))


class DeepCfr(SingleDeepCfr):
    """Deep CFR: a separate network learns the average policy.

    Each player's policy, as observed in the other player's traversals, is added to a second reservoir with weight t, to which a
    network is fitted when the average is needed. See :class:`SingleDeepCfr` for the rest. Brown et al. minimise the squared
    error of probabilities, this class the cross entropy; the mean policy minimises both.
    """

    settings_class = DeepCfrSettings
    source = "Brown, Lerer, Gross and Sandholm 2019, Deep Counterfactual Regret Minimization (ICML)"

    def check_game(self) -> None:
        LearnedAverage.check_game(self)

    def make_average(self) -> Average:
        return LearnedAverage(self)
