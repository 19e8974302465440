"""Hands of poker rooms as PHH, played by PokerKit."""

import random
import tomllib
from contextlib import suppress

import pytest

from tests.holdem.study.review.hands import GG, STARS
from treeplex.errors import FileError, SpecError
from treeplex.holdem.study.report.hand_history import read_hand
from treeplex.holdem.study.report.room_text import big_blind_of, is_room_text, phh_texts

pytest.importorskip("pokerkit")


def test_pokerstars():
    (text,) = phh_texts(STARS)
    data = tomllib.loads(text)
    assert data["players"] == ["Carl: x", "Dora", "Alice", "Bob, the (1st)", "Hero"]
    assert data["starting_stacks"] == [87, 1140.25, 100, 112.5, 100]
    assert (data["blinds_or_straddles"], data["min_bet"]) == ([0.5, 1, 0, 0, 0], 1)
    assert data["actions"][4:10] == ["d dh p5 AsQd", "p3 f", "p4 f", "p5 cbr 2.50", "p1 f", "p2 cc"]
    assert data["actions"][-2:] == ["p2 cbr 70.75", "p5 f"]


def test_two_hands_in_a_file(tmp_path):
    file = tmp_path / "hands.txt"
    file.write_text("\ufeff" + STARS + "\n\n\n" + GG)
    first, second = read_hand(file), read_hand(file, hand=2)
    assert (first.board, first.pot, first.stack, first.players) == ("Td9d6h", 5.5, 97.5, ("Dora", "Hero"))
    assert first.line == "x,b2.75,c,Qc,x,b8,r24,c,2s,a,f"
    assert (second.board, second.pot, second.stack, second.line) == ("2h3d4s", 2, 9, "a,c")
    assert second.players == ("Hero", "2b2a7a9b")
    with pytest.raises(SpecError, match="there is no hand 3; hands are numbered from 1 to 2"):
        read_hand(file, hand=3)


def test_antes_and_blinds_out_of_turn():
    text = STARS.replace(
        "Dora: posts big blind $1\n",
        "Dora: posts big blind $1\nAlice: posts big blind $1\nBob, the (1st): posts the ante $0.25\n",
    )
    data = tomllib.loads(phh_texts(text)[0])
    assert data["blinds_or_straddles"] == [0.5, 1, -1, 0, 0]
    assert data["antes"] == [0, 0, 0, 0.25, 0]


def test_a_missed_blind_is_dead():
    """On GGPoker it is posted beside the blinds of the hand, and does not count as a bet."""
    text = GG.replace("*** HOLE", "Hero: posts missed blind $0.05\n*** HOLE")
    data = tomllib.loads(phh_texts(text)[0])
    assert (data["players"], data["antes"]) == (["Hero", "2b2a7a9b"], [0, 0.05])  # heads-up from the small blind
    assert data["blinds_or_straddles"] == [0.05, 0.1]
    both = text.replace("*** HOLE", "Hero: posts the ante $0.01\n*** HOLE")
    assert tomllib.loads(phh_texts(both)[0])["antes"] == [0, 0.06]


def test_who_sits_out_is_dealt_in_where_it_posts_or_acts():
    """In tournaments the seat's ante is in the pot; a seat that was just moved is out of the hand."""
    moved = STARS.replace("is sitting out", "out of hand (moved from another table into small blind)")
    assert phh_texts(moved)[0].partition("_head")[0] == phh_texts(STARS)[0].partition("_head")[0]
    dealt = moved.replace("*** HOLE", "Eve: posts the ante $0.25\n*** HOLE").replace("Alice: folds", "Eve: folds\nAlice: folds")
    for text in (dealt, dealt.replace("Eve: posts the ante $0.25\n", "")):
        data = tomllib.loads(phh_texts(text)[0])
        assert data["players"] == ["Carl: x", "Dora", "Eve", "Alice", "Bob, the (1st)", "Hero"]
        assert data["antes"][2] == 0.25 * ("ante" in text)
        assert data["actions"][6:8] == ["p3 f", "p4 f"]


def test_a_straddle_is_not_the_big_blind():
    data = tomllib.loads(phh_texts(STARS.replace("*** HOLE CARDS ***", "Alice: posts straddle $2\n*** HOLE CARDS ***"))[0])
    assert (data["blinds_or_straddles"], data["min_bet"]) == ([0.5, 1, 2, 0, 0], 1)
    assert big_blind_of([0, 0, 0, 2]) == 2  # only the button posts


def test_the_small_blind_of_two_is_listed_first():
    data = tomllib.loads(phh_texts(GG)[0])
    assert (data["players"], data["blinds_or_straddles"]) == (["Hero", "2b2a7a9b"], [0.05, 0.1])
    assert data["actions"] == [
        "d dh p1 AhKd",
        "d dh p2 AcAd",
        "p2 cbr 0.25",
        "p1 cbr 1",
        "p2 cc",
        "d db 2h3d4s",
        "p1 cbr 9.5",
        "p2 cc",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Hold'em No Limit", "Omaha Pot Limit", "only no-limit hold'em"),
        (" is the button", "", "the button cannot be found"),
        ("posts", "pays", "the blinds cannot be found"),
    ],
)
def test_what_cannot_be_read(old, new, says):
    with pytest.raises(SpecError, match=says):
        phh_texts(STARS.replace(old, new))
    assert not is_room_text("variant = 'NT'\n")


def test_a_name_is_no_toml():
    name = 'x"]\\nactions=["'
    data = tomllib.loads(phh_texts(STARS.replace("Dora", name))[0])
    assert name in data["players"]
    assert len(data["actions"]) == len(tomllib.loads(phh_texts(STARS)[0])["actions"])


def test_damaged_texts_are_read_or_refused(tmp_path):
    draw = random.Random(1)
    file = tmp_path / "hand.txt"
    read = 0
    for _ in range(150):
        lines = STARS.splitlines()
        for _ in range(draw.randint(1, 3)):
            place = draw.randrange(1, len(lines))
            match draw.randrange(4):
                case 0:
                    del lines[place]
                case 1:
                    lines.insert(place, draw.choice(lines))
                case 2:
                    lines[place] = lines[place][: draw.randrange(len(lines[place]) + 1)]
                case _:
                    lines[place] = lines[place].replace(draw.choice("0123456789$: "), draw.choice("9-$é "), 1)
        file.write_text("\n".join(lines))
        with suppress(SpecError, FileError):
            read_hand(file)
            read += 1
    assert 0 < read < 150
