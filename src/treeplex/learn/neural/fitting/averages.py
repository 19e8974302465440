"""Average policies: exact (a sum of tables, or a mixture of all networks), or learned by a network trained on the policies
played."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.settings import setting
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.heads import MATCHED, MATCHED_OR_BEST
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import POLICY, Approximator
from treeplex.learn.neural.fitting.policies import NetworkLists, PlayerPolicy, Profile, Values
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings, named, under
from treeplex.learn.neural.walks.sampler import Walks

Arrays = Mapping[str, NDArray[Any]]
EXACT, NETWORK = "exact", "network"


@dataclass(frozen=True)
class LearnedAverageSettings(NeuralSettings):
    """Settings for an average-policy network."""

    memory: int = setting(1_000_000, "maximum rows of each reservoir", low=1, fixed=True)
    average_fits: int = setting(5000, "gradient steps of the average-policy network each time it is trained", low=1)


@dataclass(frozen=True)
class AverageSettings(LearnedAverageSettings):
    """Settings for averaging policies."""

    average: str = setting(NETWORK, "how policies are averaged", choices=(NETWORK, EXACT), fixed=True)


class Average:
    """Average of each player's policies, weighted by iteration and own reach.

    Attributes:
        costly: whether computing the average is slow.
    """

    costly: ClassVar[bool] = False

    def played(self, player: int, weight: float) -> None:
        """Add a player's current policy to the average."""

    def met(self, walks: Walks, weight: float) -> None:
        """Add traversals to the average; they visit the other player's infosets in proportion to that player's own reach."""

    def policy(self, iteration: int) -> Policy | NeuralPolicy:
        """The average policy after an iteration."""
        raise NotImplementedError

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`."""
        raise NotImplementedError


class ExactAverage(Average):
    """The exact average: a sum of all policies in sequence form, float64 [Q].

    Since all infosets are numbered, each network's policy is tabulated. The result equals the average computed from all stored
    networks along each path (Steinberger 2019, equation 6).
    """

    def __init__(self, learner: NeuralLearner) -> None:
        """Start with zero sums."""
        self.learner, self.sums = learner, np.zeros(len(learner.compiled.action_ids))

    def played(self, player: int, weight: float) -> None:
        self.add(player, self.learner.infosets.table(self.learner.strategy(self.learner.infosets)), weight)

    def add(self, player: int, table: Floats, weight: float) -> None:
        """Add a player's policy, float64 [Q]."""
        self.sums[self.learner.sequences_of(player)] += weight * self.learner.sequence_form(player, table)

    def policy(self, iteration: int) -> Policy:
        return self.learner.policy_of(self.sums[self.learner.slots])

    def state(self) -> dict[str, NDArray[Any]]:
        return {"sums": self.sums}

    def restore(self, arrays: Arrays) -> None:
        self.sums = np.array(arrays["sums"])


class MixtureAverage(Average):
    """The exact average in uncompiled games: a mixture of the networks of all iterations, from which each player samples one
    per game (Steinberger 2019).

    Attributes:
        kept: each player's networks.
        weights: each player's weights for them.
    """

    def __init__(self, learner: "RegretLearner") -> None:
        """Start without networks."""
        self.learner, self.kept = learner, NetworkLists(learner.players)
        self.weights: list[list[float]] = [[] for _ in range(learner.players)]

    def played(self, player: int, weight: float) -> None:
        self.kept.of[player].append(self.learner.followed[player].values.layers)
        self.weights[player].append(weight)

    def policy(self, iteration: int) -> Policy | NeuralPolicy:
        sampler, players = self.learner.sampler, self.learner.players
        if not len(self.kept):
            return sampler.result([None] * players)
        weights, head = np.array(self.weights).T, head_of(self.learner.settings)
        return sampler.neural_policy(self.kept.members, head=head, weights=weights)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"weights": np.array(self.weights), **self.kept.state()}

    def restore(self, arrays: Arrays) -> None:
        self.weights = np.array(arrays["weights"]).tolist()
        self.kept.restore(arrays)


def exact_average(learner: "RegretLearner") -> Average:
    """Create the exact average of all policies, without an average-policy network."""
    return ExactAverage(learner) if learner.sampler.numbered else MixtureAverage(learner)


def head_of(settings: Any) -> str:
    """The policy head for regrets, which depends on the setting ``greedy`` if the learner has it."""
    return MATCHED_OR_BEST if getattr(settings, "greedy", False) else MATCHED


class LearnedAverage(Average):
    """A learned average: one network per player, fitted on demand by cross entropy to a reservoir of the policies played.

    This is correct only for two players: traversals by one player visit the other's infosets in proportion to the other's own
    reach.

    Attributes:
        fitted: each player's most recently fitted approximator.
    """

    costly = True

    def __init__(self, learner: NeuralLearner) -> None:
        """Create the average of a learner whose settings are :class:`LearnedAverageSettings`.

        Raises:
            AlgorithmError: the game does not have two players, or the reservoirs do not fit in memory.
        """
        self.check_game(learner)
        self.learner, self.fitted = learner, list[Approximator | None]()
        self._fitted: tuple[int, Policy | NeuralPolicy | None] = -1, None
        self.memories = [learner.sampler.reservoir(learner.settings.memory) for _ in range(2)]

    @staticmethod
    def check_game(learner: NeuralLearner) -> None:
        """Check that the game has two players.

        Raises:
            AlgorithmError: it has another number of players.
        """
        if learner.players != 2:
            raise AlgorithmError(
                f"a learned average needs two players, but {learner.game} has {learner.players}, since it samples infosets "
                "from the opponent's traversals; use sd-cfr or dream"
            )

    def met(self, walks: Walks, weight: float) -> None:
        if len(walks.others):
            player, rows = walks.others_policy()
            self.memories[player].add(rows._replace(weights=rows.weights * np.float32(weight)), self.learner.generator)

    def policy(self, iteration: int) -> Policy | NeuralPolicy:
        fitted, average = self._fitted
        if fitted == iteration and average is not None:
            return average
        sampler, settings, averages = self.learner.sampler, self.learner.settings, list[Approximator | None]()
        for player, memory in enumerate(self.memories):
            generator = np.random.default_rng((settings.seed, iteration, player))
            network = sampler.approximator(player, generator, POLICY)
            if len(memory):
                network.fit(memory.rows, settings.average_fits, generator)
            averages.append(network if len(memory) else None)
        self.fitted, average = averages, sampler.result(averages)
        self._fitted = iteration, average
        return average

    def state(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        for player, memory in enumerate(self.memories):
            arrays |= named(str(player), memory.state())
        return arrays

    def restore(self, arrays: Arrays) -> None:
        for player, memory in enumerate(self.memories):
            memory.restore(under(str(player), arrays))


class RegretLearner(NeuralLearner):
    """Base class for learners of regrets: one approximator per player, and policies by regret matching.

    Attributes:
        iteration: number of iterations completed.
        regrets: each player's approximator.
        followed: each player's current policy, initially uniform.
    """

    saved = ("iteration",)

    def begin(self) -> None:
        """Create untrained regret approximators and uniform policies."""
        self.iteration, players = 0, range(self.players)
        self.regrets: list[Any] = [self.sampler.approximator(player, self.generator) for player in players]
        self.followed = [PlayerPolicy(self.sampler.inputs(player).constant(1.0), MATCHED) for player in players]
        self.follow()

    def matched(self, player: int) -> Values:
        """A player's current regrets, from which regret matching gives its policy."""
        return self.regrets[player].frozen()  # type: ignore[no-any-return]

    def follow(self, *players: int) -> None:
        """Update players' policies by regret matching, with the policy head that the setting ``greedy`` selects."""
        for player in players:
            self.followed[player] = PlayerPolicy(self.matched(player), head_of(self.settings))
        self.strategy = self.sampler.fixed(Profile(list(self.followed)))

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from ((f"regrets{player}", regrets) for player, regrets in enumerate(self.regrets))

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        if self.iteration:
            self.follow(*range(self.players))


class AveragingLearner(RegretLearner):
    """Base class for learners of regrets whose result is the average policy, :attr:`average`."""

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.average = self.make_average()
        self.begin()

    def make_average(self) -> Average:
        """Create the average; by default as specified by :class:`AverageSettings`."""
        return exact_average(self) if self.settings.average == EXACT else LearnedAverage(self)

    @property
    def costly(self) -> bool:
        return self.average.costly

    def policy(self) -> Policy | NeuralPolicy:
        return self.average.policy(self.iteration)

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield "average", self.average
        yield from super().parts()
