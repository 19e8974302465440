"""One door to all games."""

from pathlib import Path

import pytest

from treeplex.errors import FileError, SpecError
from treeplex.forms.sources.efg import write_efg
from treeplex.forms.sources.explicit_tree import TreeGame
from treeplex.forms.sources.liteefg import write_game_file
from treeplex.forms.sources.load import load
from treeplex.forms.sources.openspiel import OpenSpielGame
from treeplex.games import registry
from treeplex.games.turn_based import TurnBased
from treeplex.spec import Spec


def test_built_in_games() -> None:
    assert load(" kuhn_poker(players=3) ").num_players == 3
    assert load(Spec("kuhn_poker", {"players": 3})).spec == load("kuhn_poker(players=3)").spec
    rules = registry.load("kuhn_poker")
    assert load(rules) is rules


def test_files(tmp_path: Path) -> None:
    write_efg(registry.load("kuhn_poker"), tmp_path / "a.efg")
    write_game_file(registry.load("kuhn_poker"), tmp_path / "a.game")
    for name in ("a.efg", "a.game"):
        game = load(str(tmp_path / name))
        assert isinstance(game, TreeGame)
        assert (len(game.nodes), game.spec) == (58, str(tmp_path / name))
    with pytest.raises(FileError, match="no such file"):
        load("none.efg")


def test_openspiel() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    game = load("openspiel:first_sealed_auction(players=3)")
    assert isinstance(game, OpenSpielGame)
    assert load(game.spec).spec == game.spec
    assert load(pyspiel.load_game("kuhn_poker")).spec == "openspiel:kuhn_poker"
    assert load(Spec("openspiel:kuhn_poker", {"players": 3})).num_players == 3


def test_turn_based() -> None:
    game = load("turn_based(game=kuhn_poker(players=3))")
    assert isinstance(game, TurnBased)
    assert load(game.spec).spec == game.spec


@pytest.mark.parametrize("spec", ["open_loop", "open_loop()", "open_loop(game=)", "open_loop(game=kuhn_poker,players=3)"])
def test_a_wrapper_needs_one_game(spec: str) -> None:
    with pytest.raises(SpecError, match=r"open_loop takes a game and nothing else; write open_loop\(game=\.\.\.\)"):
        load(spec)


def test_users_games(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from treeplex.games.registry import load\n\n\ndef game():\n    return load('kuhn_poker')\n"
    )
    assert load(f"{tmp_path}/mine.py:game").spec == "kuhn_poker"


@pytest.mark.parametrize(("thing", "message"), [("kuhn", "did you mean"), (3, "cannot load a game from int")])
def test_what_is_no_game(thing: object, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(thing)
