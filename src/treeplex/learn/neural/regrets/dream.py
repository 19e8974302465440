"""DREAM: Single Deep CFR with outcome sampling, with a critic as baseline to reduce variance."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.settings import setting
from treeplex.games.base import Game
from treeplex.learn.neural.regrets.deep_cfr import SingleDeepCfr, SingleDeepCfrSettings
from treeplex.learn.neural.walks.critics import CriticSettings, make_critic


@dataclass(frozen=True)
class DreamSettings(CriticSettings, SingleDeepCfrSettings):
    """Settings of DREAM."""

    walks: int = 900
    exploration: float = setting(0.5, "probability with which the traverser acts uniformly at random", above=0, high=1)


class Dream(SingleDeepCfr):
    """DREAM: Single Deep CFR with outcome sampling, with a learned critic as baseline.

    At iteration t each player in turn is the traverser in ``walks`` playthroughs, and explores with probability
    ``exploration``. An action's value is the critic's estimate, corrected by the sampled return (Schmid et al. 2019).
    Advantages are added to the reservoir with weight t divided by the traverser's own sampling probability, so that their
    weighted mean is the mean regret. The critic learns by expected SARSA from the transitions of all players.
    """

    settings_class = DreamSettings
    source = "Steinberger, Lerer and Brown 2020, DREAM: Deep regret minimization with advantage baselines (arXiv 2006.10410)"

    def __init__(self, game: Game, settings: DreamSettings) -> None:
        super().__init__(game, settings)
        self.critic = make_critic(self)

    def step(self) -> Mapping[str, float]:
        numbers = super().step()
        return {**numbers, "critic_loss": self.critic.fit(self.strategy)}

    def walk(self, player: int) -> None:
        for walks in self.critic.playthroughs(player, self.settings.walks, self.settings.exploration):
            rows = walks.regrets()
            weights = np.float32(self.iteration) * rows.weights
            self.memories[player].add(rows._replace(weights=weights), self.generator)
            self.critic.add(walks.transitions)

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield "critic", self.critic
