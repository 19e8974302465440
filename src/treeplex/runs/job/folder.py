"""What folders of all kinds of runs and trainings have in common: claiming them, saying what they are, records, checkpoints."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from treeplex.errors import FileError
from treeplex.runs.job.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from treeplex.storage.files import append_line, write_atomically
from treeplex.storage.reading import parse_json, read_json, whole_lines

METRICS, STATE = "metrics.jsonl", "state.safetensors"


class Line(Protocol):
    """A record as a line of ``metrics.jsonl``."""

    def to_json(self) -> str:
        """The line, without its end."""

    @classmethod
    def from_json(cls, text: str, place: str) -> Self:
        """Read a line; ``place`` (file and line) goes into the :class:`FileError`."""


AnyRecord = TypeVar("AnyRecord", bound=Line)


class RecordFolder(Generic[AnyRecord]):
    """A folder with records in ``metrics.jsonl``; a kind of folder names their class, ``record``."""

    record: type[AnyRecord]

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Final = Path(path)

    def append(self, record: AnyRecord) -> None:
        """Add one line to ``metrics.jsonl``."""
        append_line(self.path / METRICS, record.to_json())

    def records(self) -> list[AnyRecord]:
        """All of ``metrics.jsonl``."""
        path = self.path / METRICS
        lines = enumerate(whole_lines(path), start=1)
        return [self.record.from_json(line, f"{path}, line {number}") for number, line in lines]

    def rewrite(self, records: Sequence[AnyRecord]) -> None:
        """Replace ``metrics.jsonl``."""
        write_atomically(self.path / METRICS, "".join(record.to_json() + "\n" for record in records).encode())


class CheckpointFolder(RecordFolder[AnyRecord]):
    """A folder with a checkpoint in ``state.safetensors`` as well."""

    def save_state(self, checkpoint: Checkpoint) -> None:
        """Write ``state.safetensors``."""
        write_checkpoint(self.path / STATE, checkpoint)

    def state(self) -> Checkpoint:
        """Read ``state.safetensors``."""
        return read_checkpoint(self.path / STATE)


def write_about(path: Path, form: str, number: int, /, **about: Any) -> None:
    """Write the file that says what is in a folder: format, its version, that of Treeplex, what is given, and a checksum."""
    whole = {"format": form, "version": number, "treeplex": own_version(), **about}
    whole["checksum"] = checksum(whole)
    write_atomically(path, (json.dumps(whole, indent=2) + "\n").encode())


def checksum(about: Mapping[str, Any]) -> str:
    """SHA-256 of all but the checksum itself, as JSON says it."""
    rest = {key: value for key, value in about.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(parse_json(json.dumps(rest)), sort_keys=True).encode()).hexdigest()


def read_about(
    path: Path, form: str, number: int, *, kind: str, maker: str, needs: Mapping[str, type] | None = None
) -> dict[str, Any]:
    """Read what :func:`write_about` wrote; early versions wrote no checksum.

    Args:
        path: the file.
        form, number: its format and that format's version.
        kind: what messages call what is in such folders.
        maker: the command that makes them.
        needs: what must be in it, with types.

    Raises:
        FileError: there is no such file, or it is truncated, tampered with or of another version.
    """
    if not path.exists():
        raise FileError(f"{path.parent} holds no {kind} (no {path.name}); give one that {maker} wrote with --out")
    try:
        about = read_json(path)
    except ValueError as error:
        raise FileError(f"{path}: truncated or not JSON; start it again (with --force)") from error
    if not isinstance(about, dict) or about.get("format") != form:
        raise FileError(f"{path}: not written by {maker}; give a folder that it wrote with --out")
    if about.get("version") != number:
        found = about.get("treeplex", "unknown")
        raise FileError(f"{path}: format version {about.get('version')}, this Treeplex reads {number}; use Treeplex {found}")
    if about.get("checksum", checksum(about)) != checksum(about):
        raise FileError(f"{path}: changed after it was written (the checksum differs); put back a copy")
    for key, wanted in (needs or {}).items():
        if not isinstance(about.get(key), wanted):
            raise FileError(f"{path}: {key!r} is missing; start it again (with --force)")
    return about


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
