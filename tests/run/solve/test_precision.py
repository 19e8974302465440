"""Iterations in single precision: as exploitable as in double precision, resumable, and refused where they do not exist."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, SpecError
from treeplex.run.solve.tree_job import GameSolution
from treeplex.solvers.solver import GameSolver


@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+", "apcfr+", "pdcfr+"])
@pytest.mark.parametrize("game", ["leduc_poker", "kuhn_poker(players=3)"])
def test_converges_like_double_precision(game: str, algorithm: str) -> None:
    double, single = (
        tp.solve(game, algorithm, iterations=1000, precision=precision, threads=1) for precision in ("double", "single")
    )
    assert isinstance(single, GameSolution)
    assert isinstance(single.solver, GameSolver)
    assert single.solver.regrets.dtype == single.solver.policy.dtype == np.float32
    assert single.exploitability != double.exploitability
    assert single.exploitability < 1.3 * double.exploitability + 1e-5


@pytest.mark.slow
def test_many_iterations_do_not_lose_the_average() -> None:
    """A sum of 100,000 policies in single precision would: its exploitability rises again to 1e-4."""
    assert tp.solve("leduc_poker", "dcfr", iterations=100_000, every=100_000, precision="single").exploitability < 5e-6


def test_resumes_bit_for_bit(tmp_path: Path) -> None:
    whole = tp.solve("leduc_poker", "dcfr", iterations=60, precision="single")
    tp.solve("leduc_poker", "dcfr", iterations=30, precision="single", out=tmp_path)
    resumed = tp.solve(resume=tmp_path, iterations=60)
    assert isinstance(resumed, GameSolution)
    assert isinstance(resumed.solver, GameSolver)
    assert resumed.solver.regrets.dtype == np.float32
    assert np.array_equal(resumed.policy.probabilities, whole.policy.probabilities)
    with pytest.raises(SpecError, match="was run with precision single, not double"):
        tp.solve(resume=tmp_path, iterations=90, precision="double")


def test_threads_do_not_change_results() -> None:
    one, two = (tp.solve("liars_dice(dice=1)", "dcfr", iterations=5, precision="single", threads=n) for n in (1, 2))
    assert np.array_equal(one.policy.probabilities, two.policy.probabilities)


@pytest.mark.parametrize("algorithm", ["fp", "vt-cfr+", "es-mccfr", "ddcfr", "lp"])
def test_other_algorithms_are_refused(algorithm: str) -> None:
    with pytest.raises(AlgorithmError, match="single precision"):
        tp.solve("kuhn_poker", algorithm, iterations=10, precision="single")


def test_unknown_precisions_are_refused() -> None:
    with pytest.raises(SpecError, match="single"):
        tp.solve("kuhn_poker", iterations=10, precision="half")
