"""``treeplex agents``, and playing against agents by name, for some time, in games and hold'em spots."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.run.cli.main import app
from treeplex.search.cli.play import listed

SPOT = """\
board: 3s 7h Td
oop: QQ, JTs
ip: 99, T9s
pot: 20
stack: 40
bets: 100%
raises: a
"""


def call(*arguments: object, typed: str = "", code: int = 0) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)], input=typed)
    assert result.exit_code == code, (arguments, result.output, result.exception)
    assert "Traceback" not in result.output
    return result.output


def test_agents_are_listed() -> None:
    out = call("agents")
    assert all(name in out for name in tp.agents())
    assert "rebel:NAME" in out
    printed = json.loads(call("agents", "--json"))
    assert list(printed) == list(tp.agents())
    assert printed["blueprint"]["settings"]["file"]["meaning"].startswith("run folder or policy file")


def test_an_agent_shows_its_settings() -> None:
    out = call("agents", "search")
    assert "search(depth=2,leaf=exact)" in out
    settings = json.loads(call("agents", "search", "--json"))["settings"]
    assert all(name in out for name in settings)
    assert settings["leaf"]["default"] == "exact"
    assert "setting" not in call("agents", "uniform")
    assert "'serch'; did you mean 'search'?" in call("agents", "serch", code=2)
    own = Path(__file__).resolve().parents[3] / "examples" / "extending" / "advised_agent.py"
    assert "search depth in moves" in call("agents", f"{own}:AdvisedSearch")
    assert "derive it from treeplex.arena.AgentKind" in call("agents", own.with_name("lookahead_agent.py"), code=2)


@pytest.mark.parametrize("against", ["search(depth=1,leaf=zero,iterations=20)", "search(leaf=zero)"])
def test_the_iterations_of_a_decision_are_shown(against: str) -> None:
    out = call("play", "leduc_poker", "--against", against, "--seat", 1, "--games", 1, "--seed", 1, typed="call\n" * 9)
    count = 20 if "20" in against else 128
    assert re.search(rf"player 0   \w+   \({count} iterations in ", out)
    limited = call(
        *("play", "leduc_poker", "--against", "search(leaf=zero,iterations=20000,depth=0)", "--think", "5ms", "--seat", 1),
        *("--games", 1, "--seed", 1),
        typed="call\n" * 9,
    )
    found = re.search(r"player 0   \w+   \(([\d,]+) iterations? in", limited)
    assert found
    assert 1 <= int(found[1].replace(",", "")) < 20_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--against", "search", "--think", "0"), "the thinking time is '0'; give a time above 0, such as 2s, 500ms or 2"),
        (("--against", "search", "--think", "soon"), "the thinking time is 'soon'"),
        (("--against", "uniform", "--think", "2s"), "apply to agents that search, not to a policy"),
        (("--against", "blueprint(file=none)"), "none"),
        (("--against", "serch"), "did you mean 'search'?"),
    ],
)
def test_refusals_are_one_line(options: tuple[str, ...], message: str) -> None:
    out = call("play", "kuhn_poker", *options, code=2)
    assert message in out
    assert out.count("\n") == 1


@pytest.mark.slow
def test_spots_are_played_against_their_solution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the flop on; who knows only the sizes of the spot says so."""
    monkeypatch.chdir(tmp_path)
    Path("flop.yaml").write_text(SPOT)
    call("solve", "flop.yaml", "-n", 3, "--out", "flop.spot")
    typed = "b15\n1\n1\n1\n1\n1\n1\n"
    out = call("play", "flop.yaml", "--against", "flop.spot", "--seat", "oop", "--games", 1, "--seed", 3, typed=typed)
    assert "a bet to a total of 15 chips is not allowed here; this opponent supports only the spot's sizes" in out
    assert "board 3s 7h Td   pot 20" in out
    assert "after 1 game: " in out
    assert "EV lost" in out
    out = call("play", "flop.yaml", "--against", "uniform", "--games", 2, "--seed", 5, typed="1\n" * 12)
    assert "after 2 games: " in out
    assert call("play", "flop.yaml", "--against", "run", code=2).count("\n") == 1


def test_a_bet_that_the_game_leaves_out_can_be_typed() -> None:
    """Who solves again takes it into its game; who plays a table cannot."""
    options = ("--games", 1, "--seed", 1, "--seat", 0)
    deep = "deepstack(leaf=zero,iterations=10)"
    out = call("play", "no_limit_leduc", "--against", deep, *options, typed="250\n" + "1\n" * 6)
    assert "1 check   2 bet 200   3 allin 1100" in out
    assert "; bet 250, " in out
    assert "after 1 game: " in out
    out = call("play", "no_limit_leduc", "--against", deep, *options, typed="bet 5000\nq\n")
    assert "no action 5000.0" in out or "at most" in out
    out = call("play", "no_limit_leduc", "--against", "openspiel", *options, typed="250\n" + "1\n" * 6, code=2)
    assert "cannot tell which OpenSpiel game" in out


def test_three_sit_at_the_table() -> None:
    out = call(
        "play", "kuhn_poker(players=3)", "--against", "blueprint(file=uniform)", "--games", 3, "--seed", 1, typed="1\n" * 9
    )
    assert [f"game {number}: you are player {number - 1}" in out for number in (1, 2, 3)] == [True] * 3
    assert "player 2 knew" in out


def test_long_lists_of_bets_are_short() -> None:
    names = ["fold", "call", *(f"raise {chips}" for chips in range(4, 90)), "allin 200"]
    assert listed(names) == ["1 fold", "2 call", "3 raise 4 ... 88 raise 89", "89 allin 200"]
    gaps = [f"bid {card}" for card in (1, 2, 3, 5, 6, 7, 9, 10, 12)]
    assert listed(gaps) == [f"{number} {name}" for number, name in enumerate(gaps, start=1)]


def test_boards_stand_straight() -> None:
    out = call("play", "phantom_ttt(rows=2,columns=2,line=2)", "--against", "uniform", "--seat", 0, typed="1\nq\n")
    assert "  you know   ..\n             ..\n             tried nothing yet\n" in out
