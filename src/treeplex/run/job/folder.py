"""Folders of jobs of every kind: everything about one job in one folder, readable by people, whole at every moment.

===================== ===========================================================================================
``run.json``          the kind of job, what was asked for, versions, status and the last record, with a checksum
``metrics.jsonl``     one record per evaluation: done, seconds, cpu_seconds and the numbers of its kind
``state.safetensors`` everything from which the job continues
others                what the kind of job makes: policies, networks, tables, plots
===================== ===========================================================================================

While a job runs, ``.lock`` keeps other processes from writing into its folder.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, final

from treeplex.base.storage.files import append_line, sweep, write_atomically
from treeplex.base.storage.reading import read_json, whole_lines
from treeplex.base.storage.tensors import TensorFile
from treeplex.base.version import own_version
from treeplex.errors import FileError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.run.job.checkpoint import Position, State, open_checkpoint, write_checkpoint
from treeplex.run.job.lock import FileLock
from treeplex.run.job.record import Record, Schema

FORMAT, VERSION = "treeplex run", 2
RUN, METRICS, STATE, LOCK = "run.json", "metrics.jsonl", "state.safetensors", ".lock"
MADE = (
    "policy.safetensors",
    "best.safetensors",
    "device.safetensors",
    "net.safetensors",
    "net-96.safetensors",
    "net-98.safetensors",
    "evaluations.jsonl",
    "hands.jsonl",
    "result.json",
    "match.png",
    "convergence.png",
    "progress.png",
    "learning-curve.png",
)
"""What jobs of some kind make; overwriting a folder removes what is there of them."""
MADE_FOLDERS = ("judged", "tensorboard")


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    Attributes:
        name: its name in ``run.json``.
        unit: what its steps are counted in.
        maker: the command that runs it.
        numbers: what its records hold in addition to ``done``, ``seconds`` and ``cpu_seconds``.
        needs: what its ``run.json`` must say, with types.
        files: what it always makes, apart from ``run.json``.
        noun: what messages call one: a run, a training.
        recorded: whether there are records.
        solver_time: whether limits of time count the steps alone, not what is evaluated between them.
    """

    name: str
    unit: str
    maker: str
    numbers: Schema = field(default_factory=dict)
    needs: Mapping[str, type] = field(default_factory=dict)
    files: Sequence[str] = ()
    noun: str = "run"
    recorded: bool = True
    solver_time: bool = False


@final
class JobFolder:
    """One job on disk. Use as a context manager where it is written: leaving it gives the lock back."""

    def __init__(self, kind: JobKind, path: str | os.PathLike[str]) -> None:
        self.kind: Final = kind
        self.path: Final = Path(path)
        self._lock = FileLock(self.path / LOCK, str(self.path))
        self._made = self._discarded = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self._lock.release()
        if self._made and self._discarded:
            with suppress(OSError):  # it holds something else
                self.path.rmdir()

    def discard(self) -> None:
        """Remove what a new job wrote before it was refused; on leaving the folder as well, if it was made for the job."""
        for name in (RUN, METRICS):
            (self.path / name).unlink(missing_ok=True)
        self._discarded = True

    def check_free(self, *, force: bool) -> None:
        """Refuse a folder that holds files, unless ``force`` is set.

        Raises:
            FileError: it does, or it is a file.
        """
        try:
            taken = self.path.exists() and any(each.name != LOCK for each in self.path.iterdir())
        except NotADirectoryError as error:
            raise FileError(f"{self.path} is a file; give a folder") from error
        except OSError as error:
            raise FileError(f"cannot read the folder {self.path}: {error.strerror or error}; choose another") from error
        if taken and not force:
            own = (self.path / RUN).exists()
            way = "resume it (--resume), choose" if own else "choose"
            holds = f"the {self.kind.noun} in it" if own else "what it holds"
            raise FileError(f"{self.path} is not empty; {way} another folder, or overwrite {holds} with force (--force)")

    def claim(self, *, force: bool = False) -> None:
        """Make the folder, lock it, and empty it of an earlier job.

        Raises:
            FileError: it cannot be made or written, another process writes it, or it holds files and ``force`` is not set.
        """
        self.check_free(force=force)
        self.make()
        self.check_free(force=force)
        try:
            for name in (RUN, METRICS, STATE, *MADE):
                (self.path / name).unlink(missing_ok=True)
            for name in MADE_FOLDERS:
                if (self.path / name).is_dir():
                    shutil.rmtree(self.path / name)
        except OSError as error:
            raise FileError(f"cannot write the folder {self.path}: {error.strerror or error}; choose another") from error

    def make(self) -> None:
        """Make the folder if need be, lock it, and sweep up what killed processes left half-written.

        Raises:
            FileError: it cannot be made or written, or another process writes it.
        """
        try:
            self._made = self._made or not self.path.exists()
            self.path.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise FileError(f"{self.path} is a file; give a folder") from error
        except OSError as error:
            raise FileError(f"cannot write the folder {self.path}: {error.strerror or error}; choose another") from error
        self._lock.acquire()
        sweep(self.path)

    def reopen(self) -> Mapping[str, Any]:
        """Lock the folder of an earlier job to resume it; return its ``run.json``.

        Raises:
            FileError: there is none, it is damaged, or another process writes it.
        """
        self.about()
        self.make()
        return self.about()

    def describe(self, about: Mapping[str, Any], *, status: str, records: Sequence[Record]) -> None:
        """Write ``run.json``."""
        self._write(self.description(about, status=status, records=records))

    def description(self, about: Mapping[str, Any], *, status: str, records: Sequence[Record]) -> dict[str, Any]:
        """The content of ``run.json`` without its checksum."""
        last = records[-1].plain() if records else None
        start = {"format": FORMAT, "version": VERSION, "kind": self.kind.name, "treeplex": own_version()}
        whole = json.loads(json.dumps({**start, **about, "status": status, "last": last}))
        return {str(key): value for key, value in whole.items()}

    def mark(self, status: str) -> None:
        """Change the status in ``run.json``, and nothing else."""
        self._write({**self.about(), "status": status})

    def _write(self, about: Mapping[str, Any]) -> None:
        text = json.dumps({**about, "checksum": checksum_of(about)}, indent=2) + "\n"
        write_atomically(self.path / RUN, text)

    def about(self) -> dict[str, Any]:
        """Read ``run.json``.

        Raises:
            FileError: no job of this kind in this folder, or the file is truncated, tampered with or of another version.
        """
        path, kind = self.path / RUN, self.kind
        again = "put back a copy or start again (with --force)"
        if not path.exists():
            raise FileError(
                f"{self.path} holds no {kind.noun} of {kind.maker} (no {RUN}); give a folder that it wrote with --out"
            )
        try:
            about = read_json(path)
        except ValueError as error:
            raise FileError(f"{path}: truncated or not JSON; {again}") from error
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise FileError(f"{path}: not written by {kind.maker}; give a folder that it wrote with --out")
        if about.get("version") != VERSION:
            found = about.get("treeplex", "unknown")
            raise FileError(
                f"{path}: format version {about.get('version')}, this Treeplex reads {VERSION}; use Treeplex {found}"
            )
        if about.get("kind") != kind.name:
            raise FileError(f"{path}: of another kind ({about.get('kind')}), not written by {kind.maker}; check the path")
        if about.pop("checksum", None) != checksum_of(about):
            raise FileError(f"{path}: changed after it was written (its checksum differs); {again}")
        for key, wanted in kind.needs.items():
            if not isinstance(about.get(key), wanted):
                raise FileError(f"{path}: {key!r} is missing; {again}")
        return about

    def compiled(
        self,
        game: Any = None,
        *,
        refine: bool = False,
        limit: int | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> CompiledGame:
        """The job's game: ``game``, or what ``run.json`` names.

        Raises:
            FileError: ``game`` is missing, and that of the job has no name or is in a file, which is not loaded because a
                folder names it.
        """
        if game is not None:
            return compile_game(game, refine=refine, limit=limit, watch=watch)
        return compile_game(str(self.about()["game"]), refine=refine, limit=limit, watch=watch, named_in=self.path)

    def game(self) -> Game:
        """The rules that ``run.json`` names.

        Raises:
            FileError: the game has no name or is in a file, which is not loaded because a folder names it.
        """
        return load(str(self.about()["game"]), named_in=self.path).enumerable_rules()

    def append(self, record: Record) -> None:
        """Add one line to ``metrics.jsonl``."""
        append_line(self.path / METRICS, record.to_json())

    def rewrite(self, records: Sequence[Record]) -> None:
        """Make these the lines of ``metrics.jsonl``; a half line that a crash left goes too."""
        path, text = self.path / METRICS, "".join(record.to_json() + "\n" for record in records).encode()
        if not path.exists() or path.read_bytes() != text:
            write_atomically(path, text)

    def records(self) -> list[Record]:
        """All of ``metrics.jsonl``, ascending.

        Raises:
            FileError: a line is no record, or not after the one before it.
        """
        path, found = self.path / METRICS, list[Record]()
        for number, line in enumerate(whole_lines(path), start=1):
            record = Record.from_json(line, self.kind.numbers, f"{path}, line {number}")
            if found and record.done <= found[-1].done:
                raise FileError(
                    f"{path}, line {number}: {record.done:,} {self.kind.unit} come after {found[-1].done:,}, so that several "
                    "runs wrote it, or it was changed; put back a copy or start again (with --force)"
                )
            found.append(record)
        return found

    def save_state(self, position: Position, state: State) -> None:
        """Write ``state.safetensors``, once the records before it are safe."""
        if self.kind.recorded and (self.path / METRICS).exists():
            with suppress(OSError), (self.path / METRICS).open("rb") as file:
                os.fsync(file.fileno())
        write_checkpoint(self.path / STATE, position, state)

    def state(self) -> TensorFile:
        """Open ``state.safetensors``: a context manager and a mapping of arrays."""
        return open_checkpoint(self.path / STATE)

    def __repr__(self) -> str:
        return f"<folder of {self.kind.maker}: {self.path}>"


def folder_at(kind: JobKind, path: str | os.PathLike[str] | None) -> AbstractContextManager[JobFolder | None]:
    """The folder at a path, None without one, to be written in a ``with`` block."""
    return nullcontext() if path is None else JobFolder(kind, path)


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """The name of the kind of job whose folder a path is; None if it is none."""
    try:
        about = read_json(Path(path) / RUN)
        return str(about["kind"]) if about["format"] == FORMAT else None
    except (FileError, OSError, ValueError, KeyError, TypeError):
        return None


def checksum_of(about: Mapping[str, Any]) -> str:
    """SHA-256 of what ``run.json`` says."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def digest_of(records: Sequence[Record]) -> str:
    """SHA-256 of records."""
    return hashlib.sha256("".join(record.to_json() + "\n" for record in records).encode()).hexdigest()
