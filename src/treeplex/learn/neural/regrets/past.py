"""Past policies of two players and the advantages of actions under them, as ARMAC needs them: tables or networks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.forms.policies.heads import MATCHED
from treeplex.learn.neural.fitting.averages import RegretLearner
from treeplex.learn.neural.fitting.policies import AnyProfile, MatrixProfile, NetworkLists, NetworkValues, PlayerPolicy, Profile
from treeplex.learn.neural.walks.critics import GameCritic, RowCritic
from treeplex.learn.neural.walks.sampler import Played


class PastTables:
    """Of a compiled game.

    Attributes:
        policies: float64 [past, S], and ``values``, float32 [past, actions of histories], their advantages.
    """

    def __init__(self, learner: RegretLearner, critic: GameCritic) -> None:
        self.learner, self.critic, self.legal = learner, critic, learner.infosets.legal
        self.policies, self.values = np.empty((0, len(learner.slots))), np.empty((0, int(critic.first[-1])), np.float32)

    def __len__(self) -> int:
        return len(self.policies)

    def keep(self, place: int | None) -> None:
        """Keep the current policy and what the critic says of it, as the last one or in place of another."""
        critic, current = self.critic, self.learner.strategy(self.learner.infosets)
        actor = self.learner.infosets.player[critic.infosets, None]
        values = np.where(actor == 0, critic.values(0), critic.values(1))
        means = (values * current[critic.infosets]).sum(axis=1, keepdims=True)
        policy, found = current[self.legal], (values - means)[critic.legal].astype(np.float32)
        if place is None:
            self.policies = np.concatenate((self.policies, policy[None]))
            self.values = np.concatenate((self.values, found[None]))
        else:
            self.policies[place], self.values[place] = policy, found

    def profiles(self) -> list[AnyProfile]:
        """The policies."""
        matrices = np.zeros((len(self), *self.legal.shape))
        matrices[:, self.legal] = self.policies
        return [MatrixProfile(matrix) for matrix in matrices]

    def shares(self, played: Played, at: Ints, number: Ints, player: int) -> Floats:
        """Past policies, by their numbers, at some of a player's decisions; [n, A]."""
        return self.numbers(self.policies, number, self.learner.first[played.episodes.infoset[at]])

    def advantages(self, played: Played, at: Ints, number: Ints, player: int) -> Floats:
        """Advantages of actions there, by the critic of its time; [n, A], undefined for illegal ones."""
        return self.numbers(self.values, number, self.critic.edge[played.episodes.history[at]])

    def numbers(self, source: NDArray[Any], number: Ints, starts: Ints) -> Floats:
        """Numbers of the actions from ``starts`` on, as many as infosets have at most."""
        places = np.minimum(starts[:, None] + np.arange(self.legal.shape[1]), source.shape[1] - 1)
        return np.asarray(source[number[:, None], places])

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        return {"policies": self.policies, "values": self.values}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned."""
        self.policies, self.values = np.array(arrays["policies"]), np.array(arrays["values"])


class PastNetworks:
    """By the rules: networks of past regrets, and of what critics said of the policies that match them.

    Attributes:
        kept: two networks of regrets, then those of the critic.
    """

    def __init__(self, learner: RegretLearner, critic: RowCritic) -> None:
        self.learner, self.critic, self.kept = learner, critic, NetworkLists(2 + len(critic.parts))
        self.width = learner.sampler.inputs(0).width

    def __len__(self) -> int:
        return len(self.kept)

    def keep(self, place: int | None) -> None:
        """Keep the current policy and what the critic says of it, as the last one or in place of another."""
        regrets = [each.values.layers for each in self.learner.followed]
        self.kept.keep([*regrets, *(part.copied_layers() for part in self.critic.parts)], place)

    def policies(self, player: int) -> list[PlayerPolicy]:
        """A player's."""
        return [PlayerPolicy(NetworkValues(self.width, layers), MATCHED) for layers in self.kept.of[player]]

    def profiles(self) -> list[AnyProfile]:
        """The policies."""
        return [Profile(parts) for parts in zip(self.policies(0), self.policies(1), strict=True)]

    def shares(self, played: Played, at: Ints, number: Ints, player: int) -> Floats:
        """Past policies, by their numbers, at some of a player's decisions; [n, A]."""
        rows, policies = played.infosets.rows(played.episodes.infoset[at]), self.policies(player)
        shares = np.empty((len(at), played.infosets.legal.shape[1]))
        for each in np.unique(number):
            shares[number == each] = policies[each](rows[number == each])
        return shares

    def advantages(self, played: Played, at: Ints, number: Ints, player: int) -> Floats:
        """Advantages of actions there, by the critic of its time; [n, A], undefined for illegal ones."""
        shares, histories = self.shares(played, at, number, player), played.histories[at]
        values = np.empty(shares.shape)
        for each in np.unique(number):
            own = number == each
            parts = [NetworkValues(self.critic.inputs.width, layers[each]).outputs for layers in self.kept.of[2:]]
            values[own] = self.critic.values(player, histories[own], parts)
        legal = played.infosets.legal[played.episodes.infoset[at]]
        return np.where(legal, values - (values * shares).sum(axis=1, keepdims=True), np.nan)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        return self.kept.state()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned."""
        self.kept.restore(arrays)


def make_past(learner: RegretLearner, critic: Any) -> PastTables | PastNetworks:
    """No past policies: tables of a compiled game, or networks."""
    return (PastTables if learner.sampler.numbered else PastNetworks)(learner, critic)


def explored(policies: Sequence[PlayerPolicy], share: float) -> Profile:
    """A policy of all players with a share of uniform play."""
    return Profile([replace(policy, explore=share) for policy in policies])
