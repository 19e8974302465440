"""Named discount policies: the variant each controls, and its planned iterations."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treeplex.base.spec import Spec
from treeplex.errors import SpecError
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.discount_policy_files import load_discount_policy, shipped_discount_policy

LEARNED: Mapping[str, tuple[str, str]] = {
    "ddcfr": ("dcfr", "Dynamic Discounted CFR: a network looks at the run and sets alpha, beta and gamma of DCFR"),
    "dpcfr+": ("pcfr+", "PCFR+ whose average is weighted by a network that looks at the run"),
    "pddcfr": ("pdcfr", "PDCFR with alpha, beta and gamma set by a network that looks at the run"),
}
"""Learned schemes by name: the variant each steers, and what it is."""

REFERENCE = "Xu et al. 2024, Dynamic Discounted Counterfactual Regret Minimization (ICLR 2024)"


def checked_horizon(horizon: int, iterations: int, algorithm: str) -> int:
    """The horizon, if the run stays within it.

    Raises:
        SpecError: it does not, or it is below 1.
    """
    if horizon < 1:
        raise SpecError(f"{algorithm}: horizon is at least 1, not {horizon}")
    if iterations > horizon:
        raise SpecError(
            f"{algorithm} paces itself for {horizon:,} iterations, the run may take {iterations:,}; give at most {horizon:,} "
            f"iterations, or set its parameter horizon={iterations} to stretch its pace"
        )
    return horizon


def discounting_of(name: str, parameters: Mapping[str, Any]) -> DiscountPolicy:
    """The discount policy that an algorithm's parameters mean, with the horizon that they say.

    Raises:
        FileError: the policy cannot be read.
        SpecError: it steers another variant, or the horizon is no whole number of at least 1.
    """
    base, path, horizon = LEARNED[name][0], parameters.get("policy"), parameters.get("horizon")
    policy = shipped_discount_policy(name) if path is None else load_discount_policy(path)
    if policy.base != base:
        raise SpecError(f"{path} steers {policy.base}, {name} needs a policy for {base}; train one: treeplex train {name}")
    if horizon is None:
        return policy
    if horizon != int(horizon):
        raise SpecError(f"{name}: horizon is a whole number of iterations, not {horizon}")
    return replace(policy, horizon=checked_horizon(int(horizon), 0, str(Spec(name, dict(parameters)))))
