"""ARMAC: advantages of all past policies are averaged by a network, and the next policy matches what is positive of them.

An iteration t (Gruslys et al. 2020, algorithm 1):

1. A critic, which sees the information of all players, learns what each action of each history is worth under the policy of
   iteration t, off-policy, from all transitions.
2. Episodes: one player, the traverser, explores; the others follow the policy of an iteration j <= t, drawn evenly.
3. Where the traverser acts, W(I, .) is fitted to the advantages ``q_j(h, .) - sum_b pi_j(I, b) q_j(h, b)`` under policy j;
   where the others act, the average policy is fitted to ``pi_j(I, .)``.
4. The next policy: ``pi(I, a) ~ max(W(I, a), 0)``.

Histories are met as often as chance and the others come there, so W is the mean counterfactual regret of all iterations up to a
factor of each infoset, which regret matching does not see: with tables and enough episodes this is CFR.

Deviations. Past policies and their advantages are tables, which networks are read into once; of more than ``past`` of them a
uniform sample is kept. The critic learns by expected SARSA with one step where the paper has TreeBackup. The traverser explores
by a fixed mixture of uniform play and the current policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.episodes import Episodes
from treeplex.engine.histories.recording import matched
from treeplex.engine.tree.form import Floats
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.fitting.approximator import POLICY, TABLE, make_approximator
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.frame import NeuralLearner, check_zero_sum, named, under
from treeplex.learn.neural.responses.q_learning import episode_of
from treeplex.learn.neural.walks.critics import Critic, CriticSettings
from treeplex.settings import setting


@dataclass(frozen=True)
class ArmacSettings(CriticSettings):
    """What a training is asked to do."""

    steps: int = setting(1000, "iterations", low=1)
    plays: int = setting(5000, "episodes of an iteration", low=2)
    past: int = setting(500, "past policies kept at most", low=1, fixed=True)
    explore: float = setting(0.5, "weight of uniform play in what the traverser follows", above=0, high=1)
    memory: int = setting(20_000, "the newest rows of each player's advantages and of its average that are fitted", low=1)
    fits: int = setting(20, "gradient steps of advantages and average in an iteration", low=1)
    critic_fits: int = 20
    critic_rounds: int = 4


class Armac(NeuralLearner):
    """Advantage regret-matching actor-critic: matches the advantages that actions had on average against past policies.

    Attributes:
        critic: of the current policy.
        regrets, averages: approximators of each player's mean advantages and average policy.
        regret_rows, average_rows: what they are fitted to.
        policies: float64 [past, S], past policies, and ``advantages``, float32 [past, slots of histories], theirs.
        current, average: float64 [S].
        iteration: iterations done.
    """

    settings_class = ArmacSettings
    spreads = True
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"table": {"approximator": TABLE}}
    source = "Gruslys et al. 2020, The advantage regret-matching actor-critic (arXiv 2008.12234)"

    def __init__(self, game: Game, settings: ArmacSettings) -> None:
        super().__init__(game, settings)
        check_zero_sum(self, "armac")
        self.critic = Critic(self)
        inputs, width = [self.inputs(player) for player in range(2)], int(np.diff(self.first).max(initial=1))
        self.regrets = [make_approximator(own, settings, self.generator) for own in inputs]
        self.averages = [make_approximator(own, settings, self.generator, POLICY) for own in inputs]
        self.regret_rows, self.average_rows = ([Replay(*Rows.empty(width), room=settings.memory) for _ in inputs] for _ in "ra")
        self.policies = np.empty((0, len(self.slots)))
        self.advantages = np.empty((0, len(self.critic.policy_slots)), np.float32)
        self.current, self.average, self.iteration = self.uniform(), self.uniform(), 0

    def step(self) -> Mapping[str, float]:
        """An iteration."""
        settings, generator = self.settings, self.generator
        if not self.iteration:
            self.see(self.play(self.current[None], np.zeros(settings.plays, np.int64), np.zeros(settings.plays, np.int64)))
        self.iteration += 1
        critic_loss = self.critic.fit(self.current)
        self.keep()
        traverser, past = np.arange(settings.plays) % 2, generator.integers(0, len(self.policies), settings.plays)
        episodes = self.play(self.policies, past, traverser)
        self.see(episodes)
        self.gather(episodes, past, traverser)
        losses = []
        for player, (regrets, average) in enumerate(zip(self.regrets, self.averages, strict=True)):
            own = self.slots_of(player)
            losses.append(regrets.fit(Rows(*self.regret_rows[player].ordered()), settings.fits, generator))
            average.fit(Rows(*self.average_rows[player].ordered()), settings.fits, generator)
            self.current[own] = matched(regrets.inputs.first, regrets.values(), False)
            self.average[own] = average.values()
        return {"loss": float(np.mean(losses)), "critic_loss": critic_loss}

    def keep(self) -> None:
        """Keep the current policy and its advantages; of too many a uniform sample stays."""
        values = np.empty(len(self.critic.policy_slots))
        actor = self.histories.nodes[self.critic.nodes, 0]
        places, starts, shares = self.critic.places, self.critic.inputs.first[:-1], self.current[self.critic.policy_slots]
        for player in range(2):
            own = actor[places] == player
            values[own] = self.critic.values(player)[own]
        found = (values - np.add.reduceat(values * shares, starts)[places]).astype(np.float32)
        if len(self.policies) < self.settings.past:
            self.policies = np.concatenate((self.policies, self.current[None]))
            self.advantages = np.concatenate((self.advantages, found[None]))
        elif (place := int(self.generator.integers(0, self.iteration))) < self.settings.past:
            self.policies[place], self.advantages[place] = self.current, found

    def play(self, policies: Floats, past: NDArray[np.int64], traverser: NDArray[np.int64]) -> Episodes:
        """Episodes in which a traverser explores and others follow policies ``past``, both int64 [B]."""
        settings, game = self.settings, self.compiled
        explored = settings.explore * self.uniform() + (1.0 - settings.explore) * self.current
        tables = np.ones((len(policies) + 1, len(game.action_ids)))
        tables[:-1, self.slots], tables[-1, self.slots] = policies, explored
        follows = np.where(np.arange(2) == traverser[:, None], len(policies), past[:, None])
        episodes = self.episodes(tables, follows)
        self.count(episodes.nodes, len(past))
        return episodes

    def see(self, episodes: Episodes) -> None:
        """Give the critic transitions: a slot of a history, and the next history where somebody acts, or the end."""
        following = np.append(episodes.history[1:], np.int32(0))
        begun = np.diff(episodes.first) > 0
        following[episodes.first[1:][begun] - 1] = episodes.ends[begun]
        slots = self.critic.edge[episodes.history] + episodes.action
        self.critic.add(np.stack((slots, following), axis=1).astype(np.int32))

    def gather(self, episodes: Episodes, past: NDArray[np.int64], traverser: NDArray[np.int64]) -> None:
        """Add rows: advantages where the traverser acts, past policies where the other player does."""
        number, width = past[episode_of(episodes)], int(np.diff(self.first).max(initial=1))
        acts = traverser[episode_of(episodes)] == episodes.player
        for player in range(2):
            begin, own = self.infosets_of(player).start, episodes.player == player
            for chosen, memory, source, starts in (
                (own & acts, self.regret_rows, self.advantages, self.critic.edge[episodes.history]),
                (own & ~acts, self.average_rows, self.policies, self.first[episodes.infoset]),
            ):
                slots = starts[chosen][:, None] + np.arange(width)  # beyond an infoset's last action anything
                values = source[number[chosen][:, None], np.minimum(slots, source.shape[1] - 1)].astype(np.float32)
                places = (episodes.infoset[chosen] - begin).astype(np.int32)
                memory[player].add((places, values, np.ones(len(places), np.float32)), self.settings.memory)

    def policy(self) -> Policy:
        return self.policy_of(self.average)

    def state(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {
            "policies": self.policies,
            "advantages": self.advantages,
            "current": self.current,
            "average": self.average,
        }
        arrays |= named("critic", self.critic.state()) | {"iteration": np.array([self.iteration])} | self.counts()
        for player in range(2):
            arrays |= named(f"regrets{player}", self.regrets[player].state())
            arrays |= named(f"averages{player}", self.averages[player].state())
            for name, memory in (("regret", self.regret_rows[player]), ("average", self.average_rows[player])):
                arrays |= named(f"{name}_rows{player}", Rows(*memory.ordered())._asdict())
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        for name in ("policies", "advantages", "current", "average"):
            setattr(self, name, np.array(arrays[name]))
        self.critic.restore(under("critic", arrays))
        self.iteration = int(arrays["iteration"][0])
        for player in range(2):
            self.regrets[player].restore(under(f"regrets{player}", arrays))
            self.averages[player].restore(under(f"averages{player}", arrays))
            for name, memory in (("regret", self.regret_rows[player]), ("average", self.average_rows[player])):
                found = under(f"{name}_rows{player}", arrays)
                memory.restore(*(np.array(found[part]) for part in Rows._fields))
        self.restore_counts(arrays)
