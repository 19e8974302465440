"""Solves many rivers side by side, several times faster than one at a time if their ranges are narrow."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.form import RuleKind
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.engine.form import ACTIONS, COUNT, RETURN, HoldemForm, Workspace
from treeplex.holdem.engine.river_batch import expect_rivers, iterate_rivers
from treeplex.holdem.engine.workspace import make_workspace, padded_columns
from treeplex.holdem.forms.betting_forest import Forest, forests_of
from treeplex.holdem.forms.boards import Board, card_rows, placed_board, twins_of
from treeplex.holdem.forms.compile_spot import Layout, stacked_rows
from treeplex.holdem.forms.layout import store_with
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands
from treeplex.holdem.spots.spot import Spot
from treeplex.solvers.registry import DEFAULT_ALGORITHM, AnyAlgorithm, rule_of

LANES = 512
"""Hands of a player that are solved side by side, so that their arrays fit into the second-level cache."""

NEEDS = frozenset({"regrets", "average"})
"""Arrays of the update rules that batches support."""


class River(NamedTuple):
    """A river to solve.

    Attributes:
        number: its index among the given spots.
        forest: its betting.
        board: its hands.
        cards: uint8 [n, 3] for each player, rows of ``HoldemForm.cards``.
        weights: float64 [n] for each player, the range weights of these hands.
    """

    number: int
    forest: Forest
    board: Board
    cards: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    weights: tuple[Floats, Floats]


class RiverValues(NamedTuple):
    """The values of a solved river.

    Attributes:
        hands: int16 [n] for each player, the hands of its range by strength.
        values: float64 [n] for each player, their expected values under the average policies, in chips times the compatible
            weight of the opponent's range.
    """

    hands: tuple[NDArray[np.int16], NDArray[np.int16]]
    values: tuple[Floats, Floats]


def solve_rivers(
    spots: Sequence[Spot],
    iterations: Sequence[int] | int,
    algorithm: AnyAlgorithm = DEFAULT_ALGORITHM,
    *,
    ranges: Sequence[tuple[Floats, Floats]] | None = None,
) -> list[RiverValues]:
    """Solve rivers in batches of those with the same decisions; bets may differ in size.

    Values are those of :class:`treeplex.holdem.solve.solver.HoldemSolver` on one thread in float32, bit for bit.

    Args:
        spots: spots with complete boards, without rake.
        iterations: number of iterations, for all rivers or for each.
        algorithm: an update rule that stores only regrets and an average.
        ranges: float64 [H] for each spot and player, weights in place of the spot's; zero outside its ranges.

    Raises:
        AlgorithmError: the algorithm stores more than regrets and an average.
        SpecError: a spot has cards to come, or rake.
    """
    rule, text = rule_of(algorithm, DEFAULT_ALGORITHM)
    if rule.kind is not RuleKind.REGRETS or not rule.needs <= NEEDS:
        raise AlgorithmError(f"{text} cannot solve rivers in batches; use dcfr or cfr+, or solve them one by one")
    counts = [iterations] * len(spots) if isinstance(iterations, int) else list(iterations)
    groups: dict[Any, list[River]] = {}
    forests: dict[Any, Forest] = {}
    for number, spot in enumerate(spots):
        betting = spot.betting, spot.pot, spot.rake.rate
        forest = forests.get(betting) or forests.setdefault(betting, forest_of(spot))
        river = placed_river(number, spot, forest, None if ranges is None else ranges[number])
        key = counts[number], *(tuple(rows) for rows in (*forest.nodes, forest.folds, forest.showdowns))
        groups.setdefault(key, []).append(river)
    solved: dict[int, RiverValues] = {}
    for (count, *_), rivers in groups.items():
        rows = rule.rows(range(1, count + 1), count)
        for part in parts_of(rivers):
            solved.update(zip((river.number for river in part), solve_part(part, rows), strict=True))
    return [solved[number] for number in range(len(spots))]


def forest_of(spot: Spot) -> Forest:
    """The betting of a river.

    Raises:
        SpecError: the spot has cards to come, or rake.
    """
    if len(spot.streets) > 1 or spot.rake.rate:
        raise SpecError(f"{spot} is not a river without rake; solve it on its own")
    (forest,) = forests_of(betting_tree(spot), spot.rake)
    return forest


def placed_river(number: int, spot: Spot, forest: Forest, ranges: tuple[Floats, Floats] | None) -> River:
    """The hands of a river with this betting."""
    held = tuple(np.flatnonzero(weights > 0) for weights in spot.ranges)
    hands = Hands(spot)
    board = placed_board(spot, hands, spot.board, -1, 0, (held[0], held[1]), last=True)
    first, second = (np.asarray((ranges or spot.ranges)[player][board.hands[player]]) for player in (0, 1))
    cards = card_rows(hands, board.hands[0]), card_rows(hands, board.hands[1])
    return River(number, forest, board, cards, (first, second))


def parts_of(rivers: Sequence[River]) -> Iterator[list[River]]:
    """Divide rivers into parts with at most :data:`LANES` hands of a player, or one river."""
    part: list[River] = []
    lanes = 0
    for river in rivers:
        width = 1 + max(map(len, river.board.hands))
        if part and lanes + width > LANES:
            yield part
            part, lanes = [], 0
        part.append(river)
        lanes += width
    if part:
        yield part


def solve_part(rivers: Sequence[River], rows: Floats) -> list[RiverValues]:
    """Solve rivers side by side with these rows of weights."""
    form, places, chips, work = joined_rivers(rivers)
    actions = form.streets[0, ACTIONS : ACTIONS + 2] @ form.boards[0, COUNT : COUNT + 2]
    regrets: NDArray[Any] = np.zeros(int(actions), np.float32)
    store = store_with(regrets, regrets, np.zeros_like(regrets))
    if len(rows):
        iterate_rivers(form, rows, places, chips, store, work)
    returned = []
    for player in (0, 1):
        expect_rivers(form, player, places, chips, store, work)
        start, count = int(form.boards[0, RETURN + player]), int(form.boards[0, COUNT + player])
        returned.append(work.returned[0, start : start + count].astype(np.float64))
    return [
        RiverValues(river.board.hands, (returned[0][first : first + mine], returned[1][second : second + theirs]))
        for river, ((first, mine), (second, theirs)) in zip(rivers, places.tolist(), strict=True)
    ]


def joined_rivers(rivers: Sequence[River]) -> tuple[HoldemForm, Ints, NDArray[Any], Workspace]:
    """Rivers as one board: the form, each river's hands int64 [R, 2, 2], its chips [R, 2, columns], and scratch space."""
    forest, hole = rivers[0].forest, 2
    counts = np.array([[len(hands) for hands in river.board.hands] for river in rivers])
    firsts = np.cumsum(counts + 1, axis=0) - counts - 1
    lanes = [np.zeros(int(total), np.int16) for total in (counts + 1).sum(axis=0)]
    everyone = Board((), -1, 0, (lanes[0], lanes[1]), (lanes[0], lanes[1]), (lanes[0], lanes[1]), [IDENTITY], [], [IDENTITY])
    layout = Layout([forest], [[everyone]])
    order, twin, weights, cards = list[Any](), list[Any](), list[Any](), list[Any]()
    empty = np.zeros((1, 3), np.uint8)
    for player in (0, 1):
        for river in rivers:
            order += [river.board.order[player], [0]]
            twin += [twins_of(river.board, player, hole), [-1]]
            weights += [river.weights[player], [0.0]]
            cards += [river.cards[player], empty]
    total = sum(map(len, lanes))
    form = HoldemForm(
        streets=layout.streets,
        factors=np.ones(1),
        nodes=stacked_rows([row for player in (0, 1) for row in forest.nodes[player]], 3),
        folds=stacked_rows(forest.folds, 2),
        fold_values=stacked_rows(forest.fold_values, 2, float),
        showdowns=stacked_rows(forest.showdowns, 2),
        showdown_values=stacked_rows(forest.showdown_values, 3, float),
        ends=stacked_rows(forest.ends, 2),
        boards=layout.boards,
        source=np.zeros(total, np.int16),
        order=np.concatenate(order).astype(np.int16),
        cards=np.concatenate(cards),
        twin=np.concatenate(twin).astype(np.int16),
        mirror=np.zeros(total, np.int16),
        copies=layout.copies,
        targets=np.empty(0, np.int16),
        weights=np.concatenate(weights),
    )
    work = make_workspace(form, 1, np.float32)
    work.chips[:] = 1.0
    chips: NDArray[Any] = np.zeros((len(rivers), 2, work.chips.shape[-1]), np.float32)
    start = padded_columns(len(forest.showdowns))
    for river, own in zip(rivers, chips, strict=True):
        for player in (0, 1):
            own[player, : len(forest.showdowns)] = [values[0] for values in river.forest.showdown_values]
            own[player, start : start + len(forest.folds)] = [values[player] for values in river.forest.fold_values]
    return form, np.stack((firsts, counts), axis=2), chips, work
