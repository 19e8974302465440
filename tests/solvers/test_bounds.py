"""What theorems promise of runs: Zinkevich and others 2007, theorems 2 to 4; Xu and others 2024 (DDCFR), theorem 1."""

import math
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from treeplex.base.arrays import Floats
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.games import MatrixGame
from treeplex.solvers import Variant, Weights, make_solver
from treeplex.solvers.rules.variants import dcfr
from treeplex.solvers.solver import GameSolver

LENGTHS = (1, 3, 10, 30, 100, 300, 1000)
SPANS = {"kuhn_poker": 4.0, "leduc_poker": 26.0, "liars_dice(dice_sides=3)": 2.0}
"""Games, and how far apart payoffs are: the stakes of a hand at most, twice."""


@pytest.mark.parametrize("name", SPANS)
def test_regrets_and_bounds(name: str) -> None:
    """Both players are updated at once, and sums are plain, as in the paper."""
    game = compile_game(name)
    solver = make_solver(game, "cfr", updates="simultaneous")
    offsets, layout = game.tree.infoset_offsets, game.tree.infoset_layout
    actions = layout[:, 2]
    won, span = np.zeros(game.players), SPANS[name]
    for done in range(1, LENGTHS[-1] + 1):
        won += judge(game, solver.current_policy()).value
        solver.run(1)
        if done not in LENGTHS:
            continue
        judged = judge(game, solver.average_policy())
        reply = np.asarray(judged.best_response_values)
        overall, gains = reply - won / done, reply - judged.value
        assert gains.max() <= 2 * overall.max() + 1e-9, "theorem 2"
        best = [solver.regrets[first : first + stride * count : stride].max() for first, stride, count in layout]
        immediate = np.maximum(best, 0.0) / done
        for player in range(game.players):
            own = slice(offsets[player], offsets[player + 1])
            assert overall[player] <= immediate[own].sum() + 1e-9, "theorem 3"
            assert (immediate[own] <= span * np.sqrt(actions[own]) / np.sqrt(done)).all(), "theorem 4, of an infoset"
            assert overall[player] <= span * np.sqrt(actions[own].max()) * len(actions[own]) / np.sqrt(done), "theorem 4"


HORIZON = 200_000
"""Iterations after which the bound of DDCFR's theorem 1 is below what the uniform strategy loses in :data:`SKEWED`."""
SKEWED = {"two actions": [[10, 0], [0, 1]], "three actions": [[10, 0, 0], [0, 1, 0], [0, 0, 0.1]]}
"""Payoffs between 0 and 10, of the player of rows."""

Exponents = tuple[float, float, float]


def drawn(t: int, random: Random) -> Exponents:
    """Anything that the theorem allows, anew for each iteration."""
    return random.uniform(0 if t < HORIZON / 2 else 1, 5), random.uniform(-5, 0), random.uniform(0, 5)


def slow(t: int, random: Random) -> Exponents:
    """The least discounting of negative regrets, the most of positive ones, old iterations forgotten last."""
    return 0.0 if t < HORIZON / 2 else 1.0, 0.0, 0.0


def leaping(t: int, random: Random) -> Exponents:
    """From one end of the ranges to the other every hundred iterations."""
    low = t // 100 % 2 == 0
    return (0.0 if t < HORIZON / 2 else 1.0) if low else 5.0, -5.0 if low else 0.0, 0.0 if low else 5.0


@pytest.mark.quick_cases("leaping-three actions")
@pytest.mark.parametrize("name", SKEWED)
@pytest.mark.parametrize("choose", [drawn, slow, leaping])
def test_ddcfr_theorem_1(name: str, choose: Callable[[int, Random], Exponents]) -> None:
    game, random = compile_game(MatrixGame(SKEWED[name])), Random(1)

    def schedule(t: int, horizon: int) -> Weights:
        alpha, beta, gamma = choose(t, random)
        return dcfr(t, horizon, alpha=alpha, beta=beta, gamma=gamma)

    infosets, span, actions = 2, 10.0, len(SKEWED[name])
    bound = 6 * infosets * span * (8 / 3 * math.sqrt(actions) + 2 / math.sqrt(HORIZON)) / math.sqrt(HORIZON)
    solver = GameSolver(game, Variant("any", "", "", schedule))
    assert gains(game, solver.current_policy()).max() > bound
    solver.run(HORIZON)
    assert gains(game, solver.average_policy()).max() <= bound


def gains(game: CompiledGame, policy: Policy) -> Floats:
    """What each player would gain by a best response."""
    judged = judge(game, policy)
    return np.asarray(judged.best_response_values) - judged.value
