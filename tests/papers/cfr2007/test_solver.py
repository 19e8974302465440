import numpy as np
import pytest

import treeplex as tp
from papers.cfr2007.deals import draw_pairs
from papers.cfr2007.game import LimitGame
from papers.cfr2007.solver import BATCH, LimitCFR, LimitSweeps
from papers.cfr2007.strategy import strategy_of
from papers.cfr2007.walks import judge_limit
from tests.limit_games import SlowWalk, random_game
from treeplex.errors import AlgorithmError

ROYAL = "bucketed_holdem(cards=royal,buckets=[3;2;2;2],boards=50,river_boards=50)"


def copy_of(tables):
    return tables._replace(early=tables.early.copy(), late=tables.late.copy())


@pytest.mark.slow
def test_a_deal_changes_regrets_and_average_as_cfr_says():
    game = random_game((2, 2, 2), most=2, seed=3)
    solver = LimitCFR(game, seed=1)
    solver.run(50)  # away from the uniform policy
    regrets, average = copy_of(solver.regrets), copy_of(solver.average)
    first, second, wins = solver.deals(0)
    solver.run(1)
    walk, changes = SlowWalk(game, regrets), {}
    walk.learn((int(first[50]), int(second[50])), float(wins[50]), average, changes=changes)
    for (street, node, start, player), (regret, policy) in changes.items():
        sequence = int((first, second)[player][50])
        for new, old, change in ((solver.regrets, regrets, regret), (solver.average, average, policy)):
            after, where = SlowWalk(game, new).place(street, node, start, sequence)
            before, _ = SlowWalk(game, old).place(street, node, start, sequence)
            assert np.allclose(after[where], before[where] + change, atol=2e-5), (street, node, start)
    touched = sum(len(regret) for regret, _ in changes.values())
    changed = (solver.average.early != average.early).sum() + (solver.average.late != average.late).sum()
    assert changed <= touched  # nothing else moved


@pytest.mark.slow
def test_deals_come_as_often_as_their_probability():
    game = random_game((2, 2), seed=5)
    first, second, wins = LimitCFR(game, seed=2).deals(3)
    counts = np.zeros(game.pairs.shape)
    np.add.at(counts, (first, second), 1)
    assert np.abs(counts / BATCH - game.pairs).max() < 4 * np.sqrt(game.pairs.max() / BATCH)
    assert np.allclose(wins, (game.wins / game.pairs)[first, second])


def test_drawing_skips_what_is_impossible():
    pairs = np.array([[0, 0.25, 0], [0, 0, 0], [0.5, 0, 0.25]], dtype=np.float32)
    draws = np.linspace(0, 1, 8, endpoint=False)
    first, second = np.empty(8, np.uint16), np.empty(8, np.uint16)
    draw_pairs(pairs, pairs.sum(axis=1, dtype=np.float64), draws, first, second)
    assert list(zip(first, second, strict=True)) == [(0, 1)] * 2 + [(2, 0)] * 4 + [(2, 2)] * 2


@pytest.mark.parametrize("options", [{}, {"discount_every": 700}])
def test_a_resumed_run_is_the_same_bit_for_bit(options):
    game = random_game((2, 2, 2, 2))
    whole, part, rest = (LimitCFR(game, seed=7, **options) for _ in range(3))
    whole.run(3000)
    part.run(1234)
    rest.restore({name: array.copy() for name, array in part.state().items()})
    rest.run(3000 - 1234)
    assert rest.iteration == 3000
    for name, array in whole.state().items():
        assert np.array_equal(array, rest.state()[name]), name


@pytest.mark.slow_cases("options1")
@pytest.mark.parametrize("options", [{}, {"discount_every": 1000}, {"threads": 2}])
def test_exploitability_falls(options):
    game = random_game((3, 2), most=3)
    solver = LimitCFR(game, **options)
    start = judge_limit(game, solver.average).exploitability
    solver.run(60_000)
    assert judge_limit(game, solver.average).exploitability < 0.02 * start


def test_discounts_give_later_iterations_more_weight():
    game = random_game((2, 2))
    plain, linear = LimitCFR(game), LimitCFR(game, discount_every=100)
    for solver in (plain, linear):
        solver.run(200)
    assert linear.average.early.sum() < 0.8 * plain.average.early.sum()


def test_a_state_of_another_game_is_refused():
    with pytest.raises(AlgorithmError, match="resume with the game"):
        LimitCFR(random_game((2, 2))).restore(LimitCFR(random_game((3, 2))).state())
    with pytest.raises(AlgorithmError, match="threads"):
        LimitCFR(random_game((2, 2)), threads=0)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr"])
def test_sweeps_are_those_of_the_compiled_game(algorithm, tmp_path, monkeypatch):
    monkeypatch.setenv("TREEPLEX_CACHE", str(tmp_path))
    game = LimitGame.named(ROYAL)
    solver = LimitSweeps(game, algorithm)
    solver.run(12)
    whole = strategy_of(tp.solve(ROYAL, algorithm, iterations=12).policy, "whole")
    mine, theirs = (judge_limit(game, average) for average in (solver.average, whole.average))
    assert mine.best_responses == pytest.approx(theirs.best_responses, rel=2e-4)
    milli = 1000 / game.big_blind
    assert solver.form.values(solver.tables, best=True) * milli == pytest.approx(mine.best_responses)
    assert sum(solver.form.values(solver.tables, best=False)) == pytest.approx(0, abs=1e-5)


@pytest.mark.slow
def test_sweeps_go_on_bit_for_bit_and_refuse_what_they_do_not_keep():
    game = random_game((2, 2, 2, 2))
    whole, part, rest = (LimitSweeps(game, "dcfr") for _ in range(3))
    whole.run(7)
    part.run(3)
    rest.restore({name: array.copy() for name, array in part.state().items()})
    rest.run(4)
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(rest.average, whole.average, strict=True))
    with pytest.raises(AlgorithmError, match=r"pcfr\+ keeps more than regrets and one average"):
        LimitSweeps(game, "pcfr+")
    with pytest.raises(AlgorithmError, match="not of"):
        rest.restore(LimitSweeps(random_game((2, 2)), "dcfr").state())
