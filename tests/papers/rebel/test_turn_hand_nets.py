"""The study of hand networks on the published turn: a river of self-play has the values of the hand networks' own solves."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from papers.rebel.turn_hand_nets import NETWORK, situation_of
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.search.leaves.hand_values import HandBoard
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.hand_values.situations import solve_situation
from treeplex.learn.rebel.turns.river_targets import River


def test_a_river_has_the_values_of_a_situation():
    board, generator = (3, 20, 33, 47, 48), np.random.default_rng(0)
    spot = Spot(board, 2_000.0, 4_000.0, all_hands(HOLDEM), BetPlan.same(NETWORK.bets, NETWORK.raises))
    settings = replace(NETWORK, iterations=400)
    river = River.solved(spot, (generator.random(1326), generator.random(1326)), settings.iterations, 8, storage="float64")
    found = situation_of(river)
    expected = solve_situation(HandBoard.of(HOLDEM, board), 2.0, np.stack(river.ranges), settings)
    assert found.stack == expected.stack
    assert found.worth == pytest.approx(expected.worth, abs=5e-3)
    assert np.abs(found.worth - (found.equity - 0.5)).max() > 0.1
