import numpy as np
import pytest

from papers.cfr2007.deals import value_deals
from papers.cfr2007.game import LimitGame, limit_betting
from papers.cfr2007.match import deal_cards, play_limit
from papers.cfr2007.solver import LimitCFR
from papers.cfr2007.strategy import LimitStrategy
from tests.limit_games import SlowWalk, royal_buckets
from treeplex.errors import PolicyError
from treeplex.holdem.betting.bet_plan import FixedLimit
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.buckets.joint import joint_tables
from treeplex.holdem.cards.format import royal
from treeplex.holdem.spots.known import all_hands, unbound
from treeplex.holdem.spots.spot import Spot

LIMITS = FixedLimit((2.0, 2.0, 4.0, 4.0), (2, 1, 1, 1))
SPOT = Spot((), 0.0, unbound(LIMITS), all_hands(royal()), LIMITS, format=royal(), blinds=(1.0, 2.0))
BETTING = limit_betting(betting_tree(SPOT))


def strategy(counts, iterations):
    buckets = royal_buckets(counts)
    game = LimitGame(SPOT, counts, lambda: joint_tables(buckets, 50), buckets=lambda: buckets)
    solver = LimitCFR(game)
    solver.run(iterations)
    return game, LimitStrategy(str(counts), game, solver.average)


@pytest.mark.slow
def test_values_of_deals_are_those_of_recursion():
    (game, one), (other_game, two) = strategy((2, 2, 2, 2), 500), strategy((3, 2, 2, 1), 500)
    sequences, wins = deal_cards([one, two], 6, np.random.default_rng(0))
    got = np.empty(6)
    value_deals(BETTING, one.average, two.average, sequences[0, 0], sequences[1, 1], wins, got)

    class Both(SlowWalk):
        def policy(self, street, node, start, sequence):
            player = BETTING.nodes[BETTING.streets[street, 0] + node, 0]
            tables = (SlowWalk(game, one.average), SlowWalk(other_game, two.average))
            return (
                tables[player].policy(street, node, start, sequence)
                if player
                else super().policy(street, node, start, sequence)
            )

    walk = Both(game, one.average)
    for deal in range(6):
        slow = walk.value((int(sequences[0, 0, deal]), int(sequences[1, 1, deal])), float(wins[deal]))
        assert np.isclose(got[deal], slow, atol=1e-4)


@pytest.mark.slow
def test_drawn_hands_have_the_exact_mean():
    strategies = [strategy((2, 2, 2, 2), 3000)[1], strategy((2, 2, 2, 2), 30)[1]]
    exact, drawn = (play_limit(strategies, 6000, seed=1, sampled=sampled) for sampled in (False, True))
    assert exact.errors[0, 1] < drawn.errors[0, 1]
    assert abs(exact.means[0, 1] - drawn.means[0, 1]) < 4 * drawn.errors[0, 1]
    assert exact.means[0, 1] > 4 * exact.errors[0, 1]  # more iterations play better
    assert np.array_equal(exact.means, -exact.means.T)


@pytest.mark.slow
def test_a_strategy_wins_nothing_from_itself():
    one = strategy((2, 2, 2, 2), 100)[1]
    result = play_limit([one, one], 500)
    assert result.means[0, 1] == 0
    assert result.errors[0, 1] == 0


def test_the_same_seed_gives_the_same_match():
    strategies = [strategy((2, 2, 2, 2), 100)[1], strategy((3, 2, 2, 1), 100)[1]]
    assert np.array_equal(play_limit(strategies, 300, seed=3).means, play_limit(strategies, 300, seed=3).means)
    assert not np.array_equal(play_limit(strategies, 300, seed=3).means, play_limit(strategies, 300, seed=4).means)


def test_a_match_needs_two_strategies_for_one_game():
    one = strategy((2, 2, 2, 2), 10)[1]
    with pytest.raises(PolicyError, match="two strategies"):
        play_limit([one], 10)
    other = LimitStrategy("other", LimitGame.named("bucketed_holdem(cards=royal,buckets=2)"), one.average)
    with pytest.raises(PolicyError, match="different"):
        play_limit([one, other], 10)
