"""Value-tested CFR+ on the hold'em engine: the same steps as on enumerated rules, and what it reaches."""

import numpy as np
import pytest

from tests.poker_games import LEDUC, SPOTS, Both, both, limit, random_ranges
from treeplex.engine.tree.regret import AVERAGE_DISCOUNT, POSITIVE, PREDICTED_POSITIVE, PREDICTION
from treeplex.engine.tree.sweeps import reach
from treeplex.engine.tree.value_tested import AVERAGES, DECAY, ROUNDING, UNTESTED
from treeplex.forms.policies.tabular import infoset_sums, normalised
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.solve.solver import HoldemSolver, predicted_memory
from treeplex.holdem.spots.spot import Spot
from treeplex.solvers.rules.value_tested import GAMMAS, HAND_GAMMA, ValueTesting
from treeplex.solvers.solver import GameSolver

ITERATIONS = 12


def solver(game: CompiledSpot, algorithm: str = "vt-cfr+", **options: object) -> HoldemSolver:
    settings = {"threads": 1, "storage": "float64"} | options
    return HoldemSolver(game, algorithm, **settings)  # type: ignore[arg-type]


def exploitability(run: HoldemSolver) -> float:
    return judge_spot(run.game, run.store.average, run.store, judging_crew(run.game, 1), expected=False).exploitability


def by_sequence(game: Both, stored: np.ndarray) -> np.ndarray:
    """Numbers that have no unit."""
    values = np.zeros(int(game.compiled.tree.sequence_offsets[-1]))
    for place in game.places:
        values[place.sequences] = stored[place.stored]
    return values


def by_infoset(game: Both, stored: np.ndarray) -> np.ndarray:
    """Sums of the test [2, I] in the rules' units."""
    values = np.zeros((2, len(game.compiled.infostates)))
    for place in game.places:
        values[:, place.infosets] = stored[:, place.counted] * (place.weights * place.chance / game.hands.compatible)
    return values


def twin(game: Both, run: HoldemSolver) -> GameSolver:
    """The generic solver in the same state."""
    assert isinstance(run.rule, ValueTesting)
    other = GameSolver(game.compiled, run.rule)
    other.iteration = run.iteration
    other.regrets[:] = game.regrets(run.store.regrets)
    other.policy[:] = normalised(game.compiled, game.regrets(run.store.guesses))
    other.averages[GAMMAS.index(HAND_GAMMA)] = game.sequence_form(run.store.average)
    other.tables.state.previous[:] = by_sequence(game, run.store.previous)
    other.tables.state.changes[:] = by_infoset(game, run.store.changes)
    for player in (0, 1):
        reach(game.compiled.tree, player, other.policy, other.strategy)
    return other


def check_step(game: Both, run: HoldemSolver) -> float:
    """One iteration of both from the same state; the share of sequences where rounding has no say in policy and candidates."""
    other, tree = twin(game, run), game.compiled.tree
    run.run(1)
    other.run(1)
    inner = tree.sequence_infoset >= 0
    infoset = tree.sequence_infoset[inner]
    regrets, largest = game.regrets(run.store.regrets), np.abs(other.regrets).max()
    np.testing.assert_allclose(regrets[inner], other.regrets[inner], rtol=0, atol=1e-12 * largest)
    average, weights = game.sequence_form(run.store.average)[inner], other.averages[GAMMAS.index(HAND_GAMMA)][inner]
    np.testing.assert_allclose(average, weights, rtol=0, atol=1e-12 * weights.max())
    tests = by_infoset(game, run.store.changes)
    np.testing.assert_allclose(tests, other.tables.state.changes, rtol=0, atol=1e-12 * largest)

    tested = other.tables.state.changes[1]
    clear = (infoset_sums(game.compiled, regrets) > 1e-6 * largest) & ((tested == 0.0) | (tested > 1e-6 * largest))
    guesses = game.regrets(run.store.guesses)
    settled = clear & (infoset_sums(game.compiled, guesses) > 1e-6 * largest)
    policy = normalised(game.compiled, guesses)
    np.testing.assert_allclose(policy[inner][settled[infoset]], other.policy[inner][settled[infoset]], rtol=0, atol=1e-6)
    equal = settled | ((infoset_sums(game.compiled, regrets) == 0.0) & (infoset_sums(game.compiled, other.regrets) == 0.0))
    differences = by_sequence(game, run.store.previous)[inner][equal[infoset]]
    np.testing.assert_allclose(differences, other.tables.state.previous[inner][equal[infoset]], rtol=0, atol=1e-6)
    return float(settled.mean())


@pytest.mark.slow_cases("no limit", "three streets", "deal")
@pytest.mark.parametrize("name", SPOTS)
def test_every_spot_step_by_step(name: str) -> None:
    run = solver(both(name).hands, "vt-cfr+(rounding=1e-12)")
    clear = [check_step(both(name), run) for _ in range(ITERATIONS)]
    assert np.mean(clear) > 0.3


@pytest.mark.parametrize("parameters", ["alpha0=2,ramp=0", "memory=0.5", "strength=0.3", "untested=0.5", "rounding=0.0937"])
def test_every_parameter_step_by_step(parameters: str) -> None:
    parameters = parameters if "rounding" in parameters else f"{parameters},rounding=1e-12"
    run, plain = (solver(both("leduc").hands, f"vt-cfr+({text})") for text in (parameters, "rounding=1e-12"))
    for _ in range(ITERATIONS):
        check_step(both("leduc"), run)
    plain.run(ITERATIONS)
    assert np.abs(run.store.guesses - plain.store.guesses).max() > 1e-6


def test_rows() -> None:
    rows = ValueTesting(strength=0.5, untested=0.25, rounding=1e-9).rows(range(4, 6))
    test = ValueTesting().test(5)
    assert rows.shape == (2, AVERAGES + len(GAMMAS) + 1)
    assert (rows[1, POSITIVE], rows[1, PREDICTED_POSITIVE], rows[1, DECAY]) == pytest.approx(
        (test.discount, test.next_discount, test.decay)
    )
    assert (rows[1, PREDICTION], rows[1, UNTESTED], rows[1, ROUNDING]) == pytest.approx((0.5, 0.25, 1e-9))
    assert rows[1, AVERAGE_DISCOUNT] == pytest.approx(0.8**HAND_GAMMA)


def test_single_precision_follows_double() -> None:
    runs = [solver(both("leduc").hands, "vt-cfr+(rounding=1e-12)", storage=storage) for storage in ("float32", "float64")]
    for run in runs:
        run.run(5)
    single, double = (run.store.regrets for run in runs)
    np.testing.assert_allclose(single, double, rtol=0, atol=1e-4 * np.abs(double).max())


@pytest.mark.parametrize("name", ["leduc", "river", "turn"])
@pytest.mark.parametrize("storage", ["float32", "float64"])
def test_it_converges_in_either_precision(name: str, storage: str) -> None:
    run = solver(both(name).hands, storage=storage)
    run.run(10)
    start = exploitability(run)
    run.run(390)
    assert exploitability(run) < 0.02 * start


def test_memory_is_as_predicted() -> None:
    game = both("turn").hands
    run = solver(game, storage="float32")
    arrays = sum(array.nbytes for array in run.arrays().values())
    other = solver(game, "dcfr", storage="float32")
    extra = predicted_memory(game.size, "vt-cfr+") - predicted_memory(game.size, "dcfr")
    assert extra == arrays - sum(array.nbytes for array in other.arrays().values())
    assert extra == 4 * (2 * game.stored + 2 * game.infosets)


def test_it_passes_the_predictive_ones_on_leduc() -> None:
    spot = Spot((), 2, 100, random_ranges(LEDUC, 1), limit(2, 4), format=LEDUC)
    found = {}
    for algorithm in ("vt-cfr+", "dcfr", "pcfr+", "pdcfr+"):
        run = solver(compile_spot(spot), algorithm)
        run.run(500)
        found[algorithm] = exploitability(run)
    assert found["vt-cfr+"] < 0.7 * min(found["pcfr+"], found["pdcfr+"])
    assert found["vt-cfr+"] < 1.5 * found["dcfr"]
