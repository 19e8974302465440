"""``state.safetensors``: the arrays of a job, with a digest, so that it continues bit for bit or says why not."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.storage.tensors import Tensor, TensorFile, tensor, write_tensors
from treeplex.errors import FileError

Arrays = Mapping[str, NDArray[Any]]
State = Mapping[str, NDArray[Any] | Tensor]
FORMAT, VERSION = "treeplex state", 2


@dataclass(frozen=True)
class Position:
    """Where a job stood when its arrays were written.

    Attributes:
        kind: the kind of job.
        name: what ran, such as the algorithm's canonical spec.
        identity: of what it ran on.
        done: how far it was, in the unit of its kind.
        seconds, cpu_seconds: as in :class:`treeplex.run.job.record.Record`.
        records: how many records there were.
        records_digest: SHA-256 of those records.
    """

    kind: str
    name: str
    identity: str
    done: int
    seconds: float
    cpu_seconds: float
    records: int
    records_digest: str


def write_checkpoint(path: Path, position: Position, state: State) -> None:
    """Write atomically, piece by piece.

    Raises:
        FileError: the folder cannot be written or the disk is full; the old file, if any, is as it was.
    """
    about = {"format": FORMAT, "version": str(VERSION), **{name: str(value) for name, value in vars(position).items()}}
    tensors = {name: each if isinstance(each, Tensor) else tensor(np.asarray(each)) for name, each in state.items()}
    write_tensors(path, about, tensors)


def open_checkpoint(path: Path) -> TensorFile:
    """Open what :func:`write_checkpoint` wrote, its checksum checked; a context manager and a mapping of arrays.

    Raises:
        FileError: missing, truncated, tampered with, or of another version; the message names the file and the remedy.
    """
    return TensorFile(path, FORMAT, VERSION)


def position_of(file: TensorFile) -> Position:
    """Where the job stood that an open checkpoint is of.

    Raises:
        FileError: the file does not say.
    """
    about = file.about
    try:
        return Position(
            about["kind"],
            about["name"],
            about["identity"],
            int(about["done"]),
            float(about["seconds"]),
            float(about["cpu_seconds"]),
            int(about["records"]),
            about["records_digest"],
        )
    except (KeyError, ValueError) as error:
        raise FileError(f"{file.path}: not the state of a run; start the run again (with --force)") from error
