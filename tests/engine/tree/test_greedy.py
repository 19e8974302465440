"""Greedy Weights: the weight against SciPy's minimiser, the loop against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize_scalar

from tests import oracle
from tests.compiled_view import close_tables, table_of
from tests.random_games import RandomGame
from treeplex.engine.tree.form import new_state, workspace
from treeplex.engine.tree.greedy import iterate_greedily, least_potential, potential_slope
from treeplex.engine.tree.sweeps import reach
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import uniform_probabilities

VECTORS = hnp.arrays(np.float64, 6, elements=st.floats(-10, 10).map(lambda x: round(x, 3)))


def potential(old: oracle.Floats, new: oracle.Floats, share: float) -> float:
    return float((np.maximum((1 - share) * old + share * new, 0.0) ** 2).sum())


@settings(max_examples=200, deadline=None, derandomize=True)
@given(VECTORS, VECTORS, st.floats(0.0, 1.0))
def test_least_potential(old: oracle.Floats, new: oracle.Floats, lowest: float) -> None:
    share = least_potential(old, new, lowest)
    assert lowest <= share <= 1.0
    found = minimize_scalar(lambda s: potential(old, new, s), bounds=(lowest, 1.0), method="bounded", options={"xatol": 1e-10})
    ends = min(potential(old, new, lowest), potential(old, new, 1.0))
    assert potential(old, new, share) <= min(found.fun, ends) + 1e-9


@settings(max_examples=50, deadline=None, derandomize=True)
@given(VECTORS, VECTORS, st.floats(0.01, 0.99))
def test_slope_is_half_the_derivative(old: oracle.Floats, new: oracle.Floats, share: float) -> None:
    step = 1e-6
    derivative = (potential(old, new, share + step) - potential(old, new, share - step)) / (2 * step)
    assert potential_slope(old, new, share) == pytest.approx(derivative / 2, abs=1e-3)


@pytest.mark.parametrize(("players", "seed"), [(2, 7), (2, 36), (3, 44)])
@pytest.mark.parametrize("floor", [0.0, 0.5])
def test_loop(players: int, seed: int, floor: float) -> None:
    rules = RandomGame(seed, players=players, depth=6)
    root, game = oracle.grow(rules), compile_rules(rules)
    policy = uniform_probabilities(game)
    strategy, means, average = (np.zeros_like(policy) for _ in range(3))
    for player in range(players):
        reach(game.tree, player, policy, strategy)
    state = new_state(policy, regrets=means, strategy=strategy, averages=average[None])
    expected = oracle.uniform(root)
    actions = oracle.action_sets(root)
    mean = {key: np.zeros(len(ids)) for key, ids in actions.items()}
    total = {key: np.zeros(len(ids)) for key, ids in actions.items()}
    for t in range(1, 7):
        iterate_greedily(game.tree, game.payoff, t, 1, floor, state, workspace(game.tree))
        new, played = {}, {}
        for player in range(players):
            for key, values in oracle.counterfactual_values(root, expected, player).items():
                new[key] = values - values @ list(expected[key].values())
            played.update(oracle.realisation(root, expected, player))
        old_flat, new_flat = (np.concatenate([table[key] for key in actions]) for table in (mean, new))
        lowest = floor / (t - 1 + floor) if t > 1 else 1.0
        least = minimize_scalar(
            lambda s, a=old_flat, b=new_flat: potential(a, b, s), bounds=(lowest, 1.0), options={"xatol": 1e-12}
        ).x
        share = 1.0 if t == 1 else min((lowest, least, 1.0), key=lambda s, a=old_flat, b=new_flat: potential(a, b, s))
        mean = {key: (1 - share) * mean[key] + share * new[key] for key in actions}
        total = {key: (1 - share) * total[key] + share * played[key] for key in actions}
        expected = oracle.behaviour({key: np.maximum(m, 0) for key, m in mean.items()}, actions)
        close_tables(table_of(game, means), mean, 1e-5)
        close_tables(table_of(game, average), total, 1e-5)
