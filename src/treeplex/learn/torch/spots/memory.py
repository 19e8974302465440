"""The memory that a spot takes on a device, predicted before anything is copied there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree_size import StreetSize, betting_size
from treeplex.holdem.forms.spot_form import ON_DEVICE
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import torch_device, torch_module
from treeplex.learn.torch.kernels import Placement

ROOM = {"cpu": 2**28, "cuda": 2**32}
"""Maximum bytes for temporary tensors of a chunk of boards, by type of device."""
EDGES = 0.3
"""Maximum fraction of a GPU's free memory for matrices of showdowns."""
SPARE = 0.95
"""Fraction of a GPU's free memory that a run may take; the allocator rounds sizes up."""


@dataclass(frozen=True)
class MemoryPlan:
    """Bytes on a device, and what follows for the order of work.

    Attributes:
        numbers: regrets, averages, guesses and locks, and the tables of boards.
        edges: the showdown matrices of all boards; 0 if they are computed whenever they are needed.
        temporaries: temporary tensors of a pass.
        chunk: boards of the last street that are processed together.
    """

    numbers: int
    edges: int
    temporaries: int
    chunk: int

    @property
    def total(self) -> int:
        """All bytes."""
        return self.numbers + self.edges + self.temporaries


class SpotShape(NamedTuple):
    """What determines the memory of spots with the same betting.

    Attributes:
        streets: the betting of each street.
        boards: number of boards on each street, of all spots.
        hands: number of each player's hands.
        spots: number of spots.
    """

    streets: Sequence[StreetSize]
    boards: Sequence[int]
    hands: tuple[int, int]
    spots: int = 1

    @property
    def title(self) -> str:
        """The subject of a message."""
        return "this spot needs" if self.spots == 1 else f"a batch of {self.spots:,} spots needs"


def shape_of(spot: Spot, boards: Sequence[int]) -> SpotShape:
    """The shape of a spot with these numbers of boards."""
    first, second = (int(np.count_nonzero(weights)) for weights in spot.ranges)
    return SpotShape(betting_size(spot.betting).streets, boards, (first, second))


def plan_of(shape: SpotShape, at: Placement, *, arrays: int, room: int | None = None, most: float | None = None) -> MemoryPlan:
    """Predict the memory of a run; raise an error if it is not available.

    Args:
        shape: the spots.
        at: device and type of the numbers.
        arrays: arrays of one number per action and hand: regrets, average, and guesses or locks.
        room: bytes for temporary tensors of a chunk; None for the default.
        most: available bytes; None for the device's free memory.

    Raises:
        SpecError: the spots do not fit; the message suggests remedies.
    """
    free = free_memory(at) if most is None else most
    plan = predicted(shape, at, arrays=arrays, room=room, free=free)
    if free is not None and plan.total > SPARE * free:
        where, what = "the GPU" if at.device.type == "cuda" else "PyTorch", "are free" if most is None else "are allowed"
        raise SpecError(
            f"{shape.title} {megabytes(plan.total)} on {where}, but {megabytes(free)} {what}; offer fewer sizes, "
            "narrow the ranges, or use device cpu"
        )
    return plan


def predicted(shape: SpotShape, at: Placement, *, arrays: int, room: int | None, free: float | None) -> MemoryPlan:
    """Predict the memory of a run with ``free`` bytes (None: unknown); other arguments as for :func:`plan_of`."""
    on_card, size = at.device.type == "cuda", torch_module().empty(0, dtype=at.dtype).element_size()
    hands, counts = shape.hands, shape.boards
    held, pairs = max(hands), hands[0] * hands[1]
    numbers = sum(
        count * hands[player] * size * (arrays * street.actions[player] + 3)
        for count, street in zip(counts, shape.streets, strict=True)
        for player in (0, 1)
    )
    entry = 2 if on_card and size == 4 else size
    edges = counts[-1] * pairs * entry
    if not on_card or (free is not None and edges > EDGES * free):
        edges = 0
    above = sum(count * held * size * rows_above(street) for count, street in zip(counts[:-1], shape.streets, strict=False))
    last = shape.streets[-1]
    rows = rows_below(last.roots, max(last.actions), max(last.folds, last.showdowns))
    board = held * size * rows + (0 if edges else pairs * (size + 2 * entry))
    passes = 2 if on_card else 1  # a recorded iteration keeps its temporary tensors, and evaluations need others
    left = ROOM[at.device.type] if room is None else room
    if room is None and free is not None:
        left = min(left, int((SPARE * free - numbers - edges) / passes) - above)
    chunk = counts[-1] if len(counts) == 1 else min(max(left // board, 1), counts[-1])
    return MemoryPlan(numbers, edges, passes * (above + chunk * board), chunk)


def spot_memory(spot: Spot, boards: Sequence[int], device: str, needs: frozenset[str]) -> tuple[dict[str, int], int | None]:
    """Predict the memory of solving a spot on a device.

    Args:
        spot: the spot.
        boards: number of boards on each street.
        device: one of :data:`treeplex.learn.common.device.DEVICES` other than the CPU.
        needs: what the update rule needs.

    Returns:
        Bytes for each kind of storage, and free bytes there (None: unknown).
    """
    torch, target = torch_module(), torch_device(device)
    arrays, shape = arrays_for(needs, locked=bool(spot.settings.locks)), shape_of(spot, boards)
    places = {kind: Placement(target, getattr(torch, kind)) for kind in ON_DEVICE}
    free = free_memory(places[ON_DEVICE[0]])
    memory = {kind: predicted(shape, at, arrays=arrays, room=None, free=free).total for kind, at in places.items()}
    return memory, free


def arrays_for(needs: frozenset[str], *, locked: bool) -> int:
    """Number of arrays with one number per action and hand: regrets, average, and guesses or locks."""
    return 2 + ("guesses" in needs) + locked


def rows_above(street: StreetSize) -> int:
    """Rows of temporary tensors on each street but the last: both players' reach, values, and values at the ends."""
    return 3 * (street.roots + max(street.actions)) + 2 * street.ends


def rows_below(roots: int, actions: int, terminals: int) -> int:
    """Rows of temporary tensors on the last street: both players' reach, values, and terminals."""
    return 3 * (roots + actions) + 5 * terminals


def free_memory(at: Placement) -> int | None:
    """Free bytes of the device; None if unknown."""
    if at.device.type != "cuda":
        return available_memory()
    torch = torch_module()
    unused = torch.cuda.memory_reserved(at.device) - torch.cuda.memory_allocated(at.device)
    return int(torch.cuda.mem_get_info(at.device)[0] + unused)


@contextmanager
def memory_errors(at: Placement) -> Iterator[None]:
    """Convert PyTorch's errors about memory.

    Raises:
        SpecError: the device has too little free memory.
    """
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, torch_module().cuda.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        where: Any = "the GPU" if at.device.type == "cuda" else "PyTorch"
        raise SpecError(
            f"{where} ran out of memory; offer fewer sizes, narrow the ranges, free memory that other programs use, or use "
            "device cpu"
        ) from error
