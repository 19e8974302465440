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
    "learned": "Learned: networks that set how CFR discounts",
    "sampling": "Sampling: Monte Carlo CFR, also on games too large to compile (treeplex sample)",
    "correlation": "Correlation: joint play of any number of players",
    "exact": "Exact",
}
"""The groups of algorithms in a menu, in order, and their headings."""


class Solver(ABC):
    """A run of one algorithm on one game.

    Attributes:
        game: the compiled game.
        algorithm: canonical text of the algorithm and its parameters.
        updates: ``alternating`` or ``simultaneous``; empty where it has no meaning.
        iteration: iterations done.
        exact: one iteration is the exact solution (linear programming).
        longest: the most iterations that it can do in all; None for any number.
        objective: what a run aims at, ``exploitability`` or one of :meth:`measures`; a target is about this.
        average: float64 [Q], the average policy as weights in sequence form, up to a factor.
        made_from: the algorithm as it was asked for, from which a solver like this one can be built; None if that is not kept.
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
        """The arrays that the next iteration depends on, by name; not copies."""

    def average_policy(self) -> Policy:
        """The policy that approaches equilibrium: the average, weighted by own reach; uniform before the first iteration."""
        return Policy(self.game, normalised(self.game, self.average))

    @property
    def nodes(self) -> int:
        """Histories walked so far; a full sweep counts every history once for each player who updates in a pass of its own."""
        passes = self.game.players if self.updates == "alternating" else 1
        return self.iteration * self.game.size.histories * passes

    def measures(self) -> dict[str, float]:
        """Additional measures to report at an evaluation, by name; usually none."""
        return {}

    def announcement(self) -> str:
        """A notice for the user before a slow :meth:`run`; usually empty."""
        return ""

    def notes(self) -> list[str]:
        """Notes for the user about the run so far, as sentences; usually none."""
        return []

    def state(self) -> dict[str, Floats]:
        """Copies of :meth:`arrays` and the iteration, from which :meth:`restore` continues bit for bit."""
        return {"iteration": np.array([float(self.iteration)])} | {name: a.copy() for name, a in self.arrays().items()}

    def restore(self, state: Mapping[str, Floats]) -> None:
        """Continue from a saved state.

        Raises:
            FileError: an array is missing or has another shape; nothing has changed then.
        """
        arrays = {"iteration": np.empty(1), **self.arrays()}
        check_state(arrays, state)
        for name, array in arrays.items():
            array[...] = state[name]
        self.iteration = int(arrays["iteration"][0])


def check_state(arrays: Mapping[str, Floats], state: Mapping[str, Floats]) -> None:
    """Refuse a saved state without one of some arrays, or with another shape of it.

    Raises:
        FileError: the message names the array.
    """
    for name, array in arrays.items():
        if name not in state or state[name].shape != array.shape:
            found = state[name].shape if name in state else "none"
            raise FileError(f"solver state does not fit: array {name!r} should have shape {array.shape}, found {found}")


def order_of_updates(order: str) -> str:
    """``order`` itself, if it is one of :data:`UPDATES`.

    Raises:
        SpecError: it is not.
    """
    if order not in UPDATES:
        raise SpecError(f"updates are {' or '.join(UPDATES)}, not {order!r}")
    return order


@dataclass(frozen=True)
class SolverStart:
    """The inputs from which a solver is built.

    Attributes:
        game: the compiled game.
        parameters: the algorithm's, checked, those that differ from the defaults.
        algorithm: canonical text of the algorithm and its parameters.
        updates: the order of updates; None for the algorithm's usual one.
        seed: for algorithms that sample.
    """

    game: CompiledGame
    parameters: Mapping[str, Any]
    algorithm: str
    updates: str | None
    seed: int


SolverFactory = Callable[[SolverStart], Solver]
"""Builds the solver of a run."""


class RuleFactory(Protocol):
    """Makes an update rule from an algorithm's parameters."""

    def __call__(self, parameters: Mapping[str, Any]) -> UpdateRule: ...


@dataclass(frozen=True)
class Algorithm:
    """An algorithm by name.

    Attributes:
        name: what the command line calls it.
        summary: one line.
        reference: the paper.
        parameters: parameters and their defaults.
        rule: makes its update rule, which runs on every form; None for an algorithm that is none.
        factory: builds its solver on compiled games where there is no rule.
        updates: orders of updates it is defined for, the usual one first; empty where it has no meaning.
        needs_horizon: its weights depend on the number of iterations planned.
        texts: parameters that are words, and what each may be, the usual one first.
        group: what it belongs to in a menu, one of :data:`GROUPS`.
        scheme: of an algorithm that samples histories, the :class:`treeplex.solvers.sampling.solver.SamplingScheme`.
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
