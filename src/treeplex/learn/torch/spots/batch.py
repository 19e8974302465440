"""Rivers or turns solved side by side: each with its own board and ranges, and stacks that leave the same betting tree."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.betting.tree_size import betting_size
from treeplex.holdem.cards.format import Format
from treeplex.holdem.forms.betting_forest import Forest, forests_of
from treeplex.holdem.forms.boards import deal_chance
from treeplex.holdem.search.leaves.hand_values import HandBoard
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import torch_module
from treeplex.learn.torch.form import on_host
from treeplex.learn.torch.kernels import Placement, Tensor
from treeplex.learn.torch.spots.cards import Folds, Matrices, Strengths
from treeplex.learn.torch.spots.memory import SpotShape, arrays_for, memory_errors, plan_of
from treeplex.learn.torch.spots.run import TensorRun, supported
from treeplex.learn.torch.spots.tables import Chunk, Deals, SpotTables, betting_of, with_edges
from treeplex.solvers.registry import AnyAlgorithm, rule_of

Shape = tuple[tuple[Any, ...], ...]
"""The nodes of a betting tree without their chips; see :func:`betting_shape`."""


def solve_batch(
    spots: Spot | Sequence[Spot],
    boards: Sequence[HandBoard],
    reach: Floats,
    iterations: int,
    device: Any,
    algorithm: AnyAlgorithm = "dcfr",
) -> Floats:
    """Solve spots on several boards.

    Args:
        spots: the street, chips and sizes of each of N spots, whose :func:`betting_shape` is the same; or one spot for all.
        boards: N turns or rivers, with all complete boards.
        reach: float64 [N, 2, H], both ranges on each.
        iterations: number of iterations.
        device: a PyTorch device.
        algorithm: a rule of regrets.

    Returns:
        Values of both players' hands under the average strategies, float64 [N, 2, H], in chips relative to half of the pot,
        times the other's compatible reach; 0 for blocked hands.

    Raises:
        AlgorithmError: the rule does not run on tensors, the boards are flops, or the betting trees differ.
        SpecError: the spots do not fit into the device's memory.
    """
    each = [spots] if isinstance(spots, Spot) else spots
    rule, text = rule_of(algorithm, "dcfr")
    if not supported(rule.kind, rule.needs, rule.network):
        raise AlgorithmError(f"{text} does not run on a GPU; use a variant of CFR such as dcfr")
    at = Placement(device, torch_module().float32)
    with memory_errors(at):
        run = TensorRun(batch_tables(each, boards, reach, at, rule.needs), at, predicts="guesses" in rule.needs)
        run.iterate(rule.rows(range(1, iterations + 1), iterations))
        values = [on_host(run.values(player, best=False)[0]) for player in (0, 1)]
    return np.stack(values, axis=1) * free_of(each[0].format, [board.cards for board in boards])[:, None]


def betting_shape(spot: Spot) -> Shape:
    """What spots solved side by side have in common: for each street the nodes and ends of the betting, without chips."""
    return tuple(shape_of_forest(forest) for forest in forests_of(betting_tree(spot), spot.rake))


def shape_of_forest(forest: Forest) -> tuple[Any, ...]:
    """The nodes and ends of a street's betting, as tuples of sequences."""
    nodes, ends = map(tuple, forest.nodes), (tuple(forest.folds), tuple(forest.showdowns), tuple(forest.ends))
    return (forest.street, len(forest.roots), *nodes, *ends)


def batch_tables(
    spots: Sequence[Spot], boards: Sequence[HandBoard], reach: Floats, at: Placement, needs: frozenset[str]
) -> SpotTables:
    """The tables of spots with the same betting.

    Args:
        spots: one for each board, or a single one for all.
        boards, reach: as for :func:`solve_batch`.
        at: device and type of the numbers.
        needs: what the update rule needs.

    Raises:
        AlgorithmError: the boards are flops, or the betting trees differ.
        SpecError: the spots do not fit into the device's memory.
    """
    spot, matrices = spots[0], Matrices(at)
    every = [forests_of(betting_tree(each), each.rake) for each in spots]
    if len(spots) not in (1, len(boards)):
        raise AlgorithmError(f"{len(spots)} spots for {len(boards)} boards; give one, or one for each board")
    forests, shapes = every[0], {tuple(map(shape_of_forest, forests)) for forests in every}
    if len(shapes) > 1:
        raise AlgorithmError("spots of a batch need the same betting tree; solve those with other stacks or sizes separately")
    if len(forests) > 2 or (len(forests) == 2 and spot.format.deal[-1] != 1):
        raise AlgorithmError("batches are turns or rivers; solve flops one at a time")
    hands, count = spot.format.hands, len(boards)
    complete = [cards for board in boards for cards in spot.format.complete_boards(board.cards)]
    counts = [count] if len(forests) == 1 else [count, len(complete)]
    shape = SpotShape(betting_size(spot.betting).streets, counts, (len(hands), len(hands)), count)
    plan = plan_of(shape, at, arrays=arrays_for(needs, locked=False))
    free = at.numbers(free_of(spot.format, [board.cards for board in boards]))
    below = len(complete) // count
    streets = [
        betting_of(same_street, at, copies if len(spots) > 1 else 1)
        for same_street, copies in zip(zip(*every, strict=True), (1, below), strict=False)
    ]
    nowhere = at.places(np.empty(0, np.int64))
    streets[0] = replace(streets[0], chunks=(Chunk(slice(0, count), nowhere, (free, free), ((), ()), (None, None)),))
    if len(streets) == 2:
        later = at.numbers(free_of(spot.format, complete))
        step = below * max(plan.chunk // below, 1)
        chunks = []
        for start in range(0, len(complete), step):
            part = slice(start, min(start + step, len(complete)))
            chunks.append(river_chunk(part, below, later[part], deal_chance(spot, 1), at))
        streets[1] = replace(streets[1], chunks=tuple(chunks))
    folds = Folds.of(hands, hands, matrices)
    shared = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
    ranks = at.numbers(np.concatenate([ranks_of(board, len(hands)) for board in boards]))
    strengths = Strengths(matrices, (ranks, ranks), matrices.of(~shared))
    if plan.edges:
        strengths = with_edges(strengths)
    weights = [at.numbers(reach[:, player])[None] * free for player in (0, 1)]
    raked = any(win != -lose for forests in every for forest in forests for win, lose, _ in forest.showdown_values)
    return SpotTables(tuple(streets), (folds, folds), strengths, (weights[0], weights[1]), raked)


def river_chunk(part: slice, below: int, free: Tensor, chance: float, at: Placement) -> Chunk:
    """Rivers after whole turns, with ``below`` rivers each."""
    first, turns = part.start // below, (part.stop - part.start) // below
    parents = np.arange(first, first + turns)
    weights = at.numbers(np.full((turns, below, 1), chance))
    deals = Deals(at.places(np.arange(turns * below)), weights, at.places(parents), None)
    return Chunk(part, at.places(np.repeat(parents, below)), (free, free), ((deals,), (deals,)), (None, None))


def free_of(format: Format, boards: Sequence[tuple[int, ...]]) -> Floats:
    """1 for hands that a board does not block, otherwise 0, float64 [B, H]."""
    dead = np.zeros((len(boards), 52), bool)
    np.put_along_axis(dead, np.array(boards), True, axis=1)
    return np.asarray(~dead[:, format.hands].any(axis=2), np.float64)


def ranks_of(board: HandBoard, hands: int) -> NDArray[np.float64]:
    """The strength of each hand on each complete board, [R, H]; 0 for hands that it blocks."""
    ranks = np.zeros((len(board.order), hands))
    for row, order, start, size in zip(ranks, board.order, board.start, board.sizes, strict=True):
        row[order[:size]] = start[:size]
    return ranks
