"""Neural fictitious self-play: learns best responses by Q-learning and average policies by classification, in self-play.

In each episode a player follows its best response with probability ``eta`` and its average policy otherwise. Q-learning uses
the player's decisions in either mode; the average policy is fitted to the decisions of its best response only (Heinrich and
Silver 2016, algorithm 1).

Deviations. Policies are tabulated once per batch of episodes (the paper learns every 64 decisions), and each learning step uses
all stored data, merged by infoset, where the paper samples a batch. The responses' actions are counted, which equals an
unlimited reservoir. The action counted is the response's greedy action, even if exploration chose another. Adam replaces plain
gradient steps. With tables the average policy is the counts themselves, and values are means over the stored transitions. In
uncompiled games there are no counts: steps use batches of rows, and the average imitates a reservoir of limited size, as in the
paper.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.settings import setting
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.learn.neural.fitting.policies import Profile
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings
from treeplex.learn.neural.responses.q_learning import Imitation, QLearning
from treeplex.learn.neural.walks.sampler import EpisodeBatch

RESPONSE, AVERAGE = 0, 1
"""Modes of a player during an episode: best response or average policy."""


@dataclass(frozen=True)
class NfspSettings(NeuralSettings):
    """Settings of NFSP."""

    steps: int = setting(5000, "number of batches of episodes", low=1)
    plays: int = setting(5000, "episodes per batch", low=1)
    eta: float = setting(0.1, "probability that a player follows its best response in an episode", above=0, high=1)
    explore: float = setting(0.06, "initial probability of a random action in a best response", low=0, high=1)
    explore_last: float = setting(0.001, "final probability of a random action in a best response", low=0, high=1)
    explore_over: int = setting(20_000_000, "episodes over which exploration falls", low=1)
    fits: int = setting(4, "gradient steps of each network per batch of episodes", low=1)
    memory: int = setting(200_000, "maximum number of stored transitions per player", low=1)
    refresh: int = setting(4, "batches of episodes between target updates", low=1)
    reservoir: int = setting(
        500_000,
        "maximum number of decisions on which each average policy is trained (uncompiled games only)",
        low=1,
        fixed=True,
        added=True,
    )


class Nfsp(NeuralLearner):
    """Neural fictitious self-play: Q-learning finds responses to the average policies, which imitate past responses.

    Attributes:
        responses: each player's best response.
        averages: each player's average policy.
        batches: number of batches completed.
    """

    settings_class = NfspSettings
    saved = ("batches",)
    spreads = True
    walks_rules: ClassVar[bool] = True
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "table": {"approximator": TABLE},
        "rules": {"rules": True, "plays": 256, "fits": 16, "refresh": 30, "explore_over": 1_000_000},
    }
    source = "Heinrich and Silver 2016, Deep reinforcement learning from self-play in imperfect-information games"

    def __init__(self, game: Game, settings: NfspSettings) -> None:
        super().__init__(game, settings)
        players, self.batches = range(self.players), 0
        self.responses = [QLearning(self, player, settings.memory) for player in players]
        self.averages = [Imitation(self, player) for player in players]

    def step(self) -> Mapping[str, float]:
        """Play a batch of episodes and learn from it."""
        settings, losses = self.settings, []
        follows = (self.generator.random((settings.plays, self.players)) >= settings.eta).astype(np.int64)
        self.batches += 1
        played = self.play(follows)
        for player, (response, average) in enumerate(zip(self.responses, self.averages, strict=True)):
            average.see(played, response, follows[:, player] == RESPONSE)
            response.see(played)
            losses.append(response.learn(settings.fits))
            if self.batches % settings.refresh == 0:
                response.refresh()
        for average in self.averages:
            average.imitate(settings.fits)
        return {"loss": float(np.mean(losses))}

    @property
    def exploration(self) -> float:
        """Current probability of random actions in best responses."""
        settings, share = self.settings, min(self.sampler.played / self.settings.explore_over, 1.0)
        return float(settings.explore + share * (settings.explore_last - settings.explore))

    def play(self, follows: NDArray[np.int64]) -> EpisodeBatch:
        """Play episodes with each player in the mode that ``follows`` selects, int64 [B, N]."""
        exploration = self.exploration
        explored = Profile([response.exploring(exploration) for response in self.responses])
        return self.sampler.episodes([explored, Profile([average.policy() for average in self.averages])], follows)

    def policy(self) -> Policy | NeuralPolicy:
        return self.sampler.result([average.result() for average in self.averages])

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        for player, (response, average) in enumerate(zip(self.responses, self.averages, strict=True)):
            yield from ((f"response{player}", response), (f"average{player}", average))
