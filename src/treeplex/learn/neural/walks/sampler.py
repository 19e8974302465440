"""Sampling of learners' rows: walks by external sampling and episodes, of a compiled game or of rules.

A learner does not know which. An infoset is a row to it: it samples, keeps rows in buffers, fits networks or tables to them and
follows these. A compiled game is a fast source of rows, in which infosets have numbers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles, SmallInts
from treeplex.base.workers.executor import Executor
from treeplex.engine.histories.episodes import LANE, Episodes
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.neural import Layers, NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.learn.neural.fitting.approximator import VALUES, Approximator, Inputs, make_approximator
from treeplex.learn.neural.fitting.buffers import Reservoir, Rows
from treeplex.learn.neural.fitting.infosets import Infosets
from treeplex.learn.neural.fitting.policies import AnyProfile


class Walks(NamedTuple):
    """Results of some walks of a traverser.

    Attributes:
        infosets: the infosets.
        policy: float64 [P, A], the policy, as far as it was asked for.
        places: int32 [R], infosets of the traverser, one for each time it acted.
        values: float32 [R, A], the sampled regrets of its actions; undefined where an action is not legal.
        weights: float32 [R], one over the probability that the traverser's own choices led there, times that of uniform ones; 1
            with external sampling.
        others: int32 [R'], the other players' infosets that were met.
        transitions: of outcome sampling, what a critic keeps.
        walks, nodes: how many there were, and the histories that they visited.
    """

    infosets: Infosets
    policy: Floats
    places: SmallInts
    values: Singles
    weights: Singles
    others: SmallInts
    transitions: Any
    walks: int
    nodes: int

    def regrets(self) -> Rows:
        """The traverser's regrets as rows."""
        return Rows(self.infosets.rows(self.places), self.values, self.weights)

    def others_policy(self) -> tuple[int, Rows]:
        """Who acted where the traverser did not, in games of two players, and rows of what that player plays there."""
        shares = self.policy[self.others].astype(np.float32)
        return int(self.infosets.player[self.others[0]]), Rows(
            self.infosets.rows(self.others), shares, np.ones(len(shares), np.float32)
        )


class Playing(NamedTuple):
    """How episodes are played besides by policies.

    Attributes:
        seed: of all; an episode has a stream of its own, from the seed, its number and the lane.
        lane: of the streams.
        explorer: by the rules, a player who now and then chooses uniformly; -1 for none.
        exploration: with which probability it does.
        histories: by the rules, whether to note what all players know.
    """

    seed: int
    lane: int = LANE
    explorer: int = -1
    exploration: float = 0.0
    histories: bool = False


class Played(NamedTuple):
    """Episodes.

    Attributes:
        episodes: whose infosets are numbers of ``infosets``; actions are columns of its legal actions. By the rules histories
            have no numbers (-1).
        infosets: those that were met; all of a compiled game.
        policy: float64 [P, A], the first policy as far as it was asked for; zeros elsewhere.
        histories: by the rules and if asked for, what all players know at each decision and which actions are legal, float32
            [D, N F + A].
    """

    episodes: Episodes
    infosets: Infosets
    policy: Floats
    histories: Singles


class Sampler(ABC):
    """Samples a game, and counts.

    Attributes:
        numbered: whether infosets have numbers, as in a compiled game.
        players: how many.
        infosets: all of a compiled game; by the rules none.
        scale: the largest payoff in size, by the rules the largest seen: networks learn values divided by it.
        constant: what payoffs sum to, None where they do not always sum to the same; by the rules as far as was seen.
        cooperative: whether all players are always paid the same; by the rules as far as was seen.
        walked, played: histories walked, and walks or episodes, so far.
    """

    numbered: ClassVar[bool]
    players: int
    infosets: Infosets
    scale: float
    constant: float | None
    cooperative: bool

    def __init__(self, settings: Any) -> None:
        self.settings, self.walked, self.played = settings, 0, 0

    def count(self, walked: int, played: int) -> None:
        """Count histories walked, and walks or episodes."""
        self.walked, self.played = self.walked + walked, self.played + played

    @abstractmethod
    def spread_over(self, executor: Executor, spec: str) -> None:
        """Have workers sample, which know the game by its spec."""

    def check_judged(self, game: CompiledGame) -> None:
        """Refuse a compiled game of which networks cannot be asked for infosets.

        Raises:
            GameError: its infosets say too little.
        """
        return

    @abstractmethod
    def inputs(self, player: int) -> Inputs:
        """Network inputs of a player's infosets."""

    def approximator(self, player: int, generator: np.random.Generator, kind: str = VALUES) -> Approximator:
        """A new network, or table, of a player's values or policy."""
        return make_approximator(self.inputs(player), self.settings, generator, kind)

    def no_rows(self) -> Rows:
        """No rows, to be added to."""
        return Rows(self.inputs(0).no_rows(), np.empty((0, self.infosets.legal.shape[1]), np.float32), np.empty(0, np.float32))

    def reservoir(self, most: int, *, setting: str = "memory") -> Reservoir:
        """An empty reservoir with room for ``most`` rows."""
        empty = self.no_rows()
        width = empty.places.shape[1] if empty.places.ndim == 2 else 0
        return Reservoir(most, empty.values.shape[1], width, setting=setting)

    @abstractmethod
    def external(self, policy: AnyProfile, player: int, walks: range) -> Iterator[Walks]:
        """Walks of a traverser by their numbers, counted; some at a time, regrets in units of the largest payoff."""

    @abstractmethod
    def episodes(self, policies: Sequence[AnyProfile], seats: Ints, playing: Playing | None = None) -> Played:
        """Episodes, counted, and numbered by the count.

        Args:
            policies: by the rules they have to be picklable.
            seats: int64 [B, N], which policy each player follows in each episode.
            playing: how else.
        """

    @abstractmethod
    def fixed(self, policy: AnyProfile) -> AnyProfile:
        """The policy in a form that is fast to sample from."""

    @abstractmethod
    def result(self, averages: Sequence[Approximator | None]) -> Policy | NeuralPolicy:
        """The policy that each player's network, or table, says; where there is None, a player chooses uniformly."""

    def neural_policy(self, networks: Sequence[Layers], **options: Any) -> NeuralPolicy:
        """By the rules, the policy of networks; see :class:`treeplex.forms.policies.neural.NeuralPolicy` for the options."""
        raise NotImplementedError
