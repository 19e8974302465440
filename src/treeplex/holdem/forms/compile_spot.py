"""Compiler for poker spots: converts betting forests, boards and hands to arrays for the hold'em engine."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.holdem.betting.tree import BettingTree, betting_tree
from treeplex.holdem.engine.form import (
    ACTIONS,
    BOARDS,
    CHILDREN,
    COPIES,
    COUNT,
    HANDS,
    INFOSETS,
    PARENT,
    REACH,
    RETURN,
    SCALES,
    STORE,
    HoldemForm,
)
from treeplex.holdem.engine.node import TILE
from treeplex.holdem.engine.workspace import extent_of
from treeplex.holdem.forms.betting_forest import Forest, forests_of
from treeplex.holdem.forms.boards import Board, boards_of, card_rows, deal_chance, mirror_of, twins_of
from treeplex.holdem.forms.spot_size import SpotSize, check_boards
from treeplex.holdem.forms.suit_symmetry import Hands
from treeplex.holdem.spots.files import load_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import SPOTS

MOST_HANDS = 32_767


@dataclass(frozen=True, eq=False)
class CompiledSpot:
    """A compiled spot.

    Attributes:
        spot: the spot.
        betting: its betting tree.
        forests: the betting of each street.
        boards: the boards of each street.
        form: the engine's arrays.
        compatible: sum of the products of range weights over pairs of hands that share no card.
        raked: whether a showdown pays the winner less than it costs the loser.
        isomorphism: whether isomorphic boards are solved once where the ranges allow it.
    """

    spot: Spot
    betting: BettingTree
    forests: list[Forest]
    boards: list[list[Board]]
    form: HoldemForm
    compatible: float
    raked: bool
    isomorphism: bool
    players = 2
    solvable = SPOTS

    @property
    def spec(self) -> str:
        """The board, the pot and the stacks as text."""
        return str(self.spot)

    @property
    def zero_sum(self) -> bool:
        """Whether payoffs sum to zero, which requires a game without rake."""
        return not self.raked

    def __str__(self) -> str:
        return self.spec

    @property
    def cut_short(self) -> bool:
        """Whether only the first street was compiled; see :mod:`treeplex.holdem.forms.first_street`."""
        return len(self.boards) > 1 and self.boards[1][0].cards == self.boards[0][0].cards

    @property
    def stored(self) -> int:
        """The size of a stored array: actions times hands, over all decisions of both players."""
        last = self.form.boards[-1]
        return int(last[STORE + 1] + last[COUNT + 1] * self.form.streets[-1, ACTIONS + 1])

    @cached_property
    def infosets(self) -> int:
        """The number of stored infosets of both players; isomorphic ones count once."""
        last = self.form.boards[-1]
        return int(last[INFOSETS + 1] + last[COUNT + 1] * len(self.forests[-1].nodes[1]))

    @property
    def scales(self) -> int:
        """The number of scales that a stored array of 16-bit numbers needs."""
        last = self.form.boards[-1]
        return int(last[SCALES + 1] + self.form.streets[-1, ACTIONS + 1] * -(-last[COUNT + 1] // TILE))

    @property
    def decisions(self) -> int:
        """The number of public decision nodes over all stored boards."""
        return sum(len(boards) * sum(map(len, forest.nodes)) for boards, forest in zip(self.boards, self.forests, strict=True))

    @cached_property
    def size(self) -> SpotSize:
        """The size of the compiled spot."""
        return SpotSize(
            nodes=len(self.betting),
            boards=tuple(map(len, self.boards)),
            decisions=self.decisions,
            stored=self.stored,
            infosets=self.infosets,
            scales=self.scales,
            extent=extent_of(self.form),
            form_bytes=sum(array.nbytes for array in self.form),
        )

    @property
    def first_boards(self) -> list[int]:
        """The index of each street's first board in ``form.boards``."""
        return [int(first) for first in self.form.streets[:, BOARDS]]


def compile_spot(
    spot: Spot | str | os.PathLike[str], *, isomorphism: bool = True, betting: BettingTree | None = None, root: int = 0
) -> CompiledSpot:
    """Compile a spot for the hold'em engine.

    Args:
        spot: the spot, or the name or file of one.
        isomorphism: whether isomorphic boards are solved once where the ranges allow it.
        betting: its betting tree; None to build it.
        root: the betting-tree node to start from, on the street of the spot's board.

    Raises:
        GameError: no pair of hands is possible, or a range has too many hands for the integer type of the arrays.
        SpecError: the betting tree or the number of boards is too large; checked before anything is built.
    """
    spot = spot if isinstance(spot, Spot) else load_spot(spot)
    if spot.runouts and not isomorphism:
        raise GameError("a spot with a subset of boards needs suit isomorphism; use isomorphism=True")
    check_boards(spot, isomorphism=isomorphism)
    betting = betting_tree(spot) if betting is None else betting
    forests = forests_of(betting, spot.rake, root)
    boards = boards_of(spot, isomorphism=isomorphism)
    hands = Hands(spot)
    first = boards[0][0]
    if max(map(len, first.hands)) > MOST_HANDS:
        raise GameError(f"the format {spot.format.name} has more than {MOST_HANDS:,} hands; use a smaller deck")
    compatible = pair_weight(spot, hands, first)
    if not compatible > 0:
        raise GameError("no hands in these ranges are compatible on this board; widen a range or change the board")
    raked = any(win != -lose for forest in forests for win, lose, _ in forest.showdown_values)
    form = arrays_of(spot, forests, boards, hands)
    return CompiledSpot(spot, betting, forests, boards, form, compatible, raked, isomorphism)


def pair_weight(spot: Spot, hands: Hands, root: Board) -> float:
    """The sum of products of range weights over pairs of hands that share no card."""
    by_card = np.zeros((2, 52))
    weights = [spot.ranges[player][root.hands[player]] for player in (0, 1)]
    for player in (0, 1):
        for column in range(hands.cards.shape[1]):
            np.add.at(by_card[player], hands.cards[root.hands[player], column], weights[player])
    total = weights[0].sum() * weights[1].sum() - (by_card[0] * by_card[1]).sum()
    if hands.cards.shape[1] == 2:
        total += (spot.ranges[0] * spot.ranges[1]).sum()
    return float(total)


def arrays_of(spot: Spot, forests: list[Forest], boards: list[list[Board]], hands: Hands) -> HoldemForm:
    """All arrays of a form."""
    layout = Layout(forests, boards)
    flat = [board for street in boards for board in street]
    lists = [(board, player) for board in flat for player in (0, 1)]
    return HoldemForm(
        streets=layout.streets,
        factors=np.array([deal_chance(spot, board.street) * board.share for board in flat]),
        nodes=stacked_rows([row for forest in forests for player in (0, 1) for row in forest.nodes[player]], 3),
        folds=stacked_rows([row for forest in forests for row in forest.folds], 2),
        fold_values=stacked_rows([row for forest in forests for row in forest.fold_values], 2, float),
        showdowns=stacked_rows([row for forest in forests for row in forest.showdowns], 2),
        showdown_values=stacked_rows([row for forest in forests for row in forest.showdown_values], 3, float),
        ends=stacked_rows([row for forest in forests for row in forest.ends], 2),
        boards=layout.boards,
        source=joined([board.source[player] for board, player in lists], np.int16),
        order=joined([board.order[player] for board, player in lists], np.int16),
        cards=np.ascontiguousarray(np.concatenate([card_rows(hands, board.hands[player]) for board, player in lists])),
        twin=joined([twins_of(board, player, spot.format.hole) for board, player in lists], np.int16),
        mirror=joined([mirror_of(board, player, hands) for board, player in lists], np.int16),
        copies=layout.copies,
        targets=joined([row for board in flat for pair in board.targets for row in pair], np.int16),
        weights=np.concatenate([spot.ranges[player][boards[0][0].hands[player]] for player in (0, 1)]),
    )


def stacked_rows(rows: Sequence[Sequence[float]], width: int, kind: type = int) -> NDArray[Any]:
    """Stack rows into an array, also if there are none."""
    return np.array(rows, np.float64 if kind is float else np.int64).reshape(-1, width)


def joined(arrays: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    """Concatenate arrays, also if there are none."""
    return np.concatenate(arrays).astype(kind) if arrays else np.empty(0, kind)


class Layout:
    """The memory layout of a form: its tables ``streets``, ``boards`` and ``copies``."""

    def __init__(self, forests: list[Forest], boards: list[list[Board]]) -> None:
        rows = []
        nodes = folds = showdowns = ends = first = 0
        for forest, street in zip(forests, boards, strict=True):
            middle = nodes + len(forest.nodes[0])
            after = middle + len(forest.nodes[1])
            next_folds, next_showdowns = folds + len(forest.folds), showdowns + len(forest.showdowns)
            next_ends, next_first = ends + len(forest.ends), first + len(street)
            rows.append(
                (
                    *(len(forest.roots), nodes, middle, after, *forest.actions),
                    *(folds, next_folds, showdowns, next_showdowns, ends, next_ends, first, next_first),
                )
            )
            nodes, folds, showdowns, ends, first = after, next_folds, next_showdowns, next_ends, next_first
        self.streets = np.array(rows, np.int64)
        self.copies = np.empty((0, 2), np.int64)
        self.boards = self.board_table(forests, boards)

    def board_table(self, forests: list[Forest], boards: list[list[Board]]) -> NDArray[np.int64]:
        """The table of boards; also fills in ``copies``."""
        rows: list[NDArray[np.int64]] = []
        copies: list[tuple[int, int]] = []
        hand = stored = reach = returned = infoset = target = scale = 0
        last = len(boards) - 1
        for street, forest in enumerate(forests):
            above = self.streets[street - 1, BOARDS] if street else 0
            below = self.streets[street + 1, BOARDS] if street < last else 0
            roots, group, parent = len(forest.roots), returned, 0
            for board in boards[street]:
                row = np.zeros(SCALES + 2, np.int64)
                if street == last and board.parent != parent:
                    parent, returned = board.parent, group
                row[PARENT] = above + board.parent if street else -1
                row[COPIES : COPIES + 2] = len(copies), len(copies) + len(board.targets)
                row[CHILDREN : CHILDREN + 2] = below + board.children.start, below + board.children.stop
                for player in (0, 1):
                    count, actions = len(board.hands[player]), forest.actions[player]
                    row[HANDS + player], row[COUNT + player] = hand, count
                    row[STORE + player], row[REACH + player] = stored, reach
                    row[RETURN + player], row[INFOSETS + player], row[SCALES + player] = returned, infoset, scale
                    hand += count
                    stored += actions * count
                    infoset += len(forest.nodes[player]) * count
                    scale += actions * -(-count // TILE)
                    returned += roots * count
                    if street < last:
                        reach += (roots + actions) * count
                for pair in board.targets:
                    copies.append((target, target + len(pair[0])))
                    target += len(pair[0]) + len(pair[1])
                rows.append(row)
        if copies:
            self.copies = np.array(copies, np.int64)
        return np.array(rows, np.int64)
