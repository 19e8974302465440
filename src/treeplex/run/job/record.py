"""Evaluation records with numbers by name, and progress."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from treeplex.base.storage.reading import parse_json
from treeplex.errors import FileError, SpecError

UNCOUNTED_ITERATIONS = 10**12
"""Iteration limit of runs that another limit stops: histories, time or a target."""
EFFORTS = ("iterations", "nodes", "seconds")
"""Units of effort."""
ACRONYMS = ("ce", "cce", "efce", "efcce")


def words_of(measure: str) -> str:
    """Return the display name of a measure, such as ``CCE gap`` for ``cce_gap``."""
    if measure == "nash_conv":
        return "NashConv"
    return " ".join(word.upper() if word in ACRONYMS else word for word in measure.split("_"))


def check_effort(name: str, known: Sequence[str] = EFFORTS) -> str:
    """Return ``name`` if it is one of the known units of effort; else raise :class:`SpecError`."""
    if name not in known:
        raise SpecError(f"the x axis must be {', '.join(known[:-1])} or {known[-1]}, not {name!r}")
    return name


def is_amount(value: object) -> bool:
    """Return whether a value is a finite number of at least 0 and not a boolean."""
    return not isinstance(value, bool) and isinstance(value, Real) and not value < 0 and value < math.inf


def check_limits(target: object, seconds: object) -> None:
    """Raise :class:`SpecError` for a target or a time limit that is not a finite number >= 0."""
    for name, value in (("target", target), ("seconds", seconds)):
        if value is not None and not is_amount(value):
            raise SpecError(f"{name} must be a number >= 0, not {value!r}")


def check_count(name: str, value: object) -> None:
    """Raise :class:`SpecError` unless ``value`` is an integer of at least one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SpecError(f"{name} must be an integer of at least 1, not {value!r}")


Read = Callable[[Any], Any]
"""Validates and converts one field of a record; raises TypeError or ValueError."""


def integer(value: Any) -> int:
    """Validate an integer."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return value


def real(value: Any) -> float:
    """Validate a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def reals(value: Any) -> tuple[float, ...]:
    """Validate a list of numbers, one per player or game."""
    if not isinstance(value, list | tuple):
        raise TypeError(f"{value!r} is not a list of numbers")
    return tuple(real(item) for item in value)


def named_reals(value: Any) -> dict[str, float]:
    """Validate numbers by name."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} is not a mapping from names to numbers")
    return {str(name): real(item) for name, item in value.items()}


def maybe(read: Read) -> Read:
    """Return a reader that also accepts None."""
    return lambda value: None if value is None else read(value)


def each(read: Read) -> Read:
    """Return a reader of lists."""
    return lambda value: tuple(read(one) for one in value)


Schema = Mapping[str, Read]
"""Readers of the fields of a kind's records, by name."""


@dataclass(frozen=True)
class Record:
    """The evaluation of a job at one point.

    The numbers are attributes as well: ``record.exploitability`` is ``record.numbers["exploitability"]``.

    Attributes:
        done: progress in the unit of its kind: iterations, epochs, subgames, games.
        seconds: time in its steps (without evaluation), summed over resumes.
        cpu_seconds: CPU time in its steps, including worker processes.
        numbers: measured numbers by name, depending on the kind of job.
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
        """Return a number by name, also from ``measures``."""
        measures = self.numbers.get("measures", {})
        return float(measures[name] if name in measures else getattr(self, name))

    def to_json(self) -> str:
        """Return one line of ``metrics.jsonl``, without the line end."""
        return json.dumps(self.plain())

    def plain(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return {"done": self.done, "seconds": self.seconds, "cpu_seconds": self.cpu_seconds, **self.numbers}

    def row(self, unit: str) -> dict[str, Any]:
        """Return the record as one row of a table.

        ``done`` is named by its unit, and measures by their names. Numbers per player or game have a column each, such as
        ``gain_0``.
        """
        numbers = dict(self.numbers)
        numbers |= numbers.pop("measures", None) or {}
        row: dict[str, Any] = {unit: self.done, "seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        for name, value in numbers.items():
            if isinstance(value, list | tuple):
                row |= {f"{name.removesuffix('s')}_{number}": item for number, item in enumerate(value)}
            else:
                row[name] = value
        return row

    @classmethod
    def from_json(cls, text: str, schema: Schema, location: str) -> "Record":
        """Read one line of ``metrics.jsonl``.

        Args:
            text: the line.
            schema: the required fields.
            location: file and line for errors.

        Raises:
            FileError: the line is not a record of this kind.
        """
        try:
            stored = parse_json(text)
            numbers = {name: read(stored.get(name)) for name, read in schema.items()}  # early records lack later fields
            return cls(integer(stored["done"]), real(stored["seconds"]), real(stored["cpu_seconds"]), numbers)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise FileError(
                f"{location}: not a record of this kind of run; restore a backup or restart the run (with --force)"
            ) from error


@dataclass(frozen=True)
class Progress:
    """Progress of a job, for a live display.

    Attributes:
        name: the job's name, such as the algorithm's spec.
        unit: unit of progress: iterations, epochs, subgames, games, boards.
        done: units done.
        total: units requested; None if something else stops the job.
        rate: units per second in this session; 0 before the first.
        seconds_left: estimate of the remaining seconds; None if unknown.
        numbers: numbers of the last record and current numbers of the job, by name.
    """

    name: str
    unit: str
    done: int
    total: int | None
    rate: float
    seconds_left: float | None
    numbers: Mapping[str, Any] = field(default_factory=dict)


Watcher = Callable[[Progress], None]


def check_total(run: object, iterations: tuple[int, int], nodes: tuple[int, int | None]) -> None:
    """Check that a resumed run has not passed its new limits.

    Args:
        run: its folder or name.
        iterations, nodes: how many are done, and the limit.

    Raises:
        SpecError: it has.
    """
    if iterations[0] > iterations[1]:
        raise SpecError(
            f"{run} has run {iterations[0]} iterations already; 'iterations' is the total, so give more than {iterations[0]}"
        )
    if nodes[1] is not None and nodes[0] > nodes[1]:
        raise SpecError(f"{run} has visited {nodes[0]:,} histories already; 'nodes' is the total, so give more than that")


def different(run: object, name: str, old: object, new: object) -> SpecError:
    """Return the error for a changed setting of a resumed run."""
    before = f"the default {name}" if old is None else f"{name} {old}"
    return SpecError(f"{run} was run with {before}, not {new}; start a new run to change it")
