"""Playthroughs by the rules, a critic of what they pay, and the regrets that are read from both: outcome sampling by rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Singles, SmallInts
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.fitting.buffers import Rows, check_room
from treeplex.learn.neural.fitting.row_network import RowNetwork
from treeplex.learn.neural.walks.rules_jobs import SpreadWalks
from treeplex.learn.neural.walks.rules_walks import Asked, Met, MetEpisodes, Others, Playing

if TYPE_CHECKING:
    from treeplex.learn.neural.frame import NeuralLearner

TOGETHER = 512
"""Playthroughs whose rows are held together."""
SEEN = ("histories", "actions", "actors", "ends", "payoffs")


def sampled_regrets(
    played: MetEpisodes, player: int, critic: Floats, *, corrected: bool, scale: float
) -> tuple[SmallInts, Singles, Singles]:
    """Regrets of a traverser's actions read from a critic; see :func:`treeplex.engine.histories.recording.record_outcomes`.

    Args:
        played: playthroughs of one policy.
        player: the traverser.
        critic: float64 [D, columns], what it gets from each action, in units of the largest payoff.
        corrected: whether the critic is corrected by what was sampled.
        scale: the largest payoff.

    Returns:
        Which decisions are the traverser's, int32 [R]; float32 [R, columns], NaN where an action is not there; and float32 [R],
        one over the probability that the traverser's own choices led there, times that of uniform ones.
    """
    episodes, met = played.episodes, played.met
    own, values = np.flatnonzero(episodes.player == player).astype(np.int32), critic.copy()
    policy, means, weights = played.policy[episodes.infoset], np.empty(len(critic)), np.ones(len(critic))
    counts = met.legal[episodes.infoset].sum(axis=1)
    for episode, payoffs in enumerate(episodes.payoffs):
        value, begin, end = payoffs[player] / scale, int(episodes.first[episode]), int(episodes.first[episode + 1])
        for at in range(end - 1, begin - 1, -1):
            if corrected:
                taken = episodes.action[at]
                values[at, taken] += (value - values[at, taken]) / episodes.probability[at]
            means[at] = value = policy[at] @ values[at]
        reach = 1.0
        for at in range(begin, end):
            if episodes.player[at] == player:
                weights[at] = 1.0 / reach
                reach *= episodes.probability[at] * counts[at]
    regrets = np.where(met.legal[episodes.infoset[own]], values[own] - means[own, None], np.nan)
    return own, regrets.astype(np.float32), weights[own].astype(np.float32)


class RowCritic:
    """What players get from actions of histories that rows describe, fitted to what came of the actions of playthroughs.

    Attributes:
        parts: a network for each player; one where two players' payoffs sum to a constant.
        seen: decisions in the order of play: float32 [n, W] histories, int32 [n] columns played, int32 [n] who acted, bool [n]
            which are the last of their playthroughs, and float32 [n, N] payoffs in units of the largest.
        returns: whether what came of an action is the payoff, not the next decision.
    """

    def __init__(self, learner: NeuralLearner, walks: SpreadWalks) -> None:
        self.learner, self.walks, self.returns = learner, walks, False
        self.features, columns = learner.players * len(walks.view.scale), len(walks.view.actions)
        self.constant = learner.constant if learner.players == 2 else None
        count = learner.players if self.constant is None else 1
        self.parts = [RowNetwork(self.features, columns, learner.settings, learner.generator) for _ in range(count)]
        whole, payoffs = np.empty((0, self.features + columns), np.float32), np.empty((0, learner.players), np.float32)
        empty = whole, np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.bool_), payoffs
        self._nothing = empty
        self.seen = Replay(*empty, room=learner.settings.critic_memory)
        check_room(learner.settings.critic_memory, self.seen.row, "critic_memory")

    def values(self, player: int, histories: Singles) -> Floats:
        """What a player gets from each action, in units of the largest payoff; float64 [n, columns]."""
        return self.values_by([part.values for part in self.parts], player, histories)

    def values_by(self, parts: Sequence[Callable[[Singles], Floats]], player: int, histories: Singles) -> Floats:
        """The same by other networks than :attr:`parts`, such as earlier ones."""
        if self.constant is not None and player == 1:
            return np.asarray(self.constant / self.learner.scale - parts[0](histories))
        return np.asarray(parts[player](histories))

    def played(self, player: int, count: int, exploration: float) -> Iterator[MetEpisodes]:
        """Playthroughs of the present policies, counted by the learner and numbered by its count."""
        learner, last = self.learner, self.learner.played + count
        playing = Playing(learner.settings.seed, player, player, exploration, histories=True)
        while learner.played < last:
            seats = np.zeros((min(TOGETHER, last - learner.played), learner.players), np.int64)
            found = self.walks.episodes([learner.ground.strategy], seats, playing, learner.played)
            learner.count(found.episodes.nodes, len(seats))
            yield found

    def watch(self, player: int, count: int, exploration: float) -> None:
        """Take in what so many playthroughs of a traverser come to at their ends."""
        self.returns = True
        for found in self.played(player, count, exploration):
            self.add(found)

    def add(self, found: MetEpisodes) -> None:
        """Take in the decisions of playthroughs."""
        episodes, ends = found.episodes, np.zeros(len(found.episodes.player), np.bool_)
        ends[episodes.first[1:][np.diff(episodes.first) > 0] - 1] = True
        payoffs = np.repeat(episodes.payoffs / self.learner.scale, np.diff(episodes.first), axis=0)
        self.seen.add((found.histories, episodes.action, episodes.player, ends, payoffs), self.learner.settings.critic_memory)

    see = add

    def playthroughs(
        self, player: int, count: int, exploration: float, *, corrected: bool = True
    ) -> Iterator[tuple[Rows, Any, MetEpisodes]]:
        """Playthroughs of a traverser; see :meth:`treeplex.learn.neural.walks.critics.Critic.playthroughs`."""
        for found in self.played(player, count, exploration):
            critic, scale = self.values(player, found.histories), self.learner.scale
            own, values, weights = sampled_regrets(found, player, critic, corrected=corrected, scale=scale)
            places = found.met.at(found.episodes.infoset[own]).described()
            others = found.episodes.infoset[found.episodes.player != player]
            yield Rows(places, values, weights), Others.of(found.met, others, found.policy), found

    def forget(self) -> None:
        """Drop everything, and begin with new networks."""
        self.seen = Replay(*self._nothing, room=self.learner.settings.critic_memory)
        for part in self.parts:
            part.reset(self.learner.generator)

    def fit(self, policy: Asked) -> float:
        """Fit to the worth of what came of actions under a policy; the mean loss."""
        settings, (histories, actions, actors, ends, payoffs) = self.learner.settings, self.seen.ordered()
        if not len(actions):
            return 0.0
        losses, rows, rounds = [], np.arange(len(actions)), 1 if self.returns else settings.critic_rounds
        later = np.flatnonzero(~ends) + 1
        shares = None if self.returns else policy(self.met(histories[later], actors[later]))
        for number, part in enumerate(self.parts):
            for done in range(rounds):
                worth = payoffs[:, number].astype(np.float64)
                if shares is not None:
                    worth[later - 1] = (shares * self.values(number, histories[later])).sum(axis=1)
                values = np.full((len(actions), part.columns), np.nan, np.float32)
                values[rows, actions] = worth
                fits = (settings.critic_fits + done) // rounds
                found = Rows(histories, values, np.ones(len(actions), np.float32))
                losses.append(part.fit(found, max(1, fits), self.learner.generator))
        return float(np.mean(losses))

    def met(self, histories: Singles, actors: SmallInts) -> Met:
        """The infosets of whoever acts at histories."""
        width, rows = self.features // self.learner.players, np.arange(len(histories))
        features = histories[:, : self.features].reshape(len(rows), -1, width)[rows, actors]
        return Met(actors, features, histories[:, self.features :] > 0.0)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        arrays = dict(zip(SEEN, self.seen.ordered(), strict=True))
        return arrays | {f"{part}.{name}": each for part, net in enumerate(self.parts) for name, each in net.state().items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.seen.restore(*(arrays[name] for name in SEEN))
        for number, part in enumerate(self.parts):
            start = f"{number}."
            part.restore({name.removeprefix(start): each for name, each in arrays.items() if name.startswith(start)})
