"""Average policies: exact, as a sum of tables, or learned by a network from what players were seen to play."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.form import Floats
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.approximator import POLICY, Approximator, make_approximator
from treeplex.learn.neural.buffers import Reservoir, Rows
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings, named, under
from treeplex.settings import setting

Arrays = Mapping[str, NDArray[Any]]
EXACT, NETWORK = "exact", "network"


@dataclass(frozen=True)
class LearnedAverageSettings(NeuralSettings):
    """How a network of the average policy is fitted."""

    memory: int = setting(1_000_000, "rows of each reservoir at most", low=1, fixed=True)
    average_fits: int = setting(5000, "gradient steps of the average's network, whenever it is asked for", low=1)


@dataclass(frozen=True)
class AverageSettings(LearnedAverageSettings):
    """How policies are averaged."""

    average: str = setting(NETWORK, "how policies are averaged", choices=(NETWORK, EXACT), fixed=True)


class Average(ABC):
    """The average of the policies that players played, weighted by iteration and own reach.

    Attributes:
        costly: whether asking for it takes long.
    """

    costly: ClassVar[bool] = False

    @abstractmethod
    def played(self, player: int, policy: Floats, weight: float) -> None:
        """Take in a player's policy of an iteration; ``policy`` has all slots, float64 [S]."""

    @abstractmethod
    def met(self, infosets: NDArray[np.int32], policy: Floats, weight: float) -> None:
        """Take in infosets that were visited in proportion to their players' own reach under ``policy``."""

    @abstractmethod
    def probabilities(self, iteration: int) -> Floats:
        """The average after so many iterations as probabilities of slots, or weights of them; float64 [S]."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Continue from what :meth:`state` returned."""


class ExactAverage(Average):
    """The sum of all policies in sequence form, float64 [Q].

    Every infoset is numbered, so a network's policy is a table. This is what keeping all networks and multiplying along each
    path comes to (Steinberger 2019, equation 6).
    """

    def __init__(self, learner: NeuralLearner) -> None:
        self.learner, self.sums = learner, np.zeros(len(learner.compiled.action_ids))

    def played(self, player: int, policy: Floats, weight: float) -> None:
        self.sums[self.learner.sequences_of(player)] += weight * self.learner.sequence_form(player, policy)

    def met(self, infosets: NDArray[np.int32], policy: Floats, weight: float) -> None:
        pass

    def probabilities(self, iteration: int) -> Floats:
        return self.sums[self.learner.slots]

    def state(self) -> dict[str, NDArray[Any]]:
        return {"sums": self.sums}

    def restore(self, arrays: Arrays) -> None:
        self.sums = np.array(arrays["sums"])


class LearnedAverage(Average):
    """A network for each player, fitted by cross entropy to a reservoir of what was played, when the average is asked for.

    Right for two players: where one of them walks, the other one's infosets are met in proportion to that one's own reach.

    Attributes:
        fitted: what was fitted when the average was last asked for, one for each player.
    """

    costly = True

    def __init__(self, learner: NeuralLearner) -> None:
        """The average of a learner whose settings are :class:`LearnedAverageSettings`.

        Raises:
            AlgorithmError: a game of another number of players, or reservoirs that do not fit into memory.
        """
        self.learner, self._fitted, self.fitted = learner, (-1, np.zeros(0)), list[Approximator]()
        self.widest = int(np.diff(learner.first).max(initial=1))
        if learner.compiled.players != 2:
            raise AlgorithmError(
                f"a learned average holds what is met in the other player's walks, which is right for two players; "
                f"{learner.compiled} has {learner.compiled.players}; take sd-cfr or dream"
            )
        self.memories = [Reservoir(learner.settings.memory, self.widest) for _ in range(2)]

    def played(self, player: int, policy: Floats, weight: float) -> None:
        pass

    def met(self, infosets: NDArray[np.int32], policy: Floats, weight: float) -> None:
        if not len(infosets):
            return
        learner, player = self.learner, self.learner.compiled.player_of(int(infosets[0]))
        first, shares = learner.first[infosets], np.zeros((len(infosets), self.widest), np.float32)
        for a in range(self.widest):
            has = first + a < learner.first[infosets + 1]
            shares[has, a] = policy[first[has] + a]
        places = infosets - np.int32(learner.infosets_of(player).start)
        rows = Rows(places, shares, np.full(len(places), weight, np.float32))
        self.memories[player].add(rows, learner.generator)

    def probabilities(self, iteration: int) -> Floats:
        if self._fitted[0] == iteration:
            return self._fitted[1]
        found, settings, self.fitted = self.learner.uniform(), self.learner.settings, []
        for player, memory in enumerate(self.memories):
            generator = np.random.default_rng((settings.seed, iteration, player))
            network = make_approximator(self.learner.inputs(player), settings, generator, POLICY)
            self.fitted.append(network)
            if len(memory):
                network.fit(memory.rows, settings.average_fits, generator)
                found[self.learner.slots_of(player)] = network.values()
        self._fitted = iteration, found
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        for player, memory in enumerate(self.memories):
            arrays |= named(str(player), memory.state())
        return arrays

    def restore(self, arrays: Arrays) -> None:
        for player, memory in enumerate(self.memories):
            memory.restore(under(str(player), arrays))


class AveragingLearner(NeuralLearner):
    """A learner of regrets, a network for each player, whose result is the average of the policies that match them.

    Attributes:
        strategy: float64 [S], the policies as they stand.
        iteration: iterations done.
        average: of the policies.
        regrets: an approximator for each player.
    """

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.strategy, self.iteration = self.uniform(), 0
        self.average = self.make_average()
        players = range(self.compiled.players)
        self.regrets = [make_approximator(self.inputs(player), settings, self.generator) for player in players]

    def make_average(self) -> Average:
        """How policies are averaged; unless overridden as the settings ask, :class:`AverageSettings`."""
        return ExactAverage(self) if self.settings.average == EXACT else LearnedAverage(self)

    @property
    def costly(self) -> bool:
        return self.average.costly

    def policy(self) -> Policy:
        return self.policy_of(self.average.probabilities(self.iteration))

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = {"iteration": np.array([self.iteration]), "strategy": self.strategy, **self.counts()}
        arrays |= named("average", self.average.state())
        for player, regrets in enumerate(self.regrets):
            arrays |= named(f"regrets{player}", regrets.state())
        return arrays

    def restore(self, arrays: Arrays) -> None:
        self.iteration, self.strategy = int(arrays["iteration"][0]), np.array(arrays["strategy"])
        self.restore_counts(arrays)
        self.average.restore(under("average", arrays))
        for player, regrets in enumerate(self.regrets):
            regrets.restore(under(f"regrets{player}", arrays))
