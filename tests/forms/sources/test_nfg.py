"""Gambit's strategic-form files, by hand and against pygambit."""

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import FileError
from treeplex.forms.sources.nfg_read import parse_nfg
from treeplex.games.base import Game

PAYOFFS = """NFG 1 R "Chicken and more" { "Ann" "Bob" } { 3 2 }
"a comment"
1 1  0 2  7/2 0
0.5 4  1e1 -3  -1 0
"""
OUTCOMES = """NFG 1 R "the same" { "Ann" "Bob" } { { "a" "b" "c" } { "left" "right" } }
""
{ { "x" 1, 1 } { "y" 0 2 } { "" 7/2, 0 } { "z" 0.5, 4 } { "" 10, -3 } { "w" -1, 0 } }
1 2 3 4 5 6
"""


def payoffs_after(game: Game, *actions: int) -> list[float]:
    state = game.new_initial_state()
    for action in actions:
        state = state.child(action)
    return list(state.returns())


@pytest.mark.parametrize("text", [PAYOFFS, OUTCOMES])
def test_both_versions(text: str) -> None:
    game = parse_nfg(text)
    found = [payoffs_after(game, i, j) for j in range(2) for i in range(3)]
    assert found == [[1, 1], [0, 2], [3.5, 0], [0.5, 4], [10, -3], [-1, 0]]
    assert (game.player_names, game.spec) == (("Ann", "Bob"), "text.nfg")
    assert Fraction(7, 2) in {node.payoffs[0] for node in game.nodes if node.payoffs}
    names = [game.nodes[0].actions, game.nodes[1].actions]
    assert names == ([("1", "2", "3"), ("1", "2")] if text is PAYOFFS else [("a", "b", "c"), ("left", "right")])


def test_outcome_0_pays_nothing() -> None:
    game = parse_nfg('NFG 1 R "" { "A" } { { "x" "y" } } "" { { "o" 5 } } 0 1')
    assert [payoffs_after(game, 0), payoffs_after(game, 1)] == [[0.0], [5.0]]


def test_they_are_solved(tmp_path: Path) -> None:
    path = tmp_path / "pennies.nfg"
    path.write_text('NFG 1 R "Pennies" { "A" "B" } { 2 2 }\n3 -3 -2 2 -1 1 1 -1')
    assert tp.solve(str(path), "lp").value[0] == pytest.approx(1 / 7)
    assert tp.compile(str(path)).infosets == (1, 1)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 2), (1, 2, 2, 3)])
def test_against_gambit(shape: tuple[int, ...], tmp_path: Path) -> None:
    gambit = pytest.importorskip("pygambit")
    payoffs = np.random.default_rng(3).integers(-9, 9, (len(shape), *shape))
    path = tmp_path / "game.nfg"
    path.write_text(gambit.Game.from_arrays(*payoffs).to_nfg())
    ours = tp.load(str(path))
    for profile in itertools.product(*map(range, shape)):
        assert payoffs_after(ours, *profile) == payoffs[(slice(None), *profile)].tolist()
    assert tp.compile(ours).infosets == (1,) * len(shape)
    tp.formats.write_efg(str(path), tmp_path / "game.efg")
    assert len(gambit.read_efg(str(tmp_path / "game.efg")).players) == len(shape)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EFG 2 R", r"a\.nfg:1: not an \.nfg file: it must begin with NFG 1 R"),
        ('NFG 2 R "" { "A" } { 2 } 1 2', "format version 2, but only version 1 is supported"),
        ('NFG 1 R "" { "A" "B" } { 2 } 1 2', "strategies of 1 players, but the file lists 2 players"),
        (
            'NFG 1 R "" { "A" "B" }\n{ 2 2 }\n1 2 3',
            "3: the file ends early; give each player's payoff for each of 4",
        ),
        ('NFG 1 R "" { "A" } { 2 } 1 2 3', "expected the end of the file after 2 profiles, found 3"),
        ('NFG 1 R "" { "A" } { { "x" "y" } } { { "o" 1 } } 1 2', "unknown outcome 2; write 1 to 1, or 0 for none"),
        ('NFG 1 R "" { "A" "B" } { 1 1 } { { "o" 1 } } 1', "1 payoffs for 2 players"),
        ('NFG 1 R "" { "A" "B" } { 99999999999 2 } 1', "the file is too short for their payoffs"),
        ('NFG 1 R "" { "A" "B" } { 30 30 } 1', "900 profiles, but the file is too short"),
        ('NFG 1 R "" { "A" } { { } } 1', "player 1 has no strategies"),
        ('NFG 1 R "" { "A" } { 0 }', "player 1 has no strategies"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        parse_nfg(text, "a.nfg")
