"""The judge of spots against the judge of enumerated rules, with locks, and against published figures."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.poker_games import SPOTS, Both, both
from treeplex.base.arrays import Floats
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError
from treeplex.evaluate import Judgement, judge
from treeplex.forms.policies.tabular import Policy
from treeplex.holdem.engine.form import COUNT
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.spot_form import FixedStrategy
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.libratus_endgames import BIG_BLIND, read_libratus_endgame

ENDGAMES = os.environ.get("TREEPLEX_ENDGAMES")


def run(game: Both, algorithm: str = "dcfr", **options: object) -> HoldemSolver:
    settings = {"threads": 1, "storage": "float64"} | options
    return HoldemSolver(game.hands, algorithm, **settings)  # type: ignore[arg-type]


def judged(solver: HoldemSolver, average: Floats | None = None, *, expected: bool = True) -> Judgement:
    average = solver.store.average if average is None else average
    return judge_spot(solver.game, average, solver.store, judging_crew(solver.game, 1), expected=expected)


def random_average(solver: HoldemSolver, seed: int) -> Floats:
    """Weights, many of them zero and some infosets without any."""
    generator = np.random.default_rng(seed)
    average: Floats = generator.random(solver.game.stored) * (generator.random(solver.game.stored) < 0.6)
    return average


@pytest.mark.parametrize("name", SPOTS)
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_judgements_are_those_of_the_rules(name: str, seed: int | None) -> None:
    game = both(name)
    solver = run(game)
    average = solver.store.average if seed is None else random_average(solver, seed)
    found, expected = judged(solver, average), judge(game.compiled, game.policy(average))
    assert found.exploitability == pytest.approx(expected.exploitability, rel=1e-12)
    assert found.value == pytest.approx(expected.value, rel=1e-11, abs=1e-13)
    assert found.best_response_values == pytest.approx(expected.best_response_values, rel=1e-11)
    quick = judged(solver, average, expected=False)
    assert quick.exploitability == pytest.approx(found.exploitability, rel=1e-11)
    assert quick.best_response_values == found.best_response_values
    assert np.isnan(quick.value).all() != solver.game.raked


def constrained_best_response(game: Both, average: Floats, player: int, locks: dict[int, Floats]) -> float:
    """The best that a player can get who must follow ``locks`` (probabilities by infoset of the rules)."""
    compiled, policy = game.compiled, game.policy(average)
    strategy, values = np.empty_like(policy.probabilities), np.empty_like(policy.probabilities)
    reach(compiled.tree, 1 - player, policy.probabilities, strategy)
    gradient(compiled.tree, compiled.payoff, player, strategy, values)
    for infoset in reversed(range(*compiled.tree.infoset_offsets[player : player + 2])):
        actions = values[compiled.sequences_at(infoset)]
        value = locks[infoset] @ actions if infoset in locks else actions.max()
        values[compiled.tree.infoset_parent[infoset]] += value
    return float(values[compiled.tree.sequence_offsets[player]])


def random_locks(game: Both, seed: int, share: float) -> tuple[list[FixedStrategy], dict[int, Floats]]:
    """Some hands locked at some decisions: for the solver, and by infoset of the rules."""
    generator = np.random.default_rng(seed)
    locks, by_infoset = [], {}
    for place in game.places:
        if generator.random() > share:
            continue
        count = int(game.hands.form.boards[place.board, COUNT + place.player])
        strategy = np.full((len(place.stored), count), np.nan)
        for k, infoset in zip(place.kept, place.infosets, strict=True):
            if generator.random() < 0.7:
                strategy[:, k] = generator.dirichlet(np.ones(len(place.stored)))
                by_infoset[int(infoset)] = strategy[:, k]
        locks.append(FixedStrategy(place.board, place.player, place.node, strategy))
    assert by_infoset
    return locks, by_infoset


@pytest.mark.parametrize("name", ["river, raked", "turn", "leduc", "three streets"])
def test_best_responses_follow_locks(name: str) -> None:
    game = both(name)
    locks, by_infoset = random_locks(game, 0, 0.3)
    solver = run(game, locks=locks)
    average = random_average(solver, 1)
    found = judged(solver, average)
    expected = [constrained_best_response(game, average, player, by_infoset) for player in (0, 1)]
    assert found.best_response_values == pytest.approx(expected, rel=1e-11)
    free = judged(run(game), average)
    assert sum(found.best_response_values) < sum(free.best_response_values)
    assert found.value == free.value


@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+", "apcfr+", "vt-cfr+", "linear-fp"])
@pytest.mark.parametrize("name", ["river, raked", "turn"])
def test_locked_policies_stay(name: str, algorithm: str) -> None:
    game = both(name)
    locks, by_infoset = random_locks(game, 2, 0.3)
    solver = run(game, algorithm, locks=locks)
    start = judged(solver).exploitability
    solver.run(60 if algorithm == "linear-fp" else 40)
    policy = game.policy(solver.store.average)
    weights = game.sequence_form(solver.store.average)
    reached = 0
    for infoset, strategy in by_infoset.items():
        sequences = game.compiled.sequences_at(infoset)
        if weights[sequences].sum() > 1e-6:
            np.testing.assert_allclose(policy.probabilities[sequences], strategy, rtol=0, atol=1e-9)
            reached += 1
    assert reached > 5
    assert judged(solver).exploitability < 0.5 * start


def test_a_locked_opponent_is_exploited() -> None:
    """Against a player who is locked everywhere, the other converges to the best response."""
    game = both("turn")
    average = random_average(run(game), 3)
    policy = game.policy(average)
    locks = []
    for place in game.places:
        if place.player == 0:
            count = int(game.hands.form.boards[place.board, COUNT])
            strategy = np.full((len(place.stored), count), np.nan)
            strategy[:, place.kept] = policy.probabilities[place.sequences]
            locks.append(FixedStrategy(place.board, 0, place.node, strategy))
    solver = run(game, locks=locks)
    solver.run(300)
    found, free = judged(solver), judged(run(game), average)
    assert found.value[1] == pytest.approx(free.best_response_values[1], abs=2e-3)
    assert found.best_response_values[0] == pytest.approx(found.value[0], abs=1e-12)
    assert found.exploitability < 1e-3


def test_locking_a_solution_changes_nothing() -> None:
    game = both("turn")
    solved = run(game, "pcfr+")
    solved.run(800)
    before = judged(solved)
    policy = game.policy(solved.store.average)
    locks = []
    for place in game.places:
        if place.board == 0:
            count = int(game.hands.form.boards[0, COUNT + place.player])
            strategy = np.full((len(place.stored), count), np.nan)
            strategy[:, place.kept] = policy.probabilities[place.sequences]
            locks.append(FixedStrategy(0, place.player, place.node, strategy))
    locked = run(game, "pcfr+", locks=locks)
    same = judged(locked, solved.store.average)
    assert same.value == before.value
    assert same.exploitability <= before.exploitability + 1e-12
    locked.run(800)
    after = judged(locked)
    assert after.value == pytest.approx(before.value, abs=4 * before.exploitability + 1e-4)
    assert after.exploitability < 2 * before.exploitability + 1e-4


def test_locks_need_all_boards() -> None:
    folded = both("two suits alike").folded
    lock = FixedStrategy(0, 0, 0, np.full((2, 1), np.nan))
    with pytest.raises(AlgorithmError, match="isomorphism=False"):
        HoldemSolver(folded, locks=[lock])


def test_uniform_policy_of_the_rules_is_the_empty_average() -> None:
    game = both("leduc")
    found = judged(run(game))
    assert found.exploitability == pytest.approx(judge(game.compiled, Policy.uniform(game.compiled)).exploitability, rel=1e-12)


@pytest.mark.skipif(not ENDGAMES, reason="TREEPLEX_ENDGAMES does not name the folder of LibratusEndgames")
@pytest.mark.parametrize(
    ("number", "decoding", "published"),
    [(3, "true", 25.860), (4, "true", 36.403), (3, "ddcfr", 27.816755), (4, "ddcfr", 38.431194)],
)
def test_uniform_strategy_in_end_games_of_libratus(number: int, decoding: str, published: float) -> None:
    """Xu et al. (2024) normalise each range alone, so their figures (big blinds) are ours times the compatible weight.

    The figures for ``ddcfr`` are theirs, those for ``true`` a reimplementation's with the cards read right.
    """
    spot = read_libratus_endgame(Path(ENDGAMES or "") / f"subgame{number}.txt", decoding=decoding)
    game = compile_spot(spot)
    solver = HoldemSolver(game, threads=1)
    compatible = game.compatible / (spot.ranges[0].sum() * spot.ranges[1].sum())
    found = judge_spot(game, solver.store.average, solver.store, judging_crew(game, 2)).exploitability / BIG_BLIND
    assert found * compatible == pytest.approx(published, abs=6e-4)
