"""Every variant against the oracle's formulas, in both orders of updates, with two and three players."""

import math
from typing import Any

import numpy as np
import pytest

from tests import oracle
from tests.compiled_view import close_policies, dict_of
from tests.random_games import RandomGame
from treeplex.base.spec import Spec
from treeplex.engine.tree.discount import average_discount, discount
from treeplex.errors import SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import normalised
from treeplex.games.registry import load
from treeplex.solvers import Variant, Weights, algorithms, make_solver
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.solver import CHUNK, GameSolver

GAMES = {
    "kuhn": load("kuhn_poker"),
    "general sum": RandomGame(7, depth=6, zero_sum=False),
    "three players": RandomGame(44, players=3, depth=6),
}
ROOTS = {name: oracle.grow(rules) for name, rules in GAMES.items()}


def test_the_oracle_knows_every_variant() -> None:
    assert set(oracle.FAMILY) == set(VARIANTS)


@pytest.mark.slow_cases(
    "cfr-general sum-alternating",
    "lcfr-general sum-alternating",
    "dcfr-general sum-simultaneous",
    "dcfr-three players-alternating",
    "dcfr-three players-simultaneous",
    "pcfr+-three players-alternating",
    "pdcfr+-general sum-alternating",
    "sapcfr+-three players-alternating",
    "hs-pcfr+-general sum-simultaneous",
    "wop-cfr-general sum-simultaneous",
    "dcfr(alpha=2,beta=-0.5,gamma=3)-general sum-alternating",
    "dcfr(alpha=2,beta=-0.5,gamma=3)-general sum-simultaneous",
    "dcfr(alpha=2,beta=-0.5,gamma=3)-three players-simultaneous",
    "pcfr+(gamma=5)-three players-alternating",
    "pcfr+(gamma=5)-three players-simultaneous",
    "pdcfr(alpha=1,beta=0.5,gamma=1)-general sum-alternating",
    "pdcfr(alpha=1,beta=0.5,gamma=1)-three players-alternating",
    "pdcfr(alpha=1,beta=0.5,gamma=1)-three players-simultaneous",
    "pdcfr+(alpha=1.5,gamma=2)-general sum-alternating",
    "pdcfr+(alpha=1.5,gamma=2)-general sum-simultaneous",
    "apcfr+(gamma=4)-general sum-simultaneous",
    "apcfr+(gamma=4)-three players-alternating",
    "apcfr+(gamma=4)-three players-simultaneous",
    "sapcfr+(a=1,gamma=3)-general sum-alternating",
    "sapcfr+(a=1,gamma=3)-general sum-simultaneous",
    "hs-dcfr(gamma=15)-general sum-alternating",
    "hs-dcfr(gamma=15)-general sum-simultaneous",
    "hs-dcfr(gamma=15)-three players-simultaneous",
    "hs-pcfr+(gamma=15)-general sum-simultaneous",
    "hs-pcfr+(gamma=15)-three players-alternating",
    "hs-pcfr+(gamma=15)-three players-simultaneous",
    "wop-cfr(alpha=1,beta=0.5,decay=2,warm_up=2)-general sum-alternating",
)
@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", [*VARIANTS, *oracle.OTHER_PARAMETERS])
def test_against_the_oracle(name: str, game: str, updates: str) -> None:
    reference = oracle.Cfr(ROOTS[game], name, alternating=updates == "alternating", horizon=8)
    solver = make_solver(compile_rules(GAMES[game]), name, horizon=8, updates=updates)
    assert isinstance(solver, GameSolver)
    for _ in range(5):
        reference.run(1)
        solver.run(1)
        close_policies(dict_of(solver.average_policy()), reference.average_policy(), 1e-10)
        close_policies(dict_of(solver.current_policy()), reference.current, 1e-8)


@pytest.mark.parametrize("name", VARIANTS)
def test_each_variant_is_another_algorithm(name: str) -> None:
    game = compile_game("leduc_poker")
    averages = {}
    for other in VARIANTS:
        solver = make_solver(game, other, horizon=20)
        solver.run(20)
        averages[other] = solver.average_policy().probabilities
    assert min(np.abs(averages[name] - average).max() for other, average in averages.items() if other != name) > 1e-3


ELSEWHERE = {"horizon", "threads", "keep", "beta", "tau", "epsilon", "rate", "prune", "prune_after", "prune_below"}
"""Parameters that change nothing here: a policy may do the same at all times (that it sees the clock: test_learned.py);
threads, how much is kept, what counts after a million iterations only, or a thousand (test_solver.py), what belongs to
baselines (test_sampled.py)."""
OTHERS = {"untested": 0.25, "rounding": 0.5, "k": 2, "plus": 1, "sampled": 1, "exploration": 0.3}
OTHERS |= {"gamma": 0.05, "every": 3, "warm_up": 5, "lowest": -0.001, "rate": 0.5}
EARLY: dict[str, dict[str, object]] = {"wop-cfr": {"warm_up": 3}}
"""What has to be set for the others to count in so short a run."""


@pytest.mark.slow_cases("vt-cfr+", "greedy", "mmd", "rtcfr+", "cfr-s", "cfr-jr")
@pytest.mark.parametrize("name", [name for name, algorithm in algorithms().items() if algorithm.parameters])
def test_every_parameter_changes_the_run(name: str) -> None:
    game = compile_game("small_matrix" if name == "rm" else "leduc_poker")
    early = EARLY.get(name, {})
    plain = make_solver(game, str(Spec(name, early)), horizon=20)
    plain.run(12)
    for parameter, usual in algorithms()[name].parameters.items():
        if parameter in ELSEWHERE and name not in ("vad-cfr", "wop-cfr"):
            continue
        default = early.get(parameter, usual)
        other = OTHERS.get(parameter, usual + 0.75) if parameter != "quantiles" else 1 - default
        changed = make_solver(game, str(Spec(name, {**early, parameter: other})), horizon=20)
        changed.run(12)
        assert np.abs(changed.average_policy().probabilities - plain.average_policy().probabilities).max() > 1e-6, parameter
        same = make_solver(game, str(Spec(name, {**early, parameter: default})), horizon=20)
        same.run(12)
        np.testing.assert_array_equal(same.average_policy().probabilities, plain.average_policy().probabilities)


@pytest.mark.slow
def test_only_horizon_schedules_read_the_horizon() -> None:
    for name, algorithm in algorithms().items():
        game = compile_game("rock_paper_scissors" if name == "rm" else "kuhn_poker")
        runs = [make_solver(game, name, horizon=horizon) for horizon in (20, 200)]
        for solver in runs:
            solver.run(20)
        same = np.array_equal(*(solver.average_policy().probabilities for solver in runs))
        assert same != algorithm.needs_horizon, name


def test_the_order_of_updates_matters() -> None:
    game = compile_game("kuhn_poker")
    policies = []
    for updates in ("alternating", "simultaneous"):
        solver = make_solver(game, "cfr", updates=updates)
        solver.run(5)
        policies.append(solver.average_policy().probabilities)
    assert np.abs(policies[0] - policies[1]).max() > 1e-3


def test_runs_longer_than_a_chunk_of_weights() -> None:
    game = compile_game("kuhn_poker")
    whole, parts = make_solver(game, "dcfr"), make_solver(game, "dcfr")
    whole.run(CHUNK + 10)
    for _ in range(2):
        parts.run(CHUNK // 2 + 5)
    assert whole.iteration == parts.iteration == CHUNK + 10
    np.testing.assert_array_equal(whole.average_policy().probabilities, parts.average_policy().probabilities)


def test_the_start_is_uniform_and_the_average_sums_own_reach() -> None:
    game = compile_game("kuhn_poker")
    solver = make_solver(game, "cfr")
    assert isinstance(solver, GameSolver)
    assert (solver.average_policy().probabilities == solver.current_policy().probabilities).all()
    total = np.zeros_like(solver.strategy)
    for _ in range(4):
        total += solver.strategy
        solver.run(1)
    np.testing.assert_allclose(solver.average, total)
    np.testing.assert_allclose(solver.average_policy().probabilities, normalised(game, total))


@pytest.mark.parametrize(
    ("t", "exponent", "kept"), [(0, 1.5, 0.0), (-1, 1.5, 0.0), (1, 9.0, 0.5), (4, 1.5, 8 / 9), (4, 0.0, 0.5)]
)
def test_discount(t: int, exponent: float, kept: float) -> None:
    assert discount(t, exponent) == pytest.approx(kept)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 2.0, 4.5])
def test_average_discount_gives_weights_t_to_the_gamma(gamma: float) -> None:
    weights = np.ones(6)
    for t in range(1, 7):
        weights[: t - 1] *= average_discount(t, gamma)
    np.testing.assert_allclose(weights * 6**gamma, np.arange(1, 7.0) ** gamma)


@pytest.mark.parametrize(
    ("t", "exponent", "kept"),
    [(1000, 200.0, 1.0), (2, math.inf, 1.0), (1, math.inf, 0.5), (1000, -200.0, 0.0), (2, -math.inf, 0.0)],
)
def test_discounts_with_huge_exponents(t: int, exponent: float, kept: float) -> None:
    assert discount(t, exponent) == kept


def test_weights_that_are_not_finite() -> None:
    variant = Variant("mine", "", "", lambda t, horizon: Weights(positive=math.nan))
    with pytest.raises(SpecError, match="not finite at iteration 1"):
        make_solver(compile_game("kuhn_poker"), variant)


@pytest.mark.parametrize(
    "schedule", [lambda t, horizon: Weights(average=(-1.0) ** t), lambda t, horizon: Weights(average_discount=2.0 - t)]
)
def test_weights_of_the_average_are_not_negative(schedule: Any) -> None:
    with pytest.raises(SpecError, match=r"mine: average and average_discount must be >= 0, but at iteration [13] .*-1"):
        make_solver(compile_game("kuhn_poker"), Variant("mine", "", "", schedule)).run(3)


def test_the_policy_is_the_current_one_while_nothing_is_averaged() -> None:
    game = compile_game("kuhn_poker")
    late = make_solver(game, Variant("mine", "", "", lambda t, horizon: Weights(average=float(t > 5))))
    late.run(5)
    np.testing.assert_array_equal(late.average_policy().probabilities, late.policy)
    assert len(set(late.policy.tolist())) > 3
    late.run(5)
    assert not np.array_equal(late.average_policy().probabilities, late.policy)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (lambda t: Weights(), r"mine: calling its schedule\(t, horizon\) at iteration 1 failed: .* takes 1 positional"),
        (lambda t, horizon: None, r"must return treeplex\.solvers\.Weights of numbers, not 'None' \(at iteration 1\)"),
        (lambda t, horizon: 1.0, r"must return treeplex\.solvers\.Weights of numbers, not '1\.0'"),
        (lambda t, horizon: {"positive": 1.0}, r"must return treeplex\.solvers\.Weights of numbers"),
        (lambda t, horizon: Weights(positive="much"), r"must return treeplex\.solvers\.Weights of numbers"),  # type: ignore[arg-type]
    ],
)
def test_a_schedule_of_the_wrong_kind(schedule: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_solver(compile_game("kuhn_poker"), Variant("mine", "", "", schedule))


def test_a_schedule_says_when_it_runs_longer_than_planned() -> None:
    game = compile_game("kuhn_poker")
    planned, unplanned = (make_solver(game, name, horizon=10) for name in ("hs-dcfr", "dcfr"))
    for solver in (planned, unplanned):
        solver.run(10)
        assert solver.notes() == []
        solver.run(10)
    assert "hs-dcfr was planned for 10 iterations, not 20" in planned.notes()[0]
    assert unplanned.notes() == []


def test_weights_that_fail_later() -> None:
    solver = make_solver(compile_game("kuhn_poker"), "dcfr+(offset=-1)")
    with pytest.raises(SpecError, match="at iteration 2"):
        solver.run(3)
