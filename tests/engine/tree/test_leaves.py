"""Kernels of the leaf operator against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.random_games import STEADY
from treeplex.engine.tree.leaves import PairWeights, decode, encode, rows_reached, write_opposing_mass


@STEADY
@given(seed=st.integers(0, 999), groups=st.integers(1, 5), places=st.integers(0, 20), player=st.integers(0, 1))
def test_opposing_mass_is_the_others_reach_weighed(seed: int, groups: int, places: int, player: int) -> None:
    random = np.random.default_rng(seed)
    matrices = [random.random((random.integers(1, 6), random.integers(1, 6))) for _ in range(groups)]
    which = np.sort(random.integers(0, groups, places))
    numbers = random.permutation(places)
    weights = PairWeights(
        np.concatenate([matrix.ravel() for matrix in matrices]),
        np.array([matrix.shape for matrix in matrices]),
        np.searchsorted(which, np.arange(groups), side="right"),
        numbers,
    )
    other, mass = random.random((places, 6)), np.full((places, 7), -1.0)
    write_opposing_mass(weights, player, other, mass)
    for group, place in zip(which, numbers, strict=True):
        matrix = matrices[group] if player == 0 else matrices[group].T
        assert mass[place, : len(matrix)] == pytest.approx(matrix @ other[place, : matrix.shape[1]])
        assert (mass[place, len(matrix) :] == -1.0).all()


def test_rows_that_are_reached() -> None:
    reach = np.zeros((5, 3))
    reach[1, 2], reach[4, 0], reach[4, 1] = 1e-300, 0.5, 0.25
    assert rows_reached(reach).tolist() == [1, 4]
    assert rows_reached(np.zeros((0, 3))).tolist() == []
    assert rows_reached(np.ones((3, 1))).tolist() == [0, 1, 2]


def test_beliefs_are_written_and_values_read_where_the_player_stands() -> None:
    reach, base = np.array([[1.0, 3.0], [0.0, 0.0], [0.5, 0.5]]), np.array([[0.5, 0.5], [1.0, 3.0], [1.0, 0.0]])
    inputs, slots = np.full((3, 6), 9.0, np.float32), np.array([0, 1, 1])
    encode(reach, base, slots, 2, inputs)
    assert inputs.tolist() == [[9, 9, 0.25, 0.75, 9, 9], [9, 9, 9, 9, 0.25, 0.75], [9, 9, 9, 9, 1, 0]]
    values = np.zeros((3, 2))
    decode(inputs[:, 2:].copy(), slots, values)
    assert values.tolist() == [[0.25, 0.75], [0.25, 0.75], [1, 0]]
