"""Coarse correlated equilibria: gaps against the oracle and OpenSpiel, the best one against known games."""

import numpy as np
import pytest
from hypothesis import given

from tests.mediator import best_gain, mediator_of, random_device
from tests.random_games import SEEDS, STEADY, RandomGame, games
from treeplex.errors import AlgorithmError
from treeplex.evaluate.cce import best_cce, cce_gap, cce_gaps
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.correlation.device import Device
from treeplex.forms.correlation.plans import all_plans, count_plans
from treeplex.solvers.joint.cfr_joint import CfrJr, CfrS

GOOFSPIEL = "goofspiel(num_cards=3,imp_info=true,points_order=descending,returns_type=total_points)"
CHICKEN = "matrix(rows=[[0,7],[2,6]],second=[[0,2],[7,6]])"
SHAPLEY = "matrix(rows=[[0,0,1],[1,0,0],[0,1,0]],second=[[0,1,0],[0,0,1],[1,0,0]])"
SEXES = "matrix(rows=[[3,0],[0,2]],second=[[2,0],[0,3]])"


@given(games((2, 3)), SEEDS)
@STEADY
def test_gaps_against_the_oracle(rules: RandomGame, seed: int) -> None:
    """A best response in the game in which chance draws a joint plan and the others obey."""
    device = random_device(compile_rules(rules), np.random.default_rng(seed), 4)
    mediator = mediator_of(rules, device)
    expected = [best_gain(mediator, player, "CCE") for player in range(rules.players)]
    np.testing.assert_allclose(cce_gaps(device), expected, atol=1e-11)
    assert cce_gap(device) == pytest.approx(max(expected), abs=1e-11)


def test_openspiel_measures_the_same() -> None:
    """OpenSpiel's distance to CCE is the sum of the gains of players who may also follow; of 20 iterations of CFR-Jr."""
    pyspiel = pytest.importorskip("pyspiel")
    game, theirs = compile_game("kuhn_poker(players=3)"), pyspiel.load_game("kuhn_poker(players=3)")
    solver, device = CfrJr(game), []
    for _ in range(20):
        policy = {infostate: [*at.items()] for infostate, at in solver.current_policy().to_dict().items()}
        device.append((1 / 20, pyspiel.TabularPolicy(policy)))
        solver.run(1)
    found = pyspiel.cce_dist(theirs, device)
    assert solver.gaps().min() > 0.0
    assert found.dist_value == pytest.approx(solver.gaps().sum(), abs=1e-9)
    np.testing.assert_allclose(cce_gaps(solver.device()), solver.gaps(), atol=1e-12)
    np.testing.assert_allclose(np.array(found.best_response_values) - found.on_policy_values, solver.gaps(), atol=1e-9)


@pytest.mark.parametrize(
    ("name", "welfare"),
    [(CHICKEN, 10.5), (SHAPLEY, 1.0), (SEXES, 5.0), ("rock_paper_scissors", 0.0), ("kuhn_poker", 0.0), (GOOFSPIEL, 6.0)],
)
def test_the_best_of_known_games(name: str, welfare: float) -> None:
    """Chicken: 0.25, 0.25 and 0.5 on dare-yield, yield-dare and yield-yield, as at the best correlated equilibrium. Shapley:
    the six cells that pay. Battle of the sexes: either equilibrium. Goofspiel: no tie, so all six points are won."""
    game = compile_game(name)
    device = best_cce(game)
    assert device.welfare == pytest.approx(welfare, abs=1e-9)
    assert cce_gap(device) <= 1e-9


@given(games((2, 3), zero_sum=False))
@STEADY
def test_the_best_of_random_games(rules: RandomGame) -> None:
    """It is a CCE, and no better one is found beside it: its program, stated over pure deviations, has the same optimum."""
    from scipy.optimize import linprog

    game = compile_rules(rules)
    counts = [count_plans(game, player) for player in range(game.players)]
    if np.prod(counts, dtype=float) > 400:
        return
    device = best_cce(game)
    assert cce_gap(device) <= 1e-9
    plans = [all_plans(game, player) for player in range(game.players)]
    cells = np.indices(counts).reshape(game.players, -1).T
    pays = np.array([Device(game, tuple(plans), cell[None, :], np.ones(1)).payoffs for cell in cells])
    tables = pays.reshape(*counts, game.players)
    rows = []
    for player in range(game.players):
        for other in range(counts[player]):
            left = np.take(tables, [other], axis=player)[..., player]
            rows.append((left - tables[..., player]).ravel())
    sums = pays.sum(axis=1)
    found = linprog(-sums, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=np.ones((1, len(cells))), b_eq=[1.0])
    assert device.welfare == pytest.approx(-found.fun, abs=1e-6)


@pytest.mark.parametrize("name", [CHICKEN, SHAPLEY, SEXES, GOOFSPIEL])
def test_solvers_stay_below_the_optimum(name: str) -> None:
    """Welfare of an approximate CCE exceeds the best one's by no more than its gap allows."""
    game = compile_game(name)
    best = best_cce(game).welfare
    for solver in (CfrJr(game), CfrS(game), CfrJr(game, plus=1)):
        solver.run(3000)
        measures = solver.measures()
        assert measures["welfare"] <= best + 10 * max(measures["cce_gap"], 0.0) + 1e-9
        assert measures["cce_gap"] < 0.03


def test_another_objective() -> None:
    """Chicken: player 0 alone gets most where player 1 gives way."""
    device = best_cce(compile_game(CHICKEN), objective=np.array([1.0, 0.0]))
    np.testing.assert_allclose(device.payoffs, [7.0, 2.0], atol=1e-9)


def test_too_large() -> None:
    with pytest.raises(AlgorithmError, match=r"kuhn_poker\(players=3\) has 4,299,\d+,\d+,\d+ joint plans and 99 sequences"):
        best_cce(compile_game("kuhn_poker(players=3)"))
    with pytest.raises(AlgorithmError, match="choose a smaller game"):
        best_cce(compile_game("kuhn_poker"), most_entries=1000)
    with pytest.raises(AlgorithmError, match=r"leduc_poker has about 10\^132 joint plans and 2,186 sequences"):
        best_cce(compile_game("leduc_poker"))
