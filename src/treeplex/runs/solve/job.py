"""A run of a solver on a compiled game, as a job."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from treeplex.evaluate import judge
from treeplex.forms.policies.files import save_policy
from treeplex.forms.policies.tabular import Policy
from treeplex.runs.devices import device_of, save_device
from treeplex.runs.job.checkpoint import Arrays, State
from treeplex.runs.job.interrupt import Interrupt
from treeplex.runs.job.job import Job
from treeplex.runs.job.record import UNCOUNTED_ITERATIONS, Record
from treeplex.runs.job.schedule import evaluation_points
from treeplex.runs.solve.settings import DEVICE, PLOT, POLICY, SOLVE, SolveSettings
from treeplex.solvers import Solver

LAST_ITERATIONS = 64
"""The last iterations before a limit of histories are done one by one, for what one of them walks may vary."""


class SolveJob(Job):
    """A solver under way."""

    kind = SOLVE

    def __init__(self, solver: Solver, settings: SolveSettings) -> None:
        super().__init__(Interrupt(wanted=not solver.exact))
        self.solver, self.settings = solver, settings

    @property
    def name(self) -> str:
        """The algorithm's canonical spec."""
        return self.solver.algorithm

    @property
    def identity(self) -> str:
        """Of the compiled game."""
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
        """How many iterations may be done in one step without passing the limit of histories by more than the last of them.

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
        """What the solver aims at, and the target."""
        return None if self.settings.target is None else (self.solver.objective, self.settings.target)

    def begin(self) -> None:
        """Let the solver get ready."""
        self.solver.run(0)

    def step(self, count: int) -> None:
        """Iterate."""
        self.solver.run(count)

    def measure(self) -> Mapping[str, Any]:
        """Judge the average policy."""
        found = judge(self.solver.game, self.solver.average_policy())
        return {
            "exploitability": float(found.exploitability),
            "nash_conv": float(found.nash_conv),
            "value": tuple(float(value) for value in found.value),
            "gains": tuple(float(gain) for gain in found.gains),
            "nodes": self.solver.nodes,
            "measures": self.solver.measures(),
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

    def write_device(self, path: Path) -> None:
        """Write the correlation device, if the solver makes one."""
        if (made := device_of(self.solver)) is not None:
            save_device(made[0], path / DEVICE, metadata=made[1])


def write_policy(policy: Policy, path: Path, algorithm: str, iterations: int, seconds: float) -> None:
    """Write ``policy.safetensors``, with algorithm, iterations and seconds in its metadata."""
    save_policy(policy, path / POLICY, metadata={"algorithm": algorithm, "iterations": iterations, "seconds": seconds})


def draw(
    path: Path | None, solver: Solver, settings: SolveSettings, records: Sequence[Record], *, x: str = "iterations"
) -> object:
    """What the solver aims at against effort, as a Matplotlib figure, also written to ``path`` if given."""
    from treeplex.runs.plots import convergence_figure, write_figure

    curves = {solver.algorithm: records}
    figure = convergence_figure(solver.game.spec, curves, x=x, y=solver.objective, target=settings.target)
    if path is not None:
        write_figure(figure, path)
    return figure
