"""What a kind of training says of itself, and the training under way and at its end."""

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
from treeplex.run.job.job import Job
from treeplex.run.job.record import Record
from treeplex.run.job.workers import Work

RECIPE = "recipe"
"""The preset that is used unless another one is asked for."""
EFFORTS = ("nodes", "episodes")
"""Settings by which trainings are limited that count them: histories walked, and walks or playthroughs."""
CURVE = "learning-curve.png"
"""The picture of a training in its folder."""
SettingsT = TypeVar("SettingsT", bound=Settings)


@dataclass(frozen=True)
class Options:
    """How a training runs; nothing here decides its numbers.

    Attributes:
        work: who plays.
        judge_every: seconds between judgements under way; None as often as costs little; 0 never.
        folder: where the training is written; None in memory.
        named_in: the folder in whose ``run.json`` the game stands; None if a person names it.
    """

    work: Work
    judge_every: float | None
    folder: Path | None
    named_in: Path | None = None


class TrainingJob(Job, Generic[SettingsT]):
    """A training under way.

    Attributes:
        learner: the learner's name.
        game: what it trains on, as ``run.json`` has it.
        settings: what was asked for.
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
        """Take up the records of earlier sessions."""

    def close(self) -> None:
        """End workers, if there are any."""

    def model(self, kind: "TrainingKind", records: Sequence[Record]) -> Any:
        """The model so far, as :meth:`TrainingKind.load` reads it from a folder."""
        with TemporaryDirectory() as place:
            self.write(Path(place), records, ended=False)
            return kind.load(Path(place))


class TrainingKind(ABC):
    """A learner, and how trainings by it are started, resumed and reported.

    Attributes:
        name: by which it is asked for.
        job_kind: of its jobs.
        settings: the class of its settings.
        summary, source: what it is, and the paper that it is from.
        takes: which of ``workers``, ``ray`` and ``judge_every`` it takes.
        efforts: which of :data:`EFFORTS` limit its trainings; a setting of such a name may mean something else.
        line: what its live line shows: formats of numbers of its records, by name.
        needs_game: whether a game has to be named.
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
        """The kind for a game, where one name stands for several kinds."""
        return self

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """Settings by name, for a game if one is named."""
        return {RECIPE: self.settings()}

    def settings_for(self, game: Any, preset: str | None, *changes: Mapping[str, Any]) -> Any:
        """A preset (None: :data:`RECIPE`) with changes, later ones over earlier ones.

        Raises:
            SpecError: an unknown name, or a value outside its range.
        """
        found: Settings = preset_named(preset or RECIPE, self.presets(game))
        return found.changed(*changes)

    @abstractmethod
    def make(self, game: Any, settings: Any, options: Options) -> TrainingJob[Any]:
        """A training at its beginning.

        Args:
            game: what a person names, or what ``run.json`` has as the game.
            settings: of the class :attr:`settings`.
            options: how it runs.

        Raises:
            SpecError, GameError, AlgorithmError, FileError: it cannot be trained on.
        """

    def check_named(self, settings: Any, changes: Mapping[str, Any], place: Path) -> None:  # noqa: B027
        """Refuse to resume where settings name code that a person has not named again.

        Raises:
            FileError: they do.
        """

    def context(self) -> AbstractContextManager[None]:
        """The context in which a training runs."""
        return nullcontext()

    def load(self, folder: Path) -> Any:
        """The trained policy or network."""
        raise NotImplementedError

    def named_again(self, training: "Training") -> str:
        """Command-line words for whatever has to be named again on resuming: rules or a learner that would run code."""
        return ""

    def summarise(self, training: "Training") -> dict[str, Any]:
        """Fields of ``--json`` that add to the newest numbers, or replace some."""
        return {}

    def report(self, training: "Training") -> tuple[str, dict[str, str]]:
        """A title, and facts by name, for people."""
        last = training.records[-1]
        facts = {name.replace("_", " "): f"{value:.4g}" for name, value in training.numbers().items() if value is not None}
        return f"{training.learner} on {training.game}: {count_of(last.done, self.job_kind.unit)}", facts

    def next_steps(self, training: "Training") -> list[tuple[str, str]]:
        """Commands to try next, and what they do."""
        return []


def count_of(done: int, unit: str) -> str:
    """``1 game``, ``2,000 games``."""
    return f"{done:,} {unit[:-1] if done == 1 else unit}"


@dataclass(frozen=True, repr=False)
class Training:
    """A training as it ended.

    Attributes:
        learner: the learner's name.
        game: what it trained on, as ``run.json`` has it: a spec, several, or a spot.
        settings: what was asked for.
        records: the records.
        status: ``finished``, ``time up`` or ``interrupted``.
        folder: where it is; None in memory.
        kind: of the training.
        made: in memory, what it has made.
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

        Columns are the unit of the training (``steps``, ``epochs``), ``seconds``, ``cpu_seconds``, and the numbers of its
        records; of a number for each player or game ``name_0``, ``name_1`` and so on.

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
        """What it has made: a policy, a network, or the best discount policy; from its folder, if it has one."""
        return self.made if self.folder is None else self.kind.load(self.folder)

    def load(self) -> Any:
        """:attr:`model`."""
        return self.model

    def numbers(self) -> dict[str, Any]:
        """The newest of each number of its records that is not None."""
        found: dict[str, Any] = dict.fromkeys(self.kind.job_kind.numbers)
        for record in self.records:
            found |= {name: value for name, value in record.numbers.items() if value is not None}
        return found

    def to_json(self) -> dict[str, Any]:
        """The training as JSON, the newest of each number included."""
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
    """Refuse options that a kind of training does not take.

    Raises:
        SpecError: one is given that it does not take, or is out of range.
    """
    for name, value in given.items():
        if value is not None and name not in kind.takes:
            raise SpecError(f"{kind.name} does not take {name} (--{name.replace('_', '-')}); leave it out")
    if (every := given.get("judge_every")) is not None and not every >= 0:
        raise SpecError(f"judge_every, seconds between judgements, must be at least 0, not {every!r}")
