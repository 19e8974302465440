"""The four operations against the oracle, on random games of two and three players."""

import numpy as np
import pytest
from hypothesis import given

from tests import oracle
from tests.compiled_view import array_of, close_tables, sequence_names, table_of
from tests.random_games import SEEDS, STEADY, RandomGame, RandomPublicGame, games, public_games
from treeplex.engine.tree.form import Payoff, workspace
from treeplex.engine.tree.gradient import LANES, empty_sparse, gradient
from treeplex.engine.tree.sweeps import (
    backup,
    best_response,
    best_value,
    normalise,
    reach,
    value_and_best_response,
)
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.walk import compile_rules
from treeplex.games.registry import load

TOLERANCE = 1e-12


def strategy_of(game: CompiledGame, policy: oracle.Floats) -> oracle.Floats:
    strategy = np.full_like(policy, np.nan)
    for player in range(game.players):
        reach(game.tree, player, policy, strategy)
    return strategy


def prepared(rules: RandomGame, seed: int) -> tuple[CompiledGame, oracle.Node, dict, oracle.Floats]:
    root = oracle.grow(rules)
    policy = oracle.random_policy(root, np.random.default_rng(seed))
    game = compile_rules(rules)
    return game, root, policy, array_of(game, policy)


def own(table: oracle.Table, player: int) -> oracle.Table:
    return {key: values for key, values in table.items() if key[0] == player}


@STEADY
@given(games(), SEEDS)
def test_reach(rules: RandomGame, seed: int) -> None:
    game, root, policy, array = prepared(rules, seed)
    strategy = strategy_of(game, array)
    assert (strategy[game.tree.sequence_offsets[:-1]] == 1.0).all()
    for player in range(game.players):
        close_tables(own(table_of(game, strategy), player), oracle.realisation(root, policy, player))


@STEADY
@given(games(), SEEDS)
def test_sparse_gradient(rules: RandomGame, seed: int) -> None:
    game, root, policy, array = prepared(rules, seed)
    strategy = strategy_of(game, array)
    names = sequence_names(game)
    for player in range(game.players):
        values = np.full_like(strategy, np.nan)
        gradient(game.tree, game.payoff, player, strategy, values)
        expected = oracle.sequence_gradient(root, policy, player)
        start, end = game.tree.sequence_offsets[player : player + 2]
        assert {names[q] for q in range(start, end)} == set(expected)
        assert [values[q] for q in range(start, end)] == pytest.approx(
            [expected[names[q]] for q in range(start, end)], abs=TOLERANCE
        )
        assert np.isnan(np.delete(values, np.arange(start, end))).all()


@STEADY
@given(public_games(), SEEDS)
def test_dense_gradient(rules: RandomPublicGame, seed: int) -> None:
    game, root = compile_game(rules), oracle.grow(rules)
    assert game.payoff.sparse.values.size == 0
    policy = oracle.random_policy(root, np.random.default_rng(seed))
    strategy = strategy_of(game, array_of(game, policy))
    names = sequence_names(game)
    for player in (0, 1):
        values = np.full_like(strategy, np.nan)
        gradient(game.tree, game.payoff, player, strategy, values)
        expected = oracle.sequence_gradient(root, policy, player)
        start, end = game.tree.sequence_offsets[player : player + 2]
        assert [values[q] for q in range(start, end)] == pytest.approx(
            [expected[names[q]] for q in range(start, end)], abs=TOLERANCE
        )


def test_dense_groups_wider_than_a_pass() -> None:
    """Leduc poker has matrices that more than ``LANES`` terminals share, and remainders."""
    game = compile_game("leduc_poker")
    widths = game.payoff.dense.groups[:, 4] - game.payoff.dense.groups[:, 3]
    root = oracle.grow(load("leduc_poker"))
    policy = oracle.random_policy(root, np.random.default_rng(0))
    names = sequence_names(game)
    dense = game.payoff.dense
    shared = Payoff(empty_sparse(len(names), 2), dense)
    assert widths.max() > LANES or (widths % LANES != 0).any()
    for player in (0, 1):
        values = np.empty(len(names))
        gradient(game.tree, shared, player, strategy_of(game, array_of(game, policy)), values)
        expected = oracle.sequence_gradient(root, policy, player)
        start, end = game.tree.sequence_offsets[player : player + 2]
        np.testing.assert_allclose(values[start:end], [expected[names[q]] for q in range(start, end)], atol=TOLERANCE)


@STEADY
@given(games(), SEEDS)
def test_backup(rules: RandomGame, seed: int) -> None:
    game, root, policy, array = prepared(rules, seed)
    strategy = strategy_of(game, array)
    values, infoset_values, _ = workspace(game.tree)
    for player in range(game.players):
        gradient(game.tree, game.payoff, player, strategy, values)
        value = backup(game.tree, player, array, values, infoset_values)
        assert value == pytest.approx(oracle.expected_values(root, policy)[player], abs=TOLERANCE)
        expected = oracle.counterfactual_values(root, policy, player)
        close_tables(own(table_of(game, values), player), expected)
        for key, found in expected.items():
            assert infoset_values[game.lookup[key]] == pytest.approx(found @ list(policy[key].values()), abs=TOLERANCE)


@STEADY
@given(games(), SEEDS)
def test_best_value_and_best_response(rules: RandomGame, seed: int) -> None:
    game, root, policy, array = prepared(rules, seed)
    strategy = strategy_of(game, array)
    values, infoset_values, _ = workspace(game.tree)
    for player in range(game.players):
        expected, pure = oracle.best_response(root, policy, player)
        gradient(game.tree, game.payoff, player, strategy, values)
        assert best_value(game.tree, player, values.copy(), infoset_values) == pytest.approx(expected, abs=TOLERANCE)
        found = array.copy()
        assert best_response(game.tree, player, values, infoset_values, found) == pytest.approx(expected, abs=TOLERANCE)
        close_tables(own(table_of(game, found), player), {key: np.array(list(at.values())) for key, at in pure.items()})
        others = np.delete(found, np.arange(*game.tree.sequence_offsets[player : player + 2]))
        assert (others == np.delete(array, np.arange(*game.tree.sequence_offsets[player : player + 2]))).all()


def test_of_equal_actions_the_first_is_played() -> None:
    game = compile_game("matrix(rows=[[1,1],[1,1],[1,1]])")
    values, infoset_values, _ = workspace(game.tree)
    policy = np.full(len(values), 0.5)
    for player in (0, 1):
        gradient(game.tree, game.payoff, player, np.ones_like(policy), values)
        best_response(game.tree, player, values, infoset_values, policy)
        assert policy[game.sequences_at(player)].tolist() == [1.0] + [0.0] * (2 - player)


@STEADY
@given(games(), SEEDS)
def test_value_and_best_response(rules: RandomGame, seed: int) -> None:
    game, root, policy, array = prepared(rules, seed)
    found = np.empty((2, game.players))
    value_and_best_response(game.tree, game.payoff, array, np.empty_like(array), *workspace(game.tree)[:2], found)
    assert found[0] == pytest.approx(oracle.expected_values(root, policy), abs=TOLERANCE)
    assert found[1] == pytest.approx([oracle.best_response(root, policy, p)[0] for p in range(game.players)], abs=TOLERANCE)


@STEADY
@given(games(), SEEDS)
def test_normalise(rules: RandomGame, seed: int) -> None:
    game = compile_rules(rules)
    generator = np.random.default_rng(seed)
    weights = generator.random(len(game.action_ids)) * (generator.random(len(game.action_ids)) < 0.6)
    policy = np.full_like(weights, np.nan)
    for player in range(game.players):
        normalise(game.tree, player, weights, policy)
    actions = {key: tuple(game.actions_at(infoset)) for key, infoset in game.lookup.items()}
    expected = oracle.behaviour(table_of(game, weights), actions)
    close_tables(table_of(game, policy), {key: np.array(list(at.values())) for key, at in expected.items()})
    assert (policy[game.tree.sequence_offsets[:-1]] == 1.0).all()
