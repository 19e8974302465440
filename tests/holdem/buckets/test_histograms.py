"""Histograms of strength, and their clusters, on a deck of ten cards."""

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.holdem.buckets.buckets import make_buckets, placed
from treeplex.holdem.buckets.histograms import BINS, flop_sums, histogram_clusters, turn_histograms
from treeplex.holdem.buckets.plan import BucketPlan
from treeplex.holdem.buckets.rows import BucketRows
from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.format import small
from treeplex.holdem.cards.strength import MEAN, River, parts, strengths_from_turn, turn_part

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))


@pytest.fixture(scope="module")
def strengths():
    turns = canonical_boards(DECK, 4)
    return strengths_from_turn(DECK, turns, np.concatenate([turn_part(DECK, turns, k) for k in range(parts(turns))], axis=1))


def test_histograms_count_every_river_and_flops_every_run_out(strengths):
    turn = turn_histograms(strengths)
    flop = flop_sums(strengths, turn)
    board = strengths.turns.boards[7]
    river, wanted = River(DECK), np.zeros((len(DECK.hands), BINS), int)
    for card in DECK.deck:
        if card not in board:
            keys, wins = river(np.array([*board, card], np.int64))
            for hand in np.flatnonzero(keys >= 0):
                wanted[hand, min(int(wins[hand] * BINS / (2 * strengths.opponents + 1)), BINS - 1)] += 1
    assert np.array_equal(turn[7], wanted)
    assert set(turn.sum(axis=2).ravel()) == {0, 10 - 6}
    assert set(flop.sum(axis=2).ravel()) == {0, 5 * 4}


def test_stronger_clusters_are_stronger_and_buckets_use_them(strengths):
    plan = BucketPlan((6, 5, 4, 3), "histogram", nested=False, boards=60)
    ready = histogram_clusters(strengths, plan.counts, 0)
    buckets = make_buckets(strengths, plan, ready=ready)
    free = turn_histograms(strengths).any(axis=2)
    means = [strengths.turn[MEAN][(ready[1] == k) & free].astype(float).mean() for k in range(4)]
    assert means == sorted(means)
    assert buckets.identity != make_buckets(strengths, BucketPlan((6, 5, 4, 3), "kmeans", nested=False, boards=60)).identity
    boards = np.array([DECK.deck[:5]], np.int64)
    places = placed(strengths, boards)
    for recall in (False, True):
        rows = BucketRows(buckets, recall)
        cards = rows.on_board(places, 0)
        for street, size in enumerate((0, 3, 4, 5)):
            at = rows.at(tuple(boards[0, :size].tolist()))
            live = cards.rows[street] >= 0
            assert np.array_equal(at[live], cards.rows[street][live])
    turn = BucketRows(buckets, False).at(tuple(boards[0, :4].tolist()))
    hand = int(np.flatnonzero(cards.rows[0] >= 0)[0])
    renamed = strengths.turns.hand_maps[places.turn_renamings[0], hand]
    assert turn[hand] == ready[1][places.turn_rows[0], renamed]


def test_clusters_are_made_once_for_all_hands():
    with pytest.raises(SpecError, match="nested=false"):
        BucketPlan((3, 3, 3, 3), "histogram")
