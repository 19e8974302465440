"""Values of single hands: equities by enumeration, and a leaf without a network beside betting that never comes."""

from itertools import combinations

import numpy as np
import pytest

from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import royal, small
from treeplex.holdem.engine.showdowns.hand_features import INPUTS, OWN, SHARED
from treeplex.holdem.search.first_street import average_values
from treeplex.holdem.search.leaves.hand_values import HandBoard, HandValues, zero_sum
from treeplex.holdem.search.subgames.subgame import cut_first_street, cut_spot
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot
from treeplex.search.methods import METHODS
from treeplex.search.subgame_search import SubgameSearch

DECK = royal()
BOARDS = ("AsKsQh", "AsKsQhTd", "AsKsQhTdTc")


def enumerated(board: tuple[int, ...], reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compatible reach, and wins less losses times it, of each hand against a range, over all boards to come."""
    hands = DECK.hands
    can = ~np.isin(hands, board).any(axis=1)
    free = ~(hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3)) & np.outer(can, can)
    left, found, boards = [card for card in DECK.deck if card not in board], np.zeros(len(hands)), np.zeros(free.shape)
    for more in combinations(left, 5 - len(board)):
        open_to = free & ~np.isin(hands, more).any(axis=1)[:, None] & ~np.isin(hands, more).any(axis=1)
        strength = format_strengths(DECK, (*board, *more))
        found += (open_to * np.sign(strength[:, None] - strength[None, :])) @ reach
        boards += open_to
    count = boards.max()
    return free @ reach, found / count


@pytest.mark.quick_cases("AsKsQhTdTc")
@pytest.mark.parametrize("text", BOARDS)
def test_equities_are_those_of_an_enumeration(text: str) -> None:
    cards, random = parse_cards(text), np.random.default_rng(1)
    board = HandBoard.of(DECK, cards)
    reach = np.zeros((2, len(DECK.hands)))
    reach[:, board.held] = random.random((2, len(board.held))) ** 3
    mass, equity = board.equities(reach)
    for player in (0, 1):
        met, edge = enumerated(cards, reach[1 - player])
        np.testing.assert_allclose(mass[player], met[board.held], atol=1e-12)
        np.testing.assert_allclose(mass[player] * (2 * equity[player] - 1), edge[board.held], atol=1e-12)
    own = reach[:, board.held] * mass
    assert (own * (equity - 0.5)).sum() == pytest.approx(0, abs=1e-12)
    alike = np.zeros((2, len(DECK.hands)))
    alike[:, board.held] = 1.0
    if len(cards) == 5:
        np.testing.assert_allclose(board.static[:, 0], board.equities(alike)[1][0], atol=1e-12)


@pytest.mark.slow
def test_hands_out_of_range_may_be_left_out() -> None:
    cards, wanted = parse_cards(BOARDS[1]), np.random.default_rng(2).random(len(DECK.hands)) < 0.4
    whole, some = HandBoard.of(DECK, cards), HandBoard.of(DECK, cards, wanted)
    reach = np.zeros((2, len(DECK.hands)))
    reach[:, some.held] = np.random.default_rng(3).random((2, len(some.held)))
    places = np.searchsorted(whole.held, some.held)
    for all_hands_of, those in zip(whole.equities(reach), some.equities(reach), strict=True):
        np.testing.assert_allclose(all_hands_of[:, places], those, atol=1e-12)
    look = whole.look(2.0, 6.0)
    np.testing.assert_allclose(
        whole.rows(reach, *whole.equities(reach), look, 1)[places], some.rows(reach, *some.equities(reach), look, 1), atol=1e-6
    )


@pytest.mark.slow
def test_rows_of_hands() -> None:
    board = HandBoard.of(DECK, parse_cards(BOARDS[2]))
    reach = np.zeros((2, len(DECK.hands)))
    reach[:, board.held] = 1.0
    cards, (mass, equity) = board.format.hands[board.held], board.equities(reach)
    rows = board.rows(reach, mass, equity, board.look(4.0, 8.0), 1)
    assert rows.shape == (len(board.held), INPUTS) == (len(cards), SHARED + OWN)
    assert rows[:, 0] == pytest.approx(np.log(2.0))
    assert (rows[:, 1] == 1).all()
    np.testing.assert_allclose(rows[:, SHARED], 2 * equity[1] - 1, atol=1e-6)
    strongest = int(equity[1].argmax())
    best = equity[0] >= np.sort(equity[0])[int(0.8 * len(cards))]
    blocked = (cards[:, :, None] == cards[strongest]).any(axis=(1, 2)) & best
    assert rows[strongest, SHARED + 6] > rows[int(equity[1].argmin()), SHARED + 6]
    assert rows[strongest, SHARED + 6] > 0 < blocked.sum()
    assert (np.diff(rows[np.argsort(equity[1], kind="stable"), SHARED + 2]) >= 0).all()


def test_without_betting_to_come_the_leaf_is_exact() -> None:
    """Bets on the flop only: the showdown is what follows, so a search agrees with a solve of the whole spot."""
    from treeplex.holdem.forms.compile_spot import compile_spot
    from treeplex.holdem.solve.solver import HoldemSolver

    plan, none = BetPlan.same("100%", "a"), BetPlan.same("", "")
    bets = BetPlan((*plan.streets[:3], *none.streets[3:]))
    spot = Spot(parse_cards("AsKsQhTd"), 10.0, 30.0, all_hands(DECK), bets, format=DECK)
    search = SubgameSearch(cut_spot(spot), METHODS["dcfr"], HandValues(None), horizon=30)
    search.run(30)
    solver = HoldemSolver(compile_spot(spot, isomorphism=False), "dcfr", threads=1, storage="float64")
    solver.run(30)
    value = solver.form.values(solver.tables, best=False)
    assert float(search.mean_values()[0][0]) == pytest.approx(value[0], abs=0.05)


@pytest.mark.slow
def test_before_the_flop_all_flops_are_looked_at_those_alike_once() -> None:
    """Without betting from the flop on, a search before it agrees with a solve of the whole spot, all-ins included."""
    from treeplex.holdem.forms.compile_spot import compile_spot
    from treeplex.holdem.solve.solver import HoldemSolver

    deck, plan, none = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1)), BetPlan.same("100%,a", "a"), BetPlan.same("", "")
    bets = BetPlan((plan.streets[0], *none.streets[1:]))
    spot = Spot((), 2.0, 6.0, all_hands(deck), bets, format=deck)
    for count, both, near in ((2, (True, False), 1e-6), (40, (True,), 1e-3)):
        solver = HoldemSolver(compile_spot(spot), "dcfr", threads=1, storage="float64")
        solver.run(count)
        value = solver.form.values(solver.tables, best=False)
        for symmetric in both:
            leaf = HandValues(None, symmetric=symmetric)
            search = SubgameSearch(cut_first_street(spot), METHODS["dcfr"], leaf, horizon=count)
            search.run(count)
            assert average_values(search, leaf).ev == pytest.approx(tuple(value), abs=near)


def test_some_of_the_complete_boards_stand_for_all() -> None:
    cards, random = parse_cards(BOARDS[0]), np.random.default_rng(3)
    whole, some = HandBoard.of(DECK, cards), HandBoard.of(DECK, cards, every=5)
    reach = np.zeros((2, len(DECK.hands)))
    reach[:, whole.held] = random.random((2, len(whole.held)))
    (mass, equity), (other_mass, other) = whole.equities(reach), some.equities(reach, step=5)
    np.testing.assert_allclose(other_mass, mass, atol=1e-12)
    assert len(some.order) == -(-len(whole.order) // 5)
    assert 0 < np.abs(other - equity).mean() < 0.06
    assert abs((other - equity).mean()) < 0.01


@pytest.mark.slow_cases("AsKsQh")
@pytest.mark.parametrize("board", ["AsKsQh", "AsKsQhTd"])
def test_the_first_street_alone_is_the_cut_spot_with_exact_all_ins(board: str) -> None:
    """In one all-ins are dealt to the end by the engine, in the other they are a matrix; suits are taken together or not."""
    reach = np.zeros((2, len(DECK.hands)))
    reach[:] = 0.3 + 0.7 * np.isin(DECK.hands // 4, (8, 12)).any(axis=1)
    spot = Spot(parse_cards(board), 10.0, 25.0, (reach[0], reach[1]), BetPlan.same("100%,a", "a"), format=DECK)
    found = []
    for cut, symmetric in ((cut_spot(spot), False), (cut_first_street(spot), False), (cut_first_street(spot), True)):
        search = SubgameSearch(cut, METHODS["dcfr"], HandValues(None, symmetric=symmetric), horizon=12)
        search.run(12)
        found.append((search.root_values(), search.average_policy()))
        assert len(cut.open_ends) == (3 if cut.top.cut_short is False else 7)
    (values, policy), *others = found
    for other_values, other_policy in others:
        np.testing.assert_allclose(other_policy[: len(policy)], policy[: len(other_policy)], atol=2e-3)
        for one, other in zip(values, other_values, strict=True):
            np.testing.assert_allclose(other, one, atol=2e-3)


@pytest.mark.slow
def test_kept_values_are_both_players_and_sum_to_zero() -> None:
    spot = Spot(parse_cards("AsKsQhTd"), 10.0, 25.0, all_hands(DECK), BetPlan.same("100%,a", "a"), format=DECK)
    cut, asked = cut_first_street(spot), []

    def by_equity(rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return (0.1 + 0.2 * rows[:, SHARED : SHARED + 1]).astype(np.float32)

    leaf = HandValues(by_equity, every=3)
    SubgameSearch(cut, METHODS["dcfr"], leaf, horizon=6).run(6)
    assert len(asked) == 2 * (len(DECK.deck) - 4)  # for each river, both players at once, in iterations 1 and 4
    reach = cut.start(predicts=False).reach_at_leaves(np.ones(cut.size))
    values = leaf.fresh(cut.leaves, reach)
    worth = [(reach[own] * values[own] * cut.leaves.opposing(reach, own)).sum(axis=1) for own in (0, 1)]
    np.testing.assert_allclose(worth[0] + worth[1], 0, atol=1e-6 * np.abs(values[0] * cut.leaves.opposing(reach, 0)).sum())


def test_values_are_made_to_sum_to_zero() -> None:
    random = np.random.default_rng(0)
    reach, mass = random.random((2, 9)), random.random((2, 9))
    mass[1] *= (reach[0] @ mass[0]) / (reach[1] @ mass[1])
    worth = zero_sum(random.random((2, 9)), reach, mass)
    assert sum(float((own * met) @ value) for own, met, value in zip(reach, mass, worth, strict=True)) == pytest.approx(0)


def test_before_the_flop_there_is_no_board() -> None:
    with pytest.raises(AlgorithmError, match="need at least a flop"):
        HandBoard.of(DECK, ())
