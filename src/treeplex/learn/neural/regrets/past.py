"""ARMAC's past policies for two players, and action advantages under them, as tables or networks."""

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
from treeplex.learn.neural.walks.sampler import EpisodeBatch


class PastTables:
    """Past policies in a compiled game, as tables.

    Attributes:
        policies: float64 [past, S], probabilities of slots.
        values: float32 [past, history-action pairs], advantages under each policy.
    """

    def __init__(self, learner: RegretLearner, critic: GameCritic) -> None:
        self.learner, self.critic, self.legal = learner, critic, learner.infosets.legal
        self.policies, self.values = np.empty((0, len(learner.slots))), np.empty((0, int(critic.first[-1])), np.float32)

    def __len__(self) -> int:
        return len(self.policies)

    def keep(self, index: int | None) -> None:
        """Store the current policy and the critic's advantages: appended, or replacing those at ``index``."""
        critic, current = self.critic, self.learner.strategy(self.learner.infosets)
        actor = self.learner.infosets.player[critic.infosets, None]
        values = np.where(actor == 0, critic.values(0), critic.values(1))
        means = (values * current[critic.infosets]).sum(axis=1, keepdims=True)
        policy, advantages = current[self.legal], (values - means)[critic.legal].astype(np.float32)
        if index is None:
            self.policies = np.concatenate((self.policies, policy[None]))
            self.values = np.concatenate((self.values, advantages[None]))
        else:
            self.policies[index], self.values[index] = policy, advantages

    def profiles(self) -> list[AnyProfile]:
        """The past policies."""
        matrices = np.zeros((len(self), *self.legal.shape))
        matrices[:, self.legal] = self.policies
        return [MatrixProfile(matrix) for matrix in matrices]

    def shares(self, played: EpisodeBatch, at: Ints, number: Ints, player: int) -> Floats:
        """Probabilities under past policy ``number`` at some of a player's decisions, [n, A]."""
        return self.numbers(self.policies, number, self.learner.first[played.episodes.infoset[at]])

    def advantages(self, played: EpisodeBatch, at: Ints, number: Ints, player: int) -> Floats:
        """Action advantages under past policy ``number`` at decisions, [n, A]; undefined for illegal actions."""
        return self.numbers(self.values, number, self.critic.edge[played.episodes.history[at]])

    def numbers(self, source: NDArray[Any], number: Ints, starts: Ints) -> Floats:
        """Gather rows of ``source`` that begin at ``starts``, padded to the maximum number of actions."""
        places = np.minimum(starts[:, None] + np.arange(self.legal.shape[1]), source.shape[1] - 1)
        return np.asarray(source[number[:, None], places])

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        return {"policies": self.policies, "values": self.values}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`."""
        self.policies, self.values = np.array(arrays["policies"]), np.array(arrays["values"])


class PastNetworks:
    """Past policies in an uncompiled game: regret networks, and a critic for each policy that they induce by regret matching.

    Attributes:
        kept: lists of both players' regret networks, then of the critics.
    """

    def __init__(self, learner: RegretLearner, critic: RowCritic) -> None:
        self.learner, self.critic, self.kept = learner, critic, NetworkLists(2 + len(critic.parts))
        self.width = learner.sampler.inputs(0).width

    def __len__(self) -> int:
        return len(self.kept)

    def keep(self, index: int | None) -> None:
        """Store the current policy and the critic: appended, or replacing those at ``index``."""
        regrets = [followed.values.layers for followed in self.learner.followed]
        self.kept.keep([*regrets, *(part.copied_layers() for part in self.critic.parts)], index)

    def policies(self, player: int) -> list[PlayerPolicy]:
        """A player's past policies."""
        return [PlayerPolicy(NetworkValues(self.width, layers), MATCHED) for layers in self.kept.of[player]]

    def profiles(self) -> list[AnyProfile]:
        """The past policies."""
        return [Profile(parts) for parts in zip(self.policies(0), self.policies(1), strict=True)]

    def shares(self, played: EpisodeBatch, at: Ints, number: Ints, player: int) -> Floats:
        """Probabilities under past policy ``number`` at some of a player's decisions, [n, A]."""
        rows, policies = played.infosets.rows(played.episodes.infoset[at]), self.policies(player)
        shares = np.empty((len(at), played.infosets.legal.shape[1]))
        for iteration in np.unique(number):
            shares[number == iteration] = policies[iteration](rows[number == iteration])
        return shares

    def advantages(self, played: EpisodeBatch, at: Ints, number: Ints, player: int) -> Floats:
        """Action advantages under past policy ``number`` at decisions, [n, A]; undefined for illegal actions."""
        shares, histories = self.shares(played, at, number, player), played.histories[at]
        values = np.empty(shares.shape)
        for iteration in np.unique(number):
            selected = number == iteration
            parts = [NetworkValues(self.critic.inputs.width, layers[iteration]).outputs for layers in self.kept.of[2:]]
            values[selected] = self.critic.values(player, histories[selected], parts)
        legal = played.infosets.legal[played.episodes.infoset[at]]
        return np.where(legal, values - (values * shares).sum(axis=1, keepdims=True), np.nan)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        return self.kept.state()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`."""
        self.kept.restore(arrays)


def make_past(learner: RegretLearner, critic: Any) -> PastTables | PastNetworks:
    """Create an empty store of past policies: tables for a compiled game, networks otherwise."""
    return (PastTables if learner.sampler.numbered else PastNetworks)(learner, critic)


def exploring_profile(policies: Sequence[PlayerPolicy], share: float) -> Profile:
    """Mix players' policies with uniform play, which has weight ``share``."""
    return Profile([replace(policy, explore=share) for policy in policies])
