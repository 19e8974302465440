"""Texts of several sites split into hands and read by PokerKit."""

import pytest

pytest.importorskip("pokerkit")

from tests.holdem.study.report.site_hands import ACPC, PARTY, SITES
from tests.holdem.study.review.hands import GG, STARS
from treeplex.errors import FileError, SpecError
from treeplex.holdem.study.report.hand_history import hand_of_text
from treeplex.holdem.study.report.hand_texts import HandText, split_hands
from treeplex.holdem.study.review.played_hand import played_hand


@pytest.mark.parametrize("site", SITES)
def test_the_same_hand_of_every_site(site):
    text = SITES[site]
    first, second = split_hands(f"{text}\n\n{text.replace('Dora', 'Dana')}")
    assert (first.format, second.format) == (site, site)
    assert first.digest != second.digest
    assert first.digest == split_hands(text.replace("\n", "  \r\n"))[0].digest
    hand = played_hand(f"{text}\n")
    assert (hand.names, hand.hero, hand.cards, hand.big_blind) == (("Ann", "Ben"), 0, ("AhKd", ""), 0.5)
    assert [part.position for part in hand.parts] == ["SB", "BB"]
    flop, turn, river = hand.streets
    assert (flop.board, flop.pot, flop.stack, flop.line) == ("Td9d6h", 3, 48.5, "b2,c,Qc,x,x,2s,x,b4,f")
    assert (turn.pot, river.pot, river.line) == (7, 7, "x,b4,f")
    assert played_hand(f"{second.text}\n").names == ("Ann", "Ben")


def test_acpc_logs():
    first, second = split_hands(ACPC)
    assert first.history().players == ["Ann", "Ben"]
    hand = played_hand(ACPC, hero="ben")
    assert (hand.hero, hand.cards, hand.big_blind) == (1, ("AhKd", "8c7c"), 100)
    assert hand.streets[0].line == "x,b300,c,Qc,x,x,2s,x,b600,f"
    with pytest.raises(SpecError, match="no street begins with exactly two players"):
        played_hand(ACPC, number=2)
    limit = "STATE:0:rc/cc/cc/rf:AhKd|8c7c/Td9d6h/Qc/2s:-2|2:Ann|Ben"
    with pytest.raises(SpecError, match="only no-limit hold'em"):
        hand_of_text(limit)
    with pytest.raises(FileError, match="not a hand history"):
        hand_of_text(ACPC.splitlines()[1][:60])
    assert second.digest != first.digest


def test_hands_of_other_games_and_unknown_texts():
    with pytest.raises(SpecError, match="PartyPoker hand of another game: only no-limit hold'em"):
        hand_of_text(PARTY.replace("NL Texas", "Pot Limit Omaha"))
    with pytest.raises(FileError, match="not a hand history"):
        hand_of_text(PARTY.replace("Ann raises", "Zoe raises"))
    assert split_hands("nothing of interest\n") == []
    with pytest.raises(FileError, match="not a hand history"):
        hand_of_text("nothing of interest\n")


def test_truncated_texts(capsys):
    first, second = split_hands(f"{STARS}\n\n{GG[:700]}")
    assert (first.cut_off, second.cut_off) == (False, True)
    assert split_hands(SITES["iPoker"].partition('<round no="4">')[0])[0].cut_off
    hands = split_hands("[1]\nvariant = 'NT'\nactions = []\n\n[2]\nvariant = 'NT'\nactions = ['p1 f")
    assert [hand.format for hand in hands] == ["PHH", "PHH"]
    with pytest.raises(FileError, match="not a hand history"):
        hands[1].history()
    assert not HandText("x", "PHH").cut_off
    assert capsys.readouterr().err == ""  # PokerKit's tracebacks are not shown
