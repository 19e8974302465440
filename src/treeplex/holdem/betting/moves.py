"""What a player may do at one point of the betting: sizes turned into amounts.

All amounts here are whole numbers of the spot's smallest chip. For a no-limit plan the order is that of postflop-solver
(b-inary, 2023), so that trees agree with it:

1. every size becomes an amount, rounded half up; all-in is added where ``add_allin`` says so;
2. an amount below the smallest bet or raise, or above the stack, is moved to that limit;
3. a bet after which ``force_allin`` holds (or which takes the whole stack) becomes all-in;
4. equal actions are dropped, the rest sorted by amount, all-in last;
5. ``merge`` drops bets close below a larger one.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from treeplex.games.betting.sizes import Size
from treeplex.holdem.betting.sizes import BetPlan, FixedLimit
from treeplex.holdem.spots.spot import Spot

MERGE_MARGIN = 1e-12


class Move(NamedTuple):
    """An action in smallest chips; ``amount`` as in :class:`treeplex.holdem.betting.tree.Action`."""

    kind: str
    amount: int


@dataclass(frozen=True, slots=True)
class SpotBetting:
    """The betting so far, as far as the rest depends on it; amounts in smallest chips.

    Attributes:
        street: the street.
        player: who acts.
        stacks: chips behind.
        street_bets: chips put in on this street.
        faced: the bet to match on this street (the larger of ``street_bets``).
        increment: the smallest raise.
        bets: bets and raises on this street, the big blind included.
        to_act: players who act before the street ends, if nobody bets.
        leads: player 0 called a bet on the street before, so a first bet of theirs is a donk bet.
    """

    street: int
    player: int
    stacks: tuple[int, int]
    street_bets: tuple[int, int]
    faced: int
    increment: int
    bets: int
    to_act: int
    leads: bool

    @property
    def to_call(self) -> int:
        """Chips the player needs to match the bet faced."""
        return self.faced - self.street_bets[self.player]

    @property
    def most(self) -> int:
        """The largest amount to bet or raise to: all-in."""
        return self.faced + self.stacks[1 - self.player]

    def pay(self, amount: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Stacks and street bets after the player's street total becomes ``amount``."""
        paid = amount - self.street_bets[self.player]
        stacks, bets = list(self.stacks), list(self.street_bets)
        stacks[self.player] -= paid
        bets[self.player] = amount
        return (stacks[0], stacks[1]), (bets[0], bets[1])

    def raised(self, amount: int) -> "SpotBetting":
        """The table after a bet or raise to ``amount``."""
        stacks, street_bets = self.pay(amount)
        return replace(
            self,
            player=1 - self.player,
            stacks=stacks,
            street_bets=street_bets,
            faced=amount,
            increment=max(self.increment, amount - self.faced),
            bets=self.bets + 1,
            to_act=1,
        )

    def matched(self) -> "SpotBetting":
        """The table after a check or a call that does not end the street."""
        stacks, street_bets = self.pay(self.faced)
        return replace(self, player=1 - self.player, stacks=stacks, street_bets=street_bets, to_act=self.to_act - 1)


class Sizing:
    """The moves of a spot: which ones it offers at a :class:`SpotBetting`."""

    def __init__(self, spot: Spot) -> None:
        self.bets: BetPlan | FixedLimit = spot.bets
        self.chip = spot.chip
        self.pot = self.units(spot.pot)
        self.stack = self.units(spot.stack)
        self.min_bet = max(1, self.units(spot.min_bet))
        self.streets = spot.streets
        self.blinds = None if spot.blinds is None else (self.units(spot.blinds[0]), self.units(spot.blinds[1]))

    def units(self, chips: float) -> int:
        """Chips as a whole number of the smallest ones."""
        return half_up(chips / self.chip)

    def root(self) -> SpotBetting:
        """The table before the first action."""
        if self.blinds is None:
            return self.opened(self.streets[0], (self.stack, self.stack), False)
        small, big = self.blinds
        return SpotBetting(
            street=self.streets[0],
            player=1,
            stacks=(self.stack - big, self.stack - small),
            street_bets=(big, small),
            faced=big,
            increment=max(self.min_bet, big),
            bets=1,
            to_act=2,
            leads=False,
        )

    def opened(self, street: int, stacks: tuple[int, int], leads: bool) -> SpotBetting:
        """The table at the start of a street without blinds."""
        return SpotBetting(street, 0, stacks, (0, 0), 0, self.min_bet, 0, 2, leads)

    def after(self, table: SpotBetting, move: Move) -> tuple[str, SpotBetting]:
        """What a move leads to, and the table there.

        Returns:
            ``decision``, ``fold``, ``showdown``, or ``street`` with the table that opens the next one.
        """
        kind, amount = move
        if kind == "fold":
            return "fold", table
        if kind not in ("check", "call"):
            return "decision", table.raised(amount)
        after = table.matched()
        if after.to_act:
            return "decision", after
        if table.street == self.streets[-1] or not min(after.stacks):
            return "showdown", after
        return "street", self.opened(table.street + 1, after.stacks, kind == "call" and table.player == 0)

    def moves(self, table: SpotBetting) -> list[Move]:
        """The moves on offer: fold and call, or check, then bets or raises by amount, all-in last."""
        passive = [Move("fold", 0), Move("call", table.faced)] if table.to_call else [Move("check", 0)]
        if not table.stacks[1 - table.player]:
            return passive
        if isinstance(self.bets, FixedLimit):
            return passive + self.limit_moves(table)
        raises = self.no_limit_moves(table, self.bets)
        limp = self.blinds is not None and table.street == self.streets[0] and table.bets == 1 and table.to_call > 0
        return (passive[:1] if limp and raises and not self.bets.limps else passive) + raises

    def limit_moves(self, table: SpotBetting) -> list[Move]:
        """The one bet or raise of fixed-limit betting, if the street has one left."""
        assert isinstance(self.bets, FixedLimit)
        if table.bets >= self.bets.most[table.street]:
            return []
        amount = table.faced + self.units(self.bets.bets[table.street])
        return [Move("allin", table.most) if amount >= table.most else Move(bet_kind(table), amount)]

    def no_limit_moves(self, table: SpotBetting, plan: BetPlan) -> list[Move]:
        """The bets or raises of a plan, tidied as the module says."""
        pot = self.pot_after_call(table)
        most, least = table.most, min(table.faced + table.increment, table.most)
        amounts: set[int] = set()
        for size in sizes(table, plan):
            amount = self.amount(size, table, pot)
            if amount is not None:
                amount = min(max(amount, least), most)
                spare = half_up((pot + 2 * (amount - table.faced)) * plan.force_allin)
                amounts.add(most if most <= amount + spare else amount)
        if most <= table.faced + half_up(pot * plan.add_allin):
            amounts.add(most)
        kept = merged(sorted(amounts), table.faced, pot, plan.merge)
        return [Move("allin" if amount == most else bet_kind(table), amount) for amount in kept]

    def pot_after_call(self, table: SpotBetting) -> int:
        """The pot once the player has matched the bet faced."""
        return self.pot + 2 * (self.stack - table.stacks[1 - table.player])

    def amount(self, size: Size, table: SpotBetting, pot: int) -> int | None:
        """The street total that a size asks for, before any tidying; None where a raise has run out."""
        if size.kind == "pot":
            return table.faced + half_up(pot * size.value)
        if size.kind == "last":
            return half_up(table.faced * size.value)
        if size.kind == "chips":
            return None if table.faced and size.cap and table.bets > size.cap else table.faced + self.units(size.value)
        if size.kind == "geometric":
            streets = int(size.value) or self.streets[-1] - table.street + 1
            if table.faced:
                streets = max(streets - table.bets + 1, 1)
            growth = (2 * table.stacks[1 - table.player] / pot + 1) ** (1 / streets)
            return table.faced + half_up(pot * min((growth - 1) / 2, size.cap))
        return table.most


def sizes(table: SpotBetting, plan: BetPlan) -> tuple[Size, ...]:
    """The sizes that count here: raises, donk bets or first bets."""
    own = plan.streets[table.street][table.player]
    if table.faced:
        return own.raises
    donk = table.leads and table.player == 0 and own.donk is not None
    return own.donk if donk and own.donk is not None else own.bets


def bet_kind(table: SpotBetting) -> str:
    """The word for putting in more chips: a bet if nobody has yet on this street."""
    return "raise" if table.faced else "bet"


def merged(amounts: list[int], faced: int, pot: int, merge: float) -> list[int]:
    """The ascending amounts that stay, from the largest down, when each must be clearly below the one kept before."""
    kept: list[int] = []
    for amount in reversed(amounts):
        limit = math.inf if not kept else ((kept[-1] - faced) / pot - merge) / (1 + merge)
        if (amount - faced) / pot < limit * (1 - MERGE_MARGIN):
            kept.append(amount)
    return kept[::-1]


def half_up(value: float) -> int:
    """The nearest whole number, halves away from zero (values here are not negative)."""
    whole = math.floor(value)
    return whole + (value - whole >= 0.5)
