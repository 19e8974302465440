"""Where the family of Deep CFR walks: a compiled game, whose infosets are numbered, or rules, where rows describe what is met.

A learner does not know which. It walks, keeps rows, fits networks and follows them; the ground says what rows and policies are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.recording import matched
from treeplex.forms.policies.heads import MATCHED, MATCHED_OR_BEST
from treeplex.forms.policies.neural import Layers, NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.learn.neural.fitting.approximator import VALUES, Approximator, make_approximator
from treeplex.learn.neural.fitting.buffers import Reservoir, Rows
from treeplex.learn.neural.fitting.row_network import RowNetwork
from treeplex.learn.neural.walks.jobs import WalkKind, walk_external
from treeplex.learn.neural.walks.row_policies import EachPlayer, RowPolicy
from treeplex.learn.neural.walks.rules_jobs import SpreadWalks
from treeplex.learn.neural.walks.rules_walks import MetEpisodes, Others, Playing

if TYPE_CHECKING:
    from treeplex.learn.neural.frame import NeuralLearner

Fitted = Approximator | RowNetwork


@dataclass(frozen=True)
class Predicted:
    """Regrets of which the negative part and a share of the rest are forgotten, and the latest once more."""

    regrets: Any
    kept: float
    latest: Any

    def values(self, *rows: NDArray[np.float32]) -> Floats:
        """The numbers of every slot, or of rows."""
        return np.asarray(self.kept * np.maximum(self.regrets.values(*rows), 0.0) + self.latest.values(*rows))

    def copied(self) -> Predicted:
        """By the rules, the same with copies of its networks."""
        return Predicted(self.regrets.copied(), self.kept, self.latest.copied())


Followed = Any
"""Regrets as they can be asked for: a network, a table or :class:`Predicted`."""


class Ground(ABC):
    """Walks by external sampling, the policy that they follow, and what fits what they find.

    Attributes:
        strategy: the policy that walks follow.
    """

    strategy: Any

    @abstractmethod
    def approximator(self, player: int, generator: np.random.Generator, kind: str = VALUES) -> Fitted:
        """A new network, or table, of a player's values or policy."""

    @abstractmethod
    def rows(self) -> Rows:
        """No rows, as they are here."""

    @abstractmethod
    def reservoir(self, most: int) -> Reservoir:
        """An empty reservoir of so many rows at most."""

    @abstractmethod
    def external(self, player: int, walks: range) -> Iterator[tuple[Rows, Any]]:
        """Walks of a traverser by their numbers, counted by the learner.

        Yields:
            Some at a time: rows of its sampled regrets in units of the largest payoff, with weight 1; and where the others
            acted, for :meth:`shown`, which is empty if they did not.
        """

    @abstractmethod
    def follow(self, player: int, regrets: Followed) -> None:
        """From now on a player matches these regrets, as the setting ``greedy`` says."""

    @abstractmethod
    def shown(self, others: Any, policy: Any) -> tuple[int, Rows]:
        """Who acted at what walks met of the others, and rows of what they play there by a policy, with weight 1."""

    @abstractmethod
    def policy(self, averages: Sequence[Any]) -> Policy | NeuralPolicy:
        """The policy that networks of the average say; where there is None, a player chooses uniformly.

        Args:
            averages: for each player; of a compiled game also float64 [S], its own slots.
        """

    @abstractmethod
    def play(self, policies: Sequence[Sequence[Any]], seats: Ints, *, histories: bool = False) -> MetEpisodes:
        """Episodes, counted by the learner and numbered by its count.

        Args:
            policies: for each policy that of each player, as float64 [S] of its own slots; by the rules as a function of rows
                that can be pickled, such as :class:`treeplex.learn.neural.walks.row_policies.RowPolicy`, or None where nobody
                follows it.
            seats: int64 [B, N], which policy each player follows in each episode.
            histories: by the rules, whether to note what all players know.
        """

    def followed_layers(self, player: int) -> Layers:
        """By the rules, the network whose regrets a player matches now."""
        raise NotImplementedError

    def state(self) -> dict[str, NDArray[Any]]:
        """What :meth:`restore` needs, besides the regrets that are followed."""
        return {}

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]], regrets: Sequence[Followed]) -> None:
        """Follow each player's regrets again, as after :meth:`state`."""


class CompiledGround(Ground):
    """A compiled game.

    Attributes:
        strategy: float64 [S], the policy of all slots.
    """

    def __init__(self, learner: NeuralLearner) -> None:
        self.learner, self.strategy = learner, learner.uniform()
        self.widest = int(np.diff(learner.first).max(initial=1))

    def approximator(self, player: int, generator: np.random.Generator, kind: str = VALUES) -> Approximator:
        return make_approximator(self.learner.inputs(player), self.learner.settings, generator, kind)

    def rows(self) -> Rows:
        return Rows.empty(self.widest)

    def reservoir(self, most: int) -> Reservoir:
        return Reservoir(most, self.widest)

    def external(self, player: int, walks: range) -> Iterator[tuple[Rows, NDArray[np.int32]]]:
        learner, begin = self.learner, self.learner.infosets_of(player).start
        kind = WalkKind(player, learner.settings.seed)
        for found in learner.walks(walk_external, [self.strategy], kind, walks.start, len(walks)):
            values = found.values / np.float32(learner.scale)
            yield Rows(found.places - begin, values, np.ones(len(values), np.float32)), found.others

    def follow(self, player: int, regrets: Followed) -> None:
        own, first = self.learner.slots_of(player), self.learner.inputs(player).first
        self.strategy[own] = matched(first, regrets.values(), self.learner.settings.greedy)

    def shown(self, others: NDArray[np.int32], policy: Floats) -> tuple[int, Rows]:
        learner, player = self.learner, self.learner.compiled.player_of(int(others[0]))
        first, shares = learner.first[others], np.zeros((len(others), self.widest), np.float32)
        for a in range(shares.shape[1]):
            has = first + a < learner.first[others + 1]
            shares[has, a] = policy[first[has] + a]
        places = others - np.int32(learner.infosets_of(player).start)
        return player, Rows(places, shares, np.ones(len(places), np.float32))

    def policy(self, averages: Sequence[Any]) -> Policy:
        found = self.learner.uniform()
        for player, average in enumerate(averages):
            if average is not None:
                values = average.values() if isinstance(average, Approximator) else average
                found[self.learner.slots_of(player)] = values
        return self.learner.policy_of(found)

    def play(self, policies: Sequence[Sequence[Any]], seats: Ints, *, histories: bool = False) -> MetEpisodes:
        learner = self.learner
        tables = np.ones((len(policies), len(learner.compiled.action_ids)))
        for table, parts in zip(tables, policies, strict=True):
            table[learner.slots] = np.concatenate(parts)
        found = learner.episodes(tables, seats)
        learner.count(found.nodes, len(seats))
        return MetEpisodes(found, None, None, None)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"strategy": self.strategy}

    def restore(self, arrays: Mapping[str, NDArray[Any]], regrets: Sequence[Followed]) -> None:
        self.strategy[:] = arrays["strategy"]


class RulesGround(Ground):
    """Rules."""

    def __init__(self, learner: NeuralLearner, walks: SpreadWalks) -> None:
        self.learner, self.walks, self.view = learner, walks, walks.view
        self.followed: dict[int, Followed] = {}

    def approximator(self, player: int, generator: np.random.Generator, kind: str = VALUES) -> RowNetwork:
        return RowNetwork.of_infosets(self.view, self.learner.settings, generator, kind)

    def rows(self) -> Rows:
        columns = len(self.view.actions)
        return Rows.empty(columns, len(self.view.scale) + columns)

    def reservoir(self, most: int) -> Reservoir:
        columns = len(self.view.actions)
        return Reservoir(most, columns, len(self.view.scale) + columns)

    @property
    def strategy(self) -> EachPlayer:
        """The policy as it stands, from infosets that walks meet to probabilities float64 [P, columns]."""
        return EachPlayer([self.matching(player) for player in range(self.learner.players)])

    def matching(self, player: int) -> RowPolicy:
        """What a player does at rows: it matches the regrets that it follows, and plays uniformly before there are any."""
        regrets, head = self.followed.get(player), MATCHED_OR_BEST if self.learner.settings.greedy else MATCHED
        return RowPolicy(len(self.view.scale), None if regrets is None else regrets.copied(), head)

    def external(self, player: int, walks: range) -> Iterator[tuple[Rows, Others | tuple[()]]]:
        learner = self.learner
        for found in self.walks.external(self.strategy, player, walks, learner.settings.seed):
            learner.count(found.nodes, found.walks)
            values = found.values / np.float32(learner.scale)
            rows = Rows(found.met.at(found.places).described(), values, np.ones(len(values), np.float32))
            yield rows, Others.of(found.met, found.others, found.probabilities)

    def follow(self, player: int, regrets: Followed) -> None:
        self.followed[player] = regrets

    def restore(self, arrays: Mapping[str, NDArray[Any]], regrets: Sequence[Followed]) -> None:
        if arrays["iteration"][0]:
            for player, each in enumerate(regrets):
                self.follow(player, each)

    def shown(self, others: Others, policy: Any) -> tuple[int, Rows]:
        shares = others.shares.astype(np.float32)
        return int(others.met.player[0]), Rows(others.met.described(), shares, np.ones(len(shares), np.float32))

    def play(self, policies: Sequence[Sequence[Any]], seats: Ints, *, histories: bool = False) -> MetEpisodes:
        learner, asked = self.learner, [EachPlayer(parts) for parts in policies]
        found = self.walks.episodes(asked, seats, Playing(learner.settings.seed, histories=histories), learner.played)
        learner.count(found.episodes.nodes, len(seats))
        return found

    def followed_layers(self, player: int) -> Layers:
        """The network whose regrets a player matches now."""
        found = self.followed.get(player)
        return found.layers() if isinstance(found, RowNetwork) else self.uniform_layers()

    def uniform_layers(self) -> Layers:
        """A network by which all actions are alike, whatever is made of its outputs but the greatest."""
        columns, features = len(self.view.actions), len(self.view.scale)
        return [(np.zeros((columns, features), np.float32), np.ones(columns, np.float32))]

    def policy(self, averages: Sequence[Fitted | None]) -> NeuralPolicy:
        layers = [average.layers() if isinstance(average, RowNetwork) else self.uniform_layers() for average in averages]
        return NeuralPolicy(self.learner.game.spec, self.learner.players, self.view, layers)
