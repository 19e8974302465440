"""Counter-based random streams, one per walk, seeded by seed, iteration and player.

No generator state needs to be saved, interrupted runs are reproducible, and walks may run in any order. The streams are
SplitMix64 (Steele, Lea and Flood 2014), started at hashed states.
"""

import numpy as np

from treeplex.engine.kernel import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 1.0 / (1 << 53)
MASK = (1 << 64) - 1


@kernel()
def mixed(z: np.uint64) -> np.uint64:
    """SplitMix64's output function: every output bit depends on every input bit."""
    z = (z ^ (z >> SHIFTS[0])) * FIRST
    z = (z ^ (z >> SHIFTS[1])) * SECOND
    return z ^ (z >> SHIFTS[2])


@kernel()
def start(seed: np.uint64, iteration: np.uint64, player: np.uint64) -> np.uint64:
    """Return the initial state of a walk's stream."""
    return mixed(mixed(mixed(seed + GOLDEN) + iteration) + player)


@kernel()
def advanced(state: np.uint64) -> np.uint64:
    """Return the next state of a stream."""
    return state + GOLDEN


@kernel()
def unit(state: np.uint64) -> float:
    """Convert a state to a number in [0, 1), a multiple of 2^-53."""
    return float(mixed(state) >> SHIFTS[3]) * UNIT


class Stream:
    """The random stream of the kernels in pure Python: ``Stream(seed, iteration, player).draw()``."""

    def __init__(self, seed: int, iteration: int, player: int) -> None:
        self.state = plainly_mixed(plainly_mixed(plainly_mixed(seed + int(GOLDEN)) + iteration) + player)

    def draw(self) -> float:
        """Return the next number in [0, 1)."""
        self.state = (self.state + int(GOLDEN)) & MASK
        return (plainly_mixed(self.state) >> 11) * UNIT


def plainly_mixed(z: int) -> int:
    """Compute :func:`mixed` with Python integers."""
    z &= MASK
    z = ((z ^ (z >> 30)) * int(FIRST)) & MASK
    z = ((z ^ (z >> 27)) * int(SECOND)) & MASK
    return z ^ (z >> 31)
