"""Base classes for a learner type, its training job and its result."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Generic, TypeVar

from treeplex.base import notebook
from treeplex.base.dataframes import dataframe
from treeplex.base.digits import three_digits
from treeplex.base.settings import Settings, preset_named
from treeplex.errors import SpecError
from treeplex.games.base import on_one_line
from treeplex.run.job.folder import JobKind
from treeplex.run.job.job import RUNNING, Job
from treeplex.run.job.record import Record
from treeplex.run.job.workers import Work

RECIPE = "recipe"
"""The default preset."""
EFFORTS = ("nodes", "episodes")
"""Settings that limit training by effort: histories visited, and traversals or playthroughs."""
CURVE = "learning-curve.png"
"""File name of the learning curve in a training folder."""
SettingsT = TypeVar("SettingsT", bound=Settings)


@dataclass(frozen=True)
class Options:
    """Options of a run that do not affect its results.

    Attributes:
        work: workers.
        judge_every: seconds between evaluations during training; None for the default; 0 for no evaluations.
        folder: training folder; None if training runs in memory.
        named_in: folder whose ``run.json`` names the game; None if the user names it.
    """

    work: Work
    judge_every: float | None
    folder: Path | None
    named_in: Path | None = None


class TrainingJob(Job, Generic[SettingsT]):
    """A training run in progress.

    Attributes:
        learner: the learner's name.
        game: the game, as in ``run.json``.
        settings: the training settings.
    """

    def __init__(self, learner: str, game: Any, identity: str, settings: SettingsT) -> None:
        super().__init__()
        self.learner, self.game, self.settings = learner, game, settings
        self._identity = identity

    @property
    def name(self) -> str:
        """The learner's name."""
        return self.learner

    @property
    def identity(self) -> str:
        """The identity of the rules."""
        return self._identity

    def about(self) -> Mapping[str, Any]:
        """Learner, game and settings."""
        settings = self.settings.to_json()
        return {"learner": self.learner, "game": self.game, "identity": self.identity, "settings": settings}

    def resumed(self, records: Sequence[Record]) -> None:
        """Load the records of earlier sessions."""

    def close(self) -> None:
        """Stop the workers, if there are any."""

    def model(self, kind: "TrainingKind", records: Sequence[Record]) -> Any:
        """The current model, as :meth:`TrainingKind.load` reads it from a folder."""
        with TemporaryDirectory() as folder:
            self.write(Path(folder), records, status=RUNNING)
            return kind.load(Path(folder))


class TrainingKind(ABC):
    """A learner type: starts, resumes and reports on training runs.

    Attributes:
        name: the learner's name.
        job_kind: type of its jobs.
        settings: class of its settings.
        summary, source: a description, and the paper.
        takes: which of ``workers``, ``ray`` and ``judge_every`` it accepts.
        efforts: the :data:`EFFORTS` that can limit its training runs; in other learners a setting of that name has another
            meaning.
        line: format strings for the numbers in its progress line, by name.
        needs_game: whether a game must be named.
    """

    name: str
    job_kind: ClassVar[JobKind]
    settings: type[Settings]
    summary: str
    source: str
    takes: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    line: ClassVar[Mapping[str, str]] = {}
    needs_game: ClassVar[bool] = True

    def for_game(self, game: Any) -> "TrainingKind":
        """The learner type for a game, if one name stands for several types."""
        return self

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """Presets by name, depending on the game if one is given."""
        return {RECIPE: self.settings()}

    def settings_for(self, game: Any, preset: str | None, *changes: Mapping[str, Any]) -> Any:
        """The settings of a preset (None: :data:`RECIPE`) with changes applied; later changes override earlier ones.

        Raises:
            SpecError: a name is unknown, or a value is outside its range.
        """
        settings: Settings = preset_named(preset or RECIPE, self.presets(game))
        return settings.changed(*changes)

    @abstractmethod
    def make(self, game: Any, settings: Any, options: Options) -> TrainingJob[Any]:
        """Create a training run.

        Args:
            game: the game the user names, or that of ``run.json``.
            settings: settings of the class :attr:`settings`.
            options: options of the run.

        Raises:
            SpecError, GameError, AlgorithmError, FileError: the learner does not support the game.
        """

    def check_named(self, settings: Any, changes: Mapping[str, Any], place: Path) -> None:  # noqa: B027
        """On resuming, require that the user repeats every setting that names code.

        Raises:
            FileError: such a setting is not repeated.
        """

    def context(self) -> AbstractContextManager[None]:
        """Context manager for the training run."""
        return nullcontext()

    def load(self, folder: Path) -> Any:
        """The trained policy or network."""
        raise NotImplementedError

    def named_again(self, training: "TrainingRun") -> str:
        """Arguments that a resume command must repeat, since they name code: a custom game or learner."""
        return ""

    def summarise(self, training: "TrainingRun") -> dict[str, Any]:
        """JSON fields that extend or replace the latest numbers."""
        return {}

    def report(self, training: "TrainingRun") -> tuple[str, dict[str, str]]:
        """A title and named facts to print."""
        last = training.records[-1]
        facts = {name.replace("_", " "): f"{value:.4g}" for name, value in training.numbers().items() if value is not None}
        return f"{training.learner} on {training.game}: {count_of(last.done, self.job_kind.unit)}", facts

    def next_steps(self, training: "TrainingRun") -> list[tuple[str, str]]:
        """Suggested commands and what they do."""
        return []


def count_of(done: int, unit: str) -> str:
    """A count with its unit: ``1 game``, ``2,000 games``."""
    return f"{done:,} {unit[:-1] if done == 1 else unit}"


@dataclass(frozen=True, repr=False)
class TrainingRun:
    """Result of a training run.

    Attributes:
        learner: the learner's name.
        game: the game as in ``run.json``: a spec, several specs, or a spot.
        settings: the training settings.
        records: the records.
        status: ``finished``, ``time up`` or ``interrupted``.
        folder: its folder; None if it ran in memory.
        kind: the learner type.
        made: the trained model, if training ran in memory.
    """

    learner: str
    game: Any
    settings: Any
    records: tuple[Record, ...]
    status: str
    folder: Path | None
    kind: TrainingKind = field(repr=False)
    made: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def to_dataframe(self) -> Any:
        """The learning curve as a ``pandas.DataFrame``, one row per record.

        Columns are the unit of progress (``steps``, ``epochs``), ``seconds``, ``cpu_seconds``, and the records' numbers;
        numbers per player or game are ``name_0``, ``name_1`` and so on.

        Raises:
            SpecError: pandas is not installed.
        """
        return dataframe(record.row(self.kind.job_kind.unit) for record in self.records)

    def __repr__(self) -> str:
        done, last = count_of(self.records[-1].done, self.kind.job_kind.unit), self.records[-1]
        game = self.game if isinstance(self.game, str) else ", ".join(map(str, self.game))
        return on_one_line(
            f"<training of {self.learner} on {game}: {done} in {three_digits(last.seconds)} s, {self.status}"
            f"{'' if self.folder is None else f', in {self.folder}'}>"
        )

    @property
    def model(self) -> Any:
        """The trained policy, network, or best discount policy; read from the folder if there is one."""
        return self.made if self.folder is None else self.kind.load(self.folder)

    def load(self) -> Any:
        """:attr:`model`."""
        return self.model

    def numbers(self) -> dict[str, Any]:
        """The latest value of each number that is not None."""
        latest: dict[str, Any] = dict.fromkeys(self.kind.job_kind.numbers)
        for record in self.records:
            latest |= {name: value for name, value in record.numbers.items() if value is not None}
        return latest

    def to_json(self) -> dict[str, Any]:
        """The training run as JSON, with the latest value of each number."""
        last = self.records[-1]
        about = {"learner": self.learner, "game": self.game, "status": self.status, self.kind.job_kind.unit: last.done}
        times = {"seconds": last.seconds, "cpu_seconds": last.cpu_seconds}
        numbers = self.numbers()
        numbers |= numbers.pop("measures", {})
        return {
            **about,
            **times,
            **numbers,
            **self.kind.summarise(self),
            "folder": None if self.folder is None else str(self.folder),
        }

    def _repr_html_(self) -> str:
        title, facts = self.kind.report(self)
        picture = "" if self.folder is None else notebook.picture(self.folder / CURVE)
        return notebook.facts({**facts, "status": self.status}, title) + picture


def check_options(kind: TrainingKind, **given: Any) -> None:
    """Check that a learner type accepts the given options.

    Raises:
        SpecError: an option is not supported or out of range.
    """
    for name, value in given.items():
        if value is not None and name not in kind.takes:
            raise SpecError(f"{kind.name} does not support {name} (--{name.replace('_', '-')}); leave it out")
    if (every := given.get("judge_every")) is not None and not every >= 0:
        raise SpecError(f"judge_every (seconds between evaluations) must be at least 0, not {every!r}")
