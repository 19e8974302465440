"""Fictitious play: against the oracle, and against the published solver's numbers."""

from typing import Any

import numpy as np
import pytest

from tests import oracle
from tests.compiled_view import close_policies, dict_of
from tests.random_games import RandomGame
from treeplex.errors import SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import Policy
from treeplex.games.builtin.matrix import MatrixGame
from treeplex.run.judge import exploitability
from treeplex.solvers import FictitiousRule, make_solver
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES

WEIGHTS = {"fp": lambda s: 1.0, "linear-fp": lambda s: s + 1.0 if s else 2.0, "flop": lambda s: float(s) or 1.0}
"""The weight of reply s; reply 0 is the uniform start."""


@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("rules", [RandomGame(7, depth=6), RandomGame(44, players=3, depth=6)], ids=["2", "3"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_against_the_oracle(name: str, rules: RandomGame, updates: str) -> None:
    """Payoffs are random floats: no two replies tie."""
    root, solver = oracle.grow(rules), make_solver(compile_rules(rules), name, updates=updates)
    reference = oracle.FictitiousPlay(root, WEIGHTS[name], alternating=updates == "alternating", optimistic=name == "flop")
    close_policies(dict_of(solver.average_policy()), oracle.uniform(root))
    for _ in range(8):
        reference.run(1)
        solver.run(1)
        close_policies(dict_of(solver.average_policy()), reference.average_policy(), 1e-9)


@pytest.mark.quick_cases("cfr-published2-1.04")
@pytest.mark.parametrize(
    ("name", "published", "factor"),
    [
        ("fp", (15.8, 25.2, 37.8), 1.2),
        ("linear-fp", (11.8, 23.6, 38.7), 1.3),
        ("cfr", (3.36, 3.85, 4.90), 1.04),
        ("lcfr", (0.515, 1.27, 1.84), 3.0),
    ],
)
def test_rebel_released_solver(name: str, published: tuple[float, ...], factor: float) -> None:
    """Liar's Dice, one die of 4, 5 and 6 faces, exploitability in thousandths after 1,024 updates (512 of each player) of
    ReBeL's released tabular solver.

    Equal only within noise: a relative 1e-14 in the first rounds moves our own fictitious play by 10% (replies tie) and linear
    CFR up to threefold (signs of regrets near 0); CFR is steady, but there a policy at 1e-80 and one more update differ.
    """
    for faces, expected in zip((4, 5, 6), published, strict=True):
        game = compile_game(f"liars_dice(dice_sides={faces})")
        solver = make_solver(game, name)
        solver.run(512)
        found = 1000 * exploitability(game, solver.average_policy())
        assert expected / factor <= found <= expected * factor


@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_converges(name: str, updates: str) -> None:
    game = compile_game("kuhn_poker")
    solver = make_solver(game, name, updates=updates)
    solver.run(2000)
    assert exploitability(game, solver.average_policy()) < 0.006


def test_a_play_of_your_own() -> None:
    game = compile_game("kuhn_poker")
    quadratic = FictitiousRule("quadratic", "", "", step=lambda t: 3.0 / (t + 2.0))
    solver = make_solver(game, quadratic)
    solver.run(500)
    assert solver.algorithm == "quadratic"
    assert exploitability(game, solver.average_policy()) < 0.02


@pytest.mark.slow_cases("6")
@pytest.mark.parametrize("faces", [4, 5, 6])
def test_flop_beats_linear_fictitious_play(faces: int) -> None:
    """ReBeL (Brown et al. 2020), figure 4: "for all games FLOP outperforms Linear FP"; Liar's Dice with one die."""
    game = compile_game(f"liars_dice(dice_sides={faces})")
    found = {}
    for name in ("linear-fp", "flop"):
        solver = make_solver(game, name)
        solver.run(1024)
        found[name] = exploitability(game, solver.average_policy())
    assert found["flop"] < 0.85 * found["linear-fp"]


@pytest.mark.parametrize("seed", range(3))
def test_theorem_4_flop_is_generalized_weakened_fictitious_play(seed: int) -> None:
    """ReBeL, appendix H: each reply is nearly a best response to the average, ever more so, and steps fall slowly enough.

    The play wants ``avg' = avg + a (reply - avg)`` with a -> 0 whose sum has no limit, and replies
    within e of the best with e -> 0. A best response to the average with a share s of the last reply is within 2 s D / (1 - s)
    of the best against the average, D being the range of payoffs; here s = 2 / (t + 1).
    """
    payoffs = np.random.default_rng(seed).normal(size=(5, 4))
    game = compile_game(MatrixGame(payoffs.tolist()))
    solver, wide = make_solver(game, "flop", updates="simultaneous"), float(np.ptp(payoffs))
    average, worst, sums = rows_of(solver.average_policy()), [], 0.0
    for t in range(1, 400):
        solver.run(1)
        step, after = solver_step(t), rows_of(solver.average_policy())
        for player, values in ((0, payoffs @ average[1]), (1, -(average[0] @ payoffs))):
            reply = average[player] + (after[player] - average[player]) / step
            assert np.sort(reply)[-2:] == pytest.approx([0.0, 1.0], abs=1e-7)
            loss = float(values.max() - reply @ values)
            share = 2 / (t + 1)
            assert loss <= 2 * share * wide / max(1 - share, 1e-9) + 1e-9
            worst.append(loss)
        average, sums = after, sums + step
    assert max(worst[-200:]) < 0.1 * wide
    assert step < 0.01
    assert sums > np.log(400)


def rows_of(policy: Policy) -> list[np.ndarray]:
    """The mixed strategies of a matrix game."""
    return [np.array([*policy.at(infoset).values()]) for infoset in (0, 1)]


def solver_step(t: int) -> float:
    """How far FLOP moves its average at iteration t."""
    return FICTITIOUS_RULES["flop"].step(t)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda: 0.5, r"mine: calling its step\(t\) failed"),
        (lambda t: None, "step must return a finite number, not None"),
        (lambda t: float("nan"), "step must return a finite number, not nan"),
        (lambda t: 2.0, r"step must return a number from 0 to 1, not 2.0 \(at iteration 1\)"),
        (lambda t: -0.5, "step must return a number from 0 to 1, not -0.5"),
    ],
)
def test_a_step_of_the_wrong_kind(step: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_solver(compile_game("kuhn_poker"), FictitiousRule("mine", "", "", step))
