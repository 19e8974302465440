"""Critics: what a traverser gets from each action of each history, learned from what came of actions.

A critic sees all players' information. Its rows are transitions: a slot of a history, and the next history where somebody
acts or the game is over; chance lies between. What a transition is worth is computed anew from the present policy and critic
whenever the critic is fitted (expected SARSA), so old transitions stay true.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.settings import setting
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.features import history_features
from treeplex.learn.neural.fitting.approximator import Inputs, make_approximator
from treeplex.learn.neural.fitting.buffers import Rows, check_room
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings, named, under
from treeplex.learn.neural.walks.jobs import WalkKind, walk_outcomes
from treeplex.learn.neural.walks.rules_outcomes import RowCritic
from treeplex.learn.neural.walks.rules_walks import MetEpisodes

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class CriticSettings(NeuralSettings):
    """How a critic is fitted."""

    critic_memory: int = setting(200_000, "the newest transitions that a critic is fitted to", low=1, fixed=True)
    critic_fits: int = setting(1000, "gradient steps of a critic in an iteration", low=1)
    critic_rounds: int = setting(5, "how often in these the worth of transitions is computed anew", low=1)


class Critic:
    """What each player gets from each action of each history; with two players and a constant sum one network serves both.

    Attributes:
        nodes: int64 [D], the histories where somebody acts.
        edge: int64 [H], the first slot of each of them; -1 elsewhere.
    """

    def __init__(self, learner: NeuralLearner) -> None:
        nodes = learner.histories.nodes
        self.learner, self.nodes = learner, np.flatnonzero(nodes[:, 0] >= 0)
        first = np.concatenate(([0], np.cumsum(nodes[self.nodes, 2], dtype=np.int64)))
        self.edge: Ints = np.full(len(nodes), -1, np.int64)
        self.edge[self.nodes] = first[:-1]
        below = np.arange(int(first[-1])) - np.repeat(first[:-1], np.diff(first))
        self.policy_slots = learner.first[np.repeat(nodes[self.nodes, 3], np.diff(first))] + below
        outputs = np.unique(learner.compiled.action_ids[learner.slots[self.policy_slots]], return_inverse=True)[1]
        features = history_features(learner.compiled, learner.settings.features)[self.nodes]
        self.inputs, self.places = Inputs(features, first, outputs), np.repeat(np.arange(len(self.nodes)), np.diff(first))
        constant = learner.compiled.constant
        self.shared = None if learner.compiled.players != 2 or constant is None else constant / learner.scale
        count = 1 if self.shared is not None else learner.compiled.players
        self.parts = [make_approximator(self.inputs, learner.settings, learner.generator) for _ in range(count)]
        self.transitions = Replay(np.empty((0, 2), np.int32), room=learner.settings.critic_memory)
        check_room(learner.settings.critic_memory, self.transitions.row, "critic_memory")
        self._values = [part.values() for part in self.parts]

    def values(self, player: int) -> Floats:
        """What a player gets from each slot of a history, in units of the largest payoff; float64 [slots]."""
        if self.shared is not None and player == 1:
            return np.asarray(self.shared - self._values[0])
        return self._values[player]

    def add(self, edges: NDArray[np.int32]) -> None:
        """Add transitions, int32 [n, 2]."""
        self.transitions.add((edges,), self.learner.settings.critic_memory)

    def see(self, played: MetEpisodes) -> None:
        """Add the transitions of episodes: a slot of a history, and the next history where somebody acts, or the end."""
        episodes = played.episodes
        following = np.append(episodes.history[1:], np.int32(0))
        begun = np.diff(episodes.first) > 0
        following[episodes.first[1:][begun] - 1] = episodes.ends[begun]
        slots = self.edge[episodes.history] + episodes.action
        self.add(np.stack((slots, following), axis=1).astype(np.int32))

    def watch(self, player: int, count: int, exploration: float) -> None:
        """Take in what so many playthroughs of a traverser come to at their ends."""
        for _, _, edges in self.playthroughs(player, count, exploration, returns=True):
            self.add(edges)

    def playthroughs(
        self, player: int, count: int, exploration: float, *, corrected: bool = True, returns: bool = False
    ) -> Iterator[tuple[Rows, NDArray[np.int32], NDArray[np.int32]]]:
        """Playthroughs of the present policies by outcome sampling, counted by the learner and numbered by its count.

        Args:
            player: the traverser.
            count: how many.
            exploration: the probability with which it chooses uniformly.
            corrected: whether the critic's values are corrected by what was sampled.
            returns: whether transitions lead to the ends of playthroughs, not to the next decisions.

        Yields:
            Some at a time: rows of the traverser's regrets in units of the largest payoff, weighted by one over the
            probability that its own choices led there, times that of uniform ones; where the others acted, for
            :meth:`treeplex.learn.neural.walks.ground.Ground.shown`; and transitions for :meth:`add`.
        """
        learner, kind = self.learner, WalkKind(player, self.learner.settings.seed, exploration, corrected, returns)
        begin, values = learner.infosets_of(player).start, self.values(player) * learner.scale
        for found in learner.walks(walk_outcomes, [learner.ground.strategy, values, self.edge], kind, learner.played, count):
            regrets = found.values / np.float32(learner.scale)
            yield Rows(found.places - begin, regrets, found.weights), found.others, found.edges

    def forget(self) -> None:
        """Drop all transitions, and begin with new networks."""
        self.transitions = Replay(np.empty((0, 2), np.int32), room=self.learner.settings.critic_memory)
        for number, part in enumerate(self.parts):
            part.reset(self.learner.generator)
            self._values[number] = part.values()

    def fit(self, policy: Floats) -> float:
        """Fit to the worth of transitions under a policy of slots, float64 [S]; the mean loss."""
        settings, (edges,) = self.learner.settings, self.transitions.ordered()
        if not len(edges):
            return 0.0
        losses = []
        for number, part in enumerate(self.parts):
            for done in range(settings.critic_rounds):
                fits = (settings.critic_fits + done) // settings.critic_rounds
                losses.append(part.fit(self.rows(number, policy, edges), max(1, fits), self.learner.generator))
                self._values[number] = part.values()
        return float(np.mean(losses))

    def rows(self, player: int, policy: Floats, edges: NDArray[np.int32]) -> Rows:
        """Transitions as rows: the value of the action that was taken; nothing is known of the others."""
        nodes, slots, next_nodes = self.learner.histories.nodes, edges[:, 0], edges[:, 1]
        worth = np.zeros(len(nodes))
        worth[self.nodes] = np.add.reduceat(policy[self.policy_slots] * self.values(player), self.inputs.first[:-1])
        ends = nodes[:, 0] < -1
        worth[ends] = self.learner.histories.payoffs[nodes[ends, 3], player] / self.learner.scale
        places = self.places[slots]
        values = np.full((len(edges), int(np.diff(self.inputs.first).max(initial=1))), np.nan, np.float32)
        values[np.arange(len(edges)), slots - self.inputs.first[places]] = worth[next_nodes]
        return Rows(places.astype(np.int32), values, np.ones(len(edges), np.float32))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        arrays: dict[str, NDArray[Any]] = {"transitions": self.transitions.ordered()[0]}
        for number, part in enumerate(self.parts):
            arrays |= named(str(number), part.state())
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.transitions.restore(np.array(arrays["transitions"]))
        for number, part in enumerate(self.parts):
            part.restore(under(str(number), arrays))
            self._values[number] = part.values()


def make_critic(learner: NeuralLearner) -> Any:
    """A critic of the histories of a compiled game, or of rows by the rules."""
    return Critic(learner) if learner.by_rules is None else RowCritic(learner, learner.by_rules)
