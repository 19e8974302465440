"""ReBeL's self-play on many cores: workers advance streams of episodes, while this process takes gradient steps.

Workers are stateless: a job contains the networks' weights and a stream's state, and returns rows and the new state. Streams
are consumed in turn. A stream's next job is sent, with the current weights, when the rows of its last job are consumed. Results
therefore depend on the number of streams, but not on the number of workers or on workers that die.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from time import process_time
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from treeplex.base.workers.executor import POLL_SECONDS, Executor
from treeplex.forms.sources.load import public_game, public_tree
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.rebel.play import Play, Rows
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer, self_play_of

Arrays = Mapping[str, NDArray[Any]]
MOST_BYTES = 1 << 30
"""Maximum size in bytes of the weights that a saved state stores for running jobs; with larger weights, saving waits for the
jobs."""


class SelfPlayStopped(Exception):  # noqa: N818 (no error)
    """Raised when a stop is requested while waiting for rows; no data is lost."""


@dataclass(frozen=True, eq=False)
class SelfPlayRows:
    """The result of a job: rows, the stream's new state, and the CPU time."""

    rows: Rows
    state: Arrays
    seconds: float


@dataclass(frozen=True, eq=False)
class SelfPlayer:
    """A worker's state.

    Attributes:
        game: the game's spec; for turns, a spot whose ranges contain every hand.
        settings: the training settings.
    """

    game: str | Spot
    settings: Any

    @cached_property
    def play_of_worker(self) -> Play:
        """The worker's self-play and networks, whose state each job overwrites."""
        torch_module().set_num_threads(1)
        game: Any = self.game
        if not isinstance(game, Spot):
            game = public_tree(game) if isinstance(self.settings, RebelSettings) else public_game(game)
        return self_play_of(game, self.settings, np.random.default_rng(0))


def advance(player: SelfPlayer, weights: Arrays, state: Arrays) -> SelfPlayRows:
    """Advance each of a stream's episodes by one subgame or street or, on turns, draw and search the next game.

    Args:
        player: the worker's state.
        weights: weights of the networks, by name.
        state: state of the stream's episodes and random number generator.
    """
    began = process_time()
    play = player.play_of_worker
    play.load(weights)
    restore_stream(play, state)
    rows = play.advance()
    return SelfPlayRows(rows, stream_state(play), process_time() - began)


@final
class ParallelSelfPlay:
    """Self-play by workers that advance streams of episodes; replaces the self-play of a :class:`RebelTrainer`.

    Attributes:
        play: local self-play, whose networks the streams use.
        solved: number of subgames solved or, on turns, of games drawn.
        streams: number of streams.
        seconds: CPU time of the workers so far.
        executor: runs the jobs.
        stop: function polled while waiting for jobs. Once it returns true, :meth:`advance` raises :class:`SelfPlayStopped`, and
            :meth:`state` saves running jobs so that they are run again on resuming.
    """

    def __init__(self, play: Play, executor: Executor, player: SelfPlayer, streams: int) -> None:
        self.play, self.solved, self.streams, self.seconds = play, 0, streams, 0.0
        self.executor, self._player = executor, executor.share(player)
        self.stop: Callable[[], bool] = lambda: False
        self._seed, self._next = player.settings.seed, 0
        self._ready: dict[int, SelfPlayRows] = {}
        self._begun = False

    def advance(self) -> Rows:
        """Wait for the rows of the next stream, and send that stream's next job; returns the rows.

        Raises:
            SelfPlayStopped: on request.
        """
        self._begin()
        while self._next not in self._ready:
            if self.stop():
                raise SelfPlayStopped
            self._collect()
        stream, harvest = self._next, self._ready.pop(self._next)
        self._next = (stream + 1) % self.streams
        self.solved += self.play.solved_in(harvest.rows)
        self.seconds += harvest.seconds
        self._send(stream, harvest.state)
        return harvest.rows

    def state(self) -> dict[str, NDArray[Any]]:
        """The streams' states and rows not yet consumed; waits for running jobs unless a stop is requested."""
        self._begin()
        while (jobs := self.executor.jobs()) and not (self.stop() and bytes_of(jobs.values()) <= MOST_BYTES):
            self._collect()
        arrays: dict[str, NDArray[Any]] = {"next": np.array([self._next])}
        for stream, (_, weights, state) in jobs.items():
            arrays |= {f"stream{stream}.weights.{name}": array for name, array in weights.items()}
            arrays |= {f"stream{stream}.{name}": array for name, array in state.items()}
        for stream, harvest in self._ready.items():
            rows = harvest.rows.arrays() | {"seconds": np.array([harvest.seconds])}
            arrays |= {f"stream{stream}.{name}": array for name, array in (rows | dict(harvest.state)).items()}
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        following = int(arrays["next"][0])
        if not 0 <= following < self.streams or any(name.startswith(f"stream{self.streams}.") for name in arrays):
            raise ValueError(f"the state does not have {self.streams} streams")
        ready, jobs = {}, {}
        for stream in range(self.streams):
            begin = f"stream{stream}."
            entries = {name.removeprefix(begin): np.array(array) for name, array in arrays.items() if name.startswith(begin)}
            weights = {name.removeprefix("weights."): entries.pop(name) for name in [*entries] if name.startswith("weights.")}
            if weights:
                restore_stream(self.play, entries)
                jobs[stream] = weights, entries
                continue
            seconds, rows = float(entries.pop("seconds")[0]), Rows.taken(entries)
            restore_stream(self.play, entries)
            ready[stream] = SelfPlayRows(rows, entries, seconds)
        self._ready, self._next, self._begun = ready, following, True
        for stream, job in jobs.items():
            self.executor.add(stream, advance, self._player, *job)

    def _begin(self) -> None:
        """Send the first job of every stream, each with its own random number generator."""
        if self._begun:
            return
        self._begun = True
        for stream in range(self.streams):
            self._send(stream, stream_state(self.play.fork(np.random.default_rng([self._seed, stream + 1]))))

    def _send(self, stream: int, state: Arrays) -> None:
        self.executor.add(stream, advance, self._player, self.play.weights(), state)

    def _collect(self) -> None:
        for stream, harvest in self.executor.finished(POLL_SECONDS):
            assert isinstance(stream, int)
            self._ready[stream] = harvest


def bytes_of(jobs: Iterable[tuple[Any, ...]]) -> int:
    """Size in bytes of the weights in jobs (their second argument)."""
    return sum(array.nbytes for job in jobs for array in job[1].values())


def stream_state(play: Play) -> dict[str, NDArray[Any]]:
    """State of a stream: its episodes and random number generator."""
    return {**play.state(), "random": random_state(play.generator)}


def restore_stream(play: Play, state: Arrays) -> None:
    """Restore episodes and random number generator from the state of :func:`stream_state`."""
    play.restore(state)
    set_random_state(play.generator, state["random"])


def parallel_trainer(
    game: Any, settings: LearningSettings, executor: Executor, player: SelfPlayer, streams: int
) -> tuple[RebelTrainer, ParallelSelfPlay]:
    """Create a trainer whose self-play runs on workers; returns the trainer and its self-play."""
    trainer = RebelTrainer(game, settings)
    trainer.play = ParallelSelfPlay(trainer.play, executor, player, streams)
    return trainer, trainer.play
