"""Equities against enumeration with another evaluator, published figures, and against each other."""

from itertools import combinations, product

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import HANDS, cards_to_string, parse_cards
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.study.equity import boards_of, equity, quantiles, table_of


def enumerated(ranges, board):
    """Shares of the pot by going through all deals and boards with phevaluator."""
    evaluate_cards = pytest.importorskip("phevaluator").evaluate_cards
    weights = [parse_range(text) for text in ranges]
    table, totals, whole = parse_cards(board), np.zeros((len(ranges), 2)), 0.0
    lists = [[(HANDS[hand], each[hand]) for hand in np.flatnonzero(each)] for each in weights]
    for deal in product(*lists):
        used = [*table, *(int(card) for hand, _ in deal for card in hand)]
        if len(set(used)) < len(used):
            continue
        chance = np.prod([weight for _, weight in deal])
        for more in combinations(sorted(set(range(52)) - set(used)), 5 - len(table)):
            whole += chance
            ranks = [evaluate_cards(*(int(card) for card in (*table, *more, *hand))) for hand, _ in deal]
            winners = [player for player, rank in enumerate(ranks) if rank == min(ranks)]
            totals[winners, int(len(winners) > 1)] += chance / len(winners)
    return totals / whole


@pytest.mark.slow_cases("ranges2-Td9d6hQc", "ranges3-Td9d6hKc")
@pytest.mark.parametrize(
    ("ranges", "board"),
    [
        (["AsKs,8h7h:0.5", "QhQd,Ks2s:0.25"], "Td9d6h2c"),
        (["AsKs", "QhQd"], "Td9d6h"),
        (["AsKs,7c7d", "QhQd,KhKd:0.5", "8d7d"], "Td9d6hQc"),
        (["AsKs", "QhQd", "8d7d", "2c2d", "5h4h", "JcJs"], "Td9d6hKc"),
        (["AsKd", "AhKc"], "QdJdTs2c"),
    ],
)
def test_enumeration(ranges, board):
    found, wanted = equity(ranges, board, threads=1), enumerated(ranges, board)
    assert found.method == "exact"
    for part, (win, tie) in zip(found.players, wanted, strict=True):
        assert (part.win, part.tie) == pytest.approx((win, tie), abs=1e-12)
        assert part.equity == pytest.approx(np.nan_to_num(part.hand_equity) @ part.weight, abs=1e-12)


@pytest.mark.parametrize(
    ("ranges", "percent"),
    [
        (["AA", "KK"], (81.95, 18.05)),
        (["AKo", "22"], (47.35, 52.65)),
    ],
)
def test_published_equities_before_the_flop(ranges, percent):
    found = equity(ranges, threads=1)
    assert found.count == 2_598_960
    assert [100 * part.equity for part in found.players] == pytest.approx(percent, abs=0.006)


@pytest.mark.slow
def test_aces_against_a_random_hand():
    """Shackleford, Wizard of Odds: a pair of aces wins 84.93%, loses 14.52% and ties 0.54%."""
    aces = equity(["AA", "random"]).players[0]
    assert (100 * aces.win, 200 * aces.tie) == pytest.approx((84.93, 0.54), abs=0.006)


def test_boards_up_to_suits():
    """C(52, 5) boards, in 134,459 classes (Waugh 2013, A fast and optimal hand isomorphism algorithm)."""
    boards, weights = boards_of(table_of(["AA", "KK"], "", ""))
    assert (len(boards), weights.sum()) == (134_459, 2_598_960)
    boards, weights = boards_of(table_of(["AsKs", "QQ"], "TcTd2s", ""))
    assert weights.sum() == 49 * 48 / 2 > len(boards)


def test_suits_that_the_ranges_tell_apart():
    whole = equity(["AKs", "QQ"], "Td9d6h", threads=1).players[0]
    for hand, own in zip(whole.hands, whole.hand_equity, strict=True):
        text = cards_to_string(HANDS[hand])
        assert equity([text, "QQ"], "Td9d6h", threads=1).players[0].equity == pytest.approx(own, abs=1e-12)


def test_dead_cards():
    open_ended = equity(["QsJs", "AhAd"], "Td9d2h5c", threads=1).players[0].equity
    fewer = equity(["QsJs", "AhAd"], "Td9d2h5c", dead="KcKs8c", threads=1).players[0].equity
    assert (open_ended, fewer) == pytest.approx((8 / 44, 5 / 41))


@pytest.mark.slow
def test_samples_agree_with_every_deal():
    ranges = ["AKs,QQ", "JJ-TT", "87s,AQo"]
    exact, drawn = equity(ranges, "Td9d6h", threads=1), equity(ranges, "Td9d6h", samples=40_000, seed=3, threads=1)
    assert (exact.method, drawn.method, drawn.count) == ("exact", "sampled", 40_000)
    for one, other in zip(exact.players, drawn.players, strict=True):
        assert 0.0005 < other.error < 0.003
        assert abs(one.equity - other.equity) < 4 * other.error
        assert abs(one.win - other.win) < 0.012
        scores = (other.hand_equity - one.hand_equity) / np.maximum(other.hand_error, 1e-9)
        assert np.abs(scores[other.hand_error > 0]).max() < 5
        np.testing.assert_allclose(other.weight, one.weight, atol=0.012)


@pytest.mark.slow
def test_the_same_seed_draws_the_same_deals():
    one, same, other = (equity(["random", "random"], samples=1000, seed=seed).players[0].equity for seed in (1, 1, 2))
    assert one == same != other


def test_hands_that_meet_nobody():
    found = equity(["AA", "AsAh,KK"], "AdAc2h", threads=1).players[0]
    assert np.isnan(equity(["AsAh,QQ", "AsAd,AhAd"], "Kc2h3d", threads=1).players[0].hand_equity).sum() == 1
    assert found.equity == 1


@pytest.mark.slow_cases("ranges2--cannot be dealt together")
@pytest.mark.parametrize(
    ("ranges", "board", "message"),
    [
        (["AA"], "", "1 ranges are given; give two to 6"),
        (["AsAh", "AsAh"], "", "shares a card"),
        (["AA", "AA", "AA"], "", "cannot be dealt together"),
        (["AA", "KK"], "Td9d", "has 2 cards"),
        (["AA", "KK"], "AsAhAd", "range 1 'AA' has no hand"),
        (["AA", "KX"], "", "cannot read"),
        ([np.ones(5), "KK"], "", "array of 1326"),
    ],
)
def test_what_cannot_be(ranges, board, message):
    with pytest.raises(SpecError, match=message):
        equity(ranges, board)
    with pytest.raises(SpecError, match="on the board and dead"):
        equity(["AA", "KK"], "Td9d6h", dead="6h")


def test_quantiles():
    assert quantiles(np.array([3.0, 1.0, np.nan, 2.0]), np.array([1.0, 2.0, 9.0, 1.0]), 5).tolist() == [1, 1, 1, 2, 3]
    assert np.isnan(quantiles(np.array([np.nan]), np.ones(1), 3)).all()
