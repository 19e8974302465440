"""Which raises are on offer: every whole number of chips, or the sizes of a plan.

A plan has a list of sizes for each street, or one for each of two players, in the grammar of
:mod:`treeplex.holdem.betting.sizes`, and ``2.5bb``: a first raise to so many big blinds on this street. Sizes below the
smallest raise become it, those above the stack all-in; sizes that nowhere reach the smallest raise are refused
(:func:`check_least`). The largest raise on offer is what some other player can call. Multiples (``3x``) are for bets faced,
blinds included; a first bet after the flop has none.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.games.betting.sizes import MOST, NO_SIZES, NUMBER, Size, decimal, parse_sizes
from treeplex.holdem.betting.moves import half_up, merged
from treeplex.holdem.betting.sizes import HOLDEM_STREETS, BetPlan, StreetSizes
from treeplex.holdem.spots.fields import PLAYERS
from treeplex.holdem.whole.betting import Betting, WholeBetting

BIG_BLINDS = re.compile(rf"{NUMBER}bb")
ALL = "sizes"
"""The sizes of whatever nothing else is said for."""
Sizes = tuple[Size, ...] | None
"""Sizes on offer; None for all whole numbers of chips."""


@dataclass(frozen=True)
class RaisePlan:
    """The sizes on offer.

    Attributes:
        sizes: of each street a list for all players, or two: out of position, and in position, which is the dealer.
        limps: whether the first to put in chips before the flop may just call the big blind.
        add_allin, force_allin, merge: what tidies the sizes, as in :class:`~treeplex.holdem.betting.sizes.BetPlan`.
    """

    sizes: tuple[tuple[Sizes, ...], ...]
    limps: bool = True
    add_allin: float = 0.0
    force_allin: float = 0.0
    merge: float = 0.0

    def of(self, street: int, position: int) -> Sizes:
        """The sizes of a street, out of position (0) or in position (1)."""
        own = self.sizes[street]
        return own[position if len(own) > 1 else 0]

    def lists(self) -> "Iterator[Sizes]":
        """Every list of the plan, street by street."""
        return (own for street in self.sizes for own in street)

    def on_spots(self, street: int) -> tuple[StreetSizes, StreetSizes]:
        """The sizes of a street as spots have them, of both players; no sizes where they are all whole numbers of chips."""
        first, second = (self.of(street, position) or () for position in (0, 1))
        return first_and_raises(first), first_and_raises(second)

    def offered(
        self, table: WholeBetting, betting: Betting, stacks: tuple[int, ...], legal: range, dead: int
    ) -> range | tuple[int, ...]:
        """Those of the ``legal`` raises that are on offer, ascending; ``dead`` chips are in the pot besides what is paid."""
        sizes = self.of(table.street, int(table.player == betting.dealer))
        if sizes is None or len(legal) < 2:
            return legal
        pot = sum(table.paid) + dead + min(table.faced, stacks[table.player]) - table.paid[table.player]
        others = (stack for seat, stack in enumerate(stacks) if seat != table.player and not table.folded[seat])
        found, most = set(), max(min(legal[-1], max(others)), legal[0])
        for size in sizes:
            amount = self.amount(size, table, betting, pot, most)
            if amount is None:
                continue
            amount = min(max(amount, legal[0]), most)
            spare = half_up((pot + 2 * (amount - table.faced)) * self.force_allin)
            found.add(most if most - amount <= spare else amount)
        if most <= table.faced + half_up(pot * self.add_allin):
            found.add(most)
        return tuple(merged(sorted(found), table.faced, pot, self.merge))

    def bet_plan(self, streets: Sequence[tuple[StreetSizes, StreetSizes]], least: int) -> BetPlan:
        """The plan in the words of spots, limps aside, with the sizes of :meth:`on_spots` and the smallest bet."""
        return BetPlan(tuple(streets), self.add_allin, self.force_allin, self.merge, float(least))

    def amount(self, size: Size, table: WholeBetting, betting: Betting, pot: int, most: int) -> int | None:
        """What a size raises to; None where it does not apply."""
        faced = table.faced
        if size.kind == "blinds":
            return None if table.raises else table.base + half_up(size.value * betting.big_blind)
        if size.kind == "pot":
            return faced + half_up(pot * size.value)
        if size.kind == "last":
            return table.base + half_up((faced - table.base) * size.value) if faced > table.base else None
        if size.kind == "chips":
            return None if size.cap and table.raises >= size.cap else faced + half_up(size.value)
        if size.kind == "geometric":
            streets = int(size.value) or betting.streets - table.street
            streets = max(streets - table.raises, 1)
            growth = (2 * (most - faced) / pot + 1) ** (1 / streets)
            return faced + half_up(pot * min((growth - 1) / 2, size.cap))
        return most


def first_and_raises(sizes: tuple[Size, ...]) -> StreetSizes:
    """One list as first bets and raises; multiples of the bet faced are for raises."""
    return StreetSizes(tuple(size for size in sizes if size.kind != "last"), sizes)


def names_of(street: int, position: int) -> tuple[str, ...]:
    """What lists of sizes for a street and position are called, the one that counts most first: ``oop_turn``, ``turn``."""
    player, named = PLAYERS[position], HOLDEM_STREETS[street : street + 1]
    return (*(f"{player}_{name}" for name in named), *named, player, ALL)


def street_lists(given: Mapping[str, tuple[Size, ...]], streets: int) -> tuple[tuple[Sizes, ...], ...]:
    """The lists of each street, see :class:`RaisePlan`, from those ``given`` by the names of :func:`names_of`."""

    def of(street: int, position: int) -> Sizes:
        return next((given[name] for name in names_of(street, position) if name in given), None)

    pairs = [(of(street, 0), of(street, 1)) for street in range(streets)]
    return tuple(pair[:1] if pair[0] == pair[1] else pair for pair in pairs)


def parse_plan(texts: Sequence[str]) -> tuple[Size, ...]:
    """The sizes of a list such as ``["2.5bb", "100%", "a"]``.

    Raises:
        SpecError: a text that is no size, a size of nothing, or ``none`` beside sizes.
    """
    found: list[Size] = []
    for text in texts:
        if len(texts) > 1 and text.strip().lower() in NO_SIZES:
            raise SpecError(f"{shown(text)} is for no bet at all, and stands alone; leave it out, or the other sizes")
        match = BIG_BLINDS.fullmatch(text.strip().lower())
        if match:
            sizes: tuple[Size, ...] = (Size("blinds", float(match[1])),)
            if sizes[0].value > MOST:
                raise SpecError(f"bet size {shown(text)}: it is too large; write a for all-in")
        else:
            try:
                sizes = parse_sizes(text, raises=True)
            except SpecError as error:
                raise SpecError(f"{error}; or 2.5bb, big blinds") from None
        if any(map(is_nothing, sizes)):
            raise SpecError(f"bet size {shown(text)} is a bet of nothing; give more than 0, or none alone for no bet")
        if any(size.kind == "geometric" and size.value == 1 and size.cap < math.inf for size in sizes):
            raise SpecError(f"bet size {shown(text)}: over one street e is all-in; write a, or a share of the pot such as 75%")
        found += sizes
    return tuple(found)


def is_nothing(size: Size) -> bool:
    """Whether a size is no chips at all."""
    return not (size.cap if size.kind == "geometric" else size.value) and size.kind != "allin"


def check_least(name: str, sizes: Sequence[Size], betting: Betting) -> None:
    """Refuse sizes that are below the smallest raise wherever they apply.

    Args:
        name: of the list, which says the street: before the flop a raise is at least by the largest blind.
        sizes: the list.
        betting: of the hand.

    Raises:
        SpecError: there is one.
    """
    blind, preflop = betting.big_blind, name.endswith(HOLDEM_STREETS[0])
    smallest = max(betting.blinds) if preflop else betting.smallest_bet
    first = 2 * smallest if preflop else smallest
    for size in sizes:
        if size.kind == "blinds" and half_up(size.value * blind) < first:
            least = decimal(first / blind)
            raise SpecError(f"bet size {decimal(size.value)}bb is below the smallest raise, to {least}bb; give that or more")
        if size.kind == "chips" and size.value < smallest:
            raise SpecError(f"bet size {size} is below the smallest raise, by {smallest} chips; give that or more")
