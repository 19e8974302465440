"""The script on networks for turns of 52 cards: trainings are kept, and errors are those of hands."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from papers.common import kept
from papers.rebel import turn_networks
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.search.leaves.binned_rivers import RiverBins
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.rebel.turns.river_targets import River


@pytest.mark.slow
def test_a_training_is_done_once(tmp_path, monkeypatch):
    tiny = {"games": 2, "iterations": 1, "rivers": 4, "river_iterations": 4, "bins": 8, "width": 8, "burn_in": 4, "batch": 4}
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    monkeypatch.setattr(turn_networks, "SETTINGS", replace(turn_networks.SETTINGS, **tiny))
    first, card = turn_networks.network("self-play")
    again, same = turn_networks.network("self-play")
    assert card == same
    assert (card["games"], card["rows"]) == (2, 8)
    rows = np.random.default_rng(0).random((3, 17), np.float32)
    assert np.array_equal(first(rows), again(rows))
    assert turn_networks.network("random beliefs, flat")[1]["checksum"] != card["checksum"]
    assert len(list(tmp_path.iterdir())) == 2


def test_errors_are_those_of_single_hands():
    """Of values put into bins: fewer bins say less; of no values: what a bet is worth."""
    board = (3, 20, 33, 47, 48)
    spot = Spot(board, 2_000.0, 4_000.0, all_hands(HOLDEM), BetPlan.same("100%,a", "a"))
    generator = np.random.default_rng(0)
    river = River.solved(spot, (generator.random(1326), generator.random(1326)), 30, 8, storage="float64")
    rivers = [replace(river, bins=RiverBins.of(HOLDEM, (board,), bins)) for bins in (8, 32, 512)]
    found = [turn_networks.hands_error([each], each.row()[1][None]) for each in rivers]
    assert found[0] > 1.5 * found[1] > 2.25 * found[2] > 0
    assert turn_networks.hands_error([river], np.zeros((1, 16))) == pytest.approx(np.sqrt(np.mean(np.square(river.worth))))
