"""Neural fictitious self-play: best responses by Q-learning to averages by classification, both from self-play.

Each player follows, for a whole episode, its response with probability ``eta`` and its average policy otherwise. Q-learning
sees what a player does either way; the average policy is fitted to what it did while it followed its response (Heinrich and
Silver 2016, algorithm 1).

Deviations. Policies are read into tables for a batch of episodes (the paper learns every 64 decisions), and a step of learning
sees all that is kept, put together by infoset, where the paper draws a sample. Of the responses' actions, counts are kept: a
reservoir without a limit. What counts is the response's greedy action, also where exploration drew another. Adam takes the
place of plain gradient steps. With tables the average policy is the counts themselves, and values are means over the
transitions kept. By the rules nothing is counted: steps take batches of
rows, and the average imitates a sample of limited size, as in the paper.
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
from treeplex.learn.neural.walks.sampler import Played

RESPONSE, AVERAGE = 0, 1
"""Modes of a player in an episode: best response or average policy."""


@dataclass(frozen=True)
class NfspSettings(NeuralSettings):
    """Settings of NFSP."""

    steps: int = setting(5000, "batches of episodes", low=1)
    plays: int = setting(5000, "episodes of a batch", low=1)
    eta: float = setting(0.1, "probability of following the response for an episode", above=0, high=1)
    explore: float = setting(0.06, "probability of a random action in a response, at first", low=0, high=1)
    explore_last: float = setting(0.001, "the same once exploration has fallen", low=0, high=1)
    explore_over: int = setting(20_000_000, "over how many episodes exploration falls", low=1)
    fits: int = setting(4, "gradient steps of each network for a batch of episodes", low=1)
    memory: int = setting(200_000, "transitions of each player kept", low=1)
    refresh: int = setting(4, "batches of episodes between new targets", low=1)
    reservoir: int = setting(500_000, "by the rules, decisions that each average is fitted to", low=1, fixed=True, added=True)


class Nfsp(NeuralLearner):
    """Neural fictitious self-play: Q-learning responds to average policies, which imitate the responses.

    Attributes:
        responses: of each player.
        averages: of each player.
        batches: done.
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
        """Play a batch of episodes, and learn from it."""
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
        """The share of random actions in responses now."""
        settings, share = self.settings, min(self.sampler.played / self.settings.explore_over, 1.0)
        return float(settings.explore + share * (settings.explore_last - settings.explore))

    def play(self, follows: NDArray[np.int64]) -> Played:
        """Episodes in which players follow what ``follows``, int64 [B, N], says."""
        exploration = self.exploration
        explored = Profile([response.exploring(exploration) for response in self.responses])
        return self.sampler.episodes([explored, Profile([average.policy() for average in self.averages])], follows)

    def policy(self) -> Policy | NeuralPolicy:
        return self.sampler.result([average.result() for average in self.averages])

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        for player, (response, average) in enumerate(zip(self.responses, self.averages, strict=True)):
            yield from ((f"response{player}", response), (f"average{player}", average))
