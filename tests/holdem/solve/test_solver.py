"""The hold'em engine against enumerated rules: every variant step by step, fictitious play, values, and what must not matter.

From equal states both engines take equal steps, to rounding. Whole runs may part: where a player has no regret (an opponent who
cannot get there), rounding decides what the next policy is, and the two round differently.
"""

import numpy as np
import pytest

from tests.poker_games import LEDUC, SPOTS, THREE_STREETS, Both, both, limit, random_ranges
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.evaluate import Judgement, judge
from treeplex.forms.compile.views.matrix_form import payoff_matrix
from treeplex.forms.policies.tabular import Policy, infoset_sums, normalised
from treeplex.holdem.engine import passes
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.spot_form import FixedStrategy
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.spot import Spot
from treeplex.solvers import Variant, Weights
from treeplex.solvers.exact.lp import LinearProgram
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.solver import GameSolver

ITERATIONS = 12
ZERO_SUM = [name for name, spot in SPOTS.items() if not spot.rake.rate]


def solver(game: CompiledSpot, algorithm: str | Variant = "dcfr", **options: object) -> HoldemSolver:
    settings = {"threads": 1, "storage": "float64", "horizon": 100} | options
    return HoldemSolver(game, algorithm, **settings)  # type: ignore[arg-type]


def judged(run: HoldemSolver) -> Judgement:
    return judge_spot(run.game, run.store.average, run.store, judging_crew(run.game, 1))


def twin(game: Both, run: HoldemSolver, variant: Variant) -> GameSolver:
    """The generic solver in the same state."""
    other = GameSolver(game.compiled, variant, horizon=run.horizon, updates="alternating")
    other.iteration = run.iteration
    other.regrets[:] = game.regrets(run.store.regrets)
    other.policy[:] = normalised(game.compiled, np.maximum(game.regrets(run.store.guesses), 0.0))
    other.average[:] = game.sequence_form(run.store.average)
    if variant.adaptive:
        other.tables.state.previous[:] = game.regrets(run.store.previous)
        other.tables.state.changes[:] = game.changes(run.store.changes)
    for player in (0, 1):
        reach(game.compiled.tree, player, other.policy, other.strategy)
    return other


def check_step(game: Both, run: HoldemSolver, variant: Variant) -> None:
    """One iteration of both from the same state."""
    other, tree = twin(game, run, variant), game.compiled.tree
    run.run(1)
    other.run(1)
    inner = tree.sequence_infoset >= 0
    largest = np.abs(other.regrets).max()
    np.testing.assert_allclose(game.regrets(run.store.regrets)[inner], other.regrets[inner], rtol=0, atol=1e-12 * largest)
    weights = other.average[inner]
    np.testing.assert_allclose(game.sequence_form(run.store.average)[inner], weights, rtol=0, atol=1e-12 * weights.max())
    guesses = np.maximum(game.regrets(run.store.guesses), 0.0)
    clear = inner.copy()
    clear[inner] = infoset_sums(game.compiled, guesses)[tree.sequence_infoset[inner]] > 1e-6 * largest
    policy = normalised(game.compiled, guesses)
    np.testing.assert_allclose(policy[clear], other.policy[clear], rtol=0, atol=1e-8)


@pytest.mark.slow_cases(
    "dcfr-no limit", "dcfr-three streets", "dcfr-deal", "pcfr+-no limit", "pcfr+-three streets", "pcfr+-deal"
)
@pytest.mark.parametrize("name", SPOTS)
@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+"])
def test_every_spot_step_by_step(name: str, algorithm: str) -> None:
    run = solver(both(name).hands, algorithm)
    for _ in range(ITERATIONS):
        check_step(both(name), run, VARIANTS[algorithm])


@pytest.mark.slow_cases("apcfr+-leduc", "apdcfr+-leduc")
@pytest.mark.parametrize("name", ["river, raked", "leduc"])
@pytest.mark.parametrize("algorithm", VARIANTS)
def test_every_variant_step_by_step(name: str, algorithm: str) -> None:
    run = solver(both(name).hands, algorithm)
    for _ in range(ITERATIONS):
        check_step(both(name), run, VARIANTS[algorithm])


def test_a_variant_that_predicts_now_and_then() -> None:
    def schedule(t: int, horizon: int) -> Weights:
        return Weights(floor=1.0, prediction=float(t % 3 == 0))

    variant = Variant("late", "", "", schedule)
    run = solver(both("leduc").hands, variant)
    for _ in range(7):
        check_step(both("leduc"), run, variant)


@pytest.mark.parametrize("name", ["one card", "leduc"])
@pytest.mark.parametrize("algorithm", ["cfr", "dcfr", "lcfr"])
def test_whole_runs_where_nothing_is_left_to_rounding(name: str, algorithm: str) -> None:
    game = both(name)
    run, other = solver(game.hands, algorithm), GameSolver(game.compiled, VARIANTS[algorithm], horizon=100)
    for iterations in (0, 1, 9, 10):
        run.run(iterations)
        other.run(iterations)
        found, expected = judged(run), judge(game.compiled, other.average_policy())
        assert found.exploitability == pytest.approx(expected.exploitability, rel=1e-9)
        assert found.value == pytest.approx(expected.value, rel=1e-9)
        weights = other.average[game.compiled.tree.sequence_infoset >= 0]
        own = game.sequence_form(run.store.average)[game.compiled.tree.sequence_infoset >= 0]
        np.testing.assert_allclose(own, weights, rtol=0, atol=1e-9 * max(weights.max(), 1.0))


def realisation(game: Both, weights: np.ndarray) -> np.ndarray:
    """Weights of sequences with 1 for the empty ones."""
    plan = weights.copy()
    plan[game.compiled.tree.sequence_offsets[:-1]] = 1.0
    return plan


def parts(game: Both, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Player 0's part of one array and player 1's of another."""
    middle = game.compiled.tree.sequence_offsets[1]
    return np.concatenate((first[:middle], second[middle:]))


@pytest.mark.parametrize("name", ["leduc", "river, raked", "turn"])
@pytest.mark.parametrize("algorithm", FICTITIOUS_RULES)
def test_fictitious_play_takes_best_replies(name: str, algorithm: str) -> None:
    game, play = both(name), FICTITIOUS_RULES[algorithm]
    payoffs = [payoff_matrix(game.compiled, player) for player in (0, 1)]
    middle = game.compiled.tree.sequence_offsets[1]
    run = solver(game.hands, algorithm)
    before = realisation(game, game.sequence_form(run.store.average))
    uniform = Policy.uniform(game.compiled).probabilities
    last = np.empty_like(before)
    for player in (0, 1):
        reach(game.compiled.tree, player, uniform, last)
    np.testing.assert_allclose(before, last, atol=1e-12)
    for t in range(1, 8):
        run.run(1)
        after = realisation(game, game.sequence_form(run.store.average))
        step, share = play.step(t), play.optimism(t)
        reply = (after - (1 - step) * before) / step
        np.testing.assert_allclose(reply, np.round(reply), atol=1e-9)
        seen = parts(game, (1 - share) * after + share * reply, (1 - share) * before + share * last)
        best = judge(game.compiled, Policy(game.compiled, normalised(game.compiled, seen))).best_response_values
        against_first, against_second = seen[:middle], seen[middle:]
        assert reply[:middle] @ payoffs[0] @ against_second == pytest.approx(best[0], abs=1e-9)
        assert against_first @ payoffs[1] @ reply[middle:] == pytest.approx(best[1], abs=1e-9)
        before, last = after, reply


@pytest.mark.slow_cases("no limit", "deal")
@pytest.mark.parametrize("name", ZERO_SUM)
def test_values_are_those_of_the_linear_program(name: str) -> None:
    game = both(name)
    exact = LinearProgram(game.compiled)
    exact.run(1)
    value = judge(game.compiled, exact.average_policy()).value[0]
    run = solver(game.hands, "pcfr+")
    run.run(400)
    found = judged(run)
    assert found.exploitability < 2e-3 * game.spot.pot
    assert -found.best_response_values[1] - 1e-9 <= value <= found.best_response_values[0] + 1e-9
    assert found.value[0] == pytest.approx(value, abs=2 * found.exploitability + 1e-9)


@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+"])
def test_single_precision_follows_double(algorithm: str) -> None:
    game = both("leduc").hands
    single, double = solver(game, algorithm, storage="float32"), solver(game, algorithm)
    for _ in range(5):
        single.run(4)
        double.run(4)
        assert judged(single).exploitability == pytest.approx(judged(double).exploitability, rel=1e-3)
        assert judged(single).value == pytest.approx(judged(double).value, rel=1e-3)


@pytest.mark.slow_cases("deal-float32")
@pytest.mark.parametrize(
    ("name", "storage"),
    [
        ("turn", "float32"),
        ("deal", "float32"),
        ("turn", "int16"),
        ("no limit", "int16"),
        pytest.param("no limit", "int8", marks=pytest.mark.slow),
    ],
)
def test_all_kinds_of_numbers_converge(name: str, storage: str) -> None:
    run, double = solver(both(name).hands, storage=storage), solver(both(name).hands)
    run.run(200)
    double.run(200)
    noise = 5e-3 if storage == "int8" else 5e-4  # of the pot; one byte tells 254 shares of a row apart
    assert judged(run).exploitability < 1.2 * judged(double).exploitability + noise * run.game.spot.pot


SLOW_BYTES = pytest.param("dcfr", "int8", marks=pytest.mark.slow)
MANY_TURNS = Spot((), 2, 100, random_ranges(THREE_STREETS, 0), limit(2, 4, 4), format=THREE_STREETS)
FEW_TURNS = Spot((), 2, 100, (np.ones(6), np.ones(6)), limit(2, 4, 4), format=THREE_STREETS)
"""Six boards on the street before the last, and three, which is few for two threads."""


@pytest.mark.slow_cases("apcfr+-many", "vt-cfr+-many")
@pytest.mark.parametrize("spot", [SPOTS["turn"], MANY_TURNS, FEW_TURNS], ids=["one", "many", "few"])
@pytest.mark.parametrize("algorithm", ["dcfr", "apcfr+", "vt-cfr+", "flop"])
def test_threads_and_pieces_change_no_bit(spot: Spot, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "NUMBERS_A_STREET", 0)
    game = compile_spot(spot)
    whole = solver(game, algorithm)
    whole.run(20)
    pieces, threads = solver(game, algorithm), solver(game, algorithm, threads=2)
    for _ in range(20):
        pieces.run(1)
    threads.run(13)
    threads.run(7)
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(array, pieces.arrays()[name], err_msg=name)
        np.testing.assert_array_equal(array, threads.arrays()[name], err_msg=name)
    one, two = (judge_spot(game, whole.store.average, whole.store, judging_crew(game, number)) for number in (1, 2))
    assert one == two


@pytest.mark.parametrize(
    ("algorithm", "storage"),
    [("dcfr", "int16"), SLOW_BYTES, ("pcfr+", "int16"), ("apcfr+", "float32"), ("vt-cfr+", "float32"), ("flop", "float64")],
)
def test_continued_runs_are_the_same(algorithm: str, storage: str) -> None:
    game = both("turn").hands
    whole, first, second = (solver(game, algorithm, storage=storage) for _ in range(3))
    whole.run(15)
    first.run(6)
    second.restore(6, {name: array.copy() for name, array in first.arrays().items()})
    second.run(9)
    assert second.iteration == 15
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(array, second.arrays()[name], err_msg=name)


def test_foreign_arrays_are_refused() -> None:
    run = solver(both("leduc").hands)
    arrays = {name: array.copy() for name, array in run.arrays().items()}
    with pytest.raises(FileError, match="'average' is float32"):
        run.restore(3, arrays | {"average": arrays["average"].astype(np.float32)})
    with pytest.raises(FileError, match="'average' is missing; use a state saved for this spot"):
        run.restore(3, {"regrets": arrays["regrets"]})
    assert run.iteration == 0


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_the_scale_of_ranges_does_not_matter(scale: float) -> None:
    spot = SPOTS["leduc"]
    scaled = Spot(spot.board, spot.pot, spot.stack, (spot.ranges[0] * scale, spot.ranges[1]), spot.bets, format=LEDUC)
    runs = [solver(compile_spot(each), storage="float32") for each in (spot, scaled)]
    for run in runs:
        run.run(30)
    assert judged(runs[0]).exploitability == pytest.approx(judged(runs[1]).exploitability, rel=1e-4)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threads": 0}, SpecError, "threads is 0"),
        ({"storage": "float23"}, SpecError, "did you mean 'float32'"),
        ({"algorithm": "dfcr"}, SpecError, "did you mean 'dcfr'"),
        ({"algorithm": "lp"}, AlgorithmError, "lp is not an update rule; .* use dcfr"),
        ({"algorithm": "fp", "storage": "int16"}, AlgorithmError, "use float32"),
        ({"algorithm": "apcfr+", "storage": "int16"}, AlgorithmError, "use float32"),
        (
            {"algorithm": "vt-cfr+", "storage": "int16"},
            AlgorithmError,
            r"vt-cfr\+ does not support storage int16; use float32",
        ),
        ({"algorithm": "vt-cfr+(memory=-1)"}, SpecError, "memory of vt-cfr"),
        ({"locks": [FixedStrategy(0, 0, 0, np.ones((1, 1)))]}, SpecError, "its node needs"),
    ],
)
def test_errors_name_the_remedy(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        solver(both("leduc").hands, **options)  # type: ignore[arg-type]
