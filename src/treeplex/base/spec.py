"""Specs: the one-line names of games and algorithms, ``name`` or ``name(key=value, ...)``.

``leduc_poker(ranks=4)``, ``dcfr(alpha=2.0)``, ``openspiel:first_sealed_auction(players=3)``. Values are booleans
(``true``/``false`` in any case), integers, floats, lists in brackets (``ship_sizes=[2,3]`` or ``[2;3]``) and bare or
quoted words; nested specs such as ``turn_based(game=goofspiel())`` stay text. Brackets nest :data:`MOST_DEPTH` deep.
"""

import ast
import difflib
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from treeplex.errors import SpecError

MOST_NAME = 60
MOST_DEPTH = 20
NUMBER = re.compile(r"[+-]?[0-9.][0-9a-zA-Z_.]*+(?:(?<=[eE])[+-][0-9_]++)?")
"""Pattern of candidates for numbers; Python's parser decides."""
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\"""", re.DOTALL)
P = ParamSpec("P")
R = TypeVar("R")
Value = bool | int | float | str | list["Value"]


@dataclass(frozen=True)
class Spec:
    """A parsed spec: ``name`` and keyword ``parameters`` in the order written."""

    name: str
    parameters: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        inside = ",".join(f"{key}={format_value(value)}" for key, value in self.parameters.items())
        return f"{self.name}({inside})"


def format_value(value: Value) -> str:
    """Format a parameter value so that :func:`parse_spec` reads it back."""
    if isinstance(value, list):
        return "[" + ",".join(format_value(item) for item in value) + "]"
    if isinstance(value, str):
        plain = value.strip() == value and not any(character in value for character in "()[],;='\"\\")
        return value if plain and value and parse_value(value, value) == value else repr(value)
    return str(value)


def spec_name(text: str) -> str:
    """Return the name in a spec, even if the rest of it is malformed."""
    return text.partition("(")[0].strip()


def parse_spec(text: str) -> Spec:
    """Parse ``name`` or ``name(key=value, ...)``.

    Raises:
        SpecError: unbalanced brackets, an empty name, a parameter without ``=`` or given twice.
    """
    text = text.strip()
    head, bracket, rest = text.partition("(")
    name = head.strip()
    if not name:
        raise SpecError(f"empty name in {shown(text)}; write name or name(key=value, ...)")
    if not bracket:
        return Spec(name)
    if not rest.endswith(")"):
        raise SpecError(f"{shown(text)} has no closing bracket; write {name[:MOST_NAME]}(key=value, ...)")
    parameters: dict[str, Value] = {}
    for part in split_outside_brackets(rest[:-1], ",", text):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            raise SpecError(f"cannot read {shown(part.strip())} in {shown(text)}; write {name[:MOST_NAME]}(key=value, ...)")
        if key in parameters:
            raise SpecError(f"parameter {shown(key)} is given twice in {shown(text)}; remove one")
        parameters[key] = parse_value(value.strip(), text)
    return Spec(name, parameters)


def split_outside_brackets(text: str, separator: str, whole: str) -> list[str]:
    """Split at a separator outside brackets and quotes; drop empty parts."""
    parts, depth, start, quote, escaped = [], 0, 0, "", False
    for position, character in enumerate(text):
        if quote and (escaped or character == "\\"):
            escaped = not escaped
            continue
        if quote or character in "'\"":
            quote = "" if character == quote else quote or character
            continue
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            raise SpecError(f"unbalanced brackets in {shown(whole)}; close every bracket")
        if depth >= MOST_DEPTH:
            raise too_deep(whole)
        if character == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    if depth or quote:
        raise SpecError(f"unbalanced brackets or quotes in {shown(whole)}; close every bracket and quote")
    parts.append(text[start:])
    return [part for part in parts if part.strip()]


def check_depth(text: str) -> None:
    """Raise :class:`SpecError` if round brackets are nested deeper than :data:`MOST_DEPTH`. Works for every grammar."""
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth > MOST_DEPTH:
            raise too_deep(text)


def too_deep(text: str) -> SpecError:
    """Return the error for brackets nested too deeply."""
    return SpecError(f"brackets nested more than {MOST_DEPTH} deep in {shown(text)}; write a simpler spec")


def parse_value(text: str, whole: str) -> Value:
    """Parse one value: boolean, number, list or word."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1]
        separator = "," if split_outside_brackets(inner, ";", whole) == [inner] else ";"
        return [parse_value(part.strip(), whole) for part in split_outside_brackets(inner, separator, whole)]
    if not NUMBER.fullmatch(text) and not QUOTED.fullmatch(text):
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float | str) else text


def quoted(text: str) -> str:
    """Quote a spec or a path as one shell word."""
    return text if re.fullmatch(r"[\w.,:/+%-]+", text) else f'"{text}"'


def checked_number(owner: str, name: str, value: object, known: Iterable[str]) -> float:
    """Return the value of a numeric parameter.

    Raises:
        SpecError: ``owner`` has no such parameter, or the value is not a finite number.
    """
    known = list(known)
    if name not in known:
        raise SpecError(f"{owner} has no parameter {name!r}{nearest(name, known) if known else '; it takes no parameters'}")
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise SpecError(f"parameter {name} of {owner} must be a number, not {value!r}")
    if abs(value) == math.inf:
        raise SpecError(f"parameter {name} of {owner} must be a finite number, not {value!r}")
    return float(value)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: ``; did you mean 'x'?`` or the list of known names."""
    known = sorted(known)
    close = [near for spelling in (name, name.lower()) for near in difflib.get_close_matches(spelling, known, n=1, cutoff=0.5)]
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"


def suggests_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that an unknown keyword raises a :class:`SpecError` naming the nearest one."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise SpecError(f"unknown argument {name!r}{nearest(name, known)}")
        return function(*args, **kwargs)

    return call


def shown(text: str, most: int = 60) -> str:
    """Format a string for a message: quoted, without line breaks, at most ``most`` characters."""
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")
