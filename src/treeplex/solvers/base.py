"""The solver interface, and the naming of algorithms."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import FileError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.solvers.rules.rule import UpdateRule

if TYPE_CHECKING:
    from treeplex.solvers.sampling.solver import SamplingScheme

UPDATES = ("alternating", "simultaneous")
"""The orders of updates."""

GROUPS: Mapping[str, str] = {
    "tabular": "Tabular: full sweeps over the compiled game",
    "learned": "Learned: networks that set the discounts of CFR",
    "sampling": "Sampling: Monte Carlo CFR, also on games too large to compile (treeplex sample)",
    "correlation": "Correlation: joint play of any number of players",
    "exact": "Exact",
}
"""Groups of algorithms in display order, with headings."""


class Solver(ABC):
    """A run of one algorithm on one game.

    Attributes:
        game: the compiled game.
        algorithm: canonical text of the algorithm and its parameters.
        updates: ``alternating`` or ``simultaneous``; empty if not applicable.
        iteration: iterations done.
        exact: whether one iteration gives the exact solution (linear programming).
        longest: maximum number of iterations; None for no limit.
        objective: the measure to minimise and to compare with a target: ``exploitability`` or one of :meth:`measures`.
        average: float64 [Q], the average policy as unnormalised sequence-form weights.
        made_from: the requested algorithm, from which an equal solver can be built; None if unknown.
    """

    game: CompiledGame
    algorithm: str
    updates: str = ""
    iteration: int = 0
    exact: bool = False
    longest: int | None = None
    objective: str = "exploitability"
    average: Floats
    made_from: Any = None

    @abstractmethod
    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations; 0 only compiles the kernels."""

    @abstractmethod
    def arrays(self) -> Mapping[str, Floats]:
        """Return the arrays that the next iteration depends on, by name, without copying."""

    def average_policy(self) -> Policy:
        """Return the reach-weighted average policy, which converges to equilibrium; uniform before the first iteration."""
        return Policy(self.game, normalised(self.game, self.average))

    @property
    def nodes(self) -> int:
        """Number of visited histories; a full sweep counts every history once for each player that it updates separately."""
        passes = self.game.players if self.updates == "alternating" else 1
        return self.iteration * self.game.size.histories * passes

    def measures(self) -> dict[str, float]:
        """Return additional measures to report, by name; usually none."""
        return {}

    def announcement(self) -> str:
        """Return a notice for the user before a slow :meth:`run`; usually empty."""
        return ""

    def notes(self) -> list[str]:
        """Return notes for the user about the run so far, as sentences; usually none."""
        return []

    def state(self) -> dict[str, Floats]:
        """Return copies of :meth:`arrays` and the iteration, from which :meth:`restore` continues bit-identically."""
        return {"iteration": np.array([float(self.iteration)])} | {name: a.copy() for name, a in self.arrays().items()}

    def restore(self, state: Mapping[str, Floats]) -> None:
        """Continue from a saved state.

        Raises:
            FileError: an array is missing or has another shape; the solver is then unchanged.
        """
        arrays = {"iteration": np.empty(1), **self.arrays()}
        check_state(arrays, state)
        for name, array in arrays.items():
            array[...] = state[name]
        self.iteration = int(arrays["iteration"][0])


def check_state(arrays: Mapping[str, Floats], state: Mapping[str, Floats]) -> None:
    """Check that a saved state has all arrays with the right shapes.

    Raises:
        FileError: an array is missing or has another shape.
    """
    for name, array in arrays.items():
        if name not in state or state[name].shape != array.shape:
            shape = state[name].shape if name in state else "none"
            raise FileError(f"solver state does not fit: array {name!r} should have shape {array.shape}, found {shape}")


def order_of_updates(order: str) -> str:
    """Return ``order`` if it is one of :data:`UPDATES`.

    Raises:
        SpecError: it is not.
    """
    if order not in UPDATES:
        raise SpecError(f"updates must be {' or '.join(UPDATES)}, not {order!r}")
    return order


@dataclass(frozen=True)
class SolverStart:
    """Inputs for building a solver.

    Attributes:
        game: the compiled game.
        parameters: validated parameters of the algorithm that differ from the defaults.
        algorithm: canonical text of the algorithm and its parameters.
        updates: the order of updates; None for the algorithm's default.
        seed: random seed of sampling algorithms.
    """

    game: CompiledGame
    parameters: Mapping[str, Any]
    algorithm: str
    updates: str | None
    seed: int


SolverFactory = Callable[[SolverStart], Solver]
"""Builds the solver of a run."""


class RuleFactory(Protocol):
    """Creates an update rule from an algorithm's parameters."""

    def __call__(self, parameters: Mapping[str, Any]) -> UpdateRule: ...


@dataclass(frozen=True)
class Algorithm:
    """An algorithm by name.

    Attributes:
        name: its name on the command line.
        summary: one line.
        reference: the paper.
        parameters: parameters and their defaults.
        rule: creates its update rule, which runs on every form; None for other algorithms.
        factory: builds its solver on compiled games if there is no rule.
        updates: supported orders of updates, default first; empty if not applicable.
        needs_horizon: whether its weights depend on the planned number of iterations.
        texts: string parameters and their choices, default first.
        group: its group, one of :data:`GROUPS`.
        scheme: for sampling algorithms, the :class:`treeplex.solvers.sampling.solver.SamplingScheme`.
    """

    name: str
    summary: str
    reference: str
    rule: RuleFactory | None = None
    factory: SolverFactory | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    updates: tuple[str, ...] = ()
    needs_horizon: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)
    group: str = "tabular"
    scheme: "SamplingScheme | None" = None
