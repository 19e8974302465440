"""What commands print: tables where there is little room."""

import pickle
from pathlib import Path

import pytest
import typer
from rich.text import Text
from typer.testing import CliRunner

from treeplex.errors import FileError
from treeplex.forms.sources.load import load
from treeplex.run.cli.main import app
from treeplex.run.cli.shared import failures
from treeplex.run.cli.shared.console import print_entries, print_facts, print_table


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_column_vanishes(columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    rows = [["cfr-jr(plus=1)", *["1.234567890e-02"] * 6], ["cfr-s", *["-1.0"] * 6]]
    print_table(["algorithm", *(f"number {number}" for number in range(6))], rows, right=range(1, 7))
    lines = capsys.readouterr().out.splitlines()
    assert sum("cfr-jr(plus=1)" in line and line.count("1.234567890e-02") == 6 for line in lines) == 1
    assert sum("cfr-s" in line and line.count("-1.0") == 6 for line in lines) == 1


def test_long_texts_are_folded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_table(["class", "why"], [["nested", "word " * 30]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert "".join(lines).count("word") == 30


ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
"""Sets a terminal's title, clears it, turns the direction of writing, and colours."""
STEERING = ("\x1b", "\x07", "\x9b", "\u202e", "\x00")
EFG = f"""EFG 2 R "a game{ESCAPE}" {{ "A" "B" }}
p "" 1 1 "one{ESCAPE}" {{ "left{ESCAPE}" "right" }} 0
t "" 1 "" {{ 1, -1 }}
t "" 2 "" {{ 0, 0 }}
"""
MODULE = """
import treeplex as tp


class Only(tp.State):
    def __init__(self, over=False):
        self.over = over

    def current_player(self):
        return tp.TERMINAL if self.over else 0

    def legal_actions(self, player=None):
        return [0]

    def child(self, action):
        return Only(True)

    def returns(self):
        return [0.0, 0.0]

    def information_state_string(self, player=None):
        return "one" + ESCAPE

    def action_to_string(self, action):
        return "left" + ESCAPE


class Escapes(tp.Game):
    def new_initial_state(self):
        return Only()
"""


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("a.efg").write_text(EFG)
    Path("mine.py").write_text(f"ESCAPE = {ESCAPE!r}\n{MODULE}")


@pytest.mark.quick_cases("a.efg")
@pytest.mark.usefixtures("games")
@pytest.mark.parametrize("game", ["a.efg", "mine.py:Escapes"])
def test_names_from_files_do_not_steer_the_terminal(game: str) -> None:
    run = CliRunner()
    commands = [
        (["solve", game, "-n", "2", "--out", "run"], ""),
        (["show", "run", "--game", game], r"one\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"),
        (["evaluate", game, "run", "--worst", "3"], r"one\x1b"),
        (["show", "run", "--game", game, "--json"], r"one\u001b"),
        (["info", game], ""),
        (["play", game, "--against", "uniform", "--games", "1"], r"left\x1b"),
    ]
    for command, words in commands[: -1 if game == "a.efg" else None]:  # which says nothing of what player 1 knows
        result = run.invoke(app, command, input="1\n" * 5)
        assert result.exit_code == 0, (command, result.output, result.exception)
        assert words in result.stdout
        assert not any(mark in result.output for mark in STEERING), command
    result = run.invoke(app, ["show", "run", "--game", game, "--infostate", "two"])
    assert result.exit_code == 2
    assert not any(mark in result.output for mark in STEERING)


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    "text",
    [
        EFG.replace("{ 1, -1 }", f"{{ {ESCAPE}, -1 }}"),
        EFG.replace("{ 1, -1 }", f"{{ 1{'x' * 100_000}, -1 }}"),
        EFG.replace('t "" 1', f'{ESCAPE} "" 1'),
        EFG + 't "" 2 "" { 0, 0 }\n',
    ],
)
def test_errors_are_short_and_do_not_steer_the_terminal(text: str) -> None:
    Path("a.efg").write_text(text)
    with pytest.raises(FileError) as caught:
        load("a.efg")
    result = CliRunner().invoke(app, ["info", "a.efg"])
    assert result.exit_code == 2
    for message in (str(caught.value), result.stderr):
        assert not any(mark in message for mark in STEERING)
        assert len(message) < 2100
        assert "a.efg:" in message


def test_long_errors_keep_their_remedy() -> None:
    error = FileError(f"file.json: {'x' * 100_000}; write it again\x1b")
    assert str(error).startswith("file.json: xxx")
    assert str(error).endswith(r"xxx; write it again\x1b")
    assert len(str(error)) < 2100
    assert str(FileError("a\nb\tc é 东 😀")) == "a b\tc é 东 😀"
    assert str(pickle.loads(pickle.dumps(FileError("a\x1b")))) == r"a\x1b"


def test_tables_and_facts_are_printable(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["a"], [[ESCAPE], [Text(ESCAPE, "bold")]], title=ESCAPE)
    print_facts({"name": ESCAPE}, title=ESCAPE)
    print_entries([(ESCAPE, [ESCAPE, ESCAPE])])
    with pytest.raises(typer.Exit):
        failures.fail(ESCAPE, 2)
    out, err = capsys.readouterr()
    assert not any(mark in out + err for mark in STEERING)
    assert (out + err).count(r"\x9b31m") == 9
