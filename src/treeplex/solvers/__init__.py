"""Solvers: the CFR family as data, fictitious play, Greedy Weights and exact linear programs. Imports no evaluation code."""

from treeplex.engine.tree.regret import Weights
from treeplex.forms.form import Form
from treeplex.solvers.base import Algorithm, Solver
from treeplex.solvers.registry import algorithms, make_solver
from treeplex.solvers.rules.custom import Rule, Step
from treeplex.solvers.rules.discount_policy import DiscountPolicy, untrained_discount_policy
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.rule import UpdateRule
from treeplex.solvers.rules.variants import Variant
from treeplex.solvers.rules.warm_start import warm_start
from treeplex.solvers.sampling.solver import SamplingOptions, SamplingScheme
from treeplex.solvers.solver import GameSolver

__all__ = [
    "Algorithm",
    "DiscountPolicy",
    "FictitiousRule",
    "Form",
    "GameSolver",
    "Rule",
    "SamplingOptions",
    "SamplingScheme",
    "Solver",
    "Step",
    "UpdateRule",
    "Variant",
    "Weights",
    "algorithms",
    "make_solver",
    "untrained_discount_policy",
    "warm_start",
]
