"""Bet plans: bet and raise sizes for every street and player, converted into amounts, and fixed limits.

Sizes are those of :mod:`treeplex.games.betting.size_grammar`. The order of steps is that of postflop-solver (b-inary,
2023), so that both programs build the same trees:

1. every size becomes an amount, rounded half up; all-in is added if ``add_allin`` applies;
2. an amount below the smallest bet or raise, or above what another player can call, is moved to that limit;
3. a bet to which ``force_allin`` applies becomes all-in;
4. equal amounts are dropped, the rest sorted, all-in last;
5. ``merge`` drops bets close below a larger one.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from treeplex.errors import SpecError
from treeplex.games.betting.size_grammar import ANY, Size, parse_sizes, sizes_to_string

if TYPE_CHECKING:
    from treeplex.holdem.betting.rules import BettingRules, BettingState

HOLDEM_STREETS = ("preflop", "flop", "turn", "river")
DEFAULT = "default"
MERGE_MARGIN = 1e-12


@dataclass(frozen=True)
class StreetSizes:
    """One player's sizes on one street; if ``donk`` is None, leads into the last aggressor use ``bets``.

    A donk bet is player 0's first bet of a street after calling a bet on the street before.
    """

    bets: tuple[Size, ...] = ()
    raises: tuple[Size, ...] = ()
    donk: tuple[Size, ...] | None = None

    def changed(self, bets: str | None = None, raises: str | None = None, donk: str | None = None) -> "StreetSizes":
        """Return a copy with the given sizes replaced; ``donk="default"`` makes donk bets use ``bets``."""
        sizes = self if bets is None else replace(self, bets=parse_sizes(bets, False))
        sizes = sizes if raises is None else replace(sizes, raises=parse_sizes(raises, True))
        if donk is None:
            return sizes
        return replace(sizes, donk=None if donk.strip().lower() == DEFAULT else parse_sizes(donk, False))

    @classmethod
    def of(cls, sizes: tuple[Size, ...]) -> "StreetSizes":
        """Use one list of sizes for bets and raises; multiples of the bet faced apply to raises only."""
        return cls(tuple(size for size in sizes if size.kind != "last"), sizes)

    def in_chips(self, big_blind: float) -> "StreetSizes":
        """Return the sizes for later streets in chips; sizes in big blinds apply to opening bets only."""

        def chips(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
            return tuple(Size("chips", big_blind * size.value) if size.kind == "blinds" else size for size in sizes)

        raises = tuple(size for size in self.raises if size.kind != "blinds")
        return StreetSizes(chips(self.bets), raises, None if self.donk is None else chips(self.donk))

    def to_json(self) -> dict[str, str]:
        """The sizes as strings by name, in the form of the arguments of :meth:`changed`."""
        donk = DEFAULT if self.donk is None else sizes_to_string(self.donk)
        return {"bets": sizes_to_string(self.bets), "raises": sizes_to_string(self.raises), "donk": donk}


@dataclass(frozen=True)
class BetPlan:
    """No-limit bet sizes for every street and player, with thresholds for adjusting them.

    Attributes:
        streets: ``streets[street][player]``; all of the format's streets, so hold'em has four, preflop first.
        add_allin: add an all-in that is at most this share of the pot (after the call); 0 for never.
        force_allin: replace a bet by all-in if the stack left after a call would be at most this share of the pot; 0 for
            never.
        merge: drop a bet of Y pots next to a larger one of X pots if (1 + X) / (1 + Y) < 1 + merge; 0 for never.
        min_bet: the smallest first bet and raise increment, in chips. None: the big blind, or one chip without blinds.
        limps: whether the first player to act after the blinds may call the big blind.

    The thresholds work as in postflop-solver. Player 1 is in position. With more than two players, the dealer uses player
    1's sizes and all others use player 0's.
    """

    streets: tuple[tuple[StreetSizes, StreetSizes], ...] = ()
    add_allin: float = 0.0
    force_allin: float = 0.0
    merge: float = 0.0
    min_bet: float | None = None
    limps: bool = True

    def __post_init__(self) -> None:
        for name in ("add_allin", "force_allin", "merge"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise SpecError(f"bet plan: {name} is {value}; give a number of at least 0 (0 disables it)")
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
        """A plan with the same sizes for both players on all streets; ``streets`` names the streets of other formats.

        Raises:
            SpecError: a text is not a list of sizes, or a threshold is out of range.
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
        """The plan with the sizes changed on one street (number or hold'em name), for one player or both (None).

        Raises:
            SpecError: an unknown street or player, or a text that is not a list of sizes.
        """
        number = street_number(street, len(self.streets))
        if player not in (None, 0, 1):
            raise SpecError(f"bet plan: player is {player!r}; use 0 (out of position), 1 (in position) or None for both")
        if donk is not None and player == 1:
            raise SpecError("bet plan: only player 0 (out of position) makes donk bets; give donk sizes to player 0")
        old = self.streets[number]
        changed = (
            old[0].changed(bets, raises, donk) if player != 1 else old[0],
            old[1].changed(bets, raises) if player != 0 else old[1],
        )
        return replace(self, streets=(*self.streets[:number], changed, *self.streets[number + 1 :]))

    def without_blinds(self, first: int, big_blind: float) -> "BetPlan":
        """The plan from street ``first`` on, with the blinds already in the pot; the minimum bet remains one big blind."""
        none = StreetSizes()
        streets = [(none, none) if street < first else sizes for street, sizes in enumerate(self.streets)]
        later = tuple((one.in_chips(big_blind), other.in_chips(big_blind)) for one, other in streets)
        return replace(self, streets=later, min_bet=self.min_bet or float(big_blind), limps=True)

    def sizes(self) -> Iterator[Size]:
        """All sizes in all lists of the plan."""
        return (
            size for street in self.streets for sizes in street for size in (*sizes.bets, *sizes.raises, *(sizes.donk or ()))
        )

    def raise_lists(self, street: int) -> list[tuple[Size, ...]]:
        """The raise sizes of a street: one list for all players, or one out of position and one in position."""
        one, other = self.streets[street]
        return [one.raises] if one == other else [one.raises, other.raises]

    def offered(self, state: "BettingState", rules: "BettingRules", legal: range) -> range | tuple[int, ...]:
        """The raises in ``legal`` that the plan offers, in ascending order."""
        player, faced = state.player, state.faced
        sizes = self.sizes_at(state, int(player == rules.dealer))
        if sizes == ANY:
            return legal
        stacks = rules.behind
        pot = sum(state.paid) + rules.dead + min(faced, stacks[player]) - state.paid[player]
        others = max([stacks[seat] for seat, out in enumerate(state.folded) if not out and seat != player])
        least = legal[0]
        most = max(min(legal[-1], others), least)
        amounts = set()
        for size in sizes:
            amount = self.amount(size, state, rules, pot, most)
            if amount is not None:
                amount = min(max(amount, least), most)
                spare = half_up((pot + 2 * (amount - faced)) * self.force_allin)
                amounts.add(most if most - amount <= spare else amount)
        if most <= faced + half_up(pot * self.add_allin):
            amounts.add(most)
        return tuple(merged(sorted(amounts), faced, pot, self.merge))

    def sizes_at(self, state: "BettingState", position: int) -> tuple[Size, ...]:
        """The list of sizes that applies: raises, donk bets or opening bets."""
        sizes = self.streets[state.street][position]
        if state.faced > state.base:
            return sizes.raises
        return sizes.donk if state.donk and position == 0 and sizes.donk is not None else sizes.bets

    def amount(self, size: Size, state: "BettingState", rules: "BettingRules", pot: int, most: int) -> int | None:
        """The amount to raise to with a size, before thresholds; None if the size does not apply."""
        faced, kind = state.faced, size.kind
        if kind == "pot":
            return faced + half_up(pot * size.value)
        if kind == "last":
            return state.base + half_up((faced - state.base) * size.value)
        if kind == "blinds":
            return None if state.raises else state.base + half_up(size.value * rules.big_blind)
        if kind == "chips":
            spent = faced > state.base and size.cap and rules.bets(state) > size.cap
            return None if spent else faced + half_up(size.value / rules.chip)
        if kind == "geometric":
            streets = int(size.value) or rules.streets - state.street
            if faced > state.base:
                streets = max(streets - rules.bets(state) + 1, 1)
            growth = (2 * (most - faced) / pot + 1) ** (1 / streets)
            return faced + half_up(pot * min((growth - 1) / 2, size.cap))
        return most

    def to_json(self) -> dict[str, object]:
        """The plan as JSON data for :func:`plan_from_json`."""
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

    With blinds, the big blind counts as the first bet. A player without the chips for a full bet goes all-in for less.
    """

    bets: tuple[float, ...]
    most: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.bets) != len(self.most):
            raise SpecError(
                f"fixed limit: bets has {len(self.bets)} entries, but most has {len(self.most)}; give one of each per street"
            )
        if not all(math.isfinite(bet) and bet > 0 for bet in self.bets):
            raise SpecError(f"fixed limit: bets are {self.bets}; give chips greater than 0")
        if not all(isinstance(most, int) and most >= 0 for most in self.most):
            raise SpecError(f"fixed limit: most is {self.most}; give integers of at least 0")

    def to_json(self) -> dict[str, object]:
        """The plan as JSON data for :func:`plan_from_json`."""
        return {"kind": "fixed_limit", "bets": list(self.bets), "most": list(self.most)}


def plan_from_json(data: Mapping[str, Any]) -> BetPlan | FixedLimit:
    """Rebuild a plan from the output of ``to_json``.

    Raises:
        SpecError: the data describe no plan.
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
        raise SpecError(f"bet plan: cannot read {dict(data)!r} ({error!r}); give the output of to_json") from None
    raise SpecError(f"bet plan: kind is {kind!r}; use no_limit or fixed_limit")


def street_number(street: int | str, streets: int) -> int:
    """The index of a street given by number or, with four streets, by its hold'em name."""
    if isinstance(street, str) and streets == len(HOLDEM_STREETS) and street.lower() in HOLDEM_STREETS:
        return HOLDEM_STREETS.index(street.lower())
    if isinstance(street, int) and 0 <= street < streets:
        return street
    names = ", ".join(HOLDEM_STREETS) + " or " if streets == len(HOLDEM_STREETS) else ""
    raise SpecError(f"bet plan: street is {street!r}; use {names}a number from 0 to {streets - 1}")


def merged(amounts: list[int], faced: int, pot: int, merge: float) -> list[int]:
    """Return the merged amounts, ascending: from the largest down, drop each amount that is close to the last one retained."""
    if not merge:
        return amounts
    retained: list[int] = []
    for amount in reversed(amounts):
        limit = math.inf if not retained else ((retained[-1] - faced) / pot - merge) / (1 + merge)
        if (amount - faced) / pot < limit * (1 - MERGE_MARGIN):
            retained.append(amount)
    return retained[::-1]


def half_up(value: float) -> int:
    """Round a nonnegative value to the nearest integer, halves up."""
    whole = math.floor(value)
    return whole + (value - whole >= 0.5)
