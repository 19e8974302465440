"""Correlation devices: what they refuse, what they pay, how they are drawn from."""

import numpy as np
import pytest
from hypothesis import given

from tests.mediator import mediator_of, random_device
from tests.random_games import SEEDS, STEADY, RandomGame, games
from treeplex.errors import PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.correlation.device import Device

CHICKEN = "matrix(rows=[[0,7],[2,6]],second=[[0,2],[7,6]])"
GAME = compile_game(CHICKEN)
KUHN = compile_game("kuhn_poker")
BOTH = (np.array([[0], [1]]), np.array([[0], [1]]))


def chicken(weights: tuple[float, ...] = (0.5, 0.25, 0.25)) -> Device:
    return Device(GAME, BOTH, np.array([[1, 1], [1, 0], [0, 1]]), np.array(weights))


def test_chicken() -> None:
    """Aumann's device: both give way half of the time, one dares in the other half."""
    device = chicken()
    assert device.payoffs.tolist() == [5.25, 5.25]
    assert device.welfare == 10.5
    assert device.shares(0).tolist() == [0.25, 0.75]
    assert device.policy().probabilities.tolist() == [1, 0.25, 0.75, 1, 0.25, 0.75]
    assert device.gradients.tolist() == [0.0, 0.75 * 7, 0.25 * 2 + 0.75 * 6] * 2
    assert device.actions(0, 1) == {GAME.infostates[0]: 1}
    assert len(device) == 3


@given(games((2, 3)), SEEDS)
@STEADY
def test_payoffs_against_the_oracle(rules: RandomGame, seed: int) -> None:
    game = compile_rules(rules)
    device = random_device(game, np.random.default_rng(seed), 5)
    expected = mediator_of(rules, device).expected()
    np.testing.assert_allclose(device.payoffs, expected, atol=1e-12)
    slim = device.merged()
    np.testing.assert_allclose(slim.payoffs, expected, atol=1e-12)
    np.testing.assert_allclose(slim.average_strategy(), device.average_strategy(), atol=1e-12)
    assert slim.weights.min() > 0.0
    assert all(len(np.unique(table, axis=0)) == len(table) for table in slim.plans if table.shape[1])
    assert len(np.unique(slim.support, axis=0)) == len(slim)
    assert np.array_equal(slim.merged().support, slim.support)


def test_merged_by_hand() -> None:
    plans = (np.array([[1], [0], [1]]), np.array([[0], [1]]))
    device = Device(GAME, plans, np.array([[0, 0], [2, 0], [1, 0], [1, 1]]), np.array([0.25, 0.25, 0.5, 0.0])).merged()
    assert [table.tolist() for table in device.plans] == [[[0], [1]], [[0]]]
    assert device.support.tolist() == [[0, 0], [1, 0]]
    assert device.weights.tolist() == [0.5, 0.5]


def test_sampling() -> None:
    device = chicken()
    drawn = device.sample(np.random.default_rng(3), 40_000)
    assert drawn.shape == (40_000, 2)
    for row, weight in zip(device.support, device.weights, strict=True):
        assert abs((drawn == row).all(axis=1).mean() - weight) < 4 * 0.5 / 200
    np.testing.assert_array_equal(device.sample(np.random.default_rng(3), 5), drawn[:5])
    assert device.sample(np.random.default_rng(0)).shape == (2,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"plans": BOTH[:1]}, "has 2 players, but the device has plans for 1"),
        ({"plans": (np.zeros((2, 2)), BOTH[1])}, "plans of player 0 of .* have 1 columns"),
        ({"plans": (np.array([[0], [2]]), BOTH[1])}, "plan 1 of player 0 is not a reduced plan: it has 2"),
        ({"plans": (np.array([[0], [-1]]), BOTH[1])}, "plan 1 of player 0 is not a reduced plan: it has -1"),
        ({"support": np.zeros((3, 3))}, r"a support of shape \[S, 2\]"),
        ({"support": np.array([[0, 0], [0, 2], [1, 1]])}, "joint plan 1 refers to plan 2 of player 1, who has 2 plans"),
        ({"support": np.array([[0, 0], [0, 1], [-1, 1]])}, "joint plan 2 refers to plan -1 of player 0"),
        ({"weights": np.array([0.5, 0.6, 0.1])}, "sum to 1; these sum to 1.2"),
        ({"weights": np.array([0.5, 0.6, -0.1])}, "smallest is -0.1"),
        ({"weights": np.array([0.5, 0.5, np.nan])}, "sum to nan"),
        ({"support": np.empty((0, 2)), "weights": np.empty(0)}, "S >= 1 weights"),
        ({"support": np.array([[1, 1], [1, 0.5], [0, 1]])}, r"must be integers, not 0\.5"),
        ({"plans": (BOTH[0] + 0.9, BOTH[1])}, r"must be integers, not 0\.9"),
        ({"plans": (np.where(BOTH[0] == 0, np.nan, BOTH[0]), BOTH[1])}, "must be integers, not nan"),
        ({"plans": (BOTH[0].astype(np.int64) + 2**32, BOTH[1])}, "must be integers, not 4294967296"),
    ],
)
def test_what_is_no_device(change: dict, message: str) -> None:
    parts = {"plans": BOTH, "support": np.array([[1, 1], [1, 0], [0, 1]]), "weights": np.full(3, 1 / 3), **change}
    with pytest.raises(PolicyError, match=message):
        Device(GAME, **parts)


def test_a_plan_says_nothing_about_what_it_excludes() -> None:
    """In Kuhn player 0 who bets is not asked again."""
    asked = [infoset for infoset in range(KUHN.infosets[0]) if KUHN.tree.infoset_parent[infoset] != 0]
    plan = np.ones((1, KUHN.infosets[0]), np.int32)
    other = (np.zeros((1, KUHN.infosets[1]), np.int32),)
    place = KUHN.infostates[asked[0]]
    with pytest.raises(PolicyError, match=f"it has 1 at infostate '{place}'; give an action number .*-1 elsewhere"):
        Device(KUHN, (plan, *other), np.zeros((1, 2)), np.ones(1))
    plan[0, asked] = -1
    assert Device(KUHN, (plan, *other), np.zeros((1, 2)), np.ones(1)).payoffs.sum() == 0.0
