"""Board lists for batches: given boards, all flops up to suit isomorphism, or a stratified sample of flops."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.storage.reading import read_text
from treeplex.errors import SpecError
from treeplex.holdem.cards.canonical import canonical_boards, renamings
from treeplex.holdem.cards.cards import RANKS, cards_to_string, hand_index, parse_cards
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.cards.ranges import range_to_string
from treeplex.holdem.cards.spread import evenly_spread

ACE = 12
MOST_BOARDS = 100_000


@dataclass(frozen=True)
class Board:
    """A board, and the number of boards that it represents."""

    cards: tuple[int, ...]
    weight: float

    @property
    def name(self) -> str:
        """The cards as text, such as ``"AsKd2c"``."""
        return cards_to_string(self.cards)


def read_boards(text: str) -> tuple[Board, ...]:
    """Boards from ``"AsKd2c, Td9d6h:12"``, ``"all"``, ``"subset:25"`` or a file with one board per line, weighted or not.

    Raises:
        SpecError: text that is not a board, boards of different streets, or a repeated board.
        FileError: a file that cannot be read.
    """
    word = text.strip()
    if word.lower() == "all":
        return all_flops()
    if match := re.fullmatch(r"subset:(\d{1,5})", word.lower()):
        return subset(int(match[1]))
    if word.lower().startswith("subset"):
        raise SpecError(f"boards {shortened(word)} has no number of flops; write subset:25 for 25 flops")
    if not word:
        raise SpecError("boards is empty; write boards such as AsKd2c,Td9d6h, all, subset:25, or a file of boards")
    if is_file(word):
        lines = [(f"{word}:{number}", line.split("#")[0]) for number, line in enumerate(read_text(word).split("\n"), start=1)]
        parts = [(location, part) for location, line in lines for part in re.split(r"[,;]", line)]
    else:
        parts = [("boards", part) for part in re.split(r"[,;\n]", word)]
    boards = tuple(read_board(location, part) for location, part in parts if part.strip())
    check_boards(boards, word)
    return boards


def is_file(word: str) -> bool:
    """Whether a text names a file of boards."""
    try:
        return Path(word).is_file() or Path(word).suffix.lower() in (".txt", ".csv", ".boards")
    except (OSError, ValueError):
        return False


def read_board(location: str, text: str) -> Board:
    """One board: ``AsKd2c``, or ``AsKd2c:12`` with a weight."""
    name, colon, tail = text.partition(":")
    try:
        weight = float(tail) if colon else 1.0
        if not 0 < weight < float("inf"):
            raise ValueError
    except ValueError:
        raise SpecError(f"{location}: the weight {tail.strip()!r} is not a number greater than 0; write AsKd2c:12") from None
    try:
        cards = parse_cards(name)
    except SpecError as error:
        remedy = "write boards such as AsKd2c,Td9d6h, all, subset:25, or a file"
        raise SpecError(f"{location}: {error if len(name) <= 80 else shortened(name) + ' is not a board'}; {remedy}") from None
    if len(cards) not in (3, 4, 5):
        raise SpecError(f"{location}: {name.strip()!r} has {len(cards)} cards; a board has 3, 4 or 5")
    return Board(cards, weight)


def check_boards(boards: Sequence[Board], text: str) -> None:
    """Reject empty lists, boards of different streets and repeated boards."""
    if not boards:
        raise SpecError(f"boards {shortened(text)}: no boards; write boards such as AsKd2c,Td9d6h")
    if len(boards) > MOST_BOARDS:
        raise SpecError(f"boards: {len(boards):,} boards are too many; give at most {MOST_BOARDS:,}")
    if len({len(board.cards) for board in boards}) > 1:
        raise SpecError("boards: boards of different streets; give boards with the same number of cards")
    seen: dict[frozenset[int], str] = {}
    for board in boards:
        key = frozenset(board.cards)
        if key in seen:
            raise SpecError(f"boards: {board.name} is given twice (as {seen[key]}); remove one")
        seen[key] = board.name


def all_flops() -> tuple[Board, ...]:
    """The 1,755 flops up to suit isomorphism, each weighted by the number of flops that it represents (22,100 in all)."""
    canonical = canonical_boards(HOLDEM, 3)
    return tuple(
        Board(tuple(sorted(map(int, cards), reverse=True)), float(weight))
        for cards, weight in zip(canonical.boards, canonical.weights, strict=True)
    )


def subset(count: int) -> tuple[Board, ...]:
    """A sample spread evenly over all flops, which are sorted by suits, pairs and ranks and taken at regular intervals.

    Each flop in the sample represents the same number of flops. The sample is stratified: averages over it are closer to those
    over all flops than averages over as many random flops.

    Raises:
        SpecError: the count is not from 1 to 1,755.
    """
    flops = all_flops()
    if not 1 <= count <= len(flops):
        raise SpecError(f"boards subset:{count}: the number of flops must be from 1 to {len(flops)}")
    taken = evenly_spread([board.cards for board in flops], [board.weight for board in flops], count)
    return tuple(Board(flops[index].cards, weight) for index, weight in taken.items())


class Texture(NamedTuple):
    """Texture of a board.

    Attributes:
        suits: by the number of cards of the most common suit: ``rainbow``, ``two-tone``, ``monotone`` (three cards),
            ``four-flush`` or ``flush``.
        pairing: ``unpaired``, ``paired``, ``two pair``, ``trips``, ``full house`` or ``quads``.
        high: the highest rank, ``"A"``.
        connected: ``connected`` if two hole cards can make a straight, else ``disconnected``.
    """

    suits: str
    pairing: str
    high: str
    connected: str


def texture_of(cards: Sequence[int]) -> Texture:
    """The texture of a board of three to five cards."""
    ranks = [card >> 2 for card in cards]
    suited = max(sum(card & 3 == suit for card in cards) for suit in range(4))
    counts = sorted((ranks.count(rank) for rank in set(ranks)), reverse=True)
    pairs = {4: "quads", 3: "full house" if counts[1:2] == [2] else "trips", 2: "two pair" if counts[1:2] == [2] else "paired"}
    steps = {rank + 1 for rank in ranks} | {0 for rank in ranks if rank == ACE}
    straight = any(sum(low <= step < low + 5 for step in steps) >= 3 for low in range(10))
    return Texture(
        suits=("", "rainbow", "two-tone", "monotone", "four-flush", "flush")[suited],
        pairing=pairs.get(counts[0], "unpaired"),
        high=RANKS[max(ranks)],
        connected="connected" if straight else "disconnected",
    )


def check_symmetric(ranges: Sequence[Floats], boards: Sequence[Board]) -> None:
    """Reject suit-specific ranges for canonical boards, whose results hold for isomorphic boards only by symmetry.

    Raises:
        SpecError: a range gives isomorphic hands different weights.
    """
    if all(board.weight == 1.0 for board in boards):
        return
    for name, weights in zip(("oop", "ip"), ranges, strict=True):
        for renaming in renamings(HOLDEM):
            moved = np.array([hand_index(int(renaming[low]), int(renaming[high])) for low, high in HOLDEM.hands])
            if not np.allclose(weights[moved], weights, rtol=0, atol=1e-9):
                text = shortened(range_to_string(weights))
                raise SpecError(
                    f"{name}: the range {text} is suit-specific, so one flop cannot represent its isomorphic flops; "
                    "write classes such as AKs, or list the boards in --boards"
                )


def shortened(text: str) -> str:
    """A text quoted for a message, shortened if long."""
    return repr(text) if len(text) <= 80 else repr(text[:77] + "...")
