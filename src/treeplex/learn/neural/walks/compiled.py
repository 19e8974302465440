"""Sampling of compiled games as worker jobs; results depend only on the seed and the job's numbers, not on the worker."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.workers.executor import Executor
from treeplex.engine.histories.episodes import Episodes, play_episodes
from treeplex.engine.histories.form import Histories
from treeplex.engine.histories.recording import RecordedWalks, WalkRows, new_rows, record_external, record_outcomes
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.learn.neural.fitting.approximator import Approximator, GameInputs
from treeplex.learn.neural.fitting.infosets import GameInfosets
from treeplex.learn.neural.fitting.policies import AnyProfile, MatrixProfile
from treeplex.learn.neural.walks.sampler import EpisodeBatch, EpisodeOptions, Sampler, Walks

PARTS = 4
"""Number of jobs per worker into which a batch of episodes is split."""
WALKS = 250
"""Traversals per job, independent of the number of workers, so that reservoirs receive rows in the same batches."""
CHUNK = 1 << 14
"""Capacity, in rows, of the buffer to which kernels write records."""


@dataclass(frozen=True, eq=False)
class WorkerGame:
    """Worker state: a game that each worker compiles once. Only the game's spec is pickled."""

    spec: str

    @classmethod
    def of(cls, game: CompiledGame, spec: str) -> "WorkerGame":
        """Wrap a game that this process has already compiled."""
        wrapped = cls(spec)
        wrapped.__dict__["compiled"] = game
        return wrapped

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerGame, (self.spec,)

    @cached_property
    def compiled(self) -> CompiledGame:
        """The game, compiled."""
        return compile_game(self.spec)

    @cached_property
    def histories(self) -> Histories:
        """The game's history form; the keys of its decision nodes are infosets."""
        return histories_of(self.compiled)

    @cached_property
    def first(self) -> Ints:
        """The first slot of each infoset, int64 [I+1]."""
        return np.append(0, np.cumsum(self.compiled.tree.infoset_layout[:, 2], dtype=np.int64))

    @cached_property
    def room(self) -> WalkRows:
        """The buffers that traversal kernels write to."""
        return new_rows(self.histories, self.first, CHUNK)


class WalkKind(NamedTuple):
    """Parameters shared by the traversals of a job; see :class:`treeplex.engine.histories.recording.RecordedWalks`."""

    player: int
    seed: int
    exploration: float = 0.0
    corrected: bool = True
    returns: bool = False


class TraversalRecords(NamedTuple):
    """Records of the traversals in a job; see :class:`treeplex.engine.histories.recording.WalkRows` and :class:`Walks`."""

    places: NDArray[np.int32]
    values: NDArray[np.float32]
    weights: NDArray[np.float32]
    others: NDArray[np.int32]
    edges: NDArray[np.int32]
    walks: int
    nodes: int


def walk_external(game: WorkerGame, policy: Floats, kind: WalkKind, walk: int, end: int) -> TraversalRecords:
    """Run external-sampling traversals ``walk`` to ``end`` (exclusive) under a slot-wise policy; returns their records."""

    def record(walks: RecordedWalks, first: int) -> tuple[int, ...]:
        following, rows, others, visited = record_external(walks, first, end, game.room)
        return following, rows, others, 0, visited

    return record_walks(game, policy, kind, range(walk, end), record)


def walk_outcomes(
    game: WorkerGame, policy: Floats, critic: Floats, edge: Ints, kind: WalkKind, walk: int, end: int
) -> TraversalRecords:
    """Run outcome-sampling playthroughs under a slot-wise policy, with a critic's values as baselines; returns their
    records."""
    return record_walks(
        game, policy, kind, range(walk, end), lambda walks, first: record_outcomes(walks, critic, edge, first, end, game.room)
    )


def record_walks(
    game: WorkerGame, policy: Floats, kind: WalkKind, numbers: range, record: Callable[[RecordedWalks, int], tuple[int, ...]]
) -> TraversalRecords:
    """Run a recording kernel until all traversals are complete, emptying the buffer whenever it is full; returns their
    records."""
    walks, walk, nodes, parts = RecordedWalks(game.histories, game.first, policy, *kind), numbers.start, 0, list[list[Any]]()
    while walk < numbers.stop:
        walk, rows, others, edges, visited = record(walks, walk)
        counts = (rows, rows, rows, others, edges)
        parts.append([column[:count].copy() for column, count in zip(game.room, counts, strict=True)])
        nodes += visited
    columns: list[Any] = parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts, strict=True)]
    places, values, weights, others, edges = columns
    return TraversalRecords(places, values, weights, others, edges, len(numbers), nodes)


def play_part(game: WorkerGame, policies: Floats, seats: Ints, seed: int, number: int) -> Episodes:
    """Play episodes in a worker; see :func:`treeplex.engine.histories.episodes.play_episodes`."""
    compiled = game.compiled
    return play_episodes(game.histories, compiled.tree.infoset_layout, policies, seats, compiled.size.depth, seed, number)


def join_episodes(parts: list[Episodes]) -> Episodes:
    """Concatenate batches of episodes."""
    if len(parts) == 1:
        return parts[0]
    columns: list[Any] = [np.concatenate(column) for column in zip(*(part[1:-1] for part in parts), strict=True)]
    lengths = np.concatenate([np.diff(part.first) for part in parts])
    nodes = sum(part.nodes for part in parts)
    return Episodes(np.append(0, np.cumsum(lengths)), *columns, nodes)  # type: ignore[call-arg]


class CompiledSampler(Sampler):
    """Sampler for compiled games, whose infosets are numbered."""

    numbered = True

    def __init__(self, game: CompiledGame, settings: Any, executor: Executor) -> None:
        super().__init__(settings)
        payoffs = histories_of(game).payoffs
        self.game, self.players, self.constant = game, game.players, game.constant
        self.infosets: GameInfosets = GameInfosets(game, settings.features)
        self.scale = float(np.abs(payoffs).max(initial=0.0)) or 1.0
        self.cooperative = bool((payoffs == payoffs[:, :1]).all() and payoffs.any()) and game.players > 1
        self.spread_over(executor, game.spec)

    def spread_over(self, executor: Executor, spec: str) -> None:
        self._executor, self._shared = executor, executor.share(WorkerGame.of(self.game, spec))

    def infosets_of(self, player: int) -> slice:
        """The range of a player's infosets."""
        begin, end = self.infosets.begin[player : player + 2]
        return slice(int(begin), int(end))

    def inputs(self, player: int) -> GameInputs:
        player_infosets, legal = self.infosets_of(player), self.infosets.legal
        actions = self.game.action_ids[self.infosets.sequences[player_infosets][legal[player_infosets]]]
        return GameInputs(self.infosets.features[player_infosets], legal[player_infosets], actions)

    def external(self, policy: AnyProfile, player: int, walks: range) -> Iterator[Walks]:
        return self.walks(walk_external, policy, [], WalkKind(player, self.settings.seed), walks)

    def walks(
        self, function: Callable[..., TraversalRecords], policy: AnyProfile, shared: Sequence[Any], kind: WalkKind, walks: range
    ) -> Iterator[Walks]:
        """Run one of this module's functions as worker jobs under a policy; yields each job's results and adds them to the
        effort counts.

        Args:
            function: :func:`walk_external` or :func:`walk_outcomes`.
            policy: policy of all players.
            shared: further arguments that all jobs share.
            kind: parameters of the traversals.
            walks: the traversals' numbers."""
        matrix = policy(self.infosets)
        handles = [self._executor.share(handle) for handle in (matrix[self.infosets.legal], *shared)]
        jobs = ((self._shared, *handles, kind, start, min(start + WALKS, walks.stop)) for start in walks[::WALKS])
        for records in self._executor.map(function, jobs):
            self.count(records.nodes, records.walks)
            yield Walks(self.infosets, matrix, *records._replace(values=records.values / np.float32(self.scale)))
        for handle in handles:
            self._executor.forget(handle)

    def episodes(self, policies: Sequence[AnyProfile], seats: Ints, playing: EpisodeOptions | None = None) -> EpisodeBatch:
        matrices = [policy(self.infosets) for policy in policies]
        shared = self._executor.share(np.stack([self.infosets.table(matrix) for matrix in matrices]))
        size, seed = self._executor.size, self.settings.seed
        step = len(seats) if size == 1 else -(-len(seats) // (PARTS * size))
        jobs = ((self._shared, shared, seats[i : i + step], seed, self.played + i) for i in range(0, len(seats), step))
        batch = join_episodes(list(self._executor.map(play_part, jobs)))
        self._executor.forget(shared)
        self.count(batch.nodes, len(seats))
        return EpisodeBatch(batch, self.infosets, matrices[0], np.empty((0, 0), np.float32))

    def fixed(self, policy: AnyProfile) -> MatrixProfile:
        return MatrixProfile(policy(self.infosets))

    def result(self, averages: Sequence[Approximator | None]) -> Policy:
        policy = self.infosets.legal.astype(np.float64)
        for player, average in enumerate(averages):
            if average is not None:
                policy[self.infosets_of(player)] = average.values()
        return Policy(self.game, normalised(self.game, self.infosets.table(policy)))
