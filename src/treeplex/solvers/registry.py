"""Registry of built-in and custom algorithms; builds every solver."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treeplex.base.spec import Spec, checked_number, parse_spec
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.user_module import Wanted, is_user_spec, load_user_object, user_source
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
    """A variant, a rule, a kind of fictitious play, a discount policy, a sampling scheme or a class of solvers as an algorithm.

    Args:
        value: what it is.
        name: what it is called; None for its own name.

    Raises:
        SpecError: none of these.
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
        "an algorithm is a spec such as 'dcfr', a Variant, a Rule, a FictitiousRule, a DiscountPolicy or a SamplingScheme, "
        f"not {value!r}"
    )


def own_name(value: object) -> str | None:
    """``own-NAME`` for a custom algorithm whose name a built-in one has; otherwise None.

    Without the prefix a run would resume with the built-in algorithm.
    """
    name = getattr(value, "name", None)
    known = ALGORITHMS.get(str(name))
    if known is None or (known.scheme is not None and known.scheme == value):
        return None
    return None if isinstance(value, UpdateRule) and known.rule is not None and known.rule({}) == value else f"own-{name}"


def is_algorithm(thing: object) -> bool:
    """Whether an object is a custom algorithm."""
    return isinstance(thing, Rule | SamplingScheme | UpdateRule) and not isinstance(thing, type)


OWN = Wanted(
    "algorithm",
    "DAMPED",
    "treeplex.solvers.Variant, Rule, FictitiousRule or SamplingScheme",
    is_algorithm,
    is_algorithm,
    AlgorithmError,
)


def algorithm_in_file(text: str) -> tuple[Algorithm, dict[str, Any]]:
    """The algorithm that ``file.py:NAME`` names, and its checked parameters. The file runs.

    Raises:
        SpecError: no such file, name or parameter, or it is no algorithm.
        AlgorithmError: an exception in the user's code.
    """
    found, spec = user_source(text, OWN)
    if is_algorithm(found):
        algorithm = own_algorithm(found, spec.name)
        return algorithm, checked_parameters(algorithm, spec)
    made = load_user_object(text, OWN)
    if not is_algorithm(made):
        raise SpecError(f"{text!r} gave a {type(made).__name__}, no algorithm; return a {OWN.what}")
    return own_algorithm(made, str(spec)), {}


AnyAlgorithm = str | UpdateRule | Rule | SamplingScheme
"""An algorithm: a spec such as ``dcfr`` or ``dcfr(alpha=2)``, ``auto``, ``my.py:DAMPED`` for what stands in a Python file, or a
:class:`Variant`, :class:`Rule`, :class:`FictitiousRule`, :class:`DiscountPolicy` or :class:`SamplingScheme` of your own."""
FOLDERS = re.compile(r"[^(),='\"]*[/\\\\](?=[^(),=/\\\\]*\.py\b)")
"""The folders before a Python file in a spec."""
AUTO = "auto"
"""What to ask for when one does not want to choose: :data:`GENERAL` on compiled games, the default on hold'em spots."""
GENERAL, DEFAULT_ALGORITHM = VALUE_TESTED, "dcfr"


def algorithms() -> Mapping[str, Algorithm]:
    """All algorithms by name."""
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
        horizon: iterations planned, for schedules that depend on it.
        updates: ``alternating`` or ``simultaneous``; None for the algorithm's usual order.
        seed: for algorithms that sample.

    Raises:
        SpecError: an unknown algorithm, parameter or order of updates.
        AlgorithmError: the algorithm is not defined for this game.
    """
    if updates is not None:
        order_of_updates(updates)
    game = compile_game(game)
    known, given = known_algorithm(algorithm, GENERAL)
    if updates is not None and updates not in known.updates:
        raise AlgorithmError(
            f"{known.name} is not defined for {updates} updates; it has {' or '.join(known.updates) or 'no order'}"
        )
    text = str(Spec(known.name, dict(given)))
    if known.rule:
        return GameSolver(game, known.rule(given), horizon=horizon, updates=updates, algorithm=text)
    assert known.factory is not None
    return known.factory(SolverStart(game, given, text, updates, seed))


def known_algorithm(algorithm: AnyAlgorithm, auto: str) -> tuple[Algorithm, dict[str, Any]]:
    """What an algorithm is, ``auto`` being the one given, and its checked parameters.

    Raises:
        SpecError: an unknown algorithm or parameter.
        AlgorithmError: an exception in the file that is named.
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
    """The update rule that an algorithm means, and its canonical text.

    Args:
        algorithm: see :data:`AnyAlgorithm`.
        auto: what the spec ``auto`` stands for.

    Raises:
        SpecError: an unknown algorithm or parameter.
        AlgorithmError: an algorithm that is no update rule, so that it runs on compiled games only.
    """
    known, given = known_algorithm(algorithm, auto)
    if known.rule is None:
        raise AlgorithmError(
            f"{known.name} is no update rule, and poker spots and bucketed hold'em are swept by such; take dcfr, cfr+ or lcfr"
        )
    return known.rule(given), str(Spec(known.name, dict(given)))


def named_in(place: object, algorithm: str, verb: str) -> str:
    """The algorithm that a run's folder names, if all of it is the library's, so that no code runs on a file's word.

    Args:
        place: the folder.
        algorithm: what it says.
        verb: what the command and the function are called that resume it, such as ``solve``.

    Raises:
        SpecError: it is somebody's own, which a person has to give again.
    """
    if not is_own(algorithm):
        return algorithm
    if ".py" in algorithm:
        raise SpecError(
            f"{place} was run with {algorithm!r}, an algorithm in a Python file; code that another file names is not run, so "
            f'give it again: treeplex {verb} --resume {place} -a "{algorithm}"'
        )
    raise SpecError(
        f"{place} was run with {algorithm!r}, an algorithm of your own; give it again: tp.{verb}(resume={str(place)!r}, "
        "algorithm=...)"
    )


def is_own(algorithm: str) -> bool:
    """Whether a text that stands in a file names an algorithm that is not wholly the library's."""
    try:
        spec = algorithm_spec(algorithm)
    except SpecError:
        return True
    return spec.name not in {*ALGORITHMS, AUTO} or any(is_user_spec(str(value)) for value in spec.parameters.values())


def same_algorithm(one: str, other: str) -> bool:
    """Whether two canonical texts name the same algorithm, ignoring the folders of user files."""
    return FOLDERS.sub("", one) == FOLDERS.sub("", other)


def pace_of(algorithm: AnyAlgorithm) -> int | None:
    """The number of iterations that a learned algorithm paces itself for; None for all others.

    Raises:
        SpecError: an unknown algorithm or parameter.
        FileError: the policy cannot be read.
    """
    known, given = known_algorithm(algorithm, GENERAL)
    return known.rule(given).pace if known.rule else None


def scheme_of(algorithm: AnyAlgorithm) -> SamplingScheme | None:
    """The scheme by which an algorithm samples histories, so that its iterations are many and small; None if it does not.

    Raises:
        SpecError: an unknown algorithm or parameter.
    """
    return known_algorithm(algorithm, GENERAL)[0].scheme


def samples(algorithm: AnyAlgorithm) -> bool:
    """Whether an algorithm samples histories; see :func:`scheme_of`."""
    return scheme_of(algorithm) is not None


def algorithm_spec(text: str) -> Spec:
    """An algorithm's spec, its name in lower case: ``CFR+`` is ``cfr+``.

    Raises:
        SpecError: it cannot be read.
    """
    spec = parse_spec(text)
    return replace(spec, name=spec.name.lower()) if spec.name.lower() in {*ALGORITHMS, AUTO} else spec


def resolved(spec: Spec, auto: str) -> Spec:
    """The spec itself, or that of the algorithm that ``auto`` means."""
    return replace(spec, name=auto) if spec.name == AUTO else spec


def checked_parameters(algorithm: Algorithm, spec: Spec) -> dict[str, Any]:
    """The parameters that differ from the defaults, numbers (and texts) in the algorithm's order.

    With a text all that is given stays: what the text names (a policy's file) has defaults of its own.
    """
    known = (*algorithm.parameters, *algorithm.texts)
    given: dict[str, Any] = {}
    for name, value in spec.parameters.items():
        own = str(value) if name in algorithm.texts else checked_number(algorithm.name, name, value, known)
        given[name] = own
    kept = (
        given
        if any(name in given for name in algorithm.texts)
        else {name: value for name, value in given.items() if value != algorithm.parameters[name]}
    )
    return {name: kept[name] for name in known if name in kept}
