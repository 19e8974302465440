"""Formats: the cards in play, the hole cards, the deal of the board and the ranking of hands.

``HOLDEM`` is Texas hold'em. :func:`small` makes formats small enough for exact checks of every card, and
:func:`format_named` finds a format by its spec.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from treeplex.base.spec import Spec, nearest, parse_spec, shown
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import HANDS, cards_to_string

RANKINGS = ("five", "three")
MOST_CARDS = {"five": 7, "three": 3}
"""Maximum number of hole and board cards at showdown, for each ranking."""


@dataclass(frozen=True)
class Format:
    """A two-player poker format, without its betting.

    Attributes:
        name: the spec that :func:`format_named` reads (any name for custom formats).
        deck: the cards in play, ascending.
        hole: number of hole cards, 1 or 2.
        deal: number of board cards dealt at the start of each street, hold'em ``(0, 3, 1, 1)``. Only the first may be 0.
        ranking: ``"five"``, the best five of all cards, or ``"three"``, the three-card hands of Rhode Island hold'em.

    Raises:
        SpecError: a value out of range, or a deck too small for the deal.
    """

    name: str
    deck: tuple[int, ...]
    hole: int = 2
    deal: tuple[int, ...] = (0, 3, 1, 1)
    ranking: str = "five"

    def __post_init__(self) -> None:
        where = f"format {self.name!r}"
        if self.ranking not in RANKINGS:
            raise SpecError(f"{where}: ranking is {self.ranking!r}{nearest(str(self.ranking), RANKINGS)}")
        if self.hole not in (1, 2):
            raise SpecError(f"{where}: hole is {self.hole}; a player holds 1 or 2 cards")
        if list(self.deck) != sorted(set(self.deck) & set(range(52))):
            raise SpecError(f"{where}: the deck must be cards from 0 to 51 in ascending order, each once")
        if not self.deal or self.deal[0] < 0 or any(cards < 1 for cards in self.deal[1:]):
            raise SpecError(
                f"{where}: deal is {self.deal}; write the board cards of each street, at least 1 on each street "
                "after the first, such as (0, 3, 1, 1)"
            )
        if self.board_size + self.hole > MOST_CARDS[self.ranking]:
            raise SpecError(
                f"{where}: hole {self.hole} and deal {self.deal} give a player {self.board_size + self.hole} cards, "
                f"but the ranking {self.ranking!r} evaluates at most {MOST_CARDS[self.ranking]}; deal fewer cards"
            )
        needed = self.board_size + 2 * self.hole
        if len(self.deck) < needed:
            raise SpecError(
                f"{where}: two hands and the board need {needed} cards, but the deck has {len(self.deck)}; add ranks or suits, "
                "or deal fewer cards"
            )

    @property
    def streets(self) -> int:
        """The number of streets."""
        return len(self.deal)

    @property
    def board_size(self) -> int:
        """The number of cards of a complete board."""
        return sum(self.deal)

    @cached_property
    def board_sizes(self) -> tuple[int, ...]:
        """The number of board cards on each street; ``(0, 3, 4, 5)`` in hold'em."""
        return tuple(accumulate(self.deal))

    @cached_property
    def hands(self) -> NDArray[np.uint8]:
        """The cards of every hand, each ascending, in lexicographic order, [H, hole]; read-only."""
        if self.hole == 2 and len(self.deck) == 52:
            return HANDS
        deck = np.array(self.deck, dtype=np.uint8)
        low, high = np.triu_indices(len(deck), 1)
        hands = np.stack([deck[low], deck[high]], axis=1) if self.hole == 2 else deck[:, None].copy()
        hands.flags.writeable = False
        return hands

    def names(self, hands: Iterable[int] | None = None) -> list[str]:
        """The texts of the hands with these indices (default: all hands), the higher card first."""
        rows = range(len(self.hands)) if hands is None else hands
        return [cards_to_string(self.hands[row][::-1]) for row in rows]

    def cards_left(self, taken: Container[int]) -> list[int]:
        """The cards of the deck that are not in ``taken``, ascending."""
        return [card for card in self.deck if card not in taken]

    def complete_boards(self, board: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """All complete boards that begin with ``board``; each set of later cards appears once."""
        for cards in combinations(self.cards_left(board), self.board_size - len(board)):
            yield (*board, *cards)

    def street(self, board: Sequence[int]) -> int:
        """The street of ``board``.

        Raises:
            SpecError: the board size matches no street, or a card is repeated or not in the deck.
        """
        self.check_cards(board)
        if len(board) not in self.board_sizes:
            sizes = ", ".join(str(size) for size in self.board_sizes)
            raise SpecError(
                f"board {cards_to_string(board) or 'of no cards'!r} has {len(board)} cards, but in {self.name} boards have "
                f"{sizes} cards; add or remove cards"
            )
        return self.board_sizes.index(len(board))

    def check_cards(self, cards: Sequence[int], what: str = "board") -> None:
        """Raise :class:`SpecError` if a card is repeated or not in the deck; errors call the cards ``what``."""
        text = cards_to_string(cards)
        for index, card in enumerate(cards):
            if card in cards[:index]:
                raise SpecError(f"{what} {text!r}: {cards_to_string([card])} appears twice; name each card once")
            if card not in self.deck:
                deck = cards_to_string(self.deck)
                raise SpecError(
                    f"{what} {text!r}: {cards_to_string([card])} is not in the deck of {self.name}, which is {deck}"
                )


HOLDEM = Format("holdem", tuple(range(52)))
"""Texas hold'em: 52 cards, two hole cards, flop, turn and river."""


def small(ranks: int = 3, suits: int = 2, hole: int = 1, deal: Sequence[int] = (0, 1), ranking: str = "five") -> Format:
    """A format with the highest ``ranks`` ranks, in the first ``suits`` of clubs, diamonds, hearts and spades.

    The default has the deck, hands and board of Leduc poker.

    Raises:
        SpecError: a value out of range, or a deck too small for the deal.
    """
    name = f"small(ranks={ranks},suits={suits},hole={hole},deal=[{','.join(map(str, deal))}]"
    name += ")" if ranking == "five" else f",ranking={ranking})"
    for what, value, most in (("ranks", ranks, 13), ("suits", suits, 4)):
        if not 1 <= value <= most:
            raise SpecError(f"format {name!r}: {what} is {value}; it must be from 1 to {most}")
    return Format(name, _top_ranks(ranks, suits), hole, tuple(deal), ranking)


def rhode_island(ranks: int = 13) -> Format:
    """Rhode Island hold'em (Shi and Littman 2001): one hole card, a flop and a turn of one card, three-card hands.

    ``ranks`` below 13 keeps only the highest ranks, for quick tests.

    Raises:
        SpecError: ``ranks`` is not from 1 to 13.
    """
    name = "rhode_island" if ranks == 13 else f"rhode_island(ranks={ranks})"
    if not 1 <= ranks <= 13:
        raise SpecError(f"format {name!r}: ranks is {ranks}; it must be from 1 to 13")
    return Format(name, _top_ranks(ranks, 4), 1, (0, 1, 1), "three")


def royal() -> Format:
    """Royal hold'em: the 20 cards from ten to ace, two hole cards, and a flop, turn and river."""
    return Format("royal", _top_ranks(5, 4))


def flop() -> Format:
    """Flop hold'em (Brown, Lerer, Gross and Sandholm 2019, Deep CFR): 52 cards, two hole cards, a flop, and no turn or
    river."""
    return Format("flop", HOLDEM.deck, 2, (0, 3))


def _top_ranks(ranks: int, suits: int) -> tuple[int, ...]:
    return tuple(4 * rank + suit for rank in range(13 - ranks, 13) for suit in range(suits))


_FORMATS: Mapping[str, tuple[Callable[..., Format], tuple[str, ...]]] = MappingProxyType(
    {
        "holdem": (lambda: HOLDEM, ()),
        "flop": (flop, ()),
        "royal": (royal, ()),
        "rhode_island": (rhode_island, ("ranks",)),
        "small": (small, ("ranks", "suits", "hole", "deal", "ranking")),
    }
)


def formats() -> tuple[str, ...]:
    """The names of the formats."""
    return tuple(_FORMATS)


def format_named(spec: str | Spec) -> Format:
    """The format given by a spec: ``holdem``, ``rhode_island(ranks=6)``, ``small(ranks=4,suits=3,hole=2,deal=[0,3])``.

    Raises:
        SpecError: an unknown name or parameter, or a value out of range.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if parsed.name not in _FORMATS:
        raise SpecError(f"unknown format {shown(parsed.name)}{nearest(parsed.name, _FORMATS)}")
    make, known = _FORMATS[parsed.name]
    for key, value in parsed.parameters.items():
        if key not in known:
            hint = nearest(key, known) if known else "; it has no parameters"
            raise SpecError(f"format {parsed.name!r} has no parameter {shown(key)}{hint}")
        if key == "deal":
            if not isinstance(value, list) or not value or any(type(item) is not int for item in value):
                value_text = shown(str(value))
                raise SpecError(f"format {parsed.name!r}: deal is {value_text}; write integers in brackets, such as [0,3,1,1]")
        elif key != "ranking" and type(value) is not int:
            raise SpecError(f"format {parsed.name!r}: {key} is {shown(str(value))}; write an integer")
    return make(**parsed.parameters)
