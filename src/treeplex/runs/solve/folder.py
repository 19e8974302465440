"""Run folders: everything about one run in one folder, readable by people, whole at every moment.

===================== ===========================================================================================
``run.json``          game, algorithm, settings, versions, status and the last record
``metrics.jsonl``     one record an evaluation: iteration, seconds, exploitability, nash_conv, value, gains, nodes, measures
``policy.safetensors``  the average policy
``state.safetensors`` the solver's state, from which the run continues
``device.safetensors``  the correlation device, of algorithms that make one (``cfr-s``, ``cfr-jr``)
``convergence.png``   exploitability against iterations
===================== ===========================================================================================
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, final

from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.files import save_policy
from treeplex.forms.policies.tabular import Policy
from treeplex.runs.job.folder import METRICS, STATE, CheckpointFolder, claim_folder, read_about, write_about
from treeplex.runs.job.record import Record, Settings, settings_from

FORMAT = "treeplex run"
VERSION = 1
RUN, POLICY, PLOT = "run.json", "policy.safetensors", "convergence.png"
FILES = (RUN, METRICS, POLICY, STATE, PLOT)
DEVICE = "device.safetensors"
"""Only of algorithms that make a correlation device."""
OF_SAMPLES = ("sample.json", "progress.png")
"""Only of runs on rules (:mod:`treeplex.runs.sample.folder`); their other files have the same names."""
OF_RUNS = (*FILES, DEVICE, *OF_SAMPLES)
"""What runs leave in a folder, on compiled games or over rules."""


@final
class RunFolder(CheckpointFolder[Record]):
    """One run on disk."""

    record = Record

    def claim(self, *, force: bool = False) -> None:
        """Make the folder, empty of an earlier run.

        Raises:
            FileError: it cannot be made or written, or it holds files and ``force`` is not set.
        """
        claim_folder(self.path, RUN, OF_RUNS, force=force)

    def describe(self, game: CompiledGame, algorithm: str, settings: Settings, *, status: str, record: Record | None) -> None:
        """Write ``run.json``."""
        write_about(
            self.path / RUN,
            FORMAT,
            VERSION,
            game=game.spec,
            identity=game.identity,
            players=game.players,
            algorithm=algorithm,
            settings=asdict(settings),
            status=status,
            last=asdict(record) if record else None,
        )

    def about(self) -> Mapping[str, Any]:
        """Read ``run.json``.

        Raises:
            FileError: no run in this folder, or its ``run.json`` is truncated, tampered with or of another version.
        """
        needs = {"game": str, "identity": str, "algorithm": str, "settings": dict}
        return read_about(self.path / RUN, FORMAT, VERSION, kind="run", maker="treeplex solve", needs=needs)

    def compiled(
        self,
        game: Any = None,
        *,
        limit: int | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> CompiledGame:
        """The run's game: ``game``, or what ``run.json`` names; compiled with the run's ``refine``.

        Raises:
            FileError: ``game`` is missing, and that of the run has no name or is in a file, which is not loaded because a
                folder names it.
        """
        refine = self.settings().refine
        if game is not None:
            return compile_game(game, refine=refine, limit=limit, watch=watch)
        return compile_game(self.about()["game"], refine=refine, limit=limit, watch=watch, named_in=self.path)

    def settings(self) -> Settings:
        """The settings in ``run.json``."""
        return settings_from(self.about()["settings"], str(self.path / RUN))

    def save_policy(self, policy: Policy, algorithm: str, record: Record) -> None:
        """Write ``policy.safetensors``, with algorithm, iterations and seconds in its metadata."""
        about = {"algorithm": algorithm, "iterations": record.iteration, "seconds": record.seconds}
        save_policy(policy, self.path / POLICY, metadata=about)

    def __repr__(self) -> str:
        return f"<run folder {self.path}>"


def holds_policy(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with a run in it, of a compiled game or on rules."""
    return any((Path(path) / name).is_file() for name in (RUN, OF_SAMPLES[0]))


def is_run_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with a run in it."""
    return (Path(path) / RUN).is_file()
