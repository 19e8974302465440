from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.spots.as_fields import fields_text, spot_fields
from treeplex.holdem.spots.files import read_spot_file, request_from_options, spot_request
from treeplex.holdem.spots.spot import Spot, spot_from_json

EXAMPLES = Path(__file__).parents[3] / "examples" / "spots"
BASE = {"board": "Td 9d 6h Qc", "oop": "66+, AJs:0.5, KdTd", "ip": "22+, A2s+:0.25", "pot": "20", "stack": "97.5"}


def read_again(spot: Spot, folder: Path) -> Spot:
    """The spot by way of a file."""
    path = folder / "spot.yaml"
    path.write_text(fields_text(spot_fields(spot)))
    return read_spot_file(path).spot()


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"bets": {"turn": {"oop": "none", "ip": "33%, 2e, a"}, "river": "120c"}, "raises": {"default": "2.5x, 60%"}},
        {"donk": {"river": "25%", "default": "none"}, "thresholds": {"add_allin": "150%", "merge": "10%"}, "min_bet": "2"},
        {"donk": "none"},
        {"rake": {"rate": "5%", "cap": "1.5"}, "chip": "0.25"},
        {"limit": {"bets": "2, 2, 4, 4", "most": "4"}, "stack": "96"},
        {
            "board": "",
            "blinds": "1, 2",
            "pot": "0",
            "limps": "false",
            "rake": {"rate": "5%", "no_flop_no_drop": "true"},
            "oop": "all",
            "ip": "all",
        },
        {"board": "", "blinds": "1, 2", "pot": "0", "format": "royal", "oop": "all", "ip": "all"},
    ],
)
def test_a_spot_is_the_same_by_way_of_a_file(more: dict[str, Any], tmp_path: Path) -> None:
    spot = request_from_options({**BASE, **more}).spot()
    if spot.format.name == "holdem":
        assert read_again(spot, tmp_path).identity == spot.identity
    else:
        fields = {**spot_fields(spot), "oop": "all", "ip": "all"}
        assert request_from_options(fields).spot().identity == spot.identity


def test_unused_donk_sizes_of_the_first_street_stay_so(tmp_path: Path) -> None:
    spot = request_from_options(BASE).spot()
    assert isinstance(spot.bets, BetPlan)
    own = replace(spot, bets=spot.bets.override(spot.streets[0], 0, donk="10%"))
    assert read_again(own, tmp_path).identity == own.identity


@pytest.mark.parametrize("name", ["turn", "river"])
def test_examples_are_the_same_and_short(name: str, tmp_path: Path) -> None:
    spot = spot_request(EXAMPLES / f"{name}.yaml").spot()
    assert read_again(spot, tmp_path).identity == spot.identity
    assert len(spot_fields(spot)["oop"]) < 150


def test_amounts_given_in_big_blinds_stay_so() -> None:
    fields = {"board": "Td9d6h", "oop": "AA", "ip": "KK", "pot": "5.5bb", "stack": "97.5bb", "min_bet": "1bb"}
    given = request_from_options({**fields, "rake": {"rate": "5%", "cap": "0.5bb"}}).spot()
    written = spot_fields(given)
    assert (given.unit, given.big_blind) == ("bb", 1.0)
    assert [written[name] for name in ("pot", "stack", "min_bet")] == ["5.5bb", "97.5bb", "1bb"]
    again = request_from_options(written).spot()
    assert (again.unit, again.identity) == (given.unit, given.identity)
    in_chips = request_from_options(
        {**fields, "pot": "5.5", "stack": "97.5", "min_bet": "1", "rake": {"rate": "5%", "cap": "0.5"}}
    )
    assert (in_chips.spot().unit, in_chips.spot().identity) == ("chips", given.identity)
    assert spot_from_json(given.to_json(), given.ranges).unit == "bb"


def test_preflop_amounts_are_in_big_blinds_if_a_chip_is_one() -> None:
    fields = {"oop": "all", "ip": "all", "blinds": "0.5, 1", "pot": "0.2bb", "stack": "7.9bb", "chip": "0.05"}
    given = request_from_options({**fields, "runouts": "48x2x2"}).spot()
    assert (given.unit, given.pot, given.stack) == ("bb", 0.2, 7.9)
    again = request_from_options(spot_fields(given)).spot()
    assert (again.unit, again.identity) == ("bb", given.identity)
    other = {"blinds": "1, 2", "chip": "0.1"}  # a big blind is two chips
    assert request_from_options({**fields, **other, "runouts": "48x2x2"}).spot().unit == "chips"
