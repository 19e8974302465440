"""Hands to PHH and back, and as PokerKit reads and writes them."""

import random
from pathlib import Path
from typing import Any

import pytest
from pokerkit import HandHistory

from tests.holdem.whole.test_pokerkit import deal, deal_hands, play, random_action, random_table
from treeplex.errors import FileError, GameError, SpecError
from treeplex.holdem.betting.rules import CALL
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.named import holdem
from treeplex.holdem.whole.phh import phh_of, read_phh, write_phh


@pytest.mark.slow_cases(
    "0",
    "5",
    "6",
    "7",
    "9",
    "10",
    "12",
    "13",
    "17",
    "24",
    "27",
    "29",
    "33",
    "34",
    "35",
    "36",
    "37",
    "41",
    "48",
    "50",
    "53",
    "58",
)
@pytest.mark.parametrize("seed", range(60))
def test_pokerkit_reads_our_hands_and_we_read_them_again(seed: int, tmp_path: Path) -> None:
    generator = random.Random(seed)
    game, theirs = random_table(generator, divmod)
    state = deal_hands(game.new_initial_state(), theirs, generator)
    while not state.is_terminal():
        if state.is_chance_node():
            state = deal(state, theirs, generator)
        else:
            state = play(theirs, state, random_action(state, generator))
    write_phh(state, tmp_path / "hand.phh")
    history = HandHistory.loads((tmp_path / "hand.phh").read_text())
    *_, end = history
    assert not end.status
    assert list(end.payoffs) == list(theirs.payoffs)
    again = read_phh(tmp_path / "hand.phh")
    assert again.table == state.table
    assert again.hands == state.hands
    assert again.board == state.board
    assert list(again.returns()) == list(state.returns())


def test_a_hand_of_pokerkit(tmp_path: Path) -> None:
    """Dwan against Antonius, 2009: an example of the format's own pages, three players with antes."""
    text = """variant = "NT"
ante_trimming_status = true
antes = [500, 500, 500]
blinds_or_straddles = [1000, 2000, 0]
min_bet = 2000
starting_stacks = [1125600, 2000000, 553500]
actions = [
  "d dh p1 Ac2d", "d dh p2 5h7s", "d dh p3 7h6h",
  "p3 cbr 7000", "p1 cbr 23000", "p2 f", "p3 cc",
  "d db Jc3d5c", "p1 cbr 35000", "p3 cc",
  "d db 4h", "p1 cbr 90000", "p3 cbr 232600", "p1 cbr 1067100", "p3 cc",
  "p1 sm Ac2d", "p3 sm 7h6h", "d db Jh",
]
"""
    (tmp_path / "dwan.phh").write_text(text)
    state = read_phh(tmp_path / "dwan.phh")
    assert list(state.returns()) == [-553500.0, -2500.0, 556000.0]
    *_, end = HandHistory.loads(text)
    assert list(state.returns()) == list(end.payoffs)
    assert sum(state.returns()) == 0


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    path = tmp_path / "hand.phh"
    good = phh_of_a_fold()
    for text, error, message in [
        ("variant = [", FileError, "not a hand history"),
        (good.replace("NT", "PO"), SpecError, "only hold'em"),
        (good.replace("AsKs", "????"), SpecError, "are not known"),
        (good.replace("p2 f", "p1 f"), SpecError, "is illegal after"),
        (good.replace("p2 f", "p2 cbr 3"), GameError, "cannot raise to 3"),
        (good.replace("p2 f", "p2 cbr 0"), SpecError, "is not a raise; write cc to check or call"),
        (good.replace("p2 f", "p2 cbr 1"), SpecError, "is not a raise"),
    ]:
        path.write_text(text)
        with pytest.raises(error, match=message):
            read_phh(path)


def phh_of_a_fold() -> str:
    state = holdem().new_initial_state()
    for action in (51, 47, 0, 1):
        state = state.child(action)
    with pytest.raises(GameError, match="not over"):
        phh_of(state)
    return phh_of(state.child(0))


def test_names_of_players(tmp_path: Path) -> None:
    state = holdem(dealer=0).new_initial_state()
    for action in (51, 47, 0, 1, 0):
        state = state.child(action)
    text = phh_of(state, ['the "shark"', "Ann\\"])
    assert HandHistory.loads(text).players == ["Ann\\", 'the "shark"']  # the first after the dealer first
    (tmp_path / "hand.phh").write_text(text)
    assert read_phh(tmp_path / "hand.phh").hands == [state.hands[1], state.hands[0]]


@pytest.mark.parametrize("rake", [{"rake": 0.05}, {"rake": 0.1, "rake_cap": 1.5, "no_flop_no_drop": True}])
def test_rake_comes_back(rake: dict[str, Any], tmp_path: Path) -> None:
    state = checked_down(**rake)
    write_phh(state, tmp_path / "hand.phh")
    again = read_phh(tmp_path / "hand.phh")
    assert again.game.rules.rake == state.game.rules.rake
    assert list(again.returns()) == list(state.returns())
    assert sum(again.returns()) < 0
    *_, end = HandHistory.loads((tmp_path / "hand.phh").read_text())  # PokerKit knows no rake, and is not confused by it
    assert sum(end.payoffs) == 0


@pytest.mark.parametrize("rules", [{}, {"raises": 2}, {"bets": [3, 3, 5, 5], "raises": [4, 3, 2, 1]}])
def test_fixed_limits_come_back(rules: dict[str, Any], tmp_path: Path) -> None:
    state = checked_down(**{"bets": [2, 2, 4, 4], **rules})
    write_phh(state, tmp_path / "hand.phh")
    again = read_phh(tmp_path / "hand.phh").game.rules.betting
    assert (again.limits, again.most) == (state.game.rules.betting.limits, state.game.rules.betting.most)
    *_, end = HandHistory.loads((tmp_path / "hand.phh").read_text())
    assert list(end.payoffs) == list(state.returns())


def test_fixed_limits_without_words_are_refused() -> None:
    with pytest.raises(GameError, match=r"one bet size for the first two streets and one for the last two, not \(2, 4, 4, 8\)"):
        phh_of(checked_down(bets=[2, 4, 4, 8]))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[1, 2]", "[0.5, 1]", "0.5 is not a whole number of chips; multiply all amounts of the hand by 2"),
        ("[200, 200]", "[100.25, 200]", "100.25 is not a whole number of chips; multiply all amounts of the hand by 4"),
        ("p2 cc", "p2 cbr 4.5", "4.5 is not a whole number of chips"),
    ],
)
def test_parts_of_chips_are_refused_with_what_makes_them_whole(old: str, new: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "hand.phh").write_text(phh_of(checked_down()).replace(old, new, 1))
    with pytest.raises(SpecError, match=words):
        read_phh(tmp_path / "hand.phh")


def test_whole_chips_may_have_a_point(tmp_path: Path) -> None:
    (tmp_path / "hand.phh").write_text(phh_of(checked_down()).replace("[1, 2]", "[1.0, 2.0]", 1))
    assert read_phh(tmp_path / "hand.phh").returns() == checked_down().returns()


def checked_down(**rules: Any) -> HoldemHistory:
    """A hand of two players in which nobody bets."""
    state = holdem(**rules).new_initial_state()
    for action in (51, 47, 0, 1):
        state = state.child(action)
    while not state.is_terminal():
        state = state.child(state.legal_actions()[5] if state.is_chance_node() else CALL)
    return state
