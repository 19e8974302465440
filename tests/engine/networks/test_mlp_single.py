"""The compiled network against plain NumPy."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.random_games import STEADY
from treeplex.engine.networks.mlp_single import forward, negative_elu, parameter_count


def plain(sizes: list[int], parameters: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    place, values = 0, inputs
    for layer, (rows, columns) in enumerate(pairwise(sizes)):
        weights = parameters[place : place + rows * columns].reshape(rows, columns)
        place += rows * columns
        values = values @ weights + parameters[place : place + columns]
        place += columns
        if layer + 2 < len(sizes):
            values = np.where(values > 0, values, np.expm1(values))
    assert place == len(parameters)
    return values


@STEADY
@given(sizes=st.lists(st.integers(1, 9), min_size=2, max_size=4), seed=st.integers(0, 999))
def test_forward(sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    parameters = random.normal(size=parameter_count(np.array(sizes))) * 3.0
    activations = np.full(sum(sizes), np.nan)
    activations[: sizes[0]] = random.normal(size=sizes[0])
    first = forward(np.array(sizes), parameters, activations)
    expected = plain(sizes, parameters, activations[: sizes[0]].copy())
    np.testing.assert_allclose(activations[first:], expected, rtol=1e-12, atol=1e-12)
    assert len(activations) - first == sizes[-1]


@pytest.mark.parametrize("x", [0.0, -1e-12, -1e-3, -0.3, -1.0, -7.5, -39.0, -40.0, -1000.0])
def test_negative_elu(x: float) -> None:
    assert negative_elu(x) == pytest.approx(np.expm1(x), rel=1e-14, abs=1e-300)


def test_layer_sizes_of_the_paper() -> None:
    assert parameter_count(np.array([2, 64, 64, 8])) == 4872
