"""Compiled spots: which boards stand for which, who can hold what there, and how large everything is."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest

from tests.poker_games import FLOP, SPOTS, SYMMETRIC, both, dealt, no_limit, random_ranges, renamed_hands, unfold, unfolded
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.engine.form import ANY_CARD, COUNT, NO_CARD
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.first_street import compile_first_street
from treeplex.holdem.forms.suit_symmetry import Hands, symmetries_of
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import holdem, turn_endgame_holdem
from treeplex.holdem.spots.spot import Spot

OUT = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IN = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
SMALL = SPOTS | SYMMETRIC
FOLDED = {"two suits alike": 2, "three suits alike": 6, "suits alike in pairs": 4, "all suits alike": 24}


def compiled(name: str, isomorphism: bool) -> CompiledSpot:
    return both(name).folded if isomorphism else both(name).hands


def all_deals(spot: Spot) -> list[set[tuple[frozenset[int], ...]]]:
    """Every board of every street, as the sets of cards dealt."""
    first = (*(frozenset() for _ in range(spot.street)), frozenset(spot.board))
    streets = [{first[-1:]}]
    for street in spot.streets[1:]:
        below = set()
        for before in streets[-1]:
            left = [card for card in spot.format.deck if not any(card in cards for cards in before)]
            below |= {(*before, frozenset(cards)) for cards in combinations(left, spot.format.deal[street])}
        streets.append(below)
    return streets


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("isomorphism", [False, True])
def test_boards_and_their_copies_are_all_deals(name: str, isomorphism: bool) -> None:
    game = compiled(name, isomorphism)
    spot, sizes = game.spot, game.spot.format.board_sizes
    for street, (boards, expected) in enumerate(zip(unfolded(game), all_deals(spot), strict=True)):
        found = [dealt(each.cards, sizes[spot.street : spot.street + street + 1]) for each in boards]
        assert len(found) == len(set(found))
        assert set(found) == expected
    if not isomorphism:
        assert [len(boards) for boards in game.boards] == [len(boards) for boards in unfolded(game)]


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetries_are_found(name: str) -> None:
    game = both(name).folded
    assert len(game.boards[0][0].symmetries) == FOLDED[name]
    assert game.stored < 0.75 * both(name).hands.stored
    assert game.boards[0][0].symmetries[0] == (0, 1, 2, 3)


def test_what_breaks_a_symmetry() -> None:
    spot = SYMMETRIC["two suits alike"]
    (asymmetric, *_) = np.flatnonzero(renamed_hands(FLOP, (0, 2, 1, 3)) != np.arange(len(FLOP.hands)))
    ranges = spot.ranges[0].copy(), spot.ranges[1]
    ranges[0][asymmetric] += 0.1
    assert len(symmetries_of(spot, Hands(spot))) == 2
    for changed in (
        Spot(spot.board, 4, 7, ranges, spot.bets, format=FLOP),
        Spot(parse_cards("Ad"), 4, 7, spot.ranges, spot.bets, format=FLOP),
    ):
        assert symmetries_of(changed, Hands(changed)) == [(0, 1, 2, 3)]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("isomorphism", [False, True])
def test_hands_of_boards(name: str, isomorphism: bool) -> None:
    game = compiled(name, isomorphism)
    cards = game.spot.format.hands
    for street, boards in enumerate(game.boards):
        for board in boards:
            for player in (0, 1):
                free = ~np.isin(cards, board.cards).any(axis=1) & (game.spot.ranges[player] > 0)
                assert sorted(board.hands[player]) == np.flatnonzero(free).tolist()
                if street:
                    above = game.boards[street - 1][board.parent].hands[player]
                    np.testing.assert_array_equal(above[board.source[player]], board.hands[player])
            if street == len(game.boards) - 1:
                check_order(game, board.cards, board.hands, board.order)


def check_order(
    game: CompiledSpot, cards: tuple[int, ...], hands: tuple[np.ndarray, ...], order: tuple[np.ndarray, ...]
) -> None:
    strength = format_strengths(game.spot.format, cards)
    for player in (0, 1):
        assert (np.diff(order[player]) >= 0).all()
    signs = np.sign(order[0][:, None] - order[1][None, :])
    np.testing.assert_array_equal(signs, np.sign(strength[hands[0]][:, None] - strength[hands[1]][None, :]))


@pytest.mark.parametrize("name", SMALL)
def test_targets_are_renamed_hands(name: str) -> None:
    game = both(name).folded
    for above, below in pairwise(game.boards):
        for board in below:
            parent = above[board.parent]
            for copy, targets in zip(board.copies, board.targets, strict=True):
                for player in (0, 1):
                    image = renamed_hands(game.spot.format, copy)[board.hands[player]]  # type: ignore[arg-type]
                    np.testing.assert_array_equal(parent.hands[player][targets[player]], image)


@pytest.mark.parametrize("name", SMALL)
def test_compatible_weight_and_arrays(name: str) -> None:
    game = both(name).hands
    cards, form = game.spot.format.hands, game.form
    shared = (cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
    assert game.compatible == pytest.approx(game.spot.ranges[0] @ ~shared @ game.spot.ranges[1], rel=1e-12)
    assert form.factors[0] == 1.0
    for street in game.spot.streets[1:]:
        left = len(game.spot.format.deck) - game.spot.format.board_sizes[street - 1] - 2 * game.spot.format.hole
        assert form.factors[game.first_boards[street - game.spot.street]] == pytest.approx(
            1 / comb(left, game.spot.format.deal[street])
        )
    hands = [board.hands for boards in game.boards for board in boards]
    assert form.boards[:, COUNT].tolist() == [len(each[0]) for each in hands]
    start = 0
    for each in hands:
        for player in (0, 1):
            own, other = each[player], each[1 - player].tolist()
            rows = form.cards[start : start + len(own)]
            twins = form.twin[start : start + len(own)]
            np.testing.assert_array_equal(rows[:, 0], cards[own][:, 0])
            if game.spot.format.hole == 2:
                np.testing.assert_array_equal(rows[:, 1:], cards[own][:, [1, 1]])
                assert twins.tolist() == [other.index(hand) if hand in other else -1 for hand in own]
            else:
                assert (rows[:, 1] == ANY_CARD).all()
                assert (rows[:, 2] == NO_CARD).all()
                assert (twins == -1).all()
            start += len(own)
    assert start == len(form.cards)


@pytest.mark.slow_cases("three streets", "deal")
@pytest.mark.parametrize("name", SPOTS)
def test_infosets_are_those_of_the_rules(name: str) -> None:
    game = both(name)
    reachable = sum(place.kept.size for place in game.places)
    assert reachable == sum(game.compiled.infosets)
    assert game.hands.infosets >= reachable
    stored = np.concatenate([place.stored.ravel() for place in game.places])
    assert len(np.unique(stored)) == len(stored)
    assert stored.max() < game.hands.stored


@pytest.mark.quick_cases("dcfr-two suits alike")
@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+"])
def test_isomorphism_changes_no_step(name: str, algorithm: str) -> None:
    """From equal states, every step of the folded game is that of the whole one.

    With two hole cards rounding soon decides differently for a hand and the same hand in other suits.
    """
    game, twos = both(name), both(name).spot.format.hole == 2
    small = HoldemSolver(game.folded, algorithm, threads=1, storage="float64")
    large = HoldemSolver(game.hands, algorithm, threads=1, storage="float64")
    crews = [judging_crew(compiled, 1) for compiled in (game.folded, game.hands)]
    for _ in range(3 if twos else 8):
        found = judge_spot(game.folded, small.store.average, small.store, crews[0])
        expected = judge_spot(game.hands, unfold(game.folded, game.hands, small.store.average), large.store, crews[1])
        assert found.exploitability == pytest.approx(expected.exploitability, rel=1e-10)
        assert (*found.value, *found.best_response_values) == pytest.approx(
            (*expected.value, *expected.best_response_values), rel=1e-9, abs=1e-12
        )
        large.restore(small.iteration, {key: unfold(game.folded, game.hands, a) for key, a in small.arrays().items()})
        small.run(1)
        large.run(1)
        for key, array in small.arrays().items():
            whole = large.arrays()[key]
            np.testing.assert_allclose(
                unfold(game.folded, game.hands, array), whole, rtol=0, atol=1e-11 * np.abs(whole).max(), err_msg=key
            )


@pytest.mark.quick_cases("all suits alike")
@pytest.mark.parametrize("name", SYMMETRIC)
def test_isomorphism_changes_no_value(name: str) -> None:
    values = []
    for game in (both(name).folded, both(name).hands):
        run = HoldemSolver(game, "dcfr", threads=1, storage="float64")
        run.run(150)
        values.append(judge_spot(game, run.store.average, run.store, judging_crew(game, 1)))
    slack = values[0].exploitability + values[1].exploitability
    assert slack < 0.02 * both(name).spot.pot
    assert values[0].value == pytest.approx(values[1].value, abs=2 * slack)


BASIC = BetPlan.same("60%,e,a", "2.5x", river_donk="50%", add_allin=1.5, force_allin=0.15, merge=0.1)
CROSS = BetPlan.same("50%,a", "60%,a")


@pytest.mark.slow_cases("Td9d6h-bets4-163287-82064240-hands4")
@pytest.mark.parametrize(
    ("board", "bets", "decisions", "stored", "hands"),
    [
        ("Td9d6hQc2s", BASIC, 10, 5_369, (167, 246)),
        ("Td9d6hQc2s", CROSS, 16, 9_086, (167, 246)),
        ("Td9d6hQc", BASIC, 2_754, 1_359_513, (167, 250)),
        ("Td9d6hQc", CROSS, 3_088, 1_650_486, (167, 250)),
        ("Td9d6h", BASIC, 163_287, 82_064_240, (180, 265)),
    ],
)
def test_sizes_are_those_of_postflop_solver(
    board: str, bets: BetPlan, decisions: int, stored: int, hands: tuple[int, int]
) -> None:
    """Decision nodes over all boards and hands, with isomorphism, as postflop-solver (b-inary, 2023) counts them.

    It keeps hands that the last cards block, so it stores a little more.
    """
    game = compile_spot(holdem(board, OUT, IN, pot=200, stack=900, bets=bets))
    assert game.decisions == decisions
    assert tuple(map(len, game.boards[0][0].hands)) == hands
    assert 0.9 * stored < game.stored <= stored


def test_turn_endgame_holdem() -> None:
    game = compile_spot(turn_endgame_holdem())
    assert game.decisions == 7_516
    assert game.infosets == 7_488 * 1_081 + 28 * 1_128
    assert game.stored == 48 * 416 * 1_081 + 80 * 1_128
    assert [len(boards) for boards in game.boards] == [1, 48]


def test_spots_without_a_pair_of_hands_are_refused() -> None:
    first, second = np.zeros((2, len(FLOP.hands)))
    first[0] = second[0] = 1.0
    with pytest.raises(SpecError, match="shares a card"):
        compile_spot(Spot(parse_cards("Ac"), 4, 7, (first, second), no_limit(3), format=FLOP))


def test_random_ranges_keep_no_hand_of_weight_zero() -> None:
    spot = Spot(parse_cards("Ac"), 4, 7, random_ranges(FLOP, 0, keep=0.3), no_limit(3), format=FLOP)
    game = compile_spot(spot)
    assert len(game.form.weights) == sum(int((weights > 0).sum()) for weights in spot.ranges)
    assert (game.form.weights > 0).all()


def test_ranges_that_the_next_card_empties_do_not_make_a_spot_a_street_by_itself() -> None:
    spot = holdem("AsKdQh7c", "2c2d", "33,44", pot=10, stack=10, bets=BetPlan.same("100%", "none"))
    game = compile_spot(spot, isomorphism=False)
    assert not len(game.boards[1][0].hands[0])
    assert not game.cut_short
    assert compile_first_street(spot).cut_short
