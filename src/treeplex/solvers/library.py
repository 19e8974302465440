"""The built-in algorithms and the construction of their solvers."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial

from treeplex.solvers.base import UPDATES, Algorithm, Solver, SolverStart
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


def rule_algorithm(rule: UpdateRule, name: str | None = None) -> Algorithm:
    """Wrap an update rule (variant, fictitious play, value-tested or learned discounting) as an algorithm."""
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
    """Wrap a function from parameters to a rule as an algorithm."""

    def build(start: SolverStart) -> Solver:
        return RuleSolver(start.game, make(**start.parameters), updates=start.updates, algorithm=start.algorithm)

    return Algorithm(name, summary, reference, factory=build, parameters=usual, updates=UPDATES)


def learned_algorithm(name: str, summary: str) -> Algorithm:
    """Wrap a learned scheme as an algorithm: the shipped policy, or one from a file."""
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
    """Wrap a sampling scheme as an algorithm."""

    def build(start: SolverStart) -> Solver:
        options = scheme.options(start.parameters)
        return MonteCarloCfr(start.game, scheme, options, seed=start.seed, algorithm=start.algorithm)

    numbers = {name: value for name, value in scheme.parameters.items() if isinstance(value, int | float)}
    usual = {name: getattr(SamplingOptions, name) for name in ("rate", "quantiles", "threads")}
    choices = {"variant": DISCOUNT_SEQUENCES, "averaging": AVERAGING, "baseline": BASELINES, "key": KEYS}
    chosen = scheme.options({"baseline": scheme.baseline})
    return Algorithm(
        name=name or scheme.name,
        summary=scheme.summary,
        reference=scheme.reference,
        factory=build,
        group="sampling",
        parameters={**numbers, **usual, **numbers},
        texts={key: "|".join(sorted(words, key=lambda word: word != getattr(chosen, key))) for key, words in choices.items()},
        updates=("alternating",),
        scheme=scheme,
    )


def joint_algorithm(name: str, solver: str, summary: str, *, tilt: float = 0.0) -> Algorithm:
    """Wrap a solver of joint play as an algorithm; its module is imported on demand."""

    def build(start: SolverStart) -> Solver:
        from treeplex.solvers.joint import cfr_joint

        make: Callable[..., Solver] = getattr(cfr_joint, solver)
        return make(start.game, **start.parameters, seed=start.seed, algorithm=start.algorithm)

    return Algorithm(
        name=name,
        summary=summary,
        reference="Celli, Marchesi, Bianchi and Gatti 2019, Learning to Correlate in Multi-Player General-Sum Sequential Games "
        "(arXiv 1910.06228)",
        factory=build,
        group="correlation",
        parameters={"plus": 0, "keep": 0} | ({"tilt": tilt} if tilt else {}),
        updates=("simultaneous",),
    )


def linear_program(start: SolverStart) -> Solver:
    """Build a ``solvers.exact.lp.LinearProgram`` solver; imported on demand, since SciPy's optimisers load slowly."""
    from treeplex.solvers.exact.lp import LinearProgram

    return LinearProgram(start.game)


def backward_recursion(start: SolverStart) -> Solver:
    """Build a :class:`treeplex.solvers.exact.recursive.Recursive` solver; imported on demand, like ``lp``."""
    from treeplex.solvers.exact.recursive import Recursive

    return Recursive(start.game)


ALGORITHMS: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        *map(rule_algorithm, VARIANTS.values()),
        *(learned_algorithm(name, summary) for name, (_, summary) in LEARNED.items()),
        Algorithm(
            name=VALUE_TESTED,
            summary="value-tested CFR+: each infoset adapts its prediction strength; the best of five averages is returned",
            reference="Treeplex; built on Xu et al. 2024, Minimizing Weighted Counterfactual Regret with Optimistic Online "
            "Mirror Descent (arXiv 2404.13891)",
            rule=lambda parameters: ValueTesting(**parameters),
            parameters=asdict(ValueTesting()),
            updates=UPDATES,
        ),
        Algorithm(
            name="greedy",
            summary="Greedy Weights: each iteration's weight minimises the potential of average regrets",
            reference="Zhang, Lerer and Brown 2022, Equilibrium Finding in Normal-Form Games via Greedy Regret Minimization",
            factory=lambda start: GreedyWeights(start.game, **start.parameters, algorithm=start.algorithm),
            parameters={"floor": 0.5},
            updates=("simultaneous",),
        ),
        function_algorithm(
            SMOOTH,
            smooth_pcfr_plus,
            {"least": 1.0, "gamma": 2.0},
            "Smooth PCFR+: the regrets of an infoset sum to at least a bound",
            "Farina, Grand-Clément, Kroer, Lee and Luo 2023, Regret Matching+: (In)Stability and Fast Convergence in Games "
            "(arXiv 2305.14709)",
        ),
        function_algorithm(
            VOLATILE,
            lambda **parameters: VolatilityAdaptive(**parameters).rule(),
            asdict(VolatilityAdaptive()),
            "volatility-adaptive discounted CFR: discounts depend on regret fluctuations; the average starts late",
            "Li, Schultz, Hennes and Lanctot 2026, Discovering Multiagent Learning Algorithms with Large Language Models "
            "(arXiv 2602.16928)",
        ),
        Algorithm(
            name="mmd",
            summary="magnetic mirror descent with a moving magnet: the last iterate converges if eta is small enough",
            reference="Sokota et al. 2023, A Unified Approach to Reinforcement Learning, Quantal Response Equilibria, and "
            "Two-Player Zero-Sum Games (arXiv 2206.05825)",
            factory=lambda start: MirrorDescent(
                start.game, **start.parameters, updates=start.updates or UPDATES[0], algorithm=start.algorithm
            ),
            parameters={"eta": 5.0, "alpha": 0.01, "every": 100},
            updates=UPDATES,
        ),
        Algorithm(
            name="rtcfr+",
            summary="CFR+ with repeated reward transformation: the last iterate converges",
            reference="Meng et al. 2025, Efficient Last-Iterate Convergence in Solving Extensive-Form Games (NeurIPS 2025)",
            factory=lambda start: RewardTransformation(start.game, **start.parameters, algorithm=start.algorithm),
            parameters={"mu": 1e-3, "gamma": 1e-10, "every": 100},
            updates=("alternating",),
        ),
        *map(rule_algorithm, FICTITIOUS_RULES.values()),
        *map(sampling_algorithm, SAMPLINGS.values()),
        joint_algorithm("cfr-s", "CfrS", "CFR with sampled plans: the joint play converges to a coarse correlated equilibrium"),
        joint_algorithm(
            "cfr-jr", "CfrJr", "CFR with joint reconstruction: averages the products of the current strategies", tilt=0.1
        ),
        Algorithm(
            name="rm",
            summary="regret matching in static games with any number of players",
            reference="Blackwell 1956; Hart and Mas-Colell 2000, A Simple Adaptive Procedure Leading to Correlated Equilibrium",
            factory=lambda start: RegretMatching(start.game, **start.parameters, seed=start.seed, algorithm=start.algorithm),
            parameters={"sampled": 0},
            updates=("simultaneous",),
        ),
        Algorithm(
            name="lp",
            summary="the exact equilibrium of a two-player zero-sum game by sequence-form linear programming (HiGHS)",
            reference="Koller, Megiddo and von Stengel 1996, Efficient Computation of Equilibria for Extensive "
            "Two-Person Games",
            factory=linear_program,
            group="exact",
        ),
        Algorithm(
            name="recursive",
            summary="exact equilibria by backward recursion: static games at each step where players know the state",
            reference="Basar and Olsder 1999, Dynamic Noncooperative Game Theory, sections 2.4, 2.5 and 3.5",
            factory=backward_recursion,
            group="exact",
        ),
    )
}
"""The algorithms by name."""
