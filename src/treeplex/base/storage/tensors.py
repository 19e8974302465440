"""Safetensors files written and read in pieces, for tables that nearly fill the memory.

The layout is that of safetensors (a little-endian uint64 n, n bytes of JSON, the tensors), so any safetensors reader can open
the files. Data is never held twice. The metadata contains a format, a version and a digest of everything else.
"""

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from treeplex.base.storage.files import replacing
from treeplex.base.storage.reading import open_regular, parse_json, reason
from treeplex.errors import FileError

PIECE = 1 << 20
"""Bytes held in memory at a time."""
LONGEST_HEADER = 100 << 20
KINDS: Mapping[str, type[np.generic]] = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
METADATA = "__metadata__"
Bytes = bytes | memoryview


@dataclass(frozen=True)
class Tensor:
    """An array to write.

    Attributes:
        kind: one of :data:`KINDS`.
        shape: its shape.
        pieces: returns an iterator over its little-endian bytes; called twice.
    """

    kind: str
    shape: tuple[int, ...]
    pieces: Callable[[], Iterator[Bytes]]

    @property
    def size(self) -> int:
        """Size of the array in bytes."""
        return np.dtype(KINDS[self.kind]).itemsize * prod(self.shape)


def tensor(array: NDArray[Any]) -> Tensor:
    """Wrap an array in memory as a :class:`Tensor` without copying it."""
    kind = next(name for name, dtype in KINDS.items() if array.dtype == dtype)
    flat = np.ascontiguousarray(array).reshape(-1)
    step = PIECE // array.itemsize

    def pieces() -> Iterator[Bytes]:
        for start in range(0, len(flat), step):
            part = flat[start : start + step]
            yield part.astype(part.dtype.newbyteorder("<"), copy=False).tobytes()

    return Tensor(kind, array.shape, pieces)


def write_tensors(path: str | os.PathLike[str], about: Mapping[str, str], tensors: Mapping[str, Tensor]) -> None:
    """Write a tensor file atomically.

    Args:
        path: the file.
        about: the metadata; must contain ``format`` and ``version``.
        tensors: by name.

    Raises:
        FileError: the file cannot be written; an existing file is unchanged.
    """
    entries: dict[str, Any] = {}
    offset = 0
    for name, array in tensors.items():
        entries[name] = {"dtype": array.kind, "shape": list(array.shape), "data_offsets": [offset, offset + array.size]}
        offset += array.size
    digest = begun_digest(about, entries)
    for array in tensors.values():
        for piece in array.pieces():
            digest.update(piece)
    header = json.dumps({METADATA: {**about, "digest": digest.hexdigest()}, **entries}).encode()
    header += b" " * (-len(header) % 8)
    with replacing(path) as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for array in tensors.values():
            for piece in array.pieces():
                file.write(piece)


def begun_digest(about: Mapping[str, str], entries: Mapping[str, Any]) -> Any:
    """Return the SHA-256 digest of the metadata (without the digest itself) and of all names, dtypes and offsets of tensors."""
    rest = {key: value for key, value in about.items() if key != "digest"}
    return hashlib.sha256(json.dumps([rest, entries], sort_keys=True).encode())


@final
class TensorFile(Mapping[str, NDArray[Any]]):
    """An open tensor file with verified header and digest: a mapping that reads arrays on access.

    Use as a context manager.

    Attributes:
        path: the file.
        about: its metadata.
        entries: ``{name: {"dtype", "shape", "data_offsets"}}``.
    """

    def __init__(self, path: str | os.PathLike[str], form: str, version: int) -> None:
        """Open and verify a file.

        Args:
            path: the file.
            form: the required format, such as ``treeplex table policy``.
            version: the supported format version.

        Raises:
            FileError: the file is missing, truncated, modified, or has another format or version.
        """
        self.path = Path(path)
        try:
            self._file = open_regular(self.path)
        except OSError as error:
            raise FileError(f"cannot read {path}: {reason(error)}; check the path") from error
        try:
            self._read_header()
            self._check(form, version)
        except BaseException:
            self._file.close()
            raise

    def _read_header(self) -> None:
        try:
            size = os.fstat(self._file.fileno()).st_size
            (length,) = struct.unpack("<Q", self._file.read(8))
            if length > min(size - 8, LONGEST_HEADER):
                raise ValueError("header is incomplete")
            entries = parse_json(self._file.read(length))
            self.about: dict[str, str] = {str(key): str(value) for key, value in entries.pop(METADATA).items()}
            self.entries: dict[str, Any] = entries
            self._start = 8 + length
            places = [
                (*entry["data_offsets"], np.dtype(KINDS[entry["dtype"]]).itemsize * prod(entry["shape"]))
                for entry in entries.values()
            ]
            if any(type(length) is not int or length < 0 for entry in entries.values() for length in entry["shape"]):
                raise ValueError("a tensor's shape is not a list of integers")
            ends = [0, *(end for _, end, _ in places)]
            if any(extent != (begin, begin + extent[2], extent[2]) for begin, extent in zip(ends, places, strict=False)):
                raise ValueError("tensors are not contiguous")
            if self._start + ends[-1] != size:
                raise ValueError("data are incomplete")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
            raise FileError(f"{self.path} is truncated or not a tensor file ({error}); restore a backup") from error

    def _check(self, form: str, version: int) -> None:
        if self.about.get("format") != form:
            raise FileError(f"{self.path} has format {self.about.get('format', 'unknown')!r}, not {form!r}; check the path")
        if self.about.get("version") != str(version):
            raise FileError(
                f"{self.path} has format version {self.about.get('version')}, but this Treeplex reads {version}; "
                "use the version that wrote it"
            )
        digest = begun_digest(self.about, self.entries)
        while piece := self._file.read(PIECE):
            digest.update(piece)
        if digest.hexdigest() != self.about.get("digest"):
            raise FileError(f"{self.path} was changed after it was written (checksum mismatch); restore a backup")

    def __enter__(self) -> "TensorFile":
        return self

    def __exit__(self, *reason: object) -> None:
        self._file.close()

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.read(name, self.entries[name]["dtype"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def read(self, name: str, kind: str) -> NDArray[Any]:
        """Read a tensor by name.

        Raises:
            FileError: no tensor has this name and dtype.
        """
        entry = self.entries.get(name)
        if entry is None or entry["dtype"] != kind:
            raise FileError(f"{self.path} has no {kind} tensor {name!r}; use the Treeplex version that wrote it")
        dtype = np.dtype(KINDS[kind]).newbyteorder("<")
        self._file.seek(self._start + entry["data_offsets"][0])
        array = np.fromfile(self._file, dtype, prod(entry["shape"])).reshape(entry["shape"])
        return array.astype(KINDS[kind], copy=False)
