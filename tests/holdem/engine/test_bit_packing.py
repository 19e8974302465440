"""Numbers in few bits: nothing is lost at step 1, the mean is kept at larger steps, and what was read is written alike."""

import numpy as np
import pytest

from treeplex.holdem.engine.bit_packing import BLOCK, pack_bits, packed_room, unpack_bits


def there_and_back(numbers, step, seed=3):
    blocks, room = packed_room(numbers.size)
    widths, words = np.full(blocks, 255, np.uint8), np.full(room, 0xFFFFFFFF, np.uint32)
    used = pack_bits(numbers, step, seed, widths, words)
    assert used + 1 <= room
    assert used == (widths & 31).sum()
    found = np.full(numbers.size, 77, np.int16)
    unpack_bits(widths, words[: used + 1].copy(), step, found)
    return found, used


NOISE = np.random.default_rng(0)
KINDS = {
    "noise": lambda size: NOISE.integers(-32767, 32768, size),
    "extremes": lambda size: NOISE.choice([-32767, 32767, 0], size),
    "positive": lambda size: NOISE.integers(0, 300, size),
    "smooth": lambda size: 20_000 + np.cumsum(NOISE.integers(-3, 4, size)) % 1000,
    "zero": lambda size: np.zeros(size),
    "equal": lambda size: np.full(size, -12_345),
}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_in_steps_of_one(kind):
    for size in (1, BLOCK - 1, BLOCK, BLOCK + 1, 1000):
        numbers = KINDS[kind](size).astype(np.int16)
        found, _ = there_and_back(numbers, 1)
        np.testing.assert_array_equal(found, numbers)


def test_what_is_small_smooth_or_zero_takes_few_bits():
    bits = {kind: 32 * there_and_back(KINDS[kind](100 * BLOCK).astype(np.int16), 1)[1] / (100 * BLOCK) for kind in KINDS}
    assert bits["zero"] == 0
    assert bits["equal"] < 1
    assert bits["smooth"] < 5
    assert 8 < bits["positive"] <= 9
    assert bits["noise"] == pytest.approx(16, abs=0.1)


@pytest.mark.parametrize("step", [129, 258])
def test_larger_steps_keep_the_mean_and_settle(step):
    numbers = KINDS["noise"](200_000).astype(np.int16)
    found, _ = there_and_back(numbers, step)
    errors = found.astype(np.int64) - numbers
    assert np.abs(errors).max() < step
    assert abs(errors.mean()) < 5 * step / np.sqrt(12 * numbers.size)
    assert (found % step == 0).all()
    again, _ = there_and_back(found, step, seed=4)
    np.testing.assert_array_equal(again, found)
    other, _ = there_and_back(numbers, step, seed=4)
    assert (other != found).mean() > 0.1
