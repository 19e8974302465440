"""Average policies: exact, as a sum of tables or as all networks; or learned by a network from what was seen to be played."""

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
    """Settings for fitting a network of the average policy."""

    memory: int = setting(1_000_000, "rows of each reservoir at most", low=1, fixed=True)
    average_fits: int = setting(5000, "gradient steps of the average's network, whenever it is asked for", low=1)


@dataclass(frozen=True)
class AverageSettings(LearnedAverageSettings):
    """Settings for averaging policies."""

    average: str = setting(NETWORK, "how policies are averaged", choices=(NETWORK, EXACT), fixed=True)


class Average:
    """The average of the policies that players followed, weighted by iteration and own reach.

    Attributes:
        costly: whether asking for it takes long.
    """

    costly: ClassVar[bool] = False

    def played(self, player: int, weight: float) -> None:
        """Take in what a player follows in an iteration."""

    def met(self, found: Walks, weight: float) -> None:
        """Take in walks, which met the other player's infosets in proportion to that player's own reach."""

    def policy(self, iteration: int) -> Policy | NeuralPolicy:
        """The average policy after an iteration."""
        raise NotImplementedError

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> None:
        """Continue from what :meth:`state` returned."""
        raise NotImplementedError


class ExactAverage(Average):
    """The sum of all policies in sequence form, float64 [Q].

    Every infoset is numbered, so a network's policy is a table. This is what keeping all networks and multiplying along each
    path comes to (Steinberger 2019, equation 6).
    """

    def __init__(self, learner: NeuralLearner) -> None:
        """Begin with nothing."""
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
    """By the rules: the networks of all iterations; a player follows one of them for a whole game (Steinberger 2019).

    Attributes:
        kept: the networks of each player.
        weights: for each player theirs.
    """

    def __init__(self, learner: "RegretLearner") -> None:
        """Begin with nothing."""
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
    """The average of all policies without learning."""
    return ExactAverage(learner) if learner.sampler.numbered else MixtureAverage(learner)


def head_of(settings: Any) -> str:
    """How regrets are matched: by the setting ``greedy``, if there is one."""
    return MATCHED_OR_BEST if getattr(settings, "greedy", False) else MATCHED


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
        self.check_game(learner)
        self.learner, self.fitted = learner, list[Approximator | None]()
        self._fitted: tuple[int, Policy | NeuralPolicy | None] = -1, None
        self.memories = [learner.sampler.reservoir(learner.settings.memory) for _ in range(2)]

    @staticmethod
    def check_game(learner: NeuralLearner) -> None:
        """Refuse a game of another number of players than two.

        Raises:
            AlgorithmError: it has more, or one.
        """
        if learner.players != 2:
            raise AlgorithmError(
                f"a learned average holds what is met in the other player's walks, which is right for two players; "
                f"{learner.game} has {learner.players}; take sd-cfr or dream"
            )

    def met(self, found: Walks, weight: float) -> None:
        if len(found.others):
            player, rows = found.others_policy()
            self.memories[player].add(rows._replace(weights=rows.weights * np.float32(weight)), self.learner.generator)

    def policy(self, iteration: int) -> Policy | NeuralPolicy:
        fitted, found = self._fitted
        if fitted == iteration and found is not None:
            return found
        sampler, settings, averages = self.learner.sampler, self.learner.settings, list[Approximator | None]()
        for player, memory in enumerate(self.memories):
            generator = np.random.default_rng((settings.seed, iteration, player))
            network = sampler.approximator(player, generator, POLICY)
            if len(memory):
                network.fit(memory.rows, settings.average_fits, generator)
            averages.append(network if len(memory) else None)
        self.fitted, found = averages, sampler.result(averages)
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


class RegretLearner(NeuralLearner):
    """A learner of regrets, an approximator for each player, whose policies match them.

    Attributes:
        iteration: iterations done.
        regrets: of each player.
        followed: what each player follows, at first uniform play.
    """

    saved = ("iteration",)

    def begin(self) -> None:
        """Begin with regrets that have learned nothing, and uniform play."""
        self.iteration, players = 0, range(self.players)
        self.regrets: list[Any] = [self.sampler.approximator(player, self.generator) for player in players]
        self.followed = [PlayerPolicy(self.sampler.inputs(player).constant(1.0), MATCHED) for player in players]
        self.follow()

    def matched(self, player: int) -> Values:
        """The regrets that a player matches, as they stand."""
        return self.regrets[player].frozen()  # type: ignore[no-any-return]

    def follow(self, *players: int) -> None:
        """From now on players match their regrets, as the setting ``greedy`` says."""
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
    """A learner of regrets whose result is the average of its policies, :attr:`average`."""

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.average = self.make_average()
        self.begin()

    def make_average(self) -> Average:
        """How policies are averaged; unless overridden as the settings ask, :class:`AverageSettings`."""
        return exact_average(self) if self.settings.average == EXACT else LearnedAverage(self)

    @property
    def costly(self) -> bool:
        return self.average.costly

    def policy(self) -> Policy | NeuralPolicy:
        return self.average.policy(self.iteration)

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield "average", self.average
        yield from super().parts()
