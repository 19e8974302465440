"""Learned discounting as data: a network's inputs, outputs, ranges and weights."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.spec import nearest
from treeplex.engine.networks.mlp_single import parameter_count
from treeplex.engine.tree.learned import EXPONENTS, FEATURES, DiscountNetwork
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.form import RuleKind
from treeplex.solvers.rules.variants import VARIANTS

HIDDEN = (64, 64)
"""Number of units of the hidden layers (DDCFR, section 5.1)."""
HOLDS = (1, 2, 5, 10, 20)
"""Choices of the number of iterations a decision holds (DDCFR, section 5.1)."""
HORIZON = 1000


@dataclass(frozen=True)
class Base:
    """The variant whose exponents are learned.

    Attributes:
        variant: its name.
        prediction: its prediction strength.
        floored: whether negative regrets are set to zero.
        learned: default of the learned exponents.
    """

    variant: str
    prediction: float
    floored: bool
    learned: tuple[str, ...]

    @property
    def defaults(self) -> tuple[float, float, float, float]:
        """Alpha, beta, gamma and prediction without learning; an infinite alpha or beta means no discount."""
        known = VARIANTS[self.variant].parameters
        return known.get("alpha", math.inf), known.get("beta", math.inf), known["gamma"], self.prediction


BASES: Mapping[str, Base] = {
    base.variant: base
    for base in (
        Base("dcfr", 0.0, False, ("alpha", "beta", "gamma")),
        Base("pcfr+", 1.0, True, ("gamma",)),
        Base("pdcfr", 1.0, False, ("alpha", "beta", "gamma")),
        Base("pdcfr+", 1.0, True, ("alpha", "gamma", "prediction")),
    )
}
"""Variants by name."""

RANGES: Mapping[str, tuple[float, float]] = {
    "alpha": (0.0, 5.0),
    "beta": (-5.0, 0.0),
    "gamma": (0.0, 5.0),
    "prediction": (0.0, 1.0),
}
"""Ranges of the outputs; those of the exponents are from theorem 1 (DDCFR, section 3.2)."""


@dataclass(frozen=True, eq=False)
class DiscountPolicy:
    """A policy that observes a run and sets its discounts (Xu et al. 2024, DDCFR, section 3.1).

    Attributes:
        base: the variant of :data:`BASES` that it controls.
        parameters: float64 [P], the network, laid out as in :func:`treeplex.engine.networks.mlp_single.forward`.
        features: its inputs, of :data:`treeplex.engine.tree.learned.FEATURES`.
        exponents: its outputs, of :data:`treeplex.engine.tree.learned.EXPONENTS`.
        ranges: minimum and maximum of each output.
        levels: for each output 0 if continuous, else its number of equally spaced values.
        holds: choices of the number of iterations a decision holds; empty for one decision per iteration.
        hidden: number of units of the hidden layers.
        horizon: the number of iterations T it was trained for.
        clipped: whether alpha is raised to 1 from iteration T/2 on, as required by theorem 1.
        card: training data, date and scores; any JSON-serialisable value.
    """

    base: str
    parameters: NDArray[np.float64]
    features: tuple[str, ...] = ("iteration", "exploitability")
    exponents: tuple[str, ...] = ("alpha", "beta", "gamma")
    ranges: tuple[tuple[float, float], ...] = ((0.0, 5.0), (-5.0, 0.0), (0.0, 5.0))
    levels: tuple[int, ...] = (0, 0, 0)
    holds: tuple[int, ...] = HOLDS
    hidden: tuple[int, ...] = HIDDEN
    horizon: int = HORIZON
    clipped: bool = True
    card: Mapping[str, Any] = field(default_factory=dict)
    kind: ClassVar[RuleKind] = RuleKind.LEARNED
    updates: ClassVar[str] = "alternating"
    averages: ClassVar[int] = 1
    answers: ClassVar[tuple[str, ...]] = ("average",)

    def __post_init__(self) -> None:
        """Check consistency.

        Raises:
            SpecError: the parts are inconsistent.
        """
        if self.base not in BASES:
            raise SpecError(f"a discount policy must control one of {', '.join(BASES)}, not {self.base!r}")
        for name, known in ((self.features, FEATURES), (self.exponents, EXPONENTS)):
            for entry in name:
                if entry not in known:
                    raise SpecError(f"a discount policy does not support {entry!r}{nearest(entry, known)}")
        if not self.features or not self.exponents:
            raise SpecError("a discount policy needs at least one feature and one exponent")
        if not len(self.exponents) == len(self.ranges) == len(self.levels):
            raise SpecError("a discount policy needs one range and one number of levels for each exponent")
        if any(not -math.inf < low <= high < math.inf for low, high in self.ranges) or any(level < 0 for level in self.levels):
            raise SpecError("ranges of a discount policy must be finite (low, high), and levels at least 0")
        if self.horizon < 1 or any(hold < 1 for hold in self.holds) or any(units < 1 for units in self.hidden):
            raise SpecError("horizon, holds and hidden units of a discount policy must be at least 1")
        shape, wanted = np.shape(self.parameters), (parameter_count(self.sizes),)
        if shape != wanted or not np.isfinite(self.parameters).all():
            raise SpecError(f"a discount policy network with sizes {list(self.sizes)} needs {wanted[0]} finite parameters, "
                            f"not shape {list(shape)}")  # fmt: skip

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of inputs, hidden units and outputs; int64 [L+1]."""
        outputs = sum(level or 1 for level in self.levels) + len(self.holds)
        return np.array([len(self.features), *self.hidden, outputs], np.int64)

    @cached_property
    def compiled(self) -> DiscountNetwork:
        """The policy in the engine's form."""
        base = BASES[self.base]
        return DiscountNetwork(
            sizes=self.sizes,
            parameters=np.ascontiguousarray(self.parameters, np.float64),
            features=np.array([FEATURES.index(name) for name in self.features], np.int64),
            exponents=np.array([EXPONENTS.index(name) for name in self.exponents], np.int64),
            low=np.array([low for low, _ in self.ranges], np.float64),
            high=np.array([high for _, high in self.ranges], np.float64),
            levels=np.array(self.levels, np.int64),
            holds=np.array(self.holds, np.int64),
            defaults=np.array(base.defaults, np.float64),
            floor=float(base.floored),
            clipped=self.clipped,
        )

    @property
    def network(self) -> DiscountNetwork:
        """The network that sets the weights, in the engine's form."""
        return self.compiled

    @property
    def pace(self) -> int:
        """The number of iterations it plans for."""
        return self.horizon

    @property
    def name(self) -> str:
        """Name for reports."""
        return f"learned {self.base}"

    @property
    def needs(self) -> frozenset[str]:
        """Names of arrays: those of the base variant, ``memory``, ``network``, and the last policy if observed."""
        seen = ("seen",) if "movement" in self.features else ()
        return VARIANTS[self.base].needs | {"memory", "network", *seen}

    def rows(self, times: Sequence[int], horizon: int) -> NDArray[np.float64]:
        """Raise an error, since the weights depend on the run.

        Raises:
            AlgorithmError: always.
        """
        raise AlgorithmError(f"{self.name} has no fixed weights: they depend on the run")

    average_factors = rows

    def with_parameters(self, parameters: NDArray[np.float64]) -> "DiscountPolicy":
        """Return a copy with other network parameters of the same layer sizes."""
        return replace(self, parameters=parameters)


def untrained_discount_policy(
    base: str = "dcfr",
    *,
    features: tuple[str, ...] = ("iteration", "exploitability"),
    exponents: tuple[str, ...] | None = None,
    discrete: bool = False,
    holds: tuple[int, ...] = HOLDS,
    hidden: tuple[int, ...] = HIDDEN,
    horizon: int = HORIZON,
    clipped: bool = True,
    seed: int = 0,
) -> DiscountPolicy:
    """Return an untrained policy: weights uniform in ``+-1 / sqrt(inputs)``, as in PyTorch's linear layers.

    Args:
        base: the controlled variant, of :data:`BASES`.
        features, holds, hidden, horizon, clipped: see :class:`DiscountPolicy`.
        exponents: the learned exponents; None for the base's default.
        discrete: restrict exponents to integers (DDCFR-dis of table 1).
        seed: random seed of the weights.

    Raises:
        SpecError: unknown name.
    """
    if base not in BASES:
        raise SpecError(f"unknown base {base!r}{nearest(base, BASES)}")
    exponents = BASES[base].learned if exponents is None else exponents
    for name in exponents:
        if name not in RANGES:
            raise SpecError(f"a discount policy cannot set {name!r}{nearest(name, RANGES)}")
    ranges = tuple(RANGES[name] for name in exponents)
    levels = tuple(round(high - low) + 1 if discrete else 0 for low, high in ranges)
    sizes = np.array([len(features), *hidden, sum(level or 1 for level in levels) + len(holds)], np.int64)
    random = np.random.default_rng(seed)
    parts = []
    for inputs, outputs in pairwise(sizes):
        bound = 1.0 / math.sqrt(inputs)
        parts += [random.uniform(-bound, bound, int(inputs * outputs)), random.uniform(-bound, bound, int(outputs))]
    return DiscountPolicy(
        base, np.concatenate(parts), features, exponents, ranges, levels, holds, hidden, horizon, clipped, {}
    )  # fmt: skip
