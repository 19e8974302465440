"""Warm starts: what a policy counts as, what follows from it, and who can start from one."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError
from treeplex.solvers import make_solver
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.rules.warm_start import level_of, warm_start

GAMES = ("kuhn_poker", "leduc_poker")
STARTED = [name for name, variant in VARIANTS.items() if not variant.adaptive]


def test_levels_solve_their_equation() -> None:
    generator = np.random.default_rng(0)
    for actions in (1, 2, 5):
        rows = generator.normal(size=(actions, 200)) * generator.uniform(0.0, 3.0, 200)
        squares = generator.uniform(0.0, 2.0, 200) * (generator.random(200) > 0.1)
        level = level_of(rows, squares)
        assert (np.maximum(rows - level, 0.0) ** 2).sum(axis=0) == pytest.approx(squares, abs=1e-12)
        assert (level <= rows.max(axis=0) + 1e-12).all()


def test_the_better_a_policy_the_more_it_counts() -> None:
    game = tp.compile("leduc_poker")
    policies = [tp.Policy.uniform(game), *(tp.solve(game, "dcfr", iterations=count).policy for count in (10, 100, 1000))]
    counts = [warm_start(make_solver(game, "cfr"), policy) for policy in policies]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


@pytest.mark.parametrize("algorithm", STARTED)
def test_it_begins_with_the_policy_and_beats_a_start_from_scratch(algorithm: str) -> None:
    game = tp.compile("leduc_poker")
    start = tp.solve(game, "dcfr", iterations=300).policy
    solver = make_solver(game, algorithm)
    warm_start(solver, start)
    assert tp.exploitability(game, solver.average_policy()) == pytest.approx(tp.exploitability(game, start), abs=1e-12)
    for iterations in (5, 30):
        started = tp.solve(game, algorithm, iterations=iterations, start=start).exploitability
        assert started < 0.7 * tp.solve(game, algorithm, iterations=iterations).exploitability


def test_an_equilibrium_is_hardly_left() -> None:
    start = tp.solve("kuhn_poker", "lp")
    for iterations in (1, 10, 100):
        assert tp.solve("kuhn_poker", "cfr", iterations=iterations, start=start).exploitability < 5e-3


@pytest.mark.parametrize("game", GAMES)
def test_a_uniform_start_costs_little(game: str) -> None:
    """It counts as few iterations, after which a run is about where it would be without."""
    for algorithm in ("cfr+", "dcfr"):
        started = tp.solve(game, algorithm, iterations=200, start="uniform")
        assert started.settings.warm <= 4
        assert started.exploitability < 3.0 * tp.solve(game, algorithm, iterations=200).exploitability


@pytest.mark.quick_cases("dcfr")
@pytest.mark.parametrize("algorithm", ["dcfr", "hs-dcfr", "lcfr"])
def test_a_started_run_is_resumed_bit_for_bit(algorithm: str, tmp_path: Path) -> None:
    start = tp.solve("kuhn_poker", "cfr", iterations=30)
    whole = tp.solve("kuhn_poker", algorithm, iterations=40, start=start)
    part = tp.solve("kuhn_poker", algorithm, iterations=40, start=start, seconds=1e-9, out=tmp_path / "run")
    assert part.iterations < 40
    for resumed in (tp.solve(resume=tmp_path / "run"), tp.solve(resume=part, out=tmp_path / "other", iterations=40)):
        assert resumed.settings.warm == whole.settings.warm > 1
        assert np.array_equal(resumed.policy.probabilities, whole.policy.probabilities)


def test_policies_of_any_kind_and_more_players() -> None:
    start = tp.solve("kuhn_poker", "dcfr", iterations=100)
    found = [
        tp.solve("kuhn_poker", "cfr", iterations=5, start=each).policy.probabilities
        for each in (start, start.policy, start.policy.to_dict())
    ]
    assert np.array_equal(found[0], found[1])
    assert np.allclose(found[0], found[2])
    three = tp.solve("kuhn_poker(players=3)", "cfr", iterations=200)
    assert tp.solve("kuhn_poker(players=3)", "cfr", iterations=5, start=three).nash_conv < 3 * three.nash_conv


def test_tensors_start_alike() -> None:
    pytest.importorskip("torch")
    start = tp.solve("kuhn_poker", "dcfr", iterations=50)
    plain, tensors = (
        tp.solve("kuhn_poker", "dcfr", iterations=20, start=start, device=device) for device in ("cpu", "torch-cpu")
    )
    assert tensors.policy.probabilities == pytest.approx(plain.policy.probabilities, abs=1e-9)


@pytest.mark.parametrize("algorithm", ["vt-cfr+", "apcfr+", "fp", "es-mccfr", "lp", "ddcfr"])
def test_others_refuse(algorithm: str) -> None:
    with pytest.raises(AlgorithmError, match="cannot start from a policy; use a CFR variant such as dcfr"):
        tp.solve("kuhn_poker", algorithm, iterations=5, start="uniform")
