"""Descriptions of built-in games, and validation and formatting of their parameters.

Specs are parsed by :mod:`treeplex.base.spec`.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from treeplex.base.spec import Spec, nearest, parse_value
from treeplex.errors import GameError, SpecError
from treeplex.games.base import Game, State

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter of a game; ``default`` is None if it depends on other parameters."""

    name: str
    default: object
    meaning: str


@dataclass(frozen=True)
class GameInfo:
    """A built-in game: name, description, source of the rules, and constructor.

    Defaults of the parameters come from ``build``, and their descriptions from ``meanings``. ``optional`` describes further
    parameters of ``build`` (aliases, per-player values). ``files`` are the parameters that are paths. ``note`` is a warning
    about compiling the game with its defaults.
    """

    name: str
    summary: str
    source: str
    build: Callable[..., Game]
    meanings: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    note: str = ""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters in canonical order."""
        required = tuple(Parameter(name, default, self.meanings[name]) for name, default in self.defaults().items())
        return required + tuple(Parameter(name, None, meaning) for name, meaning in self.optional.items())

    def defaults(self) -> dict[str, object]:
        """Default of each parameter, in canonical order."""
        signature = inspect.signature(self.build).parameters.values()
        return {
            parameter.name: parameter.default for parameter in signature if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        }

    def make(self, parameters: Mapping[str, object]) -> Game:
        """Create the game with these parameters.

        Raises:
            SpecError: an unknown parameter or a value outside its range.
        """
        known = [parameter.name for parameter in self.parameters]
        for name in parameters:
            if name not in known:
                hint = nearest(name, known) if known else f"; write {self.name} without parameters"
                raise SpecError(f"{self.name} has no parameter {name!r}{hint}")
        return self.build(**parameters)

    def spec(self, values: Mapping[str, object]) -> str:
        """Return the canonical spec: only values that differ from the defaults, in canonical order."""
        return canonical_spec(self.name, values, self.defaults())


def canonical_spec(name: str, values: Mapping[str, object], defaults: Mapping[str, object]) -> str:
    """Return ``name(key=value,...)`` with the ``values`` that differ from ``defaults``, in the order of ``values``."""
    changed = [
        f"{key}={written(value)}"
        for key, value in values.items()
        if with_lists(value) != with_lists(defaults.get(key, REQUIRED))
    ]
    return f"{name}({','.join(changed)})" if changed else str(Spec(name))


def with_lists(value: object) -> object:
    """Convert tuples to lists, so that equal values compare equal."""
    return [with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def written(value: object, separator: str = ";") -> str:
    """Format a value for a spec: nested lists with commas, and integral floats without a fraction."""
    if isinstance(value, list | tuple):
        nested = any(isinstance(item, list | tuple) for item in value)
        separator = "," if nested else separator
        return "[" + separator.join(written(item, separator) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    text = str(value)
    return text if not isinstance(value, str) or parse_value(text, text) == text else repr(text)


def integer(game: str, name: str, value: object, low: int, high: int | None = None) -> int:
    """Check that ``value`` is an integer in ``low..high`` and return it.

    Raises:
        SpecError: it is not an integer or out of range.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value and (high is None or value <= high):
        return int(value)
    bounds = f"from {low:,} to {high:,}" if high is not None else f"of at least {low:,}"
    raise SpecError(f"{game}: {name} must be an integer {bounds}, not {value!r}")


def real(game: str, name: str, value: object, low: float = float("-inf")) -> float:
    """Check that ``value`` is a finite number of at least ``low`` and return it as float.

    Raises:
        SpecError: it is not a finite number or too small.
    """
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        number = float(value)
        if low <= number and math.isfinite(number):
            return number
    bound = f" of at least {low:g}" if low > float("-inf") else ""
    raise SpecError(f"{game}: {name} must be a finite number{bound}, not {value!r}")


def flag(game: str, name: str, value: object) -> bool:
    """Check that ``value`` is a boolean and return it.

    Raises:
        SpecError: it is not a boolean.
    """
    if isinstance(value, bool):
        return value
    raise SpecError(f"{game}: {name} must be true or false, not {value!r}")


def choice(game: str, name: str, value: object, known: Iterable[str]) -> str:
    """Check that ``value`` is one of the words in ``known`` and return it.

    Raises:
        SpecError: it is not.
    """
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    raise SpecError(f"{game}: {name} cannot be {value!r}{nearest(str(value), words)}")


def items(game: str, name: str, value: object) -> list[object]:
    """Check that ``value`` is a non-empty list and return it.

    Raises:
        SpecError: it is not a list, or is empty.
    """
    if isinstance(value, list | tuple) and value:
        return list(value)
    raise SpecError(f"{game}: {name} must be a list such as {name}=[2;4], not {value!r}")


def observer(state: State, player: int | None) -> int:
    """Return ``player``, or the player to act if None.

    Raises:
        GameError: ``player`` is None and no player acts here.
    """
    chosen = state.current_player() if player is None else player
    if chosen < 0:
        raise GameError("no single player acts at this history; give the player whose infostate you want")
    return chosen
