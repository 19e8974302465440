"""Circular rows: always the newest part of all, whatever the sizes."""

import numpy as np
import pytest

from treeplex.learn.common.replay import Replay


def fresh(room: int = 50) -> Replay:
    return Replay(np.zeros((0, 2), np.float32), np.zeros((0, 3), np.uint8), room=room)


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_the_newest_of_a_plain_list(seed: int) -> None:
    generator = np.random.default_rng(seed)
    replay, first, second = fresh(), np.zeros((0, 2), np.float32), np.zeros((0, 3), np.uint8)
    for _ in range(60):
        new, most = int(generator.integers(1, 12)), int(generator.integers(1, 50))
        parts = generator.normal(size=(new, 2)).astype(np.float32), generator.integers(0, 255, (new, 3)).astype(np.uint8)
        first, second = np.concatenate((first, parts[0]))[-most:], np.concatenate((second, parts[1]))[-most:]
        replay.add(parts, most)
        assert len(replay) == len(first)
        chosen = generator.integers(0, len(replay), 5)
        assert np.array_equal(replay.take(chosen)[0], first[chosen])
        assert np.array_equal(replay.ordered()[1], second)
        if generator.random() < 0.2:
            other = fresh()
            other.restore(*replay.ordered())
            replay = other


def test_full_arrays_are_neither_moved_nor_enlarged() -> None:
    replay = fresh(room=40)
    for _ in range(20):
        replay.add((np.ones((4, 2), np.float32), np.ones((4, 3), np.uint8)), 40)
    arrays = replay.arrays
    for _ in range(20):
        replay.add((np.ones((7, 2), np.float32), np.ones((7, 3), np.uint8)), 40)
    assert all(now is before for now, before in zip(replay.arrays, arrays, strict=True))
    assert [len(array) for array in arrays] == [40, 40]


def test_what_is_taken_is_a_copy_and_what_does_not_fit_is_refused() -> None:
    replay = fresh()
    replay.add((np.ones((4, 2), np.float32), np.ones((4, 3), np.uint8)), 40)
    replay.ordered()[0][:] = 7
    assert (replay.ordered()[0] == 1).all()
    with pytest.raises(ValueError, match="rows have shape"):
        replay.restore(np.ones((4, 3), np.float32), np.ones((4, 3), np.uint8))
    with pytest.raises(ValueError, match="differ in length"):
        replay.restore(np.ones((4, 2), np.float32), np.ones((5, 3), np.uint8))
