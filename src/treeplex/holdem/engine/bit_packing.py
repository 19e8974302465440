"""Packing of 16-bit numbers into fewer bits: coarser steps, prediction from the previous number, one bit width per block.

A block is ``BLOCK`` consecutive numbers (mostly hands of one action). A byte stores the bits per number, and whether the
block holds the numbers or their differences, whichever needs fewer bits; signed values are written as 0, -1, 1, -2, ... A
number between two steps is rounded stochastically, by its position and a seed, so that its mean is unchanged and sums over
many iterations do not drift. A number on a step is stored exactly.

Coding the residuals of a prediction from a neighbour is what Cepheus does (Bowling, Burch, Johanson and Tammelin 2015).
Cepheus also predicts from the previous board and uses an adaptive range coder; packed bits need more space and are read much
faster.
"""

from typing import Any

import numpy as np
from numba import int32, int64, uint32, uint64
from numpy.typing import NDArray

from treeplex.base.arrays import Bytes, Shorts
from treeplex.engine.kernel import kernel

Words = NDArray[np.uint32]

BLOCK = 32
SIGNED, DIFFERENCES = 32, 64
"""Added to a block's width: signed numbers, differences."""
CHANCES = np.random.default_rng(0).permutation(4096).astype(np.float32) * np.float32(0.9998 / 4096) + np.float32(1e-4)
"""Random numbers in [0, 1) for rounding; every block starts at a different position."""


def packed_room(count: int) -> tuple[int, int]:
    """The number of blocks and of words for ``count`` numbers; readers access one word more than is written."""
    blocks = -(-count // BLOCK)
    return blocks, 17 * blocks + 1


@kernel(error_model="numpy")
def pack_bits(numbers: Shorts, step: int, seed: int, widths: Bytes, words: Words) -> int:
    """Pack numbers, rounded to whole steps; return the number of words written.

    Args:
        numbers: int16 [N].
        step: distance between numbers that can be stored; 1 is lossless.
        seed: random seed for the rounding.
        widths: uint8 [blocks], filled.
        words: uint32, filled; see :func:`packed_room`.
    """
    levels, source = np.zeros(BLOCK + 1, np.int32), np.zeros(BLOCK, np.uint32)
    count, used, share = numbers.shape[0], 0, np.float32(1.0 / step)
    highest, wide = int32(32767 // step), int32(step)
    for block in range(widths.shape[0]):
        low = block * BLOCK
        size = min(BLOCK, count - low)
        levels[0] = levels[BLOCK]
        chance_start = scattered(uint64(block), uint64(seed))
        for j in range(size):
            level = (
                int32(np.floor(np.float32(numbers[low + j]) * share + CHANCES[chance_start + j]))
                if wide > 1
                else int32(numbers[low + j])
            )
            levels[j + 1] = min(max(level, -highest), highest)
        for j in range(size, BLOCK):
            levels[j + 1] = levels[size]
        bits, either, moves = int32(0), int32(0), int32(0)
        for j in range(BLOCK):
            level, move = levels[j + 1], int32(levels[j + 1] - levels[j])
            bits = int32(bits | level)
            either = int32(either | int32(int32(level << int32(1)) ^ int32(level >> int32(31))))
            moves = int32(moves | int32(int32(move << int32(1)) ^ int32(move >> int32(31))))
        signed = bits < 0
        plain = width_of(either if signed else bits)
        width, kind = width_of(moves), DIFFERENCES
        if plain <= width:
            width, kind = plain, SIGNED if signed else 0
        widths[block] = width + kind
        if width == 0:
            continue
        for j in range(BLOCK):
            value = int32(levels[j + 1] - levels[j]) if kind == DIFFERENCES else levels[j + 1]
            source[j] = uint32(int32(value << int32(1)) ^ int32(value >> int32(31))) if kind else uint32(value)
        held, filled = uint64(0), uint64(0)
        for j in range(BLOCK):
            held |= uint64(source[j]) << filled
            filled += uint64(width)
            if filled >= uint64(32):
                words[used] = uint32(held)
                used += 1
                held >>= uint64(32)
                filled -= uint64(32)
    return used


@kernel(error_model="numpy", inline="always")
def scattered(block: Any, seed: Any) -> Any:
    """The position in :data:`CHANCES` where a block starts, hashed by the first steps of splitmix64."""
    mixed = block * uint64(0x9E3779B97F4A7C15) + seed * uint64(0xD1B54A32D192ED03)
    mixed = (mixed ^ (mixed >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    return int64((mixed >> uint64(32)) % uint64(len(CHANCES) - BLOCK))


@kernel(error_model="numpy", inline="always")
def width_of(bits: Any) -> int:
    """The number of bits that a number needs."""
    width = 0
    while bits:
        width += 1
        bits >>= 1
    return width


@kernel(error_model="numpy")
def unpack_bits(widths: Bytes, words: Words, step: int, numbers: Shorts) -> None:
    """Unpack the output of :func:`pack_bits` into ``numbers``, int16 [N]; ``words`` needs one extra word at the end."""
    levels = np.zeros(BLOCK, np.int32)
    count, used, before, wide = numbers.shape[0], 0, int32(0), int32(step)
    for block in range(widths.shape[0]):
        low = block * BLOCK
        size, width = min(BLOCK, count - low), int(widths[block]) & (SIGNED - 1)
        kind, mask = int(widths[block]) - width, uint64((1 << width) - 1)
        for j in range(BLOCK):
            offset = j * width
            at = used + (offset >> 5)
            levels[j] = int32(((uint64(words[at]) | (uint64(words[at + 1]) << uint64(32))) >> uint64(offset & 31)) & mask)
        if kind:
            for j in range(BLOCK):
                levels[j] = int32(levels[j] >> int32(1)) ^ -int32(levels[j] & int32(1))
        if kind == DIFFERENCES:
            for j in range(BLOCK):
                before += levels[j]
                levels[j] = before
        else:
            before = levels[BLOCK - 1]
        for j in range(size):
            numbers[low + j] = np.int16(levels[j] * wide)
        used += width
