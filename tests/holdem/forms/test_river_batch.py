"""Rivers solved side by side have the values of solves of their own, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.engine.passes import EXPECT
from treeplex.holdem.forms import river_batch
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.river_batch import solve_rivers
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.spot import Rake, Spot

BETS = BetPlan.same("75%,a", "a")


def river(seed: int, stack: float = 300.0) -> Spot:
    """A river with a random board and 1 to 40 random hands of each player with random weights."""
    random = np.random.default_rng(seed)
    spot = holdem("Td9d6hQc2s", "AA", "KK", pot=100, stack=stack, bets=BETS)
    board = tuple(int(card) for card in random.choice(52, 5, replace=False))
    possible = np.flatnonzero(~np.isin(spot.format.hands, board).any(axis=1))
    ranges = []
    for _ in range(2):
        weights = np.zeros(len(spot.format.hands))
        chosen = random.choice(possible, random.integers(20, 40), replace=False)
        weights[chosen] = random.random(len(chosen)) + 0.1
        ranges.append(weights / weights.max())
    return replace(spot, board=board, ranges=(ranges[0], ranges[1]))


def alone(spot: Spot, algorithm: str, iterations: int) -> list[Floats]:
    solver = HoldemSolver(compile_spot(spot, isomorphism=False), algorithm, threads=1, horizon=iterations)
    solver.run(iterations)
    values = []
    for player in (0, 1):
        solver.crew.answer(player, EXPECT, solver.store.average, solver.store.average_scales, solver.store)
        values.append(np.array(solver.crew.root_values(player), np.float64))
    return values


@pytest.mark.parametrize("algorithm", ["dcfr", "cfr+"])
def test_values_equal_those_of_single_solves(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spots = [river(seed, stack) for seed, stack in enumerate((300, 300, 450, 20, 300, 450, 300))]
    monkeypatch.setattr(river_batch, "LANES", 150)  # three rivers side by side
    solved = solve_rivers(spots, 30, algorithm)
    for spot, found in zip(spots, solved, strict=True):
        for values, expected in zip(found.values, alone(spot, algorithm, 30), strict=True):
            assert np.array_equal(values, expected)
            assert np.abs(values).max() > 0


def test_each_river_has_its_iterations_and_ranges() -> None:
    spots = [river(1), river(2)]
    wide = [replace(spot, ranges=(np.sign(spot.ranges[0]), np.sign(spot.ranges[1]))) for spot in spots]
    solved = solve_rivers(wide, [10, 20], ranges=[spot.ranges for spot in spots])
    for spot, count, found in zip(spots, (10, 20), solved, strict=True):
        assert all(map(np.array_equal, found.values, alone(spot, "dcfr", count)))
        assert [len(hands) for hands in found.hands] == [int((weights > 0).sum()) for weights in spot.ranges]


def test_what_batches_do_not_support() -> None:
    with pytest.raises(AlgorithmError, match=r"pcfr\+ cannot solve rivers in batches; use dcfr"):
        solve_rivers([river(1)], 1, "pcfr+")
    with pytest.raises(SpecError, match="is not a river without rake"):
        solve_rivers([replace(river(1), rake=Rake(0.05, 10.0))], 1)
    with pytest.raises(SpecError, match="is not a river without rake"):
        solve_rivers([holdem("Td9d6hQc", "AA", "KK", pot=100, stack=300, bets=BETS)], 1)
    assert solve_rivers([], 5) == []
