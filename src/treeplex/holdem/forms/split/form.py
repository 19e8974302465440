"""A spot with a local trunk and parts solved by jobs: for large trees, packed storage and runs on disk.

The trunk is the spot's first street. In each iteration, for each player in turn, own reach at the trunk's ends goes to one
job per part; the returned values are added in the order of parts. Results therefore do not depend on the number of workers or
on which worker runs a job. A part's regrets and averages are stored in blocks that every worker can read, in this process's
memory or in files; they are never sent with a job. Any worker can therefore run any job, no data are lost if a worker dies,
and only the parts in progress are in memory.

The split is that of Cepheus (Bowling, Burch, Johanson and Tammelin 2015), whose subgames stay on their machine.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.storage.tensors import TensorFile, tensor, write_tensors
from treeplex.base.workers.crew import SharedValue
from treeplex.base.workers.executor import Executor
from treeplex.engine.tree.learned import DiscountNetwork
from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT
from treeplex.errors import AlgorithmError, FileError
from treeplex.forms.form import RuleKind
from treeplex.holdem.engine.form import SCALES, STORE, Store
from treeplex.holdem.engine.passes import BoardPool, answer, improve
from treeplex.holdem.engine.workspace import make_workspace
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.layout import rows_of
from treeplex.holdem.forms.split.blocks import Blocks, FolderBlocks, MemoryBlocks
from treeplex.holdem.forms.split.jobs import SCALES_OF, PartWorker, Step, store_of_arrays
from treeplex.holdem.forms.split.parts import SpotPart, greatest_extent, split_spot
from treeplex.holdem.forms.spot_form import PACKED, STORAGE, ValuedAtRoot

Array = NDArray[Any]

TRUNK, FORMAT = "trunk.safetensors", "treeplex spot in parts"
"""File of a run's trunk in its folder."""
MEMORY_FOLDER = Path("/dev/shm")
"""A folder in memory, for blocks of local workers; not available on every system."""


@dataclass
class SplitState:
    """The arrays of a run.

    Attributes:
        trunk: regrets, guesses and averages of the first street, with scales, by their names in a store.
        blocks: blocks of the parts.
        iteration: iterations done.
        horizon: iterations planned at the start of the run.
        every: iterations between evaluations; None if unknown, as in folders of earlier versions.
    """

    trunk: dict[str, Array]
    blocks: Blocks
    iteration: int = 0
    horizon: int = 1000
    every: int | None = None


class SplitForm(ValuedAtRoot):
    """A compiled spot in parts; a :class:`treeplex.forms.form.Form` with alternating updates.

    Attributes:
        game: the compiled spot.
        storage: kind of stored numbers, :data:`PACKED` or one of :data:`treeplex.holdem.forms.spot_form.STORAGE`.
        executor: runs the jobs.
        folder: the run's folder, with blocks in files that outlive it; None for memory.
        trunk, parts: see :func:`split_spot`.
        moved: bytes of blocks read and written so far, and the workers' seconds for it.
    """

    players = 2
    locks = ()

    def __init__(
        self,
        game: CompiledSpot,
        executor: Executor,
        *,
        storage: str = "float32",
        folder: Path | None = None,
        algorithm: str = "",
        horizon: int = 1000,
    ) -> None:
        """Split the spot into parts.

        Args:
            game: the compiled spot.
            executor, storage, folder: see the attributes.
            algorithm: canonical text of the rule, which must match a run in the folder.
            horizon: iterations planned; a run in the folder keeps its own.

        Raises:
            AlgorithmError: the spot has only one street, storage is int8, or remote workers have no shared folder.
        """
        if executor.elsewhere and folder is None:
            raise AlgorithmError("solving in parts on a cluster needs a folder shared by all machines; use storage disk:FOLDER")
        if storage == "int8":
            raise AlgorithmError("solving in parts does not support storage int8; use packed")
        self.game, self.executor, self.storage, self.folder = game, executor, storage, folder
        boards = hashlib.sha256(game.form.boards.tobytes()).hexdigest()
        self._about = {"spot": self.identity, "boards": boards, "storage": storage, "algorithm": algorithm}
        self._horizon = horizon
        self.threads, self.moved = executor.size, (0, 0.0)
        self.trunk, self.parts = split_spot(game)
        self._kind: Any = STORAGE.get(storage, np.int16)
        self._numbers = int(self.trunk.form.boards[1, STORE])
        self._scales = int(self.trunk.form.boards[1, SCALES]) if self._kind is np.int16 else 0
        self._crews: dict[bool, BoardPool] = {}
        self._shared: tuple[SharedValue[PartWorker], list[SharedValue[SpotPart]]] | None = None
        self._scratch: TemporaryDirectory[str] | None = None

    @property
    def identity(self) -> str:
        """A hash that identifies the spot."""
        return self.game.spot.identity

    def allocate(
        self, kind: RuleKind, needs: frozenset[str], averages: int = 1, network: DiscountNetwork | None = None
    ) -> SplitState:
        """The initial state at the uniform policy, or the state of the run in the folder.

        Raises:
            AlgorithmError: the update rule is adaptive or has no fixed schedule of weights.
        """
        if kind is not RuleKind.REGRETS or not needs <= {"regrets", "average", "guesses"}:
            raise AlgorithmError("does not support solving in parts; use storage float32 without workers")
        predicts = "guesses" in needs
        extent = greatest_extent(self.parts)
        worker = PartWorker(self._kind, extent, packed=self.storage == PACKED, predicts=predicts, raked=self.game.raked)
        self._worker = worker
        self._shared = self.executor.share(worker), [self.executor.share(part) for part in self.parts]
        arrays = {}
        for name in ("regrets", *(["guesses"] if predicts else []), "average"):
            arrays[name], arrays[SCALES_OF[name]] = np.zeros(self._numbers, self._kind), np.zeros(self._scales, np.float32)
        if not predicts:
            arrays["guesses"], arrays["guess_scales"] = arrays["regrets"], arrays["regret_scales"]
        state = SplitState(arrays, self._make_blocks(), horizon=self._horizon)
        if self.folder is not None and (self.folder / TRUNK).exists():
            self._resume(self.folder / TRUNK, state)
        return state

    def _resume(self, path: Path, state: SplitState) -> None:
        """Restore the trunk and the iteration number of the run in the folder.

        Raises:
            FileError: the folder holds another run, or is damaged.
        """
        with TensorFile(path, FORMAT, 1) as file:
            for name, value in self._about.items():
                if file.about.get(name) != value:
                    what = {"spot": "another spot", "boards": "another spot"}.get(name, f"{name} {file.about.get(name)}")
                    raise FileError(
                        f"{self.folder} contains a run with {what}; choose another folder, or use the settings of that run"
                    )
            for name in file:
                if name not in state.trunk or file[name].shape != state.trunk[name].shape:
                    raise FileError(f"{path} does not fit the spot; restart in an empty folder")
                state.trunk[name][:] = file[name]
            state.iteration, state.horizon = int(file.about["iteration"]), int(file.about["horizon"])
            state.every = int(file.about["every"]) if "every" in file.about else None

    def _save(self, state: SplitState) -> None:
        """Record the run's iteration number in the folder; this makes the blocks of the other side current."""
        assert self.folder is not None
        about = {"format": FORMAT, "version": "1", **self._about}
        about |= {"iteration": str(state.iteration), "horizon": str(state.horizon)}
        about |= {} if state.every is None else {"every": str(state.every)}
        saved = {name: array for name, array in state.trunk.items() if self._worker.predicts or not name.startswith("guess")}
        write_tensors(self.folder / TRUNK, about, {name: tensor(array) for name, array in saved.items()})

    def _make_blocks(self) -> Blocks:
        if self.folder is not None:
            return claimed(self.folder)
        if self.executor.apart:
            self._scratch = TemporaryDirectory(prefix="treeplex-", dir=MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else None)
            return FolderBlocks(Path(self._scratch.name))
        return MemoryBlocks()

    def iterate(self, kind: RuleKind, rows: Floats, state: SplitState, *, alternating: bool = True) -> None:
        """Run one iteration per row of weights; without rows, only compile the kernels."""
        if not len(rows):
            part = self.parts[0]
            self._worker.crew(part.form, judging=False).prepare(self._worker.store(part))
        for row in rows:
            self._iterate_once(row, state)

    def iterate_learned(
        self, network: DiscountNetwork, state: SplitState, done: int, iterations: int, horizon: int, *, alternating: bool = True
    ) -> None:
        """Not supported for spots in parts."""
        raise AlgorithmError("does not support solving in parts; use storage float32 without workers")

    def _iterate_once(self, row: Floats, state: SplitState) -> None:
        crew, store = self._crew(judging=False), store_of_arrays(state.trunk)
        source, scales, now = store.guesses, store.guess_scales, state.iteration + 1
        for player in (0, 1):
            keep, add = (float(row[AVERAGE_DISCOUNT]), float(row[AVERAGE])) if player == 0 else (1.0, 0.0)
            for owner in (0, 1) if player == 0 else (0,):
                crew.descend(owner, source, scales, store, keep=keep, add=add, streets=1)
            step = Step(now, player, np.array(row), keep, add)
            self._gather(PartWorker.improve, crew, player, state.blocks, step)
            crew.ascend(improve, player, store, row, keep, add, streets=1)
        state.iteration = now
        if self.folder is not None:
            self._save(state)

    def _gather(self, function: Any, crew: BoardPool, player: int, blocks: Blocks, task: Any) -> None:
        """Run the jobs and sum the values that they return at the trunk's ends."""
        assert self._shared is not None
        worker, parts = self._shared
        reach = self.executor.share(crew.work.reach.copy())
        total = rows_of(crew.form, crew.work, player, gathered=True)
        total[:] = 0.0
        for result in self.executor.map(function, ((worker, part, blocks, task, reach) for part in parts)):
            total += result.values
            self.moved = self.moved[0] + result.bytes, self.moved[1] + result.seconds
        self.executor.forget(reach)

    def _crew(self, *, judging: bool) -> BoardPool:
        """The thread pool that runs the trunk."""
        if judging not in self._crews:
            form, short = self.trunk.form, self._kind is np.int16
            number = np.float64 if judging or self._kind is np.float64 else np.float32
            work = make_workspace(form, 1, number, raked=self.game.raked, packed=judging or short)
            self._crews[judging] = BoardPool(form, work, raked=self.game.raked)
        return self._crews[judging]

    def root_values(self, state: SplitState, player: int, mode: int) -> Floats:
        """Values of a player's hands at the root against the average strategy, float64 [hands].

        ``mode`` is ``BEST`` or ``EXPECT``; chips times the opponent's compatible range weight.
        """
        crew, store = self._crew(judging=True), store_of_arrays(state.trunk)
        average, scales = store.average, store.average_scales
        crew.descend(1 - player, average, scales, store, streets=1)
        self._gather(PartWorker.answer, crew, player, state.blocks, (player, mode, state.iteration % 2))
        crew.ascend(answer, player, mode, average, scales, store, streets=1)
        return np.array(crew.root_values(player))

    def arrays(self, state: SplitState) -> dict[str, Array]:
        """The arrays of the whole spot as in :class:`SpotForm`, assembled at each call; in a file if memory is insufficient."""
        names = ["regrets", *(["guesses"] if self._worker.predicts else []), "average"]
        return {key: array for name in names for key, array in self._whole(state, name).items() if array.size}

    def policy(self, state: SplitState) -> Array:
        """The average strategy of the whole spot; see :meth:`arrays`."""
        return self._whole(state, "average")["average"]

    def average(self, state: SplitState) -> tuple[Array, Array]:
        """The average strategy of the whole spot and its scales; see :meth:`arrays`."""
        numbers = self._whole(state, "average")
        return numbers["average"], numbers[SCALES_OF["average"]]

    def restore(self, state: SplitState, iteration: int, arrays: Mapping[str, Array]) -> None:
        """Restore from arrays of the whole spot."""
        names = ["regrets", *(["guesses"] if self._worker.predicts else []), "average"]
        for name in names:
            scales = arrays.get(SCALES_OF[name], np.zeros(0, np.float32))
            state.trunk[name][:], state.trunk[SCALES_OF[name]][:] = arrays[name][: self._numbers], scales[: self._scales]
            for part, store, player in self._stores():
                for column, whole, stored_name in ((STORE, arrays[name], name), (SCALES, scales, SCALES_OF[name])):
                    for here, there in part.pieces(self.game.form, player, column) if whole.size else ():
                        getattr(store, stored_name)[here] = whole[there]
                self._worker.save(part, state.blocks, store, name, player, iteration)
        state.iteration = iteration
        if self.folder is not None:
            self._save(state)

    def _stores(self) -> Iterator[tuple[SpotPart, Store, int]]:
        return ((part, self._worker.store(part), player) for part in self.parts for player in (0, 1))

    def _whole(self, state: SplitState, name: str) -> dict[str, Array]:
        """An array of the whole spot, and its scales."""
        on_disk = self.storage == PACKED or self.folder is not None
        numbers = spacious(self.game.stored, self._kind) if on_disk else np.empty(self.game.stored, self._kind)
        scales = np.empty(self.game.scales if self._scales else 0, np.float32)
        numbers[: self._numbers], scales[: self._scales] = state.trunk[name], state.trunk[SCALES_OF[name]]
        for part, store, player in self._stores():
            self._worker.load(part, state.blocks, store, name, player, state.iteration % 2)
            for column, whole, stored_name in ((STORE, numbers, name), (SCALES, scales, SCALES_OF[name])):
                for here, there in part.pieces(self.game.form, player, column) if whole.size else ():
                    whole[there] = getattr(store, stored_name)[here]
        return {name: numbers, SCALES_OF[name]: scales}

    def close(self) -> None:
        """Remove the temporary blocks; the caller closes the executor."""
        if self._scratch is not None:
            self._scratch.cleanup()


def claimed(folder: Path) -> FolderBlocks:
    """Open the folder of a run, creating it if necessary; blocks of a run without a finished iteration are removed.

    Raises:
        FileError: the folder cannot be created, or has other files and no run.
    """
    blocks = FolderBlocks(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / TRUNK).exists():
            others = [entry.name for entry in folder.iterdir() if not (entry.name.startswith(".") or blocks.has(entry.name))]
            if others:
                raise FileError(f"{folder} contains other files, such as {others[0]}; choose an empty or a new folder")
            for entry in folder.iterdir():
                if blocks.has(entry.name):
                    entry.unlink()
    except OSError as error:
        raise FileError(f"cannot create the folder {folder}: {error.strerror or error}; choose another") from error
    return blocks


def spacious(size: int, kind: Any) -> Array:
    """An array in an unnamed memory-mapped file, for arrays that do not fit into memory.

    Raises:
        FileError: there is no room for the file.
    """
    try:
        with TemporaryFile(prefix="treeplex-") as file:
            file.truncate(size * np.dtype(kind).itemsize)
            return np.memmap(file, kind, "r+", shape=(size,)).view(np.ndarray)
    except OSError as error:
        raise FileError(
            f"not enough disk space for a temporary file of {size * np.dtype(kind).itemsize:,} bytes ({error}); set "
            "TMPDIR to another folder"
        ) from error
