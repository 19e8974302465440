import numpy as np
import pytest

from treeplex.engine.sampling.streams import Stream, advanced, start, unit


@pytest.mark.parametrize(("seed", "iteration", "player"), [(0, 1, 0), (7, 10**9, 3), (2**63 - 1, 5, 1)])
def test_the_compiled_stream_and_the_plain_one_are_the_same(seed: int, iteration: int, player: int) -> None:
    stream = Stream(seed, iteration, player)
    state = start(np.uint64(seed), np.uint64(iteration), np.uint64(player))
    for _ in range(50):
        state = advanced(np.uint64(state))
        assert unit(np.uint64(state)) == stream.draw()


def test_splitmix_gives_the_published_numbers() -> None:
    stream = Stream(0, 0, 0)
    stream.state = 1234567
    found = [int(stream.draw() * 2**53) for _ in range(3)]
    # The first outputs of SplitMix64 from 1234567, as in Java's SplittableRandom and Rosetta Code, without the lowest 11 bits.
    assert found == [number >> 11 for number in (6457827717110365317, 3203168211198807973, 9817491932198370423)]


def test_streams_are_uniform_and_apart() -> None:
    draws = np.array([[Stream(3, t, player).draw() for t in range(1, 4001)] for player in (0, 1)])
    counts = np.array([np.histogram(row, bins=20, range=(0, 1))[0] for row in draws])
    chi_square = ((counts - 200) ** 2 / 200).sum(axis=1)
    assert (chi_square < 45).all()  # 19 degrees of freedom: beyond 45 in one case of a thousand
    assert abs(np.corrcoef(draws)[0, 1]) < 0.06
    assert abs(np.corrcoef(draws[0, 1:], draws[0, :-1])[0, 1]) < 0.06
