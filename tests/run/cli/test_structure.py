"""``treeplex info --structure``: what it prints, and games that it can tell of though they do not compile."""

import json
from pathlib import Path

import pytest

from tests.commands import call
from treeplex.forms.structure import classes as structure

OPEN_LOOP = """
from treeplex import TERMINAL, Game, State

class TwoRounds(Game):
    spec = ""

    def new_initial_state(self):
        return Moves(())

class Moves(State):
    def __init__(self, moves):
        self.moves = moves

    def current_player(self):
        return len(self.moves) % 2 if len(self.moves) < 4 else TERMINAL

    def legal_actions(self, player=None):
        return [0, 1]

    def child(self, action):
        return Moves((*self.moves, action))

    def returns(self):
        a, b, c, d = self.moves
        won = float((a == b) + 2 * (c == d) - (a == d))
        return [won, -won]

    def information_state_string(self, player=None):
        return f"{player} at {len(self.moves)}"
"""


def structure_of(*arguments: object) -> dict[str, object]:
    return json.loads(call("info", *arguments, "--structure", "--json")[0])


@pytest.mark.slow
def test_json() -> None:
    found = structure_of("kuhn_poker")
    assert (found["game"], found["infosets"]) == ("kuhn_poker", [6, 6])
    structure = found["structure"]
    assert isinstance(structure, dict)
    assert structure["perfect_recall"] == {"holds": True, "why": ""}
    assert structure["single_act"] == {"holds": False, "why": "player 0 moves again after [chance 0, chance 1, Pass, Bet]"}
    assert structure["pieces"] == {"count": 1, "static": 0, "players": 2, "infosets": 12}
    assert structure["levels"] == []
    assert structure["sub_forms"] is None


def test_without_the_option_nothing_is_said_of_it() -> None:
    assert "structure" not in json.loads(call("info", "kuhn_poker", "--json")[0])
    assert "perfect recall" not in call("info", "kuhn_poker")[0]


@pytest.mark.slow
def test_for_people() -> None:
    out, _ = call("info", "rock_paper_scissors", "--structure")
    assert "histories" in out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "perfect recall yes" in lines
    assert "ladder-nested form yes" in lines
    assert "ladder-nested game yes" in lines
    assert "open-loop game yes" in lines
    assert "sub-extensive forms 1" in lines
    out, _ = call("info", "kuhn_poker", "--structure")
    assert "as with single-act" in out
    assert "pieces 1, static 0; the largest has 12 infosets with a choice, of 2 players" in out


def test_games_in_which_players_forget() -> None:
    game = "goofspiel(num_cards=4,points_order=descending)"
    assert "lacks perfect recall" in call("info", game, code=2)[1]
    found = structure_of(game)
    assert "infosets" not in found
    assert (found["histories"], found["structure"]["pieces"]) == (1077, None)  # type: ignore[index]
    assert "needs perfect recall; --refine restores it" in call("info", game, "--structure")[0]
    refined = structure_of(game, "--refine")
    assert refined["structure"]["feedback"]["holds"]  # type: ignore[index]
    assert refined["structure"]["levels"] == [0, 2, 4]  # type: ignore[index]
    assert "infosets" in refined


def test_open_loop_games(tmp_path: Path) -> None:
    (tmp_path / "rounds.py").write_text(OPEN_LOOP, encoding="utf-8")
    game = f"{tmp_path / 'rounds.py'}:TwoRounds"
    assert "lacks perfect recall" in call("info", game, code=2)[1]
    assert "open_loop(game=...) converts it to a static game" in " ".join(call("info", game, "--structure")[0].split())
    found = structure_of(f"open_loop(game={game})")
    assert found["infosets"] == [1, 1]
    assert found["sequences"] == [5, 5]
    solved = json.loads(call("solve", f"open_loop(game={game})", "-a", "lp", "--json")[0])
    assert solved["nash_conv"] == pytest.approx(0.0, abs=1e-9)
    assert "not an open-loop game: after 0 moves" in call("info", "open_loop(game=kuhn_poker)", code=2)[1]


def test_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "MOST_HISTORIES", 1000)
    out, err = call("info", "leduc_poker", "--structure", code=2)
    assert out == ""
    assert err.startswith("error: leduc_poker has more than 1,000 histories; choose smaller parameters")
