"""The betting of a hand of hold'em among any number of players: who acts, what may be bet, and when a street ends.

Chips are whole numbers. Everything a player puts in during the hand is one number, antes aside: a raise *to* 300 means that
the player then has 300 chips in, those of earlier streets included. All who are still in and have chips left have put in the
same when a street begins, so this orders bets as amounts on the street would.

Two sets of rules differ where somebody is all-in for less than a full raise or a full blind:

- ``tda``: those of card rooms (Poker Tournament Directors Association, rules of 2022, rule 47). A player who has acted may
  raise again only when facing at least a full raise since; short all-ins add up. The next raise goes at least a full raise
  above the bet faced. Whoever calls a blind that is all-in for less puts in the full blind, unless nobody else in the hand
  has that much.
- ``acpc``: those of the Annual Computer Poker Competition and of OpenSpiel's ``universal_poker``. Any raise opens the betting
  again. A short all-in leaves the smallest raise where it was. Raising is allowed as long as another player has chips. Blinds
  are called for what was posted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, overload

from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL

FOLD, CALL = 0, 1
"""Actions; CALL is a check where there is nothing to call. Any other action is the chips to raise to."""
TDA, ACPC = "tda", "acpc"
RULES = (TDA, ACPC)
NOT_YET = -1

Value = TypeVar("Value")


class WholeBetting(NamedTuple):
    """The betting so far; chips as in the module.

    Attributes:
        player: who acts, ``CHANCE`` where cards are due, ``TERMINAL`` where the hand is over.
        street: the street, from 0.
        paid: chips each player has put in, antes aside.
        folded: who has folded.
        waiting: who acts before the street ends, if nobody raises.
        faced: the bet to match.
        base: ``faced`` when the street began; 0 on the first.
        least: the smallest raise goes to here, a shorter all-in aside.
        full: by how much a full raise goes above the bet faced.
        raises: bets and raises on this street; blinds are none.
        acted: the bet that was faced after each player's last action on this street; NOT_YET before it.
        line: the actions, as in the ACPC: ``f``, ``c`` and ``r300``, streets separated by ``/``.
    """

    player: int
    street: int
    paid: tuple[int, ...]
    folded: tuple[bool, ...]
    waiting: tuple[bool, ...]
    faced: int
    base: int
    least: int
    full: int
    raises: int
    acted: tuple[int, ...]
    line: str


class Actions(Sequence[int]):
    """Actions in ascending order: some, and then all from one number to another, which are never listed."""

    __slots__ = ("passive", "raises")

    def __init__(self, passive: tuple[int, ...], raises: range | tuple[int, ...] = range(0)) -> None:
        self.passive, self.raises = passive, raises

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        count = len(self.passive)
        if index < 0:
            index += len(self)
        if index < 0:
            raise IndexError(index)
        return self.passive[index] if index < count else self.raises[index - count]

    def __len__(self) -> int:
        return len(self.passive) + len(self.raises)

    def __contains__(self, action: object) -> bool:
        return action in self.passive or action in self.raises

    def __iter__(self) -> Iterator[int]:
        yield from self.passive
        yield from self.raises

    def index(self, action: int, start: int = 0, stop: int | None = None) -> int:
        """The place of an action."""
        return self.passive.index(action) if action in self.passive else len(self.passive) + self.raises.index(action)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash((self.passive, tuple(self.raises)))

    def __repr__(self) -> str:
        return f"Actions({self.passive}, {self.raises})"


@dataclass(frozen=True)
class Betting:
    """The betting rules of a hand.

    Attributes:
        dealer: the player with the button. The next one has the small blind and acts first after the flop; of two players the
            dealer has the small blind.
        stacks: each player's chips before the hand.
        blinds: by position: small blind, big blind, then straddles.
        antes: by position, like blinds.
        big_blind_ante: antes are dead money in the main pot, whoever pays them; else each player's ante is part of their bet.
        streets: how many there are.
        limits: fixed limit: the bet of each street; empty for no limit.
        most: most bets and raises on each street; 0 for any number.
        rules: ``tda`` or ``acpc``, see the module.
    """

    dealer: int
    stacks: tuple[int, ...]
    blinds: tuple[int, ...]
    antes: tuple[int, ...]
    big_blind_ante: bool
    streets: int
    limits: tuple[int, ...] = ()
    most: tuple[int, ...] = ()
    rules: str = TDA

    @property
    def players(self) -> int:
        """How many play."""
        return len(self.stacks)

    @property
    def big_blind(self) -> int:
        """The big blind."""
        return self.blinds[1]

    @property
    def smallest_bet(self) -> int:
        """The smallest bet after the flop: the big blind, in the ACPC the largest straddle."""
        return self.blinds[1] if self.rules == TDA else max(self.blinds)

    def seat(self, position: int) -> int:
        """The player in a position: 0 has the small blind, 1 the big blind."""
        players = len(self.stacks)
        return (self.dealer + position + (players > 2)) % players

    def by_seat(self, amounts: Sequence[int]) -> tuple[int, ...]:
        """Amounts by position (zero where there are none) as amounts by player."""
        found = [0] * len(self.stacks)
        for position, amount in enumerate(amounts):
            found[self.seat(position)] = amount
        return tuple(found)

    def posted_antes(self) -> tuple[int, ...]:
        """The ante that each player can pay."""
        return tuple(min(ante, stack) for ante, stack in zip(self.by_seat(self.antes), self.stacks, strict=True))

    def playing_stacks(self) -> tuple[int, ...]:
        """Each player's chips after the ante."""
        return tuple(stack - ante for stack, ante in zip(self.stacks, self.posted_antes(), strict=True))

    def first_table(self, stacks: tuple[int, ...]) -> WholeBetting:
        """The table after the blinds; ``stacks`` are :meth:`playing_stacks`."""
        players = len(stacks)
        paid = tuple(min(blind, stack) for blind, stack in zip(self.by_seat(self.blinds), stacks, strict=True))
        faced, full = max(paid), self.limits[0] if self.limits else max(self.blinds)
        second = sorted(stacks)[-2]
        if self.rules == TDA:  # of the full blind, as much as two players have
            faced = max(faced, min(max(self.blinds), second))
        waiting = [stack > put for stack, put in zip(stacks, paid, strict=True)]
        if self.rules == TDA:  # in the ACPC a player checks even if there is nothing to win by a bet
            waiting = [each and second > put for each, put in zip(waiting, paid, strict=True)]
            if sum(waiting) == 1 and paid[waiting.index(True)] >= faced:
                waiting = [False] * players
        least = faced + full if self.rules == TDA else 2 * full
        table = WholeBetting(
            CHANCE, 0, paid, (False,) * players, tuple(waiting), faced, 0, least, full, 0, (NOT_YET,) * players, ""
        )
        return table._replace(player=self.next_player(table, self.seat(len(self.blinds) - 1)))

    def next_player(self, table: WholeBetting, after: int) -> int:
        """Who acts next, going around the table from a player; ``CHANCE`` if nobody does."""
        players = len(table.paid)
        for step in range(1, players + 1):
            player = (after + step) % players
            if table.waiting[player]:
                return player
        return CHANCE

    def raise_sizes(self, table: WholeBetting, stacks: tuple[int, ...]) -> range:
        """What the player to act may raise to; empty where no raise is allowed."""
        player, faced = table.player, table.faced
        stack = stacks[player]
        if stack <= faced or (self.most and self.most[table.street] and table.raises >= self.most[table.street]):
            return range(0)
        if self.rules == TDA:
            acted = table.acted[player]
            if acted != NOT_YET and faced - acted < table.full:
                return range(0)
            met = any(
                other > faced and not out and seat != player
                for seat, (other, out) in enumerate(zip(stacks, table.folded, strict=True))
            )
        else:
            met = any(
                other > put and not out and seat != player
                for seat, (other, out, put) in enumerate(zip(stacks, table.folded, table.paid, strict=True))
            )
        if not met:
            return range(0)
        if self.limits:
            amount = min(faced + self.limits[table.street], stack)
            return range(amount, amount + 1)
        return range(max(min(table.least, stack), CALL + 1), stack + 1)

    def play(self, table: WholeBetting, stacks: tuple[int, ...], action: int) -> WholeBetting:
        """The table after an action of the player to act.

        Raises:
            GameError: the rules do not allow it.
        """
        player, faced = table.player, table.faced
        put = table.paid[player]
        if action == CALL:
            amount, word = min(faced, stacks[player]), "c"
        elif action == FOLD and put < faced:
            amount, word = put, "f"
        elif action > CALL and action in self.raise_sizes(table, stacks):
            return self.raised(table, stacks, action)
        else:
            raise GameError(f"player {player} cannot {'fold' if action == FOLD else f'raise to {action}'} after {table.line!r}")
        waiting = replaced(table.waiting, player, False)
        after = table._replace(
            paid=replaced(table.paid, player, amount),
            folded=replaced(table.folded, player, True) if action == FOLD else table.folded,
            waiting=waiting,
            acted=replaced(table.acted, player, faced),
            line=table.line + word,
        )
        if after.folded.count(False) == 1:
            return after._replace(player=TERMINAL)
        if action == FOLD:  # of a blind that is all-in for less, nothing more is due from who already has as much in
            after = after._replace(waiting=tuple(self.owes(after, stacks, seat) for seat in range(len(stacks))))
        return self.moved_on(after, player)

    def owes(self, table: WholeBetting, stacks: tuple[int, ...], player: int) -> bool:
        """Whether a player waits to act, and does not only face chips that nobody else in the hand has."""
        put = table.paid[player]
        more = any(
            stack > put and not out and seat != player
            for seat, (stack, out) in enumerate(zip(stacks, table.folded, strict=True))
        )
        return table.waiting[player] and (more or put >= table.faced)

    def raised(self, table: WholeBetting, stacks: tuple[int, ...], amount: int) -> WholeBetting:
        """The table after a raise to an amount."""
        player, raised_by = table.player, amount - table.faced
        full = max(table.full, raised_by)
        least = amount + full if self.rules == TDA else max(table.least, amount + raised_by)
        waiting = tuple(
            seat != player and not out and stack > put
            for seat, (out, stack, put) in enumerate(zip(table.folded, stacks, table.paid, strict=True))
        )
        after = table._replace(
            paid=replaced(table.paid, player, amount),
            waiting=waiting,
            faced=amount,
            least=least,
            full=full,
            raises=table.raises + 1,
            acted=replaced(table.acted, player, amount),
            line=f"{table.line}r{amount}",
        )
        return self.moved_on(after, player)

    def moved_on(self, table: WholeBetting, player: int) -> WholeBetting:
        """The table with the next player to act, or its street at an end."""
        following = self.next_player(table, player)
        if following == CHANCE and table.street + 1 == self.streets:
            following = TERMINAL
        return table._replace(player=following)

    def next_street(self, table: WholeBetting, stacks: tuple[int, ...]) -> WholeBetting:
        """The table at the start of the next street, its cards dealt; nobody acts if fewer than two have chips left."""
        waiting = tuple(not out and stack > put for out, stack, put in zip(table.folded, stacks, table.paid, strict=True))
        if sum(waiting) < 2:
            waiting = (False,) * len(stacks)
        full = self.limits[table.street + 1] if self.limits else self.smallest_bet
        after = table._replace(
            street=table.street + 1,
            waiting=waiting,
            base=table.faced,
            least=table.faced + full,
            full=full,
            raises=0,
            acted=(NOT_YET,) * len(stacks),
            line=table.line + "/",
        )
        return self.moved_on(after, self.dealer)


def replaced(values: tuple[Value, ...], place: int, value: Value) -> tuple[Value, ...]:
    """The same values with another one in a place."""
    return (*values[:place], value, *values[place + 1 :])
