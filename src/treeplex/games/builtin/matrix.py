"""Matrix games: player 0 picks a row, and player 1 picks a column without seeing the row.

Payoffs come from a matrix of player 0's payoffs (player 1 gets the negative) or from one matrix per player. In a spec:
``matrix(rows=[[1,-1],[-1,1]])``, ``matrix(rows=...,second=...)`` or ``matrix(file=payoffs.csv)``; in Python also
``MatrixGame(array, second)``. Infostates are those of OpenSpiel's turn-based matrix games.

Named games: ``rock_paper_scissors``; ``modified_rps``, where the winner gets 2 from the loser if either chose scissors (Brown
et al., 2020, "Combining deep reinforcement learning and search", figure 1: play rock and paper 0.4, scissors 0.2);
``small_matrix``, that game with two rows of large losses (Xu et al., 2024, "Dynamic discounted counterfactual regret
minimization").
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treeplex.base.spec import shown
from treeplex.base.storage.reading import read_text
from treeplex.errors import FileError, GameError, SpecError
from treeplex.games.base import TERMINAL, CheckedState, Game
from treeplex.games.parameters import GameInfo, canonical_spec, observer
from treeplex.games.public import Decision, OneDeal, Terminal

LARGEST = 1.7e308
"""Largest absolute payoff."""

ROCK_PAPER_SCISSORS = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
MODIFIED_RPS = [[0, -1, 2], [1, 0, -2], [-2, 2, 0]]
LARGE_LOSSES = [[-10000] * 3, [-20000] * 3]
MOST_SHOWN = 200
"""Longest spec, in characters, that is displayed in full."""
HANDS = ("Rock", "Paper", "Scissors")


class MatrixState(CheckedState):
    """The moves made so far: none, the row, or row and column."""

    __slots__ = ("game", "moves")

    def __init__(self, game: "MatrixGame", moves: tuple[int, ...] = ()) -> None:
        self.game = game
        self.moves = moves

    def current_player(self) -> int:
        return len(self.moves) if len(self.moves) < 2 else TERMINAL

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return range(self.game.payoffs.shape[1 + len(self.moves)]) if len(self.moves) < 2 else []

    def after(self, action: int) -> "MatrixState":
        return MatrixState(self.game, (*self.moves, action))

    def returns(self) -> Sequence[float]:
        row, column = self.moves
        return [float(payoff) for payoff in self.game.payoffs[:, row, column]]

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        own_move = f"Observer's action this turn: {self.moves[player]}\n" if player < len(self.moves) < 2 else ""
        ended = "Terminal" if len(self.moves) == 2 else "Non-terminal"
        return f"Current player: {self.current_player()}\n{own_move}Observing player: {player}. {ended}"

    def public_state(self) -> Hashable:
        return len(self.moves)

    def action_to_string(self, action: int) -> str:
        return self.game.names[len(self.moves)][action]


class MatrixGame(Game):
    """A two-player game given by payoff matrices, ``payoffs`` [2, rows, columns] float64.

    ``second`` is player 1's matrix (default: the negative of ``first``). ``names`` are the names of rows and columns (default:
    their numbers). ``spec`` defaults to a spec that spells out the matrices.

    Raises:
        SpecError: matrices that are not rectangular, not finite or not of one shape.
    """

    def __init__(
        self,
        first: ArrayLike,
        second: ArrayLike | None = None,
        *,
        names: tuple[Sequence[str], Sequence[str]] | None = None,
        spec: str | None = None,
    ) -> None:
        rows = checked(first, "rows")
        others = -rows if second is None else checked(second, "second")
        if rows.shape != others.shape:
            raise SpecError(f"matrix: rows has shape {rows.shape} but second has {others.shape}; give both the same shape")
        self.payoffs: NDArray[np.float64] = np.stack([rows, others]) + 0.0  # + 0.0 turns -0.0 into 0.0
        self.names = names or tuple([str(action) for action in range(length)] for length in rows.shape)
        self._parameters: dict[str, object] = {"rows": self.payoffs[0].tolist()}
        if not np.array_equal(self.payoffs[1], -self.payoffs[0]):
            self._parameters["second"] = self.payoffs[1].tolist()
        self.spec = canonical_spec("matrix", self._parameters, {}) if spec is None else spec

    def new_initial_state(self) -> MatrixState:
        return MatrixState(self)

    @cached_property
    def public(self) -> "MatrixPublicTree":
        """The game as a public tree with private actions.

        Raises:
            GameError: the game is not zero-sum.
        """
        return MatrixPublicTree(self)

    def __str__(self) -> str:
        """Return the spec, or only the size if the matrix is large."""
        rows, columns = self.payoffs.shape[1:]
        return self.spec if len(self.spec) <= MOST_SHOWN else f"<matrix game of {rows} by {columns}>"

    def parameters(self) -> Mapping[str, object]:
        return self._parameters


class MatrixPublicTree(OneDeal):
    """A matrix game as a public tree: nodes count the moves made, and moves are private."""

    def __init__(self, game: MatrixGame) -> None:
        super().__init__()
        if np.abs(game.payoffs.sum(axis=0)).max() > 1e-9 * max(1.0, np.abs(game.payoffs).max()):
            raise GameError(f"{game} is not zero-sum; search needs two-player zero-sum games")
        self.game, self.root = game, 0

    def visit(self, node: Hashable) -> Decision | Terminal:
        assert isinstance(node, int)
        if node == 2:
            return Terminal(self.game.payoffs[0], 1.0)
        return Decision(node, range(self.game.payoffs.shape[1 + node]), private=True)

    def child(self, node: Hashable, action: int) -> int:
        assert isinstance(node, int)
        return node + 1

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        """Return the infostate string of the rules; a player's hand is its own move."""
        assert isinstance(node, int)
        moves = tuple(hand if mover == player else 0 for mover in range(node))
        return MatrixState(self.game, moves).information_state_string(player)

    def action_to_string(self, node: Hashable, action: int) -> str:
        assert isinstance(node, int)
        return self.game.names[node][action]


def checked(matrix: ArrayLike, name: str) -> NDArray[np.float64]:
    """Convert a matrix to an array [rows, columns].

    Raises:
        SpecError: the matrix is empty, ragged, or has a non-finite entry; the message names row and column, from 0.
    """
    table = matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
    if not isinstance(table, list | tuple) or not table:
        raise SpecError(f"matrix: {name} must be a list of rows such as {name}=[[1,-1],[-1,1]], not {matrix!r}")
    for i, row in enumerate(table):
        if not isinstance(row, list | tuple) or not row:
            raise SpecError(f"matrix: row {i} of {name} must be a non-empty list, not {row!r}")
        if len(row) != len(table[0]):
            raise SpecError(f"matrix: row {i} of {name} has {len(row)} entries but row 0 has {len(table[0])}; make them equal")
        for j, entry in enumerate(row):
            if isinstance(entry, bool) or not isinstance(entry, int | float) or not abs(entry) <= LARGEST:
                raise SpecError(f"matrix: row {i}, column {j} of {name} must be a finite number, not {entry!r}")
    return np.array(table, dtype=np.float64)


def read_csv(path: str) -> list[list[float]]:
    """Read a CSV file with one row per line; empty lines and lines starting with ``#`` are skipped.

    Raises:
        FileError: the file cannot be read or has no rows, an entry is not a number, or row lengths differ; the message names
            line and column, from 1.
    """
    table: list[list[float]] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        entries = line.split(",") if line.strip() and not line.lstrip().startswith("#") else []
        row: list[float] = []
        for column, entry in enumerate(entries, start=1):
            try:
                row.append(float(entry))
            except ValueError as problem:
                raise FileError(f"{path}, line {number}, column {column}: {shown(entry.strip())} is not a number") from problem
        if table and row and len(row) != len(table[0]):
            raise FileError(
                f"{path}, line {number}: the row has {len(row)} entries but the first row has {len(table[0])}; make them equal"
            )
        if row:
            table.append(row)
    if not table:
        raise FileError(f"{path} has no rows; write one line of comma-separated numbers per row")
    return table


def matrix(
    *, rows: ArrayLike | None = None, second: ArrayLike | None = None, file: str | None = None, second_file: str | None = None
) -> MatrixGame:
    """Return a matrix game: ``rows`` or ``file`` give player 0's payoffs, ``second`` or ``second_file`` player 1's if not
    zero-sum.

    Raises:
        SpecError: a player has no matrix or two, or a matrix is not rectangular and finite.
        FileError: a file cannot be read.
    """
    if (rows is None) == (file is None):
        raise SpecError("matrix needs either rows=[[...],[...]] or file=path.csv")
    if second is not None and second_file is not None:
        raise SpecError("matrix: 'second' and 'second_file' are both given; give only one")
    for name, path in ("file", file), ("second_file", second_file):
        if path is not None and not isinstance(path, str):
            raise SpecError(f"matrix: {name} must be a path, not {path!r}")
    first = read_csv(file) if file is not None else rows
    assert first is not None
    game = MatrixGame(first, second if second_file is None else read_csv(second_file))
    values = dict(game.parameters())
    if file is not None:
        values = {"file": file} | {name: value for name, value in values.items() if name != "rows"}
    if second_file is not None:
        values = {name: value for name, value in values.items() if name != "second"} | {"second_file": second_file}
    game.spec = canonical_spec("matrix", values, {})
    return game


def rock_paper_scissors() -> MatrixGame:
    """Return rock, paper, scissors, where the loser pays 1 to the winner."""
    return MatrixGame(ROCK_PAPER_SCISSORS, names=(HANDS, HANDS), spec="rock_paper_scissors")


def modified_rps() -> MatrixGame:
    """Return rock, paper, scissors, where the loser pays 2 if either player chose scissors, otherwise 1."""
    return MatrixGame(MODIFIED_RPS, names=(HANDS, HANDS), spec="modified_rps")


def small_matrix() -> MatrixGame:
    """Return a zero-sum 5 by 3 game: modified rock, paper, scissors, and two more rows that lose 10000 and 20000."""
    return MatrixGame(MODIFIED_RPS + LARGE_LOSSES, spec="small_matrix")


INFO = GameInfo(
    name="matrix",
    summary="two players choose a row and a column at once",
    source="von Neumann (1928), Zur Theorie der Gesellschaftsspiele",
    build=matrix,
    meanings={
        "rows": "player 0's payoffs, a list of rows: [[1,-1],[-1,1]]",
        "second": "player 1's payoffs (default: the negative of player 0's)",
        "file": "CSV file of player 0's payoffs, instead of rows",
        "second_file": "CSV file of player 1's payoffs, instead of second",
    },
    files=("file", "second_file"),
)
NAMED = (
    GameInfo(
        name="small_matrix",
        summary="a 5 by 3 matrix with two rows of large losses",
        source="Xu et al. (2024), Dynamic discounted counterfactual regret minimization",
        build=small_matrix,
    ),
    GameInfo(
        name="modified_rps",
        summary="rock, paper, scissors with stakes of 2 where scissors are played",
        source="Brown et al. (2020), Combining deep reinforcement learning and search, figure 1",
        build=modified_rps,
    ),
    GameInfo(
        name="rock_paper_scissors",
        summary="rock, paper, scissors",
        source="folklore; OpenSpiel matrix_rps",
        build=rock_paper_scissors,
    ),
)
