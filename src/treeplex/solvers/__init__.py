"""Solvers: the CFR family as data, fictitious play, Greedy Weights and the exact linear program. Imports no judge."""

from treeplex.engine.regret import Weights
from treeplex.solvers.base import Algorithm, Solver
from treeplex.solvers.fictitious import Play
from treeplex.solvers.registry import algorithms, make_solver
from treeplex.solvers.rule import Rule, Step
from treeplex.solvers.scheme import DiscountPolicy, fresh_policy
from treeplex.solvers.scheme_files import load_scheme, save_scheme
from treeplex.solvers.variant import Variant

__all__ = [
    "Algorithm",
    "DiscountPolicy",
    "Play",
    "Rule",
    "Solver",
    "Step",
    "Variant",
    "Weights",
    "algorithms",
    "fresh_policy",
    "load_scheme",
    "make_solver",
    "save_scheme",
]
