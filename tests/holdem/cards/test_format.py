import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import HANDS, cards_to_string, parse_cards
from treeplex.holdem.cards.format import HOLDEM, Format, format_named, formats, rhode_island, royal, small


def test_holdem() -> None:
    assert HOLDEM.hands is HANDS
    assert (HOLDEM.streets, HOLDEM.board_size, HOLDEM.board_sizes) == (4, 5, (0, 3, 4, 5))
    assert HOLDEM.names([0, 1325]) == ["2d2c", "AsAh"]
    assert [HOLDEM.street(parse_cards(board)) for board in ("", "Td9d6h", "Td9d6hQc", "Td9d6hQc2s")] == [0, 1, 2, 3]


def test_small_formats() -> None:
    assert cards_to_string(small().deck) == "QcQdKcKdAcAd"
    assert small().names() == ["Qc", "Qd", "Kc", "Kd", "Ac", "Ad"]
    assert (len(rhode_island().hands), rhode_island().board_sizes) == (52, (0, 1, 2))
    assert len(rhode_island(ranks=6).deck) == 24
    assert royal().hands.shape == (190, 2)
    assert royal().names([0, 189]) == ["TdTc", "AsAh"]
    assert small(4, 2, hole=2, deal=(3,)).street(parse_cards("AcKcQc")) == 0


def test_hands_are_cached_ascending_and_read_only() -> None:
    game = royal()
    assert game.hands is game.hands
    assert game.hands.dtype == np.uint8
    assert [tuple(hand) for hand in game.hands.tolist()] == sorted(tuple(hand) for hand in game.hands.tolist())
    with pytest.raises(ValueError, match="read-only"):
        game.hands[0, 0] = 1


@pytest.mark.parametrize(
    "format",
    [
        HOLDEM,
        royal(),
        rhode_island(),
        rhode_island(5),
        small(),
        small(2, 4, 2, (0, 1, 2)),
        small(5, 4, 1, (0, 2), ranking="three"),
    ],
)
def test_names_find_the_same_format(format: Format) -> None:
    assert format_named(format.name) == format


def test_formats_are_listed() -> None:
    assert [format_named(name).name.partition("(")[0] for name in formats()] == list(formats())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("holdm", "did you mean 'holdem'"),
        ("omaha_hi_lo_8", "unknown format 'omaha_hi_lo_8'"),
        ("holdem(ranks=3)", "no parameter 'ranks'; it has no parameters"),
        ("small(rank=3)", "did you mean 'ranks'"),
        ("small(ranks=three)", "write an integer"),
        ("small(ranks=true)", "write an integer"),
        ("small(ranks=14)", "ranks is 14; it must be from 1 to 13"),
        ("small(suits=0)", "suits is 0; it must be from 1 to 4"),
        ("small(hole=3)", "holds 1 or 2 cards"),
        ("small(deal=3)", r"write integers in brackets, such as \[0,3,1,1\]"),
        ("small(deal=[0,0])", "at least 1 on each street"),
        ("small(deal=[-1,2])", "at least 1 on each street"),
        ("small(deal=[])", "write integers in brackets"),
        ("small(ranking=fiv)", "did you mean 'five'"),
        ("small(ranks=2,hole=2,deal=[0,1])", "need 5 cards, but the deck has 4"),
        ("small(ranks=13,suits=4,hole=2,deal=[0,3,1,1,1])", "evaluates at most 7"),
        ("small(ranks=4,hole=2,deal=[0,2],ranking=three)", "evaluates at most 3"),
        ("rhode_island(ranks=0)", "ranks is 0"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        format_named(spec)


@pytest.mark.parametrize("deck", [(0, 1, 2, 3, 3, 4), (5, 4, 3, 2, 1, 0), (48, 49, 50, 51, 52)])
def test_bad_decks(deck: tuple[int, ...]) -> None:
    with pytest.raises(SpecError, match="in ascending order, each once"):
        Format("mine", deck, 1, (0, 1))


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("TdTc", "has 2 cards, but in royal boards have 0, 3, 4, 5 cards"),
        ("TdTc9h", "board 'TdTc9h': 9h is not in the deck of royal"),
    ],
)
def test_bad_boards(board: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        royal().street(parse_cards(board))


def test_a_board_has_no_card_twice() -> None:
    with pytest.raises(SpecError, match="2c appears twice"):
        HOLDEM.street((0, 1, 0))
