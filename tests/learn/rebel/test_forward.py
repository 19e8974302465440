"""Networks as searches evaluate them, against PyTorch, and never with old weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.learn.common.encoding import Encoding  # noqa: E402
from treeplex.learn.common.fitting import NetworkFitter, huber  # noqa: E402
from treeplex.learn.common.replay import Replay  # noqa: E402
from treeplex.learn.common.value_net import Forward, layers_of, value_net  # noqa: E402
from treeplex.learn.rebel.network_leaf import NetworkLeaf  # noqa: E402
from treeplex.search import Belief  # noqa: E402
from treeplex.search.methods import METHODS  # noqa: E402
from treeplex.search.subgame_search import SubgameSearch  # noqa: E402
from treeplex.search.subgames.batch import Subgames, cut_states  # noqa: E402
from treeplex.search.subgames.horizon import Horizon  # noqa: E402

torch.set_num_threads(1)

DICE = "liars_dice(dice_sides=3)"


def by_torch(net: Any, rows: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return net(torch.from_numpy(rows)).numpy()


def stirred(net: Any, seed: int = 0) -> Any:
    """Weights, gains and shifts far from where they begin."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in net.parameters():
            tensor.add_(torch.randn(tensor.shape, generator=generator) * (0.3 if tensor.ndim == 1 else 0.2))
    return net


def random_rows(count: int, inputs: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, inputs)).astype(np.float32)


@pytest.mark.parametrize(
    ("inputs", "width", "layers", "outputs"), [(22, 128, 2, 8), (9, 64, 1, 4), (30, 50, 3, 17), (5, 1, 2, 1), (6, 9, 0, 5)]
)
@pytest.mark.parametrize("count", [0, 1, 20, 130])
def test_outputs_are_those_of_pytorch(inputs: int, width: int, layers: int, outputs: int, count: int) -> None:
    net = stirred(value_net(inputs, outputs, width=width, layers=layers, seed=1))
    assert layers_of(net) is not None
    rows, forward = random_rows(count, inputs), Forward(net)
    found, expected = forward(rows), by_torch(net, rows)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1.0, np.abs(expected).max(initial=0.0)))
    some = np.arange(0, count, 3)
    partly = forward(rows, some)
    assert np.array_equal(partly[some], found[some])
    assert not np.delete(partly, some, axis=0).any()


def fitted(net: Any) -> None:
    rows = Replay(np.zeros((0, 22), np.float32), np.zeros((0, 8), np.float32), room=9)
    rows.add((np.ones((4, 22), np.float32), np.ones((4, 8), np.float32)), 9)
    NetworkFitter(net, rows, ("inputs", "targets"), huber).step(np.random.default_rng(0), batch=4, rate=0.1, clip=5.0)


def stepped(net: Any) -> None:
    net(torch.ones(4, 22)).sum().backward()
    torch.optim.SGD(net.parameters(), lr=0.1).step()


def loaded(net: Any) -> None:
    net.load_state_dict(stirred(value_net(22, 8, width=32, layers=2, seed=5)).state_dict())


@pytest.mark.parametrize("change", [fitted, stepped, loaded, stirred])
def test_weights_that_changed_are_seen_at_once(change: Callable[[Any], object]) -> None:
    net, rows = stirred(value_net(22, 8, width=32, layers=2, seed=1)), random_rows(7, 22)
    forward = Forward(net)
    before = forward(rows)
    change(net)
    after = forward(rows)
    assert np.abs(after - before).max() > 1e-3
    np.testing.assert_allclose(after, by_torch(net, rows), rtol=0, atol=1e-5)


def test_a_search_sees_what_nobody_counted() -> None:
    leaf = NetworkLeaf(Encoding(public_tree(DICE)), stirred(networks_of(DICE)))
    first, second = subgames(), subgames()
    arrived = reached(first)
    before = leaf(first.leaves, arrived, arrived)
    for tensor in leaf.net.parameters():
        tensor.data.mul_(1.5)
    after = leaf(second.leaves, arrived, arrived)
    fresh = NetworkLeaf(leaf.encoding, leaf.net)(second.leaves, arrived, arrived)
    for player in (0, 1):
        assert np.abs(after[player] - before[player]).max() > 1e-3
        assert np.array_equal(after[player], fresh[player])


def test_leaf_values_are_those_of_the_network() -> None:
    """Row by row from beliefs, for both players and for one, whose leaves count where the other comes."""
    rules, batch = public_tree(DICE), subgames()
    leaf = NetworkLeaf(Encoding(rules), stirred(networks_of(DICE)))
    arrived = reached(batch)
    arrived[0][:4], arrived[1][7] = 0.0, 0.0
    both = leaf(batch.leaves, arrived, arrived)
    rows = leaf.encoding.prepared(batch.leaves).write(arrived).copy()
    expected = by_torch(leaf.net, rows).reshape(len(rows), 2, 3)
    for k, state in enumerate(batch.leaves.states):
        actor = rules.visit(state.node).player  # type: ignore[union-attr]
        for player in (0, 1):
            assert both[player][k] == pytest.approx(expected[k, 0 if player == actor else 1], abs=1e-5)
    for player in (0, 1):
        one = leaf(batch.leaves, arrived, arrived, player)
        met = arrived[1 - player].any(axis=1)
        assert 0 < met.sum() < len(met)
        assert np.array_equal(one[player][met], both[player][met])
        assert not one[player][~met].any()


def test_other_networks_go_through_pytorch() -> None:
    tanh = torch.nn.GELU(approximate="tanh")
    nets = [
        torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)),
        torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.LayerNorm(8), tanh, torch.nn.Linear(8, 3)),
        torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.LayerNorm(8, eps=0.1), torch.nn.GELU(), torch.nn.Linear(8, 3)),
        torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 3, bias=False)),
    ]
    rows = random_rows(6, 5)
    for net in nets:
        assert layers_of(net) is None
        assert np.array_equal(Forward(net)(rows), by_torch(net, rows))
        assert not Forward(net)(rows, np.array([1, 4]))[[0, 2, 3, 5]].any()


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="rows have 5 numbers, but the network has 6 inputs"):
        Forward(value_net(6, 2, width=8, layers=1, seed=0))(random_rows(3, 5))


def networks_of(spec: str) -> Any:
    encoding = Encoding(public_tree(spec))
    return value_net(encoding.inputs, encoding.outputs, width=24, layers=2, seed=3)


def subgames() -> Subgames:
    rules = public_tree(DICE)
    return cut_states(rules, [Belief.root(rules).state] * 2, Horizon(2))


def reached(batch: Subgames) -> tuple[np.ndarray, np.ndarray]:
    root = Belief.root(public_tree(DICE)).ranges
    search = SubgameSearch(batch, METHODS["cfr"], ZeroValues(), (np.tile(root[0], (2, 1)), np.tile(root[1], (2, 1))))
    return batch.leaves.reach_at(search.strategy)


class ZeroValues:
    def __call__(self, places: Any, believed: Any, reached: Any, player: int | None = None) -> Any:
        return np.zeros_like(believed[0]), np.zeros_like(believed[1])
