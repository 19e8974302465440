"""Playthroughs by the rules, a critic of what they pay, and the regrets that it reads from them: what ESCHER needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.streams import Stream
from treeplex.engine.tree.form import Floats, Ints, SmallInts
from treeplex.forms.compile.stepping import outcomes, picked
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.fitting.row_network import RowNetwork
from treeplex.learn.neural.walks.rules_walks import Asked, Met, Notes, RulesWalks, Walk, side_by_side

if TYPE_CHECKING:
    from treeplex.learn.neural.frame import NeuralLearner

Singles = NDArray[np.float32]
TOGETHER = 512
"""Playthroughs whose rows are held together."""


class Played(NamedTuple):
    """B playthroughs of D decisions in all.

    Attributes:
        first: int64 [B+1], where the decisions of each begin.
        player, infoset, action: int32 [D], who acted, the number of the infoset, the column played.
        chance: float64 [D], with which probability, exploration included.
        histories: float32 [D, N F + columns], what all players know there, and which actions there are.
        payoffs: float64 [B, N].
        met: the infosets.
        probabilities: float64 [P, columns], the policy there.
        others: int32 [R], infosets of all but the traverser.
        nodes: histories visited.
    """

    first: Ints
    player: SmallInts
    infoset: SmallInts
    action: SmallInts
    chance: Floats
    histories: Singles
    payoffs: Floats
    met: Met
    probabilities: Floats
    others: SmallInts
    nodes: int


class Trail(NamedTuple):
    """One playthrough: (player, infoset, column, chance) of each decision, what all know there, payoffs, histories visited."""

    decisions: list[tuple[float, ...]]
    histories: list[Singles]
    payoffs: list[float]
    nodes: int


def playthrough(walks: RulesWalks, notes: Notes, player: int, exploration: float, stream: Stream) -> Walk[Trail]:
    """Outcome sampling: one action of everybody; the traverser chooses uniformly with probability ``exploration``."""
    state, nodes = walks.rules.new_initial_state(), 1
    decisions, histories, players = list[tuple[float, ...]](), list[Singles](), range(walks.rules.num_players)
    while (actor := state.current_player()) != TERMINAL:
        if actor == CHANCE:
            actions, probabilities = outcomes(state)
            taken = picked(probabilities, stream.draw())
        else:
            actions = list(state.legal_actions())
            infoset = notes.number(state, actor, actions)
            known = notes.known[0].get(infoset)
            probabilities = (yield 0, infoset) if known is None else known
            number, share, count = stream.draw(), exploration if actor == player else 0.0, len(actions)
            if number < share:
                taken = min(int(number / share * count), count - 1)
            else:
                taken = picked(probabilities, (number - share) / (1.0 - share))
            column = notes.columns[infoset][taken]
            decisions.append((actor, infoset, column, share / count + (1.0 - share) * probabilities[taken]))
            known_by = [notes.rows[infoset] if each == actor else walks.view.row(state, each) for each in players]
            histories.append(np.concatenate(known_by))
        state = state.child(actions[taken])
        nodes += 1
    return Trail(decisions, histories, list(state.returns()), nodes)


def play(walks: RulesWalks, policy: Asked, player: int, exploration: float, seed: int, numbers: range) -> Played:
    """Playthroughs by their numbers; each has a stream of its own, from the seed, its number and the traverser."""
    notes = Notes(walks.view, [policy])
    found = side_by_side(
        (playthrough(walks, notes, player, exploration, Stream(seed, walk, player)) for walk in numbers), notes
    )
    decisions = np.array([row for trail in found for row in trail.decisions]).reshape(-1, 4)
    acting, infoset, action = (decisions[:, column].astype(np.int32) for column in range(3))
    met = notes.met()
    known = np.array([row for trail in found for row in trail.histories], np.float32)
    known = known.reshape(len(decisions), walks.rules.num_players * len(walks.view.scale))
    return Played(
        np.concatenate([[0], np.cumsum([len(trail.decisions) for trail in found])]).astype(np.int64),
        acting,
        infoset,
        action,
        decisions[:, 3].copy(),
        np.concatenate([known, met.legal[infoset].astype(np.float32)], axis=1),
        np.array([trail.payoffs for trail in found]),
        met,
        notes.probabilities(0),
        infoset[acting != player],
        sum(trail.nodes for trail in found),
    )


def sampled_regrets(played: Played, player: int, critic: Floats, corrected: bool) -> tuple[SmallInts, Singles]:
    """Regrets of a traverser's actions read from a critic; see :func:`treeplex.engine.histories.recording.record_outcomes`.

    Args:
        played: playthroughs, payoffs in units of the largest.
        player: the traverser.
        critic: float64 [D, columns], what it gets from each action.
        corrected: whether the critic is corrected by what was sampled.

    Returns:
        Which decisions are the traverser's, int32 [R], and float32 [R, columns], NaN where an action is not there.
    """
    own, values = np.flatnonzero(played.player == player).astype(np.int32), critic.copy()
    policy, means = played.probabilities[played.infoset], np.empty(len(critic))
    for episode, payoffs in enumerate(played.payoffs):
        value = payoffs[player]
        for at in range(int(played.first[episode + 1]) - 1, int(played.first[episode]) - 1, -1):
            if corrected:
                taken = played.action[at]
                values[at, taken] += (value - values[at, taken]) / played.chance[at]
            means[at] = value = policy[at] @ values[at]
    legal = played.met.legal[played.infoset[own]]
    return own, np.where(legal, values[own] - means[own, None], np.nan).astype(np.float32)


class RowCritic:
    """What players get from actions of histories that rows describe, fitted to the payoffs of playthroughs.

    Attributes:
        parts: a network for each player; one where two players' payoffs sum to a constant.
        seen: float32 [n, W] histories, int32 [n] columns played, float32 [n, N] payoffs in units of the largest.
    """

    def __init__(self, learner: NeuralLearner, walks: RulesWalks) -> None:
        self.learner, self.walks = learner, walks
        features, columns = learner.players * len(walks.view.scale), len(walks.view.actions)
        self.constant = learner.constant if learner.players == 2 else None
        count = learner.players if self.constant is None else 1
        self.parts = [RowNetwork(features, columns, learner.settings, learner.generator) for _ in range(count)]
        self._nothing = np.empty((0, features + columns), np.float32), np.empty(0, np.int32), np.empty((0, learner.players))
        self.seen = Replay(*self._nothing, room=learner.settings.critic_memory)

    def values(self, player: int, histories: Singles) -> Floats:
        """What a player gets from each action, in units of the largest payoff; float64 [n, columns]."""
        if self.constant is not None and player == 1:
            return np.asarray(self.constant / self.learner.scale - self.parts[0].values(histories))
        return self.parts[player].values(histories)

    def played(self, player: int, count: int, exploration: float) -> Iterator[Played]:
        """Playthroughs of the present policies, counted by the learner and numbered by its count."""
        learner, last = self.learner, self.learner.played + count
        while learner.played < last:
            numbers = range(learner.played, min(learner.played + TOGETHER, last))
            found = play(self.walks, learner.ground.strategy, player, exploration, learner.settings.seed, numbers)
            learner.count(found.nodes, len(numbers))
            yield found._replace(payoffs=found.payoffs / learner.scale)

    def watch(self, player: int, count: int, exploration: float) -> None:
        """Take in what so many playthroughs of a traverser pay."""
        for found in self.played(player, count, exploration):
            payoffs = np.repeat(found.payoffs, np.diff(found.first), axis=0)
            self.seen.add((found.histories, found.action, payoffs), self.learner.settings.critic_memory)

    def regrets(self, player: int, count: int, exploration: float, corrected: bool) -> Iterator[tuple[Rows, Any]]:
        """Rows of a traverser's regrets with weight 1, and where the others acted; see :meth:`Ground.external`."""
        for found in self.played(player, count, exploration):
            own, values = sampled_regrets(found, player, self.values(player, found.histories), corrected)
            places = found.met.at(found.infoset[own]).described()
            yield Rows(places, values, np.ones(len(own), np.float32)), found if len(found.others) else ()

    def forget(self) -> None:
        """Drop everything, and begin with new networks."""
        self.seen = Replay(*self._nothing, room=self.learner.settings.critic_memory)
        for part in self.parts:
            part.reset(self.learner.generator)

    def fit(self, policy: Any) -> float:
        """Fit to the payoffs; the mean loss."""
        histories, actions, payoffs = self.seen.ordered()
        losses, rows = [], np.arange(len(actions))
        for player, part in enumerate(self.parts):
            values = np.full((len(actions), part.columns), np.nan, np.float32)
            values[rows, actions] = payoffs[:, player]
            found = Rows(histories, values, np.ones(len(actions), np.float32))
            losses.append(part.fit(found, self.learner.settings.critic_fits, self.learner.generator))
        return float(np.mean(losses))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        arrays = dict(zip(("histories", "actions", "payoffs"), self.seen.ordered(), strict=True))
        return arrays | {f"{part}.{name}": each for part, net in enumerate(self.parts) for name, each in net.state().items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.seen.restore(*(arrays[name] for name in ("histories", "actions", "payoffs")))
        for number, part in enumerate(self.parts):
            start = f"{number}."
            part.restore({name.removeprefix(start): each for name, each in arrays.items() if name.startswith(start)})
