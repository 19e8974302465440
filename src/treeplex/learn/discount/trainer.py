"""Interface between trainers of discount policies and the loop that records and saves them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from treeplex.solvers.rules.discount_policy import DiscountPolicy

Arrays = Mapping[str, NDArray[Any]]
Watch = Callable[[], None]


def unwatched() -> None:
    """A no-op :data:`Watch`."""


@dataclass(frozen=True)
class EpochReport:
    """Results of one epoch of training.

    Attributes:
        epoch: number of epochs completed, including this one.
        fitness: fitness of the policy after this epoch, without noise.
        mean, best: mean and best fitness over the epoch's candidates (PPO: over its episodes).
        exploitability: final exploitability of the policy after this epoch on each game, in the games' order.
        lost: number of workers that died in this epoch.
    """

    epoch: int
    fitness: float
    mean: float
    best: float
    exploitability: tuple[float, ...]
    lost: int = 0


class Trainer(Protocol):
    """Trains a discount policy, one epoch at a time.

    A trainer resumed from :meth:`state` gives bit-identical results to an uninterrupted one.

    Attributes:
        watch: called periodically while an epoch's episodes run. If it raises an exception, the epoch is cancelled and the
            trainer is unchanged; it is therefore not called once the trainer's state starts to change.
    """

    watch: Watch

    @property
    def policy(self) -> DiscountPolicy:
        """The current policy, without noise."""

    @property
    def epoch(self) -> int:
        """Number of epochs completed."""

    def step(self) -> EpochReport:
        """Train for one epoch."""

    def state(self) -> Arrays:
        """Arrays that :meth:`restore` needs, including ``epoch`` (int64 [1]) and ``parameters``."""

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            FileError: the arrays are from a different trainer or policy.
        """

    def close(self) -> None:
        """Stop the workers, if there are any."""
