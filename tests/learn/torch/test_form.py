"""The form of tensors against that of compiled kernels: the same rules give the same numbers, on a card where there is one."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import treeplex as tp  # noqa: E402
from tests.learn.torch.devices import DEVICE, NAME, ON_CARD  # noqa: E402
from treeplex.errors import AlgorithmError, SpecError  # noqa: E402
from treeplex.forms.compile.compile_game import compile_game  # noqa: E402
from treeplex.learn.torch.form import TensorSolver  # noqa: E402
from treeplex.solvers import make_solver  # noqa: E402

torch.set_num_threads(1)

SPECS = ("kuhn_poker", "leduc_poker", "liars_dice(dice=1,faces=3)", "modified_rps")


@pytest.mark.slow_cases("leduc_poker-pdcfr+-alternating", "leduc_poker-pdcfr+-simultaneous")
@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr", "pcfr+", "pdcfr+", "hs-dcfr"])
@pytest.mark.parametrize("spec", SPECS)
def test_regrets_are_those_of_kernels(spec: str, algorithm: str, updates: str) -> None:
    game = compile_game(spec)
    kernels = make_solver(game, algorithm, updates=updates, horizon=6)
    tensors = TensorSolver(game, algorithm, updates=updates, horizon=6, device=DEVICE)
    assert tensors.algorithm == kernels.algorithm
    kernels.run(6)
    tensors.run(4), tensors.run(2)
    for name, array in kernels.arrays().items():
        assert tensors.arrays()[name] == pytest.approx(array, abs=1e-12), name
    found, expected = tensors.average_policy(), kernels.average_policy()
    assert found.probabilities == pytest.approx(expected.probabilities, abs=1e-10)
    for best in (False, True):
        assert tensors.form.values(tensors.tables, best=best) == pytest.approx(
            kernels.form.values(kernels.tables, best=best), abs=1e-10
        )


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["phantom_ttt(rows=2,columns=3)", "dark_hex(num_rows=2,num_cols=3)"])
def test_products_of_factors_are_those_of_kernels(spec: str) -> None:
    """From drawn regrets: from none many actions are worth the same, and rounding decides what is played next."""
    game = compile_game(spec)
    assert len(game.payoff.factors.values)
    kernels, tensors = make_solver(game, "dcfr"), TensorSolver(game, "dcfr", device=DEVICE)
    kernels.run(1)
    generator, state = np.random.default_rng(0), kernels.state()
    drawn = {name: generator.uniform(0.1, 1.0, len(state[name])) for name in ("regrets", "average")}
    drawn["regrets"][game.tree.sequence_offsets[:2]] = 0.0  # of the empty sequences there are none
    for solver in (kernels, tensors):
        solver.restore(state | drawn)
        solver.run(2)
    for name, array in kernels.arrays().items():
        assert tensors.arrays()[name] == pytest.approx(array, abs=1e-11), name
    for best in (False, True):
        found = tensors.form.values(tensors.tables, best=best)
        assert found == pytest.approx(kernels.form.values(kernels.tables, best=best), abs=1e-11)
    assert tensors.form.values(tensors.tables, best=True)[0] == pytest.approx(
        tp.judge(game, tensors.average_policy()).best_response_values[0], abs=1e-11
    )


@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("algorithm", ["fp", "linear-fp", "flop"])
def test_replies_are_those_of_kernels(algorithm: str, updates: str) -> None:
    """On payoffs without ties, where rounding cannot decide which reply is best."""
    game = compile_game(np.random.default_rng(3).normal(size=(7, 5)))
    kernels = make_solver(game, algorithm, updates=updates)
    tensors = TensorSolver(game, algorithm, updates=updates, device=DEVICE)
    kernels.run(40), tensors.run(40)
    assert tensors.arrays().keys() == {"policy", "strategy", "average"}
    for name, array in tensors.arrays().items():
        assert array == pytest.approx(kernels.arrays()[name], abs=1e-12), name


def test_fictitious_play_with_many_infosets_finds_an_equilibrium() -> None:
    assert tp.solve("leduc_poker", "fp", iterations=300, device=NAME).exploitability < 0.1


def test_a_run_goes_on_with_tensors_and_back() -> None:
    game = compile_game("leduc_poker")
    whole, first, second = make_solver(game, "dcfr"), make_solver(game, "dcfr"), TensorSolver(game, "dcfr", device=DEVICE)
    whole.run(8), first.run(3)
    second.restore(first.state())
    second.run(3)
    first.restore(second.state())
    first.run(2)
    assert (first.iteration, second.iteration) == (8, 6)
    assert first.average == pytest.approx(whole.average, abs=1e-12)


def test_a_device_is_an_option_of_solve(tmp_path: Path) -> None:
    kernels = tp.solve("leduc_poker", "dcfr", iterations=20)
    tensors = tp.solve("leduc_poker", "dcfr", iterations=20, device=NAME, out=tmp_path / "run")
    assert tensors.exploitability == pytest.approx(kernels.exploitability, rel=1e-9)
    assert tensors.settings.device == NAME
    more = tp.solve(resume=tmp_path / "run", iterations=40)
    again = tp.solve("leduc_poker", "dcfr", iterations=40, device=NAME)
    assert more.exploitability == pytest.approx(again.exploitability, rel=1e-9 if ON_CARD else 0.0, abs=0.0)
    compared = tp.compare("kuhn_poker", ["cfr", "dcfr"], iterations=5, device=NAME)
    assert [solution.settings.device for solution in compared.solutions] == [NAME, NAME]


def test_what_tensors_do_not_do() -> None:
    with pytest.raises(AlgorithmError, match=r"apcfr\+ does not run on tensors; use device cpu"):
        tp.solve("kuhn_poker", "apcfr+", device=NAME)
    with pytest.raises(AlgorithmError, match="ddcfr does not run on tensors"):
        tp.solve("kuhn_poker", "ddcfr", device=NAME)
    with pytest.raises(AlgorithmError, match="lp does not run on tensors"):
        tp.solve("kuhn_poker", "lp", device=NAME)
    with pytest.raises(AlgorithmError, match="two players, not with 3"):
        tp.solve("kuhn_poker(players=3)", "cfr", device=NAME)
    with pytest.raises(SpecError, match="unknown device 'gpu'"):
        tp.solve("kuhn_poker", "cfr", device="gpu")


@pytest.mark.slow
def test_no_iteration_looks_at_numbers_or_leaves_the_device() -> None:
    for algorithm in ("dcfr", "fp"):
        solver = TensorSolver(compile_game("leduc_poker"), algorithm, device=torch.device("meta"))
        solver.run(3)
        with pytest.raises(NotImplementedError):
            solver.arrays()
