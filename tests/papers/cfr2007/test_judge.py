import numpy as np
import pytest

from papers.cfr2007 import walks
from papers.cfr2007.solver import LimitCFR
from papers.cfr2007.walks import judge_limit
from tests.limit_games import SlowWalk, random_game, slow_best_response


@pytest.mark.parametrize("counts", [(3,), (2, 2), (2, 1, 2)])
@pytest.mark.parametrize("columns", [1, 63])
def test_best_responses_are_those_of_enumeration(counts, columns, monkeypatch):
    monkeypatch.setattr(walks, "COLUMNS", columns)
    game = random_game(counts, most=2, seed=len(counts))
    solver = LimitCFR(game)
    solver.run(300)
    judged = judge_limit(game, solver.average)
    walk = SlowWalk(game, solver.average)
    for hero in (0, 1):
        slow = slow_best_response(game, walk, hero) * 1000 / game.big_blind
        assert np.isclose(judged.best_responses[hero], slow, rtol=1e-5)


def test_exploitability_is_the_mean_gain_and_bounds_hold_the_value():
    game = random_game((2, 2), seed=9)
    solver = LimitCFR(game)
    solver.run(20_000)
    judged = judge_limit(game, solver.average)
    low, high = judged.bounds
    assert judged.exploitability == (high - low) / 2 > 0
    walk = SlowWalk(game, solver.average)
    value = sum(game.pairs[a, b] * walk.value((a, b), game.wins[a, b] / game.pairs[a, b]) for a in range(4) for b in range(4))
    assert low < value * 500 < high
