"""Runs the library's update rules, by name, on compiled hold'em spots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from treeplex.base.wings import named, provided_by_name
from treeplex.base.workers.executor import Executor, make_executor
from treeplex.engine.threads import checked_threads
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.holdem.engine.form import Store
from treeplex.holdem.engine.passes import BoardPool
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.split.form import SplitForm, SplitState
from treeplex.holdem.forms.spot_form import DISK, ON_DEVICE, PACKED, FixedStrategy, SpotForm, bytes_needed, checked_storage
from treeplex.holdem.forms.spot_size import SpotSize
from treeplex.solvers.registry import DEFAULT_ALGORITHM, AnyAlgorithm, rule_of
from treeplex.solvers.rules.rule import UpdateRule
from treeplex.solvers.solver import FormSolver

Array = NDArray[Any]
CPU = "cpu"
"""The device of the compiled kernels."""


class HoldemSolver(FormSolver[Any]):
    """A run of an update rule on a compiled spot with alternating updates.

    Attributes:
        game: the compiled spot.
        store: the arrays of the engine.
        crew: thread pool with scratch space.
        threads, storage, locks: see :class:`SpotForm`.
        device: ``cpu``, ``cuda`` or ``torch-cpu``.
    """

    form: SpotForm | SplitForm | Any

    def __init__(
        self,
        game: CompiledSpot,
        algorithm: AnyAlgorithm = DEFAULT_ALGORITHM,
        *,
        threads: int | None = None,
        storage: str = "float32",
        horizon: int = 1000,
        locks: Sequence[FixedStrategy] = (),
        executor: Executor | None = None,
        device: str = CPU,
        most_memory: float | None = None,
    ) -> None:
        """Start from the uniform policy, or from the state of the run in the folder of ``disk:FOLDER``.

        Args:
            game: the compiled spot.
            algorithm: a spec such as ``dcfr(gamma=3)``, or a custom update rule.
            threads, storage, locks: see :class:`SpotForm`.
            horizon: iterations planned, for rules with a schedule.
            executor: runs the jobs of a spot solved in parts; without one, parts are used only with storage ``packed`` and
                ``disk:FOLDER``, on threads.
            device: where iterations run: ``cpu``, or with PyTorch ``cuda``, ``torch-cpu`` or ``auto``.
            most_memory: available bytes on the device; None for its free memory.

        Raises:
            SpecError: an unknown algorithm, parameter, storage or device, threads below 1, a spot that does not fit into the
                device's memory, or more iterations than a learned rule's horizon.
            AlgorithmError: the algorithm does not support hold'em spots or these options.
            FileError: the folder holds a different run, or cannot be written.
        """
        rule, text = method_of(algorithm)
        form: SpotForm | SplitForm | Any = None
        self.device = resolved(device)
        if self.device != CPU:
            check_device(self.device, storage, in_workers=executor is not None)
            make = named(provided_by_name("spot_devices")["form"])
            form = make(game, self.device, storage=storage, locks=locks, needs=rule.needs, threads=threads, most=most_memory)
        elif executor is None and not in_parts(storage):
            form = SpotForm(game, storage=storage, threads=threads, locks=locks)
        else:
            if locks:
                raise AlgorithmError("solving in parts does not support locks; use storage float32 without workers")
            kind, folder = (PACKED, Path(storage.removeprefix(DISK))) if storage.startswith(DISK) else (storage, None)
            count = checked_threads(threads)
            executor = executor or make_executor("inline" if count == 1 else "threads", count)
            form = SplitForm(game, executor, storage=checked_storage(kind), folder=folder, algorithm=text, horizon=horizon)
        super().__init__(form, rule, horizon=horizon, updates="alternating", algorithm=text)
        self.game, self.threads, self.storage, self.locks = game, form.threads, storage, form.locks
        if isinstance(self.tables, SplitState):
            self.iteration, self.horizon = self.tables.iteration, self.tables.horizon

    @property
    def store(self) -> Store:
        """The engine's arrays; not available for a spot solved in parts."""
        store: Store = self.tables.store
        return store

    @property
    def device_memory(self) -> int:
        """Predicted bytes on the device; 0 on the CPU."""
        return 0 if isinstance(self.form, SpotForm | SplitForm) else int(self.form.plan.total)

    @property
    def crew(self) -> BoardPool:
        """Thread pool with scratch space."""
        assert isinstance(self.form, SpotForm)
        return self.form.crew

    def close(self) -> None:
        """Release the resources of a spot solved in parts."""
        self.form.close()

    def average(self) -> tuple[Array, Array]:
        """The unnormalised average strategy, [Q], and its scales for 16-bit numbers."""
        return self.form.average(self.tables)

    def restore(self, iteration: int, arrays: Mapping[str, Array]) -> None:
        """Restore saved arrays.

        Raises:
            FileError: an array is missing or has the wrong shape or dtype; the state is then unchanged.
        """
        mine = self.arrays()
        for name, array in mine.items():
            saved = arrays.get(name)
            if saved is None or saved.shape != array.shape or saved.dtype != array.dtype:
                what = "missing" if saved is None else f"{saved.dtype} {saved.shape}, not {array.dtype} {array.shape}"
                raise FileError(f"solver state does not fit: {name!r} is {what}; use a state saved for this spot")
        self.form.restore(self.tables, iteration, arrays)
        self.iteration = iteration


def resolved(device: str) -> str:
    """The device that iterations run on: ``cpu``, ``cuda`` or ``torch-cpu``; ``auto`` is ``cuda`` if there is a CUDA GPU.

    Raises:
        SpecError: the device is unknown, or there is no GPU, or PyTorch is missing.
    """
    if device == CPU:
        return CPU
    name: str = named(provided_by_name("spot_devices")["device"])(device)
    return name


def check_device(device: str, storage: str, *, in_workers: bool) -> None:
    """Reject what works on the CPU only.

    Raises:
        SpecError: another storage than float32 or float64, or workers.
    """
    if storage not in ON_DEVICE:
        raise SpecError(f"device {device} does not support storage {storage}; use {' or '.join(ON_DEVICE)}, or device cpu")
    if in_workers:
        raise SpecError(f"device {device} cannot be combined with workers or ray; leave one of them out")


def in_parts(storage: str) -> bool:
    """Whether a storage type implies solving in parts, with or without workers."""
    return storage == PACKED or storage.startswith(DISK)


def method_of(algorithm: AnyAlgorithm) -> tuple[UpdateRule, str]:
    """The update rule of an algorithm on hold'em spots, and its canonical text; see :func:`rule_of`."""
    return rule_of(algorithm, DEFAULT_ALGORITHM)


def predicted_memory(
    size: SpotSize, algorithm: AnyAlgorithm = DEFAULT_ALGORITHM, *, storage: str = "float32", threads: int = 1
) -> int:
    """Memory of a solver for a spot of this size, in bytes: stored arrays, scratch space and the compiled spot."""
    return bytes_needed(size, method_of(algorithm)[0].needs, storage=storage, threads=threads)
