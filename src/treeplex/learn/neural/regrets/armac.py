"""ARMAC: a network averages the advantages over all past policies, and the next policy is given by regret matching.

An iteration t (Gruslys et al. 2020, algorithm 1):

1. A critic, which observes all players' information, learns the value of each action of each history under the policy of
iteration t, off-policy, from all transitions.
2. Episodes: one player, the traverser, explores; the others follow the policy of a uniformly drawn iteration j <= t.
3. At the traverser's infosets, W(I, .) is fitted to the advantages ``q_j(h, .) - sum_b pi_j(I, b) q_j(h, b)`` under policy j;
at the other players' infosets, the average policy is fitted to ``pi_j(I, .)``.
4. The next policy: ``pi(I, a) ~ max(W(I, a), 0)``.

Histories are visited in proportion to the reach of chance and the others, so W is the mean counterfactual regret over all
iterations, up to a factor per infoset to which regret matching is invariant. With tables and enough episodes ARMAC is therefore
CFR.

Deviations. Past policies and their advantages are tabulated once from the networks; in uncompiled games the networks themselves
are stored. Of more than ``past`` policies, a uniform sample is kept. The critic learns by one-step expected SARSA where the
paper has TreeBackup. The traverser explores with a fixed mixture of uniform play and the current policy. Networks are fitted to
the newest rows only: with too few, past policies are sampled noisily; with too many, the next policy responds to old policies.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.arrays import Ints
from treeplex.base.settings import setting
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import POLICY, TABLE
from treeplex.learn.neural.fitting.averages import RegretLearner
from treeplex.learn.neural.fitting.buffers import Rows, Window, check_room
from treeplex.learn.neural.fitting.policies import AnyProfile
from treeplex.learn.neural.regrets.past import exploring_profile, make_past
from treeplex.learn.neural.responses.q_learning import episode_of
from treeplex.learn.neural.walks.critics import CriticSettings, make_critic
from treeplex.learn.neural.walks.sampler import EpisodeBatch, EpisodeOptions

ROOM = 1 << 40
"""Number of rows up to which buffers grow by doubling during training."""


@dataclass(frozen=True)
class ArmacSettings(CriticSettings):
    """Settings of ARMAC."""

    steps: int = setting(1000, "iterations", low=1)
    plays: int = setting(5000, "episodes per iteration", low=2)
    past: int = setting(500, "maximum number of past policies", low=1, fixed=True)
    explore: float = setting(0.5, "weight of uniform play in the traverser's policy", above=0, high=1)
    memory: int = setting(20_000, "number of newest rows used to fit each player's advantages and average", low=1)
    share: float = setting(
        0.0, "fraction of all rows so far to use, if that is more than the number of newest rows", low=0, high=1, added=True
    )
    fits: int = setting(20, "gradient steps of the advantage and average networks per iteration", low=1)
    critic_fits: int = 20
    critic_rounds: int = 4


class Armac(RegretLearner):
    """Advantage regret-matching actor-critic: regret matching on the average advantages of actions under past policies.

    Attributes:
        critic: critic of the current policy.
        regrets, averages: each player's approximators of mean advantages and of the average policy.
        regret_rows, average_rows: buffers of their newest training rows.
        past: past policies and their advantages.
        iteration: number of iterations completed.
    """

    settings_class = ArmacSettings
    spreads = True
    walks_rules: ClassVar[bool] = True
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"table": {"approximator": TABLE, "share": 0.05}}
    zero_sum = "armac"
    source = "Gruslys et al. 2020, The advantage regret-matching actor-critic (arXiv 2008.12234)"

    def __init__(self, game: Game, settings: ArmacSettings) -> None:
        super().__init__(game, settings)
        self.critic = make_critic(self)
        self.begin()
        self.averages: list[Any] = [self.sampler.approximator(player, self.generator, POLICY) for player in range(2)]
        empty = self.sampler.no_rows()
        self.regret_rows, self.average_rows = ([Window(empty, ROOM) for _ in range(2)] for _ in "ra")
        check_room(settings.memory, self.regret_rows[0].row)
        self.past, self.iteration = make_past(self, self.critic), 0

    def step(self) -> Mapping[str, float]:
        """Run an iteration."""
        settings, generator = self.settings, self.generator
        if not self.iteration:
            self.critic.see(self.play(np.zeros(settings.plays, np.int64), np.zeros(settings.plays, np.int64)))
        self.iteration += 1
        critic_loss = self.critic.fit(self.strategy)
        self.keep()
        traverser, number = np.arange(settings.plays) % 2, generator.integers(0, len(self.past), settings.plays)
        played = self.play(number, traverser)
        self.critic.see(played)
        self.gather(played, number, traverser)
        losses = []
        for player, (regrets, average) in enumerate(zip(self.regrets, self.averages, strict=True)):
            losses.append(regrets.fit(self.regret_rows[player].rows, settings.fits, generator))
            average.fit(self.average_rows[player].rows, settings.fits, generator)
        self.follow(0, 1)
        return {"loss": float(np.mean(losses)), "critic_loss": critic_loss}

    def keep(self) -> None:
        """Store the current policy and its advantages; once ``past`` policies are stored, a random one is replaced."""
        if len(self.past) < self.settings.past:
            self.past.keep(None)
        elif (index := int(self.generator.integers(0, self.iteration))) < self.settings.past:
            self.past.keep(index)

    def play(self, number: Ints, traverser: Ints) -> EpisodeBatch:
        """Play episodes in which player ``traverser`` explores and the others follow past policy ``number``; both int64 [B]."""
        policies: list[AnyProfile] = [*self.past.profiles(), exploring_profile(self.followed, self.settings.explore)]
        last = len(policies) - 1
        seats = np.where(np.arange(2) == traverser[:, None], last, np.minimum(number, last)[:, None])
        return self.sampler.episodes(policies, seats, EpisodeOptions(self.settings.seed, histories=True))

    def gather(self, played: EpisodeBatch, number: Ints, traverser: Ints) -> None:
        """Add training rows: advantages at the traverser's decisions, past policies at the other player's."""
        episodes, episode = played.episodes, episode_of(played.episodes)
        acts = traverser[episode] == episodes.player
        for player in range(2):
            of_player = episodes.player == player
            for chosen, memory, values_of in (
                (of_player & acts, self.regret_rows, self.past.advantages),
                (of_player & ~acts, self.average_rows, self.past.shares),
            ):
                at = np.flatnonzero(chosen)
                if len(at):
                    values = values_of(played, at, number[episode[at]], player).astype(np.float32)
                    rows = Rows(played.infosets.rows(episodes.infoset[at]), values, np.ones(len(at), np.float32))
                    memory[player].add(rows, max(self.settings.memory, int(self.settings.share * self.iteration * len(at))))

    def policy(self) -> Policy | NeuralPolicy:
        return self.sampler.result(self.averages if self.iteration else [None, None])

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield from (("past", self.past), ("critic", self.critic))
        for player in range(2):
            yield f"averages{player}", self.averages[player]
            yield f"regret_rows{player}", self.regret_rows[player]
            yield f"average_rows{player}", self.average_rows[player]
