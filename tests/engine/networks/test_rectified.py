"""Rectified networks whose first layer comes in parts, against plain NumPy."""

from itertools import pairwise

import numpy as np
import pytest

from treeplex.engine.networks.mlp_batch import packed, padded
from treeplex.engine.networks.rectified import first_layer, rectified
from treeplex.forms.policies.neural import outputs_of


@pytest.mark.parametrize("sizes", [[9, 5], [9, 20, 3], [30, 64, 33, 16, 7]])
@pytest.mark.parametrize("rows", [1, 48, 101])
def test_parts_add_up_to_the_network(sizes: list[int], rows: int) -> None:
    random = np.random.default_rng(rows)
    layers = [
        (random.normal(size=(after, before)).astype(np.float32), random.normal(size=after).astype(np.float32))
        for before, after in pairwise(sizes)
    ]
    own, shared = random.normal(size=(rows, 4)).astype(np.float32), random.normal(size=sizes[0] - 4).astype(np.float32)
    (matrix, biases), rest = layers[0], layers[1:]
    wide = padded(sizes[1])
    panels = packed([matrix[:, :4]], [biases], [], [])
    before = first_layer(own, panels[: 4 * wide], panels[4 * wide :])
    more, found = np.zeros(wide, np.float32), np.empty((rows, sizes[-1]), np.float32)
    more[: sizes[1]] = matrix[:, 4:] @ shared
    parameters = packed([each for each, _ in rest], [each for _, each in rest], [], []) if rest else np.zeros(0, np.float32)
    rectified(np.array(sizes[1:]), parameters, before, more, found)
    whole = np.concatenate([own, np.broadcast_to(shared, (rows, len(shared)))], axis=1)
    np.testing.assert_allclose(found, outputs_of(layers, whole), rtol=1e-4, atol=1e-4 * np.abs(found).max())
