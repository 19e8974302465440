"""Whatever the game, exploitability falls."""

from itertools import pairwise

import pytest
from hypothesis import given, settings

from tests import oracle
from tests.random_games import FEW, STEADY, RandomGame, RandomPublicGame, games, public_games
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import Policy
from treeplex.run.judge import nash_conv
from treeplex.solvers import algorithms, make_solver

SAMPLED = [name for name in algorithms() if name.endswith("-mccfr") or name == "cfr-s"]
IN_PYTHON = ["smooth-pcfr+", "vad-cfr"]
LAST_ITERATE = ["mmd", "rtcfr+"]
SWEEPING = [name for name in algorithms() if name not in (*SAMPLED, *IN_PYTHON, *LAST_ITERATE, "lp", "recursive", "rm")]


def payoff_range(root: oracle.Node) -> float:
    payoffs = [float(node.returns[0]) for node in oracle.nodes(root) if not node.children]
    return max(payoffs) - min(payoffs)


def bound(name: str, updates: str) -> float:
    """Exploitability after 1500 iterations, 40 times as many of those that sample, as a part of the payoffs' range.

    Hyperparameter schedules are for alternating updates: simultaneous ones circle, and weights ``t ** 30`` average only the
    last few rounds, so that exploitability falls much more slowly (the oracle agrees).
    """
    if name in SAMPLED:
        return 0.08
    if name in LAST_ITERATE:
        return 0.1
    if updates == "alternating":
        return 0.005
    return 0.2 if name.startswith("hs-") else 0.02


def check(game: RandomGame | RandomPublicGame, name: str) -> None:
    compiled = compile_game(game)
    payoffs = payoff_range(oracle.grow(game))
    for updates in algorithms()[name].updates:
        spec = f"{name}(horizon=1500)" if "horizon" in algorithms()[name].parameters else name
        if name == "mmd":  # its steps are in units of payoffs
            spec = f"mmd(eta={0.5 / max(payoffs, 1e-9)},alpha={0.1 * payoffs},every=50)"
        solver = make_solver(compiled, spec, horizon=1500, updates=updates)
        solver.run(60_000 if name in SAMPLED else 1500)
        found = judge(compiled, solver.average_policy()).exploitability
        assert -1e-9 <= found <= bound(name, updates) * payoffs + 1e-9, updates


@pytest.mark.slow
@pytest.mark.parametrize("name", SWEEPING)
@STEADY
@given(game=games((2,), zero_sum=True))
def test_random_zero_sum_games(name: str, game: RandomGame) -> None:
    check(game, name)


@pytest.mark.quick_cases("cfr")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if n % 3 else ()) for n, name in enumerate(SWEEPING)]
)
@STEADY
@given(game=public_games())
def test_random_public_games(name: str, game: RandomPublicGame) -> None:
    check(game, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
@FEW
@given(game=games((2,), zero_sum=True))
def test_random_zero_sum_games_are_sampled(name: str, game: RandomGame) -> None:
    check(game, name)


@pytest.mark.slow_cases("es-mccfr", "pluribus-mccfr", "cfr-s")
@pytest.mark.parametrize("name", SAMPLED)
@FEW
@given(game=public_games())
def test_random_public_games_are_sampled(name: str, game: RandomPublicGame) -> None:
    check(game, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*IN_PYTHON, *LAST_ITERATE])
@settings(STEADY, max_examples=3)
@given(game=games((2,), zero_sum=True))
def test_random_zero_sum_games_in_python(name: str, game: RandomGame) -> None:
    check(game, name)


def test_three_player_kuhn() -> None:
    game = compile_game("kuhn_poker(players=3)")
    solver = make_solver(game, "cfr")
    gaps = [nash_conv(game, Policy.uniform(game))]
    for iterations in (10, 100, 1000, 10000):
        solver.run(iterations - solver.iteration)
        gaps.append(nash_conv(game, solver.average_policy()))
    assert all(after < before for before, after in pairwise(gaps))
    assert gaps[-1] < 0.01


@pytest.mark.slow
def test_a_game_without_decisions() -> None:
    game = compile_rules(RandomGame(0, depth=0))
    assert game.infosets == (0, 0)
    for name in algorithms():
        solver = make_solver(game, name)
        solver.run(2)
        assert judge(game, solver.average_policy()).nash_conv == pytest.approx(0.0)
