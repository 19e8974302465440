"""What a run is asked to do and what it reports: settings, records of evaluations, progress."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from numbers import Integral, Real

from treeplex.errors import FileError, SpecError
from treeplex.storage.reading import parse_json


@dataclass(frozen=True)
class Settings:
    """What decides the numbers of a run; kept in ``run.json``, so that a resumed run is the same run.

    Attributes:
        iterations: iterations in total, over all resumes.
        horizon: the number of iterations that horizon-dependent algorithms plan for: that of the first start.
        target: stop at the first evaluation with an exploitability of at most this; None to run all iterations.
        every: evaluate every so many iterations; None for logarithmic spacing.
        updates: ``"alternating"``, ``"simultaneous"`` or None for the algorithm's own default.
        seed: seed of everything random in the algorithm.
        refine: whether infostates of imperfect recall were split.
        nodes: stop once the solver has walked so many histories, over all resumes; None for no such limit.
    """

    iterations: int
    horizon: int
    target: float | None = None
    every: int | None = None
    updates: str | None = None
    seed: int = 0
    refine: bool = False
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name in ("iterations", "horizon", "every", "seed", "nodes"):  # NumPy's whole numbers are not what JSON can say
            value = getattr(self, name)
            if not isinstance(value, bool) and isinstance(value, Integral):
                object.__setattr__(self, name, int(value))
        check_count("iterations", self.iterations)
        check_count("horizon", self.horizon)
        for name in ("every", "nodes"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        if self.target is not None and not is_amount(self.target):
            raise SpecError(f"target must be a number >= 0, not {self.target!r}")
        if not isinstance(self.refine, bool):
            raise SpecError(f"refine must be true or false, not {self.refine!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise SpecError(f"seed must be a whole number, not {self.seed!r}")
        if self.updates not in (None, "alternating", "simultaneous"):
            raise SpecError(f"updates must be 'alternating' or 'simultaneous', not {self.updates!r}")


UNCOUNTED_ITERATIONS = 10**12
"""Iterations of a run that something else stops: histories, time or a target."""
EFFORTS = ("iterations", "nodes", "seconds")
"""What effort is counted in."""
ACRONYMS = ("ce", "cce", "efce", "efcce")


def words_of(measure: str) -> str:
    """What people call a measure: ``exploitability``, ``NashConv``, ``CCE gap`` for ``cce_gap``."""
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


def check_count(name: str, value: object) -> None:
    """Raise :class:`SpecError` unless ``value`` is a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SpecError(f"{name} must be a whole number of at least 1, not {value!r}")


@dataclass(frozen=True)
class Record:
    """One evaluation of the average policy.

    Attributes:
        iteration: iterations done.
        seconds: time spent in the solver (evaluation excluded), summed over resumes.
        exploitability: mean over players of what a best response gains, in game units.
        nash_conv: the sum of the same.
        value: expected payoff of each player.
        gains: what a best response of each player gains; NashConv is their sum.
        nodes: histories walked by the solver so far.
        measures: what else the solver reports (:meth:`treeplex.solvers.Solver.measures`).
    """

    iteration: int
    seconds: float
    exploitability: float
    nash_conv: float
    value: tuple[float, ...]
    gains: tuple[float, ...] = ()
    nodes: int = 0
    measures: Mapping[str, float] = field(default_factory=dict)

    def measure(self, name: str) -> float:
        """One of the numbers by name: ``exploitability``, ``nash_conv`` or one of ``measures``."""
        return float(self.measures[name] if name in self.measures else getattr(self, name))

    def to_json(self) -> str:
        """One line of ``metrics.jsonl``, without the line end."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str, place: str) -> "Record":
        """Read one line of ``metrics.jsonl``; ``place`` (file and line) goes into the :class:`FileError`."""
        try:
            fields = parse_json(text)
            return cls(
                iteration=int(fields["iteration"]),
                seconds=float(fields["seconds"]),
                exploitability=float(fields["exploitability"]),
                nash_conv=float(fields["nash_conv"]),
                value=tuple(float(value) for value in fields["value"]),
                gains=tuple(float(gain) for gain in fields.get("gains", ())),
                nodes=int(fields.get("nodes", 0)),
                measures={str(name): float(value) for name, value in fields.get("measures", {}).items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileError(f"{place}: not a record of an evaluation; remove the line to go on without it") from error


@dataclass(frozen=True)
class Progress:
    """Where a run stands, for a live display.

    Attributes:
        algorithm: the algorithm's spec.
        iteration: iterations done.
        iterations: iterations asked for.
        exploitability: at the last evaluation; None before the first.
        rate: iterations a second in this sitting; 0 before the first.
        seconds_left: an estimate from the rate and the limits; None when nothing is known.
        nodes: histories walked.
        budget: how many histories may be walked; None for any number.
        objective: name and last value of what the algorithm aims at, where that is not exploitability; else None.
    """

    algorithm: str
    iteration: int
    iterations: int
    exploitability: float | None
    rate: float
    seconds_left: float | None
    nodes: int = 0
    budget: int | None = None
    objective: tuple[str, float] | None = None


def settings_from(fields: Mapping[str, object], place: str) -> Settings:
    """Settings as written in ``run.json``; :class:`FileError` names ``place`` when they are not whole."""
    try:
        return Settings(**fields)  # type: ignore[arg-type]
    except (TypeError, SpecError) as error:
        raise FileError(f"{place}: the settings of the run cannot be read ({error}); start the run again") from error
