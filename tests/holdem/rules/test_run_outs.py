"""Shares of the pot without further betting: kernels against deals looked at one by one."""

from itertools import combinations

import numpy as np
import pytest

from treeplex.holdem.cards.cards import HAND_CLASSES, HANDS
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import HOLDEM, small
from treeplex.holdem.rules.run_outs import pot_shares

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))


@pytest.mark.parametrize("size", [0, 3, 4])
def test_shares_are_those_of_all_deals(size):
    random = np.random.default_rng(size)
    board, hands = tuple(DECK.deck[2 : 2 + size]), DECK.hands
    reach = random.random((2, len(hands))) * (random.random((2, len(hands))) < 0.6)
    found = pot_shares(DECK, board, reach)
    won, met = np.zeros((2, 2, len(hands)))
    for rest in combinations([card for card in DECK.deck if card not in board], 5 - size):
        strengths = format_strengths(DECK, (*board, *rest))
        for hand in np.flatnonzero(strengths >= 0):
            others = (strengths >= 0) & ~np.isin(hands, hands[hand]).any(axis=1)
            share = np.where(strengths < strengths[hand], 1.0, np.where(strengths == strengths[hand], 0.5, 0.0))
            won[:, hand] += (reach * share * others).sum(axis=1)
            met[:, hand] += (reach * others).sum(axis=1)
    meets = met > 0
    assert meets.any()
    assert np.allclose(found[meets], (won / np.where(meets, met, 1))[meets])
    assert (found[~meets] == 0.5).all()


def test_before_the_flop_they_are_the_equities_of_classes():
    tables, random = class_equities(), np.random.default_rng(3)
    weights = random.random(169)
    found = pot_shares(HOLDEM, (), weights[HAND_CLASSES][None])[0]
    for hand in random.integers(1326, size=8):
        own = HAND_CLASSES[hand]
        pairs = tables.pairs[own] * weights
        assert found[hand] == pytest.approx((pairs * tables.equity[own]).sum() / pairs.sum())
    one = np.zeros((1, 1326))
    one[0, 5] = 1.0
    blocked = np.isin(HANDS, HANDS[5]).any(axis=1)
    assert (pot_shares(HOLDEM, (), one)[0][blocked] == 0.5).all()
