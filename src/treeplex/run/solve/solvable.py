"""The protocol of games that can be solved, compared and judged.

A game, a compiled game or a solution names its kind (:attr:`treeplex.games.base.Game.solvable`), and
:func:`treeplex.run.solve.solve.solvable` makes it. :func:`treeplex.solve`, :func:`treeplex.compare` and :func:`treeplex.judge`
know nothing else of it.
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
from treeplex.run.solve.measures import AnyMeasures
from treeplex.run.solve.solution import Solution
from treeplex.solvers.registry import AnyAlgorithm

WalkWatcher = Callable[[int], None]


class GameOptions(TypedDict, total=False):
    """Options for games that are compiled.

    Attributes:
        nodes: limit of histories walked, those before a resume included; the same effort for algorithms that
            sample and algorithms that sweep the whole tree (:attr:`treeplex.solvers.Solver.nodes`).
        updates: ``"alternating"`` or ``"simultaneous"``; default: what the algorithm's paper does.
        seed: seed of everything random; default 0.
        refine: split infostates of imperfect recall instead of refusing the game.
        limit: the most histories that may be walked to compile the game; default 50 million. A game that is clearly larger is
            refused in a second or two.
        device: where iterations run: ``"cpu"`` (the default) by compiled kernels, ``"cuda"`` with tensors on a graphics card,
            ``"auto"`` there if there is one, or ``"torch-cpu"`` to try it; for two players, by variants that neither adapt nor
            learn and fictitious play. It needs PyTorch.
        measures: judges of your own, which every record reports as well (``solution.measures``): functions of a compiled game
            and a policy by name, ``{"gain": gain}``, or ``["my.py:gain"]``. Give them again when resuming.
        walked: called now and then, while rules are walked before the first iteration, with the number of histories so far.

    There is ``start`` as well: a policy of any kind that
    :func:`treeplex.policies.as_policy` takes, from which a variant of CFR starts (:mod:`treeplex.solvers.rules.warm_start`).
    """

    nodes: int | None
    updates: str | None
    seed: int | None
    refine: bool | None
    limit: int | None
    device: str | None
    measures: AnyMeasures | None
    walked: WalkWatcher | None


class AnyCompiled(Protocol):
    """What tables and plots say of a game."""

    @property
    def spec(self) -> str: ...
    @property
    def players(self) -> int: ...
    @property
    def zero_sum(self) -> bool: ...


@dataclass(frozen=True)
class Asked:
    """What :func:`treeplex.solve` was asked for; None where nothing was said.

    Attributes:
        algorithm: a spec or an object.
        iterations, target, seconds, every: when to stop and to evaluate.
        out, force, resume: where the run goes, or comes from: a path, or a solution.
        options: those of the form that were given.
        interrupt: who listens for Ctrl-C already.
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
        algorithms: by their canonical names, each once.
        iterations, options: for each of them.
        axis: what effort is best counted in.
    """

    algorithms: Mapping[str, AnyAlgorithm]
    iterations: int | None
    options: Mapping[str, Any]
    axis: str


class Estimate(ABC):
    """The estimated cost of solving, known before anything is built."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is solved."""

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """All of it for people, by name."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All of it for ``--json``."""

    @abstractmethod
    def at_pace_here(self) -> Self:
        """The estimate with the pace of this machine, which is measured."""


class SolvingJob(Job):
    """A solver under way, as a job that hands out a solution."""

    def announcement(self) -> str:
        """A notice for the user before the first iteration; usually empty."""
        return ""

    @abstractmethod
    def solution(self, outcome: Outcome) -> Solution:
        """The solution when a session has ended."""


class Solvable(ABC):
    """A game as something to solve and to judge.

    Attributes:
        noun: what one of this kind is called.
        options: names of the options that its form has.
    """

    noun: ClassVar[str]
    options: ClassVar[frozenset[str]]

    def check_options(self, given: Mapping[str, Any], arguments: Collection[str] = ()) -> None:
        """Refuse an option of another kind of game, and a misspelled one.

        Args:
            given: the options.
            arguments: what else the caller takes, for suggestions.

        Raises:
            SpecError: the message says which there are.
        """
        for name in given:
            if name in self.options:
                continue
            others = [kind.options for kind in provided("solvables")]
            if name not in {"start", *GameOptions.__annotations__}.union(*others):
                raise SpecError(f"unknown argument {name!r}{nearest(name, {*self.options, *arguments})}")
            known = ", ".join(sorted(self.options))
            raise SpecError(f"{name} is no option for {self.noun}; leave it out (there are {known})")

    def read_target(self, text: str) -> float:
        """A target as text, in the game's units.

        Raises:
            SpecError: it is no number.
        """
        try:
            return float(text)
        except ValueError:
            raise SpecError(f"target {shown(text)} is no number; write 1e-3, in the game's units") from None

    @abstractmethod
    def session(self, asked: Asked, line: ProgressLine) -> AbstractContextManager[Session]:
        """A session of a :class:`SolvingJob`, new or where its last checkpoint stands; its place is locked meanwhile."""

    @abstractmethod
    def plan(
        self, algorithms: Sequence[AnyAlgorithm], iterations: int | None, options: Mapping[str, Any], line: ProgressLine
    ) -> ComparisonPlan:
        """Get ready for several algorithms: compile the game once, and check that each algorithm fits."""

    @classmethod
    @abstractmethod
    def resuming(cls, resume: Any, game: Any) -> "Solvable":
        """What resumes a solution or a file of this kind.

        Args:
            resume: the solution or the file.
            game: its game, as :func:`treeplex.load` takes it, or None.

        Raises:
            SpecError: the game is of another kind.
        """

    @abstractmethod
    def estimate(self) -> Estimate | None:
        """What solving will take, where that is known before anything is built; None where compiling is what counts."""

    @property
    def big_blind(self) -> float | None:
        """Chips of the big blind, to count results in, where there is one; else None."""
        return None

    @property
    @abstractmethod
    def played(self) -> Any:
        """What agents are asked to play: the compiled game, or the game whose infosets are not enumerated."""

    @abstractmethod
    def prepare(self, options: Mapping[str, Any], line: ProgressLine) -> None:
        """Compile for a judgement, as these options of the form say.

        Raises:
            SpecError: an option of another kind of game.
            GameError: rules that do not describe a game of perfect recall, or too large a game.
        """

    @property
    @abstractmethod
    def compiled(self) -> AnyCompiled:
        """The compiled game, after :meth:`plan`."""

    @abstractmethod
    def tree(self) -> CompiledGame:
        """The compiled game with its infosets enumerated; a :class:`GameError` where that cannot be."""

    @abstractmethod
    def place(self, folder: Path, name: str) -> Path:
        """Where in a folder the run of one of several algorithms goes."""

    @abstractmethod
    def policy(self, policy: Any, *, complete: bool = False) -> Any:
        """Any kind of policy as one of this game; see :func:`treeplex.policies.as_policy`."""

    @abstractmethod
    def judge(self, policy: Any) -> Judgement:
        """Judge any kind of policy of this game."""

    @abstractmethod
    def best_response(self, policy: Any, player: int) -> tuple[float, Any]:
        """The best that a player can get against a policy, and the policy with the player's part replaced by what gets it."""


def canonical(names: Sequence[tuple[str, AnyAlgorithm]]) -> dict[str, AnyAlgorithm]:
    """Algorithms by their canonical names, each once.

    Raises:
        SpecError: two different ones with one name.
    """
    chosen: dict[str, AnyAlgorithm] = {}
    for name, algorithm in names:
        same = chosen.setdefault(name, algorithm)
        if same != algorithm and not (isinstance(same, str) and isinstance(algorithm, str)):
            raise SpecError(f"two different algorithms are called {name!r}; give each a name of its own")
    return chosen
