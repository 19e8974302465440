"""A spot: the definition of a heads-up poker game from some street to the end of the hand. It consists of board, pot, stacks,
ranges, bet sizes and rake. This module validates all of these values; the betting tree (:mod:`treeplex.holdem.betting.tree`)
and the solvers assume a valid spot.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.wings import named
from treeplex.errors import GameError, SpecError
from treeplex.games.base import Game, State
from treeplex.games.public import PublicGame
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit, half_up, plan_from_json
from treeplex.holdem.betting.rules import BettingRules
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.cards.fitted_deals import check_set
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.spots.fields import SolveFields
from treeplex.holdem.spots.spot_table import SPOTS

TOLERANCE = 1e-9
MOST_CHIPS, LEAST_CHIP = 1e9, 1e-6
"""Limits of amounts; beyond them single precision overflows, or double precision loses whole chips."""
LEAST_SCALE = 1e-3
"""Ranges whose largest weight is outside these limits are scaled to near 1, for single precision."""
PLAYERS = ("out of position", "in position")
CHIPS, BIG_BLINDS = "chips", "bb"
"""Units of displayed amounts."""


@dataclass(frozen=True)
class Rake:
    """Rake taken from every pot, even without a showdown: ``min(rate * pot, cap)`` chips.

    The pot consists of matched chips only: an uncalled bet is returned unraked. With ``no_flop_no_drop`` no rake is taken
    from hands that end before any board card.
    """

    rate: float = 0.0
    cap: float = math.inf
    no_flop_no_drop: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise SpecError(f"rake: rate is {self.rate}; give a share of the pot from 0 to 1, such as 0.05")
        if not self.cap >= 0:
            raise SpecError(f"rake: cap is {self.cap}; give chips of at least 0, or infinity for none")

    def of(self, pot: float, *, dealt: bool = True) -> float:
        """The rake from a pot; ``dealt``: whether any board card has been dealt."""
        return min(self.rate * pot, self.cap) if dealt or not self.no_flop_no_drop else 0.0

    def to_json(self) -> dict[str, object]:
        """JSON data that :func:`rake_from_json` reads."""
        some: dict[str, object] = {"no_flop_no_drop": True} if self.no_flop_no_drop else {}
        return {"rate": self.rate, "cap": None if math.isinf(self.cap) else self.cap} | some


def rake_from_json(data: Mapping[str, Any]) -> Rake:
    """The rake that ``to_json`` wrote."""
    cap = math.inf if data["cap"] is None else float(data["cap"])
    return Rake(float(data["rate"]), cap, bool(data.get("no_flop_no_drop", False)))


@dataclass(frozen=True, eq=False)
class Spot(Game):
    """A heads-up spot. Amounts are in chips, hands in the order of ``format.hands`` (H of them).

    Attributes:
        board: the board cards; empty before the first street that deals any.
        pot: chips in the pot, half from each player (antes and earlier streets); blinds excluded.
        stack: chips behind, equal for both players (the smaller stack); blinds are paid from it.
        ranges: float64 [H] for player 0 (out of position) and player 1 (in position), any nonnegative scale (rescaled to near
            1). Stored as read-only copies, with weight 0 for blocked hands.
        bets: the bet sizes.
        rake: the rake.
        format: cards in play, hole cards and streets.
        chip: the smallest unit; bets are rounded to it, and ``pot``, ``stack`` and ``blinds`` are multiples of it.
        blinds: ``(small, big)``, for spots that begin before any board card: player 1 posts the small blind and acts first on
            that street, player 0 posts the big blind and acts first on later streets. None: no blinds, and player 0 acts first
            on every street.
        runouts: for each street of the format, the number of deals, each representing several: a smaller game whose solutions
            approximate those of the full game. 0 for all; empty for all on all streets. The deals are chosen by
            :func:`treeplex.holdem.cards.spread.evenly_spread`, separately on each board, or by ``deal_set``.
        deal_set: name of a shipped set of boards (:mod:`treeplex.holdem.cards.fitted_deals`), whose numbers are in ``runouts``;
            empty for none.
        strengths: int64 [H], replaces the evaluator at showdown on a complete board (higher wins, equal values tie), to
            reproduce published results of a program that misreads cards; normally None.
        settings: default solve settings from its file; not part of its identity.
        unit: how amounts are displayed: ``chips``, or ``bb`` if they were given in big blinds and a chip is one big blind; not
            part of its identity.
        spec: the name or file from which it was loaded (:func:`treeplex.holdem.load_spot`); else empty.

    Raises:
        SpecError: a value out of range; the message names the field.
    """

    board: tuple[int, ...]
    pot: float
    stack: float
    ranges: tuple[Floats, Floats]
    bets: BetPlan | FixedLimit
    rake: Rake = field(default_factory=Rake)
    format: Format = HOLDEM
    chip: float = 1.0
    blinds: tuple[float, float] | None = None
    runouts: tuple[int, ...] = ()
    deal_set: str = ""
    strengths: Ints | None = None
    settings: SolveFields = field(default_factory=SolveFields, repr=False)
    unit: str = field(default=CHIPS, repr=False)
    spec: str = field(default="", init=False, repr=False)
    solvable = SPOTS
    table_kind = "treeplex.holdem.tables.spot:HoldemTable"
    terminal = "treeplex.holdem.cli.shared.spots:play_spot"

    def __post_init__(self) -> None:
        check_cards(self)
        check_chips(self)
        check_bets(self)
        object.__setattr__(self, "ranges", checked_ranges(self))
        object.__setattr__(self, "strengths", checked_strengths(self))

    @property
    def street(self) -> int:
        """The street on which the spot begins, an index of ``format.deal``."""
        return self.format.street(self.board)

    @property
    def streets(self) -> range:
        """The streets played."""
        return range(self.street, len(self.format.deal))

    @property
    def min_bet(self) -> float:
        """The smallest first bet and raise increment of a no-limit plan, in chips."""
        if isinstance(self.bets, BetPlan) and self.bets.min_bet is not None:
            return self.bets.min_bet
        return self.blinds[1] if self.blinds else self.chip

    @cached_property
    def betting(self) -> BettingRules:
        """The betting rules, in smallest chips; player 1 is the dealer."""

        def units(chips: float) -> int:
            return half_up(chips / self.chip)

        limit, street, blinds = self.bets if isinstance(self.bets, FixedLimit) else None, self.street, self.blinds or ()
        most = [] if limit is None else list(limit.most)
        if limit is not None and blinds:  # the big blind counts as a bet
            most[street] -= 1
        return BettingRules(
            dealer=1,
            stacks=(units(self.stack),) * 2,
            streets=len(self.format.deal),
            blinds=tuple(map(units, blinds)),
            limits=() if limit is None else tuple(map(units, limit.bets)),
            most=tuple(bets if bets > 0 else -1 for bets in most),
            plan=self.bets if isinstance(self.bets, BetPlan) else BetPlan(),
            pot=units(self.pot),
            min_bet=max(1, units(self.min_bet)),
            first_street=street,
            chip=self.chip,
        )

    @property
    def committed(self) -> tuple[float, float]:
        """Each player's chips in the pot before the first action: half of ``pot``, and the blind."""
        small, big = self.blinds or (0.0, 0.0)
        return self.pot / 2 + big, self.pot / 2 + small

    @property
    def opening_pot(self) -> float:
        """All chips in the pot before the first action, ``pot`` and blinds; shares of the pot refer to this."""
        return sum(self.committed)

    @property
    def big_blind(self) -> float | None:
        """The big blind in chips: from the blinds, or 1 if amounts are in big blinds; else None."""
        if self.blinds is not None:
            return float(self.blinds[1])
        return 1.0 if self.unit == BIG_BLINDS else None

    @property
    def num_distinct_actions(self) -> int | None:
        return self.walkable_rules().num_distinct_actions

    def new_initial_state(self) -> State:
        """The root of :meth:`walkable_rules`."""
        return self.walkable_rules().new_initial_state()

    def enumerable_rules(self) -> Game:
        """Raise GameError: infosets of spots are not enumerated.

        Raises:
            GameError: always.
        """
        raise GameError(
            f"{self} is a hold'em spot, whose infosets are not enumerated; solve, compare, evaluate, show and info accept it, "
            "and so do learners that sample histories; other commands need another game"
        )

    def walkable_rules(self) -> Game:
        """The spot's rules with cards dealt one by one: :func:`treeplex.holdem.rules.dealt.dealt_spot`.

        Raises:
            GameError: hands or boards are not all equally likely.
        """
        rules: Game = named("treeplex.holdem.rules.dealt:dealt_spot")(self)
        return rules

    def public_game(self) -> PublicGame:
        """The spot's public states and private hands: :class:`treeplex.holdem.rules.public.HoldemGame`.

        Raises:
            GameError: the spot deals only a subset of boards.
        """
        game: PublicGame = named("treeplex.holdem.rules.public:HoldemGame").of(self)
        return game

    def __str__(self) -> str:
        board = " ".join(cards_to_string([card]) for card in self.board) or self.format.name
        unit = "" if self.unit == CHIPS else f" {self.unit}"
        return f"{board}, pot {self.opening_pot:g}{unit}, stacks {self.stack:g}{unit}"

    def to_json(self) -> dict[str, object]:
        """Everything except the arrays, as JSON data for :func:`spot_from_json`."""
        some: dict[str, object] = {"runouts": list(self.runouts)} if self.runouts else {}
        if self.deal_set:
            some["deal_set"] = self.deal_set
        if self.unit != CHIPS:
            some["unit"] = self.unit
        return some | {
            "board": cards_to_string(self.board),
            "pot": self.pot,
            "stack": self.stack,
            "bets": self.bets.to_json(),
            "rake": self.rake.to_json(),
            "format": format_to_json(self.format),
            "chip": self.chip,
            "blinds": None if self.blinds is None else list(self.blinds),
        }

    @property
    def identity(self) -> str:
        """SHA-256 of everything that defines the spot, in hexadecimal."""
        data = self.to_json()
        data.pop("unit", None)
        digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode())
        for weights in self.ranges:
            digest.update(np.ascontiguousarray(weights, dtype="<f8").tobytes())
        if self.strengths is not None:
            digest.update(np.ascontiguousarray(self.strengths, dtype="<i8").tobytes())
        return digest.hexdigest()


def format_to_json(format: Format) -> dict[str, object]:
    """A format as JSON data."""
    return {
        "name": format.name,
        "deck": cards_to_string(format.deck),
        "hole": format.hole,
        "deal": list(format.deal),
        "ranking": format.ranking,
    }


def spot_from_json(data: Mapping[str, Any], ranges: tuple[Floats, Floats], strengths: Ints | None = None) -> Spot:
    """The spot described by :meth:`Spot.to_json`, with its arrays.

    Raises:
        SpecError: the data do not describe a spot.
    """
    try:
        kind, blinds = data["format"], data["blinds"]
        form = Format(
            name=kind["name"],
            deck=parse_cards(kind["deck"]),
            hole=int(kind["hole"]),
            deal=tuple(map(int, kind["deal"])),
            ranking=kind["ranking"],
        )
        return Spot(
            board=parse_cards(str(data["board"])),
            pot=float(data["pot"]),
            stack=float(data["stack"]),
            ranges=ranges,
            bets=plan_from_json(data["bets"]),
            rake=rake_from_json(data["rake"]),
            format=HOLDEM if form == HOLDEM else form,
            chip=float(data["chip"]),
            blinds=None if blinds is None else (float(blinds[0]), float(blinds[1])),
            runouts=tuple(map(int, data.get("runouts", ()))),
            deal_set=str(data.get("deal_set", "")),
            strengths=strengths,
            unit=str(data.get("unit", CHIPS)),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise SpecError(f"spot: cannot read its description ({error!r}); give the output of Spot.to_json") from None


def check_cards(spot: Spot) -> None:
    """Reject boards, runouts and blinds that do not fit the format."""
    object.__setattr__(spot, "board", tuple(int(card) for card in spot.board))
    street = spot.format.street(spot.board)
    runouts = tuple(int(count) for count in spot.runouts)
    if spot.deal_set:
        if spot.board or spot.format != HOLDEM:
            raise SpecError(
                "spot: a fitted subset of boards needs a full deck and an empty board; give the number of runouts instead"
            )
        runouts = (0, *check_set(spot.deal_set))
    if runouts and (len(runouts) != len(spot.format.deal) or min(runouts) < 0):
        raise SpecError(
            f"spot: runouts are {runouts}; give a number of deals of at least 0 (0 for all) for each of the "
            f"{len(spot.format.deal)} streets"
        )
    runouts = (0,) * (street + 1) + runouts[street + 1 :]
    object.__setattr__(spot, "runouts", runouts if any(runouts) else ())
    if spot.blinds is not None and (spot.board or street != 0):
        raise SpecError("spot: blinds need an empty board; leave out the blinds or the board")


def check_chips(spot: Spot) -> None:
    """Convert amounts to floats; reject those that are out of range or not a multiple of the chip."""
    for name in ("pot", "stack", "chip"):
        object.__setattr__(spot, name, float(getattr(spot, name)))
    if spot.blinds is not None:
        object.__setattr__(spot, "blinds", (float(spot.blinds[0]), float(spot.blinds[1])))
    if not LEAST_CHIP <= spot.chip <= MOST_CHIPS:
        raise SpecError(f"spot: chip is {spot.chip:g}; give the smallest unit, from {LEAST_CHIP:g} to {MOST_CHIPS:g}")
    least = 0.0 if spot.blinds is not None else spot.chip
    if not (math.isfinite(spot.pot) and spot.pot >= least):
        raise SpecError(f"spot: pot is {spot.pot}; give chips of at least {least:g}")
    if not (math.isfinite(spot.stack) and spot.stack > 0):
        raise SpecError(f"spot: stack is {spot.stack}; give the chips behind, greater than 0")
    amounts = {"pot": spot.pot, "stack": spot.stack}
    if spot.blinds is not None:
        small, big = spot.blinds
        if not (math.isfinite(big) and 0 <= small <= big and big > 0):
            raise SpecError(f"spot: blinds are {spot.blinds}; give (small, big) with 0 <= small <= big and big greater than 0")
        if big >= spot.stack:
            raise SpecError(
                f"spot: stack is {spot.stack:g} with a big blind of {big:g}; give a stack greater than the big blind"
            )
        amounts |= {"small blind": small, "big blind": big}
    for name, amount in amounts.items():
        if amount > MOST_CHIPS:
            raise SpecError(f"spot: {name} is {amount:g}; give at most {MOST_CHIPS:g} chips, or use a larger unit")
        check_multiple(name, amount, spot.chip)


def check_multiple(name: str, amount: float, chip: float) -> None:
    """Reject an amount that is not a multiple of the chip."""
    if not is_multiple(amount, chip):
        raise SpecError(f"spot: {name} {amount:g} is not a multiple of chip {chip:g}; round it, or decrease 'chip'")


def is_multiple(amount: float, chip: float) -> bool:
    """Whether an amount is a multiple of the chip, up to rounding."""
    units = amount / chip
    return math.isfinite(units) and abs(units - round(units)) <= TOLERANCE * max(1.0, units)


def check_bets(spot: Spot) -> None:
    """Reject plans for too few streets, fixed bets that are not multiples of the chip, and misplaced preflop options."""
    streets = len(spot.format.deal)
    if isinstance(spot.bets, FixedLimit):
        planned = len(spot.bets.bets)
        for bet in spot.bets.bets:
            check_multiple("fixed-limit bet", bet, spot.chip)
    else:
        planned = len(spot.bets.streets)
    if planned != streets:
        raise SpecError(
            f"spot: bets are for {planned} streets but {spot.format.name} has {streets}; give sizes for every street"
        )
    if spot.blinds is None and isinstance(spot.bets, BetPlan):
        if not spot.bets.limps:
            raise SpecError("spot: 'limps' needs blinds; give blinds, or leave out 'limps'")
        if any(size.kind == "blinds" for size in spot.bets.sizes()):
            raise SpecError("spot: sizes in big blinds need blinds; give chips, such as 5c, or blinds")
    if spot.rake.no_flop_no_drop and spot.format.deal[0]:
        raise SpecError("spot: the rake's no_flop_no_drop needs a first street without cards on the board; leave it out")


def checked_ranges(spot: Spot) -> tuple[Floats, Floats]:
    """Read-only copies of both ranges without the hands that the board blocks."""
    hands = spot.format.hands
    blocked = np.isin(hands, spot.board).any(axis=1)
    cleaned = []
    for weights, player in zip(spot.ranges, PLAYERS, strict=True):
        copy = np.array(weights, dtype=np.float64)
        if copy.shape != (len(hands),):
            raise SpecError(f"spot: the range of the player {player} has shape {copy.shape}; give {len(hands)} weights")
        if not (np.isfinite(copy).all() and (copy >= 0).all()):
            worst = int(np.argmin(np.where(np.isfinite(copy), copy, -np.inf)))
            raise SpecError(
                f"spot: the range of the player {player} gives {spot.format.names([worst])[0]} the weight {copy[worst]}; "
                "weights must be numbers of at least 0"
            )
        copy[blocked] = 0.0
        if not copy.any():
            raise SpecError(
                f"spot: no hand in the range of the player {player} avoids the board {cards_to_string(spot.board)}; "
                "widen the range"
            )
        largest = copy.max()
        if not LEAST_SCALE <= largest <= 1.0:
            copy = np.ldexp(copy, -math.ceil(math.log2(largest)))  # scaling by a power of two is exact
        copy.flags.writeable = False
        cleaned.append(copy)
    if not compatible_pairs(hands, cleaned[0] > 0, cleaned[1] > 0):
        raise SpecError("spot: every hand of one range shares a card with every hand of the other; widen a range")
    return cleaned[0], cleaned[1]


def compatible_pairs(hands: NDArray[np.uint8], mine: NDArray[np.bool_], other: NDArray[np.bool_]) -> int:
    """Number of pairs of hands from two sets [H] that share no card, by inclusion and exclusion."""
    holding = np.bincount(hands[other].ravel(), minlength=52)
    blocked = holding[hands[mine]].sum(axis=1)
    twice = other[mine] if hands.shape[1] == 2 else 0
    return int((int(other.sum()) - blocked + twice).sum())


def checked_strengths(spot: Spot) -> Ints | None:
    """A read-only copy of the showdown strengths, if any."""
    if spot.strengths is None:
        return None
    if len(spot.board) != sum(spot.format.deal):
        raise SpecError("spot: 'strengths' needs a complete board; leave it out on earlier streets")
    copy = np.array(spot.strengths)
    if copy.shape != (len(spot.format.hands),) or not np.issubdtype(copy.dtype, np.integer):
        raise SpecError(f"spot: strengths have shape {copy.shape}; give {len(spot.format.hands)} integers, one per hand")
    copy = copy.astype(np.int64)
    copy.flags.writeable = False
    return copy
