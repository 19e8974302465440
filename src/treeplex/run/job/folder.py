"""Job folders: everything about one job in one folder, human-readable and consistent at all times.

===================== ===========================================================================================
``run.json``          the kind of job, its request, versions, status and the last record, with a checksum
``metrics.jsonl``     one record per evaluation: done, seconds, cpu_seconds and the numbers of its kind
``state.safetensors`` the checkpoint from which the job resumes
others                results of the kind of job: policies, networks, tables, plots
===================== ===========================================================================================

While a job runs, ``.lock`` keeps other processes from writing to its folder.
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
REPLACED = ".replaced"
"""Folder that holds the files of an overwritten job until the new one has a checkpoint or ends without an error."""
MADE = (
    "policy.safetensors",
    "best.safetensors",
    "device.safetensors",
    "net.safetensors",
    "net-96.safetensors",
    "net-98.safetensors",
    "nets.safetensors",
    "network.safetensors",
    "blueprint.safetensors",
    "evaluations.jsonl",
    "hands.jsonl",
    "result.json",
    "match.png",
    "convergence.png",
    "progress.png",
    "learning-curve.png",
    "comparison.md",
    "comparison.csv",
    "comparison.json",
)
"""Names of files that jobs write; overwriting a folder removes these."""
MADE_FOLDERS = ("judged", "tensorboard")


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    Attributes:
        name: its name in ``run.json``.
        unit: the unit of progress.
        maker: the command that runs it.
        numbers: fields of its records in addition to ``done``, ``seconds`` and ``cpu_seconds``.
        needs: required keys of its ``run.json``, with types.
        files: files that it always writes, apart from ``run.json``.
        noun: its name in messages: run, training.
        recorded: whether it has records.
        solver_time: whether time limits count only steps, without evaluations.
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
    """A job on disk. Use it as a context manager when writing; leaving the block releases the lock."""

    def __init__(self, kind: JobKind, path: str | os.PathLike[str]) -> None:
        self.kind: Final = kind
        self.path: Final = Path(path)
        self._lock = FileLock(self.path / LOCK, str(self.path))
        self._made = self._discarded = self._replaces = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *reason: object) -> None:
        if self._replaces:
            if error is None or (self.path / STATE).exists():
                self._drop_replaced()
            else:
                self._restore_replaced()
        self._lock.release()
        if self._made and self._discarded:
            with suppress(OSError):  # it has other files
                self.path.rmdir()

    def discard(self) -> None:
        """Remove the files of a rejected new job; on exit, also remove the folder if it was created for the job."""
        for name in (RUN, METRICS):
            (self.path / name).unlink(missing_ok=True)
        self._discarded = True

    def check_free(self, *, force: bool) -> None:
        """Check that the folder is empty or ``force`` is set.

        Raises:
            FileError: the folder has files, or is a file.
        """
        try:
            taken = self.path.exists() and any(file.name != LOCK for file in self.path.iterdir())
        except NotADirectoryError as error:
            raise FileError(f"{self.path} is a file; give a folder") from error
        except OSError as error:
            raise FileError(f"cannot read the folder {self.path}: {error.strerror or error}; choose another") from error
        if taken and not force:
            is_run = (self.path / RUN).exists()
            way = "resume it (--resume), choose" if is_run else "choose"
            holds = f"the {self.kind.noun} in it" if is_run else "its contents"
            raise FileError(f"{self.path} is not empty; {way} another folder, or overwrite {holds} with force (--force)")

    def claim(self, *, force: bool = False) -> None:
        """Create the folder, lock it, and set an earlier job's files aside (:data:`REPLACED`).

        Raises:
            FileError: the folder cannot be created or written, is locked, or has files and ``force`` is not set.
        """
        self.check_free(force=force)
        self.make()
        self.check_free(force=force)
        try:
            self._set_aside()
        except OSError as error:
            raise FileError(f"cannot write the folder {self.path}: {error.strerror or error}; choose another") from error

    def _job_files(self) -> list[Path]:
        """The existing files and folders that jobs write."""
        return [path for name in (RUN, METRICS, STATE, *MADE, *MADE_FOLDERS) if (path := self.path / name).exists()]

    def _set_aside(self) -> None:
        """Move the files of an earlier job to :data:`REPLACED`."""
        aside = self.path / REPLACED
        if aside.exists() and not (self.path / STATE).exists():  # of a killed job that had replaced another one
            self._remove_files()
        elif files := self._job_files():
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir()
            for file in files:
                file.rename(aside / file.name)
        self._replaces = aside.exists()

    def _remove_files(self) -> None:
        for file in self._job_files():
            shutil.rmtree(file) if file.is_dir() else file.unlink()

    def _drop_replaced(self) -> None:
        shutil.rmtree(self.path / REPLACED, ignore_errors=True)
        self._replaces = False

    def _restore_replaced(self) -> None:
        self._remove_files()
        for file in (self.path / REPLACED).iterdir():
            file.rename(self.path / file.name)
        self._drop_replaced()

    def make(self) -> None:
        """Create the folder if needed, lock it, and remove temporary files of killed processes.

        Raises:
            FileError: the folder cannot be created or written, or is locked.
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
            FileError: the folder has no job, is damaged, or is locked.
        """
        self.about()
        self.make()
        self._replaces = (self.path / REPLACED).exists()
        return self.about()

    def describe(self, about: Mapping[str, Any], *, status: str, records: Sequence[Record]) -> None:
        """Write ``run.json``."""
        self._write(self.description(about, status=status, records=records))

    def description(self, about: Mapping[str, Any], *, status: str, records: Sequence[Record]) -> dict[str, Any]:
        """Return the content of ``run.json`` without its checksum."""
        last = records[-1].plain() if records else None
        start = {"format": FORMAT, "version": VERSION, "kind": self.kind.name, "treeplex": own_version()}
        whole = json.loads(json.dumps({**start, **about, "status": status, "last": last}))
        return {str(key): value for key, value in whole.items()}

    def mark(self, status: str) -> None:
        """Change only the status in ``run.json``."""
        self._write({**self.about(), "status": status})

    def _write(self, about: Mapping[str, Any]) -> None:
        text = json.dumps({**about, "checksum": checksum_of(about)}, indent=2) + "\n"
        write_atomically(self.path / RUN, text)

    def about(self) -> dict[str, Any]:
        """Read ``run.json``.

        Raises:
            FileError: the folder has no job of this kind, or the file is truncated, modified or of another version.
        """
        path, kind = self.path / RUN, self.kind
        again = "restore a backup or restart (with --force)"
        if not path.exists():
            raise FileError(
                f"{self.path} contains no {kind.noun} of {kind.maker} (no {RUN}); give a folder that it wrote with --out"
            )
        try:
            about = read_json(path)
        except ValueError as error:
            raise FileError(f"{path}: truncated or not JSON; {again}") from error
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise FileError(f"{path}: not written by {kind.maker}; give a folder that it wrote with --out")
        if about.get("version") != VERSION:
            written_by = about.get("treeplex", "unknown")
            raise FileError(
                f"{path}: format version {about.get('version')}, but this Treeplex reads {VERSION}; use Treeplex {written_by}"
            )
        if about.get("kind") != kind.name:
            raise FileError(f"{path}: job of kind {about.get('kind')}, not {kind.name}; give a folder of {kind.maker}")
        if about.pop("checksum", None) != checksum_of(about):
            raise FileError(f"{path}: changed after it was written (checksum mismatch); {again}")
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
        """Return the job's compiled game: ``game``, or the game named in ``run.json``.

        Raises:
            FileError: ``game`` is missing, and the job's game has no spec or is in a user file, which is never loaded
                implicitly.
        """
        if game is not None:
            return compile_game(game, refine=refine, limit=limit, watch=watch)
        return compile_game(str(self.about()["game"]), refine=refine, limit=limit, watch=watch, named_in=self.path)

    def game(self) -> Game:
        """Return the game named in ``run.json``.

        Raises:
            FileError: the game has no spec or is in a user file, which is never loaded implicitly.
        """
        return load(str(self.about()["game"]), named_in=self.path).enumerable_rules()

    def append(self, record: Record) -> None:
        """Append a record to ``metrics.jsonl``."""
        append_line(self.path / METRICS, record.to_json())

    def rewrite(self, records: Sequence[Record]) -> None:
        """Replace the records in ``metrics.jsonl``, including any partial line after a crash."""
        path, text = self.path / METRICS, "".join(record.to_json() + "\n" for record in records).encode()
        if not path.exists() or path.read_bytes() != text:
            write_atomically(path, text)

    def records(self) -> list[Record]:
        """Return all records of ``metrics.jsonl`` in ascending order.

        Raises:
            FileError: a line is not a record, or is out of order.
        """
        path, records = self.path / METRICS, list[Record]()
        for number, line in enumerate(whole_lines(path), start=1):
            record = Record.from_json(line, self.kind.numbers, f"{path}, line {number}")
            if records and record.done <= records[-1].done:
                raise FileError(
                    f"{path}, line {number}: {record.done:,} {self.kind.unit} follow {records[-1].done:,}, so the file was "
                    "edited or written by several runs; restore a backup or restart (with --force)"
                )
            records.append(record)
        return records

    def save_state(self, position: Position, state: State) -> None:
        """Write ``state.safetensors`` after flushing the records before it."""
        if self.kind.recorded and (self.path / METRICS).exists():
            with suppress(OSError), (self.path / METRICS).open("rb") as file:
                os.fsync(file.fileno())
        write_checkpoint(self.path / STATE, position, state)
        if self._replaces:
            self._drop_replaced()

    def state(self) -> TensorFile:
        """Open ``state.safetensors``; returns a context manager that maps names to arrays."""
        return open_checkpoint(self.path / STATE)

    def __repr__(self) -> str:
        return f"<folder of {self.kind.maker}: {self.path}>"


def folder_at(kind: JobKind, path: str | os.PathLike[str] | None) -> AbstractContextManager[JobFolder | None]:
    """Return a context manager for writing the folder at a path; None without a path."""
    return nullcontext() if path is None else JobFolder(kind, path)


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of job in a folder; None if it is not a job folder."""
    try:
        about = read_json(Path(path) / RUN)
        return str(about["kind"]) if about["format"] == FORMAT else None
    except (FileError, OSError, ValueError, KeyError, TypeError):
        return None


def checksum_of(about: Mapping[str, Any]) -> str:
    """Return a SHA-256 of the content of ``run.json``."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def digest_of(records: Sequence[Record]) -> str:
    """Return a SHA-256 of records."""
    return hashlib.sha256("".join(record.to_json() + "\n" for record in records).encode()).hexdigest()
