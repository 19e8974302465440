"""Deep CFR and Single Deep CFR: regrets of external sampling, learned by a network that starts anew at each iteration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.recording import matched, record_external
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.approximator import POLICY, make_approximator
from treeplex.learn.neural.buffers import Reservoir, Rows
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings, named, under
from treeplex.settings import setting

CHUNK = 1 << 14
"""Rows that walks record before they are stored."""


@dataclass(frozen=True)
class SingleDeepCfrSettings(NeuralSettings):
    """What a training is asked to do."""

    walks: int = setting(1500, "walks for each player in an iteration", low=1)
    memory: int = setting(1_000_000, "rows of each reservoir at most", low=1, fixed=True)
    fits: int = setting(750, "gradient steps of each regret network in an iteration", low=1)
    greedy: bool = setting(True, "where no regret is positive, play the action of the largest instead of all alike")


@dataclass(frozen=True)
class DeepCfrSettings(SingleDeepCfrSettings):
    """What a training is asked to do."""

    average_fits: int = setting(5000, "gradient steps of the average's network, whenever it is asked for", low=1)


class SingleDeepCfr(NeuralLearner):
    """Deep CFR without a network of the average: the policies of all iterations are averaged exactly.

    At iteration t each player in turn is the traverser of ``walks`` walks by external sampling, whose sampled regrets go into
    that player's reservoir with weight t. A new network is fitted to the reservoir, sum of ``t (r - R(I, a))^2``; its
    regrets, matched, are the player's next policy. The average policy has weights t and own reach (Steinberger 2019,
    equation 6).

    Every infoset is numbered, so an iteration's policy is a table, and the average is a sum of tables in sequence form: that is
    what keeping all networks and sampling one, or multiplying along each path, comes to. The network of the first iteration
    plays all actions alike. Values are divided by the largest payoff; no policy notices.
    """

    settings_class = SingleDeepCfrSettings
    source = "Steinberger 2019, Single Deep Counterfactual Regret Minimization (arXiv 1901.07621)"

    def __init__(self, game: Game, settings: SingleDeepCfrSettings) -> None:
        super().__init__(game, settings)
        self.played_policy = self.uniform()
        self.average = np.zeros(len(self.compiled.action_ids))
        self.iteration = 0
        actions = int(np.diff(self.first).max(initial=1))
        players = range(self.compiled.players)
        self.regrets = [make_approximator(self.inputs(player), settings, self.generator) for player in players]
        self.memories = [Reservoir(settings.memory, actions) for _ in players]
        self._places = np.empty(CHUNK + len(self.first), np.int32)
        self._regrets = np.empty((len(self._places), actions), np.float32)
        self._others = np.empty(CHUNK + len(self.histories.nodes), np.int32)

    def step(self) -> Mapping[str, float]:
        """An iteration: each player in turn walks, and learns."""
        self.iteration += 1
        losses = []
        for player, (regrets, memory) in enumerate(zip(self.regrets, self.memories, strict=True)):
            self.walk(player)
            own = self.slots_of(player)
            strategy = self.sequence_form(player, self.played_policy)
            self.average[self.sequences_of(player)] += self.iteration * strategy
            regrets.reset(self.generator)
            losses.append(regrets.fit(memory.rows, self.settings.fits, self.generator))
            self.played_policy[own] = matched(regrets.inputs.first, regrets.values(), self.settings.greedy)
        return {"loss": float(np.mean(losses))}

    def walk(self, player: int) -> None:
        """The walks of an iteration for a player; what they find goes into the reservoirs."""
        settings, begin = self.settings, self.infosets_of(player).start
        walk, last = (self.iteration - 1) * settings.walks, self.iteration * settings.walks
        while walk < last:
            before = walk
            walk, rows, others, visited = record_external(
                self.histories,
                self.first,
                self.played_policy,
                player,
                settings.seed,
                walk,
                last,
                self._places,
                self._regrets,
                self._others,
            )
            self.count(visited, walk - before)
            weights = np.full(rows, self.iteration, np.float32)
            found = Rows(self._places[:rows] - begin, self._regrets[:rows] / np.float32(self.scale), weights)
            self.memories[player].add(found, self.generator)
            self.met(self._others[:others])

    def met(self, infosets: NDArray[np.int32]) -> None:
        """Take note of the infosets of the other players that walks went through."""

    def policy(self) -> Policy:
        return self.policy_of(self.average[self.slots])

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = {"iteration": np.array([self.iteration]), "policy": self.played_policy, "average": self.average}
        for player, (regrets, memory) in enumerate(zip(self.regrets, self.memories, strict=True)):
            arrays |= named(f"regrets{player}", regrets.state()) | named(f"memory{player}", memory.state())
        return arrays | self.counts()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.iteration = int(arrays["iteration"][0])
        self.played_policy, self.average = np.array(arrays["policy"]), np.array(arrays["average"])
        for player, (regrets, memory) in enumerate(zip(self.regrets, self.memories, strict=True)):
            regrets.restore(under(f"regrets{player}", arrays))
            memory.restore(under(f"memory{player}", arrays))
        self.restore_counts(arrays)


class DeepCfr(SingleDeepCfr):
    """Deep CFR: the average policy is learned by a network of its own.

    What each player plays where the other one walks goes into a second reservoir with weight t; a network is fitted to it by
    cross entropy when the average is asked for. See :class:`SingleDeepCfr` for the rest.

    Brown et al. fit the average by squared errors of probabilities; both have the mean policy as their least.
    """

    settings_class = DeepCfrSettings
    source = "Brown, Lerer, Gross and Sandholm 2019, Deep Counterfactual Regret Minimization (ICML)"

    def __init__(self, game: Game, settings: DeepCfrSettings) -> None:
        super().__init__(game, settings)
        if self.compiled.players != 2:
            raise AlgorithmError(
                f"deep-cfr averages what is met in the other player's walks, which is right for two players; {self.compiled} "
                f"has {self.compiled.players}; take sd-cfr"
            )
        self.policies = [Reservoir(settings.memory, memory.rows.values.shape[1]) for memory in self.memories]
        self._fitted: tuple[int, Policy] | None = None

    def met(self, infosets: NDArray[np.int32]) -> None:
        if not len(infosets):
            return
        player = self.compiled.player_of(int(infosets[0]))
        first = self.first[infosets]
        shares = np.zeros((len(infosets), self._regrets.shape[1]), np.float32)
        for a in range(shares.shape[1]):
            has = first + a < self.first[infosets + 1]
            shares[has, a] = self.played_policy[first[has] + a]
        weights = np.full(len(infosets), self.iteration, np.float32)
        rows = Rows(infosets - np.int32(self.infosets_of(player).start), shares, weights)
        self.policies[player].add(rows, self.generator)

    def policy(self) -> Policy:
        if self._fitted is None or self._fitted[0] != self.iteration:
            probabilities = self.uniform()
            for player, memory in enumerate(self.policies):
                generator = np.random.default_rng((self.settings.seed, self.iteration, player))
                network = make_approximator(self.inputs(player), self.settings, generator, POLICY)
                if len(memory):
                    network.fit(memory.rows, self.settings.average_fits, generator)
                    probabilities[self.slots_of(player)] = network.values()
            self._fitted = self.iteration, self.policy_of(probabilities)
        return self._fitted[1]

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = super().state()
        for player, memory in enumerate(self.policies):
            arrays |= named(f"policies{player}", memory.state())
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(arrays)
        for player, memory in enumerate(self.policies):
            memory.restore(under(f"policies{player}", arrays))
