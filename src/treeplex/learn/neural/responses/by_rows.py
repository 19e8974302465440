"""Q-learning and imitation by the rules, from rows that describe infosets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Singles
from treeplex.engine.histories.transitions import next_own
from treeplex.forms.policies.heads import BEST, SOFTMAX, best_rows
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.fitting.approximator import POLICY
from treeplex.learn.neural.fitting.buffers import Reservoir, Rows, check_room
from treeplex.learn.neural.fitting.row_network import RowNetwork
from treeplex.learn.neural.frame import NeuralLearner, named, under
from treeplex.learn.neural.responses.q_learning import QLearning, episode_of
from treeplex.learn.neural.walks.row_policies import RowPolicy
from treeplex.learn.neural.walks.rules_walks import MetEpisodes

PARTS = ("places", "actions", "following", "rewards")


class RowQLearning:
    """Values of a player's actions with a target network (Mnih et al. 2015), steps on transitions that are drawn at random.

    Attributes:
        values, target: networks; the targets of the first are those of the second.
        transitions: the newest, float32 [n, W] where, int32 [n] which column was played, float32 [n, W] the next own infoset or
            zeros, float32 [n] the payoff.
    """

    def __init__(self, learner: NeuralLearner, player: int, room: int) -> None:
        """Know nothing; ``room`` is how many transitions are kept."""
        view, settings = learner.probed.view, learner.settings
        self.player, self.settings, self.generator, self.room = player, settings, learner.generator, room
        self.values = RowNetwork.of_infosets(view, settings, learner.generator)
        self.target = RowNetwork.of_infosets(view, settings, learner.generator)
        nowhere = np.empty((0, len(view.scale) + len(view.actions)), np.float32)
        self.transitions = Replay(nowhere, np.empty(0, np.int32), nowhere, np.empty(0, np.float32), room=room)
        check_room(room, self.transitions.row)
        self.refresh()

    def see(self, played: MetEpisodes) -> None:
        """Keep the player's transitions."""
        episodes, described = played.episodes, played.met.described()
        own = np.flatnonzero(episodes.player == self.player)
        following = next_own(episodes.first, episodes.player, episodes.infoset, episodes.payoffs.shape[1])[own]
        ends, episode = following < 0, episode_of(episodes)[own]
        after = np.where(ends[:, None], np.float32(0.0), described[np.maximum(following, 0)])
        rewards = np.where(ends, episodes.payoffs[episode, self.player], 0.0).astype(np.float32)
        self.transitions.add((described[episodes.infoset[own]], episodes.action[own], after, rewards), self.room)

    def learn(self, steps: int) -> float:
        """Steps; the loss."""
        if not len(self.transitions):
            return 0.0
        drawn = self.generator.integers(0, len(self.transitions), steps * self.settings.batch)
        places, actions, after, rewards = self.transitions.take(drawn)
        legal = self.target.legal(after)
        best = np.where(legal, self.target.values(after), -np.inf).max(axis=1)
        values = np.full((len(drawn), legal.shape[1]), np.nan, np.float32)
        values[np.arange(len(drawn)), actions] = rewards + np.where(legal.any(axis=1), best, 0.0)
        return self.values.fit(Rows(places, values, np.ones(len(drawn), np.float32)), steps, self.generator)

    def refresh(self) -> None:
        """Targets are now those of the values as they stand."""
        self.target.inner.module.load_state_dict(self.values.inner.module.state_dict())

    def greedy(self, places: Singles) -> Floats:
        """The action of the greatest value has probability 1."""
        return best_rows(self.values.values(places), self.values.legal(places))

    def exploring(self, exploration: float) -> RowPolicy:
        """The greedy policy with this share of all actions alike."""
        return RowPolicy(self.values.features, self.values.copied(), BEST, exploration)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        rows = dict(zip(PARTS, self.transitions.ordered(), strict=True))
        return named("values", self.values.state()) | named("target", self.target.state()) | named("rows", rows)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.values.restore(under("values", arrays))
        self.target.restore(under("target", arrays))
        self.transitions.restore(*(under("rows", arrays)[name] for name in PARTS))


class RowImitation:
    """A network of a player's average policy, fitted to a sample of all infosets at which the response was followed.

    Attributes:
        network: the average policy.
        chosen: the infosets, and the response's greedy action as a distribution.
    """

    def __init__(self, learner: NeuralLearner, player: int) -> None:
        view, settings = learner.probed.view, learner.settings
        self.player, self.generator = player, learner.generator
        self.network = RowNetwork.of_infosets(view, settings, learner.generator, POLICY)
        width = len(view.scale) + len(view.actions)
        self.chosen = Reservoir(settings.reservoir, len(view.actions), width, setting="reservoir")

    def see(self, played: MetEpisodes, response: RowQLearning, followed: NDArray[np.bool_]) -> None:
        """Keep what the response does in the episodes in which it was followed, bool [B]."""
        episodes = played.episodes
        own = (episodes.player == self.player) & followed[episode_of(episodes)]
        places = played.met.at(episodes.infoset[own]).described()
        if len(places):
            rows = Rows(places, response.greedy(places).astype(np.float32), np.ones(len(places), np.float32))
            self.chosen.add(rows, self.generator)

    def imitate(self, steps: int) -> None:
        """Fit the average."""
        self.network.fit(self.chosen.rows, steps, self.generator)

    def policy(self) -> RowPolicy:
        """The average policy; uniform before there is one."""
        return RowPolicy(self.network.features, self.network.copied() if len(self.chosen) else None, SOFTMAX)

    def result(self) -> RowNetwork | None:
        """The network, for :meth:`treeplex.learn.neural.walks.ground.Ground.policy`; None before anything was chosen."""
        return self.network if len(self.chosen) else None

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        return named("network", self.network.state()) | named("chosen", self.chosen.state())

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.network.restore(under("network", arrays))
        self.chosen.restore(under("chosen", arrays))


def make_response(learner: NeuralLearner, player: int, room: int) -> Any:
    """Q-learning of a player; ``room`` is how many transitions are kept."""
    return (QLearning if learner.by_rules is None else RowQLearning)(learner, player, room)
