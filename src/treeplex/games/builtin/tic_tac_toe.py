"""Tic-tac-toe: players mark cells of a 3 by 3 board in turn; three in a line win 1, and a full board is a draw (0).

A game of perfect information, useful as a test case. Cells are numbered row by row.
Rules and names as in OpenSpiel's ``tic_tac_toe``.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.games.base import TERMINAL, CheckedState, Game
from treeplex.games.parameters import GameInfo

CELLS = range(9)
LINES = [sum(1 << cell for cell in line) for line in (range(3), range(3, 6), range(6, 9))]
LINES += [sum(1 << cell for cell in line) for line in (range(0, 9, 3), range(1, 9, 3), range(2, 9, 3))]
LINES += [sum(1 << cell for cell in line) for line in ((0, 4, 8), (2, 4, 6))]


class TicTacToeState(CheckedState):
    """The cells taken, in order; crosses and noughts as bit sets of cells."""

    __slots__ = ("boards", "moves")

    def __init__(self, moves: tuple[int, ...] = (), boards: tuple[int, int] = (0, 0)) -> None:
        self.moves = moves
        self.boards = boards

    def won(self) -> bool:
        """Return whether the player who moved last has three in a line."""
        board = self.boards[(len(self.moves) - 1) % 2]
        return any(board & line == line for line in LINES)

    def current_player(self) -> int:
        return TERMINAL if len(self.moves) == 9 or self.won() else len(self.moves) % 2

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.current_player() == TERMINAL:
            return []
        taken = self.boards[0] | self.boards[1]
        return [cell for cell in CELLS if not taken >> cell & 1]

    def after(self, action: int) -> "TicTacToeState":
        crosses, noughts = self.boards
        boards = (crosses, noughts | 1 << action) if len(self.moves) % 2 else (crosses | 1 << action, noughts)
        return TicTacToeState((*self.moves, action), boards)

    def returns(self) -> Sequence[float]:
        if not self.won():
            return [0.0, 0.0]
        return [1.0, -1.0] if len(self.moves) % 2 else [-1.0, 1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return ", ".join(map(str, self.moves))

    def public_state(self) -> Hashable:
        return self.moves

    def future(self) -> Hashable:
        """Return the board and the player to act."""
        return self.boards, len(self.moves) % 2

    def features(self) -> NDArray[np.float64]:
        """Return 1 for cells of the player to act, then for the opponent's, float64 [18]."""
        mover, other = self.boards[len(self.moves) % 2], self.boards[1 - len(self.moves) % 2]
        return np.array([board >> cell & 1 for board in (mover, other) for cell in CELLS], np.float64)

    def picture(self) -> str:
        marks = ["x" if self.boards[0] >> cell & 1 else "o" if self.boards[1] >> cell & 1 else "." for cell in CELLS]
        return "\n".join(" ".join(marks[row : row + 3]) for row in (0, 3, 6))

    def action_to_string(self, action: int) -> str:
        return f"{'xo'[len(self.moves) % 2]}({action // 3},{action % 3})"


class TicTacToe(Game):
    """Tic-tac-toe; see the module for the rules."""

    spec = "tic_tac_toe"

    def new_initial_state(self) -> TicTacToeState:
        return TicTacToeState()


def tic_tac_toe() -> TicTacToe:
    """Return tic-tac-toe: a win pays 1, a loss -1, a draw 0."""
    return TicTacToe()


INFO = GameInfo(
    name="tic_tac_toe",
    summary="three in a line on a 3 by 3 board, with perfect information",
    source="OpenSpiel tic_tac_toe",
    build=tic_tac_toe,
)
