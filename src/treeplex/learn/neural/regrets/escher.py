"""ESCHER: regrets estimated from a critic alone, without importance weights; optionally corrected by sampled returns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.settings import setting
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.averages import Average, AverageSettings, AveragingLearner
from treeplex.learn.neural.regrets.deep_cfr import SingleDeepCfr, SingleDeepCfrSettings
from treeplex.learn.neural.walks.critics import CriticSettings, make_critic

RETURNS, SARSA = "returns", "expected-sarsa"


@dataclass(frozen=True)
class EscherSettings(CriticSettings, AverageSettings, SingleDeepCfrSettings):
    """Settings of ESCHER."""

    walks: int = 500
    fits: int = 200
    critic_fits: int = 200
    critic_rounds: int = 1
    average_fits: int = 1000
    greedy: bool = False
    critic: str = setting(
        RETURNS,
        f"how the critic learns: {RETURNS} of separate playthroughs, retrained in each iteration, "
        f"or {SARSA} from the transitions of regret playthroughs, trained continually",
        choices=(RETURNS, SARSA),
        fixed=True,
        added=True,
    )
    value_walks: int = setting(500, f"playthroughs of the current policies per iteration, for critic={RETURNS}", low=1)
    value_exploration: float = setting(0.01, "exploration probability in these playthroughs", low=0, high=1)
    corrected: bool = setting(False, "correct the critic's values with importance-weighted sampled returns", fixed=True)


class Escher(SingleDeepCfr):
    """ESCHER: regrets are differences of a critic's values at infosets visited while the traverser plays uniformly.

    At iteration t a new critic is fitted to the returns of ``value_walks`` playthroughs of the current policies for each
    player. Then each player in turn is the traverser in ``walks`` playthroughs with uniform actions, and ``Q(h, a) - sum_b p(b)
    Q(h, b)`` is added to the reservoir with weight t. The critic's errors bias the regrets, so uncorrected ESCHER stops
    improving. With ``corrected`` the sampled residual ``[a taken] (u - Q(h, a)) / q`` is added, as in DREAM. This removes the
    bias, but adds variance, especially while the critic has seen little data.

    With ``critic=expected-sarsa`` the critic is never retrained from scratch and needs no separate playthroughs. As in DREAM,
    it is fitted at the start of each iteration to the newest transitions from all earlier iterations, with targets under the
    current policies.
    """

    settings_class = EscherSettings
    zero_sum = "escher"
    source = "McAleer, Farina, Lanctot and Sandholm 2023, ESCHER: Eschewing Importance Sampling in Games (ICLR)"

    def __init__(self, game: Game, settings: EscherSettings) -> None:
        super().__init__(game, settings)
        self.critic = make_critic(self)

    def make_average(self) -> Average:
        return AveragingLearner.make_average(self)

    def step(self) -> Mapping[str, float]:
        self.learn_values()
        return super().step()

    def learn_values(self) -> None:
        """Train a new critic on returns of the current policies, or update the existing critic with SARSA."""
        if self.settings.critic == SARSA:
            self.critic.fit(self.strategy)
            return
        self.critic.forget()
        for player in range(self.players):
            self.critic.watch(player, self.settings.value_walks, self.settings.value_exploration)
        self.critic.fit(self.strategy)

    def walk(self, player: int) -> None:
        settings = self.settings
        for walks in self.critic.playthroughs(player, settings.walks, 1.0, corrected=settings.corrected):
            rows = walks.regrets()
            weights = np.full(len(rows.weights), self.iteration, np.float32)
            self.memories[player].add(rows._replace(weights=weights), self.generator)
            self.average.met(walks, self.iteration)
            if settings.critic == SARSA:
                self.critic.add(walks.transitions)

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield "critic", self.critic
