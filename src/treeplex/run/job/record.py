"""Records of evaluations, with numbers by name, and progress."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from treeplex.base.storage.reading import parse_json
from treeplex.errors import FileError, SpecError

UNCOUNTED_ITERATIONS = 10**12
"""Iterations of a run that something else stops: histories, time or a target."""
EFFORTS = ("iterations", "nodes", "seconds")
"""What effort is counted in."""
ACRONYMS = ("ce", "cce", "efce", "efcce")


def words_of(measure: str) -> str:
    """The readable name of a measure, such as ``CCE gap`` for ``cce_gap``."""
    if measure == "nash_conv":
        return "NashConv"
    return " ".join(word.upper() if word in ACRONYMS else word for word in measure.split("_"))


def check_effort(name: str) -> str:
    """``name`` itself, if it is one of :data:`EFFORTS`; else :class:`SpecError`."""
    if name not in EFFORTS:
        raise SpecError(f"the x axis shows {', '.join(EFFORTS[:-1])} or {EFFORTS[-1]}, not {name!r}")
    return name


def is_amount(value: object) -> bool:
    """Whether a value is a finite number of at least 0, and neither true nor false."""
    return not isinstance(value, bool) and isinstance(value, Real) and not value < 0 and value < math.inf


def check_limits(target: object, seconds: object) -> None:
    """Raise :class:`SpecError` for a target or a time limit that is not a finite number >= 0."""
    for name, value in (("target", target), ("seconds", seconds)):
        if value is not None and not is_amount(value):
            raise SpecError(f"{name} must be a number >= 0, not {value!r}")


def check_count(name: str, value: object) -> None:
    """Raise :class:`SpecError` unless ``value`` is a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SpecError(f"{name} must be a whole number of at least 1, not {value!r}")


Read = Callable[[Any], Any]
"""Checks one number of a record and gives it its type; raises TypeError or ValueError."""


def integer(value: Any) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value


def real(value: Any) -> float:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def reals(value: Any) -> tuple[float, ...]:
    """Numbers, one per player or per game."""
    if not isinstance(value, list | tuple):
        raise TypeError(f"{value!r} is no list of numbers")
    return tuple(real(each) for each in value)


def named_reals(value: Any) -> dict[str, float]:
    """Numbers by name."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} is no list of numbers by name")
    return {str(name): real(each) for name, each in value.items()}


def maybe(read: Read) -> Read:
    """None, or what ``read`` reads."""
    return lambda value: None if value is None else read(value)


def each(read: Read) -> Read:
    """A list of what ``read`` reads."""
    return lambda value: tuple(read(one) for one in value)


Schema = Mapping[str, Read]
"""The numbers of a kind's records, by name."""


@dataclass(frozen=True)
class Record:
    """Where a job stood, and what it was worth there.

    The numbers are attributes as well: ``record.exploitability`` is ``record.numbers["exploitability"]``.

    Attributes:
        done: how far it was, in the unit of its kind: iterations, epochs, subgames, games.
        seconds: time in its steps (evaluation excluded), summed over resumes.
        cpu_seconds: processor time in its steps, that of its worker processes included.
        numbers: what was measured, by name; which there are depends on the kind of job.
    """

    done: int
    seconds: float
    cpu_seconds: float
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        numbers = self.__dict__.get("numbers", {})
        if name in numbers:
            return numbers[name]
        raise AttributeError(f"the record has no {name!r}")

    def measure(self, name: str) -> float:
        """One of the numbers by name, or one of those in its ``measures``."""
        measures = self.numbers.get("measures", {})
        return float(measures[name] if name in measures else getattr(self, name))

    def to_json(self) -> str:
        """One line of ``metrics.jsonl``, without the line end."""
        return json.dumps(self.plain())

    def plain(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {"done": self.done, "seconds": self.seconds, "cpu_seconds": self.cpu_seconds, **self.numbers}

    def row(self, unit: str) -> dict[str, Any]:
        """All of it as one row of a table.

        ``done`` is called by its unit, measures by their names; numbers of players or games have a column each: the first of
        ``gains`` is ``gain_0``.
        """
        numbers = dict(self.numbers)
        numbers |= numbers.pop("measures", None) or {}
        found: dict[str, Any] = {unit: self.done, "seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        for name, value in numbers.items():
            if isinstance(value, list | tuple):
                found |= {f"{name.removesuffix('s')}_{number}": each for number, each in enumerate(value)}
            else:
                found[name] = value
        return found

    @classmethod
    def from_json(cls, text: str, schema: Schema, place: str) -> "Record":
        """Read one line of ``metrics.jsonl``.

        Args:
            text: the line.
            schema: which numbers it must have.
            place: file and line, for the message.

        Raises:
            FileError: it is no record of this kind.
        """
        try:
            found = parse_json(text)
            numbers = {name: read(found.get(name)) for name, read in schema.items()}  # early records lack what came later
            return cls(integer(found["done"]), real(found["seconds"]), real(found["cpu_seconds"]), numbers)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise FileError(
                f"{place}: not a record of this kind of run; put back a copy or start the run again (with --force)"
            ) from error


@dataclass(frozen=True)
class Progress:
    """Where a job stands, for a live display.

    Attributes:
        name: what runs: the spec of the algorithm, say.
        unit: what is counted: iterations, epochs, subgames, games, boards.
        done: how many are done.
        total: how many were asked for; None where something else stops the job.
        rate: how many a second in this session; 0 before the first.
        seconds_left: an estimate; None when nothing is known.
        numbers: those of the last record, and what the job says of this moment, by name.
    """

    name: str
    unit: str
    done: int
    total: int | None
    rate: float
    seconds_left: float | None
    numbers: Mapping[str, Any] = field(default_factory=dict)


Watcher = Callable[[Progress], None]
