"""The compiled networks of ReBeL against plain NumPy in double precision."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from tests.random_games import STEADY
from treeplex.engine.networks.mlp_batch import END, EPSILON, TAIL, fitted_tail, forward, gelu, packed, padded
from treeplex.engine.networks.simd import LANES

Arrays = list[np.ndarray]


@njit
def gelus(x: np.ndarray) -> np.ndarray:
    found = np.empty_like(x)
    for i in range(len(x)):
        found[i] = gelu(x[i])
    return found


def exact_gelu(x: np.ndarray) -> np.ndarray:
    return np.array([0.5 * each * math.erfc(-each / math.sqrt(2.0)) for each in x.astype(np.float64).ravel()]).reshape(x.shape)


def random_layers(sizes: list[int], random: np.random.Generator) -> tuple[Arrays, Arrays, Arrays, Arrays]:
    """Weights, biases, gains and shifts; rows of hidden layers are far from mean 0 before layer norm."""
    shapes = list(zip(sizes[1:], sizes[:-1], strict=True))
    weights = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    biases = [random.normal(1.0, 1.0, size).astype(np.float32) for size in sizes[1:]]
    gains, shifts = ([random.normal(mean, 0.5, size).astype(np.float32) for size in sizes[1:-1]] for mean in (1.0, 0.0))
    return weights, biases, gains, shifts


def plain(layers: tuple[Arrays, Arrays, Arrays, Arrays], rows: np.ndarray) -> np.ndarray:
    weights, biases, gains, shifts = layers
    rows = rows.astype(np.float64)
    for layer, (matrix, bias) in enumerate(zip(weights, biases, strict=True)):
        rows = rows @ matrix.T.astype(np.float64) + bias
        if layer < len(gains):
            centred = rows - rows.mean(axis=1, keepdims=True)
            scale = 1.0 / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
            rows = exact_gelu(centred * scale * gains[layer] + shifts[layer])
    return rows


def evaluated(
    layers: tuple[Arrays, Arrays, Arrays, Arrays], sizes: list[int], rows: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    outputs = np.full((len(rows), sizes[-1]), 7.0, np.float32)
    forward(np.array(sizes), packed(*layers), rows, chosen, outputs)
    return outputs


@STEADY
@given(
    sizes=st.lists(st.integers(1, 50), min_size=2, max_size=5),
    rows=st.integers(0, 110),
    seed=st.integers(0, 999),
    data=st.data(),
)
def test_forward(sizes: list[int], rows: int, seed: int, data: st.DataObject) -> None:
    random = np.random.default_rng(seed)
    layers, inputs = random_layers(sizes, random), random.normal(size=(rows, sizes[0])).astype(np.float32)
    chosen = np.flatnonzero(random.random(rows) < data.draw(st.sampled_from([0.0, 0.5, 1.0])))
    found, expected = evaluated(layers, sizes, inputs, chosen), plain(layers, inputs)
    largest = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(found[chosen], expected[chosen], rtol=0, atol=2e-5 * largest)
    assert (np.delete(found, chosen, axis=0) == 7.0).all()


@pytest.mark.parametrize("sizes", [[22, 128, 128, 8], [7, 33, 20]])
def test_a_row_has_the_same_outputs_wherever_it_stands(sizes: list[int]) -> None:
    random = np.random.default_rng(0)
    layers, rows = random_layers(sizes, random), random.normal(size=(101, sizes[0])).astype(np.float32)
    whole = evaluated(layers, sizes, rows, np.arange(101))
    for k in (0, 5, 47, 48, 100):
        assert np.array_equal(evaluated(layers, sizes, rows[k : k + 1], np.arange(1))[0], whole[k])
    turned = evaluated(layers, sizes, rows, np.arange(101)[::-1].copy())
    assert np.array_equal(turned, whole)


def test_what_is_no_number_stays_in_its_row() -> None:
    sizes, random = [5, 40, 40, 3], np.random.default_rng(1)
    layers, rows = random_layers(sizes, random), random.normal(size=(9, 5)).astype(np.float32)
    rows[4, 2], rows[6, 0] = np.nan, np.inf
    found = evaluated(layers, sizes, rows, np.arange(9))
    assert np.isnan(found).all(axis=1).tolist() == [k in (4, 6) for k in range(9)]
    assert np.isfinite(np.delete(found, [4, 6], axis=0)).all()


def test_a_hidden_layer_without_variance() -> None:
    """Layer norm of equal numbers is its shift."""
    layers = ([np.zeros((20, 3), np.float32), np.eye(2, 20, dtype=np.float32)], [np.full(20, 5.0, np.float32), np.zeros(2)])
    shift = np.linspace(-2.0, 2.0, 20).astype(np.float32)
    found = evaluated((*layers, [np.ones(20)], [shift]), [3, 20, 2], np.ones((1, 3), np.float32), np.arange(1))
    assert found[0] == pytest.approx(exact_gelu(shift[:2]), abs=1e-6)


def test_gelu_is_exact_to_single_precision() -> None:
    x = np.linspace(-10.0, 10.0, 400_001).astype(np.float32)
    assert np.abs(gelus(x) - exact_gelu(x)).max() < 5e-7


def test_gelu_of_special_numbers() -> None:
    x = np.array([0.0, -0.0, 1e-30, -1e-30, 50.0, 1e30, np.inf, END, -END], np.float32)
    found = gelus(x)
    assert found[:2].tolist() == [0.0, 0.0]
    assert found[2:4] == pytest.approx([5e-31, -5e-31], rel=1e-5)
    assert found[4:7].tolist() == x[4:7].tolist()
    assert found[7:] == pytest.approx([END, 0.0], abs=5e-7)
    assert gelus(np.array([-50.0, -1e30], np.float32)) == pytest.approx([0.0, 0.0], abs=5e-7)
    assert np.isnan(gelus(np.array([np.nan], np.float32))).all()


def test_the_tail_is_fitted() -> None:
    """The polynomial alone is off by as much as its docstring says; two degrees less would not do."""
    t = np.linspace(0.0, END, 4001)
    tail = np.array([0.5 * math.erfc(each / math.sqrt(2.0)) for each in t])

    def error(degree: int) -> float:
        return float(np.abs(t * (np.polyval(fitted_tail(degree, END)[::-1], 2.0 * t / END - 1.0) - tail)).max())

    assert len(TAIL) == 16
    assert error(15) < 1e-7
    assert error(13) > 5e-7


def test_sizes_are_padded_to_lanes() -> None:
    assert [padded(size) for size in (1, LANES, LANES + 1, 256)] == [LANES, LANES, 2 * LANES, 256]
