"""Values at the end of a street beside means over the next card, and how often the network is evaluated."""

import numpy as np
import pytest

from treeplex.base.arrays import Singles
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import royal
from treeplex.holdem.engine.showdowns.hand_features import SHARED
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.holdem.search.leaves.street_end_values import FIRST_CORRECTION, StreetEndValues
from treeplex.holdem.search.subgames.subgame import cut_first_street
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot
from treeplex.search.methods import METHODS
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.subgame import Places, Ranges

DECK = royal()


def spot_on(board: str) -> Spot:
    return Spot(parse_cards(board), 10.0, 25.0, all_hands(DECK), BetPlan.same("50%,100%,a", "a"), format=DECK)


def nothing(rows: Singles) -> Singles:
    return np.zeros((len(rows), 1), np.float32)


def by_own_reach(rows: Singles) -> Singles:
    return 0.1 * rows[:, SHARED : SHARED + 1] + 0.1 * rows[:, SHARED + 3 : SHARED + 4]


def by_equity(rows: Singles) -> Singles:
    return 0.3 * rows[:, SHARED : SHARED + 1]


@pytest.mark.parametrize("board", ["AsKsQh", "AsKsQhTd"])
def test_without_further_betting_they_are_means_over_the_next_card(board: str) -> None:
    cut = cut_first_street(spot_on(board))
    reach = cut.start(predicts=False).reach_at_leaves(np.random.default_rng(2).random(cut.size))
    means, found = HandValues(None).fresh(cut.leaves, reach), StreetEndValues(nothing).fresh(cut.leaves, reach)
    for player in (0, 1):
        met = cut.leaves.opposing(reach, player) > 0
        np.testing.assert_allclose(found[player][met], means[player][met], atol=2e-5)


def test_values_are_zero_sum_and_all_ins_do_not_depend_on_the_network() -> None:
    cut = cut_first_street(spot_on("AsKsQhTd"))
    reach = cut.start(predicts=False).reach_at_leaves(np.random.default_rng(2).random(cut.size))
    plain, found = (StreetEndValues(function).fresh(cut.leaves, reach) for function in (nothing, by_equity))
    shown = [isinstance(cut.game.event(state), Showdown) for state in cut.leaves.states]
    assert any(shown)
    total, met_at_all = np.zeros(len(shown)), np.zeros(len(shown))
    for player in (0, 1):
        met = cut.leaves.opposing(reach, player)
        total += (found[player] * reach[player] * met).sum(axis=1)
        met_at_all += (reach[player] * met).sum(axis=1)
        np.testing.assert_array_equal(found[player][shown], plain[player][shown])
        assert np.abs(found[player] - plain[player])[np.logical_not(shown)].max() > 0.1
    np.testing.assert_allclose(total / met_at_all, 0.0, atol=1e-5)


def test_a_player_who_never_gets_there_has_its_first_range() -> None:
    cut = cut_first_street(spot_on("AsKsQhTd"))
    drawn = cut.start(predicts=False).reach_at_leaves(np.random.default_rng(4).random(cut.size))
    reach = tuple(np.array(each) for each in drawn)
    reach[1][0] = cut.game.spot.ranges[1]
    first = StreetEndValues(by_own_reach).fresh(cut.leaves, reach)
    reach[1][0] = 0.0
    found = StreetEndValues(by_own_reach).fresh(cut.leaves, reach)
    for player in (0, 1):
        np.testing.assert_allclose(found[player], first[player], rtol=1e-9)
    assert np.abs(found[1][0]).max() > 0.1


def test_each_iteration_evaluates_the_network_once_and_a_new_search_starts_anew() -> None:
    rows = list[int]()

    def counted(given: Singles) -> Singles:
        rows.append(len(given))
        return by_equity(given)

    leaf, averages = StreetEndValues(counted), []
    for _ in range(2):
        search = SubgameSearch(cut_first_street(spot_on("AsKsQhTd")), METHODS["dcfr"], leaf)
        search.run(3)
        averages.append(search.average.copy())
        reach = search.arrays.reach_at_leaves(search.strategy)
        leaf(search.subgame.leaves, reach, reach, 0)  # an update more, so that the next search begins in mid-iteration
    assert len(rows) == 2 * (3 + 1)
    np.testing.assert_array_equal(*averages)


def test_threads_do_not_change_values() -> None:
    cut = cut_first_street(spot_on("AsKsQhTd"))
    reach = cut.start(predicts=False).reach_at_leaves(np.ones(cut.size))
    one, two, many = (StreetEndValues(by_equity, threads=threads).fresh(cut.leaves, reach) for threads in (1, 2, 16))
    for player in (0, 1):
        np.testing.assert_array_equal(one[player], two[player])
        np.testing.assert_array_equal(one[player], many[player])


def test_corrected_values_of_average_ranges_are_those_of_all_next_cards() -> None:
    cut = cut_first_street(spot_on("AsKsQhTd"))
    reach = cut.start(predicts=False).reach_at_leaves(np.random.default_rng(2).random(cut.size))
    means, leaf = HandValues(None).fresh(cut.leaves, reach), StreetEndValues(by_equity, exact=HandValues(None))
    away = list[float]()
    for call in range(2 * FIRST_CORRECTION + 2):
        player = call % 2
        met = cut.leaves.opposing(reach, player) > 0
        found = leaf(cut.leaves, reach, reach, player)
        away.append(float(np.abs(found[player] - means[player])[met].max()))
    assert min(away[:-2]) > 0.1
    assert max(away[-2:]) < 1e-4


def test_corrections_come_at_doubled_iterations_and_before_the_deadline() -> None:
    calls = list[int]()

    class Counted(HandValues):
        def fresh(self, places: Places, believed: Ranges, *, all_ins: bool = True) -> Ranges:
            calls.append(search.iteration)
            return super().fresh(places, believed, all_ins=all_ins)

    for seconds, iterations in ((np.inf, [24, 48, 96]), (0.01, [])):
        calls.clear()
        leaf = StreetEndValues(by_equity, exact=Counted(None))
        leaf.limit(seconds)
        search = SubgameSearch(cut_first_street(spot_on("AsKsQhTd")), METHODS["dcfr"], leaf)
        search.run(120)
        assert calls == iterations


@pytest.mark.parametrize(("seconds", "corrected"), [(60.0, False), (80.0, True)])
def test_a_correction_must_end_before_the_deadline(seconds: float, corrected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An iteration takes a second, so a correction is expected to take 40; eight seconds must remain."""
    clock = [0.0]
    monkeypatch.setattr("treeplex.holdem.search.leaves.street_end_values.perf_counter", lambda: clock[0])
    cut = cut_first_street(spot_on("AsKsQhTd"))
    reach = cut.start(predicts=False).reach_at_leaves(np.random.default_rng(2).random(cut.size))
    leaf, values = StreetEndValues(by_equity, exact=HandValues(None)), list[Ranges]()
    leaf.limit(seconds)
    for _ in range(FIRST_CORRECTION + 1):
        values = [leaf(cut.leaves, reach, reach, player) for player in (0, 1)]
        clock[0] += 1.0
    plain = leaf.fresh(cut.leaves, reach)
    assert (np.abs(values[0][0] - plain[0]).max() > 0.1) == corrected
    leaf.limit(np.inf)  # a new search
    np.testing.assert_array_equal(leaf(cut.leaves, reach, reach, 0)[0], plain[0])


def test_threads_do_not_change_values_of_all_cards() -> None:
    cut = cut_first_street(spot_on("AsKsQhTd"))
    reach = cut.start(predicts=False).reach_at_leaves(np.ones(cut.size))
    one, two = (HandValues(by_equity, threads=threads).fresh(cut.leaves, reach) for threads in (1, 2))
    for player in (0, 1):
        np.testing.assert_array_equal(one[player], two[player])
