"""A run resumed from its solution ends up bit for bit as one that never stopped."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from tests.processes import interrupt_after
from treeplex.errors import JobInterrupt, SpecError
from treeplex.run.solve.tree_job import GameSolution
from treeplex.solvers.rules.variants import VARIANTS

KUHN = "kuhn_poker"
SAMPLED = {"es-mccfr": {"seed": 3}, "os-mccfr": {"seed": 3}}
ALGORITHMS = ("cfr", "cfr+", "dcfr", "pcfr+", "apcfr+", "vt-cfr+", "fp", "ddcfr(horizon=50)", *SAMPLED)


def same(one: GameSolution, other: GameSolution) -> None:
    """Solver, policy and records, seconds excepted."""
    arrays, others = one.solver.state(), other.solver.state()
    assert arrays.keys() == others.keys()
    assert all(np.array_equal(arrays[name], others[name]) for name in arrays)
    assert np.array_equal(one.policy.probabilities, other.policy.probabilities)
    assert [(each.done, each.numbers) for each in one.records] == [(each.done, each.numbers) for each in other.records]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_in_memory_as_one_run_of_the_total_length(algorithm: str) -> None:
    options = SAMPLED.get(algorithm, {})
    whole = tp.solve(KUHN, algorithm, iterations=50, **options)
    part = tp.solve(KUHN, algorithm, iterations=17, **options)
    before, policy = part.solver.state(), part.policy.probabilities.copy()
    for _ in range(2):  # the solution stays what it was
        resumed = tp.solve(resume=part, iterations=50)
        assert resumed.folder is None
        same(resumed, whole)
    assert np.array_equal(part.policy.probabilities, policy)
    assert all(np.array_equal(part.solver.state()[name], before[name]) for name in before)


def test_after_ctrl_c_in_memory() -> None:
    with pytest.raises(JobInterrupt) as stopped:
        tp.solve(KUHN, "dcfr", iterations=300, progress=interrupt_after(20))
    part = stopped.value.result
    assert 20 <= part.iterations < 300
    same(tp.solve(resume=part), tp.solve(KUHN, "dcfr", iterations=300))


def test_into_a_new_folder(tmp_path: Path) -> None:
    part = tp.solve(KUHN, "dcfr", iterations=17)
    resumed = tp.solve(resume=part, iterations=50, out=tmp_path / "run")
    assert resumed.folder == tmp_path / "run"
    whole = tp.solve(KUHN, "dcfr", iterations=50)
    same(resumed, whole)
    same(tp.solve(resume=tmp_path / "run", iterations=60), tp.solve(KUHN, "dcfr", iterations=60))


def test_a_solution_with_a_folder_is_resumed_there(tmp_path: Path) -> None:
    own = replace(VARIANTS["cfr+"], name="mine")
    part = tp.solve(tp.load(KUHN), own, iterations=17, out=tmp_path / "run")
    resumed = tp.solve(resume=part, iterations=50)
    assert resumed.folder == tmp_path / "run"
    same(resumed, tp.solve(KUHN, own, iterations=50))


def test_a_variant_of_your_own_is_not_named_again() -> None:
    own = replace(VARIANTS["cfr+"], name="mine")
    same(tp.solve(resume=tp.solve(KUHN, own, iterations=17), iterations=50), tp.solve(KUHN, own, iterations=50))


def test_what_is_refused() -> None:
    part = tp.solve(KUHN, "dcfr", iterations=17)
    with pytest.raises(SpecError, match="is for kuhn_poker"):
        tp.solve("leduc_poker", resume=part)
    with pytest.raises(SpecError, match="has run 17 iterations already"):
        tp.solve(resume=part, iterations=5)
    with pytest.raises(SpecError, match="was run with algorithm dcfr, not cfr"):
        tp.solve(resume=part, algorithm="cfr")
    with pytest.raises(SpecError, match="was run with seed 0, not 4"):
        tp.solve(resume=part, seed=4)
    with pytest.raises(SpecError, match="'start' does not apply to a resumed run"):
        tp.solve(resume=part, start="uniform")
    part.solver.run(1)
    with pytest.raises(SpecError, match="is already at iteration 18; resume the newest"):
        tp.solve(resume=part)


def test_a_misspelled_argument_suggests_the_right_one() -> None:
    for call, right in [
        (lambda: tp.solve(KUHN, iteration=5), "iterations"),
        (lambda: tp.solve(KUHN, algoritm="cfr"), "algorithm"),
        (lambda: tp.solve(KUHN, sed=1), "seed"),
        (lambda: tp.solve("turn_endgame", thread=1), "threads"),
        (lambda: tp.compare(KUHN, ["cfr"], secnds=1), "seconds"),
        (lambda: tp.sample(KUHN, iteration=5), "iterations"),
        (lambda: tp.match(KUHN, ["uniform"] * 2, hand=5), "hands"),
        (lambda: tp.train(KUHN, setting={}), "settings"),
        (lambda: tp.compile(KUHN, limits=5), "limit"),
        (lambda: tp.load_policy("x", gam=KUHN), "game"),
        (lambda: tp.policies.estimate(KUHN, None, playout=4), "playouts"),
        (lambda: tp.agent("uniform", KUHN, sed=1), "seed"),
    ]:
        with pytest.raises(SpecError, match=f"did you mean '{right}'"):
            call()
    with pytest.raises(SpecError, match="storage is not an option for compiled games; leave it out"):
        tp.solve(KUHN, storage="int8")


@pytest.mark.parametrize("resume", [3, tp.Policy.uniform("kuhn_poker")], ids=["number", "policy"])
def test_what_cannot_be_resumed_is_refused(resume):
    with pytest.raises(SpecError, match=r"resume must be a run folder, a spot file or a solution, not a (int|Policy)"):
        tp.solve("kuhn_poker", resume=resume)
    with pytest.raises(SpecError, match=r"needs the path of a file or folder, not a (int|Policy)"):
        tp.load_policy(resume)
