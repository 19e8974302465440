"""``treeplex match``: what it prints, what it writes, how it goes on."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.files import save_policy
from treeplex.forms.policies.tabular import Policy
from treeplex.run.cli.main import app
from treeplex.run.job.record import Progress
from treeplex.search.cli.match import match_line
from treeplex.solvers import make_solver

GAME = "kuhn_poker"


@pytest.fixture
def policy(tmp_path: Path) -> str:
    solver = make_solver(compile_game(GAME), "cfr+")
    solver.run(50)
    save_policy(solver.average_policy(), tmp_path / "nash.safetensors")
    return str(tmp_path / "nash.safetensors")


def ran(*words: str, code: int = 0) -> str:
    found = CliRunner().invoke(app, ["match", *words])
    assert found.exit_code == code, found.output
    return found.output


def test_exact(policy: str) -> None:
    found = json.loads(ran(GAME, policy, "uniform", "--json"))
    assert found["exact"] is True
    assert found["hands"] == 0
    assert found["value"][0] > 0
    assert found["value"][1] == pytest.approx(-found["value"][0])
    assert found["stderr"] == [0.0, 0.0]
    assert found["mbb_per_hand"] == [1000 * value for value in found["value"]]
    printed = ran(GAME, policy, "uniform")
    assert "exact over all cards and actions" in printed
    assert f"{found['value'][0]:+.6f}" in printed


@pytest.mark.slow
def test_nothing_is_no_loss() -> None:
    assert "-0.000000" not in ran("phantom_ttt(rows=2,columns=2,line=2)", "uniform", "uniform")


@pytest.mark.slow
def test_by_hands(policy: str, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    words = ("--sampled", "--duplicate", "--aivat", "-n", "300")
    found = json.loads(ran(GAME, policy, "uniform", *words, "--out", str(folder), "--json"))
    assert (found["exact"], found["hands"], found["duplicate"]) == (False, 300, True)
    low, high = found["interval"][0]
    assert low < json.loads(ran(GAME, policy, "uniform", "--json"))["value"][0] < high
    assert found["aivat"]["deviation"][0][0] < 0.5 * found["aivat"]["plain_deviation"][0][0]
    assert json.loads((folder / "result.json").read_text()) == found
    more = json.loads(ran("--resume", str(folder), "-n", "400", "--json"))
    assert more["hands"] == 400
    printed = ran("--resume", str(folder))
    assert "400 hands, each deal in all seatings of the agents" in printed
    assert "AIVAT, values of" in printed
    assert str(folder) in printed


def test_everybody_and_three_players(policy: str) -> None:
    found = json.loads(ran(GAME, policy, "uniform", "uniform", "--table", "--json"))
    assert found["agents"] == [policy, "uniform", "uniform (2)"]
    assert found["matrix"][1][2] == pytest.approx(0, abs=1e-12)
    assert "uniform (2)" in ran(GAME, policy, "uniform", "uniform", "--table")
    assert "in seat 2" in ran("kuhn_poker(players=3)", "uniform", "uniform", "uniform")


@pytest.mark.slow_cases("words1-the thinking time is '0'")
@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((GAME, "uniform"), "1 agent is given, but the game has 2 seats"),
        ((GAME, "uniform", "uniform", "--think", "0"), "the thinking time is '0'"),
        ((GAME, "uniform", "uniform", "--think", "10ms"), "so a thinking time has no effect"),
        ((GAME, "uniform", "uniform", "uniform"), "3 agents are given"),
        (("kuhn_poker(players=3)", "uniform", "uniform", "modicum"), "modicum"),
        ((), "needs a game and agents"),
        (("holdem(stack=1)", "uniform", "uniform"), "no player has a decision after the blinds of 1/2; give all players more"),
    ],
)
def test_what_fits_is_said_in_a_line(words: tuple[str, ...], text: str) -> None:
    printed = ran(*words, code=2)
    assert text in printed
    assert printed.count("\n") == 1


@pytest.mark.slow
def test_one_hand_is_one_hand() -> None:
    assert "\n1 hand, seed 0\n" in ran(GAME, "uniform", "uniform", "--sampled", "--seats", "fixed", "-n", "1")


def test_the_live_line() -> None:
    numbers = {"agents": ["one", "two"], "failed": 2, "value": (0.5, -0.5), "error": (0.1, 0.1)}
    line = match_line(Progress("one two", "hands", 20, 100, 5.0, 16.0, numbers))
    assert line == "one against two  hand 20/100  +0.5000 ± 0.1000  2 failed  5 hands/s  0:16 left"
    numbers = {"agents": ["one", "two"], "failed": 0, "value": (None,), "error": (None,)}
    first = Progress("one two", "hands", 0, 100, 0.0, None, numbers)
    assert match_line(first) == "one against two  hand 0/100  0 hands/s"


def test_a_policy_of_another_game(policy: str) -> None:
    assert Policy.uniform(compile_game("leduc_poker"))
    assert "kuhn_poker" in ran("leduc_poker", policy, "uniform", code=2)
