"""Jobs on parts of a spot: one player's update or best response, given the reach at the part; they return its values."""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.holdem.engine.form import HoldemForm, Store
from treeplex.holdem.engine.passes import BoardPool, answer, improve
from treeplex.holdem.engine.workspace import Extent, make_workspace
from treeplex.holdem.forms.layout import rows_of
from treeplex.holdem.forms.split.blocks import Block, Blocks, decode, encode
from treeplex.holdem.forms.split.parts import SpotPart

Array = NDArray[Any]
SCALES_OF = {"regrets": "regret_scales", "guesses": "guess_scales", "average": "average_scales"}


class Step(NamedTuple):
    """One player's update in one iteration.

    Attributes:
        iteration: the current iteration, from 1.
        player: the player who updates; player 0 first.
        weights: float64 [9], weights of the iteration, see :class:`treeplex.engine.tree.regret.Weights`.
        keep, add: discount of the averages and weight of the current strategy. Player 0's update adds both players' strategies,
            so that each iteration is complete.
    """

    iteration: int
    player: int
    weights: Floats
    keep: float
    add: float


class JobResult(NamedTuple):
    """The result of a job.

    Attributes:
        values: the part's contribution to the player's values at the trunk's ends, float64 [ends, hands].
        bytes, seconds: bytes of blocks read and written, and the seconds that this took.
    """

    values: Floats
    bytes: int
    seconds: float


class PartWorker:
    """Runs jobs; knows the dtypes and owns scratch space that is allocated once per worker and fits any part.

    Attributes:
        kind: dtype of stored numbers.
        packed: whether blocks are packed.
        predicts: whether there are guesses in addition to regrets.
        raked: whether showdowns pay the winner less than they cost the loser.
        extent: extent of the scratch space.
    """

    def __init__(self, kind: Any, extent: Extent, *, packed: bool, predicts: bool, raked: bool) -> None:
        self.kind, self.extent = np.dtype(kind), extent
        self.packed, self.predicts, self.raked = packed, predicts, raked
        self._spaces: dict[str, Any] = {}
        self._bytes, self._seconds = 0, 0.0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_spaces": {}}

    @property
    def short(self) -> bool:
        """Whether numbers are stored as 16-bit integers with scales."""
        return bool(self.kind == np.int16)

    def crew(self, form: HoldemForm, *, judging: bool) -> BoardPool:
        """A pool of one thread on a form; evaluation uses double precision."""
        name = "judging" if judging else "solving"
        if name not in self._spaces:
            number = np.float64 if judging or self.kind == np.float64 else np.float32
            self._spaces[name] = make_workspace(
                form, 1, number, raked=self.raked, packed=judging or self.short, extent=self.extent
            )
        return BoardPool(form, self._spaces[name], raked=self.raked)

    def store(self, part: SpotPart) -> Store:
        """The store of a part in scratch space; arrays that have not been loaded have undefined content."""
        numbers, scales = part.stored[1].stop, part.scales[1].stop if self.short else 0
        arrays = {}
        for name in ("regrets", *(["guesses"] if self.predicts else []), "average"):
            arrays[name] = self.space(name, numbers, self.kind)
            arrays[SCALES_OF[name]] = self.space(f"{name}.", scales, np.float32)
        if not self.predicts:
            arrays["guesses"], arrays["guess_scales"] = arrays["regrets"], arrays["regret_scales"]
        return store_of_arrays(arrays)

    def space(self, name: str, size: int, kind: Any) -> Array:
        """Scratch space, reused between jobs."""
        if name not in self._spaces or self._spaces[name].size < size:
            self._spaces[name] = np.empty(size, kind)
        array: Array = self._spaces[name][:size]
        return array

    def load(self, part: SpotPart, blocks: Blocks, store: Store, name: str, player: int, side: int) -> None:
        """Read a block into a store."""
        numbers, scales = self.views(part, store, name, player)
        began = perf_counter()
        content = blocks.read(Block(part.number, name, player, side))
        self._count(0 if content is None else content.size, began)
        decode(content, numbers, scales, name, packed=self.packed)

    def save(self, part: SpotPart, blocks: Blocks, store: Store, name: str, player: int, iteration: int) -> None:
        """Write a block from a store, after an iteration."""
        numbers, scales = self.views(part, store, name, player)
        seed = (iteration * 7919 + part.number * 104_729 + len(name) + player) % 2**31
        content = encode(numbers, scales, name, packed=self.packed, seed=seed)
        began = perf_counter()
        blocks.write(Block(part.number, name, player, iteration % 2), content)
        self._count(content.size, began)

    def _count(self, size: int, began: float) -> None:
        self._bytes += size
        self._seconds += perf_counter() - began

    def job_result(self, crew: BoardPool, player: int) -> JobResult:
        """Build a job's result after its passes."""
        counted = self._bytes, self._seconds
        self._bytes, self._seconds = 0, 0.0
        return JobResult(rows_of(crew.form, crew.work, player, gathered=True).copy(), *counted)

    def views(self, part: SpotPart, store: Store, name: str, player: int) -> tuple[Array, Array]:
        """A player's numbers and scales within a store."""
        scales = part.scales[player] if self.short else slice(0, 0)
        return getattr(store, name)[part.stored[player]], getattr(store, SCALES_OF[name])[scales]

    def improve(self, part: SpotPart, blocks: Blocks, step: Step, reach: Array) -> JobResult:
        """Update the regrets of a player in a part; player 0's update also updates both averages.

        Args:
            part: the part.
            blocks: storage of its numbers.
            step: the update.
            reach: own reach of both players in the trunk, as in ``Workspace.reach`` there.
        """
        player, other, now = step.player, 1 - step.player, step.iteration
        crew, store, first = self.crew(part.form, judging=False), self.store(part), player == 0
        before, guesses = (now - 1) % 2, "guesses" if self.predicts else "regrets"
        updated = ("regrets", "guesses") if self.predicts else ("regrets",)
        for name in updated:
            self.load(part, blocks, store, name, player, before)
        self.load(part, blocks, store, guesses, other, before if first else now % 2)
        crew.work.reach[: reach.size] = reach
        source, scales, last = store.guesses, store.guess_scales, crew.last
        keep, add = (step.keep, step.add) if first else (1.0, 0.0)
        if first:
            for owner in (0, 1):
                self.load(part, blocks, store, "average", owner, before)
            crew.descend(player, source, scales, store, keep=keep, add=add, first=1, streets=last + 1)
        crew.descend(other, source, scales, store, keep=keep, add=add, first=1, streets=last)
        crew.ascend(improve, player, store, step.weights, keep, add, first=1)
        for name in updated:
            self.save(part, blocks, store, name, player, now)
        if first:
            for owner in (0, 1):
                self.save(part, blocks, store, "average", owner, now)
        return self.job_result(crew, player)

    def answer(self, part: SpotPart, blocks: Blocks, task: tuple[int, int, int], reach: Array) -> JobResult:
        """A player's best responses or expected values against the average strategy; see :meth:`improve`.

        ``task`` is the player, the mode (``BEST`` or ``EXPECT``) and the side of the blocks.
        """
        player, mode, side = task
        crew, store = self.crew(part.form, judging=True), self.store(part)
        for owner in (0, 1):
            self.load(part, blocks, store, "average", owner, side)
        crew.work.reach[: reach.size] = reach
        average, scales = store.average, store.average_scales
        crew.descend(1 - player, average, scales, store, first=1, streets=crew.last)
        crew.ascend(answer, player, mode, average, scales, store, first=1)
        return self.job_result(crew, player)


def store_of_arrays(arrays: dict[str, Array]) -> Store:
    """Return a store of regrets, current policy and average policy with their scales; all other arrays are empty or None."""
    return Store(
        **arrays,
        previous=None,
        changes=None,
        target=None,
        locked=np.zeros(0, np.uint8),
        lock_places=np.zeros(0, np.int64),
        lock_values=np.zeros(0, arrays["regrets"].dtype),
    )
