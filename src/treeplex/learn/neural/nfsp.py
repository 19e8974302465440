"""Neural fictitious self-play: best responses by Q-learning to averages by classification, both from self-play.

Each player follows, for a whole episode, its response with probability ``eta`` and its average policy otherwise. Q-learning
sees what a player does either way; the average policy is fitted to what it did while it followed its response (Heinrich and
Silver 2016, algorithm 1).

Deviations. Policies are read into tables for a batch of episodes (the paper learns every 64 decisions), and a step of learning
sees all that is kept, put together by infoset, where the paper draws a sample. Of the responses' actions, counts are kept: a
reservoir without a limit. What counts is the response's greedy action, also where exploration drew another. Adam takes the
place of plain gradient steps. With tables the average policy is the counts themselves, and values are means over the
transitions kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.episodes import Episodes
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.approximator import POLICY, TABLE, make_approximator
from treeplex.learn.neural.buffers import Rows
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings, named, under
from treeplex.learn.neural.q_learning import QLearning, episode_of, transitions
from treeplex.settings import setting

RESPONSE, AVERAGE = 0, 1
"""What a player follows in an episode."""


@dataclass(frozen=True)
class NfspSettings(NeuralSettings):
    """What a training is asked to do."""

    steps: int = setting(5000, "batches of episodes", low=1)
    plays: int = setting(5000, "episodes of a batch", low=1)
    eta: float = setting(0.1, "probability of following the response for an episode", above=0, high=1)
    explore: float = setting(0.06, "probability of a random action in a response, at first", low=0, high=1)
    explore_last: float = setting(0.001, "the same once exploration has fallen", low=0, high=1)
    explore_over: int = setting(20_000_000, "over how many episodes exploration falls", low=1)
    fits: int = setting(4, "gradient steps of each network for a batch of episodes", low=1)
    memory: int = setting(200_000, "transitions of each player kept", low=1)
    refresh: int = setting(4, "batches of episodes between new targets", low=1)


class Nfsp(NeuralLearner):
    """Neural fictitious self-play: Q-learning responds to average policies, which imitate the responses.

    Attributes:
        responses: of each player.
        averages: an approximator of each player's average policy; none where there are tables.
        chosen: float64 [S], how often each action was the response's.
        average: float64 [S], the average policy.
        batches: done.
    """

    settings_class = NfspSettings
    spreads = True
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"table": {"approximator": TABLE}}
    source = "Heinrich and Silver 2016, Deep reinforcement learning from self-play in imperfect-information games"

    def __init__(self, game: Game, settings: NfspSettings) -> None:
        super().__init__(game, settings)
        inputs = [self.inputs(player) for player in range(self.compiled.players)]
        self.responses = [QLearning(make_approximator(own, settings, self.generator), settings.memory) for own in inputs]
        imitate = settings.approximator != TABLE
        self.averages = [make_approximator(own, settings, self.generator, POLICY) for own in inputs if imitate]
        self.chosen, self.average, self.batches = np.zeros(len(self.slots)), self.uniform(), 0

    def step(self) -> Mapping[str, float]:
        """Play a batch of episodes, and learn from it."""
        settings, losses = self.settings, []
        follows = (self.generator.random((settings.plays, self.compiled.players)) >= settings.eta).astype(np.int64)
        episodes = self.play(follows)
        self.batches += 1
        for player, response in enumerate(self.responses):
            own, greedy = np.flatnonzero(episodes.player == player), response.greedy()
            response.see(*transitions(episodes, player, self.first, self.infosets_of(player).start))
            followed = own[follows[episode_of(episodes)[own], player] == RESPONSE]
            places = episodes.infoset[followed] - self.infosets_of(player).start
            self.chosen[self.slots_of(player)] += np.bincount(greedy[places], minlength=response.first[-1])
            losses.append(response.learn(settings.fits))
            if self.batches % settings.refresh == 0:
                response.refresh()
        self.imitate()
        self.count(episodes.nodes, settings.plays)
        return {"loss": float(np.mean(losses))}

    def play(self, follows: NDArray[np.int64]) -> Episodes:
        """Episodes in which players follow what ``follows``, int64 [B, N], says."""
        settings, game = self.settings, self.compiled
        share = min(self.played / settings.explore_over, 1.0)
        exploration = settings.explore + share * (settings.explore_last - settings.explore)
        explored = np.concatenate([response.exploring(exploration) for response in self.responses])
        policies = np.ones((2, len(game.action_ids)))
        policies[:, self.slots] = explored, self.average
        return self.episodes(policies, follows)

    def imitate(self) -> None:
        """Fit the average policy to the counts."""
        visits = np.add.reduceat(self.chosen, self.first[:-1])
        widths = np.diff(self.first)
        total = np.repeat(visits, widths)
        shares = np.where(total > 0.0, self.chosen / np.maximum(total, 1.0), 1.0 / np.repeat(widths, widths))
        if not self.averages:
            self.average = shares
        for player, network in enumerate(self.averages):
            own = self.slots_of(player)
            rows = Rows.of_slots(network.inputs.first, shares[own], visits[self.infosets_of(player)])
            network.fit(rows, self.settings.fits, self.generator)
            self.average[own] = network.values()

    def policy(self) -> Policy:
        return self.policy_of(self.average)

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = {"chosen": self.chosen, "average": self.average, "batches": np.array([self.batches])}
        for player, response in enumerate(self.responses):
            arrays |= named(f"response{player}", response.state())
        for player, network in enumerate(self.averages):
            arrays |= named(f"average{player}", network.state())
        return arrays | self.counts()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.chosen, self.average = np.array(arrays["chosen"]), np.array(arrays["average"])
        self.batches = int(arrays["batches"][0])
        for player, response in enumerate(self.responses):
            response.restore(under(f"response{player}", arrays))
        for player, network in enumerate(self.averages):
            network.restore(under(f"average{player}", arrays))
        self.restore_counts(arrays)
