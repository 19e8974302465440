"""Batched solving of rivers on tensors, for a GPU: the batched form of ``River.solved``."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.forms.betting_forest import Forest, forests_of
from treeplex.holdem.search.leaves.binned_rivers import RiverBins
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import torch_module
from treeplex.learn.rebel.turns.river_targets import METHOD, River, possible_ranges
from treeplex.learn.torch.kernels import Placement
from treeplex.learn.torch.streets import BettingSequences, Cards, StreetTables
from treeplex.solvers.rules.variants import VARIANTS

AT_ONCE = 256
"""Maximum number of rivers in memory; the showdown matrix of each takes 4.7 MB in single precision."""


class RiverRequest(NamedTuple):
    """Request to solve a river, with the arguments of ``River.solved``."""

    number: int
    spot: Spot
    ranges: tuple[Floats, Floats]
    board: RiverBins
    forest: Forest


def solved_rivers(
    spots: Sequence[tuple[Spot, tuple[Floats, Floats]]],
    iterations: int,
    bins: int,
    *,
    device: Any,
    dtype: Any = None,
    shown: bool = True,
) -> list[River]:
    """Solve rivers with Discounted CFR, in batches with equal betting.

    Args:
        spots: rivers with a complete board and every hand, and unnormalised ranges, float64 [H] for each player.
        iterations: iterations per river.
        bins, shown: as for :meth:`treeplex.learn.rebel.turns.river_targets.River.solved`.
        device: a PyTorch device.
        dtype: a PyTorch type; None for float32.

    Raises:
        AlgorithmError: a spot with rake.
    """
    at = Placement(device, dtype or torch_module().float32)
    groups: dict[BettingSequences, list[RiverRequest]] = {}
    for number, (spot, ranges) in enumerate(spots):
        if spot.rake.rate:
            raise AlgorithmError("the tensor solver does not support rake; use device=cpu")
        board = RiverBins.of(spot.format, (spot.board,), bins)
        (forest,) = forests_of(betting_tree(spot), spot.rake)
        groups.setdefault(BettingSequences.of(forest), []).append(
            RiverRequest(number, spot, possible_ranges(board, ranges), board, forest)
        )
    solved: dict[int, River] = {}
    for betting, group in groups.items():
        waiting = iter(group)
        while some := list(islice(waiting, AT_ONCE)):
            solved |= solve_group(betting, some, iterations, at, shown)
    return [solved[number] for number in range(len(spots))]


def solve_group(
    betting: BettingSequences, group: Sequence[RiverRequest], iterations: int, at: Placement, shown: bool
) -> dict[int, River]:
    """Solve rivers with equal betting; returns solutions keyed by index."""
    rule, orders = VARIANTS[METHOD], [request.board.order[0] for request in group]
    hands = np.stack([request.board.cards[order] for request, order in zip(group, orders, strict=True)])
    starts = np.stack([request.board.start[0] for request in group])
    first, second = (
        np.stack([request.ranges[player][order] for request, order in zip(group, orders, strict=True)]) for player in (0, 1)
    )
    folds = np.array([request.forest.fold_values for request in group]).reshape(len(group), -1, 2)
    wins = np.array([request.forest.showdown_values for request in group])[:, :, 0]
    with torch_module().inference_mode():
        tables = StreetTables(betting, Cards.of_rivers(hands, starts, at), (first, second), folds, wins, at)
        for t in range(1, iterations + 1):
            tables.iterate(rule.schedule(t, iterations, **rule.parameters))
        ours, theirs = (values.cpu().numpy().astype(np.float64) for values in tables.worth_of_average())
    return {
        request.number: River.of_chips(request.spot, request.ranges, (ours[k], theirs[k]), request.board, shown=shown)
        for k, request in enumerate(group)
    }
