"""What solving returns: the average policy, how good it is, and how it got there."""

import html
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Device
from treeplex.forms.policies.tabular import AnyState, Policy, PolicyMapping
from treeplex.runs.devices import device_of
from treeplex.runs.job.folder import JobFolder
from treeplex.runs.job.job import Session
from treeplex.runs.job.record import Record
from treeplex.runs.solve.job import SolveJob, draw, write_policy
from treeplex.runs.solve.settings import PLOT, SOLVE, SolveSettings
from treeplex.solvers import Solver


@dataclass(frozen=True, eq=False)
class Solution(PolicyMapping):
    """A solved game; itself a policy: ``solution[infostate]``, ``solution.items()``, ``solution.action_probabilities(state)``.

    Attributes:
        game: the compiled game.
        algorithm: canonical spec of the algorithm.
        policy: the average policy after the last iteration.
        records: one record per evaluation (:data:`treeplex.runs.solve.settings.SOLVE`), oldest first, at least one.
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
    def last(self) -> Record:
        """The last evaluation."""
        return self.records[-1]

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self.last.done

    @property
    def seconds(self) -> float:
        """Seconds in the solver, evaluation excluded."""
        return self.last.seconds

    @property
    def exploitability(self) -> float:
        """Mean over players of what a best response gains, in game units."""
        return float(self.last.exploitability)

    @property
    def nash_conv(self) -> float:
        """Sum over players of what a best response gains."""
        return float(self.last.nash_conv)

    @property
    def gains(self) -> tuple[float, ...]:
        """What a best response of each player gains; NashConv is their sum."""
        return tuple(self.last.gains)

    @property
    def nodes(self) -> int:
        """Histories walked."""
        return int(self.last.nodes)

    @property
    def value(self) -> tuple[float, ...]:
        """Expected payoff of each player under the policy."""
        return tuple(self.last.value)

    @property
    def target_reached(self) -> bool:
        """Whether there was no target or it was met."""
        return self.settings.target is None or self.last.measure(self.solver.objective) <= self.settings.target

    def __getitem__(self, key: str | tuple[int, str]) -> dict[int, float]:
        return self.policy[key]

    def __contains__(self, key: object) -> bool:
        return key in self.policy

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self.policy)

    def __len__(self) -> int:
        return len(self.policy)

    def action_probabilities(self, state: AnyState, player_id: int | None = None) -> dict[int, float]:
        """``{action id: probability}`` at a state of the rules, Treeplex's or OpenSpiel's."""
        return self.policy.action_probabilities(state, player_id)

    def plot(self, path: str | os.PathLike[str] | None = None, *, x: str = "iterations") -> object:
        """Exploitability (or what the solver aims at) as a Matplotlib figure, also written to ``path`` if given.

        Args:
            path: a file to write: PNG, SVG or PDF.
            x: what the horizontal axis shows: ``iterations``, ``nodes`` or ``seconds``.
        """
        return draw(None if path is None else Path(path), self.solver, self.settings, self.records, x=x)

    def device(self) -> Device:
        """The correlation device of a run of ``cfr-s`` or ``cfr-jr``: what the players did together, as joint plans.

        Written out whole up to 100,000 joint plans; of a larger one 20,000 are drawn (``solution.solver.device`` has others).

        Raises:
            AlgorithmError: the algorithm makes none, or has not begun.
        """
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

    def __repr__(self) -> str:
        values = ", ".join(f"{value:+.6g}" for value in self.value)
        return (
            f"<solution of {self.game} by {self.algorithm}: {self.iterations:,} iterations in {self.seconds:.3g} s, "
            f"exploitability {self.exploitability:.3g}, value ({values}), {self.status}>"
        )

    def _repr_html_(self) -> str:
        rows = {
            "game": str(self.game),
            "algorithm": self.algorithm,
            "iterations": f"{self.iterations:,}",
            "seconds": f"{self.seconds:.3g}",
            "exploitability": f"{self.exploitability:.4g}",
            "NashConv": f"{self.nash_conv:.4g}",
            **{f"value of player {player}": f"{value:+.8g}" for player, value in enumerate(self.value)},
            "status": self.status,
        }
        cells = "".join(
            f"<tr><th style='text-align:left'>{key}</th><td>{html.escape(text)}</td></tr>" for key, text in rows.items()
        )
        return f"<table>{cells}</table>"
