"""Betting rules of a poker hand for any number of players: who acts, which bets are legal, and when a street ends.

Chip amounts are integers. A raise *to* 300 means that the player then has 300 chips in the hand, including earlier
streets but not antes. When a street begins, all remaining players with chips have put in the same amount, so total
amounts and amounts on the street have the same order. Whole hands, spots and small decks all use these rules. A spot
begins on a later street, with chips in the pot.

Two rule sets are supported. They differ when a player is all-in for less than a full raise or a full blind:

- ``tda``: the rules of card rooms (Poker Tournament Directors Association, rules of 2022, rule 47). A player who has acted may
  raise again only when facing at least a full raise since then; short all-ins add up. The next raise is at least a full raise
  above the bet faced. A player who calls a blind that is all-in for less puts in the full blind, unless no other player in
  the hand has that much.
- ``acpc``: the rules of the Annual Computer Poker Competition and of OpenSpiel's ``universal_poker``. Any raise reopens the
  betting. A short all-in does not change the smallest raise. Raising is legal as long as another player has chips. Calling a
  blind costs the amount posted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar, overload

from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.holdem.betting.bet_plan import BetPlan

FOLD, CALL = 0, 1
"""Action ids: CALL is a check if there is nothing to call; any larger id is the player's total chips after the raise."""
TDA, ACPC = "tda", "acpc"
RULES = (TDA, ACPC)
NOT_YET = -1
CHECK, FOLD_OR_CALL, FOLD_OR_RAISE = (CALL,), (FOLD, CALL), (FOLD,)

Value = TypeVar("Value")


class BettingState(NamedTuple):
    """The betting so far; chips as in the module docstring.

    Attributes:
        player: the player to act, ``CHANCE`` where cards are dealt next, ``TERMINAL`` where the hand is over.
        street: the street, from 0.
        paid: chips that each player has put in, antes aside.
        folded: whether each player has folded.
        waiting: whether each player still has to act on the street if nobody raises.
        faced: the bet to match.
        base: ``faced`` when the street began; 0 on the first.
        least: total of the smallest legal raise, except for a shorter all-in.
        full: the size of a full raise above the bet faced.
        raises: number of bets and raises on this street, blinds excluded.
        acted: the bet faced after each player's last action on this street; NOT_YET before it.
        donk: whether the last action was a call of a bet by the player out of position, whose next bet is a donk bet; heads-up.
        line: the actions in ACPC notation: ``f``, ``c`` and ``r300``, streets separated by ``/``.
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
    donk: bool
    line: str

    @property
    def key(self) -> tuple[object, ...]:
        """All fields except ``line``; together they determine the rest of the hand."""
        return self[:-1]


class Actions(Sequence[int]):
    """Legal actions in ascending order: a short list, then a range of raises that is never enumerated."""

    __slots__ = ("passive", "raises")

    def __init__(self, passive: tuple[int, ...], raises: range | tuple[int, ...] = range(0)) -> None:
        self.passive, self.raises = passive, raises

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
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
        """The index of an action."""
        return self.passive.index(action) if action in self.passive else len(self.passive) + self.raises.index(action)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash((self.passive, tuple(self.raises)))

    def __repr__(self) -> str:
        return f"Actions({self.passive}, {self.raises})"


@dataclass(frozen=True)
class BettingRules:
    """The betting rules of a hand.

    Attributes:
        dealer: the player on the button. The next player has the small blind and acts first after the flop; heads-up, the
            dealer has the small blind.
        stacks: each player's chips before the hand.
        streets: number of streets.
        blinds: by position: small blind, big blind, then straddles; empty for none.
        antes: by position, as blinds.
        big_blind_ante: whether antes are dead money in the main pot; else a player's ante is part of its bet.
        limits: bet size of each street in fixed limit; empty for no limit.
        most: maximum number of bets and raises on each street, blinds excluded; 0 for no limit, negative to forbid them.
        rules: ``tda`` or ``acpc``, see the module docstring.
        plan: the raises offered in no limit.
        pot: chips in the pot before the first street.
        min_bet: the smallest first bet; 0 for the big blind, in the ACPC the largest straddle.
        first_street: the street on which betting begins.
        chip: value of one chip; all amounts are multiples of it, except the plan's sizes in chips.
    """

    dealer: int
    stacks: tuple[int, ...]
    streets: int
    blinds: tuple[int, ...] = ()
    antes: tuple[int, ...] = ()
    big_blind_ante: bool = False
    limits: tuple[int, ...] = ()
    most: tuple[int, ...] = ()
    rules: str = TDA
    plan: BetPlan = field(default_factory=BetPlan)
    pot: int = 0
    min_bet: int = 0
    first_street: int = 0
    chip: float = 1.0

    @property
    def players(self) -> int:
        """The number of players."""
        return len(self.stacks)

    @property
    def big_blind(self) -> int:
        """The big blind."""
        return self.blinds[1]

    @cached_property
    def smallest_bet(self) -> int:
        """The smallest bet after the first street."""
        return self.min_bet or (self.blinds[1] if self.rules == TDA else max(self.blinds))

    def seat(self, position: int) -> int:
        """The player in a position, where 0 is the small blind and 1 the big blind."""
        players = len(self.stacks)
        return (self.dealer + position + (players > 2)) % players

    def by_seat(self, amounts: Sequence[int]) -> tuple[int, ...]:
        """Convert amounts by position (0 if omitted) to amounts by player."""
        by_player = [0] * len(self.stacks)
        for position, amount in enumerate(amounts):
            by_player[self.seat(position)] = amount
        return tuple(by_player)

    @cached_property
    def posted(self) -> tuple[int, ...]:
        """The ante posted by each player."""
        return tuple(min(ante, stack) for ante, stack in zip(self.by_seat(self.antes), self.stacks, strict=True))

    @cached_property
    def behind(self) -> tuple[int, ...]:
        """Each player's chips after the ante."""
        return tuple(stack - ante for stack, ante in zip(self.stacks, self.posted, strict=True))

    @cached_property
    def dead(self) -> int:
        """Chips in the pot that are not part of a bet, such as antes."""
        return self.pot + sum(self.posted)

    @cached_property
    def root(self) -> BettingState:
        """The state after the blinds are posted; without blinds, the start of the first street."""
        stacks, players = self.behind, len(self.stacks)
        paid, none, nobody = self.by_seat(self.blinds), (False,) * players, (NOT_YET,) * players
        if not self.blinds:
            before = BettingState(CHANCE, self.first_street - 1, paid, none, none, 0, 0, 0, 0, 0, nobody, False, "")
            return self.next_street(before)._replace(line="")
        paid = tuple(map(min, paid, stacks))
        faced, full = max(paid), self.limits[self.first_street] if self.limits else max(self.smallest_bet, *self.blinds)
        second = sorted(stacks)[-2]
        if self.rules == TDA:  # the bet to match is the full blind, capped by the second-largest stack
            faced = max(faced, min(max(self.blinds), second))
        waiting = tuple(stack > put for stack, put in zip(stacks, paid, strict=True))
        if self.rules == TDA:  # in the ACPC a player may check even if a bet could win nothing
            waiting = tuple(waits and second > put for waits, put in zip(waiting, paid, strict=True))
            if sum(waiting) == 1 and paid[waiting.index(True)] >= faced:
                waiting = none
        least = faced + full if self.rules == TDA else 2 * full
        first = self.next_player(waiting, self.seat(len(self.blinds) - 1))
        return BettingState(first, self.first_street, paid, none, waiting, faced, 0, least, full, 0, nobody, False, "")

    def next_player(self, waiting: tuple[bool, ...], after: int) -> int:
        """The next player to act, clockwise from a player; ``CHANCE`` if nobody has to act."""
        if True not in waiting:
            return CHANCE
        return waiting.index(True, after + 1) if True in waiting[after + 1 :] else waiting.index(True)

    def bets(self, state: BettingState) -> int:
        """The number of bets and raises on this street; the blinds count as one."""
        return state.raises + (bool(self.blinds) and state.street == self.first_street)

    def legal_raises(self, state: BettingState) -> range:
        """Legal amounts to raise to for the player to act; empty if no raise is legal."""
        player, faced, stacks = state.player, state.faced, self.behind
        stack = stacks[player]
        if stack <= faced or (self.most and self.most[state.street] and state.raises >= self.most[state.street]):
            return range(0)
        acted, tda = state.acted[player], self.rules == TDA
        if tda and acted != NOT_YET and faced - acted < state.full:
            return range(0)
        for seat, out in enumerate(state.folded):  # another player needs chips to call
            if not out and seat != player and stacks[seat] > (faced if tda else state.paid[seat]):
                break
        else:
            return range(0)
        if self.limits:
            amount = min(faced + self.limits[state.street], stack)
            return range(amount, amount + 1)
        least = min(state.least, stack)
        return range(max(least, CALL + 1) if self.blinds else least, stack + 1)  # in whole hands, action 1 is a call

    def actions(self, state: BettingState) -> Actions:
        """The actions offered to the player to act, a subset of the legal ones."""
        legal = self.legal_raises(state)
        raises = self.plan.offered(state, self, legal) if legal and not self.limits else legal
        if state.paid[state.player] == state.faced:
            return Actions(CHECK, raises)
        limps = self.plan.limps or state.street > self.first_street or state.raises or not raises
        return Actions(FOLD_OR_CALL if limps else FOLD_OR_RAISE, raises)

    def after(self, state: BettingState, action: int) -> BettingState:
        """The state after any legal action of the player to act, offered or not.

        Raises:
            GameError: the action is not legal.
        """
        if action == CALL:
            return self.called(state)
        if action == FOLD and state.paid[state.player] < state.faced:
            return self.folded(state)
        if action > CALL and action in self.legal_raises(state):
            return self.raised(state, action)
        what = "fold" if action == FOLD else f"raise to {action}"
        raise GameError(f"player {state.player} cannot {what} after {state.line!r}")

    def following(self, state: BettingState, actions: Actions) -> list[BettingState]:
        """The state after each offered action."""
        passive = [self.called(state) if action == CALL else self.folded(state) for action in actions.passive]
        return passive + [self.raised(state, amount) for amount in actions.raises]

    def called(self, state: BettingState) -> BettingState:
        """The state after a check or call."""
        player, faced = state.player, state.faced
        amount, waiting = min(faced, self.behind[player]), replaced(state.waiting, player, False)
        return BettingState(
            self.next_to_act(waiting, player, state.street),
            state.street,
            replaced(state.paid, player, amount),
            state.folded,
            waiting,
            faced,
            state.base,
            state.least,
            state.full,
            state.raises,
            replaced(state.acted, player, faced),
            amount > state.paid[player] and player != self.dealer,
            state.line + "c",
        )

    def folded(self, state: BettingState) -> BettingState:
        """The state after a fold."""
        player, folded, waiting = state.player, replaced(state.folded, state.player, True), state.waiting
        waiting, over = replaced(waiting, player, False), folded.count(False) == 1
        if not over and min(self.behind) <= state.faced:  # the bet is all-in for less: players who have matched it owe nothing
            waiting = tuple(waits and self.owes(state, folded, seat) for seat, waits in enumerate(waiting))
        return state._replace(
            player=TERMINAL if over else self.next_to_act(waiting, player, state.street),
            folded=folded,
            waiting=waiting,
            acted=replaced(state.acted, player, state.faced),
            donk=False,
            line=state.line + "f",
        )

    def owes(self, state: BettingState, folded: tuple[bool, ...], player: int) -> bool:
        """Whether a player still has a decision: it has matched the bet, or another active player has more chips than it has
        put in.
        """
        put = state.paid[player]
        return put >= state.faced or any(
            stack > put and not out and seat != player
            for seat, (stack, out) in enumerate(zip(self.behind, folded, strict=True))
        )

    def raised(self, state: BettingState, amount: int) -> BettingState:
        """The state after a raise to an amount."""
        player, raised_by, paid = state.player, amount - state.faced, replaced(state.paid, state.player, amount)
        full = max(state.full, raised_by)
        folded, stacks = state.folded, self.behind
        waiting = tuple([not out and stacks[seat] > paid[seat] and seat != player for seat, out in enumerate(folded)])
        return BettingState(
            self.next_to_act(waiting, player, state.street),
            state.street,
            paid,
            folded,
            waiting,
            amount,
            state.base,
            amount + full if self.rules == TDA else max(state.least, amount + raised_by),
            full,
            state.raises + 1,
            replaced(state.acted, player, amount),
            False,
            f"{state.line}r{amount}",
        )

    def next_to_act(self, waiting: tuple[bool, ...], player: int, street: int) -> int:
        """The player to act after a player; ``CHANCE`` at the end of a street, ``TERMINAL`` after the last street."""
        following = self.next_player(waiting, player)
        return TERMINAL if following == CHANCE and street + 1 == self.streets else following

    def next_street(self, state: BettingState) -> BettingState:
        """The state at the start of the next street, after its cards; no player acts if fewer than two players have chips."""
        waiting = tuple(not out and stack > put for out, stack, put in zip(state.folded, self.behind, state.paid, strict=True))
        if sum(waiting) < 2:
            waiting = (False,) * len(waiting)
        street, faced = state.street + 1, state.faced
        full = self.limits[street] if self.limits else self.smallest_bet
        return state._replace(
            player=self.next_to_act(waiting, self.dealer, street),
            street=street,
            waiting=waiting,
            base=faced,
            least=faced + full,
            full=full,
            raises=0,
            acted=(NOT_YET,) * len(waiting),
            line=state.line + "/",
        )

    def to_act(self, state: BettingState) -> BettingState:
        """The state after dealing one or more streets, until a player acts or the hand is over."""
        while state.player == CHANCE:
            state = self.next_street(state)
        return state

    def action_kind(self, state: BettingState, action: int) -> str:
        """The kind of an action: ``fold``, ``check``, ``call``, ``bet``, ``raise`` or ``allin``."""
        if action == FOLD:
            return "fold"
        if action == CALL:
            return "call" if state.faced > state.paid[state.player] else "check"
        return "raise" if state.faced > state.base else "bet"


def replaced(values: tuple[Value, ...], index: int, value: Value) -> tuple[Value, ...]:
    """A copy of a tuple with one entry replaced."""
    return (*values[:index], value, *values[index + 1 :])
