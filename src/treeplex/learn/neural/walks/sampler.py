"""Sampling of training rows by external-sampling traversals and by episodes, from compiled games or from rules.

Learners treat both in the same way: an infoset is a row of features, and learners sample rows, store them in buffers, and fit
networks or tables to them. A compiled game is a fast source of rows, with numbered infosets.
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
    """Samples from a batch of traversals.

    Attributes:
        infosets: the infosets.
        policy: float64 [P, A], the sampling policy; zeros at infosets that were not queried.
        places: int32 [R], infoset of each decision of the traverser.
        values: float32 [R, A], sampled regrets of its actions; undefined for illegal actions.
        weights: float32 [R], importance weights: the reciprocal of the traverser's own sampling probability up to the decision,
            times that probability under uniform play; 1 with external sampling.
        others: int32 [R'], infosets of the other players' decisions.
        transitions: transitions for a critic (outcome sampling), otherwise None.
        walks, nodes: numbers of traversals and of histories visited.
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
        """The traverser's sampled regrets as training rows."""
        return Rows(self.infosets.rows(self.places), self.values, self.weights)

    def others_policy(self) -> tuple[int, Rows]:
        """In two-player games, the opponent and training rows of its policy at the infosets visited."""
        shares = self.policy[self.others].astype(np.float32)
        return int(self.infosets.player[self.others[0]]), Rows(
            self.infosets.rows(self.others), shares, np.ones(len(shares), np.float32)
        )


class EpisodeOptions(NamedTuple):
    """Options for playing and recording episodes.

    Attributes:
        seed: base seed; each episode's random stream is derived from it, the episode's number and the lane.
        lane: stream lane.
        explorer: player that explores uniformly at random, or -1 for none (uncompiled games only).
        exploration: probability with which the explorer acts uniformly at random.
        histories: whether to record all players' features (uncompiled games only).
    """

    seed: int
    lane: int = LANE
    explorer: int = -1
    exploration: float = 0.0
    histories: bool = False


class EpisodeBatch(NamedTuple):
    """A batch of episodes.

    Attributes:
        episodes: the decisions; infosets index ``infosets``, actions are its columns. Histories are -1 in uncompiled games.
        infosets: the infosets visited; in a compiled game, all infosets.
        policy: float64 [P, A], the first policy; zeros at infosets that were not queried.
        histories: float32 [D, N F + A], all players' features at each decision and its legal actions; empty unless
            requested.
    """

    episodes: Episodes
    infosets: Infosets
    policy: Floats
    histories: Singles


class Sampler(ABC):
    """Samples traversals and episodes of a game, and counts them.

    Attributes:
        numbered: whether infosets are numbered, as in a compiled game.
        players: number of players.
        infosets: all infosets of a compiled game; empty for rules.
        scale: the largest absolute payoff (for rules, the largest observed); networks learn values divided by it.
        constant: sum of the players' payoffs, None if it varies (for rules, over the payoffs observed).
        cooperative: whether all players always receive the same payoff (for rules, over the payoffs observed).
        walked, played: number of histories visited so far, and number of traversals and episodes.
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
        """Add to the counts of histories visited and of traversals or episodes."""
        self.walked, self.played = self.walked + walked, self.played + played

    @abstractmethod
    def spread_over(self, executor: Executor, spec: str) -> None:
        """Send sampling jobs to an executor, whose workers load the game from its spec."""

    def check_judged(self, game: CompiledGame) -> None:
        """Check that networks can be evaluated at the infosets of a compiled game.

        Raises:
            GameError: its infoset strings do not contain the features.
        """
        return

    @abstractmethod
    def inputs(self, player: int) -> Inputs:
        """Network inputs of a player's infosets."""

    def approximator(self, player: int, generator: np.random.Generator, kind: str = VALUES) -> Approximator:
        """Create a network or table for a player's values or policy."""
        return make_approximator(self.inputs(player), self.settings, generator, kind)

    def no_rows(self) -> Rows:
        """An empty batch of rows."""
        return Rows(self.inputs(0).no_rows(), np.empty((0, self.infosets.legal.shape[1]), np.float32), np.empty(0, np.float32))

    def reservoir(self, most: int, *, setting: str = "memory") -> Reservoir:
        """An empty reservoir for at most ``most`` rows."""
        empty = self.no_rows()
        width = empty.places.shape[1] if empty.places.ndim == 2 else 0
        return Reservoir(most, empty.values.shape[1], width, setting=setting)

    @abstractmethod
    def external(self, policy: AnyProfile, player: int, walks: range) -> Iterator[Walks]:
        """Run external-sampling traversals of a traverser and count them; yields batches, with regrets in units of the largest
        payoff."""

    @abstractmethod
    def episodes(self, policies: Sequence[AnyProfile], seats: Ints, playing: EpisodeOptions | None = None) -> EpisodeBatch:
        """Play episodes, numbered by the count of episodes so far.

        Args:
            policies: the policies to play; must be picklable for uncompiled games.
            seats: int64 [B, N], index of the policy that each player follows in each episode.
            playing: seed, exploration and recording options.
        """

    @abstractmethod
    def fixed(self, policy: AnyProfile) -> AnyProfile:
        """Convert a policy to a form that is fast to sample from."""

    @abstractmethod
    def result(self, averages: Sequence[Approximator | None]) -> Policy | NeuralPolicy:
        """The policy given by each player's network or table; uniform for players whose entry is None."""

    def neural_policy(self, networks: Sequence[Layers], **options: Any) -> NeuralPolicy:
        """A network policy for an uncompiled game; options as in :class:`treeplex.forms.policies.neural.NeuralPolicy`."""
        raise NotImplementedError
