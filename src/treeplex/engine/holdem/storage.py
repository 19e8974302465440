"""Where a tile's numbers are: floating-point arrays are used in place, 16-bit ones are unpacked to scratch space and packed.

A 16-bit array keeps each row of a tile (one action, at most ``TILE`` hands) as whole numbers times a scale of its own, so that
the largest is 32767: half the memory of single precision, with an error of at most 1.5e-5 of the row's largest number.
"""

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from treeplex.engine.holdem.form import Floats
from treeplex.engine.holdem.node import TILE

LARGEST = 32767.0


def open_tile(
    kept: Floats, scales: Floats, scale: int, base: int, hands: int, low: int, width: int, actions: int, scratch: Floats
) -> tuple[Floats, int, int]:
    """The numbers of a tile as (array, base, stride), see :mod:`treeplex.engine.holdem.node`.

    Args:
        kept: flat array; the board's action e of hand j is at ``base + e * hands + j``.
        scales: of 16-bit arrays, action e of tile k at ``scale + e * tiles + k``; else empty.
        low, width: the tile's hands, ``low`` a multiple of ``TILE``.
        actions: the player's actions at the board.
        scratch: [actions * TILE], used by 16-bit arrays only.
    """
    raise NotImplementedError("kernels only")


def close_tile(
    kept: Floats, scales: Floats, scale: int, base: int, hands: int, low: int, width: int, actions: int, scratch: Floats
) -> None:
    """Pack the scratch space of :func:`open_tile` again; nothing to do for floating-point arrays."""
    raise NotImplementedError("kernels only")


@njit(cache=True, nogil=True, error_model="numpy")
def unpack(
    kept: Floats, scales: Floats, scale: int, base: int, hands: int, low: int, width: int, actions: int, scratch: Floats
) -> None:
    """16-bit rows to numbers."""
    tiles = (hands + TILE - 1) // TILE
    for e in range(actions):
        factor, start = scales[scale + e * tiles + low // TILE], base + e * hands + low
        row, out = kept[start : start + width], scratch[e * TILE : e * TILE + width]
        for j in range(width):
            out[j] = factor * np.float32(row[j])


@njit(cache=True, nogil=True, error_model="numpy")
def pack(
    kept: Floats, scales: Floats, scale: int, base: int, hands: int, low: int, width: int, actions: int, scratch: Floats
) -> None:
    """Numbers to 16-bit rows."""
    tiles = (hands + TILE - 1) // TILE
    for e in range(actions):
        start = base + e * hands + low
        row, out = scratch[e * TILE : e * TILE + width], kept[start : start + width]
        largest = np.float32(0.0)
        for j in range(width):
            largest = max(largest, abs(row[j]))
        scales[scale + e * tiles + low // TILE] = largest / np.float32(LARGEST)
        factor = np.float32(LARGEST) / largest if largest > np.float32(0.0) else np.float32(0.0)
        for j in range(width):
            out[j] = np.int16(np.rint(row[j] * factor))


@overload(open_tile)
def _open_tile(
    kept: Any, scales: Any, scale: Any, base: Any, hands: Any, low: Any, width: Any, actions: Any, scratch: Any
) -> Any:
    if kept.dtype == types.int16:

        def unpacked(
            kept: Any, scales: Any, scale: Any, base: Any, hands: Any, low: Any, width: Any, actions: Any, scratch: Any
        ) -> Any:
            unpack(kept, scales, scale, base, hands, low, width, actions, scratch)
            return scratch, 0, TILE

        return unpacked

    def in_place(
        kept: Any, scales: Any, scale: Any, base: Any, hands: Any, low: Any, width: Any, actions: Any, scratch: Any
    ) -> Any:
        return kept, base + low, hands

    return in_place


@overload(close_tile)
def _close_tile(
    kept: Any, scales: Any, scale: Any, base: Any, hands: Any, low: Any, width: Any, actions: Any, scratch: Any
) -> Any:
    if kept.dtype == types.int16:

        def packed(
            kept: Any, scales: Any, scale: Any, base: Any, hands: Any, low: Any, width: Any, actions: Any, scratch: Any
        ) -> Any:
            pack(kept, scales, scale, base, hands, low, width, actions, scratch)

        return packed

    def nothing(
        kept: Any, scales: Any, scale: Any, base: Any, hands: Any, low: Any, width: Any, actions: Any, scratch: Any
    ) -> Any:
        pass

    return nothing
