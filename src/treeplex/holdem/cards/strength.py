"""Hand strength: the probability of beating a uniformly random hand (ties count half), and its expectations on earlier streets.

On a complete board the hand strength HS is exact. Before the river, ``E[HS]`` and ``E[HS2]`` are the means of HS and of its
square over all runouts (Zinkevich et al. 2007, section 4). Both are computed by exhaustive roll-out for all hands on
every canonical board. They are stored as 16-bit fractions with 65535 for 1, an error of at most 8e-6 per roll-out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.holdem.cards.canonical import CanonicalBoards, canonical_boards
from treeplex.holdem.cards.evaluator import evaluate_board
from treeplex.holdem.cards.format import Format
from treeplex.holdem.engine.showdowns.strength import add_powers, double_wins

Codes = NDArray[np.uint16]
FULL = 65535
"""The code that represents 1."""
CHUNK = 512
"""Number of turn boards per part of the roll-out."""
MEAN, SQUARE = 0, 1
"""Rows of the tables: E[HS] and E[HS2]."""

Done = Callable[[int, int], None]
"""Progress callback: (parts done, parts in all)."""


@dataclass(frozen=True, eq=False)
class Strengths:
    """``E[HS]`` (row 0) and ``E[HS2]`` (row 1) of every hand before the river, as codes 0 to 65535 for 0 to 1.

    Attributes:
        format: the cards in play.
        preflop: uint16 [2, H].
        flop, turn: uint16 [2, R, H], rows of canonical boards; 0 for hands that hold a card of the board.
        flops, turns: the canonical boards.
        opponents: number of opposing hands on a complete board, hold'em 990.
    """

    format: Format
    preflop: Codes
    flop: Codes
    turn: Codes
    flops: CanonicalBoards = field(repr=False)
    turns: CanonicalBoards = field(repr=False)

    @property
    def opponents(self) -> int:
        """The number of opposing hands on a complete board."""
        return opponents_of(self.format)


def opponents_of(format: Format) -> int:
    """The number of opposing hands on a complete board; 990 in hold'em."""
    rest = len(format.deck) - 7
    return rest * (rest - 1) // 2


def check_format(format: Format) -> None:
    """Reject formats without hold'em's hands and streets.

    Raises:
        SpecError: the format lacks two hole cards, streets of 0, 3, 1 and 1 cards, or five-card hands.
    """
    if format.hole != 2 or format.deal != (0, 3, 1, 1) or format.ranking != "five":
        raise SpecError(
            f"format {format.name!r}: card abstraction needs two hole cards, streets of 0, 3, 1 and 1 cards and five-card "
            "hands; use holdem, royal or small(ranks=...,suits=...,hole=2,deal=[0,3,1,1])"
        )


def roll_out(format: Format, boards: NDArray[np.uint8]) -> Floats:
    """``E[HS]`` and ``E[HS2]`` on turn boards over all rivers: float64 [2, n, H] for boards [n, 4]; 0 for blocked hands."""
    means = np.zeros((2, len(boards), len(format.hands)))
    river = River(format)
    scale = 1.0 / (2 * opponents_of(format))
    board = np.empty(5, dtype=np.int64)
    for number, turn in enumerate(boards):
        board[:4] = turn
        for card in format.deck:
            if card not in turn:
                board[4] = card
                add_powers(river(board)[1], scale, means[MEAN, number], means[SQUARE, number])
    return means / (len(format.deck) - 6)


def turn_part(format: Format, turns: CanonicalBoards, part: int) -> Codes:
    """One part of the turn table: the canonical boards from ``part * CHUNK`` on, uint16 [2, n, H]."""
    return encoded(roll_out(format, turns.boards[part * CHUNK : (part + 1) * CHUNK]))


def encoded(means: Floats) -> Codes:
    """Encode fractions as 16-bit codes."""
    return np.rint(means * FULL).astype(np.uint16)


def strengths_from_turn(format: Format, turns: CanonicalBoards, turn: Codes) -> Strengths:
    """Complete all tables from the turn table: flop values average over turns, preflop values over flops."""
    check_format(format)
    flops = canonical_boards(format, 3)
    hands, deck = format.hands, np.array(format.deck)
    cards = len(deck)
    flop = np.zeros((2, len(flops.boards), len(hands)))
    for row, board in enumerate(flops.boards):
        following = deck[~np.isin(deck, board)]
        boards = np.column_stack([np.broadcast_to(board, (len(following), 3)), following])
        rows, renamings = turns.find(boards)
        for k in range(len(following)):
            flop[:, row] += turn[:, rows[k], turns.hand_maps[renamings[k]]]
    flop /= (cards - 5) * FULL
    preflop = np.zeros((2, len(hands)))
    for renaming in range(len(flops.hand_maps)):  # every renaming of a canonical board, equally often
        preflop += np.einsum("r,krh->kh", flops.weights / len(flops.hand_maps), flop)[:, flops.hand_maps[renaming]]
    preflop /= (cards - 2) * (cards - 3) * (cards - 4) / 6
    return Strengths(format, encoded(np.round(preflop, 9)), encoded(flop), turn, flops, turns)


def parts(turns: CanonicalBoards) -> int:
    """The number of parts in which the turn table over these boards is computed."""
    return -(-len(turns.boards) // CHUNK)


class River:
    """Computes strengths on complete boards, one at a time; each call overwrites the arrays returned by the last.

    Attributes:
        hands: uint8 [H, 2].
    """

    def __init__(self, format: Format) -> None:
        check_format(format)
        self.hands = format.hands.view()
        self.hands.flags.writeable = False
        size = len(self.hands)
        self._keys, self._codes = np.empty(size, np.int32), np.empty(size, np.uint16)
        self._order, self._spare = np.empty(size, np.int16), np.empty(size, np.int16)

    def __call__(self, board: NDArray[np.int64]) -> tuple[NDArray[np.int32], Codes]:
        """Keys int32 [H], -1 where blocked, and codes uint16 [H]: HS times twice the number of opposing hands."""
        evaluate_board(board, self.hands, self._keys)
        double_wins(self.hands, self._keys, self._order, self._spare, self._codes)
        return self._keys, self._codes
