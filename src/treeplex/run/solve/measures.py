"""Custom measures: additional numbers that a run on a compiled game reports."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from numbers import Real
from typing import Any

from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.user_module import ObjectKind, check_parameters, load_user_object, user_source
from treeplex.run.solve.settings import SOLVE

Measure = Callable[[CompiledGame, Policy], float]
"""A measure: a function from a compiled game and a policy to a number."""
AnyMeasures = Mapping[str, Measure] | Sequence[str]
"""Measures by name, or ``file.py:NAME``, ``file.py:NAME(key=value)`` for functions in Python files."""


def is_measure(thing: object) -> bool:
    """Return whether an object can be called with a game and a policy."""
    return callable(thing) and not inspect.isclass(thing)


MEASURE = ObjectKind("judge", "my_gain", "function of a game and a policy", is_measure, is_measure)


def measures_of(given: AnyMeasures | None) -> dict[str, Measure]:
    """Return measures by name; a measure from a file is named by the text after the file name.

    Raises:
        SpecError: the file, name or parameter does not exist, it is not a function, or records already have this name.
    """
    if given is None:
        return {}
    by_name = dict(given) if isinstance(given, Mapping) else {text.rpartition(".py:")[2]: load_measure(text) for text in given}
    for name, measure in by_name.items():
        if not callable(measure):
            raise SpecError(f"measure {name!r} must be a function of a game and a policy, not {measure!r}")
        if name in SOLVE.numbers:
            raise SpecError(f"every run reports {name} already; give the measure another name")
    return by_name


def load_measure(text: str) -> Measure:
    """Load the function ``file.py:NAME`` or ``file.py:NAME(key=value)`` with its parameters set; executes the file.

    Raises:
        SpecError: the file, name or parameter does not exist, or it is not a function.
    """
    source, spec = user_source(text, MEASURE)
    if not is_measure(source):
        source = load_user_object(text, MEASURE)
        return measures_of({text: source})[text]
    check_parameters(source, ("game", "policy"), spec.parameters, text)
    return partial(source, **spec.parameters) if spec.parameters else source


def measured(measures: Mapping[str, Measure], game: CompiledGame, policy: Policy) -> dict[str, float]:
    """Return the values of the measures.

    Raises:
        SpecError: a value is not a finite number.
    """
    numbers: dict[str, float] = {}
    for name, measure in measures.items():
        value: Any = measure(game, policy)
        if not isinstance(value, Real) or not isfinite(value):
            raise SpecError(f"measure {name!r} must return a finite number, not {value!r}")
        numbers[name] = float(value)
    return numbers
