"""Named discount policies: the variant each controls, and its planned iterations."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treeplex.base.spec import Spec
from treeplex.errors import SpecError
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.discount_policy_files import load_discount_policy, shipped_discount_policy

LEARNED: Mapping[str, tuple[str, str]] = {
    "ddcfr": ("dcfr", "Dynamic Discounted CFR: a network observes the run and sets alpha, beta and gamma of DCFR"),
    "dpcfr+": ("pcfr+", "PCFR+ with averaging weights set by a network that observes the run"),
    "pddcfr": ("pdcfr", "PDCFR with alpha, beta and gamma set by a network that observes the run"),
}
"""Learned schemes by name: the controlled variant and a description."""

REFERENCE = "Xu et al. 2024, Dynamic Discounted Counterfactual Regret Minimization (ICLR 2024)"


def checked_horizon(horizon: int, iterations: int, algorithm: str) -> int:
    """Return the horizon if the run stays within it.

    Raises:
        SpecError: the run exceeds the horizon, or the horizon is below 1.
    """
    if horizon < 1:
        raise SpecError(f"{algorithm}: horizon must be at least 1, not {horizon}")
    if iterations > horizon:
        raise SpecError(
            f"{algorithm} plans for {horizon:,} iterations, but the run may take {iterations:,}; give at most {horizon:,} "
            f"iterations, or set its parameter horizon={iterations}"
        )
    return horizon


def discounting_of(name: str, parameters: Mapping[str, Any]) -> DiscountPolicy:
    """Return the discount policy of an algorithm's parameters, with their horizon.

    Raises:
        FileError: the policy cannot be read.
        SpecError: the policy controls another variant, or the horizon is not an integer of at least 1.
    """
    base, path, horizon = LEARNED[name][0], parameters.get("policy"), parameters.get("horizon")
    policy = shipped_discount_policy(name) if path is None else load_discount_policy(path)
    if policy.base != base:
        raise SpecError(
            f"{path} controls {policy.base}, but {name} needs a policy for {base}; train one: treeplex train {name}"
        )
    if horizon is None:
        return policy
    if horizon != int(horizon):
        raise SpecError(f"{name}: horizon must be an integer, not {horizon}")
    return replace(policy, horizon=checked_horizon(int(horizon), 0, str(Spec(name, dict(parameters)))))
