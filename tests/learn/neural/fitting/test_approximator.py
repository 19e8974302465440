"""Networks and tables that are fitted to rows, and the buffers of rows."""

import numpy as np
import pytest

from treeplex.errors import AlgorithmError
from treeplex.learn.neural.fitting import buffers
from treeplex.learn.neural.fitting.approximator import POLICY, GameInputs, Network, NetworkSettings, TableApproximator
from treeplex.learn.neural.fitting.buffers import Reservoir, Rows
from treeplex.learn.neural.fitting.descent import Descent

torch = pytest.importorskip("torch")

LEGAL = np.array([[True, True, False], [True, True, True], [True, False, False]])
INPUTS = GameInputs(np.eye(3, dtype=np.float32), LEGAL, np.array([0, 2, 0, 1, 2, 1]))
ROWS = Rows(
    np.array([0, 1, 0, 1], np.int32),
    np.array([[1, 2, 9], [3, 4, 5], [2, 6, 9], [0, 0, np.nan]], np.float32),
    np.array([1, 1, 3, 2], np.float32),
)
MEANS = [1.75, 5.0, 1.0, 4 / 3, 5.0]


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_table_has_the_weighted_means_and_keeps_what_has_no_rows() -> None:
    table = TableApproximator(INPUTS)
    table.restore({"values": np.full(6, 7.0)})
    loss = table.fit(ROWS, 1, generator())
    np.testing.assert_allclose(table.values()[LEGAL], [*MEANS, 7.0])
    errors = 0.75 + 12.0 + 6.0 + 32 / 3
    assert loss == pytest.approx(errors / (4 + 4 + 3 + 3 + 1))


@pytest.mark.parametrize("batch", [2048, 1])
def test_a_network_comes_to_the_weighted_means(batch: int) -> None:
    network = Network(INPUTS, NetworkSettings(width=16, layers=2, batch=batch, rate=0.01 if batch > 1 else 0.003), generator())
    network.fit(ROWS, 700, generator())
    np.testing.assert_allclose(network.values()[LEGAL][:5], MEANS, atol=0.02)


def test_its_gradient_is_that_of_the_rows_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows put together by place have the gradient of the sum over rows that one would write down."""
    network = Network(INPUTS, NetworkSettings(width=8, layers=1, clip=1e9), generator())
    rows = ROWS._replace(values=np.nan_to_num(ROWS.values))
    found = network.module(torch.from_numpy(INPUTS.features[rows.places]))
    loss = torch.zeros(())
    for row, (place, values, weight) in enumerate(zip(*rows, strict=True)):
        for a in np.flatnonzero(LEGAL[place]):
            output = INPUTS.output_of[place, a]
            loss = loss + float(weight) * (found[row, output] - float(values[a])) ** 2
    (loss / 7.0).backward()  # the sum of all weights
    wanted = [parameter.grad.clone() for parameter in network.module.parameters()]
    steps = list[np.ndarray]()
    monkeypatch.setattr(Descent, "_adam", lambda self, *_: steps.append(self.gradient.copy()))
    network.fit(rows, 1, generator())
    np.testing.assert_allclose(steps[0], np.concatenate([each.numpy().ravel() for each in wanted]), atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("kind", ["values", "policy"])
def test_steps_are_those_of_pytorch(kind: str) -> None:
    """Ten steps written out, in two calls, against autograd, clipped gradients and PyTorch's Adam."""
    settings = NetworkSettings(width=8, layers=2, clip=0.5, rate=0.01)
    ours, theirs = (Network(INPUTS, settings, generator(), kind) for _ in range(2))
    shares = np.array([[0.3, 0.7, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], np.float32)
    rows = Rows(np.arange(3, dtype=np.int32), shares, np.array([1, 2, 3], np.float32))
    for _ in range(2):
        ours.fit(rows, 5, generator())
    legal, weights = torch.from_numpy(INPUTS.legal_outputs), torch.tensor([1 / 6, 2 / 6, 3 / 6])
    wanted = torch.from_numpy(INPUTS.spread(shares.astype(np.float64)))
    for _ in range(10):
        found = theirs.module(torch.from_numpy(INPUTS.features))
        if kind == "policy":
            logs = found.masked_fill(~legal, -torch.inf).log_softmax(dim=1).masked_fill(~legal, 0.0)
            loss = -weights @ (wanted * logs).sum(dim=1)
        else:
            loss = weights @ (legal * (found - wanted).square()).sum(dim=1)
        theirs.optimizer.zero_grad()
        loss.backward()
        theirs.clip_and_step()
    np.testing.assert_allclose(ours.values(), theirs.values(), atol=2e-5)
    for name, array in theirs.state().items():
        np.testing.assert_allclose(ours.state()[name], array, atol=1e-4, rtol=1e-2)


def test_a_policy_network_gives_distributions_and_comes_to_the_mean_policy() -> None:
    rows = Rows(ROWS.places, np.array([[1, 0, 9], [0.2, 0.8, 0], [0, 1, 9], [0, 0, 1]], np.float32), ROWS.weights)
    network = Network(INPUTS, NetworkSettings(width=16, layers=1, rate=0.01), generator(), POLICY)
    np.testing.assert_allclose(network.values().sum(axis=1), 1.0, atol=1e-6)
    network.fit(rows, 1500, generator())
    np.testing.assert_allclose(network.values()[LEGAL], [0.25, 0.75, 0.2 / 3, 0.8 / 3, 2 / 3, 1.0], atol=0.01)


def test_a_network_goes_on_bit_for_bit() -> None:
    settings = NetworkSettings(width=8, layers=1, batch=2)
    one, other = Network(INPUTS, settings, generator()), Network(INPUTS, settings, np.random.default_rng(1))
    one.fit(ROWS, 5, generator())
    other.restore(one.state())
    for network in (one, other):
        network.fit(ROWS, 5, np.random.default_rng(2))
    np.testing.assert_array_equal(one.values(), other.values())


def test_a_loss_that_is_no_number_is_an_error() -> None:
    bad = ROWS._replace(values=np.full((4, 3), np.inf, np.float32))
    with pytest.raises(AlgorithmError, match="the loss is"):
        Network(INPUTS, NetworkSettings(width=4, layers=1), generator()).fit(bad, 2, generator())


def test_a_reservoir_is_a_uniform_sample() -> None:
    counts, draws = np.zeros(60), np.random.default_rng(3)
    for _ in range(2000):
        reservoir = Reservoir(20, 1)
        for start in range(0, 60, 15):
            places = np.arange(start, start + 15, dtype=np.int32)
            reservoir.add(Rows(places, np.ones((15, 1), np.float32), np.ones(15, np.float32)), draws)
        assert (len(reservoir), reservoir.seen) == (20, 60)
        counts[reservoir.rows.places] += 1
    np.testing.assert_allclose(counts / 2000, 1 / 3, atol=0.05)


def test_a_reservoir_goes_on_where_it_was() -> None:
    rows = Rows(np.arange(30, dtype=np.int32), np.ones((30, 2), np.float32), np.ones(30, np.float32))
    one, other = Reservoir(20, 2), Reservoir(20, 2)
    one.add(rows, generator())
    other.restore(one.state())
    for reservoir in (one, other):
        reservoir.add(rows, np.random.default_rng(4))
    np.testing.assert_array_equal(one.rows.places, other.rows.places)
    with pytest.raises(ValueError, match="cannot have shape"):
        Reservoir(20, 3).restore(one.state())


def test_a_reservoir_larger_than_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "available_memory", lambda: 1_000_000)
    with pytest.raises(AlgorithmError, match=r"100,000 rows needs 2 MB, but 1 MB are free; .*--set memory=12500"):
        Reservoir(100_000, 3)
