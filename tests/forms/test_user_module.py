"""Games in users' own files."""

import sys
from pathlib import Path

import pytest

from treeplex.errors import GameError, SpecError
from treeplex.forms.compile import compile_game
from treeplex.forms.user_module import load_user_game

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


class Unfinished(Game):
    pass


class Broken(Game):
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
        ("mygame.py:Choose(m=3)", r"unexpected keyword argument 'm'; it takes \(n: int = 2\)"),
        ("mygame.py:make", r"missing a required argument: 'n'"),
        ("mygame.py:READY(n=3)", "has parameters"),
        ("mygame.py", r"which game of mygame\.py\? it defines Choose, Broken; write"),
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
        ("mygame.py:Unfinished", "class Unfinished lacks new_initial_state"),
        ("mygame.py:NUMBER", "gave a int, not a game"),
        ("mygame.py:Broken", r"^mygame\.py:44: ZeroDivisionError: .*division"),
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
