"""The binary ``.spot`` format: arrays and a header in one compressed file, with a checksum and no executable code.

===================== ==============================================================================================
first line            ``treeplex poker solution``
blocks                the arrays in pieces; the first bytes of all numbers, then the second bytes and so on, each
                      compressed with zlib if that makes it smaller
header                JSON: :mod:`treeplex.holdem.solve.solution`'s description of the solution, and the array positions
last 40 bytes         length of the header (uint64, little-endian), SHA-256 of all before it
===================== ==============================================================================================
"""

import hashlib
import json
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.base.storage.reading import open_regular, parse_json, reason
from treeplex.base.workers.executor import in_threads
from treeplex.errors import FileError
from treeplex.holdem.spots.solved import MAGIC

Array = NDArray[Any]
Header = dict[str, Any]

VERSION = 2
TRAILER = struct.Struct("<Q32s")
PIECE = 1 << 20
"""Maximum number of array entries in a block."""
MOST_HEADER = 50_000_000
"""Maximum header size in bytes when only the header is read."""
KINDS = ("<f4", "<f8", "<i2", "<i8", "<u2", "|u1", "|i1")
LEVEL, SAMPLE, WORTH_IT = 1, 1 << 14, 0.9
"""Compression: level, sample size, and the share of a sample's size above which bytes stay uncompressed."""


def write_file(file: IO[bytes], header: Header, arrays: Mapping[str, Array], threads: int) -> None:
    """Write arrays and header, with only a few blocks in memory at a time."""
    digest, entries = hashlib.sha256(MAGIC), []
    file.write(MAGIC)
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array).reshape(-1)
        pieces = (flat[start : start + PIECE] for start in range(0, flat.size, PIECE))
        sizes = []
        for planes in in_threads(threads, packed, pieces):
            for block in planes:
                file.write(block)
                digest.update(block)
            sizes.append([len(block) for block in planes])
        entries.append({"name": name, "kind": flat.dtype.newbyteorder("<").str, "shape": array.shape, "blocks": sizes})
    text = json.dumps({**header, "arrays": entries}).encode()
    file.write(text)
    digest.update(text)
    length = struct.pack("<Q", len(text))
    digest.update(length)
    file.write(length + digest.digest())


def packed(piece: Array) -> list[bytes]:
    """The blocks of a piece: one with the first bytes of all numbers, one with the second bytes, and so on."""
    little = piece.astype(piece.dtype.newbyteorder("<"), copy=False)
    columns = little.view(np.uint8).reshape(-1, piece.dtype.itemsize)
    return [smaller(columns[:, k].tobytes()) for k in range(columns.shape[1])]


def smaller(plain: bytes) -> bytes:
    """The bytes, compressed if that makes them smaller."""
    middle = max(0, len(plain) - SAMPLE) // 2
    sample = plain[middle : middle + SAMPLE]
    if len(zlib.compress(sample, LEVEL)) > WORTH_IT * len(sample):
        return plain
    compressed = zlib.compress(plain, LEVEL)
    return compressed if len(compressed) < len(plain) else plain


def read_file(
    path: str | os.PathLike[str], wanted: Callable[[str], bool] = lambda name: True
) -> tuple[Header, dict[str, Array]]:
    """Header and arrays of a file with a valid checksum.

    Args:
        path: the file.
        wanted: whether to read an array, by name.

    Raises:
        FileError: the file is missing, not a solved spot, truncated or modified.
    """
    broken = FileError(f"{path} is truncated or was changed after it was written; restore a backup, or solve the spot again")
    try:
        with open_regular(path) as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise FileError(f"{path} is not a solved spot; give a .spot file")
            end = file.seek(0, os.SEEK_END) - TRAILER.size
            if end < len(MAGIC):
                raise broken
            file.seek(end)
            length, checksum = TRAILER.unpack(file.read(TRAILER.size))
            if digest_of(file, end + 8) != checksum or length > end - len(MAGIC):
                raise broken
            file.seek(end - length)
            header = parse_json(file.read(length))
            if header.get("version") != VERSION:
                raise FileError(
                    f"{path} has format version {header.get('version')}, but this Treeplex reads {VERSION}; "
                    f"read it with the Treeplex that wrote it ({header.get('treeplex')})"
                )
            file.seek(len(MAGIC))
            check_sizes(path, [entry for entry in header["arrays"] if wanted(entry["name"])])
            arrays = {}
            for entry in header["arrays"]:
                if wanted(entry["name"]):
                    arrays[entry["name"]] = read_array(file, entry)
                else:
                    file.seek(sum(size for sizes in entry["blocks"] for size in sizes), os.SEEK_CUR)
    except OSError as error:
        raise FileError(f"cannot read {path}: {reason(error)}; check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, zlib.error) as error:
        raise broken from error
    return header, arrays


def read_header(path: str | os.PathLike[str]) -> Header:
    """Read only the header of a file, for listings; the checksum is not verified.

    Raises:
        FileError: the file is missing, not a solved spot, truncated, or of another version.
    """
    try:
        with open_regular(path) as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise FileError(f"{path} is not a solved spot; give a .spot file")
            end = file.seek(0, os.SEEK_END) - TRAILER.size
            file.seek(max(end, 0))
            length, _ = TRAILER.unpack(file.read(TRAILER.size))
            if length > min(end - len(MAGIC), MOST_HEADER):
                raise ValueError("the header length is invalid")
            file.seek(end - length)
            header: Header = parse_json(file.read(length))
            if header["version"] != VERSION:
                raise ValueError("unsupported version")
    except OSError as error:
        raise FileError(f"cannot read {path}: {reason(error)}; check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise FileError(f"{path} is truncated, was changed, or has another format version; solve the spot again") from error
    return header


def check_sizes(path: str | os.PathLike[str], entries: Iterable[Mapping[str, Any]]) -> None:
    """Check that a file's arrays have valid sizes and fit into memory.

    Raises:
        ValueError: an invalid size.
        FileError: the arrays do not fit into memory.
    """
    needed = 0
    for entry in entries:
        if entry["kind"] not in KINDS or any(type(length) is not int or length < 0 for length in entry["shape"]):
            raise ValueError("an array's shape or dtype is invalid")
        needed += np.dtype(entry["kind"]).itemsize * math.prod(entry["shape"])
    free = available_memory()
    if free is not None and needed > free:
        raise FileError(
            f"{path} needs {megabytes(needed)} of memory, but only {megabytes(free)} are free; read it on a machine "
            "with more memory"
        )


def digest_of(file: IO[bytes], end: int) -> bytes:
    """SHA-256 of the first ``end`` bytes."""
    digest, left = hashlib.sha256(), end
    file.seek(0)
    while left and (part := file.read(min(left, PIECE))):
        digest.update(part)
        left -= len(part)
    return digest.digest()


def read_array(file: IO[bytes], entry: Mapping[str, Any]) -> Array:
    """The next array of a file."""
    kind = np.dtype(entry["kind"])
    flat = np.empty(int(np.prod(entry["shape"], dtype=np.int64)), kind)
    starts = range(0, flat.size, PIECE)
    for start, sizes in zip(starts, entry["blocks"], strict=True):
        columns = flat[start : start + PIECE].view(np.uint8).reshape(-1, kind.itemsize)
        for k, size in zip(range(kind.itemsize), sizes, strict=True):
            block = file.read(size)
            plain = block if size == len(columns) else zlib.decompressobj().decompress(block, len(columns))
            columns[:, k] = np.frombuffer(plain, np.uint8)
    return flat.reshape(entry["shape"]).astype(kind.newbyteorder("="), copy=False)
