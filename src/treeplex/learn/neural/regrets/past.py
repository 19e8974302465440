"""Past policies and the advantages of actions under them, as ARMAC needs them: tables of a compiled game, or networks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Singles
from treeplex.engine.histories.recording import matched
from treeplex.forms.policies.heads import MATCHED
from treeplex.forms.policies.neural import Layers
from treeplex.learn.neural.fitting.kept_layers import KeptLayers
from treeplex.learn.neural.frame import NeuralLearner, named, under
from treeplex.learn.neural.walks.ground import RulesGround
from treeplex.learn.neural.walks.row_policies import EachPlayer, RowPolicy, RowValues
from treeplex.learn.neural.walks.rules_outcomes import RowCritic
from treeplex.learn.neural.walks.rules_walks import MetEpisodes

Found = tuple[NDArray[Any], Singles, Singles]
"""Places, values and weights of rows."""


class Past(ABC):
    """Past policies of two players, and the current one, which matches regrets; at first it is uniform."""

    @abstractmethod
    def __len__(self) -> int:
        """How many past policies there are."""

    @abstractmethod
    def keep(self, place: int | None) -> None:
        """Keep the current policy and what the critic says of it, as the last one or in place of another."""

    @abstractmethod
    def follow(self, player: int, regrets: Any) -> None:
        """The current policy of a player matches these regrets from now on."""

    @abstractmethod
    def policy(self) -> Any:
        """The current policy as critics are fitted to it."""

    @abstractmethod
    def parts(self, explore: float) -> Sequence[Sequence[Any]]:
        """All past policies for :meth:`Ground.play`, and last the current one with this share of uniform play."""

    @abstractmethod
    def advantages(self, played: MetEpisodes, at: NDArray[np.int64], number: NDArray[np.int64], player: int) -> Found:
        """Rows of what actions were worth more than the policy, at some of a player's decisions, by past policies' numbers."""

    @abstractmethod
    def shares(self, played: MetEpisodes, at: NDArray[np.int64], number: NDArray[np.int64], player: int) -> Found:
        """Rows of past policies at some of a player's decisions."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned."""


class TablePast(Past):
    """Of a compiled game.

    Attributes:
        policies: float64 [past, S], past policies, and ``values``, float32 [past, slots of histories], their advantages.
        current: float64 [S].
    """

    def __init__(self, learner: NeuralLearner) -> None:
        self.learner, self.critic = learner, learner.critic  # type: ignore[attr-defined]
        self.policies = np.empty((0, len(learner.slots)))
        self.values = np.empty((0, len(self.critic.policy_slots)), np.float32)
        self.current = learner.uniform()

    def __len__(self) -> int:
        return len(self.policies)

    def keep(self, place: int | None) -> None:
        critic = self.critic
        values, places, starts = np.empty(len(critic.policy_slots)), critic.places, critic.inputs.first[:-1]
        actor, shares = self.learner.histories.nodes[critic.nodes, 0], self.current[critic.policy_slots]
        for player in range(2):
            own = actor[places] == player
            values[own] = critic.values(player)[own]
        found = (values - np.add.reduceat(values * shares, starts)[places]).astype(np.float32)
        if place is None:
            self.policies = np.concatenate((self.policies, self.current[None]))
            self.values = np.concatenate((self.values, found[None]))
        else:
            self.policies[place], self.values[place] = self.current, found

    def follow(self, player: int, regrets: Any) -> None:
        self.current[self.learner.slots_of(player)] = matched(regrets.inputs.first, regrets.values(), False)

    def policy(self) -> Floats:
        return self.current

    def parts(self, explore: float) -> Sequence[Sequence[Any]]:
        explored = explore * self.learner.uniform() + (1.0 - explore) * self.current
        return [[policy[self.learner.slots_of(player)] for player in range(2)] for policy in (*self.policies, explored)]

    def advantages(self, played: MetEpisodes, at: NDArray[np.int64], number: NDArray[np.int64], player: int) -> Found:
        return self.rows(played, at, player, self.values, number, self.critic.edge[played.episodes.history[at]])

    def shares(self, played: MetEpisodes, at: NDArray[np.int64], number: NDArray[np.int64], player: int) -> Found:
        return self.rows(played, at, player, self.policies, number, self.learner.first[played.episodes.infoset[at]])

    def rows(
        self,
        played: MetEpisodes,
        at: NDArray[np.int64],
        player: int,
        source: NDArray[Any],
        number: NDArray[np.int64],
        starts: Any,
    ) -> Found:
        """Rows of numbers that begin at ``starts``; beyond an infoset's last action anything."""
        slots = starts[:, None] + np.arange(int(np.diff(self.learner.first).max(initial=1)))
        values = source[number[:, None], np.minimum(slots, source.shape[1] - 1)].astype(np.float32)
        places = played.episodes.infoset[at] - self.learner.infosets_of(player).start
        return places.astype(np.int32), values, np.ones(len(at), np.float32)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"policies": self.policies, "values": self.values, "current": self.current}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.policies, self.values, self.current = (np.array(arrays[name]) for name in ("policies", "values", "current"))


class RowPast(Past):
    """By the rules: networks of past regrets, and of what critics said of the policies that match them.

    Attributes:
        kept: two networks of regrets, then those of the critic.
        current: of each player's regrets.
    """

    def __init__(self, learner: NeuralLearner) -> None:
        self.learner, self.critic = learner, learner.critic  # type: ignore[attr-defined]
        assert isinstance(self.critic, RowCritic)
        assert isinstance(learner.ground, RulesGround)
        self.features = len(learner.probed.view.scale)
        self.current: list[Layers] = [learner.ground.uniform_layers()] * 2
        self.kept = KeptLayers(2 + len(self.critic.parts))

    def __len__(self) -> int:
        return len(self.kept)

    def keep(self, place: int | None) -> None:
        self.kept.keep([*self.current, *(part.layers() for part in self.critic.parts)], place)

    def follow(self, player: int, regrets: Any) -> None:
        self.current[player] = regrets.layers()

    def matching(self, layers: Layers, explore: float = 0.0) -> RowPolicy:
        """What somebody who matches regrets, with a share of uniform play, does at rows of infosets."""
        return RowPolicy(self.features, RowValues(self.features, layers), MATCHED, explore)

    def policy(self) -> Any:
        return EachPlayer([self.matching(layers) for layers in self.current])

    def parts(self, explore: float) -> Sequence[Sequence[Any]]:
        policies = [[self.matching(layers) for layers in pair] for pair in zip(*self.kept.of[:2], strict=True)]
        return [*policies, [self.matching(layers, explore) for layers in self.current]]

    def advantages(self, played: MetEpisodes, at: NDArray[np.int64], number: NDArray[np.int64], player: int) -> Found:
        places, shares, weights = self.shares(played, at, number, player)
        values, histories = np.empty(shares.shape), played.histories[at]
        for each in np.unique(number):
            own = number == each
            parts = [RowValues(self.critic.features, layers[each]).values for layers in self.kept.of[2:]]
            values[own] = self.critic.values_by(parts, player, histories[own])
        means = (values * shares).sum(axis=1, keepdims=True)
        return places, np.where(places[:, self.features :] > 0.0, values - means, np.nan).astype(np.float32), weights

    def shares(self, played: MetEpisodes, at: NDArray[np.int64], number: NDArray[np.int64], player: int) -> Found:
        places = played.met.at(played.episodes.infoset[at]).described()
        shares = np.empty((len(at), places.shape[1] - self.features), np.float32)
        for each in np.unique(number):
            own = number == each
            shares[own] = self.matching(self.kept.of[player][each])(places[own])
        return places, shares, np.ones(len(at), np.float32)

    def state(self) -> dict[str, NDArray[Any]]:
        now = KeptLayers(2)
        now.keep(self.current)
        return named("kept", self.kept.state()) | named("current", now.state())

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        now = KeptLayers(2)
        now.restore(under("current", arrays))
        self.current = [layers for (layers,) in now.of]
        self.kept.restore(under("kept", arrays))
