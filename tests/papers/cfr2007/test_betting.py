import numpy as np
import pytest

from papers.cfr2007.game import LimitGame, decisions, limit_betting, widths
from papers.cfr2007.street import END, FOLD
from treeplex.errors import GameError
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.betting.tree import Fold, Showdown, StreetEnd, betting_tree
from treeplex.holdem.buckets.plan import limit_spot
from treeplex.holdem.cards.format import HOLDEM, small
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot

PLANS = [((2.0, 2.0, 4.0, 4.0), (4, 4, 4, 4), (1.0, 2.0)), ((4.0, 4.0, 6.0, 6.0), (2, 1, 3, 1), (1.0, 4.0))]


@pytest.mark.slow_cases("bets0-most0-blinds0")
@pytest.mark.parametrize(("bets", "most", "blinds"), PLANS)
def test_the_same_as_the_betting_tree_of_a_spot(bets, most, blinds):
    all_hands = np.ones(len(HOLDEM.hands))
    spot = Spot((), 0.0, 1000.0, (all_hands, all_hands), FixedLimit(bets, most), blinds=blinds)
    tree = betting_tree(spot)
    betting = limit_betting(tree)
    seen = compare(betting, tree, 0, 0, 0, 0)
    assert seen == len(list(tree.decisions())) == sum(decisions(betting))


def compare(betting, tree, number, street, node, start):
    """Walk both side by side; the number of decisions seen."""
    row = betting.streets[street, 0] + node
    player, actions, _ = betting.nodes[row]
    theirs = tree.nodes[number]
    level = betting.levels[betting.streets[street, 6] + start]
    assert (theirs.street, theirs.player, len(theirs.actions)) == (street, player, actions)
    seen = 1
    for action in range(actions):
        kind, child = betting.kinds[row, action], betting.children[row, action]
        target = tree.nodes[theirs.children[action]]
        if kind == FOLD:
            assert isinstance(target, Fold)
            assert (target.loser, min(target.contributions)) == (player, level + betting.losses[row])
        elif kind == END:
            chips = level + betting.ends[betting.streets[street, 5] + child]
            assert target.contributions == (chips, chips)
            if street == len(betting.streets) - 1:
                assert isinstance(target, Showdown)
            else:
                assert isinstance(target, StreetEnd)
                seen += compare(betting, tree, target.child, street + 1, 0, child * betting.streets[street, 2] + start)
        else:
            seen += compare(betting, tree, theirs.children[action], street, child, start)
    return seen


def test_sizes_of_the_papers_betting():
    betting = limit_betting(betting_tree(limit_spot()))
    assert decisions(betting) == [8, 70, 630, 5670]
    assert widths(betting) == [21, 182, 1638, 14742]


@pytest.mark.parametrize("stack", [6.0, 20.0])
@pytest.mark.parametrize("bets", [FixedLimit((2.0, 2.0), (2, 2)), BetPlan.same("50%,a", "50%,a", streets=2)])
def test_betting_that_is_not_the_same_on_every_way_is_refused(bets, stack):
    spot = Spot((), 2.0, stack, all_hands(small()), bets, format=small())
    if isinstance(bets, FixedLimit) and stack == 20.0:
        assert decisions(limit_betting(betting_tree(spot))) == [6, 30]
        return
    with pytest.raises(GameError, match="full sweeps, say dcfr"):
        limit_betting(betting_tree(spot))


def test_counts_of_the_papers_abstraction():
    one = np.ones((1, 1), np.float32)
    game = LimitGame(limit_spot(), (1,) * 4, lambda: (one, one))
    assert game.infosets == 8 + 70 + 630 + 5670
    assert game.states == (8 + 7 + 7) + (7 + 63 + 567) * (10 + 8 + 9)


def test_what_sampled_chance_cannot_do_is_said():
    spot = Spot((), 2.0, 20.0, all_hands(small()), BetPlan.same("100%", "a", streets=2), format=small())
    with pytest.raises(GameError, match="full sweeps"):
        assert LimitGame(spot, (1, 1), lambda: (np.ones((1, 1)), np.zeros((1, 1)))).betting
