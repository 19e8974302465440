"""Battleship: hide ships, then shoot at the other player's.

In turn, player 0 first, the players place their ships (unseen) in the order of ``ship_sizes``, horizontally or vertically and
without overlap, always so that the ships still to come fit. Then they shoot in turn, ``num_shots`` times each, and both learn
whether a shot missed (W), hit (H) or sank (S) a ship. The game ends when all shots are fired or a fleet is sunk.

A player gets the values of the ships they sank minus ``loss_multiplier`` times the values of those they lost (zero-sum if 1).
Shot number ``row * width + column``; a placement adds ``width * height`` (horizontal) or twice that (vertical) to the number of
its top-left cell. Source: Farina, Ling, Fang and Sandholm (2019), "Correlation in extensive-form games: saddle-point
formulation and benchmarks"; rules, numbers and infostates are those of OpenSpiel's ``battleship``.
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from treeplex.errors import SpecError
from treeplex.games.base import TERMINAL, CheckedState, Game
from treeplex.games.parameters import GameInfo, flag, integer, items, observer, real

MOST_CACHED = 1 << 16


class Board(NamedTuple):
    """The board: columns, rows, and the length of each ship."""

    width: int
    height: int
    ship_sizes: tuple[int, ...]


def ship_cells(board: Board, action: int, size: int) -> int:
    """Return the cells of a ship placed by ``action``, as a bit set."""
    kind, corner = divmod(action, board.width * board.height)
    step = 1 if kind == 1 else board.width
    return sum(1 << corner + step * part for part in range(size))


@lru_cache(MOST_CACHED)
def placements(board: Board, ship: int, occupied: int) -> tuple[int, ...]:
    """Return the placements of a ship that leave room for the later ships."""
    size = board.ship_sizes[ship]
    free = [action for action in all_placements(board, size) if not ship_cells(board, action, size) & occupied]
    return tuple(action for action in free if fit(board, ship + 1, occupied | ship_cells(board, action, size)))


def all_placements(board: Board, size: int) -> list[int]:
    """Return all placements on an empty board: horizontal, then vertical (none for a single cell)."""
    width, height = board.width, board.height
    across = [row * width + column for row in range(height) for column in range(width - size + 1)]
    down = [row * width + column for row in range(height - size + 1) for column in range(width)] if size > 1 else []
    return [width * height + corner for corner in across] + [2 * width * height + corner for corner in down]


@lru_cache(MOST_CACHED)
def fit(board: Board, ship: int, occupied: int) -> bool:
    """Return whether there is room for the ships from number ``ship`` on."""
    if ship == len(board.ship_sizes):
        return True
    size = board.ship_sizes[ship]
    if sum(board.ship_sizes[ship:]) > board.width * board.height - occupied.bit_count():
        return False
    taken = (ship_cells(board, action, size) for action in all_placements(board, size))
    return any(not cells & occupied and fit(board, ship + 1, occupied | cells) for cells in taken)


@lru_cache(MOST_CACHED)
def targets(num_cells: int, shots: int) -> tuple[int, ...]:
    """Return the cells that have not been shot at."""
    return tuple(cell for cell in range(num_cells) if not shots >> cell & 1)


class BattleshipState(CheckedState):
    """A history; sets of cells are bit sets.

    ``turn`` counts the moves, ``ships[player]`` are the cells of each ship placed, ``shots[player]`` the cells shot at *by* the
    player, ``logs[player]`` the player's observations (the infostate without the move number).
    """

    __slots__ = ("game", "logs", "player", "ships", "shots", "turn")

    def __init__(
        self,
        game: "Battleship",
        turn: int = 0,
        ships: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()),
        shots: tuple[int, int] = (0, 0),
        logs: tuple[str, str] = ("", ""),
    ) -> None:
        self.game = game
        self.turn = turn
        self.ships = ships
        self.shots = shots
        self.logs = logs
        self.player = turn % 2
        if turn > 2 * len(game.ship_sizes) and (turn == game.last_turn or not sum(ships[turn % 2]) & ~shots[1 - turn % 2]):
            self.player = TERMINAL

    def current_player(self) -> int:
        return self.player

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.player == TERMINAL:
            return []
        placed = self.ships[self.player]
        if len(placed) < len(self.game.ship_sizes):
            return placements(self.game.board, len(placed), sum(placed))
        return targets(self.game.num_cells, 0 if self.game.allow_repeated_shots else self.shots[self.player])

    def after(self, action: int) -> "BattleshipState":
        game, player = self.game, self.player
        placed, (first_log, second_log) = self.ships[player], self.logs
        if len(placed) < len(game.ship_sizes):
            fleet = (*placed, ship_cells(game.board, action, game.ship_sizes[len(placed)]))
            text = "/" + game.labels[action]
            if player:
                return BattleshipState(game, self.turn + 1, (self.ships[0], fleet), self.shots, (first_log, second_log + text))
            return BattleshipState(game, self.turn + 1, (fleet, self.ships[1]), self.shots, (first_log + text, second_log))
        fired = self.shots[player] | 1 << action
        seen, suffered = f"/shot_{game.labels[action]}:W", "/oppshot_" + game.labels[action]
        for ship in self.ships[1 - player]:
            if ship >> action & 1:
                seen = seen[:-1] + ("H" if ship & ~fired else "S")
        if player:
            return BattleshipState(
                game, self.turn + 1, self.ships, (self.shots[0], fired), (first_log + suffered, second_log + seen)
            )
        return BattleshipState(
            game, self.turn + 1, self.ships, (fired, self.shots[1]), (first_log + seen, second_log + suffered)
        )

    def returns(self) -> Sequence[float]:
        lost = [
            sum(value for ship, value in zip(fleet, self.game.ship_values, strict=True) if not ship & ~fired)
            for fleet, fired in zip(self.ships, reversed(self.shots), strict=True)
        ]
        penalty = self.game.loss_multiplier
        return [lost[1] - penalty * lost[0], lost[0] - penalty * lost[1]]

    def information_state_string(self, player: int | None = None) -> str:
        return f"T={self.turn} {self.logs[observer(self, player)]}"

    def public_state(self) -> Hashable:
        if self.turn <= 2 * len(self.game.ship_sizes):
            return self.turn
        return self.turn, *("".join(part for part in log.split("/") if part.startswith("shot")) for log in self.logs)

    def action_to_string(self, action: int) -> str:
        kind, cell = divmod(action, self.game.num_cells)
        where = "({}, {})".format(*divmod(cell, self.game.board.width))
        if not kind:
            return f"Pl{self.player}: shoot at {where}"
        return f"Pl{self.player}: place ship {('horizontally', 'vertically')[kind - 1]} with top-left corner in {where}"


class Battleship(Game):
    """Battleship; see the module for the rules."""

    def __init__(
        self,
        board: Board,
        *,
        ship_values: Sequence[float],
        num_shots: int,
        allow_repeated_shots: bool,
        loss_multiplier: float,
    ) -> None:
        self.board = board
        self.num_cells = board.width * board.height
        self.ship_sizes = board.ship_sizes
        self.ship_values = list(ship_values)
        self.num_shots = num_shots
        self.allow_repeated_shots = allow_repeated_shots
        self.loss_multiplier = loss_multiplier
        self.last_turn = 2 * len(self.ship_sizes) + 2 * num_shots
        corners = ["{}_{}".format(*divmod(cell, board.width)) for cell in range(self.num_cells)]
        self.labels = corners + ["h_" + corner for corner in corners] + ["v_" + corner for corner in corners]
        self.spec = INFO.spec(self.parameters())

    def new_initial_state(self) -> BattleshipState:
        return BattleshipState(self)

    def parameters(self) -> Mapping[str, object]:
        return {
            "board_width": self.board.width,
            "board_height": self.board.height,
            "ship_sizes": list(self.ship_sizes),
            "ship_values": self.ship_values,
            "num_shots": self.num_shots,
            "allow_repeated_shots": self.allow_repeated_shots,
            "loss_multiplier": self.loss_multiplier,
        }


def battleship(
    *,
    board_width: int = 10,
    board_height: int = 10,
    ship_sizes: Sequence[int] = (2, 3, 3, 4, 5),
    ship_values: Sequence[float] = (1.0, 1.0, 1.0, 1.0, 1.0),
    num_shots: int = 50,
    allow_repeated_shots: bool = True,
    loss_multiplier: float = 1.0,
) -> Battleship:
    """Battleship; see the module for the rules. Payoffs are in units of ``ship_values``.

    Raises:
        SpecError: a value outside its range, a number of values other than the number of ships, no room for the ships, or more
            shots than cells if shots cannot be repeated.
    """
    name = "battleship"
    board = Board(
        width=integer(name, "board_width", board_width, 1, 10),
        height=integer(name, "board_height", board_height, 1, 10),
        ship_sizes=tuple(integer(name, "ship_sizes", size, 1) for size in items(name, "ship_sizes", ship_sizes)),
    )
    values = [real(name, "ship_values", value, 0.0) for value in items(name, "ship_values", ship_values)]
    if len(board.ship_sizes) != len(values):
        raise SpecError(
            f"battleship: {len(board.ship_sizes)} ship_sizes but {len(values)} ship_values; give one value per ship"
        )
    if not fit(board, 0, 0):
        raise SpecError(
            f"battleship: ships {list(board.ship_sizes)} do not fit on a {board.width} by {board.height} board; enlarge the "
            "board"
        )
    repeated = flag(name, "allow_repeated_shots", allow_repeated_shots)
    shots = integer(name, "num_shots", num_shots, 1)
    if not repeated and shots > board.width * board.height:
        raise SpecError(
            f"battleship: {shots} shots exceed the number of cells; lower num_shots or set allow_repeated_shots=true"
        )
    return Battleship(
        board,
        ship_values=values,
        num_shots=shots,
        allow_repeated_shots=repeated,
        loss_multiplier=real(name, "loss_multiplier", loss_multiplier),
    )


INFO = GameInfo(
    name="battleship",
    summary="place ships in secret, then shoot at each other's",
    source="Farina, Ling, Fang and Sandholm (2019), Correlation in extensive-form games; OpenSpiel battleship",
    build=battleship,
    meanings={
        "board_width": "columns, 1 to 10",
        "board_height": "rows, 1 to 10",
        "ship_sizes": "length of each ship, in cells",
        "ship_values": "value of each ship",
        "num_shots": "shots per player",
        "allow_repeated_shots": "true: a cell may be shot at twice",
        "loss_multiplier": "weight of a player's own losses; 1 makes the game zero-sum",
    },
    note="The defaults (those of OpenSpiel) are far too large to compile; try "
    "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[1],num_shots=3).",
)
