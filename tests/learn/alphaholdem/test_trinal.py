"""Trinal-clip PPO against cases worked out by hand, and advantages against their definition."""

import numpy as np
import pytest

from treeplex.learn.alphaholdem.trinal import policy_loss, traced_advantages, value_loss

torch = pytest.importorskip("torch")

CASES = [  # ratio, advantage, loss, gradient by the ratio; clip 0.2, third bound 3
    (1.0, 2.0, -2.0, -2.0),
    (1.5, 2.0, -2.4, 0.0),  # 1.2 * 2: no more to earn
    (0.5, 2.0, -1.0, -2.0),  # not bounded from below
    (0.5, -2.0, 1.6, 0.0),  # 0.8 * 2
    (1.5, -2.0, 3.0, 2.0),  # PPO goes on pushing back
    (10.0, -2.0, 6.0, 0.0),  # 3 * 2: the third bound
]


@pytest.mark.parametrize(("ratio", "advantage", "loss", "gradient"), CASES)
def test_one_decision(ratio: float, advantage: float, loss: float, gradient: float) -> None:
    ratios = torch.tensor([ratio], requires_grad=True)
    found = policy_loss(ratios, torch.tensor([advantage]), clip=0.2, most=3.0)
    found.backward()
    assert float(found.detach()) == pytest.approx(loss)
    assert ratios.grad.tolist() == pytest.approx([gradient])


def test_the_loss_is_a_mean() -> None:
    ratios, advantages = (torch.tensor([case[number] for case in CASES]) for number in (0, 1))
    assert float(policy_loss(ratios, advantages, clip=0.2, most=3.0)) == pytest.approx(np.mean([case[2] for case in CASES]))


def test_returns_are_bounded_by_the_chips_of_the_hand() -> None:
    values = torch.tensor([0.5, -1.0, 0.0], requires_grad=True)
    returns, lost, won = torch.tensor([9.0, -9.0, 0.25]), torch.tensor([1.0, 2.0, 1.0]), torch.tensor([3.0, 1.0, 1.0])
    loss = value_loss(values, returns, lost, won)
    loss.backward()
    assert float(loss.detach()) == pytest.approx((2.5**2 + 1.0 + 0.25**2) / 3)
    assert values.grad.tolist() == pytest.approx([2 * -2.5 / 3, 2 * 1.0 / 3, 2 * -0.25 / 3])


def test_advantages_are_sums_of_discounted_errors() -> None:
    values, payoff, discount, trace = np.array([0.5, -0.2, 0.3, 0.1]), 2.0, 0.9, 0.7
    after = np.append(values[1:] * discount, payoff)
    errors = after - values
    expected = [sum((discount * trace) ** k * errors[t + k] for k in range(4 - t)) for t in range(4)]
    np.testing.assert_allclose(traced_advantages(values, payoff, discount, trace), expected)
    one_step, to_the_end = (traced_advantages(values, payoff, 1.0, each) for each in (0.0, 1.0))
    np.testing.assert_allclose(one_step, np.append(values[1:], payoff) - values)
    np.testing.assert_allclose(to_the_end, payoff - values)
