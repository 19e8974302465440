"""What a search of the turn plays in the whole game; against searches over pairs of hands see ``tests/papers``."""

import numpy as np
import pytest

from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import cut_spot
from treeplex.holdem.spots.known import holdem
from treeplex.search.search_trace import steps

TURN = cut_spot(holdem("3s7hTdKs", "QQ,JTs", "99,KQs", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "")))


@pytest.mark.parametrize("method", ["lcfr", "lcfr-avg-modified", "flop"])
def test_steps_are_the_search(method: str) -> None:
    """Played policies, weighted, are the average; and steps change nothing of the search."""
    player = Player(TURN, 4)
    alone, watched = player.search(method, 5), player.search(method, 5)
    alone.run(5)
    total = np.zeros_like(alone.average)
    for step in steps(watched, 5):
        total = step.discount * total + step.weight * step.played
        np.testing.assert_allclose(step.average, watched.average if method == "flop" else total, rtol=1e-12)
    assert watched.iteration == 5
    np.testing.assert_array_equal(watched.average, alone.average)
    if method != "flop":
        np.testing.assert_allclose(alone.average, total, rtol=1e-12)


@pytest.mark.slow
def test_the_average_is_judged_with_endgames_for_its_beliefs() -> None:
    player = Player(TURN, 30, storage="float64")
    search = player.search("flop", 20)
    expected = player.curve("flop", [3, 20])["average"]
    found = []
    for stop in (3, 20):
        search.run(stop - search.iteration)
        found.append(player.judge(player.average(search)))
    assert [each.exploitability for each in found] == expected
    assert 0 < found[1].exploitability < 0.5 * found[0].exploitability
    assert found[1].value[0] == pytest.approx(-found[1].value[1])
    uniform = player.judge(np.ones(TURN.whole.stored))
    assert uniform.exploitability > found[0].exploitability
