"""Phantom games: tic-tac-toe and hex in which players do not see the opponent's stones (``phantom_ttt``, ``dark_hex``).

The players take turns to place a stone on a cell that they do not know to be taken. If the opponent's stone is there, they
learn that. In the *classical* version they then try another cell; in the *abrupt* version the turn is over. Cells are numbered
row by row. Actions, information states and payoffs are OpenSpiel's ``phantom_ttt`` and ``dark_hex``, except for the turn
number, which OpenSpiel's dark hex shows in a way that breaks perfect recall.

*Up to symmetry* a player sees the board only up to rotations and reflections that preserve wins: equivalent cells are one
action, and chance picks the actual cell. Equilibria and the value are preserved, with up to eight times fewer infosets.

Boards are bit sets of cells.
"""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.phantom.symmetry import Group, group_of, permuted
from treeplex.errors import SpecError
from treeplex.games.base import CHANCE, TERMINAL, CheckedState, Game
from treeplex.games.parameters import GameInfo, choice, flag, integer, observer

HIDDEN, COUNTED = "reveal-nothing", "reveal-numturns"
MOST_CELLS = 16
MARKS = "xo"


class PhantomGame(Game):
    """A board game in which players do not see the opponent's stones.

    Attributes:
        rows, columns: size of the board.
        abrupt: whether a failed try ends the turn.
        observation: :data:`HIDDEN`, or :data:`COUNTED` if players observe who acted in every turn.
        symmetric: whether boards are seen up to symmetry.
    """

    def __init__(self, rows: int, columns: int, *, abrupt: bool, observation: str, symmetric: bool) -> None:
        if rows * columns > MOST_CELLS:
            raise SpecError(
                f"{self.info.name}: a board of {rows} by {columns} has more than {MOST_CELLS} cells; choose a smaller board"
            )
        self.rows, self.columns, self.abrupt, self.observation, self.symmetric = rows, columns, abrupt, observation, symmetric
        self.spec = self.info.spec(self.parameters())

    @property
    @abstractmethod
    def info(self) -> GameInfo:
        """The game's description in the registry of built-in games."""

    @abstractmethod
    def wins(self, player: int, board: int) -> bool:
        """Return whether a player with stones on these cells has won."""

    @abstractmethod
    def name_of_cell(self, player: int, cell: int) -> str:
        """Return the name of an action."""

    @property
    def cells(self) -> int:
        """The number of cells, n."""
        return self.rows * self.columns

    @property
    def num_distinct_actions(self) -> int:
        """The number of cells."""
        return self.cells

    @cached_property
    def won(self) -> NDArray[np.bool_]:
        """Whether each player wins with each set of stones, bool [2, 2**n]."""
        return np.array([[self.wins(player, board) for board in range(1 << self.cells)] for player in (0, 1)])

    @cached_property
    def turns(self) -> NDArray[np.int64]:
        """Rotations and reflections that preserve wins, as images of cells, int64 [g, n]; identity first."""
        board = np.arange(self.cells).reshape(self.rows, self.columns)
        turned = [np.rot90(grid, turns) for grid in (board, board.T) for turns in range(4)]
        images = {tuple(grid.ravel().tolist()): None for grid in turned if grid.shape == board.shape}
        return np.array([image for image in images if (self.won[:, permuted(image)] == self.won).all()])

    @cached_property
    def group(self) -> Group:
        """The symmetry group of the players' view; contains only the identity unless ``symmetric`` is set."""
        return group_of(self.turns if self.symmetric else self.turns[:1])

    @property
    def counted(self) -> bool:
        """Whether players observe who acted at every turn."""
        return self.observation == COUNTED

    def numba_rules(self) -> object | None:
        from treeplex.games.integers.phantom import MOST_CELLS as MOST

        return None if self.symmetric or self.cells > MOST else self._functions

    @cached_property
    def _functions(self) -> object:
        from treeplex.games.integers.phantom import phantom_rules

        return phantom_rules(self)

    def new_initial_state(self) -> "PhantomState":
        if not self.symmetric:
            return PhantomState(self)
        everything = (1 << len(self.group.images)) - 1
        return SymmetricState(self, ((0, everything), (0, everything)))

    def lines_of(self, marks: Sequence[str]) -> str:
        """Format a board as several lines of text."""
        width = self.columns
        return "".join("".join(marks[row * width : (row + 1) * width]) + "\n" for row in range(self.rows))


class PhantomState(CheckedState):
    """A history: all tries in order, the stones, and the opponent's stones known to each player."""

    __slots__ = ("game", "over", "seen", "stones", "tried", "turn")

    def __init__(
        self,
        game: PhantomGame,
        tried: tuple[tuple[int, int], ...] = (),
        stones: tuple[int, int] = (0, 0),
        seen: tuple[int, int] = (0, 0),
        turn: int = 0,
        over: bool = False,
    ) -> None:
        self.game, self.tried, self.stones, self.seen, self.turn, self.over = game, tried, stones, seen, turn, over

    def current_player(self) -> int:
        return TERMINAL if self.over else self.turn

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.over:
            return []
        known = self.stones[self.turn] | self.seen[self.turn]
        return [cell for cell in range(self.game.cells) if not known >> cell & 1]

    def after(self, action: int) -> "PhantomState":
        game, player = self.game, self.turn
        tried = (*self.tried, (player, action))
        if self.stones[1 - player] >> action & 1:
            seen = changed(self.seen, player, self.seen[player] | 1 << action)
            return PhantomState(game, tried, self.stones, seen, 1 - player if game.abrupt else player)
        stones = changed(self.stones, player, self.stones[player] | 1 << action)
        over = bool(game.won[player, stones[player]]) or stones[0] | stones[1] == (1 << game.cells) - 1
        return PhantomState(game, tried, stones, self.seen, 1 - player, over)

    def returns(self) -> Sequence[float]:
        last = self.tried[-1][0] if self.tried else 0
        if not self.over or not self.game.won[last, self.stones[last]]:
            return [0.0, 0.0]
        return [1.0, -1.0] if last == 0 else [-1.0, 1.0]

    def information_state_string(self, player: int | None = None) -> str:
        observing = observer(self, player)
        board = self.game.lines_of(self.marks(observing))
        if self.game.observation == HIDDEN:
            return board + "".join(
                f"{observing},{self.seen_as(observing, cell)} " for mover, cell in self.tried if mover == observing
            )
        turns = "".join(
            f"{mover},{self.seen_as(observing, cell) if mover == observing else '?'} " for mover, cell in self.tried
        )
        return f"{board}{len(self.tried)}\n{turns}"

    def information_state_tensor(self, player: int | None = None) -> Sequence[float]:
        """Return own stones, known opposing stones, own tries in order, and who acted at every turn if that is observed.

        With n cells these are n + n + n * n zeros and ones, and 4 n more if turns are observed.
        """
        observing, cells = observer(self, player), self.game.cells
        row = [0.0] * (2 * cells + cells * cells)
        stones, offset = self.stones[observing], 2 * cells
        for mover, cell in self.tried:
            if mover == observing:
                seen = self.seen_as(observing, cell)
                row[seen if stones >> cell & 1 else cells + seen] = row[offset + seen] = 1.0
                offset += cells
        if self.game.observation == COUNTED:
            turns = [0.0] * (4 * cells)
            for number, (mover, _) in enumerate(self.tried):
                turns[2 * number + (mover != observing)] = 1.0
            row += turns
        return row

    def public_state(self) -> Hashable:
        """Return who acted at every turn if that is observed, otherwise a constant."""
        return tuple(mover for mover, _ in self.tried) if self.game.observation == COUNTED else ()

    def marks(self, player: int | None) -> list[str]:
        """Return the mark of each cell that a player knows; all marks if ``player`` is None."""
        boards = self.stones
        if player is not None:
            boards = (self.stones[0], self.seen[0]) if player == 0 else (self.seen[1], self.stones[1])
        marks = ["."] * self.game.cells
        for mark, board in zip(MARKS, boards, strict=True):
            for cell in range(self.game.cells):
                if board >> cell & 1:
                    marks[cell if player is None else self.seen_as(player, cell)] = mark
        return marks

    def seen_as(self, player: int, cell: int) -> int:
        """Return the cell's position in a player's view."""
        return cell

    def knowledge(self, player: int) -> str:
        seen = [self.seen_as(player, cell) for mover, cell in self.tried if mover == player]
        tried = " ".join(self.game.name_of_cell(player, cell) for cell in seen)
        return f"{self.game.lines_of(self.marks(player))}tried {tried or 'nothing yet'}"

    def action_to_string(self, action: int) -> str:
        return self.game.name_of_cell(self.turn, action)


def changed(pair: tuple[int, int], player: int, board: int) -> tuple[int, int]:
    """Return the pair of boards with one player's board replaced."""
    return (board, pair[1]) if player == 0 else (pair[0], board)


class SymmetricState(PhantomState):
    """A history up to symmetry.

    Attributes:
        frames: for each player the group element that maps its view to the board, and the elements that fix its tries.
        choosing: the viewed cell for which chance picks the actual cell next; -1 otherwise.
    """

    __slots__ = ("choosing", "frames")

    def __init__(
        self, game: PhantomGame, frames: tuple[tuple[int, int], tuple[int, int]], choosing: int = -1, **history: Any
    ) -> None:
        super().__init__(game, **history)
        self.frames, self.choosing = frames, choosing

    def current_player(self) -> int:
        return CHANCE if self.choosing >= 0 else super().current_player()

    def seen_as(self, player: int, cell: int) -> int:
        """Return the cell's position in a player's view."""
        group = self.game.group
        return int(group.images[group.inverse[self.frames[player][0]], cell])

    def cells_of(self, cell: int) -> list[int]:
        """Return the cells equivalent to a cell in the view of the player to act."""
        group, (element, fixing) = self.game.group, self.frames[self.turn]
        return sorted({int(group.images[element, seen]) for seen in np.flatnonzero(group.least[fixing] == cell)})

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.choosing >= 0:
            return self.cells_of(self.choosing)
        seen = {self.seen_as(self.turn, cell) for cell in super().legal_actions(player)}
        return [cell for cell in sorted(seen) if self.game.group.least[self.frames[self.turn][1], cell] == cell]

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        cells = self.cells_of(self.choosing)
        return [(cell, 1 / len(cells)) for cell in cells]

    def after(self, action: int) -> "SymmetricState":
        history = {name: getattr(self, name) for name in PhantomState.__slots__ if name != "game"}
        if self.choosing < 0:
            cells = self.cells_of(action)
            if len(cells) > 1:
                return SymmetricState(self.game, self.frames, action, **history)
            action = cells[0]
        group, (element, fixing) = self.game.group, self.frames[self.turn]
        seen = self.seen_as(self.turn, action)
        turned = int(group.compose[element, group.inverse[group.toward[fixing, seen]]])
        frame = (turned, int(fixing & group.fixing[group.least[fixing, seen]]))
        frames = (frame, self.frames[1]) if self.turn == 0 else (self.frames[0], frame)
        after = super().after(action)
        history = {name: getattr(after, name) for name in history}
        return SymmetricState(self.game, frames, **history)


class PhantomTicTacToe(PhantomGame):
    """Phantom tic-tac-toe: ``line`` stones in a line win 1, and a full board is a draw."""

    def __init__(self, rows: int, columns: int, line: int, *, abrupt: bool, observation: str, symmetric: bool) -> None:
        self.line = line
        super().__init__(rows, columns, abrupt=abrupt, observation=observation, symmetric=symmetric)

    @property
    def info(self) -> GameInfo:
        return PHANTOM_TTT

    def parameters(self) -> Mapping[str, object]:
        return {
            "gameversion": "abrupt" if self.abrupt else "classical",
            "obstype": self.observation,
            "rows": self.rows,
            "columns": self.columns,
            "line": self.line,
            "symmetric": self.symmetric,
        }

    @cached_property
    def lines(self) -> list[int]:
        """The winning lines."""
        lines = []
        for row in range(self.rows):
            for column in range(self.columns):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    line = [(row + k * down, column + k * right) for k in range(self.line)]
                    if all(0 <= r < self.rows and 0 <= c < self.columns for r, c in line):
                        lines.append(sum({1 << (r * self.columns + c) for r, c in line}))
        return lines

    def wins(self, player: int, board: int) -> bool:
        return any(board & line == line for line in self.lines)

    def name_of_cell(self, player: int, cell: int) -> str:
        return f"{MARKS[player]}({cell // self.columns},{cell % self.columns})"


class DarkHex(PhantomGame):
    """Dark hex: player 0 connects the first row with the last, player 1 the first column with the last; the winner gets 1."""

    @property
    def info(self) -> GameInfo:
        return DARK_HEX

    def parameters(self) -> Mapping[str, object]:
        return {
            "board_size": self.rows if self.rows == self.columns else 3,
            "gameversion": "adh" if self.abrupt else "cdh",
            "obstype": self.observation,
            "symmetric": self.symmetric,
            "num_rows": self.rows if self.rows != self.columns else None,
            "num_cols": self.columns if self.rows != self.columns else None,
        }

    def wins(self, player: int, board: int) -> bool:
        ends = [self.edge(player, cell) for cell in range(self.cells)]
        reached = {cell for cell in range(self.cells) if board >> cell & 1 and ends[cell][0]}
        stack = list(reached)
        while stack:
            cell = stack.pop()
            if ends[cell][1]:
                return True
            for near in self.neighbours(cell):
                if board >> near & 1 and near not in reached:
                    reached.add(near)
                    stack.append(near)
        return False

    def edge(self, player: int, cell: int) -> tuple[bool, bool]:
        """Return whether a cell lies on a player's first edge, and on the last."""
        line, last = (cell // self.columns, self.rows - 1) if player == 0 else (cell % self.columns, self.columns - 1)
        return line == 0, line == last

    def neighbours(self, cell: int) -> list[int]:
        """Return the adjacent cells; each row is shifted right by half a cell."""
        row, column = divmod(cell, self.columns)
        near = (
            (row, column - 1),
            (row, column + 1),
            (row - 1, column),
            (row - 1, column + 1),
            (row + 1, column - 1),
            (row + 1, column),
        )
        return [r * self.columns + c for r, c in near if 0 <= r < self.rows and 0 <= c < self.columns]

    def name_of_cell(self, player: int, cell: int) -> str:
        return f"{chr(ord('a') + cell % self.columns)}{cell // self.columns + 1}"


def phantom_ttt(
    *,
    gameversion: str = "classical",
    obstype: str = HIDDEN,
    rows: int = 3,
    columns: int = 3,
    line: int = 3,
    symmetric: bool = False,
) -> PhantomTicTacToe:
    """Phantom tic-tac-toe; see the module for the rules.

    Raises:
        SpecError: a value outside its range.
    """
    name = "phantom_ttt"
    return PhantomTicTacToe(
        integer(name, "rows", rows, 1),
        integer(name, "columns", columns, 1),
        integer(name, "line", line, 1),
        abrupt=choice(name, "gameversion", gameversion, ("classical", "abrupt")) == "abrupt",
        observation=choice(name, "obstype", obstype, (HIDDEN, COUNTED)),
        symmetric=flag(name, "symmetric", symmetric),
    )


def dark_hex(
    *,
    board_size: int = 3,
    gameversion: str = "cdh",
    obstype: str = HIDDEN,
    symmetric: bool = False,
    num_rows: int | None = None,
    num_cols: int | None = None,
) -> DarkHex:
    """Dark hex; see the module for the rules.

    Raises:
        SpecError: a value outside its range.
    """
    name = "dark_hex"
    size = integer(name, "board_size", board_size, 1)
    return DarkHex(
        size if num_rows is None else integer(name, "num_rows", num_rows, 1),
        size if num_cols is None else integer(name, "num_cols", num_cols, 1),
        abrupt=choice(name, "gameversion", gameversion, ("cdh", "adh")) == "adh",
        observation=choice(name, "obstype", obstype, (HIDDEN, COUNTED)),
        symmetric=flag(name, "symmetric", symmetric),
    )


OBSTYPE = f"{HIDDEN}, or {COUNTED}: everybody observes whose turn it is"
SYMMETRIC = "true: solve up to rotations and reflections of the board"
PHANTOM_TTT = GameInfo(
    name="phantom_ttt",
    summary="tic-tac-toe with hidden opposing stones",
    source="OpenSpiel phantom_ttt",
    build=phantom_ttt,
    meanings={
        "gameversion": "classical: try again if the cell was taken; abrupt: the turn is over",
        "obstype": OBSTYPE,
        "rows": "rows of the board",
        "columns": "columns of the board",
        "line": "stones in a line needed to win",
        "symmetric": SYMMETRIC,
    },
    note="compiling takes half a minute and 2 GB",
)
DARK_HEX = GameInfo(
    name="dark_hex",
    summary="hex with hidden opposing stones",
    source="OpenSpiel dark_hex",
    build=dark_hex,
    meanings={
        "board_size": "rows and columns of the board",
        "gameversion": "cdh (classical): try again if the cell was taken; adh (abrupt): the turn is over",
        "obstype": OBSTYPE,
        "symmetric": SYMMETRIC,
        "num_rows": "rows, if different from board_size",
        "num_cols": "columns, if different from board_size",
    },
    note="compiling takes half a minute and 2 GB",
)
