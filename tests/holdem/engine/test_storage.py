"""Rows of 16 and 8 bits, the barrier between threads, and transposed blocks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit

from treeplex.engine.barrier import add_atomically, wait_at_barrier
from treeplex.holdem.engine.node import TILE
from treeplex.holdem.engine.storage import LARGEST, LARGEST_BYTE, Tile, pack, pack_bytes, unpack
from treeplex.holdem.engine.transpose import BLOCK, transpose_block

ACTIONS, HANDS, BASE, SCALE = 3, TILE + 20, 11, 2


def test_rows_come_back_up_to_rounding() -> None:
    generator = np.random.default_rng(0)
    kept = np.full(BASE + ACTIONS * HANDS + 4, 77, np.int16)
    scales = np.full(SCALE + 2 * ACTIONS + 1, 0.5, np.float32)
    rows = {}
    for low, width in ((0, TILE), (TILE, 20)):
        scratch = generator.normal(size=ACTIONS * TILE).astype(np.float32) * np.float32(1e-3 if low else 1e3)
        scratch[TILE : 2 * TILE] = 0.0
        rows[low] = scratch.copy()
        pack(kept, scales, Tile(BASE, SCALE, HANDS, ACTIONS, low, width), scratch)
    for low, width in ((0, TILE), (TILE, 20)):
        scratch = np.full(ACTIONS * TILE, np.nan, np.float32)
        unpack(kept, scales, Tile(BASE, SCALE, HANDS, ACTIONS, low, width), scratch)
        for e in range(ACTIONS):
            found, expected = (each[e * TILE :][:width] for each in (scratch, rows[low]))
            np.testing.assert_allclose(found, expected, rtol=0, atol=0.501 * np.abs(expected).max() / LARGEST)
            assert scales[SCALE + 2 * e + low // TILE] == np.abs(expected).max() / np.float32(LARGEST)
    assert (kept[:BASE] == 77).all()
    assert (kept[BASE + ACTIONS * HANDS :] == 77).all()
    assert scales[:SCALE].tolist() == [0.5, 0.5]
    assert scales[-1] == 0.5


def test_bytes_go_up_or_down_at_random_and_keep_the_mean() -> None:
    generator = np.random.default_rng(1)
    kept, scales = np.zeros(TILE, np.int8), np.zeros(1, np.float32)
    tile, errors = Tile(0, 0, TILE, 1, 0, TILE), []
    for _ in range(400):
        numbers = generator.uniform(-1.0, 1.0, TILE).astype(np.float32)
        numbers[1] = generator.uniform(1.0, 2.0)
        numbers[::2] = 0.3 * numbers[1] / LARGEST_BYTE  # less than half a step: rounded to the nearest, it would be lost
        found = np.empty(TILE, np.float32)
        pack_bytes(kept, scales, tile, numbers)
        unpack(kept, scales, tile, found)
        assert kept[1] == LARGEST_BYTE
        errors.append((found - numbers) * LARGEST_BYTE / numbers[1])
    assert np.abs(errors).max() <= 1.0 + 1e-4
    for part in (np.array(errors)[:, 3::2], np.array(errors)[:, 32::64]):  # different numbers; the same one again and again
        assert abs(part.mean()) < 0.02


@njit(nogil=True)
def rounds(gate: np.ndarray, counts: np.ndarray, threads: int, number: int) -> int:
    """Count to ``number`` together; returns how often another thread was ahead or behind."""
    wrong = 0
    for k in range(number):
        add_atomically(counts, k, 1)
        wait_at_barrier(gate, threads)
        wrong += counts[k] != threads
        wait_at_barrier(gate, threads)
    return wrong


def test_threads_wait_for_each_other() -> None:
    for threads in (1, 2, 3):
        gate, counts = np.zeros(2, np.int64), np.zeros(500, np.int64)
        with ThreadPoolExecutor(threads) as pool:
            found = [pool.submit(rounds, gate, counts, threads, len(counts)) for _ in range(threads)]
            assert [each.result(timeout=60) for each in found] == [0] * threads


@njit(nogil=True)
def turned_block(source: np.ndarray, row: int, column: int, target: np.ndarray, target_row: int, target_column: int) -> None:
    transpose_block(source, row, column, target, target_row, target_column)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_block_is_transposed_and_nothing_else_is_written(kind: type) -> None:
    source = np.random.default_rng(11).normal(size=(40, 37)).astype(kind)
    target = np.zeros((50, 29), kind)
    turned_block(source, 5, 18, target, 20, 7)
    expected = np.zeros_like(target)
    expected[20 : 20 + BLOCK, 7 : 7 + BLOCK] = source[5 : 5 + BLOCK, 18 : 18 + BLOCK].T
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize(("kind", "put"), [(np.int16, pack), (np.int8, pack_bytes)])
@pytest.mark.parametrize("largest", [1e-30, 2e-34, 5e-35, 1e-38, 1e-42])
def test_tiny_rows_come_back_or_are_zero(kind: type, put: object, largest: float) -> None:
    """The factor of a row must stay in single precision; without a limit it is infinite below 1e-34."""
    kept, scales, tile = np.full(TILE, 5, kind), np.zeros(1, np.float32), Tile(0, 0, TILE, 1, 0, TILE)
    numbers = (np.linspace(0.0, 1.0, TILE) * largest).astype(np.float32)
    found = np.empty(TILE, np.float32)
    put(kept, scales, tile, numbers)  # type: ignore[operator]
    unpack(kept, scales, tile, found)
    assert np.abs(found - numbers).max() <= max(1e-34, largest / LARGEST_BYTE)
