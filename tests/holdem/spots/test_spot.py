"""Spots: what they refuse, what they keep, and what identifies them."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from treeplex.errors import GameError, SpecError
from treeplex.games.base import Game
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.cards.cards import HANDS, hand_index, parse_cards
from treeplex.holdem.cards.format import rhode_island, small
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.forms.spot_size import spot_size
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.spots import known
from treeplex.holdem.spots.files import load_spot
from treeplex.holdem.spots.known import holdem, leduc_holdem, limit_holdem, rhode_island_holdem, turn_endgame_holdem
from treeplex.holdem.spots.spot import Rake, Spot, compatible_pairs, spot_from_json
from treeplex.holdem.spots.spot_table import NAMED

EVERYTHING = np.ones(1326)
PLAN = BetPlan.same("50%,a", "a")


def turn(**changes: object) -> Spot:
    """A small turn spot with some fields changed."""
    fields: dict[str, object] = {"board": parse_cards("Td9d6hQc"), "pot": 200.0, "stack": 900.0, "bets": PLAN}
    fields["ranges"] = (EVERYTHING, EVERYTHING)
    return Spot(**(fields | changes))  # type: ignore[arg-type]


def weights_of(text: str) -> np.ndarray:
    return parse_range(text)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"board": parse_cards("Td9d")}, "2 cards"),
        ({"board": (1, 1, 2)}, "twice"),
        ({"board": (), "blinds": None, "pot": 0.0}, "pot is 0.0"),
        ({"blinds": (1.0, 2.0)}, "blinds need an empty board"),
        ({"board": (), "blinds": (2.0, 1.0)}, "small <= big"),
        ({"board": (), "blinds": (1.0, 900.0)}, "greater than the big blind"),
        ({"board": (), "blinds": (0.5, 1.0)}, "small blind 0.5 is not a multiple of chip 1"),
        ({"pot": -1.0}, "pot is -1"),
        ({"pot": math.nan}, "pot is nan"),
        ({"stack": 0.0}, "stack is 0"),
        ({"stack": math.inf}, "stack is inf"),
        ({"stack": 900.5}, "stack 900.5 is not a multiple of chip 1"),
        ({"chip": 0.0}, "chip is 0"),
        ({"chip": 1e-9}, "chip is 1e-09; give the smallest unit, from 1e-06 to 1e\\+09"),
        ({"pot": 1e12}, r"pot is 1e\+12; give at most 1e\+09 chips"),
        ({"stack": 1e300}, r"stack is 1e\+300; give at most 1e\+09 chips"),
        ({"bets": BetPlan.same("a", "a", streets=3)}, "bets are for 3 streets but holdem has 4"),
        ({"bets": FixedLimit((2.0,) * 3 + (2.5,), (4,) * 4)}, "fixed-limit bet 2.5"),
        ({"ranges": (np.ones(169), EVERYTHING)}, r"out of position has shape \(169,\)"),
        ({"ranges": (EVERYTHING, np.where(np.arange(1326) == 1325, -1.0, 1.0))}, "in position gives AsAh the weight -1"),
        ({"ranges": (np.where(np.arange(1326) == 0, np.nan, 1.0), EVERYTHING)}, "2d2c the weight nan"),
        ({"ranges": (weights_of("TdQc"), EVERYTHING)}, "no hand in the range of the player out of position"),
        ({"ranges": (weights_of("AsKs"), weights_of("AsQs,KsJd"))}, "shares a card with every hand"),
        ({"strengths": np.zeros(1326, dtype=np.int64)}, "complete board"),
        ({"board": parse_cards("Td9d6hQc2s"), "strengths": np.zeros(1326)}, "integers"),
    ],
)
def test_values_out_of_range_are_refused_by_name(changes: Mapping[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        turn(**changes)


@pytest.mark.parametrize(("rate", "cap"), [(-0.1, 1.0), (1.1, 1.0), (0.05, -1.0), (math.nan, 1.0), (0.05, math.nan)])
def test_rake_out_of_range(rate: float, cap: float) -> None:
    with pytest.raises(SpecError, match="rake"):
        Rake(rate, cap)


def test_ranges_are_copies_without_blocked_hands() -> None:
    mine = EVERYTHING.copy()
    spot = turn(ranges=(mine, mine))
    mine[:] = 7
    assert spot.ranges[0].sum() == 48 * 47 / 2
    assert spot.ranges[1][hand_index(*parse_cards("TdAs"))] == 0
    with pytest.raises(ValueError, match="read-only"):
        spot.ranges[0][0] = 1


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e300])
def test_ranges_of_any_scale_come_near_one(scale: float) -> None:
    found = turn(ranges=(EVERYTHING * scale, EVERYTHING)).ranges[0].max()
    assert 0.5 <= found <= 1


def test_compatible_pairs_against_every_pair() -> None:
    generator = np.random.default_rng(5)
    for hands in (HANDS, rhode_island().hands):
        mine, other = generator.random((2, len(hands))) < 0.1
        pairs = [set(a) & set(b) for a in hands[mine].tolist() for b in hands[other].tolist()]
        assert compatible_pairs(hands, mine, other) == sum(not common for common in pairs)


def test_streets_and_smallest_bets() -> None:
    assert turn().streets == range(2, 4)
    assert turn(chip=0.5).min_bet == 0.5
    assert turn(board=(), blinds=(1.0, 2.0)).min_bet == 2
    assert turn(bets=BetPlan.same("a", "a", min_bet=100)).min_bet == 100
    assert leduc_holdem().streets == range(2)


SPOTS = [
    turn(rake=Rake(0.05, 30.0), chip=0.5),
    turn(rake=Rake(0.05), bets=BetPlan.same("e", "2.5x", river_donk="50%", merge=0.1)),
    turn(board=(), blinds=(1.0, 2.0), pot=0.0),
    turn(board=parse_cards("Td9d6hQc2s"), strengths=np.arange(1326)),
    limit_holdem(),
    rhode_island_holdem(4),
    leduc_holdem(),
    turn_endgame_holdem(),
]


@pytest.mark.parametrize("spot", SPOTS)
def test_round_trip_through_json_keeps_the_identity(spot: Spot) -> None:
    again = spot_from_json(json.loads(json.dumps(spot.to_json())), spot.ranges, spot.strengths)
    assert again.identity == spot.identity
    assert again.to_json() == spot.to_json()
    assert (again.board, again.bets, again.rake, again.format.hands.shape) == (
        spot.board,
        spot.bets,
        spot.rake,
        spot.format.hands.shape,
    )


def test_identities_tell_every_field_apart() -> None:
    ranges = weights_of("AA"), EVERYTHING
    changes: list[dict[str, object]] = [
        {},
        {"board": parse_cards("Td9d6hQs")},
        {"board": parse_cards("Td9d6hQc2s")},
        {"pot": 201.0},
        {"stack": 901.0},
        {"ranges": ranges},
        {"ranges": ranges[::-1]},
        {"bets": BetPlan.same("50%,a", "a", merge=0.1)},
        {"rake": Rake(0.05)},
        {"rake": Rake(0.05, 3.0)},
        {"chip": 0.5},
    ]
    spots = [*SPOTS[2:7], *(turn(**change) for change in changes)]
    assert len({spot.identity for spot in spots}) == len(spots)
    assert turn().identity == turn().identity


def test_json_that_is_no_spot() -> None:
    description = turn().to_json()
    del description["rake"]
    with pytest.raises(SpecError, match="cannot read its description"):
        spot_from_json(description, turn().ranges)


def test_holdem_reads_texts() -> None:
    spot = holdem("Td 9d 6h", "QQ+,AKs:0.5", EVERYTHING, pot=200, stack=900, bets=PLAN, rake=Rake(0.05, 3))
    assert spot.board == parse_cards("Td9d6h")
    assert spot.ranges[0].sum() == 20
    assert spot.ranges[1].sum() == 49 * 48 / 2
    assert spot.rake.of(1000) == 3
    assert holdem("", "AA", "KK", pot=0, stack=200, bets=PLAN, blinds=(1, 2)).street == 0


def test_named_spots() -> None:
    spot = turn_endgame_holdem()
    assert (spot.pot, spot.stack, spot.ranges[0].sum()) == (2000, 19000, 1128)
    assert turn_endgame_holdem(stack_behind=20_000).stack == 20000
    assert (limit_holdem().blinds, limit_holdem(2.0).blinds) == ((5, 10), (1, 2))
    assert len(rhode_island_holdem().ranges[0]) == 52
    assert leduc_holdem(12, 6).format == small(ranks=12)


@pytest.mark.parametrize("name", NAMED)
def test_spots_with_names_are_what_their_functions_make(name: str) -> None:
    found, made = load_spot(name), known.NAMED[name]()
    assert betting_tree(found).nodes == betting_tree(made).nodes
    assert (found.board, found.format, found.rake, found.blinds) == (made.board, made.format, made.rake, made.blinds)
    np.testing.assert_array_equal(found.ranges, made.ranges)


def test_flop_holdem_is_as_large_as_counted_elsewhere() -> None:
    """Brown et al. 2019 count 7 betting lines to the flop; 1,755 flops up to suits, 8 decisions after each."""
    size = spot_size(known.flop_holdem())
    assert size.boards == (1, 1755)
    assert size.infosets - 8 * 1326 == 7 * 8 * 1755 * 1176
    assert spot_size(known.flop_holdem(1)).infosets - 4 * 1326 == 3 * 4 * 1755 * 1176


def test_a_spot_is_a_game() -> None:
    spot = load_spot("flop_holdem")
    assert isinstance(spot, Game)
    assert (spot.spec, spot.num_players) == ("flop_holdem", 2)
    rules = spot.walkable_rules()
    assert rules is spot.walkable_rules()
    assert rules.spec == "flop_holdem"
    assert spot.num_distinct_actions == rules.num_distinct_actions
    assert spot.new_initial_state().legal_actions() == rules.new_initial_state().legal_actions()
    assert isinstance(spot.public, HoldemGame)
    with pytest.raises(GameError, match="whose infosets are not enumerated"):
        spot.enumerable_rules()


def test_a_changed_spot_is_not_called_as_before() -> None:
    spot = load_spot("turn_endgame")
    assert replace(spot, stack=400.0).spec == ""
    assert known.turn_endgame_holdem().walkable_rules().spec == "turn_endgame"
    assert replace(spot, stack=400.0).walkable_rules().spec == ""
