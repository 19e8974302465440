"""The queue of jobs: each runs in its own process, several at a time if memory allows, with its progress in a file.

``.web/jobs/ID.json`` in the served folder holds the request and the state. When the server exits, even by a crash, the
running jobs save and exit; the next server returns them to the queue. A paused job saves and exits if its iteration ends soon.
Otherwise its process is stopped by a signal: it uses no processor time, and resumes where it was. It keeps its memory until
another job needs it.
"""

import asyncio
import secrets
import time
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, final

from anyio import to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from treeplex.base.notices import notify
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.memory import available_memory
from treeplex.errors import FileError
from treeplex.forms.compile.rule_errors import said_by
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.solve.files import read_header
from treeplex.holdem.solve.spot_game import SpotGame
from treeplex.holdem.spots.spot import CHIPS
from treeplex.holdem.spots.spot_table import SOLVED_FILE
from treeplex.solvers.registry import is_own
from treeplex.web.folder.found import found_solution, plain_records, thin_records
from treeplex.web.jobs.requests import JobRequest
from treeplex.web.jobs.running import JobProcess
from treeplex.web.served import Refusal, ServerState
from treeplex.web.spots.fields import spot_of

State = Literal["waiting", "running", "paused", "finished", "stopped", "failed"]
ENDED: tuple[State, ...] = ("finished", "stopped", "failed")
MOST_JOBS = 500
MOST_AT_ONCE = 3
"""Maximum number of jobs that run at once; others wait even if memory is free."""
SPARE_LOG = "next.log"
"""File for the output of the process that waits for a job."""
PACE_SECONDS = 20.0
"""Seconds that a request waits for the pace; it takes longer only if kernels are compiled first."""
SAVING_SECONDS = 600.0
"""Seconds that a closing server waits for running jobs to save."""
PAUSE_SECONDS = 1.0
"""Seconds after which a paused job that has not saved yet is stopped by a signal."""
MEMORY_SECONDS = 5.0
"""Seconds between two checks whether a job that waits for memory can start."""
LOADED = 4.0
"""Memory of a resumed solution, in sizes of its file."""


class PageJob(BaseModel):
    """A job as stored in the folder and sent to pages.

    Attributes:
        id: random name of the job's files.
        name, file: name of the result, and its path relative to the served folder.
        created: time of the request, in seconds since the epoch.
        order: rank in the queue; lower runs first.
        done, total: iterations or, for a batch, boards.
        rate: ``done`` per second.
        target, opening_pot: target exploitability and pot, in chips.
        unit: how amounts are displayed, ``chips`` or ``bb``.
        locks: number of node locks.
        memory: bytes for solving and evaluation.
        left_out: sizes left out for the budget.
        phase: current step if there is no progress yet.
        seconds, seconds_left: solving time so far, and its estimated rest.
        records: rows of iterations, seconds and exploitability in chips.
    """

    model_config = ConfigDict(extra="forbid")
    id: str = Field(pattern="^[0-9a-f]{12}$")
    kind: Literal["spot", "batch"] = "spot"
    name: str
    file: str
    request: JobRequest
    state: State = "waiting"
    created: float
    order: float
    error: str | None = None
    algorithm: str = ""
    total: int | None = None
    target: float | None = None
    opening_pot: float = 0.0
    board: str = ""
    unit: str = CHIPS
    locks: int = 0
    memory: int | None = None
    left_out: list[str] = Field(default_factory=list)
    phase: str | None = None
    done: int = 0
    rate: float = 0.0
    seconds_left: float | None = None
    seconds: float = 0.0
    records: list[list[float | None]] = Field(default_factory=list)

    def saved_text(self) -> str:
        """Return the contents of the job's file; its progress is in the solution's own file."""
        of_now = {"phase", "done", "rate", "seconds_left", "seconds", "records"}
        return self.model_dump_json(exclude=of_now, by_alias=True, indent=1) + "\n"


@final
class Queue:
    """The jobs of a folder, and the thread that runs them."""

    def __init__(self, served: ServerState) -> None:
        self.served = served
        self.jobs: dict[str, PageJob] = {}
        self._wishes: dict[str, State] = {}
        self._running: dict[str, JobProcess] = {}
        self._frozen: set[str] = set()
        self._needs: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._spare: JobProcess | None = None
        self._preparing = False
        self._wake = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def folder(self) -> Path:
        """The folder of jobs."""
        return self.served.own_folder / "jobs"

    async def open(self) -> None:
        """Read the jobs that earlier servers stored, and start the queue."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(self.folder.glob("*.json"))[:MOST_JOBS]:
            with suppress(ValidationError, OSError, UnicodeDecodeError):
                job = PageJob.model_validate_json(path.read_text("utf-8"))
                job.state = "waiting" if job.state == "running" else job.state
                self._read_solution(job)
                self.jobs[job.id] = job
        self.served.events.greetings["jobs"] = self.listed
        self._pump = asyncio.create_task(self._run_all())
        self._wake.set()

    def _read_solution(self, job: PageJob) -> None:
        """Read a job's progress from its file or folder."""
        if job.kind == "batch":
            with suppress(Refusal):
                job.done = sum(1 for _ in (self.served.path(job.file) / "boards").glob("*.json"))
            return
        with suppress(Refusal, FileError, KeyError, IndexError, TypeError, ValueError):
            records = plain_records(read_header(self.served.path(job.file)))
            job.records, job.done, job.seconds = records, int(records[-1][0] or 0), float(records[-1][1] or 0.0)

    async def close(self) -> None:
        """Stop the running jobs, which save their state; the next server resumes them."""
        self._closing = True
        self._wake.set()
        for process in self._running.values():
            process.stop()
            process.thaw()
        if self._spare is not None:
            self._spare.kill()
        if self._pump is not None:
            try:
                await asyncio.wait_for(asyncio.shield(self._pump), SAVING_SECONDS)
            except TimeoutError:
                self.kill()
                await self._pump

    def kill(self) -> None:
        """Kill all running jobs, and the process that waits for one."""
        for process in self._running.values():
            process.kill()
        if self._spare is not None:
            self._spare.kill()

    @property
    def writing(self) -> str | None:
        """Return the file that a running job writes; None if no job is running."""
        return next((self.jobs[name].file for name in self._running if name in self.jobs), None)

    def waiting(self) -> list[PageJob]:
        """Return the queued jobs, in order."""
        return sorted((job for job in self.jobs.values() if job.state == "waiting"), key=lambda job: job.order)

    def writes(self, path: Path) -> bool:
        """Whether an unfinished job writes a file."""
        return any(job.file == self.served.name(path) and job.state not in ENDED for job in self.jobs.values())

    def may_write(self, path: Path) -> bool:
        """Whether a job that runs or can be resumed writes a file."""
        return any(job.file == self.served.name(path) and job.state != "finished" for job in self.jobs.values())

    def renamed(self, before: Path, after: Path) -> None:
        """Update jobs that wrote a renamed file, or start from it."""
        old, new = self.served.name(before), self.served.name(after)
        for job in self.jobs.values():
            request = job.request
            if old not in (job.file, request.origin, request.resume):
                continue
            if job.file == old:
                job.file, job.name = new, after.stem
            request.origin = new if request.origin == old else request.origin
            request.resume = new if request.resume == old else request.resume
            self._changed(job)

    async def _run_all(self) -> None:
        while not self._closing:
            self._wake.clear()
            job = await self._next()
            if job is None:
                with suppress(TimeoutError):  # other programs may release memory
                    await asyncio.wait_for(self._wake.wait(), MEMORY_SECONDS if self.waiting() else None)
                continue
            self._spawn(self._run(job, self._started(job)))
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _next(self) -> PageJob | None:
        """Return the first queued job that can start now; None if there is none.

        A job starts if no other runs, or if its memory is free. If paused jobs hold the memory, one of them is saved.
        """
        for job in self.waiting():
            if len(self._running) - len(self._frozen) >= MOST_AT_ONCE:
                return None
            if job.id not in self._needs:
                self._needs[job.id] = await to_thread.run_sync(self._memory_of, job)
            if job.id not in self.jobs or job.state != "waiting" or self._closing:
                continue
            free = available_memory()
            promised = sum(max(0.0, self._needs.get(name, 0.0) - process.resident) for name, process in self._running.items())
            if not self._running or free is None or self._needs[job.id] <= free - promised:
                return job
            if self._frozen and not any(name not in self._frozen and wish == "paused" for name, wish in self._wishes.items()):
                self._release(next(iter(self._frozen)))
        return None

    def _memory_of(self, job: PageJob) -> float:
        """Estimate the memory of a job, in bytes; 0 if unknown."""
        request = job.request
        try:
            if request.fields is None:
                file = self.served.path(job.file, there=False)
                source = file if file.exists() else self.served.path(str(request.origin))
                return LOADED * source.stat().st_size
            fields = request.fields if request.boards is None else {**request.fields, "board": request.flops()[1][0].name}
            spot = spot_of(fields)
            return float(SpotGame(spot).estimate().memory.get(spot.settings.storage or "float32", 0.0))
        except Exception:  # the job's own process reports what is wrong; the queue must not stop
            return 0.0

    def _release(self, name: str) -> None:
        """Let a frozen job save and exit; it stays paused."""
        self._frozen.discard(name)
        self._running[name].stop()
        self._running[name].thaw()

    async def _freeze(self, job: PageJob, process: JobProcess) -> None:
        """Stop a paused job by a signal unless it saves soon."""
        await asyncio.sleep(PAUSE_SECONDS)
        if self._running.get(job.id) is process and self._wishes.get(job.id) == "paused" and process.freeze():
            self._frozen.add(job.id)
            job.state, job.phase, job.rate, job.seconds_left = "paused", None, 0.0, None
            self._changed(job)
            self._wake.set()

    def _started(self, job: PageJob) -> JobProcess:
        """Mark a job as running, and return its process; from now on its memory counts, and it can be stopped."""
        process = self._spare if self._spare is not None and self._spare.alive else JobProcess(self.folder / SPARE_LOG)
        self._spare = None
        process.move_log(self.folder / f"{job.id}.log")
        job.state, job.error, job.phase = "running", None, "starting"
        self._running[job.id] = process
        self._changed(job)
        return process

    async def _run(self, job: PageJob, running: JobProcess) -> None:
        """Run the process of one job until it ends or is stopped."""
        ended: list[str] = []

        def on_event(name: str, data: Mapping[str, Any]) -> None:
            if name == "end":
                ended.append(str(data["status"]))
            else:
                self._hear(job, name, data)

        running.on_event = on_event
        try:
            status = await running.run(self._order(job))
        except Exception as error:  # the failure of a job must not stop the queue
            status, job.error = 1, job.error or said_by(error)
        del self._running[job.id]
        self._frozen.discard(job.id)
        self._needs.pop(job.id, None)
        self._wake.set()
        wish = self._wishes.pop(job.id, None)
        if job.id not in self.jobs:
            return
        job.phase, job.rate, job.seconds_left = None, 0.0, None
        if self._closing and not ended and job.error is None:
            return  # killed because the server exits; the next server resumes the job
        if job.error is not None or not ended:
            died = f"its process ended with {'signal ' if status < 0 else 'status '}{abs(status)} {running.last_words()}"
            job.state, job.error = "failed", job.error or died.strip()
        elif ended[0] != "interrupted":
            job.state = "finished"
        elif not self._closing or wish is not None:
            job.state = wish or "paused"
        self._changed(job)
        self.served.events.send("files", {})

    async def prepare(self) -> float | None:
        """Start a process that waits for the next job, and measure the pace of this machine if nothing is running.

        Returns:
            The pace; None if it is not known within :data:`PACE_SECONDS`.
        """
        measure = self.served.pace is None and not self._running
        if self._spare is not None and measure and not self._spare.measures:
            self._spare.kill()
            self._spare = None
        if self._spare is None and not self._preparing and not self._closing:
            self._preparing = True
            spare = JobProcess(self.folder / SPARE_LOG)
            try:
                await spare.start({"prepare": True, "measure": measure, "threads": self.served.threads})
                self._spare = spare
            finally:
                self._preparing = False
        if self.served.pace is None and self._spare is not None:
            with suppress(TimeoutError):
                self.served.pace = await asyncio.wait_for(self._spare.measured(), PACE_SECONDS)
        return self.served.pace

    def _order(self, job: PageJob) -> dict[str, Any]:
        """Return the first message to a job's process."""
        file = self.served.path(job.file, there=False)
        origin = None if file.exists() else job.request.origin  # a job that has begun resumes from its own file
        return {
            "request": job.request.model_dump(by_alias=True, exclude_none=True),
            "file": str(file),
            "origin": None if origin is None else str(self.served.path(origin)),
            "total": job.total,
            "threads": self.served.threads,
        }

    def _hear(self, job: PageJob, name: str, data: Mapping[str, Any]) -> None:
        """Process an event from a job's process."""
        if name == "records":
            new = [list(record) for record in data["records"]]
            job.done, job.seconds = int(new[-1][0]), float(new[-1][1])
            job.records = [*(row for row in job.records if (row[0] or 0) < new[0][0]), *new]
            job.phase = job.phase if self._is_ending(job) else None
            self.served.events.send("record", {"id": job.id, "record": new[-1]})
        elif name == "phase":
            job.phase = str(data["text"])
        elif name == "failed":
            job.error = str(data["error"])
            return
        elif name == "begun":
            for key in ("algorithm", "total", "done", "target", "opening_pot", "locks", "records", "memory"):
                setattr(job, key, data[key])
            self._needs[job.id] = float(data["memory"])
            job.phase = "compiling kernels, or the first iteration" if not job.done else None
            self._keep(job)
        elif name == "progress":
            job.phase = None if data["done"] > 0 and not self._is_ending(job) else job.phase
            job.done, job.total, job.rate = int(data["done"]), data["total"], float(data["rate"])
            job.seconds_left, job.seconds = data["left"], float(data["seconds"])
        self.served.events.send("job", self.seen(job, records=False))

    def _is_ending(self, job: PageJob) -> bool:
        """Whether a running job is being paused or stopped."""
        return self._wishes.get(job.id) in ("paused", "stopped")

    def _changed(self, job: PageJob) -> None:
        self._keep(job)
        self.served.events.send("job", self.seen(job, records=False))

    def _keep(self, job: PageJob) -> None:
        try:
            write_atomically(self.folder / f"{job.id}.json", job.saved_text())
        except FileError as error:
            notify(f"error: {error}")

    def seen(self, job: PageJob, *, records: bool = True) -> dict[str, Any]:
        """Return a job in the form sent to pages."""
        waiting = [queued.id for queued in self.waiting()]
        data = job.model_dump(exclude={"request", "order", "records"})
        data["budget"] = job.request.budget
        data["exploitability"] = job.records[-1][2] if job.records else None
        data["place"] = waiting.index(job.id) + 1 if job.id in waiting else None
        data["viewable"] = (
            bool(job.records)
            or (job.kind == "batch" and job.done > 0)
            or (job.id in self._running and self._running[job.id].ready)
        )
        if job.id in self._frozen:  # paused within an iteration: only its last checkpoint can be viewed
            data["viewable"] = (self.served.folder / job.file).exists()
        data["in_memory"] = job.id in self._frozen
        return {**data, "records": thin_records(job.records)} if records else data

    def listed(self) -> dict[str, Any]:
        """List all jobs: the running one, the queued ones, then the others from newest to oldest."""
        turn = {job.id: index for index, job in enumerate(self.waiting())}

        def rank(job: PageJob) -> tuple[int, float]:
            if job.state == "running":
                return 0, 0.0
            return (1, turn[job.id]) if job.id in turn else (2, -job.created)

        return {"jobs": [self.seen(job) for job in sorted(self.jobs.values(), key=rank)]}

    def job(self, name: str) -> PageJob:
        """Return the job with an id.

        Raises:
            Refusal: no such job.
        """
        if name not in self.jobs:
            raise Refusal(404, f"there is no job {name[:40]!r}; it may have been removed")
        return self.jobs[name]

    def add(self, request: JobRequest, left_out: Sequence[str] = ()) -> PageJob:
        """Append a job to the queue.

        Args:
            request: the request.
            left_out: sizes left out for its budget.

        Raises:
            Refusal: the request is invalid, or another job writes to its file.
            FileError: the job cannot be saved in the folder.
        """
        if len(self.jobs) >= MOST_JOBS:
            raise Refusal(409, f"the list of jobs is full ({MOST_JOBS}); remove some")
        now = time.time()
        common: dict[str, Any] = {
            "id": secrets.token_hex(6),
            "request": request,
            "created": now,
            "order": now,
            "left_out": list(left_out),
        }
        request.how()
        if request.boards is not None:
            _, boards = request.flops()
            path = self.served.free_file(request.name or "flops", "")
            about: dict[str, Any] = {"kind": "batch", "total": len(boards)}
        elif request.fields is not None:
            spot = request.spot()
            board = cards_to_string(spot.board)
            path = self.served.free_file(request.name or board or "preflop", SOLVED_FILE)
            about = {
                "board": board,
                "opening_pot": spot.opening_pot,
                "unit": spot.unit,
                "locks": len(spot.settings.locks),
            }
        else:
            origin = str(request.origin or request.resume)
            source = self.served.path(origin)
            header = found_solution(source, origin)
            if is_own(str(header["algorithm"])):
                raise Refusal(409, f"{origin} was solved by a custom algorithm; solve it on the command line (-a)")
            path = self.served.free_file(request.name or f"{source.stem}-locked", SOLVED_FILE) if request.origin else source
            if self.writes(path):
                raise Refusal(409, f"{origin} is already being solved; wait for it to end, or stop it first")
            about = {
                "board": header["board"],
                "opening_pot": header["opening_pot"],
                "unit": header["unit"],
                "locks": header["locks"] + len(request.locks),
            }
        job = PageJob(**common, **about, name=path.stem, file=self.served.name(path))
        write_atomically(self.served.inside(self.folder) / f"{job.id}.json", job.saved_text())
        if request.resume is not None:
            self._read_solution(job)
        self.jobs[job.id] = job
        self.served.events.send("job", self.seen(job, records=False))
        self._wake.set()
        return job

    def pause(self, job: PageJob) -> None:
        """Pause a job, which saves its state until :meth:`go_on` resumes it."""
        self._end(job, "paused")

    def stop(self, job: PageJob) -> None:
        """Stop a job permanently, keeping its results so far."""
        self._end(job, "stopped")

    def _end(self, job: PageJob, state: State) -> None:
        if job.state in ENDED:
            raise Refusal(409, f"the job has already {'ended' if job.state != 'failed' else 'failed'}")
        process = self._running.get(job.id)
        if process is None:
            job.state = state
        elif not (state == "paused" and job.id in self._frozen):
            self._frozen.discard(job.id)
            self._wishes[job.id] = state
            job.state, job.phase = "running", "pausing" if state == "paused" else "saving after this iteration"
            process.stop()
            process.thaw()
            if state == "paused":
                self._spawn(self._freeze(job, process))
        self._changed(job)

    def go_on(self, job: PageJob) -> None:
        """Put a paused, stopped or failed job back into the queue."""
        if job.state not in ("paused", "stopped", "failed"):
            raise Refusal(409, f"the job is {job.state}")
        if job.state in ENDED and self.writes(self.served.path(job.file, there=False)):
            raise Refusal(409, f"{job.file} is already being solved by another job; wait for it to end, or stop it first")
        process = self._running.get(job.id)
        if process is not None:  # it is paused in memory; if it is saving already, it starts again
            self._frozen.discard(job.id)
            self._wishes[job.id] = "waiting"
            job.state, job.phase = "running", None
            process.go()
        else:
            job.state, job.order, job.error = "waiting", time.time(), None
        self._changed(job)
        self._wake.set()

    def first(self, job: PageJob) -> None:
        """Move a queued job to the front."""
        if job.state != "waiting":
            raise Refusal(409, f"the job is {job.state}, not queued")
        job.order = min(queued.order for queued in self.waiting()) - 1.0
        self._changed(job)

    def remove(self, job: PageJob) -> None:
        """Remove a job from the list; its result stays in the folder."""
        if job.id in self._running and job.id not in self._frozen:
            raise Refusal(409, "the job is running; stop it first")
        if job.id in self._frozen:
            self._running[job.id].kill()
        del self.jobs[job.id]
        for suffix in (".json", ".log"):
            (self.folder / f"{job.id}{suffix}").unlink(missing_ok=True)
        self.served.events.send("gone", {"id": job.id})
        self.served.events.send("files", {})

    async def node(self, job: PageJob, line: str) -> bytes:
        """Return a node of a job's current strategy, packed.

        Raises:
            Refusal: there is no strategy yet, or no such line.
        """
        if job.kind == "batch":
            raise Refusal(400, "a batch of boards has no single strategy; see /api/batch")
        process = self._running.get(job.id)
        if process is not None and process.ready and job.id not in self._frozen:
            try:
                return await process.look(line)
            except Refusal as refused:
                if refused.status != 409:  # status 409: the job has just ended, and its file has the result
                    raise
        try:
            path = self.served.path(job.file)
        except Refusal:
            raise Refusal(409, "there is no strategy yet; wait for the first iteration") from None
        try:
            return await to_thread.run_sync(self.served.solutions.node, path, line)
        except FileError:
            if job.state in ENDED:
                raise
            raise Refusal(409, "the strategy is being saved; try again") from None
