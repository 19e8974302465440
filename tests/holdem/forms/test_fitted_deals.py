"""Sets of boards that ship: equities on them come close to those on all boards, and spots deal them."""

from dataclasses import replace
from math import comb

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.class_equities import class_equities, equities_on
from treeplex.holdem.cards.fitted_deals import SETS, fitted_deals
from treeplex.holdem.cards.format import HOLDEM, royal
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.forms.boards import boards_of, weighted_boards
from treeplex.holdem.forms.spot_size import spot_size
from treeplex.holdem.spots.as_fields import spot_fields
from treeplex.holdem.spots.files import request_from_options
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot, spot_from_json

CHECKED = Spot((), 0.0, 10.0, all_hands(HOLDEM), BetPlan.same("none", "none"), chip=0.5, blinds=(0.5, 1.0))


def error(spot: Spot) -> float:
    """The root mean square error of equities of classes, weighted by pairs of hands."""
    exact = class_equities()
    away = equities_on(*weighted_boards(spot)) - exact.equity
    return float(np.sqrt((away**2 * exact.pairs).sum() / exact.pairs.sum()))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_equities_come_out_right(name: str) -> None:
    flops, turns, rivers = SETS[name]
    fitted = replace(CHECKED, deal_set=name)
    assert fitted.runouts == (0, flops, turns, rivers)
    spread = replace(CHECKED, runouts=(0, flops, turns, rivers))
    assert error(fitted) < 0.015
    assert error(fitted) < error(spread) / 2
    boards, weights = weighted_boards(fitted)
    assert len(boards) == flops * turns * rivers
    assert weights.sum() == pytest.approx(comb(52, 3) * 49 * 48, rel=0.02)


def test_no_flop_is_in_two_sets() -> None:
    first, second = ({tuple(board[:3]) for board in fitted_deals(name).boards.tolist()} for name in ("48x2x2", "48x2x2b"))
    assert not first & second


def test_boards_have_the_shares_of_the_set() -> None:
    spot = replace(CHECKED, deal_set="48x2x2")
    streets, found = boards_of(spot), fitted_deals("48x2x2")
    assert tuple(map(len, streets)) == spot_size(spot).boards == (1, 48, 96, 192)
    shares = {tuple(board): own for board, own in zip(found.boards.tolist(), found.shares.tolist(), strict=True)}
    for board in streets[3]:
        turn = streets[2][board.parent]
        assert shares[board.cards] == [streets[1][turn.parent].share, turn.share, board.share]


def test_sets_by_name_in_files() -> None:
    fields = {"oop": "all", "ip": "all", "pot": 0, "stack": 20, "blinds": "0.5, 1", "runouts": "48x2x2"}
    spot = request_from_options(fields).spot()
    assert spot.deal_set == "48x2x2"
    assert spot_from_json(spot.to_json(), spot.ranges).identity == spot.identity
    assert spot_fields(spot)["runouts"] == "48x2x2"
    assert spot.identity != replace(spot, deal_set="").identity != replace(spot, deal_set="", runouts=()).identity
    fewer = request_from_options({**fields, "flops": 5}).spot()
    assert (fewer.deal_set, fewer.runouts) == ("", (0, 5, 0, 0))
    with pytest.raises(
        SpecError,
        match="--runouts: '48x2' is not a shipped set of boards; write 48x2x2 or 48x2x2b",
    ):
        request_from_options({**fields, "runouts": "48x2"}).spot()


def test_where_sets_do_not_fit() -> None:
    with pytest.raises(SpecError, match="needs a full deck and an empty board"):
        Spot((), 0.0, 10.0, all_hands(royal()), CHECKED.bets, format=royal(), chip=0.5, blinds=(0.5, 1.0), deal_set="48x2x2")
    suited = parse_range("AsKs, QQ"), np.ones(len(HOLDEM.hands))
    with pytest.raises(SpecError, match="does not support suit-specific ranges"):
        spot_size(replace(CHECKED, ranges=suited, deal_set="48x2x2"))
