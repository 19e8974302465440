"""Storage of the arrays of parts between passes: in memory or in files, optionally packed.

A block is one array of one player in one part, as bytes. Files have two sides: an iteration reads one and writes the other,
so lost jobs can be repeated, and an interrupted run resumes from its last complete iteration.
"""

import errno
import os
import re
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bytes
from treeplex.errors import FileError
from treeplex.holdem.engine.bit_packing import pack_bits, packed_room, unpack_bits

Array = NDArray[Any]

STEPS = {"regrets": 129, "guesses": 129, "average": 129}
"""Quantisation step of packed arrays, in units of the 16-bit integers, whose maximum is 32,767."""


class Block(NamedTuple):
    """The name of a block.

    Attributes:
        part: index of the part.
        array: ``regrets``, ``guesses`` or ``average``.
        player: the player.
        side: 0 or 1, the parity of the iteration that wrote it.
    """

    part: int
    array: str
    player: int
    side: int


class Blocks(Protocol):
    """Interface for the storage of blocks."""

    def read(self, block: Block) -> Bytes | None:
        """A block; None if it was never written."""
        ...

    def write(self, block: Block, content: Bytes) -> None:
        """Write a block, replacing the old one."""
        ...

    @property
    def size(self) -> int:
        """The size in bytes of all blocks on one side."""
        ...


class MemoryBlocks:
    """Blocks in this process's memory; one side suffices, since jobs are never lost."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str, int], Bytes] = {}

    def read(self, block: Block) -> Bytes | None:
        return self._kept.get(block[:3])

    def write(self, block: Block, content: Bytes) -> None:
        self._kept[block[:3]] = content

    @property
    def size(self) -> int:
        return sum(content.nbytes for content in self._kept.values())


class FolderBlocks:
    """Blocks in files, in a folder shared by all workers.

    Attributes:
        folder: the folder, which exists.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    def has(name: str) -> bool:
        """Whether a file has the name of a block."""
        return re.fullmatch(rf"({'|'.join(STEPS)})\.[01]\.\d+\.[01]", name) is not None

    def _path(self, block: Block) -> Path:
        return self.folder / f"{block.array}.{block.player}.{block.part}.{block.side}"

    def read(self, block: Block) -> Bytes | None:
        path = self._path(block)
        try:
            return np.fromfile(path, np.uint8)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror or error}; check that the disk is available") from error

    def write(self, block: Block, content: Bytes) -> None:
        path = self._path(block)
        try:
            with open(path, "wb") as file:
                content.tofile(file)
        except OSError as error:
            full = error.errno in (None, errno.ENOSPC, errno.EDQUOT)
            reason = "the disk is full" if full else error.strerror
            raise FileError(f"cannot write {path}: {reason}; free some space and resume the run") from error

    @property
    def size(self) -> int:
        return sum(entry.stat().st_size for entry in os.scandir(self.folder) if entry.name.endswith(".0"))


def encode(numbers: Array, scales: Array, array: str, *, packed: bool, seed: int) -> Bytes:
    """Encode a block of numbers as bytes.

    Args:
        numbers: floating-point numbers, or int16 with ``scales``, float32.
        scales: scales of int16 numbers; else empty.
        array: name of the array, see :class:`Block`.
        packed: whether to pack int16 numbers into fewer bits (:data:`STEPS`).
        seed: random seed for the rounding.
    """
    if not packed:
        return np.concatenate((numbers.view(np.uint8), scales.view(np.uint8)))
    blocks, room = packed_room(numbers.size)
    widths, words = np.empty(blocks, np.uint8), np.empty(room, np.uint32)
    used = pack_bits(numbers, STEPS[array], seed, widths, words)
    return np.concatenate((words[: used + 1].view(np.uint8), scales.view(np.uint8), widths))


def decode(content: Bytes | None, numbers: Array, scales: Array, array: str, *, packed: bool) -> None:
    """Fill ``numbers`` and ``scales`` from a block; zeros if it was never written.

    Raises:
        FileError: the block has the wrong size.
    """
    if content is None:
        numbers[:] = 0
        scales[:] = 0
        return
    scale_bytes = scales.view(np.uint8)
    if not packed:
        size = numbers.nbytes
        check_size(content, size + scale_bytes.size)
        numbers.view(np.uint8)[:] = content[:size]
        scale_bytes[:] = content[size:]
        return
    blocks, _ = packed_room(numbers.size)
    end = content.size - blocks - scale_bytes.size
    check_size(content, content.size if end >= 4 and end % 4 == 0 else -1)
    words, widths = content[:end].view(np.uint32), content[content.size - blocks :]
    check_size(content, blocks + scale_bytes.size + 4 * (1 + int((widths & 31).sum(dtype=np.int64))))
    scale_bytes[:] = content[end : end + scale_bytes.size]
    unpack_bits(widths, words, STEPS[array], numbers)


def check_size(content: Bytes, size: int) -> None:
    """Reject a block of the wrong size.

    Raises:
        FileError: the size differs.
    """
    if content.size != size:
        raise FileError("a block of the run is truncated or belongs to another spot; restart in an empty folder")
