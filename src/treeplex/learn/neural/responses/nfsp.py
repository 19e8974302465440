"""Neural fictitious self-play: best responses by Q-learning to averages by classification, both from self-play.

Each player follows, for a whole episode, its response with probability ``eta`` and its average policy otherwise. Q-learning
sees what a player does either way; the average policy is fitted to what it did while it followed its response (Heinrich and
Silver 2016, algorithm 1).

Deviations. Policies are read into tables for a batch of episodes (the paper learns every 64 decisions), and a step of learning
sees all that is kept, put together by infoset, where the paper draws a sample. Of the responses' actions, counts are kept: a
reservoir without a limit. What counts is the response's greedy action, also where exploration drew another. Adam takes the
place of plain gradient steps. With tables the average policy is the counts themselves, and values are means over the
transitions kept. By the rules (:mod:`treeplex.learn.neural.responses.nfsp_rows`) nothing is counted: steps take batches of
rows, and the average imitates a sample of limited size, as in the paper.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.episodes import Episodes
from treeplex.engine.tree.form import Floats
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import POLICY, TABLE, make_approximator
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings, named, under
from treeplex.learn.neural.responses.nfsp_rows import RowPlayer
from treeplex.learn.neural.responses.q_learning import QLearning, episode_of, transitions
from treeplex.learn.neural.walks.rules_walks import Asked, Met, Playing, RulesWalks
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
    reservoir: int = setting(500_000, "by the rules, decisions that each average is fitted to", low=1, fixed=True, added=True)


class Nfsp(NeuralLearner):
    """Neural fictitious self-play: Q-learning responds to average policies, which imitate the responses.

    Attributes:
        row_players: by the rules, what each player learns; what follows is of compiled games.
        responses: of each player.
        averages: an approximator of each player's average policy; none where there are tables.
        chosen: float64 [S], how often each action was the response's.
        average: float64 [S], the average policy.
        batches: done.
    """

    settings_class = NfspSettings
    spreads = True
    walks_rules: ClassVar[bool] = True
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "table": {"approximator": TABLE},
        "rules": {"rules": True, "plays": 256, "fits": 16, "refresh": 30, "explore_over": 1_000_000},
    }
    source = "Heinrich and Silver 2016, Deep reinforcement learning from self-play in imperfect-information games"

    def __init__(self, game: Game, settings: NfspSettings) -> None:
        super().__init__(game, settings)
        self.batches = 0
        self.row_players = list[RowPlayer]()
        if self.by_rules is not None:
            view = self.by_rules.view
            self.row_players = [RowPlayer(player, view, settings, self.generator) for player in range(self.players)]
            return
        inputs = [self.inputs(player) for player in range(self.compiled.players)]
        self.responses = [QLearning(make_approximator(own, settings, self.generator), settings.memory) for own in inputs]
        imitate = settings.approximator != TABLE
        self.averages = [make_approximator(own, settings, self.generator, POLICY) for own in inputs if imitate]
        self.chosen, self.average = np.zeros(len(self.slots)), self.uniform()

    def step(self) -> Mapping[str, float]:
        """Play a batch of episodes, and learn from it."""
        settings, losses = self.settings, []
        follows = (self.generator.random((settings.plays, self.players)) >= settings.eta).astype(np.int64)
        self.batches += 1
        if self.by_rules is not None:
            return self.step_by_rules(self.by_rules, follows)
        episodes = self.play(follows)
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

    def step_by_rules(self, walks: RulesWalks, follows: NDArray[np.int64]) -> Mapping[str, float]:
        """The same, by rows."""
        settings = self.settings

        def asked(policy: Callable[[RowPlayer, NDArray[np.float32]], Floats]) -> Asked:
            def ask(met: Met) -> Floats:
                found, rows = np.zeros(met.legal.shape), met.described()
                for player, each in enumerate(self.row_players):
                    own = met.player == player
                    if own.any():
                        found[own] = policy(each, rows[own])
                return found

            return ask

        exploration = self.exploration
        policies = [asked(lambda each, rows: each.exploring(rows, exploration)), asked(RowPlayer.averaged)]
        episodes, met, *_ = walks.episodes(policies, follows, Playing(settings.seed), self.played)
        losses = []
        for player, each in enumerate(self.row_players):
            each.see(episodes, met, follows[:, player])
            losses.append(each.learn(settings.fits))
            if self.batches % settings.refresh == 0:
                each.refresh()
            each.imitate(settings.fits)
        self.count(episodes.nodes, settings.plays)
        return {"loss": float(np.mean(losses))}

    @property
    def exploration(self) -> float:
        """The share of random actions in responses now."""
        settings, share = self.settings, min(self.played / self.settings.explore_over, 1.0)
        return float(settings.explore + share * (settings.explore_last - settings.explore))

    def play(self, follows: NDArray[np.int64]) -> Episodes:
        """Episodes in which players follow what ``follows``, int64 [B, N], says."""
        game, exploration = self.compiled, self.exploration
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

    def policy(self) -> Policy | NeuralPolicy:
        if self.row_players:
            return self.ground.policy([each.average if len(each.chosen) else None for each in self.row_players])
        return self.policy_of(self.average)

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = {"batches": np.array([self.batches]), **self.counts()}
        for player, each in enumerate(self.row_players):
            arrays |= named(f"player{player}", each.state())
        if self.row_players:
            return arrays
        arrays |= {"chosen": self.chosen, "average": self.average}
        for player, response in enumerate(self.responses):
            arrays |= named(f"response{player}", response.state())
        for player, network in enumerate(self.averages):
            arrays |= named(f"average{player}", network.state())
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.batches = int(arrays["batches"][0])
        self.restore_counts(arrays)
        for player, each in enumerate(self.row_players):
            each.restore(under(f"player{player}", arrays))
        if self.row_players:
            return
        self.chosen, self.average = np.array(arrays["chosen"]), np.array(arrays["average"])
        for player, response in enumerate(self.responses):
            response.restore(under(f"response{player}", arrays))
        for player, network in enumerate(self.averages):
            network.restore(under(f"average{player}", arrays))
