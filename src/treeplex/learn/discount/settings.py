"""Settings for training a discount policy, without the training games."""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.engine.tree.learned import EXPONENTS, FEATURES, LOWEST
from treeplex.errors import SpecError
from treeplex.learn.discount.evolution import LEARNING_RATE, POPULATION, SIGMA, Evolution
from treeplex.learn.discount.fitness import KINDS
from treeplex.learn.discount.ppo import PPO
from treeplex.solvers.rules.discount_policy import HIDDEN, HOLDS, HORIZON, DiscountPolicy, untrained_discount_policy

GAMES = (
    "kuhn_poker",
    "goofspiel(num_cards=3,imp_info=true,points_order=descending)",
    "liars_dice(dice_sides=3)",
    "small_matrix",
)
"""DDCFR's training games, ordered such that table 1's smaller training sets are the first one, two or three."""


@dataclass(frozen=True)
class DiscountSettings(Settings):
    """Training settings; the defaults are DDCFR's (Xu et al. 2024, section 5.1), except for sigma and the clip."""

    epochs: int = setting(1000, "total number of epochs, including those before a resume", low=1)
    population: int = setting(POPULATION, "candidates per epoch (ppo: episodes per game)", low=1, fixed=True)
    sigma: float = setting(SIGMA, "standard deviation of the noise (not for ppo)", fixed=True, above=0)
    learning_rate: float | None = setting(None, "Adam's step size (none: 0.01, for ppo 0.0003)", above=0, fixed=True)
    horizon: int = setting(HORIZON, "T, iterations per episode", low=1, fixed=True)
    features: tuple[str, ...] = setting(
        ("iteration", "exploitability"), "the policy's input features", choices=FEATURES, fixed=True
    )
    exponents: tuple[str, ...] | None = setting(
        None, "exponents that the policy sets (none: those of its CFR variant)", choices=EXPONENTS, fixed=True
    )
    discrete: bool = setting(False, "round exponents to integers", fixed=True)
    holds: tuple[int, ...] = setting(
        HOLDS, "possible numbers of iterations that a decision applies to (empty: one)", low=1, fixed=True
    )
    hidden: tuple[int, ...] = setting(HIDDEN, "units per hidden layer", low=1, fixed=True)
    clipped: bool = setting(
        True, "raise alpha to at least 1 after iteration T/2, as Theorem 1 of the paper requires", fixed=True
    )
    optimizer: str = setting("es", "evolution strategies or PPO", choices=("es", "ppo"), fixed=True)
    fitness: str = setting(
        "log", "objective: log as in the paper, or relative as in the authors' code", choices=KINDS, fixed=True
    )
    floor: float = setting(LOWEST, "lower bound on exploitability in the fitness (0: none)", low=0, fixed=True, added=True)
    weights: tuple[float, ...] | None = setting(
        None, "weight of each game, in the games' order (none: 1 each)", above=0, fixed=True
    )
    seed: int = setting(0, "random seed", low=0, fixed=True)

    def check(self) -> None:
        """Reject duplicate names, and settings that the optimizer does not support."""
        for name in ("features", "exponents"):
            value = getattr(self, name)
            if value is not None and len(set(value)) < len(value):
                raise SpecError(f"{name} has a duplicate: {', '.join(value)}; name each once")
        if not self.features or self.exponents == ():
            raise SpecError("a discount policy needs at least one feature and one exponent")
        if self.learning_rate is None:
            object.__setattr__(self, "learning_rate", LEARNING_RATE if self.optimizer == "es" else PPO().learning_rate)
        _ = self.evolution if self.optimizer == "es" else self.ppo

    @property
    def evolution(self) -> Evolution:
        """Settings of evolution strategies."""
        return Evolution(self.population, self.sigma, self.learning_rate or 0.0, self.seed)

    @property
    def ppo(self) -> PPO:
        """Settings of PPO."""
        return PPO(episodes=self.population, learning_rate=self.learning_rate or 0.0, seed=self.seed)

    def start(self, base: str) -> DiscountPolicy:
        """An untrained policy for a CFR variant in :data:`treeplex.solvers.rules.discount_policy.BASES`."""
        names = ("features", "exponents", "discrete", "holds", "hidden", "horizon", "clipped", "seed")
        return untrained_discount_policy(base, **{name: getattr(self, name) for name in names})
