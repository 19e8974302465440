"""Learned discounting on the hold'em engine: what is decided there is what the generic engine decides."""

import numpy as np
import pytest

from tests.poker_games import SPOTS, both
from tests.solvers.rules.test_learned import constant
from treeplex.engine.tree.learned import LATEST, SET
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import holdem
from treeplex.solvers.rules.discount_policy import untrained_discount_policy
from treeplex.solvers.solver import GameSolver

RIVER = holdem("Td9d6hQc2s", "AA,QJs,JTs", "KK,T8s,65s,KJs:0.5", pot=20, stack=60, bets=BetPlan.same("50%,a", "a"))
ZERO_SUM = [name for name, spot in SPOTS.items() if not spot.rake.rate]
TWO = ZERO_SUM[:2]


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("base", ["dcfr", "pdcfr"])
def test_decisions_are_those_of_the_generic_engine(name: str, base: str) -> None:
    game, policy = both(name), untrained_discount_policy(base, seed=4, horizon=20, holds=(1, 2))
    hands = HoldemSolver(game.hands, policy, threads=1, storage="float64", horizon=20)
    hands.form.unit = 1.0
    generic = GameSolver(game.compiled, policy)
    for _ in range(4):
        hands.run(2)
        generic.run(2)
        np.testing.assert_allclose(hands.tables.memory[: SET + 4], generic.tables.learned.memory[: SET + 4], rtol=1e-6)


@pytest.mark.parametrize("name", SPOTS)
def test_a_constant_network_is_the_fixed_variant(name: str) -> None:
    game = both(name).hands
    learned = HoldemSolver(game, constant("dcfr", alpha=2.0, beta=-1.0, gamma=3.0), threads=1, storage="float64", horizon=30)
    fixed = HoldemSolver(game, "dcfr(alpha=2,beta=-1,gamma=3)", threads=1, storage="float64")
    learned.run(6)
    fixed.run(6)
    for key in ("regrets", "average"):
        largest = np.abs(fixed.arrays()[key]).max()
        np.testing.assert_allclose(learned.arrays()[key], fixed.arrays()[key], rtol=1e-9, atol=1e-11 * largest)


@pytest.mark.quick_cases(
    "one card-float64",
    "leduc-float64",
    "no limit-float64",
    "blinds-float64",
    "three streets-float64",
    "river-float64",
    "river, raked-float64",
    "turn-float64",
    "deal-float64",
)
@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
@pytest.mark.parametrize("name", SPOTS)
def test_what_it_sees_is_what_a_judge_sees(name: str, storage: str) -> None:
    game = both(name).hands
    solver = HoldemSolver(game, untrained_discount_policy("dcfr", holds=(), horizon=30), threads=1, storage=storage, horizon=30)
    solver.run(5)
    judged = judge_spot(game, solver.store.average, solver.store, judging_crew(game, 1)).exploitability
    solver.run(1)
    seen = solver.tables.memory[LATEST] * solver.form.unit
    assert seen == pytest.approx(judged, rel=1e-8 if storage == "float64" else 1e-3)


def test_continues_bit_for_bit() -> None:
    game, policy = both(TWO[0]).hands, untrained_discount_policy("dcfr", seed=2, horizon=30)
    one, two = (HoldemSolver(game, policy, threads=1, horizon=30) for _ in range(2))
    one.run(13)
    two.run(6)
    third = HoldemSolver(game, policy, threads=1, horizon=30)
    third.restore(6, {name: array.copy() for name, array in two.arrays().items()})
    third.run(7)
    for name, array in one.arrays().items():
        assert np.array_equal(array, third.arrays()[name]), name
    with pytest.raises(FileError, match="memory"):
        third.restore(6, {name: array for name, array in two.arrays().items() if name != "memory"})


def test_a_restored_network_stays_in_its_solver() -> None:
    game, policy, other = both(TWO[0]).hands, untrained_discount_policy(seed=1), untrained_discount_policy(seed=2)
    kept = policy.parameters.copy()
    solver = HoldemSolver(game, policy, threads=1)
    solver.restore(0, {name: array.copy() for name, array in HoldemSolver(game, other, threads=1).arrays().items()})
    assert np.array_equal(solver.arrays()["network"], other.parameters)
    assert np.array_equal(policy.parameters, kept)


def test_a_spot_that_the_uniform_strategy_solves() -> None:
    spot = holdem("Td9d6hQc2s", "AA", "KK", pot=20, stack=60, bets=BetPlan.same("", ""))
    found = solve_spot(spot, "ddcfr", iterations=5, threads=1)
    assert found.exploitability <= 1e-12
    assert found.state is not None
    assert np.isfinite(found.state["memory"]).all()


def test_a_spot_is_solved_at_its_pace() -> None:
    found = solve_spot(RIVER, "ddcfr(horizon=30)", target=0.0, threads=1)
    assert (found.iterations, found.settings.horizon) == (30, 30)
    with pytest.raises(SpecError, match="supports at most 30 iterations"):
        solve_spot(resume=found, iterations=31, threads=1)
    part = solve_spot(RIVER, "ddcfr(horizon=30)", iterations=10, threads=1)
    assert solve_spot(resume=part, target=0.0, threads=1).iterations == 30


def test_what_is_refused() -> None:
    game = both(TWO[0]).hands
    with pytest.raises(SpecError, match="plans for 30 iterations, but the run may take 31; give at most 30"):
        HoldemSolver(game, untrained_discount_policy(horizon=30), horizon=31)
    with pytest.raises(AlgorithmError, match="how fast policies change"):
        HoldemSolver(game, untrained_discount_policy(features=("movement",)))
    assert HoldemSolver(game, "ddcfr(horizon=50)", horizon=50).algorithm == "ddcfr(horizon=50.0)"
    assert HoldemSolver(game, "auto").algorithm == "dcfr"
