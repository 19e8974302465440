"""The run loop: iterate, judge, record, save; stop at the last iteration, a target, a limit or Ctrl-C."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile
from time import perf_counter

from treeplex.evaluate import judge
from treeplex.forms.policies.tabular import Policy
from treeplex.runs.job.interrupt import Interrupt
from treeplex.runs.job.record import UNCOUNTED_ITERATIONS, Progress, Record, Settings
from treeplex.runs.job.schedule import evaluation_points
from treeplex.runs.solve.folder import RunFolder
from treeplex.runs.solve.solution import Solution, checkpoint_of
from treeplex.solvers import Solver

CHECKPOINT_SECONDS = 10.0
UNJUDGED_SECONDS = 60.0
CHUNK_SECONDS = 0.1
LAST_ITERATIONS = 64
"""The last iterations before a limit of histories are done one by one, for what one of them walks may vary."""

Watcher = Callable[[Progress], None]


@dataclass
class Run:
    """A run under way: the only thing here that changes."""

    solver: Solver
    settings: Settings
    folder: RunFolder | None
    records: list[Record] = field(default_factory=list)
    seconds: float = 0.0
    saved_at: float = field(default_factory=perf_counter)

    @property
    def judged(self) -> bool:
        """Whether the last record is about the solver as it stands."""
        return bool(self.records) and self.records[-1].iteration == self.solver.iteration

    @property
    def target_reached(self) -> bool:
        """Whether there is a target and the last record meets it."""
        target = self.settings.target
        return target is not None and bool(self.records) and self.records[-1].measure(self.solver.objective) <= target

    def finished(self) -> bool:
        """Whether all iterations asked for are done, or all histories walked."""
        solver, nodes = self.solver, self.settings.nodes
        return solver.iteration >= self.settings.iterations or (nodes is not None and solver.nodes >= nodes)

    @property
    def iterations_left(self) -> int:
        """Iterations until the last one, as far as a limit of histories lets one tell; at least one."""
        done, nodes = self.solver.iteration, self.settings.nodes
        left = self.settings.iterations - done
        if nodes is not None:
            walked = self.solver.nodes
            left = min(left, -(-(nodes - walked) * done // walked) if walked else 1)
        return max(1, left)

    @property
    def iterations_at_once(self) -> int:
        """How many iterations may be done in one go without passing the limit of histories by more than the last of them.

        Half of those left by the mean so far, and no more than were done; so where a run stops does not depend on its speed.
        """
        left = self.iterations_left
        if self.settings.nodes is None:
            return left
        return max(1, min(self.solver.iteration, left // 2 if left > LAST_ITERATIONS else 1))

    def evaluate(self) -> Policy:
        """Judge the average policy and record it."""
        policy = self.solver.average_policy()
        judgement = judge(self.solver.game, policy)
        record = Record(
            iteration=self.solver.iteration,
            seconds=self.seconds,
            exploitability=float(judgement.exploitability),
            nash_conv=float(judgement.nash_conv),
            value=tuple(float(value) for value in judgement.value),
            gains=judgement.gains,
            nodes=self.solver.nodes,
            measures=self.solver.measures(),
        )
        self.records.append(record)
        if self.folder:
            self.folder.append(record)
        return policy

    def save_state(self) -> None:
        """Between evaluations: save the state if the last time is a minute ago, so that a killed run loses no more."""
        if self.folder is None or perf_counter() - self.saved_at < UNJUDGED_SECONDS:
            return
        self.folder.save_state(checkpoint_of(self.solver, self.seconds))
        self.saved_at = perf_counter()

    def checkpoint(self, policy: Policy) -> None:
        """After an evaluation: save state and policy if the last time is long enough ago."""
        if self.folder is None or perf_counter() - self.saved_at < CHECKPOINT_SECONDS:
            return
        self.folder.save_state(checkpoint_of(self.solver, self.seconds))
        self.folder.save_policy(policy, self.solver.algorithm, self.records[-1])
        self.folder.describe(self.solver.game, self.solver.algorithm, self.settings, status="running", record=self.records[-1])
        self.saved_at = perf_counter()


def drop_unscheduled(run: Run) -> None:
    """Keep the records that an unbroken run would have made, in memory and in the folder."""
    at = run.solver.iteration
    scheduled = set(takewhile(lambda point: point <= at, evaluation_points(run.settings)))
    run.records = [record for record in run.records if record.iteration in scheduled]
    if run.folder and at:
        last = run.records[-1] if run.records else None
        run.folder.describe(run.solver.game, run.solver.algorithm, run.settings, status="running", record=last)
        run.folder.rewrite(run.records)


def iterate(run: Run, seconds: float | None, interrupt: Interrupt, watcher: Watcher | None) -> str:
    """Iterate and judge until something says stop; return what."""
    solver, settings = run.solver, run.settings
    if run.target_reached and run.judged:
        return "target reached"
    if run.finished():
        return "finished"
    drop_unscheduled(run)
    solver.run(0)
    begun, first, chunk = perf_counter(), solver.iteration, 1
    slice_seconds = CHUNK_SECONDS if seconds is None else min(CHUNK_SECONDS, seconds / 20)
    judged = run.judged  # a run killed between saving and judging stands at a point that is not judged yet
    for point in dropwhile(lambda point: point < first or (point == first and judged), evaluation_points(settings)):
        while solver.iteration < point and not run.finished():
            chunk = advance(run, min(chunk, point - solver.iteration, run.iterations_at_once), slice_seconds)
            elapsed = perf_counter() - begun
            run.save_state()
            if watcher:
                watcher(progress_of(run, first, elapsed, seconds))
            if interrupt.requested:
                return "interrupted"
            if seconds is not None and elapsed >= seconds:
                return "time up"
        run.checkpoint(run.evaluate())
        if run.target_reached:
            return "target reached"
        if run.finished():
            break
        if interrupt.requested:
            return "interrupted"
    return "finished"


def advance(run: Run, iterations: int, slice_seconds: float) -> int:
    """Run some iterations; return how many to run next so that it takes about ``slice_seconds``."""
    begun = perf_counter()
    run.solver.run(iterations)
    spent = perf_counter() - begun
    run.seconds += spent
    return max(1, min(8 * iterations, int(iterations * slice_seconds / max(spent, 1e-9))))


def progress_of(run: Run, first: int, elapsed: float, limit: float | None) -> Progress:
    """Where the run stands."""
    solver, last = run.solver, run.records[-1] if run.records else None
    rate = (solver.iteration - first) / elapsed if elapsed > 0 else 0.0
    uncounted = run.settings.nodes is None and run.settings.iterations >= UNCOUNTED_ITERATIONS
    left = (0 if run.finished() else run.iterations_left) / rate if rate and not uncounted else None
    if limit is not None:
        left = max(0.0, limit - elapsed) if left is None else min(left, max(0.0, limit - elapsed))
    objective = None
    if last and solver.objective != "exploitability":
        objective = solver.objective, last.measure(solver.objective)
    return Progress(
        algorithm=solver.algorithm,
        iteration=solver.iteration,
        iterations=run.settings.iterations,
        exploitability=last.exploitability if last else None,
        rate=rate,
        seconds_left=left,
        nodes=solver.nodes,
        budget=run.settings.nodes,
        objective=objective,
    )


def finish(run: Run, status: str) -> Solution:
    """Judge if need be, save, and hand out the solution."""
    policy = run.solver.average_policy() if run.judged else run.evaluate()
    solution = Solution(
        game=run.solver.game,
        algorithm=run.solver.algorithm,
        policy=policy,
        records=tuple(run.records),
        settings=run.settings,
        status=status,
        solver=run.solver,
        folder=run.folder.path if run.folder else None,
    )
    if run.folder:
        solution.write(run.folder)
    return solution
