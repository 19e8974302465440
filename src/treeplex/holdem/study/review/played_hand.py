"""Reads a played hand: players, positions and cards, and its heads-up streets."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeplex.errors import SpecError, TreeplexError
from treeplex.holdem.cards.cards import HANDS, cards_to_string, hand_index, parse_cards
from treeplex.holdem.study.report.hand_history import HandSpot, hand_of_text, load_hand, spots
from treeplex.holdem.study.review.position_ranges import PreflopPart, position_names


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
    """

    title: str
    big_blind: float
    names: tuple[str, str]
    parts: tuple[PreflopPart, PreflopPart]
    cards: tuple[str, str]
    hero: int
    streets: tuple[HandSpot, ...]

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
    if history.variant != "NT":
        raise SpecError(f"{where}: its game is {history.variant!r}; only no-limit hold'em (NT) can be reviewed")
    try:
        return from_history(history, hero, where)
    except TreeplexError:
        raise
    except Exception as error:  # PokerKit's checks raise various exceptions
        raise SpecError(f"{where}: PokerKit cannot play the hand ({error}); check its actions") from error


def from_history(history: Any, hero: str | None, where: str) -> RecordedHand:
    """The hand of a PokerKit history."""
    heads_up = tuple(spots(history))
    if not heads_up:
        raise SpecError(f"{where}: no street begins with exactly two players who have chips; give another hand")
    names = tuple(history.players or ()) or tuple(f"p{seat + 1}" for seat in range(len(history.starting_stacks)))
    seats, cards = seats_of(history), known_cards(history)
    shown = (cards.get(seats[0], ""), cards.get(seats[1], ""))
    player_names = (str(names[seats[0]]), str(names[seats[1]]))
    parts = preflop_parts(history)
    return RecordedHand(
        title=str((history.user_defined_fields or {}).get("_head", "")),
        big_blind=max(abs(float(blind)) for blind in history.blinds_or_straddles),
        names=player_names,
        parts=(parts[seats[0]], parts[seats[1]]),
        cards=shown,
        hero=hero_of(hero, player_names, shown, str((history.user_defined_fields or {}).get("_hero", "")), where),
        streets=heads_up,
    )


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
    """Every player's preflop actions, by seat."""
    positions = position_names(len(history.starting_stacks))
    raisers: list[int] = []
    for action in history.actions:
        words = action.split("#")[0].split()
        if words[:2] == ["d", "db"]:
            break
        if words[1:2] == ["cbr"]:
            raisers.append(int(words[0][1:]) - 1)
    opener, last = (positions[raisers[0]], raisers[-1]) if raisers else ("", -1)
    return [PreflopPart(name, len(raisers), seat == last, opener) for seat, name in enumerate(positions)]


def hero_of(wanted: str | None, names: tuple[str, str], cards: tuple[str, str], shown: str, where: str) -> int:
    """The hero, 0 or 1."""
    if wanted is not None:
        hero = {"oop": 0, "ip": 1, **{name.lower(): seat for seat, name in enumerate(names)}}.get(wanted.lower())
        if hero is None:
            raise SpecError(f"{where}: no player {wanted!r} on the heads-up street; write {names[0]} (oop) or {names[1]} (ip)")
    elif shown in names:
        hero = names.index(shown)
    else:
        hero = next((seat for seat in (0, 1) if cards[seat]), None)
    if hero is None or not cards[hero]:
        who = names[hero] if hero is not None else "either player"
        raise SpecError(f"{where}: the cards of {who} are not known; name another hero")
    return hero
