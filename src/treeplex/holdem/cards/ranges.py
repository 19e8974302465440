"""Ranges as text, such as ``QQ+, A5s-A4s, AKo:0.5, AhKh, 50%(JJ,TT)``, or as 1,326 numbers.

=================== ============================================================================================
``QQ``, ``AKs``     a pair; suited; ``AKo``: offsuit; ``AK``: both.
``AhKh``            one hand.
``QQ+``             this pair and all higher ones.
``ATs+``            the same high card, low cards from the ten up to one below the high card.
``T9s+``            this connector and all higher ones: T9s, JTs, QJs, KQs, AKs (also ``9h8h+``: hands of these suits).
``A5s-A2s``         the same high card, from one low card to the other.
``JTs-54s``         the same gap, from one hand to the other; ``66-22``, ``AhAs-QhQs`` likewise.
``AKo:0.5``         with weight 0.5 (from 0 to 1; ``AKo:50%`` is the same); 1 without a weight.
``50%(JJ,AQ:0.5)``  a group: its weight multiplies those inside; ``0.5(...)`` is the same.
``[50]JJ,AQ[/50]``  the same in percent, as GTO+ and Flopzilla write it.
``top 15%``         the strongest classes of hands that make up at most 15% of all hands, by their equity before the flop
                    against a random hand (:data:`STRONGEST`).
``random``          every hand; ``any`` and ``100%`` are the same.
=================== ============================================================================================

Entries are separated by commas or spaces. Case is ignored, and suit symbols are allowed, as in ``A♥K♥``. Where entries
overlap, **the first one counts**: write exceptions before the rule, ``AA:0.5, QQ+``. An exception after its rule (``QQ+,
AA:0.5``), which would have no effect, is an error. The grammar, including overlaps and connectors, is that of
postflop-solver (b-inary, 2023), with the groups of eval7; the ends of ``A5s-A2s`` may be swapped. It covers PioSolver's
output, ``AA:0.5,AhKh:0.25``.

Other solvers' texts can be pasted: PioSolver's ``AA:1.0,AKs:0.5``, GTO+'s ``[50.0]AKs,AQs[/50.0]`` and GTO Wizard's
``AhKh: 0.5,AdKd: 0.5``.

A text of 1326 numbers, separated by spaces or commas, is a raw vector. Two orders are in use, both with cards numbered 2c, 2d,
2h, 2s, 3c, ..., As: by low card, then high card (2d2c, 2h2c, 2s2c, 3c2c), the order of ``HANDS`` and of postflop-solver; and by
high card, then low card (2d2c, 2h2c, 2h2d, 2s2c), that of PioSolver's ``show_hand_order``. A range seldom prefers one suit, so
the order that gives all hands of a class one weight is taken. If neither does, the first is used; ``pio:`` before the
numbers selects the second, ``raw:`` the first. :func:`read_range` reports the choice.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import (
    CLASSES,
    HAND_CLASSES,
    HANDS,
    N_HANDS,
    PICTURES,
    RANKS,
    SUITS,
    hand_index,
    hand_to_string,
)

_NUMBER = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[+-]?[0-9]++)?"
_MOST_TEXT = 500_000
"""Maximum length of a range's text; raw vectors in full precision have 33,000 characters or more."""
_ALL_HANDS = np.arange(N_HANDS)
_HAND = r"(?:[2-9tjqka][cdhs][2-9tjqka][cdhs]|[2-9tjqka]{2}[so]?)"
_FLAGS = re.ASCII | re.IGNORECASE
_ENTRY = re.compile(
    rf"(?:(?P<all>random|any|100%)|top\s*+(?P<top>{_NUMBER})\s*+%|(?P<first>{_HAND})(?:(?P<plus>\+)|\s*-\s*(?P<last>{_HAND}))?)"
    rf"(?:\s*:\s*(?P<weight>{_NUMBER}%?))?(?=[\s,)\[]|$)",
    _FLAGS,
)
_GROUP = re.compile(rf"(?P<weight>{_NUMBER}(?:\s*+%)?)\s*+\(|\[\s*+(?P<percent>{_NUMBER})\s*+\]", _FLAGS)
_GROUP_END = {")": re.compile(r"\)"), "[/...]": re.compile(rf"\[\s*+/\s*+(?:{_NUMBER})?\s*+\]", _FLAGS)}
_VECTOR_START = re.compile(rf"[+-]?{_NUMBER}(?=[\s,]|$)", _FLAGS)
_ORDER_START = re.compile(r"\s*(?P<order>pio|raw)\s*:(?=[\s0-9.])", _FLAGS)
_DASHES = {0x2010: "-", 0x2011: "-", 0x2012: "-", 0x2013: "-", 0x2212: "-"}
_EXAMPLES = "write entries such as QQ+, A5s-A4s, AKo:0.5, AhKh, 50%(JJ,TT) or top 15%, separated by commas"
_MISPLACED = {",": "an entry is missing before this comma; remove the comma", ")": "no group ends here; remove the bracket"}
_ORDER = """
AA KK QQ JJ TT 99 88 AKs 77 AQs AJs AKo ATs AQo AJo KQs 66 A9s ATo KJs A8s KTs KQo A7s A9o KJo 55 QJs K9s A5s A6s A8o
KTo QTs A4s A7o K8s A3s QJo K9o A5o A6o Q9s K7s JTs A2s QTo 44 A4o K6s K8o Q8s A3o K5s J9s Q9o JTo K7o A2o K4s Q7s K6o
K3s T9s J8s 33 Q6s Q8o K5o J9o K2s Q5s T8s K4o J7s Q4s Q7o T9o J8o K3o Q6o Q3s 98s T7s J6s K2o 22 Q2s Q5o J5s T8o J7o
Q4o 97s J4s T6s J3s Q3o 98o 87s T7o J6o 96s J2s Q2o T5s J5o T4s 97o 86s J4o T6o 95s T3s 76s J3o 87o T2s 85s 96o J2o
T5o 94s 75s T4o 93s 86o 65s 84s 95o T3o 92s 76o 74s T2o 54s 85o 64s 83s 94o 75o 82s 73s 93o 65o 53s 63s 84o 92o 43s
74o 72s 54o 64o 52s 62s 83o 42s 82o 73o 53o 63o 32s 43o 72o 52o 62o 42o 32o
"""
STRONGEST: tuple[int, ...] = tuple(CLASSES.index(name) for name in _ORDER.split())
"""Indices in ``CLASSES`` of all classes, by descending preflop equity against a random hand.

``bench/hand_order.py`` computes them from every board.
"""
_HANDS_OF = tuple(np.flatnonzero(number == HAND_CLASSES) for number in range(len(CLASSES)))


_BY_HIGH_CARD = np.lexsort((HANDS[:, 0], HANDS[:, 1]))
"""Hands in PioSolver's order."""
_ORDERS = {"raw": "by low card (2d2c, 2h2c, 2s2c, …)", "pio": "by high card as in PioSolver (2d2c, 2h2c, 2h2d, …)"}


class ReadRange(NamedTuple):
    """A range read from text.

    Attributes:
        weights: float64 [1326] in the order of ``HANDS``.
        note: how an ambiguous text was read; empty if there is only one way.
    """

    weights: NDArray[np.float64]
    note: str


class Hands(NamedTuple):
    """A hand class or one hand: two ranks, the higher first, and their ``kind``.

    The kind is ``s`` for suited, ``o`` for offsuit, empty for both, or the two suits of one hand, as in ``hd``.
    """

    high: int
    low: int
    kind: str

    @property
    def gap(self) -> int:
        """The distance between the two ranks."""
        return self.high - self.low


def parse_range(text: str) -> NDArray[np.float64]:
    """The weight of every hand in a range; see the module docstring for the grammar.

    An empty text is the empty range. The weights of entries are from 0 to 1; a raw vector may have any scale.

    Returns:
        float64 [1326] in the order of ``HANDS``.

    Raises:
        SpecError: an entry that cannot be read (the message shows it and its position), a weight out of range, a raw
            vector of the wrong length, or a text of more than 500,000 characters.
    """
    return read_range(text).weights


def read_range(text: str) -> ReadRange:
    """Like :func:`parse_range`, with a note on how an ambiguous text was read.

    Raises:
        SpecError: as in :func:`parse_range`.
    """
    if len(text) > _MOST_TEXT:
        raise SpecError(f"range: the text has {len(text):,} characters, more than the limit of {_MOST_TEXT:,}; {_EXAMPLES}")
    text = "".join(" " if character.isspace() else character for character in text.translate(_DASHES | PICTURES))
    order = _ORDER_START.match(text)
    if order or _is_vector(text):
        return _read_vector(text[order.end() :], order["order"].lower()) if order else _read_vector(text)
    weights, named = np.zeros(N_HANDS), np.zeros(N_HANDS, np.bool_)
    for hands, weight, position in _entries(text):
        if len(hands) and named[hands].all() and (weights[hands] != weight).all():
            raise _unreadable(
                text,
                position,
                "earlier entries contain all its hands and take precedence; move it before them",
            )
        new = hands[~named[hands]]
        weights[new], named[new] = weight, True
    return ReadRange(weights, "")


def _is_vector(text: str) -> bool:
    """Whether the text is a list of weights; ``22, 33`` are pairs unless the text has exactly one number per hand."""
    start = _VECTOR_START.match(text.lstrip(" ,"))
    if start is None or "(" in text:
        return False
    return _ENTRY.match(start.group()) is None or len(text.replace(",", " ").split()) == N_HANDS


def _read_vector(text: str, order: str = "") -> ReadRange:
    words = text.replace(",", " ").split()
    weights = np.empty(len(words))
    for index, word in enumerate(words):
        number = float(word) if _VECTOR_START.fullmatch(word) else np.nan
        if not (np.isfinite(number) and number >= 0):
            raise SpecError(
                f"range: number {index + 1} of the raw vector is {shown(word, 40)}; "
                "write finite numbers that are not negative, or entries such as QQ+, AKs:0.5"
            )
        weights[index] = number
    if len(words) != N_HANDS:
        raise SpecError(
            f"range: a raw vector has {N_HANDS} numbers, one for each hand from 2c2d to AhAs, but this one has {len(words)}; "
            f"add or remove numbers, or {_EXAMPLES}"
        )
    by_high_card = np.empty(N_HANDS)
    by_high_card[_BY_HIGH_CARD] = weights
    orders = {"raw": weights, "pio": by_high_card}
    if order:
        return ReadRange(orders[order], f"1326 numbers, {_ORDERS[order]}")
    if (weights == by_high_card).all():
        return ReadRange(weights, "")
    symmetric = [name for name, found in orders.items() if _is_symmetric(found)]
    if len(symmetric) == 1:
        return ReadRange(orders[symmetric[0]], f"1326 numbers, read {_ORDERS[symmetric[0]]}: in that order suits do not matter")
    return ReadRange(
        weights, f"1326 numbers, read {_ORDERS['raw']}; if they are {_ORDERS['pio']}, write pio: before the first number"
    )


def _is_symmetric(weights: NDArray[np.float64]) -> bool:
    """Whether all hands of a class have one weight, up to rounding."""
    members = np.bincount(HAND_CLASSES)
    means = np.bincount(HAND_CLASSES, weights) / members
    return bool(np.allclose(weights, means[HAND_CLASSES], rtol=1e-3, atol=1e-6 * weights.max()))


def _entries(text: str) -> Iterator[tuple[NDArray[np.int64], float, int]]:
    """The hands, the weight and the position in the text of each entry, in order."""
    position, group_weight, group_start, group_end, after_entry = 0, 1.0, -1, ")", False
    while position < len(text):
        character = text[position]
        if character == " ":
            position += 1
        elif character == "," and after_entry:
            position, after_entry = position + 1, False
        elif group_start >= 0 and after_entry and (end := _GROUP_END[group_end].match(text, position)):
            position, group_weight, group_start = end.end(), 1.0, -1
        elif group := _GROUP.match(text, position):
            if group_start >= 0:
                raise _unreadable(text, position, "groups cannot be nested; close the first one before it")
            group_weight, group_start = _read_weight(group["weight"] or f"{group['percent']}%", text, position), position
            position, group_end, after_entry = group.end(), ")" if group["weight"] else "[/...]", False
        elif entry := _ENTRY.match(text, position):
            yield _expand(entry, text), group_weight * _read_weight(entry["weight"] or "1", text, entry.start()), position
            position, after_entry = entry.end(), True
        else:
            raise _unreadable(text, position, _MISPLACED.get(character, _EXAMPLES))
    if group_start >= 0:
        raise _unreadable(text, group_start, f"the group is not closed; write {group_end} at its end")


def _expand(entry: re.Match[str], text: str) -> NDArray[np.int64]:
    """The indices of all hands in an entry."""
    if entry["all"]:
        return _ALL_HANDS
    if entry["top"]:
        return _strongest(_read_weight(f"{entry['top']}%", text, entry.start()))
    first = _read_hands(entry["first"], text, entry.start("first"))
    members = [first]
    if entry["plus"] and first.gap <= 1:
        members = [Hands(high, high - first.gap, first.kind) for high in range(first.high, 13)]
    elif entry["plus"]:
        members = [Hands(first.high, low, first.kind) for low in range(first.low, first.high)]
    elif entry["last"]:
        members = _between(first, _read_hands(entry["last"], text, entry.start("last")), text, entry.start())
    return np.concatenate([_indices(hands) for hands in members])


def _strongest(share: float) -> NDArray[np.int64]:
    """The hands of the strongest classes that make up at most this share of all hands."""
    hands = np.array([len(_HANDS_OF[class_number]) for class_number in STRONGEST])
    count = int((np.cumsum(hands) <= share * N_HANDS + 1e-9).sum())
    return np.concatenate([np.zeros(0, np.int64), *(_HANDS_OF[class_number] for class_number in STRONGEST[:count])])


def _between(first: Hands, last: Hands, text: str, position: int) -> list[Hands]:
    """All hands between two hands that have the same gap or the same high card."""
    if first.kind != last.kind:
        raise _unreadable(text, position, "both ends need the same suits, as in A5s-A2s or AhAs-QhQs")
    if first.gap == last.gap:
        highs = range(min(first.high, last.high), max(first.high, last.high) + 1)
        return [Hands(high, high - first.gap, first.kind) for high in highs]
    if first.high == last.high:
        return [Hands(first.high, low, first.kind) for low in range(min(first.low, last.low), max(first.low, last.low) + 1)]
    raise _unreadable(text, position, "both ends need the same high card, as in A5s-A2s, or the same gap, as in JTs-54s")


def _read_hands(word: str, text: str, position: int) -> Hands:
    """Read ``AKs``, ``AK``, ``QQ`` or ``AhKh``."""
    if len(word) == 4:
        cards = sorted((RANKS.index(word[i].upper()), SUITS.index(word[i + 1].lower())) for i in (0, 2))
        (low, low_suit), (high, high_suit) = cards
        if cards[0] == cards[1]:
            raise _unreadable(text, position, "a hand is two different cards, as in AhKh")
        return Hands(high, low, SUITS[high_suit] + SUITS[low_suit])
    low, high = sorted(RANKS.index(rank) for rank in word[:2].upper())
    if low == high and len(word) == 3:
        raise _unreadable(text, position, f"a pair is neither suited nor offsuit; write {word[:2].upper()}")
    return Hands(high, low, word[2:].lower())


def _indices(hands: Hands) -> NDArray[np.int64]:
    if len(hands.kind) == 2:
        high_suit, low_suit = (SUITS.index(suit) for suit in hands.kind)
        return np.array([hand_index(4 * hands.high + high_suit, 4 * hands.low + low_suit)])
    suited, offsuit = _HANDS_OF[_class_number(hands, "s")], _HANDS_OF[_class_number(hands, "o")]
    if hands.kind == "s" or hands.gap == 0:
        return suited
    return offsuit if hands.kind == "o" else np.concatenate([suited, offsuit])


def _class_number(hands: Hands, kind: str) -> int:
    """The index in ``CLASSES`` of these ranks, suited or offsuit."""
    row, column = 12 - hands.high, 12 - hands.low
    return 13 * row + column if kind == "s" else 13 * column + row


def _read_weight(word: str, text: str, position: int) -> float:
    number = float(word.rstrip("% ")) / (100.0 if word.endswith("%") else 1.0)
    if not 0.0 <= number <= 1.0:
        raise _unreadable(text, position, f"weight {shown(word, 40)} is not from 0 to 1; write 0.5 or 50%, for example")
    return number


def _unreadable(text: str, position: int, remedy: str) -> SpecError:
    """The error for the text at ``position``."""
    end = re.compile(r"[\s,]|$").search(text, position + 1)
    word = text[position : end.start() if end else None]
    return SpecError(f"range: cannot read {shown(word, 40)} at character {position + 1}: {remedy}")


def range_to_string(weights: NDArray[np.float64]) -> str:
    """A short text for a range; :func:`parse_range` reads it back exactly.

    Classes of hands with one weight become entries such as ``QQ+``, ``A5s-A4s`` or ``AKo:0.5``, other hands are written
    individually, and hands of weight 0 are left out. Weights above 1 have no entries: such a range becomes a raw vector.

    Args:
        weights: [1326], in the order of ``HANDS``.

    Raises:
        SpecError: the shape is wrong, or weights are negative or not finite.
    """
    weights = _checked(weights)
    if weights.max() > 1.0:
        return " ".join(_weight_text(weight) for weight in weights)
    if weights.min() == weights.max() > 0.0:
        return _entry_text("random", weights[0])
    low = np.array([weights[hands].min() for hands in _HANDS_OF])
    mixed = low < np.array([weights[hands].max() for hands in _HANDS_OF])
    common = np.where(mixed, 0.0, low)
    entries = _line_texts([Hands(rank, rank, "") for rank in range(12, -1, -1)], common[::14])
    for high in range(12, 0, -1):
        entries += _high_card_texts(high, common)
    for number in np.flatnonzero(mixed):
        hands = _HANDS_OF[number][::-1]
        entries += [_entry_text(hand_to_string(hand), weights[hand]) for hand in hands if weights[hand] > 0.0]
    return ",".join(entries)


def _high_card_texts(high: int, common: NDArray[np.float64]) -> list[str]:
    """The entries for all unpaired classes with one high card; suited and offsuit are combined where that is shorter."""
    lines = {kind: [Hands(high, low, kind) for low in range(high - 1, -1, -1)] for kind in ("s", "o", "")}
    suited = np.array([common[_class_number(hands, "s")] for hands in lines["s"]])
    offsuit = np.array([common[_class_number(hands, "o")] for hands in lines["o"]])
    both = np.where(suited == offsuit, suited, 0.0)
    apart = _line_texts(lines["s"], suited) + _line_texts(lines["o"], offsuit)
    together = _line_texts(lines[""], both)
    together += _line_texts(lines["s"], np.where(both > 0.0, 0.0, suited))
    together += _line_texts(lines["o"], np.where(both > 0.0, 0.0, offsuit))
    return min(together, apart, key=lambda entries: len(",".join(entries)))


def _line_texts(line: Sequence[Hands], weights: NDArray[np.float64]) -> list[str]:
    """The entries for classes in descending order: a run of equal weights becomes one entry, and weight 0 is omitted."""
    texts, start = [], 0
    for index in range(1, len(line) + 1):
        if index < len(line) and weights[index] == weights[start]:
            continue
        first, last = _class_text(line[start]), _class_text(line[index - 1])
        if weights[start] > 0.0:
            run = first if index == start + 1 else f"{last}+" if start == 0 else f"{first}-{last}"
            texts.append(_entry_text(run, weights[start]))
        start = index
    return texts


def _class_text(hands: Hands) -> str:
    return RANKS[hands.high] + RANKS[hands.low] + hands.kind


def _entry_text(hands: str, weight: float) -> str:
    return hands if weight == 1.0 else f"{hands}:{_weight_text(weight)}"


def _weight_text(weight: float) -> str:
    """The shortest decimal, without an exponent, that parses to the same float."""
    return np.format_float_positional(weight, trim="-")


def _checked(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (N_HANDS,):
        raise SpecError(f"range: the weights have shape {weights.shape}; they must be [{N_HANDS}], one for each hand")
    if not (np.isfinite(weights).all() and weights.min() >= 0.0):
        bad = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))[0])
        raise SpecError(
            f"range: the weight of {hand_to_string(bad)} is {weights[bad]}; weights must be finite and not negative"
        )
    return weights
