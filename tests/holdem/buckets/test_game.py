from dataclasses import replace

import numpy as np
import pytest

from tests.limit_games import random_game, royal_buckets, royal_strengths, spot_of
from treeplex.errors import GameError, SpecError
from treeplex.games.registry import load
from treeplex.holdem.betting.bet_plan import FixedLimit
from treeplex.holdem.buckets.buckets import boards_after, random_boards
from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.buckets.joint import joint_tables
from treeplex.holdem.cards.strength import River
from treeplex.holdem.spots.spot import Rake


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


def test_streets_have_the_sequences_of_their_prefixes():
    game = random_game((3, 2, 2))
    assert game.sequences == (3, 6, 12)


def test_tables_that_do_not_fit_are_refused():
    ones = np.ones((4, 4), np.float32)
    spot = spot_of(FixedLimit((2.0, 4.0), (1, 1)))
    with pytest.raises(GameError, match="give 6 by 6"):
        assert BucketGame(spot, (2, 3), lambda: (ones / 16, ones)).pairs
    with pytest.raises(GameError, match="sum to 1"):
        assert BucketGame(spot, (2, 2), lambda: (ones, ones)).pairs
    with pytest.raises(SpecError, match="each of the 2 streets"):
        BucketGame(spot, (4,), lambda: (ones, ones))
    with pytest.raises(SpecError, match="rake"):
        BucketGame(replace(spot, rake=Rake(0.05)), (2, 2), lambda: (ones, ones))


def test_boards_after_a_flop_are_all_there_are():
    start = royal_strengths().format.deck[3:6]
    random = np.random.default_rng(0)
    places = boards_after(royal_strengths(), start, 1000, random)
    assert len(places.boards) == len(np.unique(places.boards, axis=0)) == 17 * 16
    assert (places.boards[:, :3] == start).all()
    assert len(boards_after(royal_strengths(), start, 10, random).boards) == 10
    river = royal_strengths().format.deck[2:7]
    assert boards_after(royal_strengths(), river, 10, random).boards.tolist() == [list(river)]


SMALL = "cards=royal,buckets=2,boards=20,river_boards=20"


def test_named_games():
    game = load(f"bucketed_holdem({SMALL},sizes=[100%;a],stack=10)")
    assert game.spec == "bucketed_holdem(buckets=2,cards=royal,sizes=[100%;a],stack=10,boards=20,river_boards=20)"
    assert load(game.spec).spec == game.spec
    assert load("bucketed_holdem").counts == (5, 5, 5, 5)
    flop = load("bucketed_holdem(cards=royal,board=TcJdQh,buckets=[4;3;2],pot=4,sizes=[a],stack=8)")
    assert flop.counts == (4, 3, 2)
    shares = flop.pairs_on(0, -1).ravel()
    assert shares == pytest.approx([0.25] * 4, abs=0.1)  # of the hands on this flop, not of all
    tables = flop.tables
    assert load(flop.spec).tables[0] is tables[0]  # counted once


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("buckets=[5;5]", "each of the 4 streets"),
        ("buckets=0", "buckets must be"),
        ("buckets=20", "use fewer"),
        ("stack=20", "'sizes' is missing"),
        ("sizes=[100%]", "stack must be"),
        ("method=means", "did you mean"),
        ("cards=rhode_island", "each of the"),
        ("board=TdTd9h", "twice"),
    ],
)
def test_impossible_parameters_are_refused(parameters, message):
    with pytest.raises(SpecError, match=message):
        load(f"bucketed_holdem({parameters})")
