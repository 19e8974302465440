"""The fixed tables of a spot on a device: boards, hands and betting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.holdem.engine.form import BOARDS, COUNT, HANDS
from treeplex.holdem.forms.betting_forest import Forest
from treeplex.holdem.forms.boards import Board, mirror_of
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.suit_symmetry import Hands
from treeplex.learn.common.device import torch_module
from treeplex.learn.torch.kernels import Placement, Tensor
from treeplex.learn.torch.spots.cards import Folds, Matrices, Strengths
from treeplex.learn.torch.spots.memory import MemoryPlan
from treeplex.learn.torch.spots.rows import Leaves, Side

STEP = 2**28
"""Approximate bytes of the matrices of showdowns that are computed together."""


@dataclass(frozen=True, eq=False)
class Deals:
    """The boards below each parent that are dealt with one renaming of suits, for one player.

    Attributes:
        boards: int64 [P * n], boards of the chunk; arbitrary in padding.
        weights: [P, n, 1], probability of each deal; 0 in padding.
        parents: int64 [P], the parents that have such boards.
        positions: int64 [hands], the position of the hand that each hand of a parent is dealt as; None if unchanged.
    """

    boards: Tensor
    weights: Tensor
    parents: Tensor
    positions: Tensor | None

    def add(self, values: Tensor, returned: Tensor) -> None:
        """Add values at the chunk's boards, [roots, boards, hands], to those of the parents, [roots, parents, hands]."""
        count, width = self.weights.shape[:2]
        dealt = values.index_select(1, self.boards).view(len(values), count, width, -1)
        summed = (dealt * self.weights).sum(dim=2)
        if self.positions is not None:
            summed = summed.index_select(2, self.positions)
        returned.index_add_(1, self.parents, summed)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Boards of one street that are processed together.

    Attributes:
        boards: slice of the street's boards.
        above: int64 [B], the parent of each board; empty on the first street.
        free: for each player, [B, hands], 1 for hands that the board does not block, otherwise 0.
        deals: for each player, the deals that lead to the boards; none on the first street.
        mirrors: for each player, int64 [B, hands], the hand whose value each hand copies because of a symmetry of the board;
            None if there are none.
    """

    boards: slice
    above: Tensor
    free: tuple[Tensor, Tensor]
    deals: tuple[tuple[Deals, ...], tuple[Deals, ...]]
    mirrors: tuple[Tensor | None, Tensor | None]


@dataclass(frozen=True, eq=False)
class Street:
    """One street of a spot.

    Attributes:
        sides: both players' sequences.
        folds, showdowns, ends: for each player.
        fold_chips: for each player, [F, C, 1], where C is 1 if all boards have the same chips, otherwise the number of boards.
        won: for each player, [D, C, 1], half of the chips of a win minus those of a loss, negative for player 1.
        tied: for each player, [D, C, 1], the chips of a tie.
        decided: for each player, [D, C, 1], the mean of the chips of a win and a loss, minus those of a tie.
        chunks: the boards.
    """

    sides: tuple[Side, Side]
    folds: tuple[Leaves, Leaves]
    showdowns: tuple[Leaves, Leaves]
    ends: tuple[Leaves, Leaves]
    fold_chips: tuple[Tensor, Tensor]
    won: tuple[Tensor, Tensor]
    tied: tuple[Tensor, Tensor]
    decided: tuple[Tensor, Tensor]
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, eq=False)
class SpotTables:
    """The fixed tables of a spot.

    Attributes:
        streets: the streets.
        folds: for each player.
        strengths: on the last street.
        weights: for each player, [1, B, hands], the ranges at the first street's boards.
        raked: whether a win and a loss differ in chips.
    """

    streets: tuple[Street, ...]
    folds: tuple[Folds, Folds]
    strengths: Strengths
    weights: tuple[Tensor, Tensor]
    raked: bool


def tables_of(game: CompiledSpot, at: Placement, plan: MemoryPlan) -> SpotTables:
    """Copy the tables of a compiled spot to a device; hands keep their positions at the root on all boards."""
    root, hands = game.boards[0][0], Hands(game.spot)
    matrices, cards = Matrices(at), [hands.cards[root.hands[player]] for player in (0, 1)]
    weights = []
    for player in (0, 1):
        first, count = game.form.boards[0, HANDS + player], game.form.boards[0, COUNT + player]
        weights.append(at.numbers(game.form.weights[first : first + count])[None, None])
    streets = []
    for index, (forest, boards) in enumerate(zip(game.forests, game.boards, strict=True)):
        factors = game.form.factors[int(game.form.streets[index, BOARDS]) :][: len(boards)]
        step = plan.chunk if forest is game.forests[-1] else len(boards)
        streets.append(street_of(game, forest, boards, factors, hands, at, step))
    folds = Folds.of(cards[0], cards[1], matrices), Folds.of(cards[1], cards[0], matrices)
    shared = (cards[0][:, None, :, None] == cards[1][None, :, None, :]).any(axis=(2, 3))
    strengths = Strengths(matrices, ranks_of(game, at), matrices.of(~shared))
    if plan.edges:
        strengths = with_edges(strengths)
    return SpotTables(tuple(streets), folds, strengths, (weights[0], weights[1]), game.raked)


def ranks_of(game: CompiledSpot, at: Placement) -> tuple[Tensor, Tensor]:
    """Strength of each hand at the root on each complete board, for each player [B, hands]; 0 for blocked hands."""
    ranks = []
    for player in (0, 1):
        table = np.zeros((len(game.boards[-1]), len(game.boards[0][0].hands[player])))
        for row, board in zip(table, game.boards[-1], strict=True):
            row[places_of(game, board, player)] = board.order[player]
        ranks.append(at.numbers(table))
    return ranks[0], ranks[1]


def places_of(game: CompiledSpot, board: Board, player: int) -> Ints:
    """The position at the root of each hand at a board, int64 [hands at the board]."""
    held = game.boards[0][0].hands[player]
    by_number = np.argsort(held)
    return np.asarray(by_number[np.searchsorted(held, board.hands[player], sorter=by_number)])


def with_edges(strengths: Strengths) -> Strengths:
    """The strengths with the matrices of all boards."""
    matrices, (boards, first), second = strengths.matrices, strengths.ranks[0].shape, strengths.ranks[1].shape[1]
    edges = torch_module().empty((boards, first, second), dtype=matrices.kind, device=matrices.at.device)
    step = max(STEP // (8 * first * second), 1)
    for start in range(0, boards, step):
        edges[start : start + step] = strengths.edge(slice(start, start + step))
    return replace(strengths, edges=edges)


def street_of(
    game: CompiledSpot, forest: Forest, boards: Sequence[Board], factors: Floats, hands: Hands, at: Placement, step: int
) -> Street:
    """One street's tables, with chunks of ``step`` boards."""
    street, last = betting_of([forest], at), forest is game.forests[-1]
    chunks = tuple(
        chunk_of(game, boards, slice(start, min(start + step, len(boards))), factors, hands, at, last=last)
        for start in range(0, len(boards), step)
    )
    return replace(street, chunks=chunks)


def betting_of(forests: Sequence[Forest], at: Placement, boards: int = 1) -> Street:
    """The betting of one street, without boards.

    Args:
        forests: one for all boards, or that of each spot, which differ only in chips.
        at: device and type of the numbers.
        boards: number of boards of each spot.
    """
    forest, spots = forests[0], len(forests)
    roots = len(forest.roots)
    sides = Side.of(roots, forest.nodes[0], at), Side.of(roots, forest.nodes[1], at)
    folds, showdowns, ends = (
        (Leaves.of(pairs, 0, sides, at), Leaves.of(pairs, 1, sides, at))
        for pairs in (forest.folds, forest.showdowns, forest.ends)
    )
    fold_values = np.array([each.fold_values for each in forests]).reshape(spots, -1, 2).transpose(1, 2, 0)
    win, lose, tie = np.array([each.showdown_values for each in forests]).reshape(spots, -1, 3).transpose(2, 1, 0)
    half, mean = 0.5 * (win - lose), 0.5 * (win + lose)
    chips: list[list[Tensor]] = [[], [], [], []]
    for player in (0, 1):
        order = showdowns[player].order
        signed = half if player == 0 else -half
        rows = fold_values[folds[player].order, player], signed[order], tie[order], (mean - tie)[order]
        for numbers, row in zip(chips, rows, strict=True):
            numbers.append(at.numbers(row.repeat(boards, axis=1))[:, :, None])
    pairs = [(pair[0], pair[1]) for pair in chips]
    return Street(sides, folds, showdowns, ends, pairs[0], pairs[1], pairs[2], pairs[3], ())


def chunk_of(
    game: CompiledSpot, boards: Sequence[Board], part: slice, factors: Floats, hands: Hands, at: Placement, *, last: bool
) -> Chunk:
    """The tables of some boards of a street."""
    chosen = boards[part]
    free, deals, mirrors = [], [], []
    for player in (0, 1):
        held = game.boards[0][0].hands[player]
        table = np.zeros((len(chosen), len(held)))
        for row, board in zip(table, chosen, strict=True):
            row[places_of(game, board, player)] = 1.0
        free.append(at.numbers(table))
        deals.append(deals_of(chosen, factors[part], held, hands, at) if chosen[0].parent >= 0 else ())
        mirrors.append(None if last else mirrors_of(game, chosen, player, hands, at))
    above = np.array([board.parent for board in chosen], np.int64) if chosen[0].parent >= 0 else np.empty(0, np.int64)
    return Chunk(part, at.places(above), (free[0], free[1]), (deals[0], deals[1]), (mirrors[0], mirrors[1]))


def mirrors_of(game: CompiledSpot, boards: Sequence[Board], player: int, hands: Hands, at: Placement) -> Tensor | None:
    """For each hand at each board the position at the root of the hand whose value it copies; None if all keep their own."""
    table = np.tile(np.arange(len(game.boards[0][0].hands[player])), (len(boards), 1))
    for row, board in zip(table, boards, strict=True):
        places = places_of(game, board, player)
        row[places] = places[mirror_of(board, player, hands)]
    return at.places(table) if (table != np.arange(table.shape[1])).any() else None


def deals_of(boards: Sequence[Board], factors: Floats, held: Ints, hands: Hands, at: Placement) -> tuple[Deals, ...]:
    """The deals that lead to some boards, grouped by the renaming of suits."""
    by_renaming: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for number, board in enumerate(boards):
        for copy in board.copies:
            by_renaming.setdefault(copy, {}).setdefault(board.parent, []).append(number)
    deals = []
    for renaming, below in by_renaming.items():
        parents, width = np.array(sorted(below), np.int64), max(map(len, below.values()))
        numbers, weights = np.zeros((len(parents), width), np.int64), np.zeros((len(parents), width, 1))
        for k, parent in enumerate(parents.tolist()):
            count = len(below[parent])
            numbers[k, :count] = below[parent]
            weights[k, :count, 0] = factors[below[parent]]
        image = np.searchsorted(held, hands.map(renaming)[held])  # the hand that each hand becomes
        positions = np.argsort(image)
        same = bool((image == np.arange(len(held))).all())
        deals.append(
            Deals(at.places(numbers.ravel()), at.numbers(weights), at.places(parents), None if same else at.places(positions))
        )
    return tuple(deals)
