"""End games of Libratus: the file format, and the exploitability of the uniform strategy that other programs report.

The files are not part of the project: ``TREEPLEX_ENDGAMES`` names the folder of LibratusEndgames' subgame1.txt to subgame4.txt.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from treeplex.errors import FileError, SpecError
from treeplex.holdem.betting.tree import BettingTree, Decision, Fold, Showdown, betting_tree, payoffs
from treeplex.holdem.cards.cards import HANDS, hand_index, parse_cards
from treeplex.holdem.cards.evaluator import strengths
from treeplex.holdem.spots.libratus_endgames import hand_order, misread_strength, misread_strengths, read_libratus_endgame
from treeplex.holdem.spots.spot import Rake, Spot

ENDGAMES = os.environ.get("TREEPLEX_ENDGAMES")
needs_endgames = pytest.mark.skipif(not ENDGAMES, reason="TREEPLEX_ENDGAMES does not name the folder of LibratusEndgames")


def endgame(number: int) -> Path:
    return Path(ENDGAMES or "") / f"subgame{number}.txt"


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Write a file in the format, with some of its lines changed."""
    reach = np.random.default_rng(0).random(2652).round(4)

    def write(**changes: str | None) -> Path:
        lines = {"round": "-round 4", "board": "-board 4s8hTc9h2s", "pot": "-pot 500"}
        lines |= {"reach": "-reach " + " ".join(map(str, reach))}
        path = tmp_path / "subgame.txt"
        path.write_text("\n".join(line for line in (lines | changes).values() if line is not None) + "\n")
        return path

    return write


def test_hands_are_in_the_order_of_the_files() -> None:
    order = hand_order()
    texts = ["2s2h", "2s2d", "2s2c", "2s3s", "2s3h"]
    assert order[:5].tolist() == [hand_index(*parse_cards(text)) for text in texts]
    assert order[-1] == hand_index(*parse_cards("AdAc"))
    assert sorted(order.tolist()) == list(range(1326))


def test_a_file_read_as_it_should_be(written: Callable[..., Path]) -> None:
    spot = read_libratus_endgame(written())
    reach = np.random.default_rng(0).random(2652).round(4)
    assert (spot.board, spot.pot, spot.stack) == (parse_cards("4s8hTc9h2s"), 500, 19750)
    hand = hand_index(*parse_cards("AdAc"))
    assert (spot.ranges[0][hand], spot.ranges[1][hand]) == (reach[1325], reach[2651])
    assert spot.ranges[0][hand_index(*parse_cards("2s2h"))] == 0
    assert spot.strengths is None
    swapped = read_libratus_endgame(written(), decoding="ddcfr")
    np.testing.assert_array_equal(swapped.ranges[0], spot.ranges[1])
    assert swapped.strengths is not None
    assert read_libratus_endgame(written(round="-round 3", board="-board 4s8hTc9h")).streets == range(2, 4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"round": "-round 2"}, "line 1: betting round is '2'"),
        ({"round": None}, "line 1 starts with '-board' instead of '-round'"),
        ({"board": "-board 4s8hTc9h"}, "line 2: 4 cards"),
        ({"board": "-board 4s8hTc9h4s"}, "line 2: .*twice"),
        ({"pot": "-pot half"}, "line 3: pot is 'half'"),
        ({"pot": "-pot 40000"}, "line 3: pot is 40000"),
        ({"reach": None}, "line 4 is missing instead of '-reach'"),
        ({"reach": "-reach " + "0.5 " * 2651}, "line 4: 2651 numbers instead of 2652"),
        ({"reach": "-reach " + "0.5 " * 2651 + "x"}, "line 4: could not convert"),
        ({"reach": "-reach " + "0.5 " * 2651 + "-1"}, "line 4: a reach probability is negative"),
        ({"reach": "-reach " + "0.5 " * 2651 + "nan"}, "line 4: a reach probability is negative or not finite"),
    ],
)
def test_wrong_files_are_refused_with_the_line(
    written: Callable[..., Path], changes: dict[str, str | None], words: str
) -> None:
    with pytest.raises(FileError, match=words):
        read_libratus_endgame(written(**changes))


def test_files_that_cannot_be_read(tmp_path: Path, written: Callable[..., Path]) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_libratus_endgame(tmp_path / "none.txt")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="not UTF-8 text"):
        read_libratus_endgame(tmp_path / "bytes")
    with pytest.raises(SpecError, match="decoding is 'wrong'"):
        read_libratus_endgame(written(), decoding="wrong")
    with pytest.raises(SpecError, match="river files only"):
        read_libratus_endgame(written(round="-round 3", board="-board 4s8hTc9h"), decoding="ddcfr")


def test_misread_cards() -> None:
    board = parse_cards("JsKs5cQs7d")
    right, wrong = strengths(board, HANDS), misread_strengths(board)

    def index(text: str) -> int:
        return hand_index(*parse_cards(text))

    assert wrong[index("4h9h")] == right[index("2s9h")]
    assert wrong[index("3h4d")] == right[index("2d3s")]
    assert wrong[index("AsTs")] == right[index("AsTs")]
    assert wrong[index("5h2c")] == right[index("2h2c")]
    assert wrong[index("4h2s")] == 0
    assert wrong[index("5c9h")] == -1
    touched = np.isin(HANDS, parse_cards("3h4h4d5h5d5s")).any(axis=1)
    np.testing.assert_array_equal(wrong[~touched], right[~touched])


def test_a_copy_of_a_card_counts_by_its_rank_only() -> None:
    four_spades = [*parse_cards("AsKsQsJs9d")]
    pair = strengths(four_spades, np.array([parse_cards("2c2d")], dtype=np.uint8))[0]
    assert misread_strength([*four_spades, *parse_cards("2c"), *parse_cards("2c")]) == pair


@needs_endgames
@pytest.mark.parametrize(("number", "decisions", "terminals"), [(3, 32, 61), (4, 20, 37)])
def test_trees_of_the_river_games(number: int, decisions: int, terminals: int) -> None:
    tree = betting_tree(read_libratus_endgame(endgame(number)))
    assert len(list(tree.decisions())) == decisions
    assert len(tree) - decisions == terminals


@needs_endgames
@pytest.mark.parametrize(("number", "board"), [(1, "7s9h9cTc"), (2, "Ts6hAh7c")])
def test_the_turn_games(number: int, board: str) -> None:
    spot = read_libratus_endgame(endgame(number))
    assert spot.board == parse_cards(board)
    hands = [int((weights > 0).sum()) for weights in spot.ranges]
    assert hands == {1: [828, 965], 2: [855, 405]}[number]


@needs_endgames
@pytest.mark.parametrize(
    ("number", "decoding", "big_blinds"),
    [(3, "true", 25.860), (4, "true", 36.403), (3, "ddcfr", 27.816758), (4, "ddcfr", 38.431199)],
)
def test_exploitability_of_the_uniform_strategy(number: int, decoding: str, big_blinds: float) -> None:
    """The figures of the DDCFR program, and of a copy of it without its two mistakes."""
    spot = read_libratus_endgame(endgame(number), decoding=decoding)
    digits = 3 if decoding == "true" else 6
    assert uniform_exploitability(spot) / 100 == pytest.approx(big_blinds, abs=0.6 * 10**-digits)


def uniform_exploitability(spot: Spot) -> float:
    """The mean gain of best responses to uniform play, in chips, with ranges that sum to 1 each; slow and plain."""
    keys = strengths(spot.board, HANDS) if spot.strengths is None else spot.strengths
    cards = HANDS.astype(int)
    free = (keys[:, None] >= 0) & (keys >= 0) & (cards[:, None, :, None] != cards[:, None]).all(axis=(2, 3))
    uncontested = free.astype(float)
    contested = np.sign(keys[:, None] - keys) * uncontested
    ranges = [weights / weights.sum() for weights in spot.ranges]
    tree = betting_tree(spot)
    gains = 0.0
    for player in (0, 1):
        best, mean = (
            values(tree, 0, player, ranges[1 - player], choose, (uncontested, contested)) for choose in (np.max, np.mean)
        )
        gains += float(ranges[player] @ (best - mean))
    return gains / 2


def values(
    tree: BettingTree,
    number: int,
    player: int,
    reach: NDArray[np.float64],
    choose: Callable[..., NDArray[np.float64]],
    terminals: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """[1326] what each hand of ``player`` gets when the other plays uniformly and reaches the node with ``reach``."""
    node = tree.nodes[number]
    if isinstance(node, Fold):
        return payoffs(node, Rake())[player] * (terminals[0] @ reach)
    if isinstance(node, Showdown):
        return payoffs(node, Rake())[0] * (terminals[1] @ reach)
    assert isinstance(node, Decision)
    if node.player == player:
        return choose([values(tree, child, player, reach, choose, terminals) for child in node.children], axis=0)
    reach = reach / len(node.children)
    return np.sum([values(tree, child, player, reach, choose, terminals) for child in node.children], axis=0)
