"""Playing many episodes at once: one loop that hands out jobs, and three crews that do them.

The crews are this process, processes of this machine, and actors of Ray. Processes rather than threads, although the kernels
release the interpreter's lock: a worker is then the same thing here and on Ray, and one that dies takes nothing with it.
"""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, Protocol, TypeAlias, TypeVar, final

import numpy as np

from treeplex.engine.tree.form import Floats
from treeplex.engine.tree.learned import DiscountNetwork, play_episode
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.learn.common.bound_process import BoundProcess
from treeplex.learn.discount.trainer import Watch, unwatched
from treeplex.solvers.rules.discount_policy import DiscountPolicy

JOBS_PER_WORKER = 4
"""Jobs a worker gets from each game in an epoch, about: so many that none waits long for the last one."""
MOST_LOSSES = 3
"""A job that so many workers died of is not given to another."""
POLL_SECONDS = 0.2

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")
Takes = TypeVar("Takes", contravariant=True)
Gives = TypeVar("Gives", covariant=True)


@dataclass(frozen=True, eq=False)
class Job:
    """Episodes to play: networks [n, P] on one game, by its number."""

    game: int
    parameters: Floats


@dataclass(frozen=True, eq=False)
class Player:
    """What a worker knows: the specs of the games, which it compiles once, and the policy whose network the jobs replace."""

    specs: tuple[str, ...]
    policy: DiscountPolicy

    @cached_property
    def games(self) -> list[CompiledGame]:
        """The games, compiled."""
        return [compile_game(spec) for spec in self.specs]

    @cached_property
    def scheme(self) -> DiscountNetwork:
        """The policy as the engine takes it."""
        return self.policy.compiled

    def play(self, job: Job) -> Floats:
        """Exploitability at the end of each episode, float64 [n]."""
        game, horizon = self.games[job.game], self.policy.horizon
        rows = np.ascontiguousarray(job.parameters, np.float64)
        return np.array([play_episode(game.tree, game.payoff, self.scheme._replace(parameters=row), horizon) for row in rows])


Outcome: TypeAlias = Floats | Exception | None
"""Exploitabilities [n], what the worker raised, or None if it died."""


class Plays(Protocol[Takes, Gives]):
    """What every worker has a copy of; it goes through a pipe."""

    def play(self, job: Takes, /) -> Gives:
        """Do one job."""


class Workers(Protocol[Takes, Gives]):
    """Workers 0 to ``size - 1``, each with at most one job at a time."""

    size: int

    def give(self, worker: int, job: Takes, /) -> None:
        """Hand a job to an idle worker."""

    def finished(self, seconds: float, /) -> Sequence[tuple[int, Gives | Exception | None]]:
        """Wait for at most so long; return workers and what they found or raised, None where one died and was replaced."""

    def give_up(self) -> None:
        """Drop the jobs under way, at once; the workers are idle then."""

    def close(self) -> None:
        """End the workers, at once."""


Crew: TypeAlias = Workers[Job, Floats]
"""Workers that play episodes."""


def evaluate(crew: Crew, candidates: Floats, games: Sequence[CompiledGame], watch: Watch = unwatched) -> tuple[Floats, int]:
    """Play every candidate on every game.

    The result does not depend on the crew: what a worker that dies was doing is done again by another.

    Args:
        crew: the workers.
        candidates: networks, float64 [n, P].
        games: the training games, as the crew's :class:`Player` numbers them.
        watch: called while waiting; what it raises goes through, and the jobs under way are given up.

    Returns:
        Exploitability at the end, float64 [n, G], and the number of workers that died.

    Raises:
        AlgorithmError: a job that several workers died of.
        Exception: what a worker raised.
    """
    count = len(candidates)
    step = max(1, count // (JOBS_PER_WORKER * crew.size))
    largest = sorted(range(len(games)), key=lambda number: int(games[number].tree.sequence_offsets[-1]))
    waiting = [(game, slice(first, min(first + step, count))) for game in largest for first in range(0, count, step)]
    losses: dict[tuple[int, int], int] = {}
    found, under_way = np.empty((count, len(games))), dict[int, tuple[int, slice]]()
    idle = list(range(crew.size))
    try:
        while waiting or under_way:
            watch()
            while waiting and idle:
                worker, (game, part) = idle.pop(), waiting.pop()
                crew.give(worker, Job(game, candidates[part]))
                under_way[worker] = game, part
            for worker, result in crew.finished(POLL_SECONDS):
                game, part = under_way.pop(worker)
                idle.append(worker)
                if isinstance(result, Exception):
                    raise result
                if result is not None:
                    found[part, game] = result
                    continue
                waiting.append((game, part))
                key = game, part.start
                losses[key] = losses.get(key, 0) + 1
                if losses[key] >= MOST_LOSSES:
                    raise AlgorithmError(
                        f"{MOST_LOSSES} workers died one after the other while playing {games[game].spec}; is there "
                        "memory for so many --workers, and is Treeplex on every machine?"
                    )
    except BaseException:
        if under_way:
            crew.give_up()
        raise
    return found, sum(losses.values())


@final
class Alone(Generic[JobT, ResultT]):
    """This process: one worker, and nothing that could die."""

    def __init__(self, player: Plays[JobT, ResultT]) -> None:
        self.size, self._player, self._job = 1, player, list[JobT]()

    def give(self, worker: int, job: JobT) -> None:
        """Keep the job for :meth:`finished`."""
        self._job.append(job)

    def finished(self, seconds: float) -> list[tuple[int, ResultT | Exception | None]]:
        """Do the job."""
        return [(0, attempt(self._player, self._job.pop()))] if self._job else []

    def give_up(self) -> None:
        """Forget the job."""
        self._job.clear()

    def close(self) -> None:
        """Nothing to end."""


@final
class Processes(Generic[JobT, ResultT]):
    """Processes of this machine, each with a pipe.

    They are started afresh (``spawn``), for a fork of a process with compiled kernels and threads may hang. So a script that
    trains must do it under ``if __name__ == "__main__"``.
    """

    def __init__(self, player: Plays[JobT, ResultT], size: int) -> None:
        self.size, self._player = size, player
        self._workers: list[tuple[BaseProcess, Connection]] = []
        self._busy: set[int] = set()
        for _ in range(size):
            self._workers.append(self._start())

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers, by number."""
        return [process.pid or 0 for process, _ in self._workers]

    def _start(self) -> tuple[BaseProcess, Connection]:
        ours, theirs = multiprocessing.Pipe()
        process = BoundProcess(target=serve, args=(theirs, self._player), daemon=True)
        with deaf_to_interrupts():
            process.start()
        theirs.close()
        return process, ours

    def give(self, worker: int, job: JobT) -> None:
        """Send the job; if the worker is dead, :meth:`finished` will find it so."""
        self._busy.add(worker)
        try:
            self._workers[worker][1].send(job)
        except OSError:
            return

    def finished(self, seconds: float) -> list[tuple[int, ResultT | Exception | None]]:
        """Read what has come in; replace the dead."""
        numbers = {pipe: number for number, (_, pipe) in enumerate(self._workers)}
        results: list[tuple[int, ResultT | Exception | None]] = []
        for pipe in wait(list(numbers), seconds):
            assert isinstance(pipe, Connection)
            try:
                result: ResultT | Exception | None = pipe.recv()
            except (EOFError, OSError):
                result = None
            self._busy.discard(numbers[pipe])
            if result is None:
                self._replace(numbers[pipe])
            results.append((numbers[pipe], result))
        return results

    def _replace(self, number: int) -> None:
        process, pipe = self._workers[number]
        pipe.close()
        process.kill()
        process.join()
        self._workers[number] = self._start()

    def give_up(self) -> None:
        """Replace the workers that are at work."""
        for worker in self._busy:
            self._replace(worker)
        self._busy.clear()

    def close(self) -> None:
        """Kill the workers, whatever they are doing: nothing that they hold is needed any more."""
        for process, pipe in self._workers:
            pipe.close()
            process.kill()
        for process, _ in self._workers:
            process.join()
        self._workers = []


def serve(pipe: Connection, player: Plays[JobT, ResultT]) -> None:
    """The life of a worker process: jobs in, results out, until the pipe closes. Ctrl-C is for the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(attempt(player, job))
        except OSError:
            return


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Processes started meanwhile do not hear Ctrl-C, not even before they run code of ours; here it waits until the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it with the first process would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def attempt(player: Plays[JobT, ResultT], job: JobT) -> ResultT | Exception:
    """What the player finds or raises."""
    try:
        return player.play(job)
    except Exception as error:
        return error
