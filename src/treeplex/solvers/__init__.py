"""Solvers: the CFR family as data, fictitious play, Greedy Weights and the exact linear program. Imports no judge."""

from treeplex.engine.tree.regret import Weights
from treeplex.solvers.base import Algorithm, Solver
from treeplex.solvers.registry import algorithms, make_solver
from treeplex.solvers.rules.custom import Rule, Step
from treeplex.solvers.rules.discount_policy import DiscountPolicy, fresh_policy
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.variants import Variant
from treeplex.solvers.sampling.solver import SamplingOptions, SamplingScheme

__all__ = [
    "Algorithm",
    "DiscountPolicy",
    "FictitiousRule",
    "Rule",
    "SamplingOptions",
    "SamplingScheme",
    "Solver",
    "Step",
    "Variant",
    "Weights",
    "algorithms",
    "fresh_policy",
    "make_solver",
]
