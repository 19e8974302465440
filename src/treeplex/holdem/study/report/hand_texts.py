"""Splits a text of hand histories into single hands, and reads each as PokerKit's ``HandHistory``.

PokerStars, GGPoker and PHH are read by our own code; ACPC logs and the formats of older sites by PokerKit's parsers, which do
not read the hero's hole cards, so these are added from the line ``Dealt to``.
"""

import hashlib
import importlib.util
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from typing import Any, Final, final

from treeplex.base.spec import shown
from treeplex.base.version import install_hint
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.holdem.study.report.room_text import (
    OTHER_GAME,
    UnsuitableHandError,
    card_text,
    is_room_text,
    phh_text,
    room_hands,
)

ROOM, PHH, ACPC = "PokerStars or GGPoker", "PHH", "ACPC"
SITES: Final = {
    "Absolute Poker": ("from_absolute_poker", re.compile(r"^Stage #", re.MULTILINE)),
    "Full Tilt Poker": ("from_full_tilt_poker", re.compile(r"^Full Tilt Poker Game #", re.MULTILINE)),
    "iPoker": ("from_ipoker_network", re.compile(r'^<game gamecode="', re.MULTILINE)),
    "Ongame": ("from_ongame_network", re.compile(r"^\*{5} History for hand ", re.MULTILINE)),
    "PartyPoker": (
        "from_partypoker",
        re.compile(r"^(?:Game #\d+ starts.*\n+(?:#Game No.*\n+)?)?\*{5} Hand History for Game ", re.MULTILINE),
    ),
}
"""Sites whose text PokerKit parses: the name of its parser, and the beginning of a hand."""
FORMATS = "PokerStars, GGPoker, PHH, an ACPC log, PartyPoker, iPoker, Ongame, Full Tilt or Absolute Poker"
MOST_TITLE = 120
STATE = re.compile(r"^STATE:.*$", re.MULTILINE)
ACPC_BLINDS, ACPC_STACK = (50, 100), 20_000
"""The game of no-limit logs of the ACPC, which do not contain it."""
PHH_HEAD = re.compile(r"^\[(?:[\w-]+|\"[^\"]*\"|'[^']*')\][ \t]*$", re.MULTILINE)
PHH_FIELD = re.compile(r"^\s*(?:variant|actions|starting_stacks)\s*=", re.MULTILINE)
ONGAME_SEAT = re.compile(r"^(Seat \d+: .+\))$", re.MULTILINE)
IPOKER_CARDS, UPPER_RANKS = re.compile(r"(?<=>)(?:[HDCS](?:10|[2-9TJQKA]) ?)+(?=</cards>)"), str.maketrans("tjqka", "TJQKA")
DEALT = re.compile(r"^Dealt to (?P<name>.+?):? \[\s*(?P<cards>[^\]]+?)\s*\]", re.MULTILINE)
SUMMARY = re.compile(r"^\*\*\* SUMMARY \*\*\*", re.MULTILINE)


@final
@dataclass(frozen=True)
class HandText:
    """The text of one hand.

    Attributes:
        text: the text.
        format: :data:`ROOM`, :data:`PHH`, :data:`ACPC` or a name of :data:`SITES`.
    """

    text: str
    format: str

    @property
    def digest(self) -> str:
        """A digest that ignores blank lines and spaces at the ends of lines; 32 hexadecimal digits."""
        lines = filter(None, map(str.strip, self.text.splitlines()))
        return hashlib.sha256("\n".join((self.format, *lines)).encode()).hexdigest()[:32]

    @property
    def title(self) -> str:
        """The first line, in which most formats name the hand; empty in PHH."""
        lines = (line.strip() for line in self.text.splitlines() if not line.startswith("Game #"))
        return "" if self.format == PHH else next(filter(None, lines), "")[:MOST_TITLE]

    @property
    def cut_off(self) -> bool:
        """Whether the end of the hand is missing, as in a truncated file."""
        if self.format == ROOM:
            return SUMMARY.search(self.text) is None
        return self.format == "iPoker" and "</game>" not in self.text

    def history(self) -> Any:
        """Read the hand as a ``HandHistory`` of PokerKit.

        Raises:
            SpecError: the hand's game is not supported, a part is missing, or PokerKit is not installed.
            FileError: the text cannot be parsed.
        """
        need_pokerkit()
        from pokerkit import HandHistory

        try:
            if self.format == ROOM:
                return HandHistory.loads(phh_text(self.text))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PokerKit warns of additional fields
                if self.format == PHH:
                    return HandHistory.loads(self.text)
                return self._acpc() if self.format == ACPC else self._site()
        except TreeplexError:
            raise
        except Exception as error:  # TOML errors, missing keys, values of wrong types
            said = " ".join(str(error).split())[:200] or type(error).__name__
            raise FileError(f"not a hand history ({said}); give {FORMATS}") from error

    def _acpc(self) -> Any:
        """The hand of a line ``STATE:...``, with the usual stakes."""
        from pokerkit import HandHistory, NoLimitTexasHoldem

        betting = self.text.split(":")[2] if self.text.count(":") >= 2 else ""
        if re.search(r"r(?!\d)", betting):
            raise UnsuitableHandError("ACPC hand of limit hold'em: only no-limit hold'em is supported", OTHER_GAME)
        game = NoLimitTexasHoldem((), True, 0, ACPC_BLINDS, ACPC_BLINDS[1])
        hands = list(HandHistory.from_acpc_protocol(game, ACPC_STACK, self.text, error_status=True))
        if len(hands) != 1:
            raise UnsuitableHandError(f"ACPC line {shown(self.text[:60])} is not STATE:hand:betting:cards:results:players")
        return hands[0]

    def _site(self) -> Any:
        """The hand as PokerKit's parser of the site reads it, with the cards of the player who saved it."""
        from pokerkit import HandHistory

        if "limit" in self.text.lower() and not re.search(r"no.?limit|\bNL\b", self.text, re.IGNORECASE):
            raise UnsuitableHandError(f"{self.format} hand of another game: only no-limit hold'em is supported", OTHER_GAME)
        with redirect_stderr(io.StringIO()):  # PokerKit prints tracebacks
            hands = list(getattr(HandHistory, SITES[self.format][0])(f"{self.text}\n\n\n\n", error_status=True))
        if len(hands) != 1:
            line = f"{self.format} hand: its text has {len(hands)} hands"
            raise UnsuitableHandError(f"{line}; give the whole text of one hand")
        history, dealt = hands[0], DEALT.search(self.text)
        if dealt and dealt["name"] in (history.players or ()):
            label = f"p{history.players.index(dealt['name']) + 1}"
            cards = card_text(dealt["cards"].replace(",", " "))
            history.actions = [
                f"d dh {label} {cards}" if action.startswith(f"d dh {label} ") else action for action in history.actions
            ]
            history.user_defined_fields = {**(history.user_defined_fields or {}), "_hero": dealt["name"]}
        return history


def need_pokerkit() -> None:
    """Raise :class:`SpecError` unless PokerKit is installed."""
    if importlib.util.find_spec("pokerkit") is None:
        raise SpecError(f"reading hand histories needs PokerKit; run: {install_hint('poker')}")


def split_hands(text: str) -> list[HandText]:
    """Split a text into its hands, without parsing them; text before the first hand is ignored.

    Returns:
        The hands; none if the text has no known format.
    """
    if is_room_text(text):
        return [HandText(hand, ROOM) for hand in room_hands(text)]
    if states := STATE.findall(text):
        return [HandText(state, ACPC) for state in states]
    plain = "\n".join(line.lstrip() for line in text.splitlines()) if "<game gamecode=" in text else text
    for name, (_, head) in SITES.items():
        if hands := list(pieces(plain, [match.start() for match in head.finditer(plain)])):
            return [site_hand(name, hand) for hand in hands]
    if heads := list(PHH_HEAD.finditer(text)):
        tables = [after.partition("\n")[2] for after in pieces(text, [match.start() for match in heads])]
        return [HandText(hand, PHH) for hand in tables]
    return [HandText(text, PHH)] if PHH_FIELD.search(text) else []


def pieces(text: str, starts: list[int]) -> Iterator[str]:
    """The parts of a text between these positions."""
    for start, end in zip(starts, [*starts, len(text)][1:], strict=True):
        yield text[start:end]


def site_hand(name: str, text: str) -> HandText:
    """A site's hand as PokerKit's parser expects it."""
    if name == "PartyPoker" and not text.startswith("Game #"):
        text = f"Game #1 starts.\n\n{text}"
    elif name == "Ongame":
        text = ONGAME_SEAT.sub(r"\1 ", text)
    elif name == "iPoker":
        hand, end, _ = text.partition("</game>")
        text = IPOKER_CARDS.sub(lambda match: match[0].lower().translate(UPPER_RANKS), f"{hand}{end}\n")
    return HandText(text, name)
