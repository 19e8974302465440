"""Algorithms by name or in a user's file, and the door through which every solver is built."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.user_module import Wanted, is_user_spec, load_user_object, user_source
from treeplex.solvers.base import UPDATES, Algorithm, Solver, order_of_updates
from treeplex.solvers.joint.cfr_joint import CfrJr, CfrS, JointSolver
from treeplex.solvers.joint.regret_matching import RegretMatching
from treeplex.solvers.rules.custom import Rule, RuleSolver
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES
from treeplex.solvers.rules.greedy import GreedyWeights
from treeplex.solvers.rules.last_iterate import MirrorDescent, RewardTransformation
from treeplex.solvers.rules.learned import LEARNED, REFERENCE, discounting_of
from treeplex.solvers.rules.rule import UpdateRule
from treeplex.solvers.rules.smooth import NAME as SMOOTH
from treeplex.solvers.rules.smooth import smooth_pcfr_plus
from treeplex.solvers.rules.value_tested import NAME as VALUE_TESTED
from treeplex.solvers.rules.value_tested import ValueTesting
from treeplex.solvers.rules.variants import VARIANTS, Variant
from treeplex.solvers.rules.volatility import NAME as VOLATILE
from treeplex.solvers.rules.volatility import VolatilityAdaptive
from treeplex.solvers.sampling.schedule import DISCOUNT_SEQUENCES
from treeplex.solvers.sampling.solver import (
    AVERAGING,
    BASELINES,
    KEYS,
    SAMPLINGS,
    MonteCarloCfr,
    SamplingOptions,
    SamplingScheme,
)
from treeplex.solvers.solver import GameSolver
from treeplex.solvers.synonyms import unknown_algorithm
from treeplex.spec import Spec, checked_number, parse_spec


def rule_algorithm(rule: UpdateRule, name: str | None = None) -> Algorithm:
    """An update rule as an algorithm: a variant with its parameters, fictitious play, value-tested or learned discounting."""
    return Algorithm(
        name=name or rule.name,
        summary=getattr(rule, "summary", ""),
        reference=getattr(rule, "reference", ""),
        rule=rule.with_parameters if isinstance(rule, Variant) else lambda parameters: rule,
        parameters=rule.parameters if isinstance(rule, Variant) else {},
        updates=tuple(sorted(UPDATES, key=lambda order: order != rule.updates)),
        needs_horizon=isinstance(rule, Variant) and rule.needs_horizon,
    )


def function_algorithm(
    name: str, make: Callable[..., Rule], usual: Mapping[str, float], summary: str, reference: str
) -> Algorithm:
    """A rule that is a function of its parameters as an algorithm."""

    def build(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
        return RuleSolver(game, make(**parameters), updates=updates, algorithm=str(Spec(name, dict(parameters))))

    return Algorithm(name, summary, reference, factory=build, parameters=usual, updates=UPDATES)


def build_mmd(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
    """A :class:`MirrorDescent` solver."""
    return MirrorDescent(game, **parameters, updates=updates or UPDATES[0], algorithm=str(Spec("mmd", dict(parameters))))


def build_rtcfr(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
    """A :class:`RewardTransformation` solver."""
    return RewardTransformation(game, **parameters, algorithm=str(Spec("rtcfr+", dict(parameters))))


def build_greedy(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
    """A :class:`GreedyWeights` solver."""
    return GreedyWeights(game, **parameters, algorithm=str(Spec("greedy", dict(parameters))))


def learned_algorithm(name: str, summary: str) -> Algorithm:
    """A learned scheme as an algorithm: the policy that comes with the library, or one from a file."""
    return Algorithm(
        name=name,
        summary=summary,
        reference=REFERENCE,
        rule=partial(discounting_of, name),
        group="learned",
        parameters={"horizon": 1000},
        texts={"policy": "FILE"},
        updates=UPDATES,
    )


def sampling_algorithm(scheme: SamplingScheme, name: str | None = None) -> Algorithm:
    """A sampling scheme as an algorithm."""

    def build(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
        text = str(Spec(name or scheme.name, dict(parameters)))
        return MonteCarloCfr(game, scheme, scheme.options(parameters), seed=seed, algorithm=text)

    numbers = {name: value for name, value in scheme.parameters.items() if isinstance(value, int | float)}
    usual = {name: getattr(SamplingOptions, name) for name in ("rate", "quantiles", "threads")}
    return Algorithm(
        name=name or scheme.name,
        summary=scheme.summary,
        reference=scheme.reference,
        factory=build,
        group="sampling",
        parameters={**numbers, **usual, **numbers},
        texts={
            "variant": "|".join(DISCOUNT_SEQUENCES),
            "averaging": "|".join(AVERAGING),
            "baseline": "|".join(BASELINES),
            "key": "|".join(KEYS),
        },
        updates=("alternating",),
        scheme=scheme,
    )


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

        def build(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
            return RuleSolver(game, rule, updates=updates, algorithm=text)

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
    """What an algorithm of one's own is called, if not as it says: one that is named like another of the library is ``own-``
    that, or a run with it would resume with the library's.
    """
    name = getattr(value, "name", None)
    known = _ALGORITHMS.get(str(name))
    if known is None or (known.scheme is not None and known.scheme == value):
        return None
    return None if isinstance(value, UpdateRule) and known.rule is not None and known.rule({}) == value else f"own-{name}"


def is_algorithm(thing: object) -> bool:
    """Whether it is an algorithm of one's own."""
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


def joint_algorithm(build: type[JointSolver], summary: str) -> Algorithm:
    """A solver whose joint play counts, as an algorithm."""

    def factory(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
        return build(game, **parameters, seed=seed, algorithm=str(Spec(build.name, dict(parameters))))

    return Algorithm(
        name=build.name,
        summary=summary,
        reference="Celli, Marchesi, Bianchi and Gatti 2019, Learning to Correlate in Multi-Player General-Sum Sequential Games "
        "(arXiv 1910.06228)",
        factory=factory,
        group="correlation",
        parameters={"plus": 0, "keep": 0} | ({"tilt": build.usual_tilt} if build.usual_tilt else {}),
        updates=("simultaneous",),
    )


def build_lp(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
    """A ``solvers.exact.lp.LinearProgram`` solver; imported here, because SciPy's optimisers are slow to import."""
    from treeplex.solvers.exact.lp import LinearProgram

    return LinearProgram(game)


def build_recursive(
    game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int
) -> Solver:
    """A :class:`treeplex.solvers.exact.recursive.Recursive` solver; imported here for SciPy's optimisers, as with ``lp``."""
    from treeplex.solvers.exact.recursive import Recursive

    return Recursive(game)


def build_rm(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
    """A :class:`RegretMatching` solver."""
    return RegretMatching(game, **parameters, seed=seed, algorithm=str(Spec("rm", dict(parameters))))


AnyAlgorithm = str | UpdateRule | Rule | SamplingScheme
"""An algorithm: a spec such as ``dcfr`` or ``dcfr(alpha=2)``, ``auto``, ``my.py:DAMPED`` for what stands in a Python file, or a
:class:`Variant`, :class:`Rule`, :class:`FictitiousRule`, :class:`DiscountPolicy` or :class:`SamplingScheme` of your own."""
FOLDERS = re.compile(r"[^(),='\"]*[/\\\\](?=[^(),=/\\\\]*\.py\b)")
"""The folders before a Python file in a spec."""
AUTO = "auto"
"""What to ask for when one does not want to choose: :data:`GENERAL` on compiled games, the default on hold'em spots."""
GENERAL, DEFAULT_ALGORITHM = VALUE_TESTED, "dcfr"

_ALGORITHMS: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        *map(rule_algorithm, VARIANTS.values()),
        *(learned_algorithm(name, summary) for name, (_, summary) in LEARNED.items()),
        Algorithm(
            name=VALUE_TESTED,
            summary="value-tested CFR+: each infoset predicts as much as that has proved worth; the best of five answers",
            reference="Treeplex; built on Xu et al. 2024, Minimizing Weighted Counterfactual Regret with Optimistic Online "
            "Mirror Descent (arXiv 2404.13891)",
            rule=lambda parameters: ValueTesting(**parameters),
            parameters=asdict(ValueTesting()),
            updates=UPDATES,
        ),
        Algorithm(
            name="greedy",
            summary="Greedy Weights: each iteration gets the weight that makes the potential of average regrets least",
            reference="Zhang, Lerer and Brown 2022, Equilibrium Finding in Normal-Form Games via Greedy Regret Minimization",
            factory=build_greedy,
            parameters={"floor": 0.5},
            updates=("simultaneous",),
        ),
        function_algorithm(
            SMOOTH,
            smooth_pcfr_plus,
            {"least": 1.0, "gamma": 2.0},
            "Smooth PCFR+: the regrets of an infoset never sum to less than a bound",
            "Farina, Grand-Clément, Kroer, Lee and Luo 2023, Regret Matching+: (In)Stability and Fast Convergence in Games "
            "(arXiv 2305.14709)",
        ),
        function_algorithm(
            VOLATILE,
            lambda **parameters: VolatilityAdaptive(**parameters).rule(),
            asdict(VolatilityAdaptive()),
            "volatility-adaptive discounted CFR: discounts follow how much regrets fluctuate; the average begins late",
            "Li, Schultz, Hennes and Lanctot 2026, Discovering Multiagent Learning Algorithms with Large Language Models "
            "(arXiv 2602.16928)",
        ),
        Algorithm(
            name="mmd",
            summary="magnetic mirror descent: the last policy converges, drawn to a magnet that follows it",
            reference="Sokota et al. 2023, A Unified Approach to Reinforcement Learning, Quantal Response Equilibria, and "
            "Two-Player Zero-Sum Games (arXiv 2206.05825)",
            factory=build_mmd,
            parameters={"eta": 5.0, "alpha": 0.01, "every": 100},
            updates=UPDATES,
        ),
        Algorithm(
            name="rtcfr+",
            summary="CFR+ on payoffs transformed again and again: the last policy converges",
            reference="Meng et al. 2025, Efficient Last-Iterate Convergence in Solving Extensive-Form Games (NeurIPS 2025)",
            factory=build_rtcfr,
            parameters={"mu": 1e-3, "gamma": 1e-10, "every": 100},
            updates=("alternating",),
        ),
        *map(rule_algorithm, FICTITIOUS_RULES.values()),
        *map(sampling_algorithm, SAMPLINGS.values()),
        joint_algorithm(CfrS, "CFR with sampled plans: the joint play approaches a coarse correlated equilibrium"),
        joint_algorithm(CfrJr, "CFR with joint reconstruction: the product of the strategies of each iteration counts"),
        Algorithm(
            name="rm",
            summary="regret matching alone: a static game played again and again, any number of players",
            reference="Blackwell 1956; Hart and Mas-Colell 2000, A Simple Adaptive Procedure Leading to Correlated Equilibrium",
            factory=build_rm,
            parameters={"sampled": 0},
            updates=("simultaneous",),
        ),
        Algorithm(
            name="lp",
            summary="the exact equilibrium of a two-player zero-sum game by sequence-form linear programming (HiGHS)",
            reference="Koller, Megiddo and von Stengel 1996, Efficient Computation of Equilibria for Extensive "
            "Two-Person Games",
            factory=build_lp,
            group="exact",
        ),
        Algorithm(
            name="recursive",
            summary="exact equilibria by backward recursion: static games at each step where players know the state",
            reference="Basar and Olsder 1999, Dynamic Noncooperative Game Theory, sections 2.4, 2.5 and 3.5",
            factory=build_recursive,
            group="exact",
        ),
    )
}


def algorithms() -> Mapping[str, Algorithm]:
    """All algorithms by name."""
    return _ALGORITHMS


def make_solver(
    game: CompiledGame,
    algorithm: AnyAlgorithm,
    *,
    horizon: int = 1000,
    updates: str | None = None,
    seed: int = 0,
) -> Solver:
    """Build a solver.

    Args:
        game: the compiled game.
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
    known, given = known_algorithm(algorithm, GENERAL)
    if updates is not None and updates not in known.updates:
        raise AlgorithmError(
            f"{known.name} is not defined for {updates} updates; it has {' or '.join(known.updates) or 'no order'}"
        )
    if known.rule:
        text = str(Spec(known.name, dict(given)))
        return GameSolver(game, known.rule(given), horizon=horizon, updates=updates, algorithm=text)
    assert known.factory is not None
    return known.factory(game, given, horizon=horizon, updates=updates, seed=seed)


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
    if spec.name not in _ALGORITHMS:
        raise unknown_algorithm(spec.name, _ALGORITHMS)
    known = _ALGORITHMS[spec.name]
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
        offered = ", ".join(name for name, each in _ALGORITHMS.items() if each.rule)
        raise AlgorithmError(f"{known.name} does not run on poker spots; take one of {offered}")
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
    return spec.name not in {*_ALGORITHMS, AUTO} or any(is_user_spec(str(value)) for value in spec.parameters.values())


def same_algorithm(one: str, other: str) -> bool:
    """Whether two canonical texts name the same algorithm, wherever the file of one's own lies."""
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
    return replace(spec, name=spec.name.lower()) if spec.name.lower() in {*_ALGORITHMS, AUTO} else spec


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
