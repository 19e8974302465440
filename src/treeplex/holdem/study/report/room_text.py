"""Converts hand histories of PokerStars and GGPoker to PHH.

Both sites use nearly the same format: a header line, seats, blinds, hole cards, actions by street, and a summary. Antes,
straddles, missed blinds and blinds posted out of turn are read. If the board is run twice, only the first run is used.
Currencies and chat are ignored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import cards_to_string, parse_cards

HEAD = re.compile(r"^(?:PokerStars (?:\w+ )?(?:Hand|Game)|Poker Hand) #", re.MULTILINE)
"""First line of a hand, on PokerStars and on GGPoker."""
MOST_LETTERS = 300
"""Maximum length of a line that is parsed; longer lines contain no actions."""
GAME = re.compile(r"Hold'em No Limit", re.IGNORECASE)
OTHER_GAME, UNREADABLE = "not no-limit hold'em", "the text cannot be read"
MONEY = r"[^\d\s(]{0,3}(?P<amount>[\d,]+(?:\.\d+)?)"
BUTTON = re.compile(r"Seat #(?P<seat>\d+) is the button")
SEAT = re.compile(rf"^Seat (?P<seat>\d+): (?P<name>.+?) \({MONEY} in chips.*?\)(?P<rest>.*)$")
ABSENT = re.compile(r"sitting out|out of hand")
POST = re.compile(
    rf"^(?P<name>.+): posts (?:the )?(?P<what>ante|small blind|big blind|straddle|small & big blinds|missed blind) {MONEY}"
)
ACTION = re.compile(
    rf"^(?P<name>.+): (?P<verb>folds|checks|calls|bets|raises)\b(?: {MONEY}(?: to [^\d\s(]{{0,3}}(?P<to>[\d,.]+))?)?"
)
DEALT = re.compile(r"^Dealt to (?P<name>.+?) \[(?P<cards>[^\]]+)\]")
SHOWN = re.compile(r"^(?P<name>.+): shows \[(?P<cards>[^\]]+)\]")
SUMMARY = re.compile(r"^Seat (?P<seat>\d+): .*(?:showed|mucked) \[(?P<cards>[^\]]+)\]")
BOARD = re.compile(
    r"^\*\*\* (?P<run>FIRST |SECOND |THIRD )?(?:FLOP|TURN|RIVER) \*\*\*(?: \[[^\]]+\])?? \[(?P<cards>[^\]]+)\]\s*$"
)


@final
class UnsuitableHandError(SpecError):
    """A hand that cannot be read or reviewed.

    Attributes:
        reason: one of a few phrases, by which such hands are counted.
    """

    def __init__(self, line: str, reason: str = UNREADABLE) -> None:
        super().__init__(line)
        self.reason = reason


@dataclass
class RoomHand:
    """A poker site's hand, as parsed so far.

    Attributes:
        stacks: each player's chips by name, in the order of seats.
        seats: each player's seat.
        button: the button's seat.
        antes, blinds: chips posted, by name.
        posted: the blinds posted so far.
        cards: known hole cards by name, as text.
        events: ``(name, word)`` of an action, ``("", cards)`` of a deal.
        hero: the player whose cards the history shows; empty if none.
    """

    stacks: dict[str, str] = field(default_factory=dict)
    seats: dict[str, int] = field(default_factory=dict)
    button: int = 0
    antes: dict[str, str] = field(default_factory=dict)
    blinds: dict[str, str] = field(default_factory=dict)
    posted: set[str] = field(default_factory=set)
    cards: dict[str, str] = field(default_factory=dict)
    events: list[tuple[str, str]] = field(default_factory=list)
    hero: str = ""


def is_room_text(text: str) -> bool:
    """Whether a text is a poker site's hand history and not PHH."""
    return HEAD.search(text) is not None


def phh_texts(text: str) -> list[str]:
    """Parse a poker site's hand histories into PHH; text before the first hand is ignored.

    Raises:
        SpecError: the game is not no-limit hold'em, or a hand lacks seats, button or blinds; the message names the hand.
    """
    return [phh_text(hand) for hand in room_hands(text)]


def room_hands(text: str) -> list[str]:
    """Split a poker site's hand histories into texts of one hand each."""
    starts = [match.start() for match in HEAD.finditer(text)]
    ends = [*starts[1:], len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def phh_text(text: str) -> str:
    """One hand as PHH."""
    head = text.partition("\n")[0].strip()
    if not GAME.search(head):
        raise UnsuitableHandError(f"hand {shown(head)}: only no-limit hold'em is supported", OTHER_GAME)
    hand = read_room_hand(text)
    if len(hand.stacks) < 2 or not hand.button or not hand.blinds:
        missing = "two seats" if len(hand.stacks) < 2 else "the button" if not hand.button else "the blinds"
        raise UnsuitableHandError(f"hand {shown(head)}: {missing} cannot be found; give the whole text of the hand")
    order = seat_order(hand)
    return phh_of_hand(hand, order, head)


def read_room_hand(text: str) -> RoomHand:
    """Read the lines of a hand. Seats marked as out of it are left out, unless they post or act, as in tournaments."""
    hand, summary, absent = RoomHand(), False, set[str]()
    for line in (raw_line.strip() for raw_line in text.splitlines() if len(raw_line) <= MOST_LETTERS):
        if line.startswith("*** SUMMARY"):
            summary = True
        elif summary:
            if match := SUMMARY.match(line):
                names = [name for name, seat in hand.seats.items() if seat == int(match["seat"])]
                hand.cards |= {name: card_text(match["cards"]) for name in names}
        elif match := SEAT.match(line):
            hand.stacks[match["name"]] = without_commas(match["amount"])
            hand.seats[match["name"]] = int(match["seat"])
            if ABSENT.search(match["rest"]):
                absent.add(match["name"])
        elif match := BUTTON.search(line):
            hand.button = hand.button or int(match["seat"])
        elif match := POST.match(line):
            post(hand, match)
            absent.discard(match["name"])
        elif match := DEALT.match(line):
            hand.cards[match["name"]] = card_text(match["cards"])
            hand.hero = hand.hero or match["name"]
        elif match := SHOWN.match(line):
            hand.cards[match["name"]] = card_text(match["cards"])
        elif (match := BOARD.match(line)) and (match["run"] or "FIRST ") == "FIRST ":
            hand.events.append(("", card_text(match["cards"])))
        elif (match := ACTION.match(line)) and match["name"] in hand.stacks:
            hand.events.append((match["name"], word_of(match)))
            absent.discard(match["name"])
    for name in absent:
        del hand.stacks[name], hand.seats[name]
    return hand


def post(hand: RoomHand, match: re.Match[str]) -> None:
    """Record a blind, straddle or ante; a missed blind is dead money beside the player's own blind, like an ante."""
    name, amount = match["name"], without_commas(match["amount"])
    if match["what"] in ("ante", "missed blind"):
        hand.antes[name] = f"{float(hand.antes.get(name, 0)) + float(amount):.12g}"
        return
    if match["what"] == "big blind" and "big blind" in hand.posted:
        hand.blinds[name] = f"-{amount}"  # posted out of turn: does not change who acts first
    elif match["what"] == "small & big blinds":
        big = max((float(blind) for blind in hand.blinds.values()), default=float(amount) * 2 / 3)
        hand.blinds[name] = f"-{big:.12g}"
        hand.antes[name] = f"{float(amount) - big:.12g}"
    else:
        hand.blinds[name] = amount
    hand.posted.add(match["what"])


def word_of(match: re.Match[str]) -> str:
    """An action in PHH notation."""
    if match["verb"] in ("bets", "raises"):
        return f"cbr {without_commas(match['to'] or match['amount'])}"
    return "f" if match["verb"] == "folds" else "cc"


def seat_order(hand: RoomHand) -> list[str]:
    """The players from the first after the button; heads-up from the big blind."""
    return sorted(hand.seats, key=lambda name: (hand.seats[name] <= hand.button, hand.seats[name]))


def phh_of_hand(hand: RoomHand, order: list[str], head: str) -> str:
    """The PHH text; board cards without a later decision are left out."""
    labels = {name: f"p{number}" for number, name in enumerate(order, start=1)}
    blinds, antes = ([posted.get(name, "0") for name in order] for posted in (hand.blinds, hand.antes))
    if len(order) == 2:  # heads-up, PHH lists the players from the big blind but the small blind first
        blinds.reverse()
        antes.reverse()
    words = [f"d dh {labels[name]} {hand.cards.get(name, '????')}" for name in order]
    last = max((number for number, (name, _) in enumerate(hand.events) if name), default=-1)
    for name, word in hand.events[: last + 1]:
        words.append(f"{labels[name]} {word}" if name else f"d db {word}")
    big = big_blind_of(blinds)
    lines = [
        "variant = 'NT'",
        f"antes = [{', '.join(antes)}]",
        f"blinds_or_straddles = [{', '.join(blinds)}]",
        f"min_bet = {big:.12g}",
        f"starting_stacks = [{', '.join(hand.stacks[name] for name in order)}]",
        f"players = [{', '.join(map(basic_string, order))}]",
        f"actions = [{', '.join(map(basic_string, words))}]",
        f"_head = {basic_string(head)}",
        f"_hero = {basic_string(hand.hero)}",
    ]
    return "\n".join(lines) + "\n"


def big_blind_of(posted: Sequence[str | float]) -> float:
    """The big blind of a hand, from PHH's ``blinds_or_straddles``, where straddles follow the two blinds."""
    amounts = [abs(float(amount)) for amount in posted]
    return max(amounts[:2]) or max(amounts)


def basic_string(text: str) -> str:
    """A TOML string."""
    escaped = "".join(f"\\u{ord(sign):04X}" if sign in '"\\' or ord(sign) < 32 or ord(sign) == 127 else sign for sign in text)
    return f'"{escaped}"'


def without_commas(amount: str) -> str:
    """An amount without commas."""
    return amount.replace(",", "").rstrip(".")


def card_text(cards: str) -> str:
    """Cards as text without spaces."""
    return cards_to_string(parse_cards(cards))
