"""``state.safetensors``: the arrays of a solver, with a digest, so that a run continues bit for bit or says why not."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_from_bytes
from safetensors.numpy import save as bytes_from_arrays

from treeplex.errors import FileError
from treeplex.storage.files import write_atomically
from treeplex.storage.reading import read_bytes, tensor_metadata

Arrays = Mapping[str, NDArray[Any]]
FORMAT = "treeplex state"
VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """A solver's state at one iteration.

    Attributes:
        identity: the compiled game's identity.
        algorithm: the algorithm's canonical spec.
        iteration: iterations done.
        seconds: solver time so far.
        arrays: what ``Solver.state()`` returned.
    """

    identity: str
    algorithm: str
    iteration: int
    seconds: float
    arrays: Arrays


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write atomically.

    Raises:
        FileError: the folder cannot be written or the disk is full; the old file, if any, is as it was.
    """
    arrays = {name: np.asarray(array, order="C") for name, array in checkpoint.arrays.items()}
    about = {
        "format": FORMAT,
        "version": str(VERSION),
        "identity": checkpoint.identity,
        "algorithm": checkpoint.algorithm,
        "iteration": str(checkpoint.iteration),
        "seconds": repr(checkpoint.seconds),
    }
    about["digest"] = digest(about, arrays)
    write_atomically(path, bytes_from_arrays(arrays, metadata=about))


def read_checkpoint(path: Path) -> Checkpoint:
    """Read what :func:`write_checkpoint` wrote.

    Raises:
        FileError: missing, truncated, tampered with, or of another version; the message names the file and the remedy.
    """
    if not path.exists():
        raise FileError(f"{path}: no such file; without it a run cannot be resumed: start it again")
    data = read_bytes(path)
    try:
        about = tensor_metadata(data)
        arrays: Arrays = arrays_from_bytes(data)
    except (SafetensorError, ValueError) as error:
        raise FileError(f"{path}: truncated or not a state file; start the run again (with --force)") from error
    if about.get("format") != FORMAT:
        raise FileError(f"{path}: not a state file of Treeplex; start the run again (with --force)")
    if about.get("version") != str(VERSION):
        raise FileError(
            f"{path}: written in format version {about.get('version')}, this Treeplex reads {VERSION}; "
            "resume with the version that wrote it (see run.json) or start the run again"
        )
    if about.pop("digest", None) != digest(about, arrays):
        raise FileError(
            f"{path}: its contents do not match their checksum; restore a copy or start the run again (with --force)"
        )
    try:
        return Checkpoint(about["identity"], about["algorithm"], int(about["iteration"]), float(about["seconds"]), arrays)
    except (KeyError, ValueError) as error:
        raise FileError(f"{path}: not a state file of Treeplex; start the run again (with --force)") from error


def digest(about: Mapping[str, str], arrays: Arrays) -> str:
    """SHA-256 over metadata and arrays, their names, types and shapes included."""
    total = hashlib.sha256(json.dumps(sorted(about.items())).encode())
    for name in sorted(arrays):
        array = arrays[name]
        total.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        total.update(array.tobytes())
    return total.hexdigest()
