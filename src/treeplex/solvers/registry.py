"""Algorithms by name, and the door through which every solver is built."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.solvers.base import UPDATES, Algorithm, Solver, order_of_updates
from treeplex.solvers.joint.cfr_joint import CfrJr, CfrS, JointSolver
from treeplex.solvers.joint.regret_matching import RegretMatching
from treeplex.solvers.rules.custom import Rule, RuleSolver
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES, FictitiousRule
from treeplex.solvers.rules.greedy import GreedyWeights
from treeplex.solvers.rules.learned import LEARNED, REFERENCE, discounting_of
from treeplex.solvers.rules.rule import UpdateRule
from treeplex.solvers.rules.value_tested import NAME as VALUE_TESTED
from treeplex.solvers.rules.value_tested import ValueTesting
from treeplex.solvers.rules.variants import VARIANTS, Variant
from treeplex.solvers.sampling.schedule import DISCOUNT_SEQUENCES
from treeplex.solvers.sampling.solver import AVERAGING, BASELINES, KEYS, SAMPLINGS, Sampling, SamplingOptions, sampling_solver
from treeplex.solvers.solver import GameSolver
from treeplex.solvers.synonyms import unknown_algorithm
from treeplex.spec import Spec, nearest, parse_spec


def cfr_algorithm(variant: Variant) -> Algorithm:
    """A variant as an algorithm."""
    return Algorithm(
        name=variant.name,
        summary=variant.summary,
        reference=variant.reference,
        rule=variant.with_parameters,
        parameters=variant.parameters,
        updates=tuple(sorted(UPDATES, key=lambda order: order != variant.updates)),
        needs_horizon=variant.needs_horizon,
    )


def fictitious_algorithm(play: FictitiousRule) -> Algorithm:
    """A kind of fictitious play as an algorithm."""
    return Algorithm(play.name, play.summary, play.reference, rule=lambda parameters: play, updates=UPDATES)


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


def sampling_algorithm(scheme: Sampling) -> Algorithm:
    """A sampling scheme as an algorithm."""

    def build(game: CompiledGame, parameters: Mapping[str, Any], *, horizon: int, updates: str | None, seed: int) -> Solver:
        return sampling_solver(game, scheme, parameters, seed=seed, algorithm=str(Spec(scheme.name, dict(parameters))))

    return Algorithm(
        name=scheme.name,
        summary=scheme.summary,
        reference=scheme.reference,
        factory=build,
        group="sampling",
        parameters={**scheme.parameters, "rate": SamplingOptions.rate, "threads": SamplingOptions.threads},
        texts={
            "variant": "|".join(DISCOUNT_SEQUENCES),
            "averaging": "|".join(AVERAGING),
            "baseline": "|".join(BASELINES),
            "key": "|".join(KEYS),
        },
        updates=("alternating",),
    )


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


AUTO = "auto"
"""What to ask for when one does not want to choose: :data:`GENERAL` on compiled games, :data:`POKER` on hold'em spots."""
GENERAL, POKER = VALUE_TESTED, "dcfr"

_ALGORITHMS: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        *map(cfr_algorithm, VARIANTS.values()),
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
        *map(fictitious_algorithm, FICTITIOUS_RULES.values()),
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
    algorithm: str | UpdateRule | Rule,
    *,
    horizon: int = 1000,
    updates: str | None = None,
    seed: int = 0,
) -> Solver:
    """Build a solver.

    Args:
        game: the compiled game.
        algorithm: a spec such as ``dcfr`` or ``dcfr(alpha=2)``, ``auto`` (which is ``vt-cfr+``), or your own :class:`Variant`,
            :class:`Rule`, :class:`FictitiousRule` or :class:`DiscountPolicy`.
        horizon: iterations planned, for schedules that depend on it.
        updates: ``alternating`` or ``simultaneous``; None for the algorithm's usual order.
        seed: for algorithms that sample.

    Raises:
        SpecError: an unknown algorithm, parameter or order of updates.
        AlgorithmError: the algorithm is not defined for this game.
    """
    if updates is not None:
        order_of_updates(updates)
    if isinstance(algorithm, Rule):
        return RuleSolver(game, algorithm, updates=updates)
    if isinstance(algorithm, UpdateRule):
        return GameSolver(game, algorithm, horizon=horizon, updates=updates)
    if not isinstance(algorithm, str):
        raise SpecError(
            f"an algorithm is a spec such as 'dcfr', a Variant, a Rule, a FictitiousRule or a DiscountPolicy, not {algorithm!r}"
        )
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


def known_algorithm(text: str, auto: str) -> tuple[Algorithm, dict[str, Any]]:
    """The algorithm that a spec names, ``auto`` being the one given, and its checked parameters.

    Raises:
        SpecError: an unknown algorithm or parameter.
    """
    spec = resolved(algorithm_spec(text), auto)
    if spec.name not in _ALGORITHMS:
        raise unknown_algorithm(spec.name, _ALGORITHMS)
    known = _ALGORITHMS[spec.name]
    return known, checked_parameters(known, spec)


def rule_of(algorithm: str | UpdateRule, auto: str) -> tuple[UpdateRule, str]:
    """The update rule that an algorithm means, and its canonical text.

    Args:
        algorithm: a spec, or a rule of your own.
        auto: what the spec ``auto`` stands for.

    Raises:
        SpecError: an unknown algorithm or parameter.
        AlgorithmError: an algorithm that is no update rule, so that it runs on compiled games only.
    """
    if not isinstance(algorithm, str):
        return algorithm, algorithm.name
    known, given = known_algorithm(algorithm, auto)
    if known.rule is None:
        offered = ", ".join(name for name, each in _ALGORITHMS.items() if each.rule)
        raise AlgorithmError(f"{known.name} does not run on poker spots; take one of {offered}")
    return known.rule(given), str(Spec(known.name, dict(given)))


def pace_of(algorithm: object) -> int | None:
    """The number of iterations that a learned algorithm (a spec or a policy) paces itself for; None for all others.

    Raises:
        SpecError: a spec that cannot be read, or a parameter of a learned algorithm that it does not have.
        FileError: the policy cannot be read.
    """
    if isinstance(algorithm, DiscountPolicy):
        return algorithm.pace
    spec = algorithm_spec(algorithm) if isinstance(algorithm, str) else None
    if spec is None or spec.name not in LEARNED:
        return None
    return rule_of(str(algorithm), GENERAL)[0].pace


def samples(algorithm: object) -> bool:
    """Whether an algorithm (a spec or an object) samples histories, so that its iterations are many and small."""
    return isinstance(algorithm, str) and algorithm_spec(algorithm).name in SAMPLINGS


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
        if name not in known:
            hint = nearest(name, known) if known else "; it has none"
            raise SpecError(f"{algorithm.name} has no parameter {name!r}{hint}")
        if name in algorithm.texts:
            given[name] = str(value)
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise SpecError(f"parameter {name} of {algorithm.name} is a number, not {value!r}")
        given[name] = float(value)
    kept = (
        given
        if any(name in given for name in algorithm.texts)
        else {name: value for name, value in given.items() if value != algorithm.parameters[name]}
    )
    return {name: kept[name] for name in known if name in kept}
