"""Where a tile's numbers are: floating-point arrays are used in place, 16-bit ones are unpacked to scratch space and packed.

A 16-bit array keeps each row of a tile (one action, at most ``TILE`` hands) as whole numbers times a scale of its own, so that
the largest is 32767: half the memory of single precision, with an error of at most 1.5e-5 of the row's largest number.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

from treeplex.engine.holdem.form import ACTIONS, COUNT, SCALES, STORE, Floats, HoldemForm
from treeplex.engine.holdem.node import TILE

LARGEST = 32767.0


class Tile(NamedTuple):
    """Neighbouring hands of a player at a board, and where their numbers are kept.

    Attributes:
        base: action e of hand j is at ``base + e * hands + j``.
        scale: the scale of action e of tile k, of 16-bit arrays, is at ``scale + e * tiles + k``.
        hands: of the player at the board.
        actions: of the player there.
        low, width: the first hand of the tile, a multiple of ``TILE``, and how many there are.
    """

    base: int
    scale: int
    hands: int
    actions: int
    low: int
    width: int


@njit(cache=True, nogil=True, error_model="numpy")
def tile_of(form: HoldemForm, street: int, board: int, player: int, low: int) -> Tile:
    """The tile of a player's hands from ``low`` on."""
    hands = form.boards[board, COUNT + player]
    base, scale = form.boards[board, STORE + player], form.boards[board, SCALES + player]
    return Tile(base, scale, hands, form.streets[street, ACTIONS + player], low, min(TILE, hands - low))


def open_tile(kept: Floats, scales: Floats, tile: Tile, scratch: Floats) -> tuple[Floats, int, int]:
    """The numbers of a tile as (array, base, stride), see :mod:`treeplex.engine.holdem.node`.

    Args:
        kept: flat array.
        scales: of 16-bit arrays; else empty.
        tile: which numbers.
        scratch: [actions * TILE], used by 16-bit arrays only.
    """
    raise NotImplementedError("kernels only")


def close_tile(kept: Floats, scales: Floats, tile: Tile, scratch: Floats) -> None:
    """Pack the scratch space of :func:`open_tile` again; nothing to do for floating-point arrays."""
    raise NotImplementedError("kernels only")


@njit(cache=True, nogil=True, error_model="numpy")
def unpack(kept: Floats, scales: Floats, tile: Tile, scratch: Floats) -> None:
    """16-bit rows to numbers."""
    tiles, width = (tile.hands + TILE - 1) // TILE, tile.width
    for e in range(tile.actions):
        factor, start = scales[tile.scale + e * tiles + tile.low // TILE], tile.base + e * tile.hands + tile.low
        row, out = kept[start : start + width], scratch[e * TILE : e * TILE + width]
        for j in range(width):
            out[j] = factor * np.float32(row[j])


@njit(cache=True, nogil=True, error_model="numpy")
def pack(kept: Floats, scales: Floats, tile: Tile, scratch: Floats) -> None:
    """Numbers to 16-bit rows."""
    tiles, width = (tile.hands + TILE - 1) // TILE, tile.width
    for e in range(tile.actions):
        start = tile.base + e * tile.hands + tile.low
        row, out = scratch[e * TILE : e * TILE + width], kept[start : start + width]
        largest = np.float32(0.0)
        for j in range(width):
            largest = max(largest, abs(row[j]))
        scales[tile.scale + e * tiles + tile.low // TILE] = largest / np.float32(LARGEST)
        factor = np.float32(LARGEST) / largest if largest > np.float32(0.0) else np.float32(0.0)
        for j in range(width):
            out[j] = np.int16(np.rint(row[j] * factor))


@overload(open_tile)
def _open_tile(kept: Any, scales: Any, tile: Any, scratch: Any) -> Any:
    if kept.dtype == types.int16:

        def unpacked(kept: Any, scales: Any, tile: Any, scratch: Any) -> Any:
            unpack(kept, scales, tile, scratch)
            return scratch, 0, TILE

        return unpacked

    def in_place(kept: Any, scales: Any, tile: Any, scratch: Any) -> Any:
        return kept, tile.base + tile.low, tile.hands

    return in_place


@overload(close_tile)
def _close_tile(kept: Any, scales: Any, tile: Any, scratch: Any) -> Any:
    if kept.dtype == types.int16:

        def packed(kept: Any, scales: Any, tile: Any, scratch: Any) -> Any:
            pack(kept, scales, tile, scratch)

        return packed

    def nothing(kept: Any, scales: Any, tile: Any, scratch: Any) -> Any:
        pass

    return nothing
