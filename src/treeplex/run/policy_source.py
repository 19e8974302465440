"""Policy sources of wings: agents, trainings, solved spots; the core reads files and runs."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from treeplex.base.wings import named, provided, provided_by_name
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.run.job.folder import kind_of

UNIFORM = "uniform"
"""The policy that plays every action equally often, by name."""


@dataclass(frozen=True)
class Evaluation:
    """Options of ``treeplex evaluate`` other than game and policy.

    Attributes:
        playthroughs: of agents: repeated playthroughs to average; None for the agent's own.
        iterations: of agents: of each search; None for the agent's own.
        changes: of agents: settings, ``KEY=VALUE``.
        think: of agents: time for each search; None for none.
        seed: of what agents draw.
        workers, ray: who searches; None for this process alone or the source's own choice.
        worst, exact, refine, complete: of policies: see the command.
        as_json, progress: how it is printed.
    """

    playthroughs: int | None
    iterations: int | None
    changes: list[str] | None
    think: str | None
    seed: int
    workers: int | None
    ray: str | None
    worst: int
    exact: bool
    refine: bool
    complete: bool
    as_json: bool
    progress: bool | None


@dataclass(frozen=True)
class Showing:
    """Options of ``treeplex show`` other than the policy; ``more`` are those of wings."""

    infostate: str | None
    player: str | None
    game: str | None
    complete: bool
    as_json: bool
    more: Mapping[str, Any]


class AskedPolicy(NamedTuple):
    """A policy obtained from a source, with its origin and cost.

    Attributes:
        policy: at every infoset.
        origin: where it comes from, for ``--json``.
        cost: what it took to ask, in words.
    """

    policy: Any
    origin: dict[str, Any]
    cost: str


class PolicySource(ABC):
    """One kind of texts, files, folders or objects from which a wing reads policies.

    Attributes:
        solvable: of files of solutions: what resumes them, as of :attr:`treeplex.games.base.Game.solvable`; else empty.
        suffix: of files of solutions: how their names end; else empty.
        plays: whether it is a player who is asked what it plays, so that commands take options of agents.
    """

    solvable: ClassVar[str] = ""
    suffix: ClassVar[str] = ""
    plays: ClassVar[bool] = False

    @abstractmethod
    def reads(self, source: Any) -> bool:
        """Whether something that is given as a policy is of this kind."""

    def named_by(self, text: str) -> bool:
        """Whether a text on the command line is of this kind, where agents have names as well."""
        return self.reads(text)

    @abstractmethod
    def game(self, source: Any) -> Any:
        """The game that it is for, compiled or as :func:`treeplex.load` takes it.

        Raises:
            SpecError: it names none; the message says so.
        """

    def compiled(self, source: Any) -> CompiledGame:
        """:meth:`game`, compiled.

        Raises:
            FileError: it is in another file, which is not loaded because this one names it.
        """
        return compile_game(load(self.game(source), named_in=source).enumerable_rules())

    @abstractmethod
    def policy(self, source: Any, game: Any = None) -> Any:
        """The policy on a game, compiled or as :func:`treeplex.load` takes it; default: :meth:`game`.

        Raises:
            PolicyError: it belongs to another game.
            FileError: a file that cannot be read.
        """

    def origin(self, source: str) -> dict[str, Any]:
        """Algorithm, iterations and seconds behind it, as far as it says."""
        return {"algorithm": source, "iterations": None, "seconds": None}

    def ask(self, text: str, game: Any, asked: Evaluation) -> AskedPolicy:
        """What a player plays; of what :attr:`plays`."""
        raise NotImplementedError(f"{type(self).__name__} does not play")

    def evaluate(self, text: str, game: str, asked: Evaluation) -> bool:
        """Judge it in a way of its own and print; False for the usual way of ``treeplex evaluate``.

        Raises:
            SpecError: options that are not for it.
        """
        return False

    def show(self, text: str, asked: Showing) -> bool:
        """Print the strategy in a way of its own; False for the usual way of ``treeplex show``.

        Raises:
            SpecError: options that are not for it.
        """
        return False

    def compare(self, first: str, second: str, options: Mapping[str, Any], *, as_json: bool) -> None:
        """Print two solutions side by side; of files of solutions. ``options`` are those of wings."""
        raise NotImplementedError(f"{type(self).__name__} compares no solutions")


def sources() -> list[PolicySource]:
    """The wings' policy sources, the highest wing first."""
    return [each() for each in reversed(provided("sources"))]


def source_of(policy: Any) -> PolicySource | None:
    """What a wing reads this from; None of what the core reads: ``uniform``, policy files and folders of runs."""
    if isinstance(policy, str | os.PathLike) and (policy == UNIFORM or holds_policy(policy)):
        return None
    return next((each for each in sources() if each.reads(policy)), None)


def sources_named_by(text: str) -> list[PolicySource]:
    """The wings' sources that read a command-line text."""
    return [each for each in sources() if each.named_by(text)]


def solution_source(path: str | os.PathLike[str], *, by_name: bool = False) -> PolicySource | None:
    """What reads the file of a solution, by its content, or else ``by_name``, by how that ends; None of anything else."""
    ones = [each for each in sources() if each.solvable]
    return next((each for each in ones if each.reads(path) or (by_name and os.fspath(path).endswith(each.suffix))), None)


def holds_policy(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with a run that has a policy: on a compiled game, on rules, or by a learner."""
    return kind_of(path) in ("solve", "sample", "learner", "own learner")


def shipped_file(text: str) -> str | os.PathLike[str] | None:
    """The policy file that comes with a wing under a name such as ``network:NAME``; None of any other text.

    Raises:
        SpecError: no file of that name comes with it.
    """
    prefix, colon, _ = text.partition(":")
    entry = provided_by_name("policy_files").get(prefix) if colon else None
    found: str | os.PathLike[str] | None = named(entry)(text) if entry else None
    return found
