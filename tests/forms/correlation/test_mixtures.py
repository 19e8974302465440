"""Mixtures of products written as devices."""

import numpy as np
import pytest
from hypothesis import given

from tests import oracle
from tests.compiled_view import array_of
from tests.forms.correlation.test_plans import strategies_of
from tests.random_games import SEEDS, STEADY, RandomGame, games
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.correlation import mixtures
from treeplex.forms.correlation.mixtures import mixture_device, sampled_device
from treeplex.forms.policies.tabular import uniform_probabilities


def random_mixture(rules: RandomGame, game: CompiledGame, seed: int, count: int) -> tuple[list, np.ndarray, np.ndarray]:
    """Policies by name, their sequence forms [K, Q] and shares [K]."""
    generator, root = np.random.default_rng(seed), oracle.grow(rules)
    policies = [oracle.random_policy(root, generator) for _ in range(count)]
    shares = generator.random(count) + 0.1
    return policies, np.stack([strategies_of(game, array_of(game, policy)) for policy in policies]), shares / shares.sum()


@pytest.mark.slow
@pytest.mark.parametrize("pool", [mixtures.POOL, 3])
@given(games((2, 3)), SEEDS)
@STEADY
def test_the_device_pays_what_the_mixture_pays(pool: int, rules: RandomGame, seed: int) -> None:
    """Against whatever single player leaves: expected payoffs of every player, with each player's part replaced in turn."""
    game, root = compile_rules(rules), oracle.grow(rules)
    policies, strategies, shares = random_mixture(rules, game, seed, 4)
    usual, mixtures.POOL = mixtures.POOL, pool
    try:
        device = mixture_device(game, strategies, shares)
    finally:
        mixtures.POOL = usual
    expected = sum(share * oracle.expected_values(root, policy) for share, policy in zip(shares, policies, strict=True))
    np.testing.assert_allclose(device.payoffs, expected * np.ones(game.players), atol=1e-12)
    other = oracle.random_policy(root, np.random.default_rng(seed + 1))
    alone = strategies_of(game, array_of(game, other))
    for player in range(game.players):
        left = [{key: (other if key[0] == player else policy)[key] for key in policy} for policy in policies]
        expected = sum(share * oracle.expected_values(root, policy) for share, policy in zip(shares, left, strict=True))
        own = slice(*(int(q) for q in game.tree.sequence_offsets[player : player + 2]))
        found = alone[own] @ device.gradients[own]
        np.testing.assert_allclose(found, (expected * np.ones(game.players))[player], atol=1e-12)


def test_drawn_devices_approach_the_mixture() -> None:
    """The error of 50,000 draws is below five standard errors; Kuhn's payoffs are at most 2."""
    game = compile_game("kuhn_poker")
    strategies = strategies_of(game, uniform_probabilities(game))[None, :]
    whole = mixture_device(game, strategies, np.ones(1))
    drawn = sampled_device(game, strategies, np.ones(1), 50_000, seed=4)
    assert abs(drawn.payoffs - whole.payoffs).max() < 5 * 2 / np.sqrt(50_000)
    assert abs(drawn.gradients - whole.gradients).max() < 5 * 2 / np.sqrt(50_000)
    again = sampled_device(game, strategies, np.ones(1), 50_000, seed=4)
    assert np.array_equal(again.weights, drawn.weights)
    assert not np.array_equal(sampled_device(game, strategies, np.ones(1), 50_000, seed=5).weights, drawn.weights)


def test_products_are_drawn_in_proportion() -> None:
    game = compile_game("matrix(rows=[[0,7],[2,6]],second=[[0,2],[7,6]])")
    strategies = np.array([[1.0, 1, 0, 1, 1, 0], [1, 0, 1, 1, 0, 1]])
    device = sampled_device(game, strategies, np.array([0.25, 0.75]), 100, seed=0)
    assert device.support.tolist() == [[0, 0], [1, 1]]
    np.testing.assert_allclose(device.weights, [0.25, 0.75])


def test_too_many_joint_plans() -> None:
    game = compile_game("kuhn_poker")
    strategies = strategies_of(game, uniform_probabilities(game))[None, :]
    with pytest.raises(AlgorithmError, match=r"needs more than 5 joint plans; store fewer iterations, or sample joint plans"):
        mixture_device(game, strategies, np.ones(1), most=5)
    with pytest.raises(SpecError, match="at least 1 sampled joint plan, not 0"):
        sampled_device(game, strategies, np.ones(1), 0, seed=0)
