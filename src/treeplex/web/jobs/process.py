"""The process of a job: solves, reports progress to the server, answers requests, and saves when stopped.

The first line on standard input is the order, or a request to get ready for it: ``{"prepare": true, "measure": true}`` loads
the kernels and measures the pace of this machine. Later lines are commands: ``{"do": "stop"}`` (save and exit after this
iteration), ``{"do": "go"}`` (withdraw an earlier stop) and ``{"do": "look", "id": 3, "line": "x"}`` (send a node of the current
strategy). End of input means that the server has exited; the job then also saves and exits, also if it was paused by a signal.
Events leave on standard output as lines of JSON; the event ``node`` is followed by the number of bytes that it states.
"""

import ctypes
import json
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import IO, Any, final

from treeplex.base.notices import telling
from treeplex.engine.threads import checked_threads
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.forms.compile.rule_errors import said_by
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.spot_form import ON_DEVICE
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.solve.budget import coarse_spot, machine_pace
from treeplex.holdem.solve.job import SpotJob
from treeplex.holdem.solve.session import DEFAULT_STORAGE, spot_session, writing
from treeplex.holdem.solve.solution import load_solution, reread
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.batch import BATCH, run_batch
from treeplex.holdem.study.batches.board import batch_settings, solve_board
from treeplex.holdem.study.batches.report import batch_report, decision_line
from treeplex.run.job.folder import JobFolder
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.record import Progress, Record
from treeplex.run.solve.solvable import SolveRequest
from treeplex.solvers.registry import is_own
from treeplex.web.jobs.requests import JobRequest
from treeplex.web.served import Refusal
from treeplex.web.spots.nodes import node

NICENESS = 10
PR_SET_PDEATHSIG = 1
"""Linux: the option of ``prctl`` for the signal that a process gets when its parent dies."""
PREVIEW_SECONDS, PREVIEW_ITERATIONS, LEAST_ITERATIONS = 0.6, 100, 10
"""Limits of solving a preview: seconds, iterations, and iterations that are made in any case."""
REFINED_ITERATIONS = 10
"""Iterations after which the strategy of the spot itself replaces the preview."""
TELL_SECONDS = 0.2
"""Seconds between two progress reports."""
WAIT_SECONDS = 300.0
"""Seconds to wait for an earlier process that is still writing the file."""
EVERY = 10
"""Iterations between two evaluations."""


@final
class Line:
    """The connection to the server.

    Attributes:
        interrupt: flag that is set when the job should stop.
        looks: pending requests for nodes, oldest first.
        preview: a coarse strategy that answers these requests before there is a better one; None for none.
    """

    def __init__(self, read: IO[bytes], write: IO[bytes]) -> None:
        self.interrupt = Interrupt(wanted=False)
        self.looks: deque[tuple[int, str]] = deque()
        self.preview: Preview | None = None
        self._read, self._write, self._lock = read, write, threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for text in self._read:
            command = json.loads(text)
            if command["do"] == "look":
                number, line, preview = int(command["id"]), str(command["line"]), self.preview
                if preview is None:
                    self.looks.append((number, line))
                else:
                    self.answer(number, partial(node, preview.policy, line, note=preview.note))
            else:
                self.interrupt.requested = command["do"] == "stop"
        self.interrupt.requested = True

    def tell(self, event: str, content: bytes = b"", **data: Any) -> None:
        """Send an event to the server; does nothing if the server has exited."""
        line = json.dumps({"event": event, **({"bytes": len(content)} if content else {}), **data})
        try:
            with self._lock:
                self._write.write(line.encode() + b"\n" + content)
                self._write.flush()
        except (OSError, ValueError):
            self.interrupt.requested = True

    def answer(self, number: int, find: Callable[[], bytes]) -> None:
        """Send the node of a request, or why there is none."""
        try:
            self.tell("node", find(), id=number)
        except TreeplexError as error:
            self.tell("refused", id=number, status=400, error=str(error))


@dataclass(frozen=True)
class Preview:
    """A coarse version of a spot, solved for a moment.

    Attributes:
        policy: its average strategy.
        note: how it differs from the spot.
    """

    policy: HoldemPolicy
    note: str

    @classmethod
    def of(cls, spot: Spot, threads: int | None) -> "Preview | None":
        """Solve a coarse version; None if the spot itself is ready as quickly."""
        coarse = coarse_spot(spot)
        if coarse is None:
            return None
        game = compile_spot(coarse)
        solver = HoldemSolver(game, threads=checked_threads(threads))
        ends = time.monotonic() + PREVIEW_SECONDS
        while solver.iteration < PREVIEW_ITERATIONS and (time.monotonic() < ends or solver.iteration < LEAST_ITERATIONS):
            solver.run(1)
        average, scales = solver.average()
        policy = HoldemPolicy(game, average, scales, solver.locks, len(game.boards), threads=solver.threads)
        dealt = zip(street_names(coarse.format), coarse.runouts, strict=True)
        cards = " and ".join(f"{count} {name}s" for name, count in dealt if count)
        return cls(policy, f"Preview with {cards} and fewer sizes on later streets.")


@final
class Watch:
    """Reports progress, and answers requests for nodes of the current strategy."""

    def __init__(self, line: Line, job: SpotJob) -> None:
        self.line, self.job = line, job
        self._told = 0.0
        self._policy: tuple[int, HoldemPolicy] | None = None

    def __call__(self, progress: Progress) -> None:
        """Report progress after a step of the session."""
        now = time.monotonic()
        if now - self._told >= TELL_SECONDS:
            self._told = now
            where: dict[str, Any] = {
                "done": progress.done,
                "total": progress.total,
                "rate": progress.rate,
                "left": progress.seconds_left,
            }
            self.line.tell("progress", **where, seconds=self.job.clock.seconds)
        if self.job.done >= REFINED_ITERATIONS:
            self.line.preview = None
        while self.line.looks:
            number, line = self.line.looks.popleft()
            self.line.answer(number, partial(self.node, line))

    def node(self, line: str) -> bytes:
        """A node of the current strategy, packed."""
        return node(self.policy(), line)

    def refuse_looks(self) -> None:
        """Reject the remaining requests for nodes."""
        while self.line.looks:
            number, _ = self.line.looks.popleft()
            self.line.tell("refused", id=number, status=409, error="the job has just ended; try again")

    def policy(self) -> HoldemPolicy:
        """The current average strategy."""
        solver = self.job.solver
        if self._policy is None or self._policy[0] != solver.iteration:
            average, scales = solver.average()
            policy = HoldemPolicy(solver.game, average, scales, solver.locks, len(solver.game.boards), threads=solver.threads)
            self._policy = solver.iteration, policy
        return self._policy[1]


@final
class Records:
    """Sends records to the server, in batches if they arrive more often than every ``TELL_SECONDS``."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._waiting: list[list[float | None]] = []
        self._told = 0.0

    def __call__(self, record: Record) -> None:
        """Add a record of the session."""
        self._waiting = [*(row for row in self._waiting if row[0] != record.done), plain_record(record)]
        if time.monotonic() - self._told >= TELL_SECONDS:
            self.tell()

    def tell(self) -> None:
        """Send the pending records."""
        self._told = time.monotonic()
        if self._waiting:
            self.line.tell("records", records=self._waiting)
        self._waiting = []


def plain_record(record: Record) -> list[float | None]:
    """Convert a record for the page: iterations, seconds, exploitability."""
    worth = float(record.exploitability)
    return [record.done, record.seconds, worth if worth == worth else None]


@dataclass(frozen=True)
class Order:
    """The server's first message.

    Attributes:
        request: the requested job.
        file: file of the solution; if it exists, the job resumes from it.
        origin: file of the solution to start from; None for none.
        total: maximum number of iterations, as determined by an earlier process; None in the first process.
        threads: number of threads; None for one per available core.
    """

    request: JobRequest
    file: Path
    origin: Path | None
    total: int | None
    threads: int | None

    @classmethod
    def read(cls, text: bytes) -> "Order":
        """Parse a line of JSON."""
        data = json.loads(text)
        origin = None if data["origin"] is None else Path(data["origin"])
        request = JobRequest.model_validate(data["request"])
        return cls(request, Path(data["file"]), origin, data["total"], data["threads"])


def asked_of(order: Order, line: Line) -> tuple[Spot | None, SolveRequest]:
    """Return the library's arguments for solving a spot or resuming a solution.

    Raises:
        FileError: the solution to resume or to start from was removed, cannot be read, or is not the job's.
        SpecError: the solution to start from was solved with a custom algorithm.
    """
    options: dict[str, Any] = {} if order.threads is None else {"threads": order.threads}
    how = order.request.how()
    if order.file.exists():
        line.tell("phase", text="reading the solution")
        resume = load_solution(order.file)
        if order.request.fields is not None and reread(order.request.spot()).identity != resume.spot.identity:
            raise FileError(f"{order.file.name} is now the solution of another spot; rename it, and resume this job")
        target = resume.target if how.target is None else how.target.chips(resume.spot.opening_pot)
        total = order.total or how.iterations
        return None, SolveRequest(None, total, target, None, EVERY, order.file, True, resume, options, line.interrupt)
    if order.request.resume is not None:
        raise FileError(f"{order.file.name}: the solution to resume was removed; undo the deletion or solve the spot again")
    if order.origin is None:
        spot = order.request.spot()
        if spot.settings.threads is not None:
            options.pop("threads", None)
        return spot, SolveRequest(None, None, None, None, EVERY, order.file, True, None, options, line.interrupt)
    line.tell("phase", text="reading the solution")
    origin = load_solution(order.origin, resumable=False)
    if is_own(origin.algorithm):
        raise SpecError(
            f"{origin.algorithm} is a custom algorithm, and code named in files is never run; solve the spot on the "
            "command line (-a)"
        )
    spot = replace(origin.spot, settings=how)
    locks = [*(origin.locks if order.request.keep_locks else ()), *order.request.library_locks(spot)]
    lockable = not locks or origin.settings.storage in ON_DEVICE  # solving with locks needs floats
    options |= {"locks": locks, "storage": origin.settings.storage if lockable else DEFAULT_STORAGE}
    target = origin.target if how.target is None else None
    return spot, SolveRequest(origin.algorithm, None, target, None, EVERY, order.file, True, None, options, line.interrupt)


def wait_for(claim: Callable[[], AbstractContextManager[Any]], line: Line) -> None:
    """Wait, up to a time limit, until no other process is writing to a file or folder."""
    ends = time.monotonic() + WAIT_SECONDS
    while not line.interrupt.requested:
        try:
            with claim():
                return
        except FileError:
            if time.monotonic() > ends:
                raise
            line.tell("phase", text="waiting for an earlier process to save")
            time.sleep(0.5)


def run(order: Order, line: Line) -> None:
    """Solve until finished or a stop is requested."""
    if order.request.boards is not None:
        run_flops(order, line)
        return
    wait_for(lambda: writing(order.file), line)
    spot, request = asked_of(order, line)
    if spot is not None and order.origin is None:
        line.tell("phase", text="solving a preview")
        line.preview = Preview.of(spot, request.options.get("threads", spot.settings.threads))
        if line.preview is not None:
            line.tell("preview")
    line.tell("phase", text="building the game tree")
    limits = order.request.limits()
    if limits.memory is not None:
        request = replace(request, options={**request.options, "most_memory": limits.memory})
    with spot_session(spot, request) as session:
        job = session.job
        assert isinstance(job, SpotJob)
        line.tell(
            "begun",
            algorithm=job.name,
            total=job.total,
            done=job.done,
            target=job.settings.target,
            opening_pot=job.solver.game.spot.opening_pot,
            locks=len(job.solver.locks),
            memory=job.memory,
            records=[plain_record(record) for record in session.records],
        )
        session.recorded = records = Records(line)
        watch = Watch(line, job)
        outcome = session.run(seconds=limits.seconds_left(job.clock.seconds), progress=watch)
        line.preview = None
        watch.refuse_looks()
    records(outcome.records[-1])
    records.tell()
    line.tell("end", status=outcome.status)


def run_flops(order: Order, line: Line) -> None:
    """Solve a spot on many boards until finished or a stop is requested; the report is the same as on the command line.

    A budget limits the time of each board. Its memory is that of the board for which the sizes were chosen.
    """
    request, boards = order.request.flops()

    def spot_on(board: str) -> Spot:
        spot = request.on_board(board).spot()
        return replace(spot, settings=replace(spot.settings, threads=spot.settings.threads or order.threads))

    def watch(progress: Progress) -> None:
        where: dict[str, Any] = {
            "done": progress.done,
            "total": progress.total,
            "rate": progress.rate,
            "left": progress.seconds_left,
        }
        line.tell("progress", **where, seconds=perf_counter() - began)
        if progress.done < len(boards):
            line.tell("phase", text=f"on {progress.numbers['board']}")

    wait_for(lambda: JobFolder(BATCH, order.file), line)
    began, first = perf_counter(), spot_on(boards[0].name)
    limits = order.request.limits()
    solve, settings = partial(solve_board, limits=limits), batch_settings(first, limits)
    batch = run_batch(
        spot_on, boards, order.file, solve, settings, keep=order.request.keep, progress=watch, interrupt=line.interrupt
    )
    batch_report(batch, decision_line(first, "")).write()
    if batch.failures and not batch.interrupted:
        board, message = next(iter(batch.failures.items()))
        line.tell("failed", error=f"{len(batch.failures)} of {len(boards)} boards failed: {board}: {message}")
    line.tell("end", status="interrupted" if batch.interrupted else "finished")


def prepared(*, measure: bool, threads: int | None, prepare: bool) -> dict[str, Any]:
    """Load the kernels, and measure the pace of this machine if asked to; nothing else is running then."""
    pace = machine_pace(checked_threads(threads)) if prepare else None
    return {"event": "prepared", "pace": pace if measure else None}


def main() -> None:
    """Run one job; the library's output goes to standard error."""
    with suppress(OSError, AttributeError):  # Linux: a paused process continues if its server dies
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGCONT))
    if hasattr(os, "nice"):
        os.nice(NICENESS)  # the server has priority
    # Python cannot close sys.stdin while a thread reads it: it would wait for a second, and abort.
    read, write = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    first = read.readline()
    if first and json.loads(first).get("prepare"):
        told = prepared(**json.loads(first))
        write.write(json.dumps(told).encode() + b"\n")
        write.flush()
        first = read.readline()
    if not first:
        return  # the server has exited
    order = Order.read(first)
    line = Line(read, write)
    with telling(lambda text: line.tell("phase", text=text)):
        try:
            run(order, line)
        except Refusal as error:
            line.tell("failed", error=str(error))
        except TreeplexError as error:
            line.tell("failed", error=str(error))
        except MemoryError:
            line.tell("failed", error="out of memory; offer fewer bet sizes, narrow the ranges, or use storage int16")
        except Exception as error:
            line.tell("failed", error=f"{said_by(error)}; this is a bug in Treeplex, please report it")
            raise


if __name__ == "__main__":
    main()
