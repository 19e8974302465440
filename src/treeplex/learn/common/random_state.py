"""States of random number generators as arrays, for checkpoints."""

import numpy as np
from numpy.typing import NDArray


def random_state(generator: np.random.Generator) -> NDArray[np.uint64]:
    """State of a PCG64 generator as integers, uint64 [6]."""
    state = dict(generator.bit_generator.state)
    inner, mask = state["state"], (1 << 64) - 1
    parts = (inner["state"] & mask, inner["state"] >> 64, inner["inc"] & mask, inner["inc"] >> 64)
    return np.array([*parts, state["has_uint32"], state["uinteger"]], np.uint64)


def set_random_state(generator: np.random.Generator, numbers: NDArray[np.uint64]) -> None:
    """Set a generator to a state that :func:`random_state` returned."""
    low, high, step_low, step_high, has, last = (int(number) for number in numbers)
    state = dict(generator.bit_generator.state)
    state["state"] = {"state": low | high << 64, "inc": step_low | step_high << 64}
    state["has_uint32"], state["uinteger"] = has, last
    generator.bit_generator.state = state
