"""Hand networks evaluated without PyTorch."""

from pathlib import Path

import numpy as np
import pytest

from treeplex.errors import FileError
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.rebel.files import save_net


@pytest.mark.parametrize("street", ["flop", "turn", "river"])
def test_the_values_are_those_of_pytorch(street: str) -> None:
    torch = pytest.importorskip("torch")
    from treeplex.learn.hand_values.net import read_hand_net

    rows = np.random.default_rng(1).normal(size=(500, INPUTS)).astype(np.float32)
    net = read_hand_net(shipped_hand_net(street)).net
    with torch.inference_mode():
        expected = net(torch.from_numpy(rows)).numpy()
    np.testing.assert_allclose(hand_function(shipped_hand_net(street))(rows), expected, rtol=1e-6, atol=1e-5)


def test_a_file_with_other_layers_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "net.safetensors"
    weights = {"0.weight": np.zeros((1, 3), np.float32), "0.bias": np.zeros(1, np.float32)}
    for layers, reason in ((0, "its layers do not fit 32 inputs and one output"), (2, "not a hand network")):
        save_net(file, weights, game="", identity="", settings={"layers": layers}, card={}, form="treeplex network for hands")
        with pytest.raises(FileError, match=reason):
            hand_function(file)
