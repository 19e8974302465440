"""Registry of built-in and custom algorithms; builds every solver."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treeplex.base.spec import Spec, checked_number, parse_spec
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.user_module import ObjectKind, is_user_spec, load_user_object, user_source
from treeplex.games.base import Game
from treeplex.solvers.base import UPDATES, Algorithm, Solver, SolverStart, order_of_updates
from treeplex.solvers.library import ALGORITHMS, rule_algorithm, sampling_algorithm
from treeplex.solvers.rules.custom import Rule, RuleSolver
from treeplex.solvers.rules.rule import UpdateRule
from treeplex.solvers.rules.value_tested import NAME as VALUE_TESTED
from treeplex.solvers.sampling.solver import (
    SamplingScheme,
)
from treeplex.solvers.solver import GameSolver
from treeplex.solvers.synonyms import unknown_algorithm


def own_algorithm(value: object, name: str | None = None) -> Algorithm:
    """Wrap a variant, rule, fictitious play, discount policy, sampling scheme or solver class as an algorithm.

    Args:
        value: the object.
        name: the algorithm's name; None for the object's own name.

    Returns:
        The algorithm.

    Raises:
        SpecError: the object is none of these.
    """
    if isinstance(value, Rule):
        rule, text = value, name or value.name

        def build(start: SolverStart) -> Solver:
            return RuleSolver(start.game, rule, updates=start.updates, algorithm=start.algorithm)

        return Algorithm(text, "", "", factory=build, updates=UPDATES)
    if isinstance(value, SamplingScheme):
        return sampling_algorithm(value, name)
    if isinstance(value, UpdateRule):
        return rule_algorithm(value, name)
    raise SpecError(
        "algorithm must be a spec such as 'dcfr', a Variant, a Rule, a FictitiousRule, a DiscountPolicy or a SamplingScheme, "
        f"not {value!r}"
    )


def own_name(value: object) -> str | None:
    """Return ``own-NAME`` if a custom algorithm has the name of a built-in one; otherwise None.

    Without the prefix a run would resume with the built-in algorithm.
    """
    name = getattr(value, "name", None)
    known = ALGORITHMS.get(str(name))
    if known is None or (known.scheme is not None and known.scheme == value):
        return None
    return None if isinstance(value, UpdateRule) and known.rule is not None and known.rule({}) == value else f"own-{name}"


def is_algorithm(thing: object) -> bool:
    """Return whether an object is a custom algorithm."""
    return isinstance(thing, Rule | SamplingScheme | UpdateRule) and not isinstance(thing, type)


OWN = ObjectKind(
    "algorithm",
    "DAMPED",
    "treeplex.solvers.Variant, Rule, FictitiousRule or SamplingScheme",
    is_algorithm,
    is_algorithm,
    AlgorithmError,
)


def algorithm_in_file(text: str) -> tuple[Algorithm, dict[str, Any]]:
    """Load the algorithm ``file.py:NAME`` and validate its parameters; executes the file.

    Raises:
        SpecError: the file, name or parameter does not exist, or it is not an algorithm.
        AlgorithmError: an exception in the user's code.
    """
    thing, spec = user_source(text, OWN)
    if is_algorithm(thing):
        algorithm = own_algorithm(thing, spec.name)
        return algorithm, checked_parameters(algorithm, spec)
    made = load_user_object(text, OWN)
    if not is_algorithm(made):
        raise SpecError(f"{text!r} returned a {type(made).__name__}, not an algorithm; return a {OWN.what}")
    return own_algorithm(made, str(spec)), {}


AnyAlgorithm = str | UpdateRule | Rule | SamplingScheme
"""An algorithm: a spec such as ``dcfr`` or ``dcfr(alpha=2)``, ``auto``, ``my.py:DAMPED`` for an object in a Python file, or a
:class:`Variant`, :class:`Rule`, :class:`FictitiousRule`, :class:`DiscountPolicy` or :class:`SamplingScheme`."""
FOLDERS = re.compile(r"[^(),='\"]*[/\\\\](?=[^(),=/\\\\]*\.py\b)")
"""Pattern of the folders before a Python file in a spec."""
AUTO = "auto"
"""Name of the automatic choice: :data:`GENERAL` on compiled games, the default on hold'em spots."""
GENERAL, DEFAULT_ALGORITHM = VALUE_TESTED, "dcfr"


def algorithms() -> Mapping[str, Algorithm]:
    """Return all algorithms by name."""
    return ALGORITHMS


def make_solver(
    game: CompiledGame | str | Game | Any,
    algorithm: AnyAlgorithm,
    *,
    horizon: int = 1000,
    updates: str | None = None,
    seed: int = 0,
) -> Solver:
    """Build a solver.

    Args:
        game: a spec, rules or the compiled game.
        algorithm: see :data:`AnyAlgorithm`; ``auto`` is ``vt-cfr+``.
        horizon: planned iterations, for schedules that depend on them.
        updates: ``alternating`` or ``simultaneous``; None for the algorithm's default.
        seed: random seed of sampling algorithms.

    Raises:
        SpecError: an unknown algorithm, parameter or order of updates.
        AlgorithmError: the algorithm does not support this game.
    """
    if updates is not None:
        order_of_updates(updates)
    game = compile_game(game)
    known, given = known_algorithm(algorithm, GENERAL)
    if updates is not None and updates not in known.updates:
        raise AlgorithmError(
            f"{known.name} is not defined for {updates} updates; it supports {' or '.join(known.updates) or 'neither order'}"
        )
    text = str(Spec(known.name, dict(given)))
    if known.rule:
        return GameSolver(game, known.rule(given), horizon=horizon, updates=updates, algorithm=text)
    assert known.factory is not None
    return known.factory(SolverStart(game, given, text, updates, seed))


def known_algorithm(algorithm: AnyAlgorithm, auto: str) -> tuple[Algorithm, dict[str, Any]]:
    """Return an algorithm and its validated parameters; ``auto`` is the meaning of the spec ``auto``.

    Raises:
        SpecError: an unknown algorithm or parameter.
        AlgorithmError: an exception in the user's file.
    """
    if not isinstance(algorithm, str):
        return own_algorithm(algorithm, own_name(algorithm)), {}
    if is_user_spec(algorithm):
        return algorithm_in_file(algorithm)
    spec = resolved(algorithm_spec(algorithm), auto)
    if spec.name not in ALGORITHMS:
        raise unknown_algorithm(spec.name, ALGORITHMS)
    known = ALGORITHMS[spec.name]
    return known, checked_parameters(known, spec)


def rule_of(algorithm: AnyAlgorithm, auto: str) -> tuple[UpdateRule, str]:
    """Return the update rule of an algorithm and its canonical spec.

    Args:
        algorithm: see :data:`AnyAlgorithm`.
        auto: the meaning of the spec ``auto``.

    Raises:
        SpecError: an unknown algorithm or parameter.
        AlgorithmError: the algorithm is not an update rule, and so runs on compiled games only.
    """
    known, given = known_algorithm(algorithm, auto)
    if known.rule is None:
        raise AlgorithmError(f"{known.name} is not an update rule; for poker spots and bucketed hold'em use dcfr, cfr+ or lcfr")
    return known.rule(given), str(Spec(known.name, dict(given)))


def named_in(run: object, algorithm: str, verb: str) -> str:
    """Return the algorithm named in a run's folder if it is built in, so that loading a folder never runs user code.

    Args:
        run: the folder.
        algorithm: the recorded algorithm.
        verb: the command and function that resume the run, such as ``solve``.

    Raises:
        SpecError: the algorithm is custom and must be given again.
    """
    if not is_own(algorithm):
        return algorithm
    if ".py" in algorithm:
        raise SpecError(
            f"{run} was run with {algorithm!r}, and Python files named in a run are never executed; "
            f'give the algorithm again: treeplex {verb} --resume {run} -a "{algorithm}"'
        )
    raise SpecError(
        f"{run} was run with a custom algorithm, {algorithm!r}; give it again: tp.{verb}(resume={str(run)!r}, algorithm=...)"
    )


def is_own(algorithm: str) -> bool:
    """Return whether a recorded spec names a custom algorithm."""
    try:
        spec = algorithm_spec(algorithm)
    except SpecError:
        return True
    return spec.name not in {*ALGORITHMS, AUTO} or any(is_user_spec(str(value)) for value in spec.parameters.values())


def same_algorithm(one: str, other: str) -> bool:
    """Return whether two canonical specs name the same algorithm, ignoring the folders of user files."""
    return FOLDERS.sub("", one) == FOLDERS.sub("", other)


def pace_of(algorithm: AnyAlgorithm) -> int | None:
    """Return the number of iterations that a learned algorithm plans for; None for other algorithms.

    Raises:
        SpecError: an unknown algorithm or parameter.
        FileError: the policy cannot be read.
    """
    known, given = known_algorithm(algorithm, GENERAL)
    return known.rule(given).pace if known.rule else None


def scheme_of(algorithm: AnyAlgorithm) -> SamplingScheme | None:
    """Return the sampling scheme of an algorithm; None if it does not sample histories.

    Raises:
        SpecError: an unknown algorithm or parameter.
    """
    return known_algorithm(algorithm, GENERAL)[0].scheme


def samples(algorithm: AnyAlgorithm) -> bool:
    """Return whether an algorithm samples histories; see :func:`scheme_of`."""
    return scheme_of(algorithm) is not None


def algorithm_spec(text: str) -> Spec:
    """Parse an algorithm's spec, with its name in lower case: ``CFR+`` becomes ``cfr+``.

    Raises:
        SpecError: the spec is malformed.
    """
    spec = parse_spec(text)
    return replace(spec, name=spec.name.lower()) if spec.name.lower() in {*ALGORITHMS, AUTO} else spec


def resolved(spec: Spec, auto: str) -> Spec:
    """Return the spec, with ``auto`` replaced by its meaning."""
    return replace(spec, name=auto) if spec.name == AUTO else spec


def checked_parameters(algorithm: Algorithm, spec: Spec) -> dict[str, Any]:
    """Validate parameters; return those that differ from the defaults, in the algorithm's order.

    With a text parameter all given parameters are kept, since the named file (a discount policy) has its own defaults.
    """
    known = (*algorithm.parameters, *algorithm.texts)
    given: dict[str, Any] = {}
    for name, value in spec.parameters.items():
        checked = str(value) if name in algorithm.texts else checked_number(algorithm.name, name, value, known)
        given[name] = checked
    changed = (
        given
        if any(name in given for name in algorithm.texts)
        else {name: value for name, value in given.items() if value != algorithm.parameters[name]}
    )
    return {name: changed[name] for name in known if name in changed}
