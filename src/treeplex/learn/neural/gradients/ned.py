"""Exploitability descent: gradient ascent on the policy's value against best responses; the last iterate is the result.

Each player's policy follows its counterfactual values against the other player's best response to it (Lockhart et al. 2019,
algorithm 1):

    pi(I) <- P(pi(I) + rate_t v(I)),    rate_t = rate / t^slowing,

where P projects onto probability distributions. This is the update with a table. A network outputs logits and ascends ``sum_I
sum_a pi(I, a) v(I, a)`` with the values v held fixed (section 5 there; here with Adam). All infosets are updated at once, and
responses are exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.settings import setting
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, best_response, reach
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import POLICY, TABLE, Network
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings
from treeplex.learn.neural.gradients.simplex import nearest_distributions


@dataclass(frozen=True)
class NedSettings(NeuralSettings):
    """Settings of exploitability descent."""

    steps: int = setting(20_000, "gradient steps", low=1)
    rate: float = setting(0.001, "size of the first step (Adam's for networks)", above=0)
    width: int = 128
    layers: int = 2
    clip: float = 100.0
    slowing: float = setting(0.2, "exponent p of the step sizes' decay t^-p over steps t", low=0)


class Ned(NeuralLearner):
    """Neural exploitability descent: gradient ascent on the policy's value against best responses to it.

    Attributes:
        networks: each player's policy network; empty for a table.
        current: float64 [S], the current policy.
        steps: number of steps completed.
    """

    settings_class = NedSettings
    saved = ("steps",)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"table": {"approximator": TABLE, "rate": 1.4, "slowing": 0.6}}
    zero_sum = "ned"
    source = "Lockhart et al. 2019, Computing approximate equilibria in sequential adversarial games by exploitability descent"

    def __init__(self, game: Game, settings: NedSettings) -> None:
        super().__init__(game, settings)
        players = range(0 if settings.approximator == TABLE else 2)
        self.networks = [Network(self.sampler.inputs(player), settings, self.generator, POLICY) for player in players]
        self.current, self.steps = self.uniform(), 0
        self.read()

    @property
    def countable(self) -> Sequence[str]:
        """Units of effort: histories only, since no episodes are played."""
        return ("nodes",)

    def step(self) -> Mapping[str, float]:
        """Take one gradient step for both players."""
        self.steps += 1
        rate = self.settings.rate / self.steps**self.settings.slowing
        values, worst = self.values_against_responses()
        if not self.networks:
            self.current = projected(self.first, self.current + rate * values)
        means = np.add.reduceat(self.current * values, self.first[:-1])
        slopes = np.zeros(self.infosets.legal.shape)
        slopes[self.infosets.legal] = self.current * (values - np.repeat(means, np.diff(self.first)))
        for player, network in enumerate(self.networks):
            network.set_rate(rate)
            network.climb(slopes[self.infosets_of(player)])
        self.read()
        self.sampler.count(4 * self.compiled.size.histories, 0)
        return {"worst": worst}

    def read(self) -> None:
        """Tabulate the networks' policies."""
        for player, network in enumerate(self.networks):
            self.current[self.slots_of(player)] = network.values()[self.infosets.legal[self.infosets_of(player)]]

    def values_against_responses(self) -> tuple[Floats, float]:
        """Each player's counterfactual values, [S], against a best response to its policy, and the sum of both players' values
        against best responses."""
        game, tree = self.compiled, self.compiled.tree
        table, (values, infoset_values, _) = self.policy_of(self.current).probabilities, workspace(tree)
        strategy, against_responses, worst = np.empty_like(table), np.empty_like(self.current), 0.0
        for player in range(2):
            reach(tree, player, table, strategy)
        for player in range(2):
            other, response, against = 1 - player, table.copy(), strategy.copy()
            gradient(tree, game.payoff, other, strategy, values)
            best_response(tree, other, values, infoset_values, response)
            reach(tree, other, response, against)
            gradient(tree, game.payoff, player, against, values)
            worst += backup(tree, player, table, values, infoset_values)
            player_slots = self.slots_of(player)
            against_responses[player_slots] = values[self.slots[player_slots]]
        return against_responses, worst

    def policy(self) -> Policy:
        return self.policy_of(self.current)

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield from ((f"network{player}", network) for player, network in enumerate(self.networks))

    def state(self) -> Mapping[str, NDArray[Any]]:
        return {**super().state(), "policy": self.current}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(arrays)
        self.current = np.array(arrays["policy"])


def projected(first: Ints, numbers: Floats) -> Floats:
    """Project slot-wise numbers onto policies, both float64 [S]; each infoset starts at a slot in ``first``."""
    counts = np.diff(first)
    legal = np.arange(counts.max(initial=1)) < counts[:, None]
    rows = np.zeros(legal.shape)
    rows[legal] = numbers
    return nearest_distributions(rows, legal)[legal]
