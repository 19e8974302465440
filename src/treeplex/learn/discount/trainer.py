"""Interface between trainers of discount policies and the loop that records and saves them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from treeplex.solvers.rules.discount_policy import DiscountPolicy

Arrays = Mapping[str, NDArray[Any]]
Watch = Callable[[], None]


def unwatched() -> None:
    """A :data:`Watch` that does nothing."""


@dataclass(frozen=True)
class EpochReport:
    """Results of one epoch of training.

    Attributes:
        epoch: epochs done, including this one.
        fitness: fitness of the policy after this epoch, without noise.
        mean, best: fitness over the epoch's candidates (PPO: over its episodes).
        exploitability: final exploitability of that policy on each game, in the games' order.
        lost: workers that died in this epoch.
    """

    epoch: int
    fitness: float
    mean: float
    best: float
    exploitability: tuple[float, ...]
    lost: int = 0


class Trainer(Protocol):
    """Improves a discount policy, an epoch at a time.

    A trainer resumed from :meth:`state` gives the same results as without the interruption, bit for bit.

    Attributes:
        watch: called periodically while an epoch's episodes run. An exception it raises cancels the epoch and leaves the
            trainer unchanged; it is therefore not called once the trainer's state starts to change.
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
            FileError: the arrays belong to another trainer or policy.
        """

    def close(self) -> None:
        """Stop the workers, if any."""
