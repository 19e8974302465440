"""Best responses by deep Q-learning, and average policies that imitate them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.episodes import Episodes, next_own
from treeplex.forms.policies.heads import BEST, MATCHED, best_rows
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.fitting.approximator import POLICY, Approximator
from treeplex.learn.neural.fitting.buffers import Counts, Reservoir, Rows, check_room
from treeplex.learn.neural.fitting.policies import PlayerPolicy
from treeplex.learn.neural.frame import NeuralLearner, named, under
from treeplex.learn.neural.walks.sampler import EpisodeBatch

COLUMNS = ("places", "actions", "following", "rewards")


class QLearning:
    """A player's action values, learned from transitions with a periodically updated target network (Mnih et al. 2015).

        Q(I, a) -> r + max_b Q'(I', b),

    where I' is the player's own next infoset, if any, and r the episode's payoff at its last decision. Q' is Q at the last
    :meth:`refresh`, initially 0. The newest transitions are stored. In a compiled game, a step uses all transitions, merged by
    action, which equals the expectation of steps on random samples; in uncompiled games, a step uses a random sample.

    Attributes:
        approximator: Q.
        target: Q', frozen.
        transitions: infosets as rows, actions int32 [n], next own infosets as rows, payoffs float32 [n].
    """

    def __init__(self, learner: NeuralLearner, player: int, room: int) -> None:
        """Start untrained; ``room`` is the maximum number of transitions."""
        self.player, self.room, self.settings, self.generator = player, room, learner.settings, learner.generator
        self.approximator: Approximator = learner.sampler.approximator(player, learner.generator)
        self.inputs = self.approximator.inputs
        self.target, none = self.inputs.constant(0.0), self.inputs.no_rows()
        self.transitions = Replay(none, np.empty(0, np.int32), none, np.empty(0, np.float32), room=room)
        check_room(room, self.transitions.row)

    def see(self, played: EpisodeBatch) -> None:
        """Store the player's transitions."""
        episodes, infosets = played.episodes, played.infosets
        decisions = np.flatnonzero(episodes.player == self.player)
        following = next_own(episodes.first, episodes.player, episodes.infoset, episodes.payoffs.shape[1])[decisions]
        paid = episodes.payoffs[episode_of(episodes)[decisions], self.player]
        rewards = np.where(following < 0, paid, 0.0).astype(np.float32)
        rows, after = infosets.rows(episodes.infoset[decisions]), infosets.rows_or_none(following)
        self.transitions.add((rows, episodes.action[decisions], after, rewards), self.room)

    def learn(self, steps: int) -> float:
        """Take gradient steps; returns the loss."""
        if not len(self.transitions):
            return 0.0
        if self.inputs.numbered:
            places, actions, after, rewards = self.transitions.ordered()
            shape = self.inputs.legal_actions.shape
            at, size = places.astype(np.int64) * shape[1] + actions, shape[0] * shape[1]
            counts = np.bincount(at, minlength=size).astype(np.float64)
            means = np.bincount(at, rewards + self.target.best(after), size) / np.maximum(counts, 1.0)
            return self.approximator.regress(means.reshape(shape), counts.reshape(shape), steps)
        drawn = self.generator.integers(0, len(self.transitions), steps * self.settings.batch)
        places, actions, after, rewards = self.transitions.take(drawn)
        values = np.full((len(drawn), self.inputs.actions), np.nan, np.float32)
        values[np.arange(len(drawn)), actions] = rewards + self.target.best(after)
        return self.approximator.fit(Rows(places, values, np.ones(len(drawn), np.float32)), steps, self.generator)

    def refresh(self) -> None:
        """Copy the current values to the target network."""
        self.target = self.approximator.frozen()

    def greedy(self, rows: NDArray[Any]) -> Floats:
        """The greedy policy, float64 [n, A]; ties go to the first action."""
        return best_rows(self.approximator.values(rows), self.inputs.legal(rows))

    def exploring(self, exploration: float) -> PlayerPolicy:
        """The greedy policy mixed with uniform play, which has weight ``exploration``."""
        return PlayerPolicy(self.approximator.frozen(), BEST, exploration)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        rows = dict(zip(COLUMNS, self.transitions.ordered(), strict=True))
        return named("values", self.approximator.state()) | named("target", self.target.state()) | named("rows", rows)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.approximator.restore(under("values", arrays))
        if "slot" in arrays:
            self.restore_slots(*(np.array(arrays[name]) for name in ("target", "slot", "next", "reward")))
            return
        self.target = self.inputs.restored(under("target", arrays))
        self.transitions.restore(*(under("rows", arrays)[name] for name in COLUMNS))

    def restore_slots(self, target: Floats, slots: Ints, following: Ints, rewards: Floats) -> None:
        """Restore state stored by earlier versions for compiled games: values by infoset, actions numbered consecutively."""
        legal = self.inputs.legal_actions
        places, actions = (indices.astype(np.int32)[slots] for indices in np.nonzero(legal))
        self.target = self.inputs.restored({"table": np.repeat(target[:, None], legal.shape[1], axis=1)})
        self.transitions.restore(places, actions, following, rewards)


class Imitation:
    """A player's average policy, fitted to the actions of its best response in the episodes that followed it.

    Attributes:
        network: the average policy, or a table.
        chosen: infosets with the response's greedy actions as distributions: a random sample in uncompiled games, otherwise all
            of them.
    """

    def __init__(self, learner: NeuralLearner, player: int) -> None:
        self.player, self.generator = player, learner.generator
        self.network: Approximator = learner.sampler.approximator(player, learner.generator, POLICY)
        self.chosen: Counts | Reservoir = (
            Counts(self.network.inputs.legal_actions)
            if learner.sampler.numbered
            else learner.sampler.reservoir(learner.settings.reservoir, setting="reservoir")
        )

    def see(self, played: EpisodeBatch, response: QLearning, followed: NDArray[np.bool_]) -> None:
        """Store the response's actions in the episodes in which it was followed, bool [B]."""
        episodes = played.episodes
        decisions = (episodes.player == self.player) & followed[episode_of(episodes)]
        places = played.infosets.rows(episodes.infoset[decisions])
        if len(places):
            rows = Rows(places, response.greedy(places).astype(np.float32), np.ones(len(places), np.float32))
            self.chosen.add(rows, self.generator)

    def imitate(self, steps: int) -> None:
        """Fit the average policy."""
        self.network.fit(self.chosen.rows, steps, self.generator)

    def result(self) -> Approximator | None:
        """The network; None if no action has been stored yet."""
        return self.network if len(self.chosen) else None

    def policy(self) -> PlayerPolicy:
        """The average policy; uniform if no action has been stored yet."""
        return self.network.as_policy() if len(self.chosen) else PlayerPolicy(self.network.inputs.constant(1.0), MATCHED)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        return named("network", self.network.state()) | self.chosen.state()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.network.restore(under("network", arrays) or {"values": arrays["average"]})
        self.chosen.restore(arrays)


def episode_of(episodes: Episodes) -> Ints:
    """The episode of each decision, int64 [D]."""
    return np.repeat(np.arange(len(episodes.payoffs)), np.diff(episodes.first))
