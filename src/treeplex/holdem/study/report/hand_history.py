"""Hand histories: the heads-up spots of a hand, and the line played in each.

Hole cards are ignored; the user supplies the ranges.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from treeplex.base.storage.reading import MOST_TEXT, read_bytes
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.games.betting.size_grammar import sizes_to_string
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS, BetPlan
from treeplex.holdem.cards.cards import RANKS
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.report.hand_texts import PHH, HandText, need_pokerkit, split_hands

MOST_DECIMALS = 4


@dataclass(frozen=True)
class HandSpot:
    """A spot of a hand at the start of a street with two players left.

    Attributes:
        board: the cards, ``"Td9d6h"``.
        pot: chips in the pot.
        stack: the smaller of the two stacks.
        street: 1 flop, 2 turn, 3 river.
        line: the line played, as in ``show``: ``"x,b120,c,7s"``.
        bets: first bets of the line, as (street, player, chips on the street).
        raises: raises of the line, as (street, player, chips more than the bet faced).
        players: names out of position and in position; empty if unknown.
    """

    board: str
    pot: float
    stack: float
    street: int
    line: str = ""
    bets: tuple[tuple[int, int, float], ...] = ()
    raises: tuple[tuple[int, int, float], ...] = ()
    players: tuple[str, str] = ("", "")

    @property
    def chip(self) -> float:
        """The smallest unit that divides pot, stack and bets: 1, 0.1, 0.01, ..."""
        amounts = [self.pot, self.stack, *(bet[2] for bet in (*self.bets, *self.raises))]
        for decimals in range(MOST_DECIMALS):
            if all(math.isclose(round(amount, decimals), amount, abs_tol=1e-9) for amount in amounts):
                return float(10**-decimals)
        return float(10**-MOST_DECIMALS)


def read_hand(path: str | Path, *, hand: int = 1, street: str | None = None) -> HandSpot:
    """A heads-up spot of a hand.

    Args:
        path: a file with one hand, or a ``.phhs`` file with many.
        hand: number of the hand, from 1.
        street: ``flop``, ``turn`` or ``river``; None for the first on which two players with chips are left.

    Raises:
        FileError: the file cannot be read or is not a hand history.
        SpecError: there is no such hand or street, the game is not no-limit hold'em, or more than two players remain.
    """
    if street is not None and street.lower() not in HOLDEM_STREETS[1:]:
        raise SpecError(f"street is {street!r}; write flop, turn or river")
    history = load_hand(Path(path), hand)
    where = f"{path}, hand {hand}"
    if history.variant not in ("NT", "FT"):
        raise SpecError(f"{where}: its game is {history.variant!r}; only hold'em (NT, FT) can be solved")
    try:
        heads_up = list(spots(history))
    except TreeplexError:
        raise
    except Exception as error:  # PokerKit's checks raise various exceptions
        raise FileError(f"{where}: PokerKit cannot replay the hand ({error}); check its actions") from error
    if not heads_up:
        raise SpecError(f"{where}: no street begins with exactly two players who have chips; give another hand")
    if street is None:
        return heads_up[0]
    for spot in heads_up:
        if HOLDEM_STREETS[spot.street] == street.lower():
            return spot
    reached = ", ".join(HOLDEM_STREETS[spot.street] for spot in heads_up)
    raise SpecError(f"{where}: no heads-up spot on the {street.lower()}; the hand has {reached}")


def load_hand(path: Path, number: int) -> Any:
    """One hand history of a file."""
    text = read_bytes(path, most=MOST_TEXT).decode("utf-8-sig", errors="replace")
    return hand_of_text(text, number, str(path))


def hand_of_text(text: str, number: int = 1, where: str = "the text") -> Any:
    """A PokerKit hand history from text with one or more hands; see :func:`.hand_texts.split_hands`.

    Args:
        text: the text.
        number: number of the hand, from 1.
        where: name of the text in errors.

    Raises:
        FileError: the text is not a hand history.
        SpecError: no such hand, a room's hand of another game than no-limit hold'em, or PokerKit is not installed.
    """
    need_pokerkit()
    hands = split_hands(text) or [HandText(text, PHH)]  # reading it reports the error
    try:
        check_number(number, len(hands))
        return hands[number - 1].history()
    except TreeplexError as error:
        raise type(error)(f"{where}: {error}") from error


def check_number(number: int, hands: int) -> None:
    """Reject a hand number that does not exist."""
    if not 1 <= number <= hands:
        raise SpecError(f"there is no hand {number}; hands are numbered from 1 to {hands}")


@dataclass
class Follower:
    """Replays a hand and collects its heads-up spots, each with the line played after it."""

    names: tuple[str, ...]
    spots: list[HandSpot] = field(default_factory=list)
    matched: list[float] = field(default_factory=list)
    highest: float = 0.0
    seats: tuple[int, int] | None = None
    street: int = 0
    board: str = ""

    def dealt(self, state: Any) -> None:
        """Record board cards: extend the lines, and start a spot if two players with chips begin the street."""
        cards = "".join(repr(card) for row in state.board_cards for card in row)
        new, self.board = cards[len(self.board) :], cards
        self.street = {6: 1, 8: 2, 10: 3}.get(len(cards), 0)
        for index in range(len(self.spots)):
            self.extend(index, new)
            self.matched[index] += self.highest
        self.highest = 0.0
        left = [seat for seat, active in enumerate(state.statuses) if active]
        if len(left) != 2 or self.street == 0 or any(state.stacks[seat] <= 0 for seat in left) or state.actor_index is None:
            return
        first = int(state.actor_index)
        self.seats = (first, next(seat for seat in left if seat != first))
        names = tuple(self.names[seat] if seat < len(self.names) else "" for seat in self.seats)
        stack = float(min(state.stacks[seat] for seat in left))
        self.matched.append(0.0)
        self.spots.append(HandSpot(cards, float(state.total_pot_amount), stack, self.street, players=(names[0], names[1])))

    def acted(self, words: list[str], facing: float) -> None:
        """Record an action; ``facing`` is the largest bet of the street before it."""
        if self.seats is None or not self.spots:
            return
        player, kind = self.seats.index(int(words[0][1:]) - 1), words[1]
        if kind == "cbr":
            self.highest = float(words[2])
        for index in range(len(self.spots)):
            if kind == "cbr":
                self.bet(index, player, float(words[2]), facing)
            else:
                self.extend(index, "f" if kind == "f" else "c" if facing else "x")

    def bet(self, index: int, player: int, to: float, facing: float) -> None:
        """Record a bet or raise to ``to`` chips on this street."""
        spot = self.spots[index]
        if to >= spot.stack - self.matched[index] - 1e-9:
            self.extend(index, "a")
            return
        entry = (self.street, player, to - facing)
        more = {"raises": (*spot.raises, entry)} if facing else {"bets": (*spot.bets, entry)}
        self.spots[index] = replace(spot, **more)  # type: ignore[arg-type]
        self.extend(index, f"{'r' if facing else 'b'}{to:.12g}")

    def extend(self, index: int, word: str) -> None:
        """Add a step to a spot's line."""
        spot = self.spots[index]
        self.spots[index] = replace(spot, line=f"{spot.line},{word}" if spot.line else word)


def spots(history: Any) -> Iterator[HandSpot]:
    """Every heads-up spot of a hand, earliest street first."""
    follower = Follower(tuple(history.players or ()))
    facing, size = 0.0, 0
    for state, action in history.state_actions:
        words = action.split("#")[0].split() if action else []
        if words and words[0].startswith("p") and words[1] in ("f", "cc", "cbr"):
            follower.acted(words, facing)
        cards = sum(len(row) for row in state.board_cards)
        if cards != size and (state.actor_index is not None or not any(state.bets)):
            size = cards
            follower.dealt(state)
        facing = float(max(state.bets, default=0))
    yield from follower.spots


def with_bets_of(spot: Spot, hand: HandSpot) -> Spot:
    """The spot with the hand's bets added to its sizes, so that the tree contains the hand's line."""
    plan = spot.bets
    if not isinstance(plan, BetPlan):
        return spot
    added = [("bets", street, player, f"{chips:.12g}c") for street, player, chips in hand.bets]
    added += [("raises", street, player, f"{chips:.12g}c") for street, player, chips in hand.raises]
    for kind, street, player, size in (*added, *all_ins(hand)):
        sizes = plan.streets[street][player]
        old = sizes_to_string(sizes.bets if kind == "bets" else sizes.raises)
        if size not in old.split(","):
            plan = plan.override(street, player, **{kind: f"{old},{size}" if old else size})
    return replace(spot, bets=plan)


def all_ins(hand: HandSpot) -> Iterator[tuple[str, int, int, str]]:
    """All-ins on the hand's line: ``bets`` or ``raises``, the street, the player and ``a``."""
    street, player, facing = hand.street, 0, False
    for word in hand.line.split(","):
        if word[:1] in RANKS:
            street, player, facing = street + 1, 0, False
            continue
        if word == "a":
            yield ("raises" if facing else "bets"), street, player, word
        facing, player = word[:1] in ("a", "b", "r"), 1 - player
