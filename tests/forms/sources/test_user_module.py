"""Games in users' own files."""

import os
import sys
from pathlib import Path

import pytest

from treeplex.errors import GameError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.user_module import load_user_game

RULES = """\
from dataclasses import dataclass

import beside
from treeplex.errors import SpecError
from treeplex.games.base import TERMINAL, Game, State
from treeplex.games.registry import load as built_in


@dataclass(frozen=True)
class Choice(State):
    n: int
    chosen: int | None = None

    def current_player(self):
        return 0 if self.chosen is None else TERMINAL

    def legal_actions(self, player=None):
        return range(self.n)

    def child(self, action):
        return Choice(self.n, action)

    def returns(self):
        return [self.chosen, -self.chosen]

    def information_state_string(self, player=None):
        return beside.NAME


@dataclass(frozen=True)
class Choose(Game):
    n: int = 2

    def new_initial_state(self):
        return Choice(self.n)


class IncompleteGame(Game):
    pass


class FailingGame(Game):
    def __init__(self, n=1):
        self.n = 1 / (n - 1)

    def new_initial_state(self):
        raise ValueError


def make(n):
    return Choose(n) if n else built_in("kuhn_poker")


def refuse():
    raise SpecError("n must be even")


def spiel():
    import pyspiel

    return pyspiel.load_game("kuhn_poker")


READY = Choose(5)
NUMBER = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mygame.py").write_text(RULES)
    (tmp_path / "beside.py").write_text('NAME = "top"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("mygame.py:Choose", 2),
        ("mygame.py:Choose(n=4)", 4),
        ("mygame.py:make(n=3)", 3),
        ("mygame.py:READY", 5),
    ],
)
def test_classes_functions_and_games(folder: Path, text: str, actions: int) -> None:
    game = load_user_game(text)
    assert game.spec == text
    assert compile_game(game).sequences == (actions + 1, 1)
    assert compile_game(game).infostates == ("top",)
    assert str(folder) not in sys.path


def test_absolute_path(folder: Path) -> None:
    assert load_user_game(f"{folder}/mygame.py:Choose(n=3)").new_initial_state().legal_actions() == range(3)


def test_built_in_games_keep_their_spec(folder: Path) -> None:
    assert load_user_game("mygame.py:make(n=0)").spec == "kuhn_poker"


def test_openspiel_games(folder: Path) -> None:
    pytest.importorskip("pyspiel")
    game = load_user_game("mygame.py:spiel")
    assert (game.spec, compile_game(game).size.histories) == ("mygame.py:spiel", 58)
    (folder / "own.py").write_text(
        "from open_spiel.python.games.kuhn_poker import KuhnPokerGame\n\n\nclass Mine(KuhnPokerGame):\n    pass\n"
    )
    assert compile_game(load_user_game("own.py:Mine")).size.histories == 58
    assert load_user_game("own.py").spec == "own.py"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("other.py:Choose", r"no file other\.py"),
        ("mygame.py:Chose", r"defines no 'Chose'; did you mean 'Choose'"),
        ("mygame.py:Choose(m=3)", r"unexpected keyword argument 'm'; its signature is \(n: int = 2\)"),
        ("mygame.py:make", r"missing a required argument: 'n'"),
        ("mygame.py:READY(n=3)", "has parameters"),
        ("mygame.py", r"no game selected in mygame\.py: it defines Choose, FailingGame; write"),
        ("beside.py", "no class that derives"),
        ("mygame.py!Choose", "cannot read"),
        ("mygame.py:refuse", "n must be even"),
    ],
)
def test_bad_specs(folder: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load_user_game(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mygame.py:IncompleteGame", "class IncompleteGame lacks new_initial_state"),
        ("mygame.py:NUMBER", "returned a int, not a game"),
        ("mygame.py:FailingGame", r"^mygame\.py:44: ZeroDivisionError: .*division"),
        ("syntax.py:X", r"syntax\.py:2: "),
        ("deep.py:X", r"^deep\.py:3: JSONDecodeError"),
        ("exits.py:X", r"^exits\.py:2: SystemExit: 3"),
        ("raises.py:X", r"^raises\.py:2: KeyError: 'x' \(while running the file\)"),
    ],
)
def test_broken_code(folder: Path, text: str, message: str) -> None:
    (folder / "syntax.py").write_text("x = 1\ndef f(:\n")
    (folder / "raises.py").write_text("\n{}['x']\n")
    (folder / "deep.py").write_text("import json\n\njson.loads('{')\n")
    (folder / "exits.py").write_text("import sys\nsys.exit(3)\n")
    before = set(sys.modules)
    with pytest.raises(GameError, match=message):
        load_user_game(text)
    assert not [name for name in set(sys.modules) - before if "syntax" in name or "raises" in name]


TWO_TURNS = """\
import treeplex as tp


class Turn(tp.State):
    def __init__(self, moves=()):
        self.moves = moves

    def current_player(self):
        return tp.CHANCE if not self.moves else 0 if len(self.moves) == 1 else tp.TERMINAL

    def legal_actions(self, player=None):
        return [0, 1]

    def chance_outcomes(self):
        return [(0, 0.5), (1, 0.5)]

    def child(self, action):
        return Turn((*self.moves, action))

    def returns(self):
        return [1.0, -1.0]

    def information_state_string(self, player=None):
        return str(self.moves)


class Turns(tp.Game):
    def new_initial_state(self):
        return Turn()
"""


def test_two_turns(tmp_path: Path) -> None:
    (tmp_path / "turns.py").write_text(TWO_TURNS)
    assert compile_game(f"{tmp_path}/turns.py:Turns").infosets == (2, 0)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("return [1.0, -1.0]", "return [1 / 0, 0.0]", r"turns\.py:21: ZeroDivisionError.*in returns, after history \[0, 0\]"),
        ("return [1.0, -1.0]", "return None", r"returns\(\) is None after history \[1, 1\]; return 2 finite payoffs"),
        ("return [1.0, -1.0]", "return ['a', 'b']", r"after history \[0, 0\]: TypeError"),
        ("return [1.0, -1.0]", "raise SystemExit(3)", r"turns\.py:21: SystemExit: 3"),
        ("return [1.0, -1.0]", "return self.returns()", r"turns\.py:21: RecursionError"),
        ("return [0, 1]", "return None", r"after history \[0\]: TypeError.*state\.legal_actions\(\)"),
        ("return [0, 1]", "return ['l', 'r']", r"\['l', 'r'\] at infostate '\(0,\)' after history \[0\]; return integers"),
        ("return [0, 1]", "return [0.5, 1]", "return integers"),
        ("return [0, 1]", "return [-1, 0]", "return integers"),
        ("return [0, 1]", "return [0, 10**30]", "return integers"),
        (
            "return str(self.moves)",
            "return None",
            r"information_state_string\(0\) is None after history \[1\]; return a string",
        ),
        (
            "return str(self.moves)",
            "return self.moves",
            r"information_state_string\(0\) is \(1,\) after history \[1\]; return a string",
        ),
        ("return [(0, 0.5), (1, 0.5)]", "return [(0, 'half')]", "at the root: TypeError.*probability"),
        ("def chance_outcomes", "def chances", "at the root: NotImplementedError: Turn has a chance node but no"),
        ("return Turn((*self.moves, action))", "return None", r"child\(1\) returns None at the root; return the next state"),
        ("return Turn()", "return Turn(None)", r"turns\.py:18: TypeError: .*NoneType \(in child, at the root\)"),
        ("return tp.CHANCE if", "return None if", "at the root: TypeError"),
        ("    def new", "    num_players = 'two'\n\n    def new", "num_players 'two'"),
    ],
)
def test_rules_that_fail_while_they_are_walked(tmp_path: Path, right: str, wrong: str, words: str) -> None:
    assert right in TWO_TURNS
    (tmp_path / "turns.py").write_text(TWO_TURNS.replace(right, wrong))
    with pytest.raises(GameError, match=words):
        compile_game(f"{tmp_path}/turns.py:Turns")


def test_rules_whose_action_names_fail_too(tmp_path: Path) -> None:
    names = "\n    def action_to_string(self, action):\n        raise KeyError(action)\n\n    def returns"
    (tmp_path / "turns.py").write_text(TWO_TURNS.replace("\n    def returns", names))
    with pytest.raises(GameError, match=r"turns\.py:21: KeyError: 0 \(in action_to_string, after the actions \[0\]\)"):
        compile_game(f"{tmp_path}/turns.py:Turns")


def test_a_binary_file_is_no_python(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(bytes(range(256)))
    with pytest.raises(GameError, match=r"binary\.py: source code string cannot contain null bytes"):
        load_user_game(f"{tmp_path}/binary.py:Game")


def test_exceptions_without_a_text(tmp_path: Path) -> None:
    """An exception whose own text raises is named by its kind."""
    mute = "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\n\n\n"
    (tmp_path / "mute.py").write_text(f"{mute}raise Mute\n")
    with pytest.raises(GameError, match=r"mute\.py:6: Mute \(while running the file\)"):
        load_user_game(f"{tmp_path}/mute.py:Game")
    (tmp_path / "turns.py").write_text(mute + TWO_TURNS.replace("return [1.0, -1.0]", "raise Mute"))
    with pytest.raises(GameError, match=r"turns\.py:\d+: Mute \(in returns"):
        compile_game(f"{tmp_path}/turns.py:Turns")


def test_a_file_changed_within_a_second_runs_as_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "quick.py"
    text = "from treeplex.games.builtin.kuhn_poker import KuhnPoker\nKUHN = KuhnPoker({})\n"
    for players in (2, 3, 2):
        file.write_text(text.format(players))
        os.utime(file, (10**9, 10**9))  # as far as times and sizes tell, nothing changed
        assert load_user_game(f"{file}:KUHN").num_players == players
