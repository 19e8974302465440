"""Whole hands at the terminal: ``treeplex play "holdem(...)"``."""

import re
from pathlib import Path
from typing import Any

import pytest
from pokerkit import HandHistory
from typer.testing import CliRunner

from treeplex.holdem.cli.shared.hands import name_of, usual_opponent
from treeplex.holdem.tables.whole import WholeTable
from treeplex.holdem.whole.phh import read_phh
from treeplex.run.cli.main import app
from treeplex.search.cli.play import Seat

SMALL = ("holdem(ranks=5,suits=2,stack=8)", "--against", "rules(style=caller)", "--seed", 1)
WHOLE = ("holdem(stack=60)", "--against", "rules(style=caller)", "--seed", 1)


def play(*arguments: object, typed: str = "", code: int = 0) -> str:
    """Run ``treeplex play`` with what a person types."""
    result = CliRunner().invoke(app, ["play", *map(str, arguments)], input=typed)
    assert result.exit_code == code, (arguments, result.output, result.exception)
    assert "Traceback" not in result.output
    return result.output


def test_blinds_move_and_hands_end_in_words() -> None:
    out = play(*SMALL, "-n", 2, typed="c\n" * 20)
    assert out.startswith(
        "hold'em, no limit, blinds 0.5 and 1 bb, stacks 4 bb, 10 cards; against rules(style=caller): checks and "
    )
    assert "hand 1: you are the button (small blind)\n" in out
    assert "hand 2: you are the big blind\n" in out
    assert out.count("showdown\n") == 2
    assert out.count("\nriver   ") == 2
    assert re.search(r"\n  caller   [2-9TJQKA][cd] [2-9TJQKA][cd]   (pair|two pair|three|straight|full)", out)
    assert re.search(r"\n2 hands: [+-][\d.]+ bb, [+-][\d,.]+ bb/100 \(no 95% interval for fewer than 30 hands\)\n", out)
    assert "\nwinnings adjusted for luck (AIVAT): " in out
    assert re.search(r"\nEV lost: about [\d.]+ bb in \d+ of \d+ decisions judged", out)
    assert out.endswith("; an estimate against this opponent, as if both check and call to the end\nthank you for playing\n")


def test_wrong_input_is_asked_again() -> None:
    out = play(*SMALL, "-n", 1, typed="nonsense\n9\n\nraise to 1.5bb\nraise to 2.5 bb\n" + "c\n" * 9)
    assert "'nonsense' is not one of the actions; type a number or a name, or quit" in out
    assert "a bet to 1.5 bb on this street is not allowed; from 2 bb to 4 bb in steps of 0.5 bb" in out
    assert "you      raise to 2.5 bb" in out
    assert "caller   call 1.5 bb" in out


def test_a_seat_is_kept() -> None:
    out = play(*SMALL, "-n", 3, "--seat", "bb", typed="c\n" * 30)
    assert out.count("you are the big blind") == 3
    assert "button" not in out


def test_cards_are_shown_after_a_fold_only_where_that_is_asked_for() -> None:
    for more in ((), ("--reveal",)):
        out = play(*SMALL, "-n", 1, *more, typed="fold\n")
        assert ("caller had" in out) == bool(more)
        assert "you lose 0.5 bb\n" in out
        assert "showdown" not in out


def test_quitting_within_a_hand_keeps_those_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = play(*SMALL, "--log", "hands.txt", typed="fold\nc\nquit\n")
    assert "the unfinished hand does not count\n" in out
    assert "\n1 hand: -0.5 bb, -50.0 bb/100 (no 95% interval for fewer than 30 hands)\n" in out
    assert "1 hand saved in hands.txt" in out
    text = Path("hands.txt").read_text()
    assert text.startswith("hold'em, no limit, blinds 0.5 and 1 bb")
    assert text.count("hand 1: ") == 1
    assert "hand 2: " not in text
    assert "  you hold " in text
    assert "  caller had   " in text  # the file says everything
    assert "no hand was finished" in play(*SMALL, typed="")


def test_ctrl_c_within_a_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was finished is saved and summed up."""
    from treeplex.holdem.cli.shared import hands

    whole, calls = hands.asked, list[int]()

    def pressed(table: WholeTable, options: dict[int, str]) -> int:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(table, options)

    monkeypatch.setattr(hands, "asked", pressed)
    out = play(*WHOLE, "--phh", tmp_path / "hands", typed="fold\n", code=130)
    assert "\n1 hand: -0.5 bb" in out
    assert [path.name for path in (tmp_path / "hands").iterdir()] == ["hand-1.phh"]


@pytest.mark.slow
def test_hand_histories_are_read_by_pokerkit(tmp_path: Path) -> None:
    """One file a hand, or all in one; later hands go behind earlier ones."""
    folder, file = tmp_path / "hands", tmp_path / "hands.phhs"
    out = play(*WHOLE, "-n", 2, "--phh", folder, typed="raise to 3bb\nall in\n" + "c\n" * 9)
    assert "2 hands saved in " in out
    assert f"treeplex holdem review {folder / 'hand-2.phh'} --hero you" in out
    assert "next" not in play(*WHOLE, "-n", 1, "--phh", folder, typed="fold\n")  # nothing after the flop to judge
    assert sorted(path.name for path in folder.iterdir()) == ["hand-1.phh", "hand-2.phh", "hand-3.phh"]
    for _ in range(2):
        play(*WHOLE, "-n", 1, "--phh", file, typed="raise to 3bb\nall in\n")
    hands = [HandHistory.loads((folder / f"hand-{number}.phh").read_text()) for number in (1, 2, 3)]
    hands += HandHistory.loads_all(file.read_text())
    assert len(hands) == 5
    assert hands[0].players == ["caller", "you"]  # the big blind first
    assert hands[1].players == ["you", "caller"]
    for hand in hands:
        *_, end = hand
        assert not end.status
        assert sum(end.payoffs) == 0
    *_, end = hands[0]
    state = read_phh(folder / "hand-1.phh")
    assert list(state.returns()) == list(end.payoffs)
    assert abs(state.returns()[0]) in (0, 60)
    assert state.table.line.startswith("r6c/")


def test_hand_histories_of_limit_holdem(tmp_path: Path) -> None:
    game = "holdem(bets=[2;2;4;4],raises=[3;4;4;4],stack=200)"
    out = play(game, *WHOLE[1:], "-n", 1, "--phh", tmp_path / "hands.phhs", typed="raise\nbet\nc\nbet\n")
    assert "hold'em, limit, blinds 0.5 and 1 bb, stacks 100 bb, bets 1 and 2 bb; against" in out
    assert "next" not in out  # reviews are of no limit
    (hand,) = HandHistory.loads_all((tmp_path / "hands.phhs").read_text())
    *_, end = hand
    assert hand.variant == "FT"
    assert {abs(gain) for gain in end.payoffs} in ({10}, {0})


def test_streets_are_solved_after_a_hand() -> None:
    """Decisions there are judged by the solution, others by the charts and solves of resolver; amounts are in big blinds."""
    out = play(*WHOLE, "-n", 1, "--review", "river", typed="c\n" * 3 + "all in\n")
    (line,) = re.findall("according to the solution, (.*)", out)
    assert re.fullmatch(r"river: all-in 29 bb loses [\d.]+ bb; better: (check|bet [\d.]+ bb)", line)
    assert re.search(r"\nEV lost: [\d.]+ bb in 1 of 1 decision judged \(river [\d.]+\); by solving the streets", out)
    assert re.search(r"\n. of 1 preflop decisions are rare \(below 5%\); by the preflop chart", out)
    assert re.search(r"\n(EV lost: .* judged.*; against the solves of resolver|. decisions? not judged)", out)


def test_hands_without_such_a_street_are_not_solved() -> None:
    assert "by the solution" not in play(*WHOLE, "-n", 1, "--review", "river", typed="all in\n")


@pytest.mark.slow_cases(
    "arguments4-other.phhs is not a file of hand histories",
    "arguments13---review is 'rivers'; give the first street to solve: flop, turn, river",
)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*SMALL, "--seat", "oops"), "--seat is 'oops'; write button or bb"),
        ((*SMALL, "--phh", "hands"), "hand histories need hold'em with 52 cards"),
        ((*WHOLE, "--phh", "hand.phh"), "holds only one hand; give a folder, or hand.phhs"),
        ((*WHOLE, "--phh", "nowhere/hands"), "there is no folder nowhere"),
        ((*WHOLE, "--phh", "other.phhs"), "other.phhs is not a file of hand histories"),
        ((*WHOLE, "--log", "nowhere/hands.txt"), "create the folder nowhere first"),
        ((*SMALL, "--board", "3s7hTdKs"), "--board applies to hold'em spots, not to holdem(ranks=5,suits=2,stack=8)"),
        ((*SMALL, "--boards"), "--boards applies to spots only"),
        ((*SMALL, "-n", 0), "Input should be greater than or equal to 1"),
        ((*SMALL, "--think", "2s"), "think is a search setting"),
        (("holdem(stack=0)",), "stack"),
        (("holdem(stack=1)", "--against", "uniform"), "with stack=1 no player has a decision after the blinds of 1/2"),
        (("holdem(stack=60)", "--against", "ruels"), "unknown agent or policy file 'ruels'"),
        ((*WHOLE, "--review", "rivers"), "--review is 'rivers'; give the first street to solve: flop, turn, river"),
        ((*SMALL, "--review", "river"), "--review needs heads-up no-limit hold'em with 52 cards"),
        (("kuhn_poker", "--against", "uniform", "--reveal"), "--reveal applies to hands of hold'em, not to kuhn_poker"),
        (("kuhn_poker",), "no opponent given; name one"),
    ],
)
def test_mistakes_are_one_line(
    arguments: tuple[object, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.phhs").write_text("no history")
    out = play(*arguments, code=2)
    assert words in out
    assert out.startswith("error: ")
    assert out.count("\n") == 1
    assert not (tmp_path / "hands").exists()


@pytest.mark.slow
def test_the_usual_opponent() -> None:
    from treeplex.holdem.whole.named import holdem

    given: list[tuple[dict[str, Any], str]] = [
        ({"stack": 100}, "resolver"),
        ({"stack": 400}, "resolver"),
        ({"stack": 400, "bets": [2, 2, 4, 4]}, "rules(style=regular)"),
        ({"players": 3}, "rules(style=regular)"),
    ]
    wanted = Seat(None, None, None, None, None, None, 1, {})
    for rules, whom in given:
        assert usual_opponent(holdem(**rules), wanted)[0] == whom
    out = play("holdem(stack=30,bets=[2;2;4;4])", "--seed", 1, typed="fold\nq\n")
    assert (
        "against rules(style=regular): tight and aggressive: plays few hands and bets them (--against names another)\n" in out
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rules(style=maniac)", "maniac"),
        ("rebel", "rebel"),
        ("endgames(blueprint=runs/deep)", "endgames"),
        ("my.py:MyAgent(depth=3)", "MyAgent"),
    ],
)
def test_what_opponents_are_called(text: str, name: str) -> None:
    assert name_of(text) == name


def test_more_players_than_two() -> None:
    out = play("holdem(players=3,stack=20)", "--against", "uniform", "--seed", 2, "-n", 3, typed="fold\ncheck\n" * 9)
    assert re.findall(r"hand \d: you are (.*)", out) == ["BTN", "BB", "SB"]  # the button moves to the left
    assert re.search(r"\n  (SB|BB)    ", out)
