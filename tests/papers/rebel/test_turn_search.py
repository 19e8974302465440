"""Search in hold'em with 52 cards: on a small deck it judges what the search over pairs of hands judges."""

import pytest

from papers.rebel import turn_search
from papers.rebel.small_turn_search import Turn
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.search.subgames.subgame import cut_spot
from treeplex.holdem.spots.known import holdem
from treeplex.search.subgames.horizon import Horizon

pytestmark = pytest.mark.slow

SPEC = "turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[])"
METHODS = ["lcfr", "lcfr-avg", "lcfr-avg-modified", "flop"]


@pytest.mark.parametrize("method", METHODS)
def test_what_is_judged_is_that_over_pairs(method):
    """Rounding decides ties on the rivers, so that curves differ by what rivers are short of exact."""
    other = Turn(SPEC, Horizon(rounds=True, endgame=7), 60)
    player = turn_search.Player(cut_spot(other.rules.game.spot), 60, storage="float64")
    mine, expected = player.curve(method, [1, 4, 40]), other.curve(other.rivers, method, [1, 4, 40])
    for which in ("played", "average"):
        assert mine[which] == pytest.approx(expected[which], abs=0.02)
        assert mine[which][0] > 4 * mine[which][2]


@pytest.mark.slow
def test_52_cards_come_to_the_equilibrium():
    """A pot of 20 and few hands; better rivers make a better control."""
    turn = cut_spot(holdem("3s7hTdKs", "QQ,AKs,JTs", "99,KQs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%,a", "a")))
    found = turn_search.Player(turn, 24).curve("lcfr", [2, 24])
    for which in ("played", "average"):
        assert 0 < found[which][1] < 1.2 < found[which][0] / 4
    control = [turn_search.control(turn_search.Player(turn, river), 64) for river in (4, 64)]
    assert control[0]["whole"] == control[1]["whole"] < control[1]["rivers"] + 0.1 < control[0]["rivers"]
