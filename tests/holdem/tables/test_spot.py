"""The table of a spot: what is said of the result, and bets as shares of the pot."""

import numpy as np

import treeplex as tp
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.spot_agent import SpotAgent
from treeplex.holdem.tables.spot import HoldemTable


def table() -> HoldemTable:
    """A river on which every hand plays the board, with rake."""
    spot = tp.holdem.spot("As Ks Qs Js Ts", "AA,KK", "QQ,JJ", pot=5, stack=10, chip=1, bets="50%", raises="a", rake="5%")
    agent = SpotAgent(HoldemGame.of(spot), tp.solve(spot, iterations=2, threads=1).policy)
    found = HoldemTable(agent, np.random.default_rng(0))
    found.begin()
    return found


def test_a_split_pot_is_split_also_with_rake() -> None:
    seat = table()
    while seat.actor is not None:
        seat.play(0)  # a check
    assert seat.returns() == [-0.125, -0.125]
    for player in (0, 1):
        assert seat.outcome(player).startswith("the pot of 5 is split")


def test_half_of_five_chips_is_three_as_in_the_plan() -> None:
    seat = table()
    assert seat.options()[1] == "bet 3 (60%)"
    assert seat.named("bet 50%") == 1
