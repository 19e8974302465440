"""Reduced plans, and strategies as mixtures of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given

from tests import oracle
from tests.compiled_view import array_of
from tests.random_games import SEEDS, STEADY, RandomGame, games
from treeplex.engine.plans.plans import read_plan
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.correlation.device import Device
from treeplex.forms.correlation.plans import all_plans, count_plans, last_sequences, plans_of, written


def strategies_of(game: CompiledGame, probabilities: np.ndarray) -> np.ndarray:
    """The sequence forms of a behaviour policy [Q]."""
    strategy = np.empty(len(probabilities))
    for player in range(game.players):
        reach(game.tree, player, probabilities, strategy)
    return strategy


def realisation(game: CompiledGame, player: int, plans: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What a mixture of a player's plans plays, from the plans alone, float64 [Q_i]."""
    first, i0 = int(game.tree.sequence_offsets[player]), int(game.tree.infoset_offsets[player])
    total = np.zeros(game.sequences[player])
    for plan, weight in zip(plans, weights, strict=True):
        total[0] += weight
        for local, action in enumerate(plan):
            if action >= 0:
                total[game.sequences_at(i0 + local)[action] - first] += weight
    return total


@pytest.mark.slow
@given(games((2, 3)), SEEDS)
@STEADY
def test_the_mixture_plays_as_the_strategy(rules: RandomGame, seed: int) -> None:
    game, root = compile_rules(rules), oracle.grow(rules)
    strategy = strategies_of(game, array_of(game, oracle.random_policy(root, np.random.default_rng(seed))))
    for player in range(game.players):
        plans, weights = plans_of(game, player, strategy)
        own = strategy[game.tree.sequence_offsets[player] : game.tree.sequence_offsets[player + 1]]
        np.testing.assert_allclose(realisation(game, player, plans, weights), own, rtol=0, atol=1e-14)
        assert len(plans) <= len(last_sequences(game, player))
        assert len(np.unique(plans, axis=0)) == len(plans) if game.infosets[player] else len(plans) == 1
        assert weights.min() > 0.0
        assert abs(weights.sum() - 1.0) < 1e-12


@pytest.mark.quick_cases("kuhn_poker(players=3)")
@pytest.mark.parametrize("name", ["kuhn_poker(players=3)", "leduc_poker", "goofspiel(num_cards=4,imp_info=true)"])
def test_larger_games(name: str) -> None:
    """Leduc has 1,176 last sequences a player; rounding does not add up."""
    game = compile_game(name)
    generator = np.random.default_rng(1)
    for share in (1.0, 1e-3):
        weights = np.where(generator.random(int(game.tree.sequence_offsets[-1])) < 0.3, share, generator.random())
        inner = game.tree.sequence_infoset >= 0
        totals = np.bincount(game.tree.sequence_infoset[inner], weights=weights[inner])
        weights[inner] /= totals[game.tree.sequence_infoset[inner]]
        strategy = strategies_of(game, weights)
        for player in range(game.players):
            plans, parts = plans_of(game, player, strategy)
            own = strategy[game.tree.sequence_offsets[player] : game.tree.sequence_offsets[player + 1]]
            np.testing.assert_allclose(realisation(game, player, plans, parts), own, rtol=0, atol=2e-13)
            assert len(plans) <= len(last_sequences(game, player))


def test_a_pure_strategy_is_one_plan() -> None:
    game = compile_game("leduc_poker")
    generator = np.random.default_rng(5)
    probabilities = np.zeros(int(game.tree.sequence_offsets[-1]))
    for infoset in range(len(game.infostates)):
        probabilities[generator.choice(game.sequences_at(infoset))] = 1.0
    strategy = strategies_of(game, probabilities)
    for player in range(2):
        plans, weights = plans_of(game, player, strategy)
        assert weights.tolist() == [1.0]
        plan = np.empty(game.infosets[player], np.int32)
        read_plan(game.tree, player, strategy, plan)
        np.testing.assert_array_equal(plans[0], plan)


@pytest.mark.slow
@given(games((2, 3)))
@STEADY
def test_all_plans_are_the_reduced_pure_strategies(rules: RandomGame) -> None:
    """Of all pure strategies, the different ones where what a strategy excludes itself does not count."""
    game = compile_rules(rules)
    for player in range(game.players):
        first, i0 = int(game.tree.sequence_offsets[player]), int(game.tree.infoset_offsets[player])
        rows = range(game.infosets[player])
        sizes = [len(game.sequences_at(i0 + local)) for local in rows]
        if np.prod(sizes, dtype=float) > 5000:
            continue
        expected = set()
        for choice in product(*map(range, sizes)):
            played, plan = {first}, []
            for local in rows:
                there = int(game.tree.infoset_parent[i0 + local]) in played
                plan.append(choice[local] if there else -1)
                if there:
                    played.add(int(game.sequences_at(i0 + local)[choice[local]]))
            expected.add(tuple(plan))
        found = all_plans(game, player)
        assert [tuple(plan) for plan in found.tolist()] == sorted(expected, key=lambda plan: [*plan])
        assert count_plans(game, player) == len(expected)


def test_counts_by_hand() -> None:
    """Kuhn: bet, or pass and then one of two, for each of 3 cards; the other player answers a pass and a bet, 4 ways a card."""
    game = compile_game("kuhn_poker")
    assert [count_plans(game, player) for player in range(2)] == [3**3, 4**3]
    everything = tuple(all_plans(game, player) for player in range(2))
    support = np.indices((27, 64)).reshape(2, -1).T
    assert len(Device(game, everything, support, np.full(27 * 64, 1 / (27 * 64)))) == 27 * 64


def test_too_many_plans() -> None:
    with pytest.raises(
        AlgorithmError, match=r"player 1 of kuhn_poker has 64 reduced plans, more than 50; choose a smaller game"
    ):
        all_plans(compile_game("kuhn_poker"), 1, most=50)


def test_counts_of_any_length_can_be_written() -> None:
    assert written(8000) == "8,000"
    assert written(3**30000) == "about 10^14313"
