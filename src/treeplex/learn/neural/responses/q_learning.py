"""Deep Q-learning over infosets: values of own actions, from whatever was played, toward best responses."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.episodes import Episodes
from treeplex.engine.histories.transitions import next_own
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.fitting.approximator import make_approximator
from treeplex.learn.neural.fitting.buffers import check_room
from treeplex.learn.neural.frame import NeuralLearner, under
from treeplex.learn.neural.walks.rules_walks import MetEpisodes

PARTS = ("slot", "next", "reward")


class QLearning:
    """Values of a player's actions, fitted to transitions by targets that are refreshed now and then (Mnih et al. 2015).

        Q(I, a) -> r + max_b Q'(I', b),

    I' the player's own next infoset, where there is one, and r what an episode pays, at the last own decision. Q' is Q as it
    was at the last :meth:`refresh`, read into a table. The newest transitions are kept, and a step is on all of them, put
    together by action: that is the mean of the steps on samples of them.

    Attributes:
        approximator: Q.
        first: int64 [I+1], the first slot of each of the player's infosets.
        target: float64 [I], the values of infosets by Q'.
        rows: transitions: the slot that was played, the next infoset or -1, and the payoff.
    """

    def __init__(self, learner: NeuralLearner, player: int, room: int) -> None:
        """Know nothing; ``room`` is how many transitions are kept."""
        self.approximator = make_approximator(learner.inputs(player), learner.settings, learner.generator)
        self.first, self.room, self.player = self.approximator.inputs.first, room, player
        self._slots, self._begin = learner.first, learner.infosets_of(player).start
        self.target = np.zeros(len(self.first) - 1)
        self.rows = Replay(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32), room=room)
        check_room(room, self.rows.row)

    def see(self, played: MetEpisodes) -> None:
        """Keep the player's transitions."""
        self.rows.add(transitions(played.episodes, self.player, self._slots, self._begin), self.room)

    def learn(self, steps: int) -> float:
        """Steps on all transitions; the loss."""
        slots, following, rewards = self.rows.ordered()
        found = rewards + np.where(following < 0, 0.0, self.target[following])
        size = int(self.first[-1])
        counts = np.bincount(slots, minlength=size).astype(np.float64)
        return self.approximator.regress(np.bincount(slots, found, size) / np.maximum(counts, 1.0), counts, steps)

    def refresh(self) -> None:
        """Targets are now those of Q as it stands."""
        self.target[:] = np.maximum.reduceat(self.approximator.values(), self.first[:-1])

    def greedy(self) -> Ints:
        """The slot of the action with the highest value at each infoset, int64 [I]; of equal ones the first."""
        return best_slots(self.first, self.approximator.values())

    def exploring(self, exploration: float) -> Floats:
        """The policy float64 [S] that plays the greedy action, and with this probability any."""
        counts = np.diff(self.first)
        policy = np.repeat(exploration / counts, counts)
        policy[self.greedy()] += 1.0 - exploration
        return policy

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        rows = dict(zip(PARTS, self.rows.ordered(), strict=True))
        values = {f"values.{name}": array for name, array in self.approximator.state().items()}
        return {"target": self.target, **rows, **values}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`state` returned."""
        self.target[:] = arrays["target"]
        self.rows.restore(*(arrays[part] for part in PARTS))
        self.approximator.restore(under("values", arrays))


def best_slots(first: Ints, values: Floats) -> Ints:
    """The slot with the greatest value, float64 [S], of each infoset, int64 [I]; of equal ones the first."""
    highest = np.repeat(np.maximum.reduceat(values, first[:-1]), np.diff(first))
    at = np.flatnonzero(values == highest)
    return at[np.searchsorted(at, first[:-1])]


def transitions(
    episodes: Episodes, player: int, first: Ints, begin: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """A player's transitions in episodes: own slots, own next infosets or -1, and payoffs at the last own decisions.

    Args:
        episodes: of everybody.
        player: whose.
        first: int64 [I+1], the first slot of each infoset of all players.
        begin: the player's first infoset; own slots and infosets count from it and its first slot.
    """
    following = next_own(episodes.first, episodes.player, episodes.infoset, episodes.payoffs.shape[1])
    own = np.flatnonzero(episodes.player == player)
    slots = first[episodes.infoset[own]] - first[begin] + episodes.action[own]
    ahead, paid = following[own], episodes.payoffs[episode_of(episodes)[own], player]
    rewards = np.where(ahead < 0, paid, 0.0)
    return slots.astype(np.int32), np.where(ahead < 0, -1, ahead - begin).astype(np.int32), rewards.astype(np.float32)


def episode_of(episodes: Episodes) -> Ints:
    """The episode of each decision, int64 [D]."""
    return np.repeat(np.arange(len(episodes.payoffs)), np.diff(episodes.first))
