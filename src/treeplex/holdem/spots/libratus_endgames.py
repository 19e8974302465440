"""Endgames that Libratus reached against human professionals, in the text format of its authors (LibratusEndgames).

A file has four lines: ``-round`` (3 turn, 4 river), ``-board``, ``-pot`` (half from each player; blinds were 50 and 100,
stacks 20,000) and ``-reach``, the players' reach probabilities of each hand at the spot: 1,326 numbers for the player out of
position, then 1,326 for the one in position, with hands in the order 2s2h, 2s2d, 2s2c, 2s3s, ..., AdAc.

The files have no bet sizes. First bets of 0.5 or 1 pot or all-in and raises of 1 pot or all-in are those of Xu et al.
(2024), "Dynamic discounted counterfactual regret minimization".
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.storage.reading import read_text
from treeplex.errors import FileError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import HANDS, hand_index, parse_cards
from treeplex.holdem.cards.evaluator import strengths
from treeplex.holdem.spots.spot import Spot

STACK = 20_000.0
BIG_BLIND = 100.0
BETS = BetPlan.same("50%,100%,a", "100%,a", min_bet=BIG_BLIND)
KEYS = ("-round", "-board", "-pot", "-reach")
BOARD_CARDS = {3: 4, 4: 5}
DECODINGS = ("true", "ddcfr")

MISREAD = dict(zip(parse_cards("3h4h4d5h5d5s"), parse_cards("2d2s3s2c3c4c"), strict=True))
"""Cards that the DDCFR program misreads at showdown, each mapped to the card that it reads instead."""


def read_libratus_endgame(path: str | Path, *, decoding: str = "true") -> Spot:
    """Read a spot from a LibratusEndgames file.

    Args:
        path: the file.
        decoding: ``true``, or ``ddcfr`` to reproduce the results of Xu et al. (2024): their program swaps the players' ranges,
            and at showdown it reads 3h 4h 4d 5h 5d 5s as 2d 2s 3s 2c 3c 4c (see :func:`misread_strengths`). For river files
            only.

    Raises:
        FileError: the file is missing, truncated or of another format; the message names the line.
        SpecError: another ``decoding``, or ``ddcfr`` for a turn file.
    """
    if decoding not in DECODINGS:
        raise SpecError(f"decoding is {decoding!r}; use true or ddcfr")
    path = Path(path)
    fields = read_fields(path)
    street = betting_round(fields[0], path)
    board = read_board(path, fields[1], street)
    pot = positive(fields[2], path)
    if not pot < 2 * STACK:
        raise FileError(f"{path}, line 3: pot is {pot:g}; it must be less than both stacks, {2 * STACK:g} chips")
    first, second = read_reach(path, fields[3])
    if decoding == "true":
        return Spot(board, pot, STACK - pot / 2, (first, second), BETS)
    if street != max(BOARD_CARDS):
        raise SpecError(f"{path}: decoding ddcfr supports river files only, because it replaces showdowns; use decoding true")
    return Spot(board, pot, STACK - pot / 2, (second, first), BETS, strengths=misread_strengths(board))


def read_fields(path: Path) -> list[str]:
    """The text after the key on each of the four lines."""
    lines = read_text(path).splitlines()
    fields = []
    for number, key in enumerate(KEYS, 1):
        line = lines[number - 1] if number <= len(lines) else ""
        name, _, rest = line.strip().partition(" ")
        if name != key:
            fault = f"starts with {name[:20]!r}" if name else "is missing"
            raise FileError(f"{path}, line {number} {fault} instead of {key!r}; download the file again")
        fields.append(rest.strip())
    return fields


def betting_round(text: str, path: Path) -> int:
    """The betting round."""
    if text not in map(str, BOARD_CARDS):
        raise FileError(f"{path}, line 1: betting round is {text[:20]!r}; it must be 3 (turn) or 4 (river)")
    return int(text)


def read_board(path: Path, text: str, street: int) -> tuple[int, ...]:
    """The board cards."""
    try:
        board = parse_cards(text)
    except SpecError as error:
        raise FileError(f"{path}, line 2: {error}") from None
    if len(board) != BOARD_CARDS[street]:
        raise FileError(f"{path}, line 2: {len(board)} cards for betting round {street}; it needs {BOARD_CARDS[street]}")
    return board


def positive(text: str, path: Path) -> float:
    """The pot."""
    try:
        pot = float(text)
    except ValueError:
        pot = np.nan
    if not (np.isfinite(pot) and pot > 0):
        raise FileError(f"{path}, line 3: pot is {text[:20]!r}; it must be a number of chips greater than 0")
    return pot


def read_reach(path: Path, text: str) -> tuple[Floats, Floats]:
    """The reach probabilities of both players, float64 [1326] each in the order of ``HANDS``."""
    words = text.split()
    if len(words) != 2 * len(HANDS):
        raise FileError(f"{path}, line 4: {len(words)} numbers instead of {2 * len(HANDS)}; download the file again")
    try:
        numbers = np.array(words, dtype=np.float64)
    except ValueError as error:
        raise FileError(f"{path}, line 4: {error}; download the file again") from None
    if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise FileError(f"{path}, line 4: a reach probability is negative or not finite; download the file again")
    reach = np.zeros((2, len(HANDS)))
    reach[:, hand_order()] = numbers.reshape(2, -1)
    return reach[0], reach[1]


def hand_order() -> NDArray[np.int64]:
    """The index in ``HANDS`` of each hand in the order of the file, [1326]: rank by rank, suits s, h, d, c."""
    cards = [4 * rank + suit for rank in range(13) for suit in (3, 2, 1, 0)]
    pairs = [hand_index(first, second) for index, first in enumerate(cards) for second in cards[index + 1 :]]
    return np.array(pairs, dtype=np.int64)


def misread_strengths(board: tuple[int, ...]) -> Ints:
    """Showdown strengths in the DDCFR program, int64 [1326]: higher wins, -1 for hands with a board card.

    Cards are read through ``MISREAD``. If a hand then contains a card twice, the copy contributes only its rank, and a flush
    with that card loses to every hand. The program's lookup table is not published; this reconstruction reproduces the
    exploitability of the uniform strategy that its authors report for both river games.
    """
    keys = strengths(board, HANDS).astype(np.int64)
    for index in np.flatnonzero((keys >= 0) & np.isin(HANDS, list(MISREAD)).any(axis=1)):
        keys[index] = misread_strength([MISREAD.get(card, card) for card in (*board, *map(int, HANDS[index]))])
    return keys


def misread_strength(cards: list[int]) -> int:
    """The strength of seven cards, possibly with duplicates."""
    copies = [card for index, card in enumerate(cards) if card in cards[:index]]
    suits = [card % 4 for card in cards]
    if any(suits.count(copy % 4) >= 5 for copy in copies):
        return 0
    distinct = list(dict.fromkeys(cards))
    for copy in copies:
        free = [card for card in range(copy - copy % 4, copy - copy % 4 + 4) if card not in distinct]
        distinct.append(min(free, key=lambda card: suits.count(card % 4)))
    seven = np.array([distinct[5:]], dtype=np.uint8)
    return int(strengths(distinct[:5], seven)[0])
