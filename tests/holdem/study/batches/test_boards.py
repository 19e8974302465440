"""Lists of boards."""

import pytest

from treeplex.errors import FileError, SpecError
from treeplex.holdem.cards.cards import HANDS, parse_cards
from treeplex.holdem.cards.evaluator import CLASS_SHIFT, FIVE_CLASSES, strengths
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.study.batches.boards import all_flops, check_symmetric, read_boards, subset, texture_of


def names(text):
    return [board.name for board in read_boards(text)]


def test_given_boards(tmp_path):
    assert names("AsKd2c, Td9d6h") == ["AsKd2c", "Td9d6h"]
    assert [board.weight for board in read_boards("AsKd2c:12;Td9d6h:0.5")] == [12, 0.5]
    (tmp_path / "few.txt").write_text("As Kd 2c\n# no board\nTd9d6h:24  # two-tone\n\n")
    assert [(board.name, board.weight) for board in read_boards(str(tmp_path / "few.txt"))] == [("AsKd2c", 1), ("Td9d6h", 24)]
    assert names("AsKd2c3h4d") == ["AsKd2c3h4d"]


def test_all_flops_by_counting():
    flops = all_flops()
    assert len(flops) == 1755
    assert sum(board.weight for board in flops) == 22_100
    suits = {
        count: sum(board.weight for board in flops if len({card & 3 for card in board.cards}) == count) for count in (1, 2, 3)
    }
    assert suits == {1: 4 * 286, 2: 4 * 3 * 13 * 78, 3: 4 * 13**3}


def test_textures_by_counting():
    flops = [(texture_of(board.cards), board.weight) for board in all_flops()]

    def count(**wanted):
        return sum(weight for each, weight in flops if all(getattr(each, name) == value for name, value in wanted.items()))

    assert (count(pairing="trips"), count(pairing="paired"), count(pairing="unpaired")) == (52, 3744, 18_304)
    assert (count(suits="monotone"), count(suits="two-tone"), count(suits="rainbow")) == (1144, 12_168, 8788)
    assert count(high="A") == 22_100 - 48 * 47 * 46 / 6
    assert texture_of(parse_cards("AsAd2h2c9d")) == ("two-tone", "two pair", "A", "disconnected")
    assert texture_of(parse_cards("9s8s7s6sAd")) == ("four-flush", "unpaired", "A", "connected")
    assert texture_of(parse_cards("2s2d2h7c7d")).pairing == "full house"


@pytest.mark.parametrize("board", ["Ad5h3c", "KdQh9c", "KdQh8c", "8d7h7c", "8d7h4c", "9d4h2c", "AdKhTc", "Ah9c8d2s"])
def test_connected_boards_are_those_with_a_straight(board):
    cards = parse_cards(board)
    free = HANDS[[not set(hand) & set(cards) for hand in HANDS]]
    straight = (strengths(cards, free) >> CLASS_SHIFT == FIVE_CLASSES.index("straight")).any()
    assert texture_of(cards).connected == ("connected" if straight else "disconnected")


@pytest.mark.parametrize("count", [1, 7, 25, 184, 1755])
def test_samples_are_even(count):
    boards = subset(count)
    assert len({board.name for board in boards}) == len(boards)
    assert sum(board.weight for board in boards) == pytest.approx(22_100)
    paired = sum(board.weight for board in boards if len({card >> 2 for card in board.cards}) == 2) / 22_100
    assert paired == pytest.approx(0.169, abs=1.5 / count)
    assert subset(count) == boards


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "boards is empty"),
        (" , ", "no boards"),
        ("AsKd", "has 2 cards"),
        ("AsKd2c,Zz2c3c", "'Zz' is not a card"),
        ("AsKd2c,KdAs2c", "KdAs2c is given twice (as AsKd2c)"),
        ("AsAsKd", "As appears twice"),
        ("AsKd2c,AsKd2c3c", "different streets"),
        ("AsKd2c:x", "the weight 'x'"),
        ("AsKd2c:0", "the weight '0'"),
        ("subset", "write subset:25"),
        ("subset:0", "from 1 to 1755"),
        ("subset:1756", "from 1 to 1755"),
        ("subset:-3", "write subset:25"),
        ("a\0b", "boards: cards"),
        ("every", "or a file"),
    ],
)
def test_mistakes(text, says):
    with pytest.raises(SpecError) as caught:
        read_boards(text)
    assert says in str(caught.value)


def test_mistakes_in_files(tmp_path):
    (tmp_path / "few.txt").write_text("AsKd2c\n\nAsKd\n")
    with pytest.raises(SpecError, match=r"few.txt:3: 'AsKd' has 2 cards"):
        read_boards(str(tmp_path / "few.txt"))
    with pytest.raises(FileError, match="check the path"):
        read_boards(str(tmp_path / "none.txt"))


def test_one_flop_stands_for_others_only_where_suits_are_alike():
    plain, suited = parse_range("22+,AKs"), parse_range("22+,AsKs")
    check_symmetric((plain, plain), all_flops())
    check_symmetric((plain, suited), read_boards("AsKd2c"))
    with pytest.raises(SpecError, match=r"ip: .* is suit-specific"):
        check_symmetric((plain, suited), all_flops())
    assert parse_cards("AsKd2c") == read_boards("AsKd2c")[0].cards
