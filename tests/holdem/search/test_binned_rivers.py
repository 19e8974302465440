"""Rivers seen through bins of strength, against pairs of hands one by one and against rivers solved exactly."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import HOLDEM, small
from treeplex.holdem.search.leaves.binned_rivers import BinnedRivers, RiverBins
from treeplex.holdem.search.leaves.endgames import HoldemEndgames
from treeplex.holdem.search.subgames.subgame import HoldemPlaces, HoldemSubgame, cut_spot
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Rake, Spot
from treeplex.learn.rebel.turns.river_targets import River
from treeplex.search.subgames.subgame import Ranges

BOARD = parse_cards("3s7hTdKs")
CHECKED = BetPlan.same("100%,a", "a", min_bet=100.0).override("turn", bets="", raises="")
"""No bets on the turn: its betting has one end."""


def spot(bets: BetPlan) -> Spot:
    return Spot(BOARD, 2_000.0, 5_000.0, all_hands(HOLDEM), bets)


def places_of(turn: HoldemSubgame) -> HoldemPlaces:
    return turn.leaves


def drawn(places: int, seed: int = 0) -> Ranges:
    """Ranges on the turn in which some hands are never held."""
    generator, free = np.random.default_rng(seed), ~np.isin(HOLDEM.hands, BOARD).any(axis=1)
    first, second = (free * generator.random((places, 1326)) ** 4 * (generator.random((places, 1326)) < 0.7) for _ in "01")
    return first, second


@cache
def nothing_below() -> HoldemSubgame:
    """A turn with bets, and rivers without any."""
    return cut_spot(spot(BetPlan.same("100%,a", "a", min_bet=100.0).override("river", bets="", raises="")))


def test_a_showdown_is_that_of_all_pairs_of_hands() -> None:
    board = parse_cards("3s7hTdKs7c")
    river, reach = RiverBins.of(HOLDEM, (board,), 8), drawn(1)[0][0]
    mass, edge = river.showdown(0, reach)
    hands, strength = HOLDEM.hands[river.order[0]], format_strengths(HOLDEM, board, HOLDEM.hands[river.order[0]])
    assert (np.diff(strength) >= 0).all()
    apart = (hands[:, None, :, None] != hands[None, :, None, :]).all(axis=(2, 3))
    other = reach[river.order[0]]
    np.testing.assert_allclose(mass, apart @ other, atol=1e-10)
    np.testing.assert_allclose(edge, (apart * np.sign(strength[:, None] - strength)) @ other, atol=1e-10)


def test_a_range_is_gathered_whole_and_hands_that_tie_lie_together() -> None:
    river = RiverBins.of(HOLDEM, (parse_cards("3s7hTdKs7c"), parse_cards("AcKcQcJcTc")), 8)
    reached = drawn(3)
    rows = river.rows(reached, np.array([2.0, 4.0, 8.0]), np.array([2.0, 2.0, 0.0]))
    assert rows.shape == (6, 17)
    for k, c, player in product(range(3), range(2), range(2)):
        near = np.maximum(1.0 - np.abs((river.low + river.share)[c] - np.arange(8)[:, None]), 0.0)
        weights = reached[player][k, river.order[c]]
        gathered = rows[2 * k + c, 1 + 8 * player : 9 + 8 * player]
        np.testing.assert_allclose(gathered, 8 * near @ weights / weights.sum(), rtol=1e-5)
    np.testing.assert_allclose(rows[:, 0], np.repeat(np.log([1.0, 0.5, 0.02]), 2), rtol=1e-6)
    np.testing.assert_allclose(rows[:, 1:].reshape(6, 2, 8).sum(axis=2), 8.0, rtol=1e-5)
    places = river.low + river.share
    assert (np.diff(places) >= 0).all()
    assert (np.ptp(places[1]), places[1, 0]) == (0.0, 3.5)  # the board plays: all tie
    unreached = river.rows((np.zeros((1, 1326)), np.ones((1, 1326))), np.array([1.0]), np.array([1.0]))[0]
    np.testing.assert_array_equal(unreached[1:9], unreached[9:])


def test_without_bets_on_the_river_the_leaf_is_exact() -> None:
    turn = nothing_below()
    places, believed = places_of(turn), drawn(len(turn.open_ends))
    assert len(places) == 3
    exact = HoldemEndgames(turn, iterations=1)(places, believed, believed)
    leaf = BinnedRivers(lambda rows: np.zeros((len(rows), 16), np.float32), 8)
    possible = turn.game.possible_on(BOARD)
    for player in (0, 1):
        found = leaf(places, believed, believed, player)
        np.testing.assert_allclose(found[player] * possible[player], exact[player], atol=1e-7)
        assert not found[1 - player].any()


def test_what_bins_say_comes_on_top_in_parts_of_the_pot() -> None:
    turn = nothing_below()
    places, believed = places_of(turn), drawn(len(turn.open_ends))
    said = np.repeat(np.array([[0.25, -0.5]], np.float32), 8, axis=1)
    plain = BinnedRivers(lambda rows: np.zeros((len(rows), 16), np.float32), 8)(places, believed, believed)
    more = BinnedRivers(lambda rows: np.repeat(said, len(rows), axis=0), 8)(places, believed, believed)
    possible = turn.game.possible_on(BOARD)[0].astype(bool)
    for player, part in ((0, 0.25), (1, -0.5)):
        over = (more[player] - plain[player])[:, possible]
        np.testing.assert_allclose(over, part * np.array([[2_000.0], [6_000.0], [6_000.0]]) * np.ones(over.shape), rtol=1e-5)


@pytest.mark.slow
def test_rivers_solved_one_by_one_give_the_leaf_of_rivers_solved_together() -> None:
    """With bins for values that were solved exactly, what is left of the difference is what bins cannot say."""
    turn, bins = cut_spot(spot(CHECKED)), 128
    places, believed = places_of(turn), drawn(1, seed=1)
    assert len(places) == 1

    def solved(rows: np.ndarray) -> np.ndarray:
        rivers = [card for card in range(52) if card not in BOARD]
        found = []
        for row, card in zip(rows, rivers, strict=True):
            game = Spot((*BOARD, card), 2_000.0, 5_000.0, all_hands(HOLDEM), CHECKED)
            inputs, targets, _ = River.solved(game, (believed[0][0], believed[1][0]), 40, bins, storage="float64").row()
            np.testing.assert_allclose(row, inputs, rtol=1e-4, atol=1e-5)
            found.append(targets)
        return np.stack(found)

    exact = HoldemEndgames(turn, iterations=40)(places, believed, believed)
    possible = turn.game.possible_on(BOARD)[0].astype(bool)
    for function, least, most in ((solved, 0.0, 0.01), (lambda rows: np.zeros((len(rows), 2 * bins), np.float32), 0.05, 1.0)):
        found = BinnedRivers(function, bins)(places, believed, believed)
        errors = [(found[player] - exact[player])[0, possible] / 2_000.0 for player in (0, 1)]
        assert least <= np.sqrt(np.mean(np.square(errors))) <= most
        assert abs(np.mean(errors)) <= 0.002 or least > 0.0


def test_what_bins_cannot_value_is_refused() -> None:
    with pytest.raises(AlgorithmError, match="two hole cards and at least 2 bins, not 1 and 8"):
        RiverBins.of(small(), ((0, 1),), 8)
    with pytest.raises(AlgorithmError, match="two hole cards and at least 2 bins, not 2 and 1"):
        RiverBins.of(HOLDEM, ((*BOARD, 0),), 1)
    with pytest.raises(AlgorithmError, match="3s7hTdKs is not a complete board of holdem"):
        RiverBins.of(HOLDEM, (BOARD,), 8)
    raked = cut_spot(replace(spot(CHECKED), rake=Rake(0.05)))
    with pytest.raises(AlgorithmError, match="no rake; use ExactLeaf"):
        BinnedRivers(lambda rows: rows, 8)(places_of(raked), drawn(1), drawn(1))
