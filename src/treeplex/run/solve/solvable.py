"""The interface of games that can be solved, compared and evaluated.

A game, compiled game or solution names its class (:attr:`treeplex.games.base.Game.solvable`), which
:func:`treeplex.run.solve.solve.solvable` instantiates. :func:`treeplex.solve`, :func:`treeplex.compare` and
:func:`treeplex.judge` use only this interface.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypedDict

from treeplex.base.spec import nearest, shown
from treeplex.base.wings import provided
from treeplex.errors import SpecError
from treeplex.evaluate import Judgement
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.job import Job, Outcome, Session
from treeplex.run.job.progress_line import ProgressLine
from treeplex.run.job.record import EFFORTS
from treeplex.run.solve.measures import AnyMeasures
from treeplex.run.solve.solution import Solution
from treeplex.solvers.registry import AnyAlgorithm

WalkWatcher = Callable[[int], None]


class GameOptions(TypedDict, total=False):
    """Options for compiled games.

    Attributes:
        nodes: limit of visited histories over all resumes; comparable between sampling and full-tree algorithms
            (:attr:`treeplex.solvers.Solver.nodes`).
        updates: ``"alternating"`` or ``"simultaneous"``; default: as in the algorithm's paper.
        seed: random seed; default 0.
        refine: split infostates without perfect recall instead of raising an error.
        limit: maximum number of histories walked to compile the game; default 50 million. A clearly larger game is refused
            within a second or two.
        threads: number of threads of variants' iterations, which does not change results; default: as many as pay, at most one
            per idle core.
        device: ``"cpu"`` (default, compiled kernels), ``"cuda"``, ``"auto"`` (cuda if available) or ``"torch-cpu"`` (for
            testing). Devices other than cpu need PyTorch, and support two players, fictitious play, and variants that neither
            adapt nor learn.
        precision: ``"double"`` (default) or ``"single"``: floating-point precision of iterations and their tables, for variants
            of CFR on stored payoffs. Averages and evaluation stay in double precision. On Leduc poker, exploitability stops
            falling at 3e-8.
        measures: custom measures that every record reports (``solution.measures``): functions of a compiled game and a policy
            by name, ``{"gain": gain}``, or ``["my.py:gain"]``. They must be given again when resuming.
        walked: called periodically with the number of histories while the rules are walked before the first iteration.

    The further option ``start`` is a policy of any kind accepted by :func:`treeplex.policies.as_policy`, from which a CFR
    variant starts (:mod:`treeplex.solvers.rules.warm_start`).
    """

    nodes: int | None
    updates: str | None
    seed: int | None
    refine: bool | None
    limit: int | None
    threads: int | None
    device: str | None
    precision: str | None
    measures: AnyMeasures | None
    walked: WalkWatcher | None


class AnyCompiled(Protocol):
    """The part of a compiled game that tables and plots use."""

    @property
    def spec(self) -> str: ...
    @property
    def players(self) -> int: ...
    @property
    def zero_sum(self) -> bool: ...


@dataclass(frozen=True)
class SolveRequest:
    """A request to :func:`treeplex.solve`; None for arguments not given.

    Attributes:
        algorithm: a spec or an algorithm object.
        iterations, target, seconds, every: limits and evaluation interval.
        out, force, resume: destination of the run, and the path or solution to resume.
        options: the given options of the game's kind.
        interrupt: an existing handler of Ctrl-C.
    """

    algorithm: AnyAlgorithm | None
    iterations: int | None
    target: float | None
    seconds: float | None
    every: int | None
    out: Path | None
    force: bool
    resume: Any
    options: Mapping[str, Any]
    interrupt: Interrupt | None = None


class ComparisonPlan(NamedTuple):
    """A plan for comparing several algorithms.

    Attributes:
        algorithms: distinct algorithms by canonical name.
        iterations, options: applied to each algorithm.
        axis: the best unit of effort.
    """

    algorithms: Mapping[str, AnyAlgorithm]
    iterations: int | None
    options: Mapping[str, Any]
    axis: str


class Estimate(ABC):
    """The estimated cost of solving, available before anything is built."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the problem."""

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return display texts by name."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return all numbers for ``--json``."""

    @abstractmethod
    def at_pace_here(self) -> Self:
        """Return the estimate with the measured speed of this machine."""


class SolvingJob(Job):
    """A solver as a job that returns a solution."""

    def announcement(self) -> str:
        """A notice for the user before the first iteration; usually empty."""
        return ""

    @abstractmethod
    def solution(self, outcome: Outcome) -> Solution:
        """Return the solution at the end of a session."""


class Solvable(ABC):
    """A game that can be solved and evaluated.

    Attributes:
        noun: the name of this kind of game.
        options: names of the options of this kind.
        efforts: units of effort that records of this kind have.
    """

    noun: ClassVar[str]
    options: ClassVar[frozenset[str]]
    efforts: ClassVar[tuple[str, ...]] = EFFORTS

    def check_options(self, given: Mapping[str, Any], arguments: Collection[str] = ()) -> None:
        """Check that all options belong to this kind of game.

        Args:
            given: the given options.
            arguments: other arguments of the caller, for suggestions.

        Raises:
            SpecError: an option is unknown, or for another kind of game.
        """
        for name in given:
            if name in self.options:
                continue
            others = [kind.options for kind in provided("solvables")]
            if name not in {"start", *GameOptions.__annotations__}.union(*others):
                raise SpecError(f"unknown argument {name!r}{nearest(name, {*self.options, *arguments})}")
            raise SpecError(f"{name} is not an option for {self.noun}; leave it out")

    def read_target(self, text: str) -> float:
        """Parse a target in the game's units.

        Raises:
            SpecError: it is not a number.
        """
        try:
            return float(text)
        except ValueError:
            raise SpecError(f"target {shown(text)} is not a number; write it in the game's units, such as 1e-3") from None

    @abstractmethod
    def session(self, request: SolveRequest, line: ProgressLine) -> AbstractContextManager[Session]:
        """Return a session of a new or resumed :class:`SolvingJob`; its folder is locked within the context."""

    @abstractmethod
    def plan(
        self,
        algorithms: Sequence[AnyAlgorithm],
        iterations: int | None,
        seconds: float | None,
        options: Mapping[str, Any],
        line: ProgressLine,
    ) -> ComparisonPlan:
        """Prepare a comparison: compile the game once, and check that each algorithm supports it."""

    @classmethod
    @abstractmethod
    def resuming(cls, resume: Any, game: Any) -> "Solvable":
        """Return an object that resumes a solution or a file of this kind.

        Args:
            resume: the solution or the file.
            game: its game for :func:`treeplex.load`, or None.

        Raises:
            SpecError: the game is of another kind.
        """

    @abstractmethod
    def estimate(self) -> Estimate | None:
        """Estimate the cost of solving before building anything; None if it depends on compiling."""

    @property
    def big_blind(self) -> float | None:
        """Big blind in chips, the unit of results; None without blinds."""
        return None

    @property
    @abstractmethod
    def played(self) -> Any:
        """The game for agents: the compiled game, or the game itself if its infosets are not enumerated."""

    @abstractmethod
    def prepare(self, options: Mapping[str, Any], line: ProgressLine) -> None:
        """Compile the game for evaluation with these options.

        Raises:
            SpecError: an option belongs to another kind of game.
            GameError: the rules do not describe a game of perfect recall, or the game is too large.
        """

    @property
    @abstractmethod
    def compiled(self) -> AnyCompiled:
        """The compiled game, after :meth:`plan`."""

    @abstractmethod
    def tree(self) -> CompiledGame:
        """The compiled game with enumerated infosets; raises :class:`GameError` if that is impossible."""

    @abstractmethod
    def place(self, folder: Path, name: str) -> Path:
        """Return the path within a comparison's folder of one algorithm's run."""

    @abstractmethod
    def policy(self, policy: Any, *, complete: bool = False) -> Any:
        """Convert any kind of policy to a policy of this game; see :func:`treeplex.policies.as_policy`."""

    @abstractmethod
    def judge(self, policy: Any) -> Judgement:
        """Evaluate any kind of policy of this game."""

    @abstractmethod
    def best_response(self, policy: Any, player: int) -> tuple[float, Any]:
        """Return a player's best-response value against a policy, and the policy with that best response."""


def canonical(names: Sequence[tuple[str, AnyAlgorithm]]) -> dict[str, AnyAlgorithm]:
    """Return distinct algorithms by canonical name.

    Raises:
        SpecError: two different algorithms have the same name.
    """
    chosen: dict[str, AnyAlgorithm] = {}
    for name, algorithm in names:
        same = chosen.setdefault(name, algorithm)
        if same != algorithm and not (isinstance(same, str) and isinstance(algorithm, str)):
            raise SpecError(f"two different algorithms are called {name!r}; give them different names")
    return chosen
