"""Lambda-returns against their definition, decision by decision."""

import numpy as np
import pytest

from treeplex.engine.histories.returns import lambda_returns


@pytest.mark.parametrize("smoothing", [0.0, 0.7, 1.0])
def test_returns_are_sums_of_discounted_differences(smoothing: float) -> None:
    """Each is V plus the sum of lambda^k times the k-th temporal difference (Schulman et al. 2016, equation 16)."""
    generator = np.random.default_rng(5)
    lengths = [3, 1, 6, 4]
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    player = generator.integers(0, 3, first[-1]).astype(np.int32)
    payoffs = generator.normal(size=(len(lengths), 3))
    values, costs = generator.normal(size=(2, first[-1]))
    found = lambda_returns(first, player, payoffs, values, costs, smoothing)
    for episode in range(len(lengths)):
        inside = np.arange(first[episode], first[episode + 1])
        for who in range(3):
            own = [d for d in inside if player[d] == who]
            surprises = []
            for here, then in zip(own, [*own, None][1:], strict=True):
                got = costs[[d for d in inside if here < d and (then is None or d < then)]].sum()
                after = payoffs[episode, who] if then is None else values[then]
                surprises.append(got + after - costs[here] - values[here])
            for k, decision in enumerate(own):
                advantage = sum(smoothing**j * surprise for j, surprise in enumerate(surprises[k:]))
                assert found[decision] - costs[decision] - values[decision] == pytest.approx(advantage, abs=1e-12)


def test_with_lambda_one_and_no_costs_they_are_payoffs() -> None:
    """Whatever the values."""
    payoffs = np.array([[3.0, -3.0]])
    player = np.array([0, 1, 0], np.int32)
    found = lambda_returns(np.array([0, 3]), player, payoffs, np.array([9.0, 8.0, 7.0]), np.zeros(3), 1.0)
    assert found.tolist() == [3.0, -3.0, 3.0]
