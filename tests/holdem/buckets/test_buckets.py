import numpy as np
import pytest

from tests.limit_games import royal_buckets, royal_strengths
from treeplex.errors import SpecError
from treeplex.holdem.buckets.buckets import make_buckets, placed, random_boards
from treeplex.holdem.buckets.clusters import clusters, nearest_centres, percentiles
from treeplex.holdem.buckets.plan import METHODS, BucketPlan
from treeplex.holdem.cards.canonical import renamings
from treeplex.holdem.cards.strength import SQUARE, River


def test_percentiles_share_weights_equally():
    weights = np.array([[1.0, 1, 1, 1, 1, 1], [0, 6, 0, 0, 0, 0], [3, 0, 0, 1, 1, 1]])
    assert percentiles(weights, 3)[0].tolist() == [0, 0, 1, 1, 2, 2]
    assert percentiles(weights, 3)[1, 1] == 1  # one value cannot be divided
    assert percentiles(weights, 2)[2].tolist() == [0, 1, 1, 1, 1, 1]


def test_clusters_find_separate_groups_whatever_their_weight():
    features = np.array([0.0, 0.01, 0.02, 0.5, 0.51, 0.97, 1.0])[:, None]
    weights = np.array([[100.0, 1, 1, 1, 1, 1, 1]])
    assert clusters(weights, features, 3)[0].tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_nearest_centres_agree_in_one_and_two_dimensions():
    random = np.random.default_rng(1)
    points, centres = random.random((200, 1)), np.sort(random.random((5, 1)), axis=0)
    flat = nearest_centres(np.hstack([points, 0 * points]), np.hstack([centres, 0 * centres]))
    assert np.array_equal(nearest_centres(points, centres), flat)


def all_sequences(buckets, places):
    river = River(buckets.strengths.format)
    found = np.empty((len(places.boards), len(river.hands)), dtype=np.int32)
    for board, cards in enumerate(places.boards):
        buckets.sequences(places, board, river(cards), found[board])
    return found


def test_nested_percentiles_give_every_sequence_its_share():
    buckets = royal_buckets((3, 3, 2, 2))
    places = random_boards(royal_strengths(), 300, np.random.default_rng(5))
    found = all_sequences(buckets, places)
    shares = np.bincount(found[found >= 0], minlength=36) / (found >= 0).sum()
    assert shares.min() > 0.2 / 36
    assert shares.max() < 4 / 36  # few distinct strengths in a small deck


@pytest.mark.parametrize(
    ("method", "nested"),
    [(method, nested) for method in METHODS for nested in (True, False) if method != "histogram" or not nested],
)
def test_stronger_hands_are_in_higher_buckets_before_the_flop(method, nested):
    buckets = royal_buckets((4, 3, 2, 2), method, nested)
    table = buckets.tables[0][0, buckets.codes[0]]
    order = np.argsort(royal_strengths().preflop[SQUARE], kind="stable")
    if method != "kmeans-pair":
        assert (np.diff(table[order].astype(int)) >= 0).all()
    assert len(np.unique(table)) == 4
    assert buckets.tables[1].shape[0] == (4 if nested else 1)


def test_renaming_suits_changes_no_bucket():
    buckets = royal_buckets((3, 3, 2, 2))
    strengths = royal_strengths()
    hands = strengths.format.hands
    places = random_boards(strengths, 5, np.random.default_rng(2))
    renaming = renamings(strengths.format)[7]
    moved = placed(strengths, renaming[places.boards])
    index = {tuple(hand): number for number, hand in enumerate(hands.tolist())}
    image = [index[tuple(sorted(int(renaming[card]) for card in hand))] for hand in hands]
    assert np.array_equal(all_sequences(buckets, places), all_sequences(buckets, moved)[:, image])


def test_the_order_of_the_flop_does_not_matter_but_which_card_is_the_turn_does():
    buckets = royal_buckets((3, 3, 2, 2))
    strengths = royal_strengths()
    places = random_boards(strengths, 20, np.random.default_rng(3))
    whole = all_sequences(buckets, places)
    assert np.array_equal(whole, all_sequences(buckets, placed(strengths, places.boards[:, [2, 0, 1, 3, 4]])))
    assert not np.array_equal(whole, all_sequences(buckets, placed(strengths, places.boards[:, [3, 1, 2, 0, 4]])))


def test_equal_plans_give_equal_buckets():
    plan = BucketPlan((2, 2, 2, 2), boards=50)
    one, two = make_buckets(royal_strengths(), plan), make_buckets(royal_strengths(), plan)
    assert one.identity == two.identity != royal_buckets().identity


@pytest.mark.parametrize(
    "plan", [{"counts": (0, 1, 1, 1)}, {"counts": (20,) * 4}, {"counts": (2,) * 4, "method": "means"}, {"counts": (2,) * 3}]
)
def test_impossible_plans_are_refused(plan):
    with pytest.raises(SpecError, match="buckets"):
        BucketPlan(**plan)
