"""Policy sources of wings: agents, trainings and solved spots. The core itself reads files and runs."""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from treeplex.base.wings import named, provided, provided_by_name
from treeplex.errors import FileError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.run.job.folder import RUN, kind_of
from treeplex.run.solve.settings import POLICY

UNIFORM = "uniform"
"""Name of the uniform policy."""


@dataclass(frozen=True)
class Evaluation:
    """Options of ``treeplex evaluate`` other than game and policy.

    Attributes:
        playthroughs: agents only: playthroughs to average; None for the agent's default.
        iterations: agents only: iterations per search; None for the agent's default.
        changes: agents only: settings, ``KEY=VALUE``.
        think: agents only: time per search; None for no limit.
        seed: random seed of agents.
        workers, ray: workers that search; None for the source's default.
        worst, exact, refine, complete: policies only: see the command.
        as_json, progress: output options.
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
class ShowOptions:
    """Options of ``treeplex show`` other than the policy; ``more`` has the options of wings."""

    infostate: str | None
    player: str | None
    game: str | None
    complete: bool
    as_json: bool
    more: Mapping[str, Any]


class AskedPolicy(NamedTuple):
    """A policy obtained from a source, with its origin and cost.

    Attributes:
        policy: the policy at every infoset.
        origin: its origin, for ``--json``.
        cost: a description of the queries.
    """

    policy: Any
    origin: dict[str, Any]
    cost: str


class PolicySource(ABC):
    """A kind of name, file, folder or object from which a wing reads policies.

    Attributes:
        solvable: for solution files: class that resumes them, see :attr:`treeplex.games.base.Game.solvable`; else empty.
        suffix: for solution files: their suffix; else empty.
        plays: whether it is an agent that is queried, so that commands accept options of agents.
    """

    solvable: ClassVar[str] = ""
    suffix: ClassVar[str] = ""
    plays: ClassVar[bool] = False

    @abstractmethod
    def reads(self, source: Any) -> bool:
        """Return whether an object given as a policy is of this kind."""

    def named_by(self, text: str) -> bool:
        """Return whether a command-line text is of this kind, including names of agents."""
        return self.reads(text)

    @abstractmethod
    def game(self, source: Any) -> Any:
        """Return the policy's game, compiled or for :func:`treeplex.load`.

        Raises:
            SpecError: the source does not name its game.
        """

    def compiled(self, source: Any) -> CompiledGame:
        """Return the compiled :meth:`game`.

        Raises:
            FileError: the game is in a user file, which is never loaded implicitly.
        """
        return compile_game(load(self.game(source), named_in=source).enumerable_rules())

    @abstractmethod
    def policy(self, source: Any, game: Any = None) -> Any:
        """Return the policy for a game (compiled or for :func:`treeplex.load`); default: :meth:`game`.

        Raises:
            PolicyError: the policy belongs to another game.
            FileError: the file cannot be read.
        """

    def origin(self, source: str) -> dict[str, Any]:
        """Return algorithm, iterations and seconds, if recorded."""
        return {"algorithm": source, "iterations": None, "seconds": None}

    def ask(self, text: str, game: Any, request: Evaluation) -> AskedPolicy:
        """Return the policy of an agent; only for sources with :attr:`plays`."""
        raise NotImplementedError(f"{type(self).__name__} does not support play")

    def evaluate(self, text: str, game: str, request: Evaluation) -> bool:
        """Evaluate and print with custom output; return False to use the default output of ``treeplex evaluate``.

        Raises:
            SpecError: an option does not apply.
        """
        return False

    def show(self, text: str, request: ShowOptions) -> bool:
        """Print the strategy with custom output; return False to use the default output of ``treeplex show``.

        Raises:
            SpecError: an option does not apply.
        """
        return False

    def compare(self, first: str, second: str, options: Mapping[str, Any], *, as_json: bool) -> None:
        """Print a comparison of two solution files; ``options`` has the options of wings."""
        raise NotImplementedError(f"{type(self).__name__} does not support comparing solutions")


def sources() -> list[PolicySource]:
    """Return the wings' policy sources, highest wing first."""
    return [source() for source in reversed(provided("sources"))]


def source_of(policy: Any) -> PolicySource | None:
    """Return the wing's source for a policy; None for ``uniform``, policy files and run folders, which the core reads."""
    if isinstance(policy, str | os.PathLike) and (policy == UNIFORM or holds_policy(policy)):
        return None
    return next((source for source in sources() if source.reads(policy)), None)


def sources_named_by(text: str) -> list[PolicySource]:
    """Return the wings' sources that read a command-line text."""
    return [source for source in sources() if source.named_by(text)]


def solution_source(path: str | os.PathLike[str], *, by_name: bool = False) -> PolicySource | None:
    """Return the source that reads a solution file, by content or (``by_name``) by suffix; None for other files."""
    ones = [source for source in sources() if source.solvable]
    return next(
        (source for source in ones if source.reads(path) or (by_name and os.fspath(path).endswith(source.suffix))), None
    )


def holds_policy(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a run folder with a policy (solved, sampled or trained)."""
    return kind_of(path) in ("solve", "sample", "learner", "own learner")


def checksums_of(paths: Iterable[str]) -> dict[str, str]:
    """Return a SHA-256 of each path that is a file or a run folder: of its policy, or else of its ``run.json``."""
    checksums = {}
    for path in paths:
        for file in (Path(path), Path(path) / POLICY, Path(path) / RUN):
            if os.path.isfile(file):
                with file.open("rb") as stream:
                    checksums[path] = hashlib.file_digest(stream, "sha256").hexdigest()
                break
    return checksums


def check_unchanged(run: object, about: Mapping[str, Any], checksums: Mapping[str, str]) -> None:
    """Raise :class:`FileError` if a policy file has changed since the job to resume recorded its checksum."""
    for path, checksum in about.get("checksums", {}).items():
        if checksums.get(path) != checksum:
            raise FileError(f"{run}: {path} has changed since the start; restore it or restart (with --force)")


def shipped_file(text: str) -> str | os.PathLike[str] | None:
    """Return the policy file shipped under a name such as ``network:NAME``; None for other texts.

    Raises:
        SpecError: no file of that name is shipped.
    """
    prefix, colon, _ = text.partition(":")
    entry = provided_by_name("policy_files").get(prefix) if colon else None
    path: str | os.PathLike[str] | None = named(entry)(text) if entry else None
    return path
