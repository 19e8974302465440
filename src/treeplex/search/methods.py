"""Solution methods for depth-limited subgames: the CFR family and fictitious play, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from treeplex.base.arrays import Floats
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES, FictitiousRule
from treeplex.solvers.rules.rule import average_weights as rule_average_weights
from treeplex.solvers.rules.variants import VARIANTS, Variant


@dataclass(frozen=True)
class Method:
    """A solution method for depth-limited subgames.

    Attributes:
        name: name on the command line.
        scheme: a variant of CFR, or a kind of fictitious play.
        leaves: the policy whose beliefs are used for leaf values: ``current`` (CFR-D), ``average`` (fictitious play, and the
            sound form of CFR-AVG, where play below a leaf is computed for the average policy's beliefs and valued against the
            current policy), or ``modified`` (CFR-AVG as in Brown et al. 2020, appendix I, which uses differences of ``t
            v(average t)``).
        updates: ``alternating`` (player 0, then player 1 against player 0's new policy, as in all experiments of that paper) or
            ``simultaneous`` (both against the policies at the start of the iteration; in fictitious play, against the
            averages).
    """

    name: str
    scheme: Variant | FictitiousRule
    leaves: str
    updates: str = "alternating"

    @property
    def averaging(self) -> bool:
        """Whether the method is CFR-AVG, in either form."""
        return isinstance(self.scheme, Variant) and self.leaves != "current"


SIMULTANEOUS = "-simultaneous"
ALTERNATING = (
    *(
        Method(name, variant, "current")
        for name, variant in VARIANTS.items()
        if not variant.adaptive and "warm_up" not in variant.parameters  # searches are too short for averages that start late
    ),
    *(Method(f"{name}-avg", VARIANTS[name], "average") for name in ("cfr", "lcfr", "dcfr")),
    *(Method(f"{name}-avg-modified", VARIANTS[name], "modified") for name in ("cfr", "lcfr", "dcfr")),
    *(Method(name, play, "average") for name, play in FICTITIOUS_RULES.items()),
)
METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        *ALTERNATING,
        *(replace(each, name=each.name + SIMULTANEOUS, updates="simultaneous") for each in ALTERNATING),
    )
}
"""Methods by name; those of the CFR family are CFR-D with that variant. Updates alternate unless the name says otherwise."""
METHOD_NAMES = f"{', '.join(method.name for method in ALTERNATING)}, or one of these with {SIMULTANEOUS} after its name"
"""All methods as text."""


@cache
def average_weights(method: str, iterations: int) -> Floats:
    """Unnormalised weight of each iteration in a method's average policy, float64 [T]; read-only."""
    weights = rule_average_weights(METHODS[method].scheme, iterations)
    weights.setflags(write=False)
    return weights
