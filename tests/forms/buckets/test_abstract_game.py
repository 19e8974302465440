import numpy as np
import pytest

from tests.limit_games import random_game, royal_buckets
from treeplex.errors import GameError
from treeplex.forms.buckets import abstract_game as limit_abstraction
from treeplex.forms.buckets.abstract_game import LimitGame, joint_tables, limit_game
from treeplex.forms.buckets.betting import limit_betting
from treeplex.forms.buckets.buckets import random_boards
from treeplex.games.poker.cards.strength import River


def slow_tables(buckets, boards, seed):
    """Joint tables by a loop over all pairs of hands."""
    format = buckets.strengths.format
    places = random_boards(buckets.strengths, boards, np.random.default_rng([seed, 7]))
    river, size = River(format), buckets.plan.sequences
    pairs, wins = np.zeros((size, size)), np.zeros((size, size))
    found = np.empty(len(format.hands), dtype=np.int32)
    for board, cards in enumerate(places.boards):
        keys, codes = river(cards)
        buckets.sequences(places, board, (keys, codes), found)
        for one in np.flatnonzero(found >= 0):
            apart = (found >= 0) & ~np.isin(format.hands, format.hands[one]).any(axis=1)
            np.add.at(pairs, (found[one], found[apart]), 1)
            np.add.at(wins, (found[one], found[apart]), np.sign(keys[one].astype(int) - keys[apart]))
    return pairs / pairs.sum(), wins / pairs.sum()


def test_joint_tables_count_all_pairs_of_hands():
    buckets = royal_buckets((3, 2, 2, 2))
    pairs, wins = joint_tables(buckets, 3, seed=4)
    slow_pairs, slow_wins = slow_tables(buckets, 3, 4)
    assert np.allclose(pairs, slow_pairs, atol=1e-8)
    assert np.allclose(wins, slow_wins, atol=1e-8)
    assert np.array_equal(pairs, pairs.T)
    assert np.array_equal(wins, -wins.T)


def test_counts_of_the_papers_abstraction():
    game = LimitGame("ten", (1,) * 4, np.ones((1, 1), np.float32), np.zeros((1, 1), np.float32), limit_betting())
    assert game.infosets == 8 + 70 + 630 + 5670
    assert game.states == (8 + 7 + 7) + (7 + 63 + 567) * (10 + 8 + 9)


def test_streets_have_the_sequences_of_their_prefixes():
    game = random_game((3, 2, 2))
    assert game.sequences == (3, 6, 12)


def test_a_game_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(limit_abstraction, "free_memory", lambda: 10**8)
    with pytest.raises(GameError, match="fewer buckets"):
        limit_game(royal_buckets())


def test_tables_that_do_not_fit_are_refused():
    ones = np.ones((4, 4), np.float32)
    with pytest.raises(GameError, match="do not fit"):
        LimitGame("wrong", (2, 2), ones / 16, ones, limit_betting())
    with pytest.raises(GameError, match="sum to 1"):
        LimitGame("wrong", (4, 1, 1, 1), ones, ones, limit_betting())
