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

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, final

from treeplex.errors import FileError
from treeplex.forms.compiled import CompiledGame
from treeplex.forms.files import append_line, whole_lines, write_atomically
from treeplex.forms.policy import Policy
from treeplex.forms.policy_files import save_policy
from treeplex.forms.user_module import names_python
from treeplex.runs.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from treeplex.runs.record import Record, Settings, settings_from

FORMAT = "treeplex run"
VERSION = 1
RUN, METRICS, POLICY, STATE, PLOT = "run.json", "metrics.jsonl", "policy.safetensors", "state.safetensors", "convergence.png"
FILES = (RUN, METRICS, POLICY, STATE, PLOT)
DEVICE = "device.safetensors"
"""Only of algorithms that make a correlation device."""
OF_SAMPLES = ("sample.json", "progress.png")
"""Only of runs on rules (:mod:`treeplex.runs.sample_folder`); their other files have the same names."""
OF_RUNS = (*FILES, DEVICE, *OF_SAMPLES)
"""What runs leave in a folder, on compiled games or over rules."""


@final
class RunFolder:
    """One run on disk."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Final = Path(path)

    def claim(self, *, force: bool = False) -> None:
        """Make the folder, empty of an earlier run.

        Raises:
            FileError: it cannot be made or written, or it holds files and ``force`` is not set.
        """
        claim_folder(self.path, RUN, OF_RUNS, force=force)

    def describe(self, game: CompiledGame, algorithm: str, settings: Settings, *, status: str, record: Record | None) -> None:
        """Write ``run.json``."""
        about = {
            "format": FORMAT,
            "version": VERSION,
            "treeplex": own_version(),
            "game": game.spec,
            "identity": game.identity,
            "players": game.players,
            "algorithm": algorithm,
            "settings": asdict(settings),
            "status": status,
            "last": asdict(record) if record else None,
        }
        write_atomically(self.path / RUN, (json.dumps(about, indent=2) + "\n").encode())

    def about(self) -> Mapping[str, Any]:
        """Read ``run.json``.

        Raises:
            FileError: no run in this folder, or its ``run.json`` is truncated, tampered with or of another version.
        """
        path = self.path / RUN
        try:
            about = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise FileError(f"{self.path} holds no run (no {RUN}); give a folder that solve wrote with --out") from error
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        except ValueError as error:
            raise FileError(f"{path}: truncated or not JSON; start the run again (with --force)") from error
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise FileError(f"{path}: not written by Treeplex; give a folder that solve wrote with --out")
        if about.get("version") != VERSION:
            found = about.get("treeplex", "unknown")
            raise FileError(
                f"{path}: format version {about.get('version')}, this Treeplex reads {VERSION}; use Treeplex {found}"
            )
        for key, kind in (("game", str), ("identity", str), ("algorithm", str), ("settings", dict)):
            if not isinstance(about.get(key), kind):
                raise FileError(f"{path}: {key!r} is missing; start the run again (with --force)")
        return about

    def game_to_load(self) -> str:
        """The spec of the run's game, if loading it runs no code of a user's.

        Raises:
            FileError: the game has no name, or is in a Python file, which is not run because a folder says so.
        """
        spec: str = self.about()["game"]
        if not spec or names_python(spec):
            named = f"is on {spec}, whose code is not run on reading a folder" if spec else "is on a game without a name"
            raise FileError(f"{self.path} {named}; name the game as well")
        return spec

    def settings(self) -> Settings:
        """The settings in ``run.json``."""
        return settings_from(self.about()["settings"], str(self.path / RUN))

    def append(self, record: Record) -> None:
        """Add one line to ``metrics.jsonl``."""
        append_line(self.path / METRICS, record.to_json())

    def records(self) -> list[Record]:
        """All of ``metrics.jsonl``."""
        path = self.path / METRICS
        return [Record.from_json(line, f"{path}, line {number}") for number, line in enumerate(whole_lines(path), start=1)]

    def rewrite(self, records: Sequence[Record]) -> None:
        """Replace ``metrics.jsonl``."""
        write_atomically(self.path / METRICS, "".join(record.to_json() + "\n" for record in records).encode())

    def save_state(self, checkpoint: Checkpoint) -> None:
        """Write ``state.safetensors``."""
        write_checkpoint(self.path / STATE, checkpoint)

    def state(self) -> Checkpoint:
        """Read ``state.safetensors``."""
        return read_checkpoint(self.path / STATE)

    def save_policy(self, policy: Policy, algorithm: str, record: Record) -> None:
        """Write ``policy.safetensors``, with algorithm, iterations and seconds in its metadata."""
        about = {"algorithm": algorithm, "iterations": record.iteration, "seconds": record.seconds}
        save_policy(policy, self.path / POLICY, metadata=about)

    def __repr__(self) -> str:
        return f"<run folder {self.path}>"


def claim_folder(
    path: Path, own: str, names: Sequence[str], *, folders: Sequence[str] = (), kind: str = "run", force: bool
) -> None:
    """Make a folder for a run or a training, empty of earlier ones.

    Args:
        path: the folder.
        own: the file by which one of this kind is known.
        names, folders: files and folders of earlier ones, to be removed.
        kind: what messages call it.
        force: whether it may hold files.

    Raises:
        FileError: it cannot be made or written, or it holds files and ``force`` is not set.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        taken = any(path.iterdir())
    except FileExistsError as error:
        raise FileError(f"{path} is a file; give a folder") from error
    except OSError as error:
        raise FileError(f"cannot write the folder {path}: {error.strerror or error}; choose another") from error
    if taken and not force:
        way = "resume it (--resume), choose" if (path / own).exists() else "choose"
        holds = f"the {kind} in it" if (path / own).exists() else "what it holds"
        raise FileError(f"{path} is not empty; {way} another folder, or overwrite {holds} with force (--force)")
    try:
        for name in names:
            (path / name).unlink(missing_ok=True)
        for name in folders:
            if (path / name).is_dir():
                shutil.rmtree(path / name)
        probe = path / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise FileError(f"cannot write the folder {path}: {error.strerror or error}; choose another") from error


def own_version() -> str:
    """The installed version of Treeplex."""
    try:
        return version("treeplex")
    except PackageNotFoundError:
        return "unknown"


def holds_policy(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with a run in it, of a compiled game or on rules."""
    return any((Path(path) / name).is_file() for name in (RUN, OF_SAMPLES[0]))


def is_run_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with a run in it."""
    return (Path(path) / RUN).is_file()
