"""A run of a solver on a compiled game as a job, and its solution."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeplex.base.spec import spec_name
from treeplex.errors import AlgorithmError
from treeplex.evaluate import judge
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.files import save_policy
from treeplex.forms.policies.tabular import AnyState, Policy, PolicyMapping
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobFolder
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.job import RUNNING, Outcome, Session
from treeplex.run.job.record import UNCOUNTED_ITERATIONS, Record
from treeplex.run.job.schedule import evaluation_points
from treeplex.run.solve.measures import Measure, measured
from treeplex.run.solve.settings import DEVICE, PLOT, POLICY, SOLVE, SolveSettings
from treeplex.run.solve.solution import Solution
from treeplex.run.solve.solvable import SolvingJob
from treeplex.solvers import Solver
from treeplex.solvers.rules.value_tested import NAME as VALUE_TESTED

if TYPE_CHECKING:
    from treeplex.forms.correlation.device import Device

LAST_ITERATIONS = 64
"""Remaining iterations below which steps before a limit of histories are single, since their cost varies."""


class SolveJob(SolvingJob):
    """A solver run as a job."""

    kind = SOLVE

    def __init__(self, solver: Solver, settings: SolveSettings, measures: Mapping[str, Measure] | None = None) -> None:
        super().__init__(Interrupt(wanted=not solver.exact))
        self.solver, self.settings, self.measures = solver, settings, measures or {}

    @property
    def name(self) -> str:
        """The algorithm's canonical spec."""
        return self.solver.algorithm

    @property
    def identity(self) -> str:
        """The compiled game's identity."""
        return self.solver.game.identity

    @property
    def done(self) -> int:
        """Number of iterations done."""
        return self.solver.iteration

    @property
    def total(self) -> int | None:
        """Requested iterations."""
        return self.settings.iterations if self.settings.iterations < UNCOUNTED_ITERATIONS else None

    @property
    def finished(self) -> bool:
        """Whether the limit of iterations or histories is reached."""
        nodes = self.settings.nodes
        return self.done >= self.settings.iterations or (nodes is not None and self.solver.nodes >= nodes)

    @property
    def iterations_left(self) -> int:
        """Estimated iterations until the end, at least one."""
        done, nodes = self.done, self.settings.nodes
        left = self.settings.iterations - done
        if nodes is not None:
            walked = self.solver.nodes
            left = min(left, -(-(nodes - walked) * done // walked) if walked else 1)
        return max(1, left)

    @property
    def ahead(self) -> int:
        """Number of iterations in the next step, chosen such that only the last one can exceed the history limit.

        This is half of the estimated remainder and at most the iterations done, so that the stopping point does not depend on
        speed.
        """
        if self.finished:
            return 0
        left = self.iterations_left
        if self.settings.nodes is None:
            return left
        return max(1, min(self.done, left // 2 if left > LAST_ITERATIONS else 1))

    @property
    def left(self) -> float | None:
        """Remaining iterations; None if only time or a target ends the run."""
        return None if self.settings.nodes is None and self.total is None else self.iterations_left

    @property
    def target(self) -> tuple[str, float] | None:
        """Return the solver's objective and the target."""
        return None if self.settings.target is None else (self.solver.objective, self.settings.target)

    def begin(self) -> None:
        """Prepare the solver."""
        self.solver.run(0)

    def step(self, count: int) -> None:
        """Run iterations."""
        self.solver.run(count)

    def measure(self) -> Mapping[str, Any]:
        """Evaluate the average policy."""
        policy = self.solver.average_policy()
        judgement = judge(self.solver.game, policy)
        return {
            "exploitability": float(judgement.exploitability),
            "nash_conv": float(judgement.nash_conv),
            "value": tuple(float(value) for value in judgement.value),
            "gains": tuple(float(gain) for gain in judgement.gains),
            "nodes": self.solver.nodes,
            "measures": self.solver.measures() | measured(self.measures, self.solver.game, policy),
        }

    def live(self) -> Mapping[str, Any]:
        """Return visited histories, their limit, and the objective."""
        return {"nodes": self.solver.nodes, "budget": self.settings.nodes, "objective": self.solver.objective}

    def points(self) -> Iterator[int]:
        """Yield the evaluation points."""
        settings = self.settings
        return evaluation_points(settings.iterations, every=settings.every, target=settings.target)

    def about(self) -> Mapping[str, Any]:
        """Return game, algorithm and settings."""
        game = self.solver.game
        return {
            "game": game.spec,
            "identity": game.identity,
            "players": game.players,
            "algorithm": self.name,
            "settings": asdict(self.settings),
        }

    def state(self) -> State:
        """Return the solver's arrays."""
        return self.solver.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the solver's arrays."""
        self.solver.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write the average policy, and at the end the correlation device and the plot."""
        write_policy(self.solver.average_policy(), path, self.name, self.done, self.clock.seconds)
        if status != RUNNING:
            self.write_device(path)
            draw(path / PLOT, self.solver, self.settings, records)

    def announcement(self) -> str:
        """A notice for the user before the first iteration; usually empty."""
        return self.solver.announcement()

    def solution(self, outcome: Outcome) -> "GameSolution":
        """Return the solution at the end of a session."""
        return GameSolution(
            game=self.solver.game,
            algorithm=self.solver.algorithm,
            policy=self.solver.average_policy(),
            records=outcome.records,
            settings=self.settings,
            status=outcome.status,
            solver=self.solver,
            folder=outcome.folder,
        )

    def write_device(self, path: Path) -> None:
        """Write the correlation device, if the solver has one."""
        from treeplex.run.devices import device_of, save_device

        if (made := device_of(self.solver)) is not None:
            save_device(made[0], path / DEVICE, metadata=made[1])


def write_policy(policy: Policy, path: Path, algorithm: str, iterations: int, seconds: float) -> None:
    """Write ``policy.safetensors``, with algorithm, iterations and seconds in its metadata."""
    save_policy(policy, path / POLICY, metadata={"algorithm": algorithm, "iterations": iterations, "seconds": seconds})


def draw(path: Path, solver: Solver, settings: SolveSettings, records: Sequence[Record]) -> None:
    """Plot the solver's objective against iterations."""
    from treeplex.run.plots import convergence_figure, write_figure

    curves = {solver.algorithm: records}
    write_figure(convergence_figure(solver.game.spec, curves, y=solver.objective, target=settings.target), path)


SLOW = 100, 320, 0.8
"""Two iterations, and the ratio of their exploitabilities above which a run counts as slow."""
SOLVED = 1e-9
"""Fraction of the first exploitability that counts as zero."""
SLOW_NOTE = (
    f"exploitability fell by less than a fifth from iteration {SLOW[0]} to {SLOW[1]}, as in games whose losses differ by "
    "orders of magnitude; try pddcfr or ddcfr, which converge far faster there"
)


def hardly_moves(records: Sequence[Record]) -> bool:
    """Return whether a run of value-tested CFR+ converges slowly early on, a sign that it does not suit the game.

    Among the games of the study of one scheme this identifies one game, on which the learned schemes end far less exploitable.
    It misses other games where value-tested CFR+ is far behind, such as a small Blotto, whose exploitability falls steadily but
    slowly.
    """
    first, second, left = SLOW
    exploitability = {record.done: record.exploitability for record in records if record.done in (1, first, second)}
    if len(exploitability) < 3 or exploitability[first] <= SOLVED * exploitability[1]:
        return False
    return bool(exploitability[second] > left * exploitability[first])


@dataclass(frozen=True, eq=False, repr=False)
class GameSolution(Solution, PolicyMapping):
    """A solved game; itself a policy: ``solution[infostate]``, ``solution.items()``, ``solution.action_probabilities(state)``.

    Attributes:
        game: the compiled game.
        algorithm: canonical spec of the algorithm.
        policy: the average policy after the last iteration.
        records: evaluations (:data:`treeplex.run.solve.settings.SOLVE`), oldest first, at least one.
        settings: settings of the run.
        status: reason for stopping: ``"finished"``, ``"target reached"``, ``"time up"`` or ``"interrupted"``.
        solver: the solver, which can continue the run.
        folder: the run folder, or None.
    """

    game: CompiledGame
    algorithm: str
    policy: Policy
    records: tuple[Record, ...]
    settings: SolveSettings
    status: str
    solver: Solver = field(repr=False)
    folder: Path | None = None

    @property
    def objective(self) -> str:
        """The solver's objective."""
        return self.solver.objective

    @property
    def exact(self) -> bool:
        """Whether one iteration gives the exact solution."""
        return self.solver.exact

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the results."""
        slow = [SLOW_NOTE] if spec_name(self.algorithm) == VALUE_TESTED and hardly_moves(self.records) else []
        ignored = ["nodes"] if self.exact and self.settings.nodes is not None else []
        ignored += ["seed"] if self.settings.seed and not hasattr(self.solver, "seed") else []
        unused = [f"{' and '.join(ignored)} had no effect on {self.algorithm}"] if ignored else []
        return (*self.solver.notes(), *slow, *unused)

    @property
    def longest(self) -> int | None:
        """Maximum number of iterations of the solver; None for no limit."""
        return self.solver.longest

    @property
    def nash_conv(self) -> float:
        """Sum of best-response gains over players."""
        return float(self.last.nash_conv)

    @property
    def gains(self) -> tuple[float, ...]:
        """Each player's best-response gain; NashConv is their sum."""
        return tuple(self.last.gains)

    @property
    def nodes(self) -> int:
        """Number of visited histories."""
        return int(self.last.nodes)

    @property
    def budget(self) -> int | None:
        """Limit of visited histories; None for no limit."""
        return self.settings.nodes

    @property
    def value(self) -> tuple[float, ...]:
        """Expected payoff of each player under the policy."""
        return tuple(self.last.value)

    @property
    def target(self) -> float | None:
        """Target value of the objective; None without a target."""
        return self.settings.target

    def __contains__(self, key: object) -> bool:
        return key in self.policy

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self.policy)

    def action_probabilities(self, state: AnyState, player_id: int | None = None) -> dict[int, float]:
        """Return ``{action id: probability}`` at a Treeplex or OpenSpiel state."""
        return self.policy.action_probabilities(state, player_id)

    def device(self) -> "Device":
        """Return the correlation device of a ``cfr-s`` or ``cfr-jr`` run: the joint play as joint plans.

        Devices of up to 100,000 joint plans are exact; larger ones are sampled with 20,000 (see ``solution.solver.device``).

        Raises:
            AlgorithmError: the algorithm has no device, or has not started.
        """
        from treeplex.run.devices import device_of

        described = device_of(self.solver)
        if described is None:
            raise AlgorithmError(f"{self.algorithm} has no correlation device; solve with cfr-s or cfr-jr")
        return described[0]

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a resumable run folder with the policy; return its path.

        Raises:
            FileError: the folder cannot be written, or has files and ``force`` is not set.
        """
        with JobFolder(SOLVE, path) as folder:
            folder.claim(force=force)
            folder.rewrite(self.records)
            job = SolveJob(self.solver, self.settings)
            job.clock.seconds, job.clock.cpu_seconds = self.seconds, self.last.cpu_seconds
            if self.solver.iteration == self.iterations:
                Session(job, folder, self.records).save(self.status)
            else:  # the solver has continued since, so only the policy of this solution is left
                write_policy(self.policy, folder.path, self.algorithm, self.iterations, self.seconds)
                draw(folder.path / PLOT, self.solver, self.settings, self.records)
                folder.describe(job.about(), status=self.status, records=self.records)
        return folder.path
