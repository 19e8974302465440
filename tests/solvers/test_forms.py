"""Every form with every update rule: against the oracle, in pieces, resumed, in each storage."""

from typing import Any

import numpy as np
import pytest

from tests import oracle
from tests.compiled_view import dict_of
from tests.poker_games import Both, both
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.form import RuleKind
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.holdem.forms.spot_form import STORAGE, SpotForm
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.solvers import FictitiousRule, Variant, Weights, algorithms, untrained_discount_policy
from treeplex.solvers.registry import GENERAL, rule_of
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES
from treeplex.solvers.rules.rule import UpdateRule, average_after, average_weights
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.solver import FormSolver, GameSolver

OWN = (
    Variant("own", "", "", lambda t, horizon: Weights(positive=0.9, negative=0.5, average_discount=(t - 1) / t)),
    FictitiousRule("own play", "", "", step=lambda t: 2.0 / (t + 2.0), optimism=lambda t: 0.25),
    untrained_discount_policy("dcfr", seed=3, horizon=60, holds=(1, 2)),
)
RULES: dict[str, UpdateRule] = {
    name: rule_of(name, GENERAL)[0] for name, algorithm in algorithms().items() if algorithm.rule is not None
} | {rule.name: rule for rule in OWN}
FORMS = ("tree", "float64", "float32", "int16")
GAME = "one card"
WEIGHTS = {"fp": lambda s: 1.0, "linear-fp": lambda s: s + 1.0 if s else 2.0, "flop": lambda s: float(s) if s else 1.0}


def solver_of(form: str, rule: UpdateRule, game: Both) -> FormSolver[Any]:
    """The rule on a form of the game, updates alternating; the test ends where that is refused, as it should be."""
    if form == "tree":
        return GameSolver(game.compiled, rule, horizon=60, updates="alternating")
    if form == "int16" and ("previous" in rule.needs or rule.kind is RuleKind.REPLIES):
        with pytest.raises(AlgorithmError, match="int16; use float32"):
            HoldemSolver(game.hands, rule, threads=1, storage=form, horizon=60)
        pytest.skip("refused")
    return HoldemSolver(game.hands, rule, threads=1, storage=form, horizon=60)


def policy_of(solver: FormSolver[Any], game: Both) -> Policy:
    """The (first) average of a form as a policy of the compiled game."""
    stored = solver.form.policy(solver.tables)
    if isinstance(solver, GameSolver):
        return Policy(game.compiled, np.asarray(stored))
    if solver.form.storage == "int16":
        pytest.skip("numbers with scales are read by the engine alone")
    return Policy(game.compiled, normalised(game.compiled, np.maximum(game.sequence_form(stored), 0.0)))


everything = pytest.mark.parametrize("name", RULES)
everywhere = pytest.mark.parametrize("form", FORMS)
FAMILY = ("lcfr", "dcfr", "pcfr+", "pdcfr", "dcfr+", "pdcfr+", "apcfr+", "sapcfr+", "p2pcfr+", "apdcfr+")
FAMILY += ("hs-dcfr", "hs-pcfr+", "wop-cfr")
"""Variants whose quick cases are those of :func:`cases`."""


def cases(*names: str) -> list[str]:
    """Test cases of algorithms on a tree and in double precision."""
    return [f"{name}-{form}" for name in names for form in ("tree", "float64")]


@pytest.mark.quick_cases("cfr-tree", "cfr+-tree", "linear-fp-tree", "flop-tree", *cases(*FAMILY))
@everywhere
@pytest.mark.parametrize("name", [*VARIANTS, *FICTITIOUS_RULES])
def test_strategies_are_those_of_the_oracle(name: str, form: str) -> None:
    game = both(GAME)
    root, solver = oracle.grow(game.rules), solver_of(form, RULES[name], game)
    reference: oracle.Cfr | oracle.FictitiousPlay = (
        oracle.Cfr(root, name, alternating=True, horizon=60)
        if name in VARIANTS
        else oracle.FictitiousPlay(root, WEIGHTS[name], alternating=True, optimistic=name == "flop")
    )
    for _ in range(3):
        solver.run(1)
        reference.run(1)
        found = oracle.nash_conv(root, dict_of(policy_of(solver, game)))
        assert found == pytest.approx(oracle.nash_conv(root, reference.average_policy()), rel=1e-4, abs=1e-6)


@pytest.mark.quick_cases(
    *cases("cfr", "cfr+", *FAMILY, "dpcfr+", "pddcfr", "fp", "linear-fp", "flop", "own", "own play", "learned dcfr"),
    "ddcfr-float64",
    "vt-cfr+-float64",
)
@everywhere
@everything
def test_values_are_those_of_the_oracle(name: str, form: str) -> None:
    game = both(GAME)
    root, solver = oracle.grow(game.rules), solver_of(form, RULES[name], game)
    solver.run(5)
    policy = dict_of(policy_of(solver, game))
    best, own = (solver.form.values(solver.tables, best=best) for best in (True, False))
    gains = [oracle.best_response(root, policy, player)[0] for player in (0, 1)] - oracle.expected_values(root, policy)
    np.testing.assert_allclose(best - own, gains, rtol=1e-4, atol=1e-6)


@pytest.mark.slow_cases(
    "cfr-float32", "cfr-int16", "cfr+-int16", "ddcfr-float32", "ddcfr-int16", "dpcfr+-float32", "dpcfr+-int16"
)
@everywhere
@everything
def test_in_pieces_and_resumed_bit_for_bit(name: str, form: str) -> None:
    game = both(GAME)
    whole, pieces, fresh = (solver_of(form, RULES[name], game) for _ in range(3))
    whole.run(12)
    for iterations in (0, 5, 1):
        pieces.run(iterations)
    for key, array in fresh.arrays().items():
        array[...] = pieces.arrays()[key]
    fresh.iteration = pieces.iteration
    for solver in (pieces, fresh):
        solver.run(6)
        assert solver.arrays().keys() == whole.arrays().keys()
        for key, array in whole.arrays().items():
            np.testing.assert_array_equal(solver.arrays()[key], array, err_msg=key)


@everywhere
@everything
def test_nothing_is_shared_between_runs(name: str, form: str) -> None:
    one, other = (solver_of(form, RULES[name], both(GAME)) for _ in range(2))
    before = {key: array.copy() for key, array in other.arrays().items()}
    one.run(3)
    for key, array in before.items():
        np.testing.assert_array_equal(other.arrays()[key], array, err_msg=key)
    assert any((array != before[key]).any() for key, array in one.arrays().items())


@everything
def test_single_precision_is_near_double(name: str) -> None:
    game = both(GAME)
    tree, double, single = (solver_of(form, RULES[name], game) for form in ("tree", "float64", "float32"))
    gaps = []
    for solver in (tree, double, single):
        solver.run(8)
        gains = solver.form.values(solver.tables, best=True) - solver.form.values(solver.tables, best=False)
        gaps.append(gains.sum())
    if RULES[name].kind is RuleKind.TESTED:  # the one average of hands is another than the first of the tree
        gaps = gaps[1:]
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in RULES if RULES[name].network is None])
def test_average_weights_are_what_the_average_holds(name: str) -> None:
    rule, start = RULES[name], 5.0
    weights, (kept, total) = average_weights(rule, 20), average_after(rule, 20, 20)
    assert total == pytest.approx(weights.sum())
    average = start
    for discount, weight in rule.average_factors(range(1, 21), 20):
        average = discount * average + weight
    assert average == pytest.approx(kept * start + total)


def test_a_learned_rule_has_no_rows() -> None:
    with pytest.raises(AlgorithmError, match="depend on the run"):
        RULES["ddcfr"].rows((1,), 10)


def test_a_rule_that_begins_to_predict_late() -> None:
    late = Variant("late", "", "", lambda t, horizon: Weights(prediction=1.0 if t > 40 else 0.0))
    solver = HoldemSolver(both(GAME).hands, late, threads=1)
    solver.run(40)
    with pytest.raises(SpecError, match="predict from the first iteration"):
        solver.run(1)


def test_an_unknown_storage() -> None:
    with pytest.raises(SpecError, match="float32"):
        SpotForm(both(GAME).hands, storage="float23")
    assert set(STORAGE) == {*FORMS[1:], "int8", "packed"}  # int8: tests/solvers/holdem; packed: tests/forms/holdem/split


def test_forms_say_what_they_are() -> None:
    game, rule = both(GAME), RULES["cfr"]
    forms = [solver_of(form, rule, game).form for form in FORMS]
    assert [form.players for form in forms] == [2, 2, 2, 2]
    assert forms[0].identity == game.compiled.identity
    assert {form.identity for form in forms[1:]} == {game.spot.identity}
