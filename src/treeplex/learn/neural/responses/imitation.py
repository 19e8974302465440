"""Imitation on compiled games: a player's average policy, as counts of what its response did or a network of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.learn.neural.fitting.approximator import POLICY, TABLE, make_approximator
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.frame import NeuralLearner, named, under
from treeplex.learn.neural.responses.q_learning import QLearning, episode_of
from treeplex.learn.neural.walks.rules_walks import MetEpisodes


class Imitation:
    """A player's average policy.

    Attributes:
        chosen: float64 [S], how often each of the player's actions was the response's.
        average: float64 [S], the average policy.
        network: of it; None where there are tables.
    """

    def __init__(self, learner: NeuralLearner, player: int) -> None:
        inputs, settings = learner.inputs(player), learner.settings
        self.player, self.first, self.generator = player, inputs.first, learner.generator
        self._begin = learner.infosets_of(player).start
        tables = settings.approximator == TABLE
        self.network = None if tables else make_approximator(inputs, settings, learner.generator, POLICY)
        self.chosen, self.average = np.zeros(inputs.slots), learner.uniform()[learner.slots_of(player)]

    def see(self, played: MetEpisodes, response: QLearning, followed: NDArray[np.bool_]) -> None:
        """Count what the response does in the episodes in which it was followed, bool [B]."""
        episodes = played.episodes
        own = (episodes.player == self.player) & followed[episode_of(episodes)]
        places = episodes.infoset[own] - self._begin
        self.chosen += np.bincount(response.greedy()[places], minlength=len(self.chosen))

    def imitate(self, steps: int) -> None:
        """Fit the average to the counts."""
        visits, widths = np.add.reduceat(self.chosen, self.first[:-1]), np.diff(self.first)
        total = np.repeat(visits, widths)
        shares = np.where(total > 0.0, self.chosen / np.maximum(total, 1.0), 1.0 / np.repeat(widths, widths))
        if self.network is None:
            self.average = shares
            return
        self.network.fit(Rows.of_slots(self.first, shares, visits), steps, self.generator)
        self.average = self.network.values()

    def policy(self) -> Floats:
        """The average policy."""
        return self.average

    result = policy

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        arrays = {"chosen": self.chosen, "average": self.average}
        return arrays if self.network is None else arrays | named("network", self.network.state())

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned."""
        self.chosen, self.average = np.array(arrays["chosen"]), np.array(arrays["average"])
        if self.network is not None:
            self.network.restore(under("network", arrays))
