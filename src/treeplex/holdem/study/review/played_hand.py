"""Reads a played hand: players, positions and cards, and its heads-up streets."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeplex.errors import TreeplexError
from treeplex.holdem.cards.cards import HANDS, cards_to_string, hand_index, parse_cards
from treeplex.holdem.study.report.hand_history import HandSpot, hand_of_text, load_hand, spots
from treeplex.holdem.study.report.room_text import OTHER_GAME, UNREADABLE, UnsuitableHandError, big_blind_of
from treeplex.holdem.study.review.position_ranges import PreflopPart
from treeplex.holdem.whole.hand import position_names

BEFORE_FLOP, ALL_IN, MULTIWAY = (
    "ended before the flop",
    "all-in before a heads-up street",
    "three or more players on every street",
)
ABSENT, FOLDED, UNKNOWN = "the player is not in the hand", "the player folded before", "the player's cards are unknown"
AMBIGUOUS, STRADDLED = (
    "both players' cards are known and no player is named",
    "a straddle, for which there are no built-in ranges",
)


@dataclass(frozen=True)
class RecordedHand:
    """A hand of no-limit hold'em that reached a street heads-up.

    Attributes:
        title: the hand's title in the file; empty if none.
        big_blind: big blind in chips.
        names: out of position, in position; empty if unknown.
        parts: preflop actions of both, in the same order.
        cards: both hands as text, the higher card first; empty if unknown.
        hero: the player who is reviewed, 0 or 1.
        streets: the spot at the start of each heads-up street, earliest first, each with the rest of the hand as its line.
        straddled: whether a straddle was posted.
    """

    title: str
    big_blind: float
    names: tuple[str, str]
    parts: tuple[PreflopPart, PreflopPart]
    cards: tuple[str, str]
    hero: int
    streets: tuple[HandSpot, ...]
    straddled: bool = False

    @property
    def hero_hand(self) -> int:
        """The hero's hand, an index of ``HANDS``."""
        return hand_of(self.cards[self.hero])


def hand_of(text: str) -> int:
    """The number of a hand of two cards."""
    first, second = parse_cards(text)
    return hand_index(first, second)


def played_hand(source: str | Path, *, number: int = 1, hero: str | None = None) -> RecordedHand:
    """Read a hand for a review.

    Args:
        source: a file, or the text of a hand (with line breaks).
        number: number of the hand, from 1.
        hero: the player to review: a name, ``oop`` or ``ip``; default: the player whose cards the history shows, else one with
            known cards.

    Raises:
        FileError: the source is not a hand history.
        SpecError: there is no such hand, the game is not supported, no street is heads-up with chips behind, or the hero's
            cards are unknown.
    """
    if isinstance(source, str) and "\n" in source:
        history, where = hand_of_text(source, number), "the text"
    else:
        history, where = load_hand(Path(source), number), f"{source}, hand {number}"
    return from_history(history, hero, where)


def from_history(history: Any, hero: str | None, where: str, *, guess: bool = True) -> RecordedHand:
    """The hand of a PokerKit history; unless ``guess``, the hero is never just one of two players with known cards.

    Raises:
        UnsuitableHandError: as :func:`played_hand`.
    """
    if history.variant != "NT":
        line = f"{where}: its game is {history.variant!r}; only no-limit hold'em (NT) can be reviewed"
        raise UnsuitableHandError(line, OTHER_GAME)
    try:
        heads_up = tuple(spots(history))
    except TreeplexError:
        raise
    except Exception as error:  # PokerKit's checks raise various exceptions
        raise UnsuitableHandError(
            f"{where}: PokerKit cannot replay the hand ({error}); check its actions", UNREADABLE
        ) from error
    if not heads_up:
        line = f"{where}: no street begins with exactly two players who have chips; give another hand"
        raise UnsuitableHandError(line, why_no_street(history))
    names = tuple(history.players or ()) or tuple(f"p{seat + 1}" for seat in range(len(history.starting_stacks)))
    seats, cards = seats_of(history), known_cards(history)
    shown = (cards.get(seats[0], ""), cards.get(seats[1], ""))
    player_names = (str(names[seats[0]]), str(names[seats[1]]))
    parts = preflop_parts(history)
    return RecordedHand(
        title=str((history.user_defined_fields or {}).get("_head", "")),
        big_blind=big_blind_of(history.blinds_or_straddles),
        names=player_names,
        parts=(parts[seats[0]], parts[seats[1]]),
        cards=shown,
        hero=hero_of(hero, player_names, shown, history, where, guess=guess),
        streets=heads_up,
        straddled=max(map(float, history.blinds_or_straddles[2:]), default=0) > max(float(history.blinds_or_straddles[1]), 0),
    )


def why_no_street(history: Any) -> str:
    """Why a hand has no street that begins with two players who have chips."""
    left, least = len(history.starting_stacks), 0
    for action in history.actions:
        words = action.split("#")[0].split()
        left -= words[1:2] == ["f"]
        if words[:2] == ["d", "db"]:
            least = left
    if not least:
        return BEFORE_FLOP if left == 1 else ALL_IN
    return MULTIWAY if least > 2 else ALL_IN


def seats_of(history: Any) -> tuple[int, int]:
    """The seats of the two players who see the first heads-up street, out of position first."""
    folded: set[int] = set()
    players = len(history.starting_stacks)
    for action in history.actions:
        words = action.split("#")[0].split()
        if words[:2] == ["d", "db"] and players - len(folded) == 2:
            break
        if words[1:2] == ["f"]:
            folded.add(int(words[0][1:]) - 1)
    left = [seat for seat in range(players) if seat not in folded]
    return left[0], left[1]


def known_cards(history: Any) -> dict[int, str]:
    """Known hole cards by seat."""
    by_seat = {}
    for action in history.actions:
        words = action.split("#")[0].split()
        seat, cards = (words[2], words[3]) if words[:2] == ["d", "dh"] else (words[0], words[-1])
        if (words[:2] == ["d", "dh"] or words[1:2] == ["sm"]) and len(cards) == 4 and "?" not in cards:
            number = hand_of(cards)
            by_seat[int(seat[1:]) - 1] = cards_to_string(HANDS[number][::-1])
    return by_seat


def preflop_parts(history: Any) -> list[PreflopPart]:
    """Every player's preflop actions, by seat. With a dead small blind, the first player is the big blind."""
    blinds, players = history.blinds_or_straddles, len(history.starting_stacks)
    dead = players > 2 and float(blinds[1]) <= 0 < float(blinds[0])
    positions = position_names(players + 1)[1:] if dead else position_names(players)
    raisers: list[int] = []
    for action in history.actions:
        words = action.split("#")[0].split()
        if words[:2] == ["d", "db"]:
            break
        if words[1:2] == ["cbr"]:
            raisers.append(int(words[0][1:]) - 1)
    opener, last = (positions[raisers[0]], raisers[-1]) if raisers else ("", -1)
    return [PreflopPart(name, len(raisers), seat == last, opener) for seat, name in enumerate(positions)]


def hero_of(
    wanted: str | None, names: tuple[str, str], cards: tuple[str, str], history: Any, where: str, *, guess: bool
) -> int:
    """The hero, 0 or 1."""
    everyone = [str(name).lower() for name in history.players or ()]
    shown = str((history.user_defined_fields or {}).get("_hero", ""))
    if wanted is not None:
        hero = {"oop": 0, "ip": 1, **{name.lower(): seat for seat, name in enumerate(names)}}.get(wanted.lower())
        if hero is None:
            line = f"{where}: no player {wanted!r} on the heads-up street; write {names[0]} (oop) or {names[1]} (ip)"
            raise UnsuitableHandError(line, FOLDED if wanted.lower() in everyone else ABSENT)
    elif shown in names:
        hero = names.index(shown)
    elif shown and not guess:
        raise UnsuitableHandError(f"{where}: {shown} folded before the heads-up street", FOLDED)
    elif all(cards) and not guess:
        raise UnsuitableHandError(
            f"{where}: the cards of {names[0]} and {names[1]} are known; name the player to review", AMBIGUOUS
        )
    else:
        hero = next((seat for seat in (0, 1) if cards[seat]), None)
    if hero is None or not cards[hero]:
        who = names[hero] if hero is not None else "either player"
        raise UnsuitableHandError(f"{where}: the cards of {who} are not known; name another hero", UNKNOWN)
    return hero
