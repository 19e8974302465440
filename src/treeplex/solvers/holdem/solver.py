"""Solve a compiled hold'em spot: the same update rules as everywhere, by name, on its form."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from treeplex.engine.holdem.form import Store
from treeplex.engine.holdem.passes import BoardPool
from treeplex.errors import FileError
from treeplex.forms.holdem.compile_spot import CompiledSpot
from treeplex.forms.holdem.spot_form import FixedStrategy, SpotForm, SpotState, bytes_needed
from treeplex.forms.holdem.spot_size import SpotSize
from treeplex.solvers.registry import DEFAULT_ALGORITHM, AnyAlgorithm, rule_of
from treeplex.solvers.rules.rule import UpdateRule
from treeplex.solvers.solver import FormSolver

Array = NDArray[Any]


class HoldemSolver(FormSolver[SpotState]):
    """A run of an update rule on a compiled spot; updates alternate.

    Attributes:
        game: the compiled spot.
        store: the arrays that the engine works on.
        crew: threads and scratch space.
        threads, storage, locks: see :class:`SpotForm`.
    """

    form: SpotForm

    def __init__(
        self,
        game: CompiledSpot,
        algorithm: AnyAlgorithm = DEFAULT_ALGORITHM,
        *,
        threads: int | None = None,
        storage: str = "float32",
        horizon: int = 1000,
        locks: Sequence[FixedStrategy] = (),
    ) -> None:
        """Start from the uniform policy.

        Args:
            game: the compiled spot.
            algorithm: a spec such as ``dcfr(gamma=3)``, or an update rule of your own.
            threads, storage, locks: see :class:`SpotForm`.
            horizon: iterations planned, for rules that pace themselves.

        Raises:
            SpecError: an unknown algorithm, parameter or storage, threads below 1, or a run longer than a learned rule's
                horizon.
            AlgorithmError: an algorithm that does not run on hold'em spots, or not with these options.
        """
        rule, text = method_of(algorithm)
        form = SpotForm(game, storage=storage, threads=threads, locks=locks)
        super().__init__(form, rule, horizon=horizon, updates="alternating", algorithm=text)
        self.game, self.threads, self.storage, self.locks = game, form.threads, storage, form.locks

    @property
    def store(self) -> Store:
        """The arrays that the engine works on."""
        return self.tables.store

    @property
    def crew(self) -> BoardPool:
        """Threads and scratch space."""
        return self.form.crew

    def restore(self, iteration: int, arrays: Mapping[str, Array]) -> None:
        """Continue from saved arrays.

        Raises:
            FileError: an array is missing or has another shape or kind; nothing has changed then.
        """
        mine = self.arrays()
        for name, array in mine.items():
            found = arrays.get(name)
            if found is None or found.shape != array.shape or found.dtype != array.dtype:
                what = "none" if found is None else f"{found.dtype} {found.shape}"
                raise FileError(f"solver state does not fit: {name!r} should be {array.dtype} {array.shape}, found {what}")
        for name, array in mine.items():
            array[...] = arrays[name]
        self.iteration = iteration


def method_of(algorithm: AnyAlgorithm) -> tuple[UpdateRule, str]:
    """The update rule that an algorithm means on hold'em spots, and its canonical text; see :func:`rule_of`."""
    return rule_of(algorithm, DEFAULT_ALGORITHM)


def predicted_memory(
    size: SpotSize, algorithm: AnyAlgorithm = DEFAULT_ALGORITHM, *, storage: str = "float32", threads: int = 1
) -> int:
    """Bytes that a solver of a spot of this size will allocate: stored arrays, scratch space and the compiled spot."""
    return bytes_needed(size, method_of(algorithm)[0].needs, storage=storage, threads=threads)
