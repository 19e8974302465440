"""``state.safetensors``: the arrays of a job with a digest, from which it resumes bit-identically.

The session of :mod:`treeplex.run.job.job` decides when to write it and resumes from it.
"""

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
    """Metadata of a checkpoint.

    Attributes:
        kind: the kind of job.
        name: the job's name, such as the algorithm's canonical spec.
        identity: identity of the game or data.
        done: progress in the unit of the kind.
        seconds, cpu_seconds: as in :class:`treeplex.run.job.record.Record`.
        records: number of records so far.
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
    """Write a checkpoint atomically, in pieces.

    Raises:
        FileError: the folder cannot be written or the disk is full; an existing file is unchanged.
    """
    about = {"format": FORMAT, "version": str(VERSION), **{name: str(value) for name, value in vars(position).items()}}
    tensors = {name: array if isinstance(array, Tensor) else tensor(np.asarray(array)) for name, array in state.items()}
    write_tensors(path, about, tensors)


def open_checkpoint(path: Path) -> TensorFile:
    """Open and verify a checkpoint; returns a context manager that maps names to arrays.

    Raises:
        FileError: the file is missing, truncated, modified or of another version.
    """
    return TensorFile(path, FORMAT, VERSION)


def position_of(file: TensorFile) -> Position:
    """Return the metadata of an open checkpoint.

    Raises:
        FileError: the file lacks it.
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
        raise FileError(f"{file.path}: not a checkpoint; restart the run (with --force)") from error
