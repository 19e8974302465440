"""Searching a flop of a small deck to the end of its betting, with values of every kind where it ends."""

from functools import cache

import numpy as np
import pytest

from treeplex.errors import GameError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import small
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.first_street.search import SearchedSpot, search_spot
from treeplex.search import ZeroLeaf
from treeplex.search.subgames.subgame import Places, Ranges

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))


@cache
def flop(board: str = "TcJdQc") -> Spot:
    generator = np.random.default_rng(5)
    ranges = tuple(0.2 + 0.8 * generator.random(45) for _ in range(2))
    return Spot(parse_cards(board), 2.0, 3.0, (ranges[0], ranges[1]), BetPlan.same("50%,a", ""), format=DECK)


@cache
def exact() -> SearchedSpot:
    return search_spot(flop(), iterations=64, river=64, threads=1)


class Half:
    """Values by the beliefs, as a network gives them: half of the pot for whom, by how much it is believed to be there."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return tuple(0.1 * np.sign(own.sum(1, keepdims=True)) * np.ones_like(own) for own in believed)


@pytest.mark.slow
def test_exact_values_come_near_the_solution_of_the_whole_spot() -> None:
    found, whole = exact(), solve_spot(flop(), iterations=400, threads=1)
    assert (found.values, found.status, found.search.iteration) == ("exact", "finished", 64)
    assert found.played is not None
    assert found.played.exploitability < 0.01 * flop().pot
    assert found.played.ev[0] == pytest.approx(whole.ev[0], abs=0.01 * flop().pot)
    assert sum(found.actions.values()) == pytest.approx(1.0)


@pytest.mark.slow
def test_nothing_after_the_flop_is_played_worse() -> None:
    found = search_spot(flop(), ZeroLeaf(), iterations=64, river=64, threads=1)
    assert found.values == "zero"
    assert found.played is not None
    assert exact().played is not None
    assert found.played.exploitability > 2 * exact().played.exploitability  # type: ignore[union-attr]


def test_values_of_ones_own() -> None:
    found = search_spot(flop(), Half(), iterations=4, threads=1, judge=False)
    assert (found.values, found.net, found.played) == ("Half", None, None)
    assert found.unlike == []
    assert np.isfinite(found.ev).all()


def test_what_cannot_be_searched() -> None:
    with pytest.raises(GameError, match="one street of betting"):
        search_spot(flop("TcJdQcTdJc"))
    with pytest.raises(SpecError, match="not 2; give a turn board"):
        search_spot(flop(), "rebel")
