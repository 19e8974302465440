"""Hold'em spots on tensors against the compiled kernels: the same states, values and files.

From zero regrets many actions are worth the same, and rounding decides what is played next; both are therefore compared after
one iteration from the start, and after several from random regrets.
"""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

import treeplex as tp  # noqa: E402
from tests.learn.torch.devices import DEVICE, NAME, ON_CARD  # noqa: E402
from tests.poker_games import SPOTS, SYMMETRIC  # noqa: E402
from treeplex.errors import AlgorithmError, SpecError  # noqa: E402
from treeplex.holdem.betting.bet_plan import BetPlan  # noqa: E402
from treeplex.holdem.cards.cards import parse_cards  # noqa: E402
from treeplex.holdem.cards.ranges import parse_range  # noqa: E402
from treeplex.holdem.engine.form import ACTIONS, COUNT, STORE  # noqa: E402
from treeplex.holdem.forms.boards import mirror_of  # noqa: E402
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot  # noqa: E402
from treeplex.holdem.forms.spot_form import FixedStrategy  # noqa: E402
from treeplex.holdem.forms.suit_symmetry import Hands  # noqa: E402
from treeplex.holdem.policies.judge import judge_spot, judgement_of, judging_crew  # noqa: E402
from treeplex.holdem.solve.solution import load_solution  # noqa: E402
from treeplex.holdem.solve.solver import HoldemSolver  # noqa: E402
from treeplex.holdem.solve.spot_game import SpotGame  # noqa: E402
from treeplex.holdem.spots.files import load_spot  # noqa: E402
from treeplex.holdem.spots.spot import Rake, Spot  # noqa: E402
from treeplex.learn.torch.kernels import Placement  # noqa: E402
from treeplex.learn.torch.spots.form import TensorSpotForm  # noqa: E402
from treeplex.learn.torch.spots.memory import plan_of, shape_of  # noqa: E402
from treeplex.run.cli.main import app  # noqa: E402
from treeplex.solvers.registry import rule_of  # noqa: E402
from treeplex.solvers.solver import FormSolver  # noqa: E402

torch.set_num_threads(1)

NARROW, SUITED = parse_range("AA,QQ,AKs,T9s,76s,A5s:0.3"), parse_range("KK-JJ,AQs,KQo:0.5,98s")
"""Ranges of few hands, which differ, and in which hands are symmetric in suits."""
BETS = BetPlan.same("50%,a", "60%,a")
HANDS = {
    "river": Spot(parse_cards("Td9d6hQc2s"), 200, 900, (NARROW, SUITED), BETS),
    "river on a board that plays": Spot(parse_cards("AsKsQsJsTs"), 20, 30, (parse_range("22-99"), SUITED), BETS, Rake(0.05, 3)),
    "turn": Spot(parse_cards("Td9d6hQc"), 200, 500, (NARROW, SUITED), BETS),
    "turn of one suit": Spot(parse_cards("Td9d6d2d"), 200, 400, (NARROW, SUITED), BETS, Rake(0.05, 3)),
    "flop": Spot(parse_cards("Ts9s6s"), 200, 300, (parse_range("AA,76s"), parse_range("KK,98s:0.5")), BetPlan.same("a", "")),
    "flop, few runouts": Spot(
        parse_cards("Td9d6h"), 190, 330, (NARROW, SUITED), BetPlan.same("75%", "a"), runouts=(0, 0, 5, 4)
    ),
}
"""Spots of hold'em's own deck; ranges keep their suits symmetric."""
ALL = SPOTS | SYMMETRIC | HANDS
SMALL = ("one card", "leduc", "river, raked", "turn", "three streets", "all suits alike")


@cache
def compiled(name: str, *, isomorphism: bool = True) -> CompiledSpot:
    return compile_spot(ALL[name], isomorphism=isomorphism)


def solver(game: CompiledSpot, device: str = "cpu", algorithm: str = "dcfr", **options: Any) -> HoldemSolver:
    return HoldemSolver(game, algorithm, **{"threads": 1, "storage": "float64", "horizon": 100, "device": device} | options)


def check_equal(kernels: HoldemSolver, tensors: Any, tolerance: float = 1e-9) -> None:
    """Compare all arrays, relative to their largest number."""
    expected, found = kernels.arrays(), tensors.arrays()
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_allclose(found[name], array, rtol=0, atol=tolerance * np.abs(array).max(), err_msg=name)


def random_state(game: CompiledSpot, names: Any, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Positive numbers, the same for hands that a symmetry of their board exchanges."""
    generator, hands = np.random.default_rng(seed), Hands(game.spot)
    state = {name: generator.uniform(0.1, 1.0, game.stored) for name in names}
    for street, boards in enumerate(game.boards):
        for number, board in enumerate(boards, start=game.first_boards[street]):
            row = game.form.boards[number]
            for player in (0, 1):
                count, actions = int(row[COUNT + player]), int(game.form.streets[street, ACTIONS + player])
                start, mirror = int(row[STORE + player]), mirror_of(board, player, hands)
                part = slice(start, start + actions * count)
                for array in state.values():
                    array[part] = array[part].reshape(actions, count)[:, mirror].ravel()
    return state


def from_random(game: CompiledSpot, algorithm: str = "dcfr", **options: Any) -> tuple[HoldemSolver, HoldemSolver]:
    """Both engines in the same random state, after 20 iterations."""
    kernels, tensors = (solver(game, device, algorithm, **options) for device in ("cpu", NAME))
    state = random_state(game, kernels.arrays())
    for run in (kernels, tensors):
        run.restore(20, {name: array.astype(run.storage) for name, array in state.items()})
    return kernels, tensors


@pytest.mark.slow_cases("deal", "two suits alike", "three suits alike", "flop")
@pytest.mark.parametrize("name", ALL)
def test_iterations_are_those_of_the_kernels(name: str) -> None:
    game = compiled(name)
    kernels, tensors = solver(game), solver(game, NAME)
    assert tensors.device == NAME
    assert type(tensors.form) is TensorSpotForm
    kernels.run(1), tensors.run(1)
    check_equal(kernels, tensors)
    kernels, tensors = from_random(game)
    kernels.run(3), tensors.run(1), tensors.run(2)
    check_equal(kernels, tensors)
    for best in (False, True):
        found = tensors.form.values(tensors.tables, best=best)
        assert found == pytest.approx(kernels.form.values(kernels.tables, best=best), abs=1e-9 * game.spot.opening_pot)


def test_the_spots_have_what_must_agree() -> None:
    """Symmetries of boards, several copies of a board, rake, ties, blocked boards and hands of one card."""
    turn = compiled("turn of one suit")
    assert turn.raked
    assert max(len(board.symmetries) for board in turn.boards[0]) == 6
    assert max(len(board.copies) for board in turn.boards[1]) == 3
    mirrored = [street.chunks[0].mirrors for street in solver(turn, NAME).form.tables.streets]
    assert mirrored[0][0] is not None
    plays = compiled("river on a board that plays").boards[0][0]
    assert np.ptp(plays.order[0]) == np.ptp(plays.order[1]) == 0
    some = compiled("flop, few runouts")
    assert {board.share for board in some.boards[1]} != {1.0}
    assert min(len(board.hands[0]) for board in compiled("deal").boards[-1]) == 0
    assert ALL["one card"].format.hole == 1


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "pdcfr+", "hs-dcfr"])
def test_variants_are_those_of_the_kernels(name: str, algorithm: str) -> None:
    kernels, tensors = from_random(compiled(name), algorithm)
    assert ("guesses" in kernels.arrays()) == (algorithm == "pdcfr+")
    kernels.run(3), tensors.run(3)
    check_equal(kernels, tensors)


@pytest.mark.parametrize("algorithm", ["dcfr", "pdcfr+"])
@pytest.mark.parametrize("name", ["turn", "river, raked", "flop, few runouts"])
def test_chunks_change_no_result(name: str, algorithm: str) -> None:
    game, (rule, text) = compiled(name), rule_of(algorithm, "dcfr")
    whole, pieces = (
        FormSolver(
            TensorSpotForm(game, DEVICE, storage="float64", needs=rule.needs, room=room),
            rule,
            horizon=100,
            updates="alternating",
            algorithm=text,
        )
        for room in (2**40, 1)
    )
    assert len(whole.form.tables.streets[-1].chunks) == 1
    assert len(pieces.form.tables.streets[-1].chunks) == len(game.boards[-1])
    state = random_state(game, whole.arrays())
    for run in (whole, pieces):
        run.form.restore(run.tables, 20, state)
        run.iteration = 20
        run.run(3)
    check_equal(whole, pieces)  # type: ignore[arg-type]
    values = [run.form.values(run.tables, best=True) for run in (whole, pieces)]
    assert values[1] == pytest.approx(values[0], rel=1e-12)


@pytest.mark.parametrize("algorithm", ["dcfr", "pdcfr+"])
@pytest.mark.parametrize("name", ["leduc", "turn", "river, raked"])
def test_locks_are_kept(name: str, algorithm: str) -> None:
    """Two locked nodes of each player on the first board, for two hands of three."""
    game, generator, locks = compiled(name, isomorphism=False), np.random.default_rng(1), []
    for player in (0, 1):
        for node, (_, _, actions) in enumerate(game.forests[0].nodes[player][:2]):
            strategy = generator.dirichlet(np.ones(actions), int(game.form.boards[0, COUNT + player])).T
            strategy[:, ::3] = np.nan
            locks.append(FixedStrategy(0, player, node, strategy))
    kernels, tensors = (solver(game, device, algorithm, locks=locks) for device in ("cpu", NAME))
    state, store = random_state(game, kernels.arrays()), kernels.store
    for array in state.values():
        array[store.lock_places] = store.lock_values
    for run in (kernels, tensors):
        run.restore(20, state)
        run.run(3)
    check_equal(kernels, tensors)
    assert tensors.arrays()["regrets"][store.lock_places] == pytest.approx(store.lock_values, abs=1e-12)
    for best in (False, True):
        found = tensors.form.values(tensors.tables, best=best)
        assert found == pytest.approx(kernels.form.values(kernels.tables, best=best), abs=1e-9 * game.spot.opening_pot)
    free = solver(game, NAME, algorithm)
    free.restore(23, tensors.arrays())
    assert (free.form.values(free.tables, best=True) > found + 1e-6).all()  # locks restrict best responses


@pytest.mark.slow
def test_all_hands_of_a_turn() -> None:
    kernels, tensors = from_random(compile_spot("turn_endgame"))
    kernels.run(2), tensors.run(2)
    check_equal(kernels, tensors)


@pytest.mark.parametrize("storage", ["float32", "float64"])
@pytest.mark.parametrize("name", ["river", "turn", "three streets", "all suits alike"])
def test_runs_converge_as_the_kernels_judge(name: str, storage: str) -> None:
    game = compiled(name)
    run = solver(game, NAME, storage=storage)
    run.run(150)
    average, store = np.asarray(run.average()[0], np.float64), solver(game).store
    judged = judge_spot(game, average, store._replace(average=average), judging_crew(game, 1))
    found = judgement_of(game, lambda player, mode: run.form.root_values(run.tables, player, mode))
    near = (1e-9 if storage == "float64" else 1e-5) * game.spot.opening_pot
    assert found.exploitability == pytest.approx(judged.exploitability, abs=near)
    assert found.value == pytest.approx(judged.value, abs=near)
    assert run.form.exploitability(run.tables) == pytest.approx(judged.exploitability, abs=near)
    assert judged.exploitability < 5e-3 * game.spot.opening_pot


def test_runs_are_saved_and_resumed_on_either_device(tmp_path: Path) -> None:
    spot, file = HANDS["turn of one suit"], tmp_path / "turn.spot"
    options = {"storage": "float64", "threads": 1}
    whole = tp.solve(spot, iterations=8, **options)
    begun = tp.solve(spot, iterations=3, device=NAME, out=file, **options)
    assert begun.settings.device == NAME
    assert begun.memory == solver(whole.game, NAME).device_memory
    assert tp.judge(spot, begun).exploitability == pytest.approx(begun.exploitability, rel=1e-9)
    more = tp.solve(resume=file, iterations=5)
    assert more.settings.device == NAME
    last = tp.solve(resume=more, iterations=8, device="cpu")
    assert (last.settings.device, last.iterations, [record.done for record in last.records][-1]) == ("cpu", 8, 8)
    assert last.exploitability == pytest.approx(whole.exploitability, rel=0.2)  # ties may be broken differently
    state = {name: array.copy() for name, array in whole.state.items()}
    kernels, tensors = solver(whole.game), solver(whole.game, NAME)
    for run in (kernels, tensors):
        run.restore(8, state)
    check_equal(kernels, tensors, 0.0)


def test_a_resumed_run_is_that_without_a_break() -> None:
    game = compiled("turn of one suit")
    whole, first, second = (solver(game, NAME, "pdcfr+") for _ in range(3))
    whole.run(9), first.run(4)
    second.restore(4, first.arrays())
    second.run(5)
    check_equal(whole, second, 1e-9 if ON_CARD else 0.0)


def test_a_device_is_an_option_of_solve_and_compare_and_a_field_of_spots(tmp_path: Path) -> None:
    file = tmp_path / "river.yaml"
    file.write_text("board: Td9d6hQc2s\noop: AA,QQ\nip: KK-JJ\npot: 20\nstack: 40\nbets: a\nalgorithm: cfr+\n")
    kernels = tp.solve(str(file), iterations=30, storage="float64")
    assert kernels.settings.device == "cpu"
    with file.open("a") as text:
        text.write(f"device: {NAME}\n")
    tensors = tp.solve(str(file), iterations=30, storage="float64")
    assert tensors.settings.device == NAME
    assert tensors.ev == pytest.approx(kernels.ev, abs=0.02 * 20)
    assert tp.solve(str(file), iterations=3, device="cpu").settings.device == "cpu"
    compared = tp.compare(str(file), ["cfr", "dcfr"], iterations=5)
    assert [solution.settings.device for solution in compared.solutions] == [NAME, NAME]
    compared = tp.compare(str(file), ["cfr", "dcfr"], iterations=5, device="cpu")
    assert [solution.settings.device for solution in compared.solutions] == ["cpu", "cpu"]


def test_the_command_line_has_the_option(tmp_path: Path) -> None:
    place, command = tmp_path / "river.spot", ["solve", "--no-progress", "--json", "--device", NAME]
    spot = ["--board", "Td9d6hQc2s", "--oop", "AA,QQ", "--ip", "KK-JJ", "--pot", "20", "--stack", "40", "--bets", "a"]
    result = CliRunner().invoke(app, [*command, *spot, "-n", "5", "--out", str(place)])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["device"] == NAME
    result = CliRunner().invoke(app, [*command[:3], "--resume", str(place), "-n", "8"])
    assert (json.loads(result.stdout)["device"], load_solution(place).settings.device) == (NAME, NAME)
    result = CliRunner().invoke(app, ["solve", "--no-progress", "--resume", str(place), "-n", "10", "--device", "cpu"])
    assert "device" not in result.stdout
    assert load_solution(place).settings.device == "cpu"
    result = CliRunner().invoke(app, ["solve", *spot, "--storage", "int8", "--device", NAME])
    assert (result.exit_code, "does not support storage int8" in result.output) == (2, True)


def test_a_run_starts_from_another_solution() -> None:
    spot = HANDS["river"]
    start = tp.solve(spot, iterations=60)
    wider = replace(spot, ranges=(parse_range("AA,QQ,AKs,T9s,76s,A5s:0.5"), spot.ranges[1]))
    kernels, tensors = (tp.solve(wider, start=start, iterations=61, device=device) for device in ("cpu", NAME))
    assert tensors.settings.device == NAME
    assert tensors.exploitability == pytest.approx(kernels.exploitability, rel=1e-3)


def test_auto_is_a_gpu_only_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "cuda" if ON_CARD else "cpu"
    assert tp.solve(HANDS["river"], iterations=1, device="auto").settings.device == where
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert tp.solve(HANDS["river"], iterations=1, device="auto", storage="int16").settings.device == "cpu"
    with pytest.raises(SpecError, match="device cuda needs PyTorch; run: "):
        tp.solve(HANDS["river"], iterations=1, device="cuda")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"device": "gpu"}, SpecError, "unknown device 'gpu'; known: cpu, cuda, torch-cpu, auto"),
        (
            {"storage": "int16"},
            SpecError,
            f"device {NAME} does not support storage int16; use float32 or float64, or device cpu",
        ),
        ({"storage": "packed"}, SpecError, "does not support storage packed"),
        ({"storage": "disk:somewhere"}, SpecError, "does not support storage disk:somewhere"),
        ({"workers": 2}, SpecError, f"device {NAME} cannot be combined with workers or ray; leave one of them out"),
        ({"algorithm": "fp"}, AlgorithmError, "fp does not run on a GPU; use device cpu, or a variant of CFR such as dcfr"),
        ({"algorithm": "ddcfr", "iterations": None}, AlgorithmError, "ddcfr.* does not run on a GPU; use device cpu"),
        ({"algorithm": "apcfr+"}, AlgorithmError, r"apcfr\+ does not run on a GPU"),
        ({"algorithm": "vt-cfr+"}, AlgorithmError, r"vt-cfr\+ does not run on a GPU"),
        ({"until": "river"}, SpecError, f"'until' runs on the CPU; leave out 'device' \\({NAME}\\)"),
    ],
)
def test_what_a_device_does_not_do(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tp.solve(HANDS["turn"], **{"iterations": 3, "device": NAME, "threads": 1} | options)
    if "storage" in options:
        with pytest.raises(error, match=message):
            tp.compare(HANDS["turn"], ["dcfr", "cfr"], iterations=3, device=NAME, **options)


def test_a_gpu_is_missing_or_a_field_is_wrong(tmp_path: Path) -> None:
    if not ON_CARD:
        with pytest.raises(SpecError, match="device cuda: PyTorch finds no CUDA GPU here; use cpu, or auto"):
            tp.solve(HANDS["river"], device="cuda")
    file = tmp_path / "river.yaml"
    file.write_text("board: Td9d6hQc2s\noop: AA,QQ\nip: KK-JJ\npot: 20\nstack: 40\nbets: a\ndevice: gpu\n")
    with pytest.raises(SpecError, match=r"river.yaml:7: device: 'gpu' is not known; write cpu, cuda, auto or torch-cpu"):
        load_spot(file)


def test_an_estimate_is_that_of_the_device() -> None:
    spot = HANDS["turn"]
    estimate = SpotGame(replace(spot, settings=replace(spot.settings, device=NAME))).estimate().at_pace_here()
    assert estimate.device == NAME
    assert estimate.memory == {
        kind: TensorSpotForm(compiled("turn"), DEVICE, storage=kind).plan.total for kind in ("float32", "float64")
    }
    assert estimate.facts()["time"] == f"not estimated on {NAME}"
    assert estimate.to_json()["seconds_per_iteration"] is None
    assert estimate.fits()


def test_memory_is_predicted_and_running_out_of_it_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    game, at = compiled("turn"), Placement(DEVICE, torch.float64)
    shape = shape_of(game.spot, [len(boards) for boards in game.boards])
    plan, form = plan_of(shape, at, arrays=2), TensorSpotForm(game, DEVICE, storage="float64")
    assert form.plan == plan
    assert shape.hands == tuple(len(hands) for hands in game.boards[0][0].hands)
    for street, forest in zip(shape.streets, game.forests, strict=True):
        ends = len(forest.folds), len(forest.showdowns), len(forest.ends)
        assert (street.roots, street.actions, street.folds, street.showdowns, street.ends) == (
            len(forest.roots),
            forest.actions,
            *ends,
        )
    run = form.allocate(rule_of("dcfr", "dcfr")[0].kind, frozenset())
    pairs = [numbers for street in run.numbers for chunk in street for numbers in chunk]
    arrays = [tensor for numbers in pairs for tensor in (numbers.regrets, numbers.average)]
    tables = [tensor for street in form.tables.streets for chunk in street.chunks for tensor in chunk.free]
    size = sum(tensor.numel() * 8 for tensor in (*arrays, *tables, *form.tables.strengths.ranks))
    assert size <= plan.numbers < 1.3 * size
    more = plan_of(shape, at, arrays=3)
    assert more.numbers - plan.numbers == sum(tensor.numel() * 8 for tensor in arrays) // 2
    tight = plan_of(shape, at, arrays=2, most=(plan.total - plan.temporaries / 2) / 0.95)
    assert tight.chunk < plan.chunk == len(game.boards[-1])
    assert tight.total <= plan.total - plan.temporaries / 2

    with pytest.raises(SpecError, match=r"^a batch of 3 spots needs 2 MB on"):
        plan_of(shape._replace(spots=3), at, arrays=2, most=1e6)
    with pytest.raises(SpecError, match=r"this spot needs 2 MB on .*, but 1 MB are allowed; offer fewer sizes, narrow"):
        solver(game, NAME, most_memory=1e6)

    def full(*given: Any, **options: Any) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("treeplex.learn.torch.spots.run.root_values", full)
    with pytest.raises(SpecError, match="ran out of memory; offer fewer sizes, narrow the ranges"):
        solver(game, NAME).run(1)


@pytest.mark.skipif(not ON_CARD, reason="needs a CUDA GPU")
@pytest.mark.parametrize("storage", ["float32", "float64"])
@pytest.mark.parametrize("algorithm", ["dcfr", "cfr+", "pdcfr+"])
def test_recorded_iterations_and_kernels_of_triton_change_nothing(algorithm: str, storage: str) -> None:
    """Only on a GPU, where iterations from the second on replay a recorded graph, and Triton updates regrets."""
    game, (rule, _) = compiled("flop, few runouts"), rule_of(algorithm, "dcfr")
    found = []
    for graphs, triton in ((True, True), (False, True), (False, False)):
        form = TensorSpotForm(game, DEVICE, storage=storage, needs=rule.needs, triton=triton)
        run = form.allocate(rule.kind, rule.needs)
        form.restore(run, 20, random_state(game, form.arrays(run)))
        for row in rule.rows(range(21, 27), 100):
            if not graphs:
                run._graphs.clear()
            run.iterate(row[None])
        assert any(graph is not None for graph in run._graphs.values()) == graphs
        found.append(form.arrays(run))
    near = 1e-9 if storage == "float64" else 1e-4
    for other in found[1:]:
        for name, array in found[0].items():
            np.testing.assert_allclose(other[name], array, rtol=0, atol=near * np.abs(array).max(), err_msg=name)


@pytest.mark.skipif(not ON_CARD, reason="needs a CUDA GPU")
def test_split_numbers_keep_sixteen_bits() -> None:
    single = TensorSpotForm(compiled("turn"), DEVICE).tables
    double = TensorSpotForm(compiled("turn"), DEVICE, storage="float64").tables
    assert single.strengths.matrices.split
    shape = (3, len(compiled("turn").boards[-1]))
    for player in (0, 1):
        reach = torch.rand((*shape, double.weights[1 - player].shape[-1]), device=DEVICE, dtype=torch.float64)
        found, expected = (
            tables.strengths.compared(reach.to(tables.weights[0].dtype), player, tables.strengths.edge(slice(None)))
            for tables in (single, double)
        )
        assert (found.double() - expected).abs().max() < 2**-15 * reach.sum(dim=2).max()
