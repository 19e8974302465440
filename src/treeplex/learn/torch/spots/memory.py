"""The memory that a spot takes on a device, predicted before anything is copied there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.errors import SpecError
from treeplex.holdem.forms.betting_forest import Forest
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.learn.common.device import torch_module
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


def plan_of(
    game: CompiledSpot, at: Placement, *, arrays: int, room: int | None = None, most: float | None = None
) -> MemoryPlan:
    """Predict the memory of a run.

    Args:
        game: the compiled spot.
        at: device and type of the numbers.
        arrays: arrays of one number per action and hand: regrets, average, and guesses or locks.
        room: bytes for temporary tensors of a chunk; None for the default.
        most: available bytes; None for the device's free memory.

    Raises:
        SpecError: the spot does not fit; the message suggests remedies.
    """
    on_card, size = at.device.type == "cuda", torch_module().empty(0, dtype=at.dtype).element_size()
    hands, counts = [len(held) for held in game.boards[0][0].hands], [len(boards) for boards in game.boards]
    held, pairs = max(hands), hands[0] * hands[1]
    numbers = sum(
        count * hands[player] * size * (arrays * forest.actions[player] + 3)
        for count, forest in zip(counts, game.forests, strict=True)
        for player in (0, 1)
    )
    free = free_memory(at) if most is None else most
    entry = 2 if on_card and size == 4 else size
    edges = counts[-1] * pairs * entry
    if not on_card or (free is not None and edges > EDGES * free):
        edges = 0
    above = sum(count * held * size * rows_above(forest) for count, forest in zip(counts[:-1], game.forests, strict=False))
    last = game.forests[-1]
    rows = rows_below(len(last.roots), max(last.actions), max(len(last.folds), len(last.showdowns)))
    board = held * size * rows + (0 if edges else pairs * (size + 2 * entry))
    passes = 2 if on_card else 1  # a recorded iteration keeps its temporary tensors, and evaluations need others
    left = ROOM[at.device.type] if room is None else room
    if room is None and free is not None:
        left = min(left, int((SPARE * free - numbers - edges) / passes) - above)
    chunk = counts[-1] if len(counts) == 1 else min(max(left // board, 1), counts[-1])
    plan = MemoryPlan(numbers, edges, passes * (above + chunk * board), chunk)
    if free is not None and plan.total > SPARE * free:
        where, what = "the GPU" if on_card else "PyTorch", "are free" if most is None else "are allowed"
        raise SpecError(
            f"this spot needs {megabytes(plan.total)} on {where}, but {megabytes(free)} {what}; offer fewer sizes, "
            "narrow the ranges, or use device cpu"
        )
    return plan


def rows_above(forest: Forest) -> int:
    """Rows of temporary tensors on each street but the last: both players' reach, values, and values at the ends."""
    return 3 * (len(forest.roots) + max(forest.actions)) + 2 * len(forest.ends)


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
