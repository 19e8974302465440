"""Tile access: floating-point arrays are used in place; short integers are unpacked into scratch space and packed again.

A short array of 16 or 8 bits stores each row of a tile (one action, at most ``TILE`` hands) as integers times the row's
scale, with the largest stored as 32767 or 127. With 16 bits the error is at most 1.5e-5 of the row's largest number. With
8 bits numbers are rounded stochastically with an unchanged mean: rounding to nearest would lose small additions to large
averages. The random number is a hash of the number's own bits, so runs do not depend on threads.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types, uint32
from numba.extending import overload

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.holdem.engine.form import ACTIONS, COUNT, SCALES, STORE, HoldemForm
from treeplex.holdem.engine.node import TILE

LARGEST, LARGEST_BYTE = 32767.0, 127.0
LEAST = 1e-34
"""Rows whose largest number is smaller are stored as zeros, because their scales would underflow single precision."""


class Tile(NamedTuple):
    """Adjacent hands of a player on a board, and the location of their numbers.

    Attributes:
        base: location of action e of hand j is ``base + e * hands + j``.
        scale: location of the scale of action e of tile k, in short arrays, is ``scale + e * tiles + k``.
        hands: number of the player's hands at the board.
        actions: number of the player's actions there.
        low, width: the tile's first hand, a multiple of ``TILE``, and number of hands.
    """

    base: int
    scale: int
    hands: int
    actions: int
    low: int
    width: int


@kernel(error_model="numpy")
def tile_of(form: HoldemForm, street: int, board: int, player: int, low: int) -> Tile:
    """The tile of a player's hands that starts at hand ``low``."""
    hands = form.boards[board, COUNT + player]
    base, scale = form.boards[board, STORE + player], form.boards[board, SCALES + player]
    return Tile(base, scale, hands, form.streets[street, ACTIONS + player], low, min(TILE, hands - low))


def open_tile(stored: Floats, scales: Floats, tile: Tile, scratch: Floats) -> tuple[Floats, int, int]:
    """The numbers of a tile as (array, base, stride); see :mod:`treeplex.holdem.engine.node`.

    Args:
        stored: flat array.
        scales: scales of short arrays; else empty.
        tile: the tile.
        scratch: [actions * TILE], used for short arrays only.
    """
    raise NotImplementedError("this function can only be called in Numba kernels")


def close_tile(stored: Floats, scales: Floats, tile: Tile, scratch: Floats) -> None:
    """Pack the scratch space of :func:`open_tile`; does nothing for floating-point arrays."""
    raise NotImplementedError("this function can only be called in Numba kernels")


@kernel(error_model="numpy")
def unpack(stored: Floats, scales: Floats, tile: Tile, scratch: Floats) -> None:
    """Unpack rows of short integers into numbers."""
    tiles, width = (tile.hands + TILE - 1) // TILE, tile.width
    for e in range(tile.actions):
        factor, start = scales[tile.scale + e * tiles + tile.low // TILE], tile.base + e * tile.hands + tile.low
        row, out = stored[start : start + width], scratch[e * TILE : e * TILE + width]
        for j in range(width):
            out[j] = factor * np.float32(row[j])


@kernel(error_model="numpy")
def pack(stored: Floats, scales: Floats, tile: Tile, scratch: Floats) -> None:
    """Pack numbers into rows of 16-bit integers."""
    tiles, width = (tile.hands + TILE - 1) // TILE, tile.width
    for e in range(tile.actions):
        start = tile.base + e * tile.hands + tile.low
        row, out = scratch[e * TILE : e * TILE + width], stored[start : start + width]
        largest = np.float32(0.0)
        for j in range(width):
            largest = max(largest, abs(row[j]))
        scales[tile.scale + e * tiles + tile.low // TILE] = largest / np.float32(LARGEST)
        factor = np.float32(LARGEST) / largest if largest > np.float32(LEAST) else np.float32(0.0)
        for j in range(width):
            out[j] = np.int16(np.rint(row[j] * factor))


@kernel(error_model="numpy", inline="always")
def chance(number: Any) -> Any:
    """Hash the bits of a number to a number in [0, 1): the last steps of MurmurHash3."""
    mixed = np.float32(number).view(np.uint32) * uint32(0x9E3779B1)
    mixed = uint32(uint32(mixed ^ (mixed >> uint32(16))) * uint32(0x85EBCA6B))
    mixed = uint32(uint32(mixed ^ (mixed >> uint32(13))) * uint32(0xC2B2AE35))
    return np.float32(mixed >> uint32(8)) * np.float32(2.0**-24)


@kernel(error_model="numpy")
def pack_bytes(stored: Floats, scales: Floats, tile: Tile, scratch: Floats) -> None:
    """Pack numbers into rows of 8-bit integers."""
    tiles, width, most = (tile.hands + TILE - 1) // TILE, tile.width, np.float32(LARGEST_BYTE)
    for e in range(tile.actions):
        start = tile.base + e * tile.hands + tile.low
        row, out = scratch[e * TILE : e * TILE + width], stored[start : start + width]
        largest = np.float32(0.0)
        for j in range(width):
            largest = max(largest, abs(row[j]))
        scales[tile.scale + e * tiles + tile.low // TILE] = largest / most
        factor = most / largest if largest > np.float32(LEAST) else np.float32(0.0)
        for j in range(width):
            out[j] = np.int8(min(np.floor(np.float32(row[j]) * factor + chance(row[j])), most))


@overload(open_tile)
def _open_tile(stored: Any, scales: Any, tile: Any, scratch: Any) -> Any:
    if stored.dtype in (types.int16, types.int8):

        def unpacked(stored: Any, scales: Any, tile: Any, scratch: Any) -> Any:
            unpack(stored, scales, tile, scratch)
            return scratch, 0, TILE

        return unpacked

    def in_place(stored: Any, scales: Any, tile: Any, scratch: Any) -> Any:
        return stored, tile.base + tile.low, tile.hands

    return in_place


@overload(close_tile)
def _close_tile(stored: Any, scales: Any, tile: Any, scratch: Any) -> Any:
    if stored.dtype == types.int8:

        def packed_bytes(stored: Any, scales: Any, tile: Any, scratch: Any) -> Any:
            pack_bytes(stored, scales, tile, scratch)

        return packed_bytes

    if stored.dtype == types.int16:

        def packed(stored: Any, scales: Any, tile: Any, scratch: Any) -> Any:
            pack(stored, scales, tile, scratch)

        return packed

    def nothing(stored: Any, scales: Any, tile: Any, scratch: Any) -> Any:
        pass

    return nothing
