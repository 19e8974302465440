import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS, hand_index, hand_to_string, parse_cards
from treeplex.holdem.cards.evaluator import strengths
from treeplex.holdem.cards.ranges import STRONGEST, parse_range, range_to_string, read_range

ENTRIES = ["QQ+", "A5s-A4s", "AKo:0.5", "AsAh:.25", "AhKh", "50%(JJ,TT)", "random", "66-22", "K9s+", "T9s+", "AK", "ATo+:1."]


def classes(text: str) -> set[str]:
    """The classes of hands that are fully in a range; every weight must be 0 or 1."""
    weights = parse_range(text)
    assert set(weights.tolist()) <= {0.0, 1.0}
    means = [set(weights[place == HAND_CLASSES].tolist()) for place in range(len(CLASSES))]
    assert all(len(mean) == 1 for mean in means)
    return {name for name, mean in zip(CLASSES, means, strict=True) if mean == {1.0}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("QQ", "QQ"),
        ("QQ+", "QQ KK AA"),
        ("AKs", "AKs"),
        ("AK", "AKs AKo"),
        ("KA", "AKs AKo"),
        ("aks,tt", "AKs TT"),
        ("ATs+", "ATs AJs AQs AKs"),
        ("96s+", "96s 97s 98s"),
        ("J9+", "J9s J9o JTs JTo"),
        ("T9s+", "T9s JTs QJs KQs AKs"),
        ("AKo+", "AKo"),
        ("66-22", "66 55 44 33 22"),
        ("22-66", "66 55 44 33 22"),
        ("A5s-A2s", "A5s A4s A3s A2s"),
        ("A2s-A5s", "A5s A4s A3s A2s"),
        ("JTs-54s", "JTs T9s 98s 87s 76s 65s 54s"),
        ("AQo-86o", "AQo KJo QTo J9o T8o 97o 86o"),
        ("AQo-AQo", "AQo"),
        ("AA-AQ", "AA AKs AKo AQs AQo"),
        (" 88 - 77 ,\tAKs\n98s ", "88 77 AKs 98s"),
        ("88–77", "88 77"),
        ("22,33", "22 33"),
        ("22 33", "22 33"),
        ("AK,", "AKs AKo"),
        ("", ""),
    ],
)
def test_entries_of_classes(text: str, expected: str) -> None:
    assert classes(text) == set(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AhKh", "AhKh"),
        ("KhAh", "AhKh"),
        ("8s8h+", "8s8h 9s9h TsTh JsJh QsQh KsKh AsAh"),
        ("AhAs-QsQh", "AsAh KsKh QsQh"),
        ("AhKd-AhJd", "AhKd AhQd AhJd"),
        ("9d8d-6d5d", "9d8d 8d7d 7d6d 6d5d"),
    ],
)
def test_entries_of_hands(text: str, expected: str) -> None:
    weights = parse_range(text)
    assert {hand_to_string(hand) for hand in np.flatnonzero(weights)} == set(expected.split())


@pytest.mark.parametrize(
    ("text", "hand", "weight"),
    [
        ("AKo:0.5", "AsKh", 0.5),
        ("AKo : .25", "AsKh", 0.25),
        ("AKo:1.", "AsKh", 1.0),
        ("AKo:50%", "AsKh", 0.5),
        ("AKo:5e-1", "AsKh", 0.5),
        ("AhKh:0.1234", "AhKh", 0.1234),
        ("random:0.5", "7d2c", 0.5),
        ("any", "7d2c", 1.0),
        ("100%", "7d2c", 1.0),
        ("50%(AA,KK)", "KdKc", 0.5),
        ("0.5 (AA,KK)", "KdKc", 0.5),
        ("50% ( AA , KK:0.5 ), QQ", "KdKc", 0.25),
        ("50%(AA,KK), QQ", "QdQc", 1.0),
        ("AA:0.5,QQ+", "AsAh", 0.5),
        ("AA:0.5,QQ+,AA:0.5", "AsAh", 0.5),
        ("[50]AA,KK[/50],QQ", "AsAh", 0.5),
        ("[50.0]AA, KK[/50.0], QQ", "QsQh", 1.0),
        ("QQ,[12.5]AKs,A5s[/12.5]", "AsKs", 0.125),
        ("AA:1.0,KK:0.25,AhKh:0.75", "AhKh", 0.75),
        ("A\u2665K\u2665:0.5, Q\u2660\ufe0fQ\u2663", "AhKh", 0.5),
        ("A\u2665K\u2665:0.5, Q\u2660\ufe0fQ\u2663", "QsQc", 1.0),
        ("top 15%", "AsAh", 1.0),
        ("top 15%:0.5, 72o", "7s2h", 1.0),
        ("50%(top 15%), 72o", "AsAh", 0.5),
        ("AhKh:0,AKs", "AhKh", 0.0),
    ],
)
def test_weights_and_overlaps(text: str, hand: str, weight: float) -> None:
    assert parse_range(text)[hand_index(*parse_cards(hand))] == weight


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("AA,,KK", "',KK' at character 4: an entry is missing before this comma"),
        (",AA", "',AA' at character 1"),
        ("AA, KZs", "'KZs' at character 5: write entries such as QQ+"),
        ("AKQ", "'AKQ' at character 1"),
        ("AAs", "'AAs' at character 1: a pair is neither suited nor offsuit; write AA"),
        ("AhAh", "'AhAh' at character 1: a hand is two different cards"),
        ("QQ+,AQo-KQo", "'AQo-KQo' at character 5: both ends need the same high card"),
        ("AKo-AQs", "'AKo-AQs' at character 1: both ends need the same suits"),
        ("AKo:1.1", "weight '1.1' is not from 0 to 1"),
        ("AKo:-1", "'AKo:-1' at character 1"),
        ("AKo:", "'AKo:' at character 1"),
        ("150%(AA)", "weight '150%' is not from 0 to 1"),
        (
            "QQ+,AA:0.5",
            "'AA:0.5' at character 5: earlier entries contain all its hands",
        ),
        ("JJ-22,JJ:0.5", "'JJ:0.5' at character 7: earlier entries"),
        ("[50]AA", r"'\[50\]AA' at character 1: the group is not closed; write \[/...\] at its end"),
        ("[50]AA[/50]]", r"'\]' at character 12"),
        ("AA[/50]", r"'\[/50\]' at character 3"),
        ("[150]AA[/150]", "weight '150%' is not from 0 to 1"),
        ("15%", "or top 15%"),
        ("top 150%", "weight '150%' is not from 0 to 1"),
        ("AA 50%(KK", r"'50%\(KK' at character 4: the group is not closed"),
        ("AA)", r"'\)' at character 3: no group ends here"),
        ("50%(AA,50%(KK))", "at character 8: groups cannot be nested"),
        ("AK+-AJ", "'AK\\+-AJ' at character 1"),
        ("20%", "'20%' at character 1"),
        ("ſſ", "'ſſ' at character 1"),
        ("x" * 50, "'x{37}...' at character 1"),
        ("0.5 0.5", "but this one has 2"),
        ("1 " * 1325 + "-1", "number 1326 of the raw vector is '-1'"),
        ("1 " * 1325 + "nan", "number 1326 of the raw vector is 'nan'"),
        ("1e999 " * 1326, "number 1 of the raw vector is '1e999'"),
    ],
)
def test_bad_texts(text: str, place: str) -> None:
    with pytest.raises(SpecError, match=place):
        parse_range(text)


def test_malformed_texts_give_one_error() -> None:
    """Well-formed texts with a few characters changed either are ranges or raise SpecError, nothing else."""
    rng = random.Random(0)
    refused = 0
    for _ in range(600):
        text = list(", ".join(rng.sample(ENTRIES, rng.randint(1, 4))))
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 2)] = rng.choice(["", *"AKs+-:,.()%#9 xeé١½\n"])
            text = text or ["%"]
        outcome = parsed_or_refused("".join(text))
        if isinstance(outcome, str):
            refused += 1
            assert outcome.startswith("range: ")
            assert "\n" not in outcome
        else:
            assert outcome.shape == (1326,)
            assert ((outcome >= 0.0) & (outcome <= 1.0)).all()
    assert refused > 300


def parsed_or_refused(text: str) -> NDArray[np.float64] | str:
    """The range, or the message of the SpecError."""
    try:
        return parse_range(text)
    except SpecError as error:
        return str(error)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AA,KK", "KK+"),
        ("66-22,TT+", "TT+,66-22"),
        ("AA:0.5,KK,QQ,JJ:0.5", "AA:0.5,KK-QQ,JJ:0.5"),
        ("AA,AK,AQ", "AA,AQ+"),
        ("AK,AQ,AJs", "AQ+,AJs"),
        ("AKs,AQs,A5s,A4s,AKo:0.5", "AQs+,A5s-A4s,AKo:0.5"),
        ("KQ,KT,K9,K8,K6,K5", "KQ,KT-K8,K6-K5"),
        ("T9s+", "AKs,KQs,QJs,JTs,T9s"),
        ("AhAs,JJ", "JJ,AsAh"),
        ("KJ,KcQh:.25", "KJ,KcQh:0.25"),
        ("random", "random"),
        ("random:0.125", "random:0.125"),
        ("AA:0.00001", "AA:0.00001"),
        ("", ""),
    ],
)
def test_texts_of_ranges(text: str, expected: str) -> None:
    assert range_to_string(parse_range(text)) == expected


def test_texts_of_all_but_a_few_hands_are_short() -> None:
    weights = parse_range("AsAh:0,72o:0,random")
    assert range_to_string(weights) == ("KK-22,A2+,K2+,Q2+,J2+,T2+,92+,82+,73+,72s,62+,52+,42+,32,AsAd,AhAd,AsAc,AhAc,AdAc")


def weights_strategy(weight: st.SearchStrategy[float]) -> st.SearchStrategy[NDArray[np.float64]]:
    """Ranges in which most classes share a weight, and a few hands differ."""

    def build(base: list[float], exceptions: list[tuple[int, float]]) -> NDArray[np.float64]:
        weights = np.repeat(np.array(base), 13)[HAND_CLASSES] if len(base) == 13 else np.array(base)[HAND_CLASSES]
        for hand, value in exceptions:
            weights[hand] = value
        return weights

    few = st.sampled_from([0.0, 1.0, 0.5]) | weight
    grid = st.lists(few, min_size=13, max_size=13) | st.lists(few, min_size=169, max_size=169)
    return st.builds(build, grid, st.lists(st.tuples(st.integers(0, 1325), weight), max_size=20))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(weights_strategy(st.integers(0, 10_000).map(lambda tick: tick / 10_000)))
def test_parsing_undoes_printing(weights: NDArray[np.float64]) -> None:
    np.testing.assert_array_equal(parse_range(range_to_string(weights)), weights)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(weights_strategy(st.floats(0.0, 1.0, width=32) | st.floats(0.0, 3.0)))
def test_parsing_undoes_printing_of_any_float(weights: NDArray[np.float64]) -> None:
    np.testing.assert_array_equal(parse_range(range_to_string(weights)), weights)


def test_raw_vectors() -> None:
    weights = np.random.default_rng(0).random(1326) * 3
    for separator in (" ", ",", ", ", "\n"):
        np.testing.assert_array_equal(parse_range(separator.join(map(repr, weights.tolist()))), weights)
    np.testing.assert_array_equal(parse_range("22 " * 1326), np.full(1326, 22.0))


def test_raw_vectors_in_both_orders() -> None:
    weights = parse_range("QQ+,AKs:0.5,72o:0.25")
    by_high_card = sorted(range(1326), key=lambda hand: (HANDS[hand].max(), HANDS[hand].min()))
    assert [hand_to_string(hand) for hand in by_high_card[:4]] == ["2d2c", "2h2c", "2h2d", "2s2c"]  # PioSolver's manual
    pio, raw = (" ".join(map(str, weights[order])) for order in (by_high_card, slice(None)))
    for text, word in ((pio, "by high card as in PioSolver"), (raw, "by low card")):
        found = read_range(text)
        np.testing.assert_array_equal(found.weights, weights)
        assert word in found.note
    one_suit = parse_range("AsKs,AhKh:0.5,7c2d")
    text = " ".join(map(str, one_suit[by_high_card]))
    assert "write pio: before the first number" in read_range(text).note
    np.testing.assert_array_equal(read_range(f"pio: {text}").weights, one_suit)
    np.testing.assert_array_equal(read_range(f"RAW:{' '.join(map(str, one_suit))}").weights, one_suit)
    assert read_range("1 " * 1326).note == read_range("QQ+").note == ""
    with pytest.raises(SpecError, match="a raw vector has 1326 numbers"):
        read_range("pio: 1 2")


@pytest.mark.parametrize(
    "text",
    [
        "AA:1.0,AKs:0.5,7h2c:0.25",
        "[100]AA[/100],[50.0]AKs[/50.0], [25]7h2c[/25]",
        "AhAd: 1, AcAs: 1, AdAc: 1, AhAs: 1, AcAh: 1, AsAd: 1,\nAhKh: 0.5, KsAs: 0.5, AcKc: 0.5, AdKd: 0.5, 2c7h: 0.25",
    ],
    ids=["PioSolver", "GTO+", "GTO Wizard"],
)
def test_texts_of_other_solvers(text: str) -> None:
    assert range_to_string(parse_range(text)) == "AA,AKs:0.5,7h2c:0.25"


@pytest.mark.parametrize(
    ("weights", "message"),
    [(np.ones(169), "shape"), (np.full(1326, -1.0), "the weight of 2d2c is -1.0"), (np.full(1326, np.nan), "not negative")],
)
def test_bad_weights(weights: NDArray[np.float64], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        range_to_string(weights)


@pytest.mark.parametrize("share", [0, 0.4, 0.5, 15, 50, 99.9, 100])
def test_top_is_whole_classes_up_to_that_share(share: float) -> None:
    found = parse_range(f"top {share}%")
    assert set(found) <= {0.0, 1.0}
    assert found.sum() <= share / 100 * 1326 + 1e-6
    assert found.sum() > share / 100 * 1326 - 12
    assert all(found[place == HAND_CLASSES].min() == found[place == HAND_CLASSES].max() for place in range(169))


@pytest.mark.slow
def test_the_strongest_classes_win_most_against_a_random_hand() -> None:
    """Drawn boards instead of all, so that neighbours of nearly the same equity may change places."""
    assert sorted(STRONGEST) == list(range(169))
    generator, won, met = np.random.default_rng(3), np.zeros(169), np.zeros(169)
    for _ in range(300):
        board = generator.choice(52, 5, replace=False)
        keys = strengths([int(card) for card in board], HANDS)
        alive = np.flatnonzero(keys >= 0)
        some = generator.choice(alive, 170, replace=False)
        beaten = (keys[some, None] > keys[alive]) + 0.5 * (keys[some, None] == keys[alive])
        apart = ~(HANDS[some, None, :, None] == HANDS[alive][None, :, None, :]).any(axis=(2, 3))
        won += np.bincount(HAND_CLASSES[some], weights=(beaten * apart).sum(axis=1), minlength=169)
        met += np.bincount(HAND_CLASSES[some], weights=apart.sum(axis=1), minlength=169)
    equity = (won / met)[list(STRONGEST)]
    assert equity[0] == pytest.approx(0.852, abs=0.05)  # aces
    assert np.corrcoef(np.argsort(np.argsort(-equity)), np.arange(169))[0, 1] > 0.9
    means = [equity[start : start + 13].mean() for start in range(0, 169, 13)]
    assert means == sorted(means, reverse=True)
