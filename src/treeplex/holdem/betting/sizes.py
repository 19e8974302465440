"""Plans of no-limit bet sizes for every street and player, and fixed limits (sizes: :mod:`treeplex.games.betting.sizes`)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from treeplex.errors import SpecError
from treeplex.games.betting.sizes import Size, parse_sizes, sizes_to_string

HOLDEM_STREETS = ("preflop", "flop", "turn", "river")
DEFAULT = "default"


@dataclass(frozen=True)
class StreetSizes:
    """The sizes of one player on one street; ``donk`` None means that a lead into the last aggressor uses ``bets``.

    A donk bet is player 0's first bet of a street after calling a bet on the street before.
    """

    bets: tuple[Size, ...] = ()
    raises: tuple[Size, ...] = ()
    donk: tuple[Size, ...] | None = None

    def changed(self, bets: str | None = None, raises: str | None = None, donk: str | None = None) -> "StreetSizes":
        """The same with new texts where given (donk ``default``: as ``bets``)."""
        sizes = self if bets is None else replace(self, bets=parse_sizes(bets, False))
        sizes = sizes if raises is None else replace(sizes, raises=parse_sizes(raises, True))
        if donk is None:
            return sizes
        return replace(sizes, donk=None if donk.strip().lower() == DEFAULT else parse_sizes(donk, False))

    def to_json(self) -> dict[str, str]:
        """Texts by name, as :meth:`changed` takes them."""
        donk = DEFAULT if self.donk is None else sizes_to_string(self.donk)
        return {"bets": sizes_to_string(self.bets), "raises": sizes_to_string(self.raises), "donk": donk}


@dataclass(frozen=True)
class BetPlan:
    """No-limit sizes for every street and player, and the rules that tidy them.

    Attributes:
        streets: ``streets[street][player]``; streets as in the format, so hold'em has four, preflop first.
        add_allin: add all-in where it is at most this share of the pot (after the call); 0 never.
        force_allin: replace a bet by all-in where the stack left after the call is at most this share of the pot then; 0 never.
        merge: drop a bet of Y pots next to a larger one of X pots where (1 + X) / (1 + Y) < 1 + merge; 0 never.
        min_bet: the smallest first bet and raise increment, in chips. None: the big blind, or one chip without blinds.
        limps: whether the first to put in chips after the blinds may just call the big one.

    The thresholds work as in postflop-solver; see :mod:`treeplex.holdem.betting.moves` for the order.
    """

    streets: tuple[tuple[StreetSizes, StreetSizes], ...]
    add_allin: float = 0.0
    force_allin: float = 0.0
    merge: float = 0.0
    min_bet: float | None = None
    limps: bool = True

    def __post_init__(self) -> None:
        for name in ("add_allin", "force_allin", "merge"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise SpecError(f"bet plan: {name} is {value}; give a number of at least 0 (0 switches it off)")
        if self.min_bet is not None and not (math.isfinite(self.min_bet) and self.min_bet > 0):
            raise SpecError(f"bet plan: min_bet is {self.min_bet}; give chips greater than 0, or leave it out")

    @classmethod
    def same(
        cls,
        bets: str,
        raises: str,
        *,
        turn_donk: str = DEFAULT,
        river_donk: str = DEFAULT,
        add_allin: float = 0.0,
        force_allin: float = 0.0,
        merge: float = 0.0,
        min_bet: float | None = None,
        streets: int = len(HOLDEM_STREETS),
    ) -> "BetPlan":
        """The same sizes for both players on every street. Other formats than hold'em give their number of ``streets``.

        Raises:
            SpecError: a text that is not a list of sizes, or a threshold out of range.
        """
        both = StreetSizes().changed(bets, raises)
        plan = cls(((both, both),) * streets, add_allin, force_allin, merge, min_bet)
        for street, donk in (("turn", turn_donk), ("river", river_donk)):
            if donk != DEFAULT:
                plan = plan.override(street, 0, donk=donk)
        return plan

    def override(
        self,
        street: int | str,
        player: int | None = None,
        *,
        bets: str | None = None,
        raises: str | None = None,
        donk: str | None = None,
    ) -> "BetPlan":
        """The plan with other sizes on one street (number, or hold'em name) for one player (None: both).

        Raises:
            SpecError: an unknown street or player, or a text that is not a list of sizes.
        """
        number = street_number(street, len(self.streets))
        if player not in (None, 0, 1):
            raise SpecError(f"bet plan: player {player!r}; use 0 (out of position), 1 (in position) or None for both")
        if donk is not None and player == 1:
            raise SpecError("bet plan: only player 0 (out of position) makes donk bets; give donk sizes to player 0")
        old = self.streets[number]
        changed = (
            old[0].changed(bets, raises, donk) if player != 1 else old[0],
            old[1].changed(bets, raises) if player != 0 else old[1],
        )
        return replace(self, streets=(*self.streets[:number], changed, *self.streets[number + 1 :]))

    def to_json(self) -> dict[str, object]:
        """Plain data that :func:`plan_from_json` reads back."""
        return {
            "kind": "no_limit",
            "streets": [[sizes.to_json() for sizes in street] for street in self.streets],
            "add_allin": self.add_allin,
            "force_allin": self.force_allin,
            "merge": self.merge,
            "min_bet": self.min_bet,
            **({} if self.limps else {"limps": False}),
        }


@dataclass(frozen=True)
class FixedLimit:
    """Fixed-limit betting: ``bets[street]`` chips per bet or raise, ``most[street]`` bets and raises per street.

    With blinds the big blind counts as the first bet. A player without the chips for a full bet goes all-in for less.
    """

    bets: tuple[float, ...]
    most: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.bets) != len(self.most):
            raise SpecError(f"fixed limit: {len(self.bets)} bet sizes for {len(self.most)} streets; give one of each a street")
        if not all(math.isfinite(bet) and bet > 0 for bet in self.bets):
            raise SpecError(f"fixed limit: bets are {self.bets}; every one must be greater than 0 chips")
        if not all(isinstance(most, int) and most >= 0 for most in self.most):
            raise SpecError(f"fixed limit: most is {self.most}; give whole numbers of at least 0")

    def to_json(self) -> dict[str, object]:
        """Plain data that :func:`plan_from_json` reads back."""
        return {"kind": "fixed_limit", "bets": list(self.bets), "most": list(self.most)}


def plan_from_json(data: Mapping[str, Any]) -> BetPlan | FixedLimit:
    """The plan that ``to_json`` wrote.

    Raises:
        SpecError: data that is no plan.
    """
    values = dict(data)
    kind = values.pop("kind", None)
    try:
        if kind == "fixed_limit":
            return FixedLimit(tuple(map(float, values["bets"])), tuple(map(int, values["most"])))
        if kind == "no_limit":
            streets = values.pop("streets")
            read = tuple((StreetSizes().changed(**oop), StreetSizes().changed(**ip)) for oop, ip in streets)
            return BetPlan(read, **values)
    except (KeyError, TypeError, ValueError) as error:
        raise SpecError(f"bet plan: cannot read {dict(data)!r} ({error!r}); write what to_json gives") from None
    raise SpecError(f"bet plan: kind is {kind!r}; use no_limit or fixed_limit")


def street_number(street: int | str, streets: int) -> int:
    """The number of a street given as a number or, with four streets, by its hold'em name."""
    if isinstance(street, str) and streets == len(HOLDEM_STREETS) and street.lower() in HOLDEM_STREETS:
        return HOLDEM_STREETS.index(street.lower())
    if isinstance(street, int) and 0 <= street < streets:
        return street
    names = ", ".join(HOLDEM_STREETS) + " or " if streets == len(HOLDEM_STREETS) else ""
    raise SpecError(f"bet plan: street {street!r}; use {names}a number from 0 to {streets - 1}")
