"""Critics: networks that learn the traverser's action values at each history, and outcome sampling with critics as baselines.

A critic observes all players' information. It learns from transitions: an action at a history, and the next decision or
terminal history, skipping chance nodes. Targets are recomputed from the current policy and critic whenever the critic is fitted
(expected SARSA), so old transitions remain valid.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, Singles, SmallInts
from treeplex.base.settings import setting
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.features import history_features
from treeplex.learn.neural.fitting.approximator import GameInputs, Inputs, RowInputs, make_approximator
from treeplex.learn.neural.fitting.buffers import Rows, check_room
from treeplex.learn.neural.fitting.infosets import Infosets
from treeplex.learn.neural.fitting.policies import AnyProfile
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings, named, under
from treeplex.learn.neural.walks.compiled import WalkKind, walk_outcomes
from treeplex.learn.neural.walks.sampler import EpisodeBatch, EpisodeOptions, Walks

Arrays = Mapping[str, NDArray[Any]]
TOGETHER = 512
"""Playthroughs per batch when sampling uncompiled games."""


@dataclass(frozen=True)
class CriticSettings(NeuralSettings):
    """Settings for training a critic."""

    critic_memory: int = setting(200_000, "number of newest transitions on which the critic is trained", low=1, fixed=True)
    critic_fits: int = setting(1000, "gradient steps of the critic per iteration", low=1)
    critic_rounds: int = setting(5, "number of times per iteration that the critic's targets are recomputed", low=1)


class Critic(ABC):
    """Critic of each player's action values at each history, in units of the largest payoff.

    Attributes:
        inputs: network inputs of histories.
        parts: an approximator for each player; in two-player constant-sum games one serves both.
        transitions: the newest transitions, in columns named ``names``.
    """

    names: ClassVar[Sequence[str]]

    def __init__(self, learner: NeuralLearner, inputs: Inputs, *columns: NDArray[Any]) -> None:
        self.learner, self.settings, self.inputs = learner, learner.settings, inputs
        self.sampler: Any = learner.sampler
        constant, self._columns = learner.sampler.constant, columns
        self.constant = None if learner.players != 2 or constant is None else constant / learner.sampler.scale
        count = 1 if self.constant is not None else learner.players
        self.parts: list[Any] = [make_approximator(inputs, learner.settings, learner.generator) for _ in range(count)]
        self.transitions = Replay(*columns, room=self.settings.critic_memory)
        check_room(self.settings.critic_memory, self.transitions.row, "critic_memory")

    def values(self, player: int, histories: Any = None, parts: Sequence[Callable[[Any], Floats]] | None = None) -> Floats:
        """Return a player's action values at histories, float64 [n, A].

        Args:
            player: the player.
            histories: rows of the critic's inputs; in a compiled game None means every decision.
            parts: functions used in place of the current approximators, such as those of an earlier iteration.
        """
        functions = parts or [part.values for part in self.parts]
        if self.constant is not None and player == 1:
            return np.asarray(self.constant - functions[0](histories))
        return np.asarray(functions[player](histories))

    def add(self, transitions: Sequence[NDArray[Any]]) -> None:
        """Store transitions."""
        self.transitions.add(transitions, self.settings.critic_memory)

    @abstractmethod
    def see(self, played: EpisodeBatch) -> None:
        """Store the transitions of episodes."""

    @abstractmethod
    def playthroughs(self, player: int, count: int, exploration: float, *, corrected: bool = True) -> Iterator[Walks]:
        """Run outcome-sampling playthroughs under the current policies; the sampler counts them.

        Args:
            player: the traverser.
            count: number of playthroughs.
            exploration: probability with which the traverser acts uniformly at random.
            corrected: whether the critic's values are corrected by the sampled returns.

        Yields:
            Batches of walks, with regrets in units of the largest payoff and transitions for :meth:`add`.
        """

    @abstractmethod
    def watch(self, player: int, count: int, exploration: float) -> None:
        """Store the transitions of ``count`` new playthroughs, with the traverser exploring."""

    def forget(self) -> None:
        """Drop all transitions and reinitialise the networks."""
        self.transitions = Replay(*self._columns, room=self.settings.critic_memory)
        for part in self.parts:
            part.reset(self.learner.generator)

    def fit(self, policy: AnyProfile) -> float:
        """Train the approximators on the transitions, with targets under a policy; returns the mean loss."""
        settings, columns = self.settings, self.transitions.ordered()
        if not len(columns[0]):
            return 0.0
        worth_of, losses = self.worth_under(policy, columns), []
        for number, part in enumerate(self.parts):
            for done in range(settings.critic_rounds):
                histories, actions, worth = worth_of(number)
                values = np.full((len(actions), self.inputs.actions), np.nan, np.float32)
                values[np.arange(len(actions)), actions] = worth
                rows = Rows(histories, values, np.ones(len(actions), np.float32))
                fits = (settings.critic_fits + done) // settings.critic_rounds
                losses.append(part.fit(rows, max(1, fits), self.learner.generator))
        return float(np.mean(losses))

    @abstractmethod
    def worth_under(
        self, policy: AnyProfile, columns: Sequence[NDArray[Any]]
    ) -> Callable[[int], tuple[NDArray[Any], NDArray[Any], Floats]]:
        """Return a function that maps a player to training rows: histories, actions, and targets under the current critic and a
        policy."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        arrays: dict[str, NDArray[Any]] = dict(zip(self.names, self.transitions.ordered(), strict=True))
        for number, part in enumerate(self.parts):
            arrays |= named(str(number), part.state())
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.transitions.restore(*(np.array(arrays[name]) for name in self.names))
        for number, part in enumerate(self.parts):
            part.restore(under(str(number), arrays))


class GameCritic(Critic):
    """A critic for the histories of a compiled game.

    Transitions are int32 [n, 2]: a history-action pair, and the next history. Pairs are numbered history by history,
    starting at ``edge``.

    Attributes:
        nodes: int64 [D], the decision histories.
        infosets: int64 [D], their infosets.
        first: int64 [D + 1], number of each decision history's first action.
        edge: int64 [H], number of each history's first action; -1 where no player acts.
    """

    names = ("transitions",)

    def __init__(self, learner: NeuralLearner) -> None:
        game, nodes, infosets = learner.compiled, learner.histories.nodes, learner.infosets
        self.nodes = np.flatnonzero(nodes[:, 0] >= 0)
        self.infosets: Ints = nodes[self.nodes, 3].astype(np.int64)
        self.first: Ints = np.append(0, np.cumsum(nodes[self.nodes, 2], dtype=np.int64))
        self.edge: Ints = np.full(len(nodes), -1, np.int64)
        self.edge[self.nodes] = self.first[:-1]
        self.place_of: Ints = np.repeat(np.arange(len(self.nodes)), np.diff(self.first))
        legal = infosets.legal[self.infosets]
        actions = game.action_ids[infosets.sequences[self.infosets][legal]]
        features = history_features(game, learner.settings.features)[self.nodes]
        super().__init__(learner, GameInputs(features, legal, actions), np.empty((0, 2), np.int32))
        self.legal = legal

    def see(self, played: EpisodeBatch) -> None:
        episodes = played.episodes
        following = np.append(episodes.history[1:], np.int32(0))
        begun = np.diff(episodes.first) > 0
        following[episodes.first[1:][begun] - 1] = episodes.ends[begun]
        slots = self.edge[episodes.history] + episodes.action
        self.add((np.stack((slots, following), axis=1).astype(np.int32),))

    def playthroughs(
        self, player: int, count: int, exploration: float, *, corrected: bool = True, returns: bool = False
    ) -> Iterator[Walks]:
        sampler = self.sampler
        kind = WalkKind(player, self.settings.seed, exploration, corrected, returns)
        values = self.values(player)[self.legal] * sampler.scale
        walks, strategy = range(sampler.played, sampler.played + count), self.learner.strategy
        for batch in sampler.walks(walk_outcomes, strategy, [values, self.edge], kind, walks):
            yield batch._replace(transitions=(batch.transitions,))

    def watch(self, player: int, count: int, exploration: float) -> None:
        for batch in self.playthroughs(player, count, exploration, returns=True):
            self.add(batch.transitions)

    def worth_under(
        self, policy: AnyProfile, columns: Sequence[NDArray[Any]]
    ) -> Callable[[int], tuple[NDArray[Any], NDArray[Any], Floats]]:
        (edges,), histories, shares = columns, self.learner.histories, policy(self.learner.infosets)[self.infosets]
        places, ends = self.place_of[edges[:, 0]].astype(np.int32), histories.nodes[:, 0] < -1

        def worth_of(player: int) -> tuple[NDArray[Any], NDArray[Any], Floats]:
            worth = np.zeros(len(histories.nodes))
            worth[self.nodes] = (shares * self.values(player)).sum(axis=1)
            worth[ends] = histories.payoffs[histories.nodes[ends, 3], player] / self.sampler.scale
            return places, edges[:, 0] - self.first[places], worth[edges[:, 1]]

        return worth_of


class RowCritic(Critic):
    """A critic for uncompiled games, whose inputs are feature rows of histories: all players' information.

    Transitions are decisions in order of play: histories float32 [n, W], actions int32 [n], acting players int32 [n], flags
    that mark the last decision of each playthrough bool [n], and payoffs in units of the largest payoff float32 [n, N].

    Attributes:
        returns: whether targets are final payoffs instead of bootstrapped values of the next decision.
    """

    names = ("histories", "actions", "actors", "ends", "payoffs")

    def __init__(self, learner: NeuralLearner) -> None:
        one, players = learner.sampler.inputs(0), learner.players
        inputs, self.returns = RowInputs(players * one.width, one.actions), False
        none, payoffs = np.empty(0, np.int32), np.empty((0, players), np.float32)
        super().__init__(learner, inputs, inputs.no_rows(), none, none, np.empty(0, np.bool_), payoffs)

    def see(self, played: EpisodeBatch) -> None:
        self.add(self.transitions_of(played))

    def transitions_of(self, played: EpisodeBatch) -> tuple[NDArray[Any], ...]:
        """The decisions of episodes, in the columns of ``names``."""
        episodes, ends = played.episodes, np.zeros(len(played.episodes.player), np.bool_)
        ends[episodes.first[1:][np.diff(episodes.first) > 0] - 1] = True
        payoffs = np.repeat(episodes.payoffs / self.sampler.scale, np.diff(episodes.first), axis=0)
        return played.histories, episodes.action, episodes.player, ends, payoffs

    def watch(self, player: int, count: int, exploration: float) -> None:
        self.returns = True
        for played in self.played(player, count, exploration):
            self.see(played)

    def played(self, player: int, count: int, exploration: float) -> Iterator[EpisodeBatch]:
        """Run playthroughs under the current policies in batches; the sampler counts them."""
        sampler, last, strategy = self.sampler, self.sampler.played + count, self.learner.strategy
        playing = EpisodeOptions(self.settings.seed, player, player, exploration, histories=True)
        while sampler.played < last:
            seats = np.zeros((min(TOGETHER, last - sampler.played), sampler.players), np.int64)
            yield sampler.episodes([strategy], seats, playing)

    def playthroughs(self, player: int, count: int, exploration: float, *, corrected: bool = True) -> Iterator[Walks]:
        for played in self.played(player, count, exploration):
            infosets, episodes, transitions = played.infosets, played.episodes, self.transitions_of(played)
            critic = self.values(player, played.histories)
            own_decisions, values, weights = sampled_regrets(
                played, player, critic, corrected=corrected, scale=self.sampler.scale
            )
            others = episodes.infoset[episodes.player != player]
            places, made = episodes.infoset[own_decisions], len(episodes.payoffs)
            yield Walks(infosets, played.policy, places, values, weights, others, transitions, made, episodes.nodes)

    def worth_under(
        self, policy: AnyProfile, columns: Sequence[NDArray[Any]]
    ) -> Callable[[int], tuple[NDArray[Any], NDArray[Any], Floats]]:
        histories, actions, actors, ends, payoffs = columns
        later = np.flatnonzero(~ends) + 1
        shares = None if self.returns else policy(self.infosets_at(histories[later], actors[later]))

        def worth_of(player: int) -> tuple[NDArray[Any], NDArray[Any], Floats]:
            worth = payoffs[:, player].astype(np.float64)
            if shares is not None:
                worth[later - 1] = (shares * self.values(player, histories[later])).sum(axis=1)
            return histories, actions, worth

        return worth_of

    def infosets_at(self, histories: Singles, actors: SmallInts) -> Infosets:
        """The acting players' infosets at histories."""
        width, rows = self.inputs.width // self.learner.players, np.arange(len(histories))
        features = histories[:, : self.inputs.width].reshape(len(rows), -1, width)[rows, actors]
        return Infosets(actors, features, self.inputs.legal(histories))


def make_critic(learner: NeuralLearner) -> Any:
    """Create a critic: a :class:`GameCritic` for a compiled game, a :class:`RowCritic` otherwise."""
    return GameCritic(learner) if learner.sampler.numbered else RowCritic(learner)


def sampled_regrets(
    played: EpisodeBatch, player: int, critic: Floats, *, corrected: bool, scale: float
) -> tuple[SmallInts, Singles, Singles]:
    """Sample the traverser's regrets with a critic as baseline; see
    :func:`treeplex.engine.histories.recording.record_outcomes`.

    Args:
        played: playthroughs under one policy.
        player: the traverser.
        critic: float64 [D, A], the traverser's action values, in units of the largest payoff.
        corrected: whether the critic's values are corrected by the sampled returns.
        scale: the largest payoff.

    Returns:
        The traverser's decisions as indices, int32 [R]; sampled regrets, float32 [R, A], NaN for illegal actions; and
        importance weights, float32 [R]: the reciprocal of the traverser's own sampling probability up to the decision, times
        that probability under uniform play.
    """
    episodes, infosets = played.episodes, played.infosets
    own_decisions, values = np.flatnonzero(episodes.player == player).astype(np.int32), critic.copy()
    policy, means, weights = played.policy[episodes.infoset], np.empty(len(critic)), np.ones(len(critic))
    counts = infosets.legal[episodes.infoset].sum(axis=1)
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
    regrets = np.where(
        infosets.legal[episodes.infoset[own_decisions]], values[own_decisions] - means[own_decisions, None], np.nan
    )
    return own_decisions, regrets.astype(np.float32), weights[own_decisions].astype(np.float32)
