"""Learned discounting: a network that says always the same is the fixed variant, and what it sees is what a judge sees."""

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import treeplex as tp
from treeplex.engine.tree.learned import HEAD, play_episode, trace_episode
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.solvers import Variant, Weights, make_solver
from treeplex.solvers.rules.discount_policy import DiscountPolicy, untrained_discount_policy
from treeplex.solvers.rules.discount_policy_files import load_discount_policy, save_discount_policy, shipped_discount_policy
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.solver import GameSolver

KUHN = tp.compile("kuhn_poker")
DICE = tp.compile("liars_dice(dice_sides=3)")
NAMES = {"ddcfr": "dcfr", "dpcfr+": "pcfr+", "pddcfr": "pdcfr"}
PUBLISHED = json.loads((Path(__file__).parents[3] / "papers" / "ddcfr" / "published.json").read_text("utf-8"))


def constant(base: str, **exponents: float) -> DiscountPolicy:
    """A policy that sets these exponents always, for one iteration."""
    policy = untrained_discount_policy(base, exponents=tuple(exponents), holds=())
    parameters = np.zeros_like(policy.parameters)
    for place, (low, high) in enumerate(policy.ranges):
        share = (list(exponents.values())[place] - low) / (high - low)
        parameters[len(parameters) - len(exponents) + place] = math.atanh(2.0 * share - 1.0)
    return policy.with_parameters(parameters)


@pytest.mark.parametrize(
    ("base", "exponents"),
    [
        ("dcfr", {"alpha": 2.0, "beta": -1.0, "gamma": 3.0}),
        ("dcfr", {"gamma": 3.0}),
        ("pcfr+", {"gamma": 4.0}),
        ("pdcfr", {"alpha": 1.2, "beta": -0.5, "gamma": 1.0}),
        ("pdcfr+", {"alpha": 2.5, "gamma": 2.0}),
    ],
)
@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
def test_a_constant_network_is_the_fixed_variant(base: str, exponents: dict[str, float], updates: str) -> None:
    learned = GameSolver(DICE, constant(base, **exponents), updates=updates)
    variant = VARIANTS[base]
    fixed = GameSolver(DICE, variant.with_parameters(exponents), updates=updates)
    for _ in range(4):
        learned.run(3)
        fixed.run(3)
        np.testing.assert_allclose(learned.regrets, fixed.regrets, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(learned.average, fixed.average, rtol=1e-9, atol=1e-13)
        learned.restore(
            {**learned.state(), **{name: fixed.state()[name] for name in ("regrets", "policy", "strategy", "average")}}
        )


def test_prediction_strength_can_be_set() -> None:
    def damped(t: int, horizon: int) -> Weights:
        return VARIANTS["pcfr+"].schedule(t, horizon)._replace(prediction=0.25)

    learned = GameSolver(KUHN, constant("pcfr+", prediction=0.25))
    fixed = GameSolver(KUHN, Variant("damped", "", "", damped))
    learned.run(8)
    fixed.run(8)
    np.testing.assert_allclose(learned.regrets, fixed.regrets, rtol=1e-9, atol=1e-13)


def slow_episode(policy: DiscountPolicy, game: tp.CompiledGame, iterations: int) -> list[list[float]]:
    """Decisions and exploitability of a policy, from the judge, the plain network and the solver of fixed variants."""
    rows: list[list[float]] = []
    uniform = tp.judge(game, tp.Policy(game, GameSolver(game, VARIANTS["cfr"]).policy)).exploitability
    decided: dict[int, list[float]] = {}

    def schedule(t: int, horizon: int) -> Weights:
        alpha, beta, gamma = decided[t]
        return VARIANTS[policy.base].schedule(t, horizon, alpha=alpha, beta=beta, gamma=gamma)

    solver = GameSolver.__new__(GameSolver)
    decided[1] = [1.0, 0.0, 1.0]
    solver.__init__(game, Variant("slow", "", "", schedule))  # type: ignore[misc]
    left = 0
    for done in range(iterations):
        if left == 0:
            seen = max(tp.judge(game, solver.average_policy()).exploitability, 1e-12)
            features = [done / policy.horizon, (math.log10(seen) + 12) / (math.log10(uniform) + 12)]
            outputs = evaluate(policy, np.array(features))
            exponents = [
                low + (high - low) * (math.tanh(x) + 1) / 2 for (low, high), x in zip(policy.ranges, outputs, strict=False)
            ]
            if policy.clipped and done + 1 >= policy.horizon / 2:
                exponents[0] = max(exponents[0], 1.0)
            left = policy.holds[int(np.argmax(outputs[len(exponents) :]))]
            rows.append([done + 1, seen, *exponents, left, *features])
        decided[done + 1] = exponents
        solver.run(1)
        left -= 1
    return rows


def evaluate(policy: DiscountPolicy, values: np.ndarray) -> np.ndarray:
    place, sizes = 0, policy.sizes
    for layer in range(len(sizes) - 1):
        count = sizes[layer] * sizes[layer + 1]
        values = values @ policy.parameters[place : place + count].reshape(sizes[layer], sizes[layer + 1])
        values = values + policy.parameters[place + count : place + count + sizes[layer + 1]]
        place += count + sizes[layer + 1]
        values = np.where(values > 0, values, np.expm1(values)) if layer + 2 < len(sizes) else values
    return values


@pytest.mark.slow_cases("dcfr-0", "dcfr-1", "dcfr-2")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("base", ["dcfr", "pdcfr"])
def test_trace_against_judge_and_plain_network(base: str, seed: int) -> None:
    policy = untrained_discount_policy(base, seed=seed, horizon=30)
    policy = policy.with_parameters(4.0 * policy.parameters)
    found, trace = trace_episode(KUHN.tree, KUHN.payoff, policy.compiled, 30)
    slow = np.array(slow_episode(policy, KUHN, 30))
    assert len(trace) == len(slow)
    np.testing.assert_allclose(trace[:, [0, 1, 2, 3, 4, 6, 7, 8]], slow, rtol=1e-6, atol=1e-10)
    solver = GameSolver(KUHN, policy)
    solver.run(7)
    solver.run(23)
    assert tp.judge(KUHN, solver.average_policy()).exploitability == pytest.approx(found, rel=1e-9)
    assert play_episode(KUHN.tree, KUHN.payoff, policy.compiled, 30) == found


def test_noise_moves_the_outputs() -> None:
    policy = untrained_discount_policy("dcfr", holds=(1, 2), horizon=20)
    noise = np.zeros((20, 5))
    noise[:, 4] = 50.0
    quiet, moved = (trace_episode(KUHN.tree, KUHN.payoff, policy.compiled, 20, each)[1] for each in (None, noise))
    assert len(moved) == 10
    assert set(moved[:, 6]) == {2.0}
    assert moved[0, HEAD + 2 + 4] == pytest.approx(quiet[0, HEAD + 2 + 4] + 50.0)


def test_discrete_exponents_are_whole_numbers() -> None:
    policy = untrained_discount_policy("dcfr", discrete=True, horizon=40, seed=3)
    _, trace = trace_episode(DICE.tree, DICE.payoff, policy.with_parameters(20 * policy.parameters).compiled, 40)
    assert np.array_equal(trace[:, 2:5], np.round(trace[:, 2:5]))
    assert (trace[:, 2] >= 0).all()
    assert (trace[:, 3] <= 0).all()
    assert policy.sizes[-1] == 3 * 6 + 5


def test_theorem_1_holds_from_half_of_the_run() -> None:
    flat = constant("dcfr", alpha=0.5, beta=-1.0, gamma=2.0)
    _, free = trace_episode(KUHN.tree, KUHN.payoff, flat.compiled._replace(clipped=False), 20)
    _, clipped = trace_episode(KUHN.tree, KUHN.payoff, flat.compiled, 20)
    np.testing.assert_allclose(free[:, 2], 0.5)
    np.testing.assert_allclose(clipped[:, 2], [0.5] * 9 + [1.0] * 11)


def test_what_leaves_theorem_1_is_reported() -> None:
    flat = constant("dcfr", alpha=0.5, beta=-1.0, gamma=2.0)
    for clipped, notes in ((False, ["at 501 iterations"]), (True, [])):
        solver = GameSolver(KUHN, replace(flat, clipped=clipped))
        solver.run(1000)
        assert len(solver.notes()) == len(notes)
        assert all(part in note for part, note in zip(notes, solver.notes(), strict=True))


@pytest.mark.parametrize("features", [("iteration",), ("exploitability",), ("regret", "movement"), ("movement", "iteration")])
def test_other_features(features: tuple[str, ...]) -> None:
    policy = untrained_discount_policy("dcfr", features=features, horizon=50, seed=1)
    found, trace = trace_episode(KUHN.tree, KUHN.payoff, policy.compiled, 50)
    assert 0 <= found < 0.2
    seen = trace[:, HEAD : HEAD + len(features)]
    assert np.isfinite(seen).all()
    assert (
        seen[0] == [{"iteration": 0.0, "exploitability": 1.0, "regret": 0.0, "movement": 1.0}[name] for name in features]
    ).all()
    solver = GameSolver(KUHN, policy)
    solver.run(50)
    assert tp.judge(KUHN, solver.average_policy()).exploitability == pytest.approx(found, rel=1e-9)


def test_regrets_are_seen_relative_to_the_first_look() -> None:
    policy = untrained_discount_policy("dcfr", features=("regret",), holds=(5,), horizon=50)
    _, trace = trace_episode(KUHN.tree, KUHN.payoff, policy.compiled, 50)
    assert trace[:, 0].tolist() == list(range(1, 51, 5))
    assert trace[:2, HEAD].tolist() == [0.0, 0.0]
    assert (np.abs(trace[2:, HEAD]) < 1.0).all()
    assert (trace[2:, HEAD] != 0.0).all()


@pytest.mark.parametrize(("name", "base"), NAMES.items())
def test_what_comes_with_the_library(name: str, base: str) -> None:
    policy = shipped_discount_policy(name)
    assert policy.base == base
    assert policy.clipped
    assert {"games", "epochs", "date", "exploitability", "scores"} <= set(policy.card)
    learned, fixed = (make_solver(KUHN, each) for each in (name, base))
    learned.run(1000)
    fixed.run(1000)
    ours, theirs = (tp.judge(KUHN, solver.average_policy()).exploitability for solver in (learned, fixed))
    assert ours < max(theirs, 1e-10)


def test_saved_and_loaded(tmp_path: Path) -> None:
    policy = untrained_discount_policy("pdcfr+", exponents=("alpha", "prediction"), features=("regret",), discrete=True, seed=5)
    again = load_discount_policy(save_discount_policy(policy, tmp_path / "a.safetensors"))
    assert np.array_equal(again.parameters, policy.parameters)
    for name in ("base", "features", "exponents", "ranges", "levels", "holds", "hidden", "horizon", "clipped"):
        assert getattr(again, name) == getattr(policy, name)


def damaged(tmp_path: Path, change: Any) -> Path:
    path = save_discount_policy(untrained_discount_policy(), tmp_path / "a.safetensors")
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["header"])
    arrays = safetensors.numpy.load(data)
    change(header, arrays)
    path.write_bytes(safetensors.numpy.save(arrays, metadata={"header": json.dumps(header)}))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, arrays: header.update(base="cfr9"), "must control one of dcfr"),
        (lambda header, arrays: header.update(features=["iteration"]), r"needs 4808 finite parameters, not shape \[4872\]"),
        (lambda header, arrays: arrays.update(parameters=arrays["parameters"][:-1]), r"not shape \[4871\]"),
        (lambda header, arrays: arrays["parameters"].fill(np.nan), "finite parameters"),
        (lambda header, arrays: header.update(features=["iteration", "weather"]), "does not support 'weather'"),
        (lambda header, arrays: header.update(format="policy"), "is not a discount policy"),
        (lambda header, arrays: header.update(format_version=9), "format version 9"),
        (lambda header, arrays: header.pop("holds"), "damaged or not a discount policy"),
        (lambda header, arrays: header.update(horizon=0), "at least 1"),
        (lambda header, arrays: header.update(ranges=3), "damaged or not a discount policy"),
        (lambda header, arrays: header.update(ranges=[[0, math.inf], [-5, 0], [0, 5]]), "finite"),
    ],
)
def test_a_bad_file(tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        load_discount_policy(damaged(tmp_path, change))


def test_more_bad_files(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        load_discount_policy(tmp_path / "none.safetensors")
    with pytest.raises(FileError, match=r"not a \.safetensors file"):
        load_discount_policy(tmp_path / "none.pkl")
    (tmp_path / "text.safetensors").write_text("hello")
    with pytest.raises(FileError, match="damaged or not a discount policy"):
        load_discount_policy(tmp_path / "text.safetensors")


def test_runs_beyond_the_horizon_are_refused() -> None:
    with pytest.raises(SpecError, match=r"plans for 1,000 iterations.*horizon=5000"):
        make_solver(KUHN, "ddcfr", horizon=5000)
    solver = make_solver(KUHN, "ddcfr(horizon=20)", horizon=20)
    solver.run(20)
    with pytest.raises(SpecError, match="plans for 20 iterations"):
        solver.run(1)
    make_solver(KUHN, "ddcfr(horizon=5000)", horizon=5000)


def test_a_run_without_a_number_of_iterations_keeps_its_pace(tmp_path: Path) -> None:
    path = save_discount_policy(untrained_discount_policy(horizon=30), tmp_path / "a.safetensors")
    assert tp.solve(KUHN, f"ddcfr(policy={path})").iterations == 30
    assert tp.solve(KUHN, f"ddcfr(policy={path},horizon=1000)", target=1e-12).iterations == 1000
    assert tp.solve(KUHN, untrained_discount_policy(horizon=40), seconds=60).iterations == 40
    with pytest.raises(SpecError, match="horizon must be at least 1"):
        tp.solve(KUHN, "ddcfr(horizon=0)")
    folder = tmp_path / "run"
    tp.solve(KUHN, "ddcfr(horizon=50)", iterations=20, out=folder)
    before = (folder / "run.json").read_bytes()
    with pytest.raises(SpecError, match="plans for 50 iterations"):
        tp.solve(resume=folder, iterations=60)
    assert (folder / "run.json").read_bytes() == before
    assert tp.solve(resume=folder, iterations=50).iterations == 50


def test_a_restored_network_stays_in_its_solver() -> None:
    policy, other = untrained_discount_policy(seed=1), untrained_discount_policy(seed=2)
    saved, kept = GameSolver(KUHN, other).state(), policy.parameters.copy()
    solver = GameSolver(KUHN, policy)
    solver.restore(saved)
    assert np.array_equal(solver.arrays()["network"], other.parameters)
    assert np.array_equal(policy.parameters, kept)
    assert np.array_equal(GameSolver(KUHN, policy).arrays()["network"], kept)


def test_games_and_policies_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(AlgorithmError, match="two-player zero-sum"):
        make_solver(tp.compile("kuhn_poker(players=3)"), "ddcfr")
    path = save_discount_policy(untrained_discount_policy("pcfr+"), tmp_path / "a.safetensors")
    with pytest.raises(SpecError, match=r"controls pcfr\+, but ddcfr needs a policy for dcfr"):
        make_solver(KUHN, f"ddcfr(policy={path})")
    assert make_solver(KUHN, f"dpcfr+(policy={path})").algorithm == f"dpcfr+(policy={path})"


@pytest.mark.skipif("TREEPLEX_DDCFR_POLICY" not in os.environ, reason="the authors' network is not part of the project")
@pytest.mark.parametrize("name", ["kuhn", "goofspiel-3", "goofspiel-4", "liars_dice-3", "liars_dice-4", "small_matrix"])
def test_the_authors_network_follows_their_curves(name: str) -> None:
    game = tp.compile(PUBLISHED["games"][name])
    solver = make_solver(game, f"ddcfr(policy={os.environ['TREEPLEX_DDCFR_POLICY']})")
    curve = PUBLISHED["curves"]["exploitability"].get(name, {}).get("ddcfr", {})
    curve = {int(t): value for t, value in curve.items()} or {1000: PUBLISHED["final"]["exploitability"][name]["ddcfr"]}
    for t, value in curve.items():
        solver.run(t - solver.iteration)
        found = max(tp.judge(game, solver.average_policy()).exploitability, 1e-12)
        assert found == pytest.approx(value, rel=5e-3), t
