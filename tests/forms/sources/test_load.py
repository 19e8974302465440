"""One door to all games."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.spec import Spec
from treeplex.errors import FileError, SpecError
from treeplex.forms.sources.efg_write import write_efg
from treeplex.forms.sources.explicit_tree import ExplicitGame
from treeplex.forms.sources.liteefg_write import write_game_file
from treeplex.forms.sources.load import load
from treeplex.forms.sources.openspiel import OpenSpielGame
from treeplex.games import MatrixGame, registry
from treeplex.games.turn_based import TurnBased


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
        assert isinstance(game, ExplicitGame)
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
    with pytest.raises(SpecError, match=r"open_loop takes only the parameter game; write open_loop\(game=\.\.\.\)"):
        load(spec)


def test_users_games(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from treeplex.games.registry import load\n\n\ndef game():\n    return load('kuhn_poker')\n"
    )
    assert load(f"{tmp_path}/mine.py:game").spec == "kuhn_poker"


ROWS, OTHERS = [[3.0, -1.0], [-2.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]


@pytest.mark.parametrize("game", [ROWS, tuple(map(tuple, ROWS)), np.array(ROWS), [np.array(row) for row in ROWS]])
def test_an_array_is_a_matrix_game(game: Any) -> None:
    assert load(game).spec == "matrix(rows=[[3,-1],[-2,1]])"
    assert tp.solve(game, "lp").value == pytest.approx((1 / 7, -1 / 7))
    assert tp.exploitability(game, "uniform") > 0


@pytest.mark.parametrize("game", [(ROWS, OTHERS), [ROWS, OTHERS], np.array([ROWS, OTHERS]), (np.array(ROWS), np.array(OTHERS))])
def test_a_pair_of_arrays_is_a_game_of_general_sums(game: Any) -> None:
    found = load(game)
    assert isinstance(found, MatrixGame)
    assert found.payoffs.tolist() == [ROWS, OTHERS]


def test_a_compiled_game_is_its_rules() -> None:
    rules = load("kuhn_poker")
    assert load(tp.compile(rules)) is rules


def test_files_are_written_from_specs(tmp_path: Path) -> None:
    write_efg("kuhn_poker", tmp_path / "a.efg")
    write_game_file(tp.compile("kuhn_poker"), tmp_path / "a.game")
    for name in ("a.efg", "a.game"):
        assert tp.compile(str(tmp_path / name)).size.histories == 58
    write_efg([[1, 2], [3, 4]], tmp_path / "matrix.efg")
    assert tp.compile(str(tmp_path / "matrix.efg")).infosets == (1, 1)


@pytest.mark.slow
def test_policies_are_data_frames() -> None:
    pytest.importorskip("pandas")
    policy = tp.Policy.uniform(tp.compile("kuhn_poker"))
    assert policy.to_dataframe().equals(tp.policies.to_dataframe(policy))
    assert len(policy.to_dataframe()) == 24


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("kuhn", "did you mean"),
        (3, "cannot load a game from int"),
        ([1, 2], "one payoff matrix"),
        ([], "one payoff matrix"),
        ([[1, 2], [3]], "row 1 of rows has 1 entries but row 0 has 2"),
        ([[[1, 2]], [[1, 2], [3, 4]]], "give both the same shape"),
        (np.zeros((3, 2, 2)), "or a pair of them"),
        (np.array([["a", "b"]]), "must be a finite number, not 'a'"),
    ],
)
def test_what_is_no_game(thing: object, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(thing)
