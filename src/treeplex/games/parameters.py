"""What the built-in rules share: how a game describes itself, how its parameters are checked and written down."""

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
    """One parameter of a game; ``default`` is None where the game works it out from its other parameters."""

    name: str
    default: object
    meaning: str


@dataclass(frozen=True)
class GameInfo:
    """A built-in game: its name, what it is, where its rules come from, and the function that makes it.

    The defaults of the parameters are those of ``build``; ``meanings`` says what each one is. ``optional`` names and
    explains further parameters of ``build`` (other spellings, one number per player); ``files`` are those that
    are paths. ``note`` is what one should know before one compiles it with its defaults.
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
        """Every parameter, in canonical order."""
        own = tuple(Parameter(name, default, self.meanings[name]) for name, default in self.defaults().items())
        return own + tuple(Parameter(name, None, meaning) for name, meaning in self.optional.items())

    def defaults(self) -> dict[str, object]:
        """The value of each parameter that a spec leaves out, in canonical order."""
        signature = inspect.signature(self.build).parameters.values()
        return {each.name: each.default for each in signature if each.kind is not inspect.Parameter.VAR_KEYWORD}

    def make(self, parameters: Mapping[str, object]) -> Game:
        """The game with these parameters.

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
        """The canonical text: only what differs from the defaults, in canonical order."""
        return canonical_spec(self.name, values, self.defaults())


def canonical_spec(name: str, values: Mapping[str, object], defaults: Mapping[str, object]) -> str:
    """``name(key=value,...)`` with those ``values`` that differ from ``defaults``, in the order of ``values``."""
    changed = [
        f"{key}={written(value)}"
        for key, value in values.items()
        if with_lists(value) != with_lists(defaults.get(key, REQUIRED))
    ]
    return f"{name}({','.join(changed)})" if changed else str(Spec(name))


def with_lists(value: object) -> object:
    """The value with tuples as lists, so that the two compare equal."""
    return [with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def written(value: object, separator: str = ";") -> str:
    """The text of a value that a spec reads back; lists of lists take commas, whole floats no fraction."""
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
    """``value`` as an integer in ``low..high``.

    Raises:
        SpecError: it is no integer or lies outside.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value and (high is None or value <= high):
        return int(value)
    bounds = f"from {low:,} to {high:,}" if high is not None else f"of at least {low:,}"
    raise SpecError(f"{game}: {name} must be an integer {bounds}, not {value!r}")


def real(game: str, name: str, value: object, low: float = float("-inf")) -> float:
    """``value`` as a finite float of at least ``low``.

    Raises:
        SpecError: it is no finite number or too small.
    """
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        number = float(value)
        if low <= number and math.isfinite(number):
            return number
    bound = f" of at least {low:g}" if low > float("-inf") else ""
    raise SpecError(f"{game}: {name} must be a finite number{bound}, not {value!r}")


def flag(game: str, name: str, value: object) -> bool:
    """``value`` as a boolean.

    Raises:
        SpecError: it is none.
    """
    if isinstance(value, bool):
        return value
    raise SpecError(f"{game}: {name} must be true or false, not {value!r}")


def choice(game: str, name: str, value: object, known: Iterable[str]) -> str:
    """``value`` if it is one of the words ``known``.

    Raises:
        SpecError: it is not.
    """
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    raise SpecError(f"{game}: {name} cannot be {value!r}{nearest(str(value), words)}")


def items(game: str, name: str, value: object) -> list[object]:
    """``value`` as a non-empty list.

    Raises:
        SpecError: it is none, or an empty one.
    """
    if isinstance(value, list | tuple) and value:
        return list(value)
    raise SpecError(f"{game}: {name} must be a list such as {name}=[2;4], not {value!r}")


def observer(state: State, player: int | None) -> int:
    """Whose infostate is asked for: ``player``, or else the player to act.

    Raises:
        GameError: no player acts here and no player is named.
    """
    chosen = state.current_player() if player is None else player
    if chosen < 0:
        raise GameError("nobody acts at this history: name the player whose infostate you want")
    return chosen
