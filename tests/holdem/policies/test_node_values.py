"""Values of a strategy node by node, against loops over pairs of hands and against the judge."""

import numpy as np
import pytest

from tests.poker_games import SPOTS
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import StreetEnd
from treeplex.holdem.cards.evaluator import strengths
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.policies.node_values import HoldemValues, ratio
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import holdem


def solved(spot, iterations=4, **options):
    game = compile_spot(spot)
    solver = HoldemSolver(game, threads=1, **options)
    solver.run(iterations)
    return game, solver


def compatible_pairs(cards, other):
    return np.array([[not set(map(int, one)) & set(map(int, two)) for two in other] for one in cards])


@pytest.mark.parametrize("name", ["leduc", "three streets", "river, raked", "turn"])
@pytest.mark.parametrize("storage", ["float64", "int16"])
def test_root_values_are_those_of_the_judge(name, storage):
    game, solver = solved(SPOTS[name], storage=storage)
    judged = judge_spot(game, solver.store.average, solver.store, judging_crew(game, 1))
    values = HoldemValues(game, solver.store.average, solver.store.average_scales)
    reach = values.root_reach()
    tree = values.tree(0, 0, 0, reach)
    for player in (0, 1):
        assert reach[player] @ tree.values[0][player] / game.compatible == pytest.approx(judged.value[player], abs=1e-7)


@pytest.mark.parametrize("name", ["one card", "turn"])
def test_compatible_reach(name):
    game, solver = solved(SPOTS[name], 1)
    values, random = HoldemValues(game, solver.store.average), np.random.default_rng(0)
    cards = [game.spot.format.hands[board] for board in game.boards[0][0].hands]
    for player in (0, 1):
        reach = random.random((3, len(cards[1 - player])))
        expected = compatible_pairs(cards[player], cards[1 - player]) @ reach.T
        assert values.compatible(0, player, reach) == pytest.approx(expected)
        assert values.compatible(0, player, reach[0]) == pytest.approx(expected[:, 0])


def test_rounding_leaves_no_compatible_reach_where_there_is_none():
    spot = holdem("7c7d7h2c2d", "AsAh", "AsKs,AhKh,AsQs,AhQh,AsJs,AhJh,QQ", pot=10, stack=10, bets=BetPlan.same("a", "a"))
    game, solver = solved(spot, 1)
    values, random = HoldemValues(game, solver.store.average), np.random.default_rng(0)
    aces = (spot.format.hands[game.boards[0][0].hands[1]] // 4 == 12).any(axis=1)
    for _ in range(10):
        assert values.compatible(0, 0, random.random(len(aces)) * aces).tolist() == [0.0]
    assert np.isnan(ratio(np.array([1.0]), np.array([0.0]))).all()


def test_equity_over_all_rivers():
    spot = holdem("AhKd7c7s", "AA:0.5,QJs,76s", "KK,A7s,65s:0.25", pot=10, stack=10, bets=BetPlan.same("a", "a"))
    game, solver = solved(spot, 1)
    values = HoldemValues(game, solver.store.average)
    reach, hands = values.root_reach(), game.boards[0][0].hands
    cards = [spot.format.hands[each] for each in hands]
    won = np.zeros((len(hands[0]), len(hands[1])))
    deals = np.zeros_like(won)
    for river in set(spot.format.deck) - set(spot.board):
        strength = [strengths((*spot.board, river), each).astype(int) for each in cards]
        there = (strength[0][:, None] >= 0) & (strength[1] >= 0)
        difference = strength[0][:, None] - strength[1]
        won += there * (0.5 + 0.5 * np.sign(difference))
        deals += there
    pairs = compatible_pairs(*cards)
    share = np.where(pairs, won / deals, 0.0)
    expected = share @ reach[1] / (pairs @ reach[1]), 1 - reach[0] @ np.where(pairs, share, 0) / (reach[0] @ pairs)
    found = values.equity(0, 0, reach)
    assert found[0] == pytest.approx(expected[0])
    assert found[1] == pytest.approx(expected[1])


def test_trees_are_kept_and_let_go(monkeypatch):
    game, solver = solved(SPOTS["leduc"])
    values = HoldemValues(game, solver.store.average)
    first = values.tree(0, 0, 0, values.root_reach())
    assert values.tree(0, 0, 0, values.root_reach()) is first
    monkeypatch.setattr("treeplex.holdem.policies.node_values.MOST_TREES", 1)
    root = game.forests[1].roots[0]
    end = next(number for number, node in enumerate(game.betting.nodes) if isinstance(node, StreetEnd) and node.child == root)
    values.tree(1, 0, root, values.below(1, 0, first.reach[end]))
    assert values.tree(0, 0, 0, values.root_reach()) is not first
