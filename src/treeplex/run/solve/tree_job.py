"""A run of a solver on a compiled game, as a job, and the solution that it hands out."""

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
from treeplex.run.job.job import Outcome, Session
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
"""The last iterations before a limit of histories are done one by one, for what one of them walks may vary."""


class SolveJob(SolvingJob):
    """A solver under way."""

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
        """Iterations done."""
        return self.solver.iteration

    @property
    def total(self) -> int | None:
        """Iterations asked for."""
        return self.settings.iterations if self.settings.iterations < UNCOUNTED_ITERATIONS else None

    @property
    def finished(self) -> bool:
        """Whether all iterations asked for are done, or all histories walked."""
        nodes = self.settings.nodes
        return self.done >= self.settings.iterations or (nodes is not None and self.solver.nodes >= nodes)

    @property
    def iterations_left(self) -> int:
        """Iterations until the last one, as far as a limit of histories lets one tell; at least one."""
        done, nodes = self.done, self.settings.nodes
        left = self.settings.iterations - done
        if nodes is not None:
            walked = self.solver.nodes
            left = min(left, -(-(nodes - walked) * done // walked) if walked else 1)
        return max(1, left)

    @property
    def ahead(self) -> int:
        """Iterations in one step such that only the last may pass the limit of histories.

        Half of those left by the mean so far, and no more than were done; so where a run stops does not depend on its speed.
        """
        if self.finished:
            return 0
        left = self.iterations_left
        if self.settings.nodes is None:
            return left
        return max(1, min(self.done, left // 2 if left > LAST_ITERATIONS else 1))

    @property
    def left(self) -> float | None:
        """Iterations left, if anything but time and a target ends the run."""
        return None if self.settings.nodes is None and self.total is None else self.iterations_left

    @property
    def target(self) -> tuple[str, float] | None:
        """The solver's objective, and the target."""
        return None if self.settings.target is None else (self.solver.objective, self.settings.target)

    def begin(self) -> None:
        """Let the solver get ready."""
        self.solver.run(0)

    def step(self, count: int) -> None:
        """Iterate."""
        self.solver.run(count)

    def measure(self) -> Mapping[str, Any]:
        """Judge the average policy."""
        policy = self.solver.average_policy()
        found = judge(self.solver.game, policy)
        return {
            "exploitability": float(found.exploitability),
            "nash_conv": float(found.nash_conv),
            "value": tuple(float(value) for value in found.value),
            "gains": tuple(float(gain) for gain in found.gains),
            "nodes": self.solver.nodes,
            "measures": self.solver.measures() | measured(self.measures, self.solver.game, policy),
        }

    def live(self) -> Mapping[str, Any]:
        """Histories walked, how many may be, and what the solver aims at."""
        return {"nodes": self.solver.nodes, "budget": self.settings.nodes, "objective": self.solver.objective}

    def points(self) -> Iterator[int]:
        """Where to judge."""
        settings = self.settings
        return evaluation_points(settings.iterations, every=settings.every, target=settings.target)

    def about(self) -> Mapping[str, Any]:
        """Game, algorithm and settings."""
        game = self.solver.game
        return {
            "game": game.spec,
            "identity": game.identity,
            "players": game.players,
            "algorithm": self.name,
            "settings": asdict(self.settings),
        }

    def state(self) -> State:
        """The solver's arrays."""
        return self.solver.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the solver's arrays."""
        self.solver.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:
        """Write the average policy; at the end the correlation device and the plot as well."""
        write_policy(self.solver.average_policy(), path, self.name, self.done, self.clock.seconds)
        if ended:
            self.write_device(path)
            draw(path / PLOT, self.solver, self.settings, records)

    def announcement(self) -> str:
        """A notice for the user before the first iteration; usually empty."""
        return self.solver.announcement()

    def solution(self, outcome: Outcome) -> "GameSolution":
        """The solution when a session has ended."""
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
        """Write the correlation device, if the solver makes one."""
        from treeplex.run.devices import device_of, save_device

        if (made := device_of(self.solver)) is not None:
            save_device(made[0], path / DEVICE, metadata=made[1])


def write_policy(policy: Policy, path: Path, algorithm: str, iterations: int, seconds: float) -> None:
    """Write ``policy.safetensors``, with algorithm, iterations and seconds in its metadata."""
    save_policy(policy, path / POLICY, metadata={"algorithm": algorithm, "iterations": iterations, "seconds": seconds})


def draw(path: Path, solver: Solver, settings: SolveSettings, records: Sequence[Record]) -> None:
    """Draw what the solver aims at against iterations."""
    from treeplex.run.plots import convergence_figure, write_figure

    curves = {solver.algorithm: records}
    write_figure(convergence_figure(solver.game.spec, curves, y=solver.objective, target=settings.target), path)


SLOW = 100, 320, 0.8
"""Two iterations, and the part of the first one's exploitability that is left after the second where a run hardly moves."""
SOLVED = 1e-9
"""The part of the first exploitability that counts as none."""
SLOW_NOTE = (
    f"exploitability fell by less than a fifth from iteration {SLOW[0]} to {SLOW[1]}, as where losses differ by orders of "
    "magnitude; there pddcfr and ddcfr are far better: compare them"
)


def hardly_moves(records: Sequence[Record]) -> bool:
    """Whether a run of value-tested CFR+ hardly moves early on, which tells the games that it is no good at.

    Of the games of the study of one scheme that is one, on which the learned schemes are far less exploitable in the end. Other
    games where it is far behind, such as a small Blotto, it does not tell: exploitability falls there, but slowly.
    """
    first, second, left = SLOW
    found = {record.done: record.exploitability for record in records if record.done in (1, first, second)}
    if len(found) < 3 or found[first] <= SOLVED * found[1]:
        return False
    return bool(found[second] > left * found[first])


@dataclass(frozen=True, eq=False, repr=False)
class GameSolution(Solution, PolicyMapping):
    """A solved game; itself a policy: ``solution[infostate]``, ``solution.items()``, ``solution.action_probabilities(state)``.

    Attributes:
        game: the compiled game.
        algorithm: canonical spec of the algorithm.
        policy: the average policy after the last iteration.
        records: one record per evaluation (:data:`treeplex.run.solve.settings.SOLVE`), oldest first, at least one.
        settings: what the run was asked to do.
        status: why it stopped: ``"finished"``, ``"target reached"``, ``"time up"`` or ``"interrupted"``.
        solver: the solver, which can go on where the run stopped.
        folder: where the run was written, or None.
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
        """Whether one iteration is the exact solution."""
        return self.solver.exact

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the numbers for the reader."""
        slow = [SLOW_NOTE] if spec_name(self.algorithm) == VALUE_TESTED and hardly_moves(self.records) else []
        return (*self.solver.notes(), *slow)

    @property
    def longest(self) -> int | None:
        """The most iterations that the solver can do in all; None for any number."""
        return self.solver.longest

    @property
    def nash_conv(self) -> float:
        """Sum over players of what a best response gains."""
        return float(self.last.nash_conv)

    @property
    def gains(self) -> tuple[float, ...]:
        """Each player's best-response gain; NashConv is their sum."""
        return tuple(self.last.gains)

    @property
    def nodes(self) -> int:
        """Histories walked."""
        return int(self.last.nodes)

    @property
    def budget(self) -> int | None:
        """The limit of histories walked; None for no limit."""
        return self.settings.nodes

    @property
    def value(self) -> tuple[float, ...]:
        """Expected payoff of each player under the policy."""
        return tuple(self.last.value)

    @property
    def target(self) -> float | None:
        """The value of the objective at which solving was to stop."""
        return self.settings.target

    def __contains__(self, key: object) -> bool:
        return key in self.policy

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self.policy)

    def action_probabilities(self, state: AnyState, player_id: int | None = None) -> dict[int, float]:
        """``{action id: probability}`` at a state of the rules, Treeplex's or OpenSpiel's."""
        return self.policy.action_probabilities(state, player_id)

    def device(self) -> "Device":
        """The correlation device of a run of ``cfr-s`` or ``cfr-jr``: what the players did together, as joint plans.

        Written out whole up to 100,000 joint plans; of a larger one 20,000 are drawn (``solution.solver.device`` has others).

        Raises:
            AlgorithmError: the algorithm makes none, or has not begun.
        """
        from treeplex.run.devices import device_of

        found = device_of(self.solver)
        if found is None:
            raise AlgorithmError(f"{self.algorithm} makes no correlation device; solve with cfr-s or cfr-jr")
        return found[0]

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a run folder, from which the run can be resumed and the policy be read.

        Raises:
            FileError: the folder cannot be written, or holds files and ``force`` is not set.
        """
        with JobFolder(SOLVE, path) as folder:
            folder.claim(force=force)
            folder.rewrite(self.records)
            job = SolveJob(self.solver, self.settings)
            job.clock.seconds, job.clock.cpu_seconds = self.seconds, self.last.cpu_seconds
            if self.solver.iteration == self.iterations:
                Session(job, folder, self.records).save(self.status)
            else:  # the solver went on since, so that only the policy is left of this solution
                write_policy(self.policy, folder.path, self.algorithm, self.iterations, self.seconds)
                draw(folder.path / PLOT, self.solver, self.settings, self.records)
                folder.describe(job.about(), status=self.status, records=self.records)
        return folder.path
