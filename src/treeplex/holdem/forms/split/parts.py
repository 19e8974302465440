"""A compiled spot in parts: the trunk (its first street), and groups of second-street boards with everything below.

A part is a public tree: the trunk's board, whose betting is not in the part, and some boards below it. Its input is reach at
the trunk's ends and its output is values there; parts do not depend on each other.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from treeplex.base.arrays import Ints
from treeplex.errors import AlgorithmError
from treeplex.holdem.engine.form import ACTIONS, BOARDS, COPIES, COUNT, HANDS, SCALES, STORE, HoldemForm
from treeplex.holdem.engine.node import TILE
from treeplex.holdem.engine.workspace import Extent, extent_of
from treeplex.holdem.forms.boards import Board
from treeplex.holdem.forms.compile_spot import CompiledSpot, Layout

PARTS = 64
LEAST_NUMBERS, MOST_NUMBERS = 50_000, 2_000_000
"""Limits of a part's size; within them, a part has about 1/64 of the stored numbers if board sizes allow it."""


@dataclass(frozen=True)
class SpotPart:
    """Several second-street boards and everything below them.

    Each player's numbers are contiguous, so that they can be stored separately; player 0's come first.

    Attributes:
        number: index of the part.
        form: the trunk's board and these boards; for the trunk itself, the second street's first board represents all.
        boards: int64 [B - 1], indices of these boards in the whole spot's form.
    """

    number: int
    form: HoldemForm
    boards: Ints

    @cached_property
    def stored(self) -> tuple[slice, slice]:
        """The slice of each player's numbers in a stored array of the part."""
        return self._slices(STORE, 1)

    @cached_property
    def scales(self) -> tuple[slice, slice]:
        """The slice of each player's scales of 16-bit numbers."""
        return self._slices(SCALES, TILE)

    def _slices(self, column: int, hands: int) -> tuple[slice, slice]:
        middle = int(self.form.boards[1, column + 1])
        last = self.form.boards[-1]
        end = int(last[column + 1] + self.form.streets[-1, ACTIONS + 1] * -(-last[COUNT + 1] // hands))
        return slice(0, middle), slice(middle, end)

    def pieces(self, whole: HoldemForm, player: int, column: int) -> list[tuple[slice, slice]]:
        """For each board, the slices of a player's numbers (``STORE``) or scales (``SCALES``) in the part and in the whole
        spot.
        """
        slices, street = [], 1
        for here, there in enumerate(self.boards, start=1):
            while street + 1 < len(self.form.streets) and here >= self.form.streets[street + 1, BOARDS]:
                street += 1
            count = int(self.form.boards[here, COUNT + player])
            size = int(self.form.streets[street, ACTIONS + player]) * (count if column == STORE else -(-count // TILE))
            here_start, other = int(self.form.boards[here, column + player]), int(whole.boards[there, column + player])
            slices.append((slice(here_start, here_start + size), slice(other, other + size)))
        return slices


def split_spot(game: CompiledSpot) -> tuple[SpotPart, list[SpotPart]]:
    """The trunk and the parts of a spot; they depend on the spot alone.

    Raises:
        AlgorithmError: the spot has only one street.
    """
    if len(game.boards) == 1:
        raise AlgorithmError(
            f"{game} deals no cards after its first street and cannot be solved in parts; use storage float32 or int16, "
            "without workers"
        )
    most = int(np.clip(game.stored // PARTS, LEAST_NUMBERS, MOST_NUMBERS))
    numbers = numbers_below(game)
    cuts, held = [0], 0
    for board, count in enumerate(numbers):
        if held and held + count > most:
            cuts.append(board)
            held = 0
        held += count
    cuts.append(len(numbers))
    parts = [part_of(game, k, low, high) for k, (low, high) in enumerate(pairwise(cuts))]
    return part_of(game, -1, 0, 1, streets=2), parts


def numbers_below(game: CompiledSpot) -> list[int]:
    """For each second-street board, the number of values stored for it and everything below it."""
    counts = [0] * len(game.boards[-1])
    for street in range(len(game.boards) - 1, 0, -1):
        actions = game.forests[street].actions
        own_counts = [sum(actions[p] * len(board.hands[p]) for p in (0, 1)) for board in game.boards[street]]
        below = counts if street + 1 < len(game.boards) else None
        counts = [
            count + (sum(below[board.children.start : board.children.stop]) if below else 0)
            for count, board in zip(own_counts, game.boards[street], strict=True)
        ]
    return counts


def part_of(game: CompiledSpot, number: int, low: int, high: int, *, streets: int | None = None) -> SpotPart:
    """The part with second-street boards ``low..high-1``, and the first ``streets`` streets."""
    count = len(game.boards) if streets is None else streets
    part_boards: list[list[Board]] = [[replace(game.boards[0][0], children=range(high - low))]]
    chosen, above = [range(1)], 0
    for street in range(1, count):
        boards = game.boards[street][low:high]
        first, last = boards[0].children.start, boards[-1].children.stop
        part_boards.append(
            [
                replace(
                    board,
                    parent=board.parent - above,
                    children=range(board.children.start - first, board.children.stop - first),
                )
                for board in boards
            ]
        )
        chosen.append(range(low, high))
        above, low, high = low, first, last
    layout, form, starts = Layout(game.forests[:count], part_boards), game.form, game.first_boards
    picked = [(starts[street] + piece.start, starts[street] + piece.stop) for street, piece in enumerate(chosen)]
    hands = joined_slices(form.boards[:, HANDS], picked, len(form.source))
    copies = joined_slices(form.boards[:, COPIES], picked, len(form.copies))
    targets = [
        slice(int(form.copies[k, 0]), int(target_end(form, k))) for piece in copies for k in range(piece.start, piece.stop)
    ]
    table = players_apart(layout.boards, layout.streets) if streets is None else layout.boards
    part_form = form._replace(
        streets=layout.streets,
        factors=np.concatenate([form.factors[low:high] for low, high in picked]),
        boards=table,
        copies=layout.copies,
        targets=np.concatenate([form.targets[piece] for piece in targets]),
        **{
            name: np.concatenate([getattr(form, name)[piece] for piece in hands])
            for name in ("source", "order", "cards", "twin", "mirror")
        },
    )
    return SpotPart(number, part_form, np.concatenate([np.arange(*piece) for piece in picked[1:]]))


def joined_slices(starts: Ints, picked: list[tuple[int, int]], end: int) -> list[slice]:
    """The slices for ranges of boards whose entries begin at ``starts``."""
    return [slice(int(starts[low]), int(starts[high]) if high < len(starts) else end) for low, high in picked]


def target_end(form: HoldemForm, copy: int) -> int:
    """The end of the slice of targets for a copy of a board."""
    return int(form.copies[copy + 1, 0]) if copy + 1 < len(form.copies) else len(form.targets)


def players_apart(boards: Ints, streets: Ints) -> Ints:
    """The table of boards, rearranged: player 0's numbers and scales before player 1's, and none for the trunk."""
    table = boards.copy()
    street_of = np.searchsorted(streets[:, BOARDS], np.arange(len(boards)), side="right") - 1
    stored = scales = 0
    for player in (0, 1):
        actions = streets[street_of, ACTIONS + player]
        for column, sizes in ((STORE, boards[:, COUNT + player]), (SCALES, -(-boards[:, COUNT + player] // TILE))):
            taken = actions * sizes
            taken[0] = 0
            first = stored if column == STORE else scales
            table[:, column + player] = first + np.concatenate(([0], np.cumsum(taken)[:-1]))
            if column == STORE:
                stored += int(taken.sum())
            else:
                scales += int(taken.sum())
    return table


def greatest_extent(parts: list[SpotPart]) -> Extent:
    """The sizes of scratch space that suffice for every part."""
    extents = [extent_of(part.form) for part in parts]
    hands, returned, reach_size = (max(getattr(extent, name) for extent in extents) for name in ("hands", "returned", "kept"))
    return extents[0]._replace(hands=hands, returned=returned, kept=reach_size)
