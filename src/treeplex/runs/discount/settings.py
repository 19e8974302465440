"""What a training is asked to do: everything that decides its numbers, kept in ``run.json``."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from treeplex.errors import FileError, SpecError
from treeplex.learn.discount.evolution import LEARNING_RATE, POPULATION, SIGMA, Evolution
from treeplex.learn.discount.ppo import PPO
from treeplex.runs.job.record import check_count
from treeplex.solvers.rules.discount_policy import BASES, HIDDEN, HOLDS, HORIZON, DiscountPolicy, fresh_policy
from treeplex.solvers.rules.learned import LEARNED
from treeplex.solvers.synonyms import unknown_algorithm

GAMES = (
    "kuhn_poker",
    "goofspiel(num_cards=3,imp_info=true,points_order=descending)",
    "liars_dice(dice_sides=3)",
    "small_matrix",
)
"""The training games of DDCFR, in the order in which table 1 takes the first one, two or three of them."""

OPTIMIZERS = ("es", "ppo")
EPOCHS = 1000


@dataclass(frozen=True)
class TrainSettings:
    """Settings of a training; the defaults are DDCFR's (Xu et al. 2024, section 5.1), but for sigma and the clip.

    Attributes:
        algorithm: what is trained, of :data:`treeplex.solvers.rules.learned.LEARNED`.
        games: specs of the training games.
        epochs: epochs in total, over all resumes.
        population: candidates an epoch; PPO plays as many episodes of each game.
        sigma: see :class:`treeplex.learn.discount.evolution.Evolution`; PPO has no such noise.
        learning_rate: None for the optimizer's usual one.
        horizon: T, iterations of an episode.
        features, discrete, holds, hidden, clipped: see :func:`treeplex.solvers.rules.discount_policy.fresh_policy`.
        exponents: what is learned; None for the algorithm's own.
        optimizer: ``es`` or ``ppo``.
        fitness: ``log`` or ``relative``, see :class:`treeplex.learn.discount.fitness.Fitness`.
        weights: one for each game; None for equal ones.
        seed: of the first network and of everything random in training.
    """

    algorithm: str = "ddcfr"
    games: tuple[str, ...] = GAMES
    epochs: int = EPOCHS
    population: int = POPULATION
    sigma: float = SIGMA
    learning_rate: float | None = None
    horizon: int = HORIZON
    features: tuple[str, ...] = ("iteration", "exploitability")
    exponents: tuple[str, ...] | None = None
    discrete: bool = False
    holds: tuple[int, ...] = HOLDS
    hidden: tuple[int, ...] = HIDDEN
    clipped: bool = True
    optimizer: str = "es"
    fitness: str = "log"
    weights: tuple[float, ...] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check each setting by itself.

        Raises:
            SpecError: one is unknown or out of its range.
        """
        if self.algorithm not in LEARNED:
            raise unknown_algorithm(self.algorithm, LEARNED, "cannot train")
        if self.optimizer not in OPTIMIZERS:
            raise SpecError(f"unknown optimizer {self.optimizer!r}; known: {', '.join(OPTIMIZERS)}")
        if self.learning_rate is None:
            object.__setattr__(self, "learning_rate", LEARNING_RATE if self.optimizer == "es" else PPO().learning_rate)
        if self.exponents is None:
            object.__setattr__(self, "exponents", BASES[LEARNED[self.algorithm][0]].learned)
        check_count("epochs", self.epochs)
        check_count("population", self.population)
        check_count("horizon", self.horizon)
        for name in ("features", "exponents"):
            value = getattr(self, name)
            if value is not None and len(set(value)) < len(value):
                raise SpecError(f"{name} names one of {', '.join(value)} twice")
        for count in (*self.holds, *self.hidden):
            check_count("holds and hidden units", count)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise SpecError(f"seed must be a whole number of at least 0, not {self.seed!r}")
        _ = self.evolution if self.optimizer == "es" else self.ppo
        self.start()

    @property
    def evolution(self) -> Evolution:
        """Settings of evolution strategies."""
        return Evolution(self.population, self.sigma, self.learning_rate or 0.0, self.seed)

    @property
    def ppo(self) -> PPO:
        """Settings of PPO."""
        return PPO(episodes=self.population, learning_rate=self.learning_rate or 0.0, seed=self.seed)

    def start(self) -> DiscountPolicy:
        """The policy before training."""
        return fresh_policy(
            LEARNED[self.algorithm][0],
            features=self.features,
            exponents=self.exponents,
            discrete=self.discrete,
            holds=self.holds,
            hidden=self.hidden,
            horizon=self.horizon,
            clipped=self.clipped,
            seed=self.seed,
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON can say it."""
        return asdict(self)


def settings_from(found: Mapping[str, Any], place: str) -> TrainSettings:
    """Settings as written in ``run.json``; :class:`FileError` names ``place`` when they are not whole."""
    names = {field.name for field in fields(TrainSettings)}
    try:
        if set(found) != names:
            raise SpecError(f"expected exactly {', '.join(sorted(names))}")
        values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
        return TrainSettings(**values)
    except (TypeError, ValueError, SpecError) as error:
        raise FileError(f"{place}: the settings of the training cannot be read ({error}); start it again") from error
