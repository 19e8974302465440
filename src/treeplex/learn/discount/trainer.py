"""What every way of training a discount policy offers to the loop that records and saves it."""

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
        epoch: epochs done, this one included.
        fitness: of the policy after this epoch, without noise.
        mean, best: fitness over the epoch's candidates (PPO: over its episodes).
        exploitability: after the last iteration, of the policy after this epoch on each game, in the games' order.
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

    The same trainer continued from :meth:`state` does what it would have done without the break, bit for bit.

    Attributes:
        watch: called now and then while an epoch's episodes run. What it raises ends the epoch and leaves the trainer as it
            was before the epoch; so it is not called once the trainer's state begins to change.
    """

    watch: Watch

    @property
    def policy(self) -> DiscountPolicy:
        """The policy as trained so far, without noise."""

    @property
    def epoch(self) -> int:
        """Epochs done."""

    def step(self) -> EpochReport:
        """Train for one epoch."""

    def state(self) -> Arrays:
        """Everything that :meth:`restore` needs, as arrays, ``epoch`` (int64 [1]) and ``parameters`` among them."""

    def restore(self, arrays: Arrays) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            FileError: the arrays are not of this trainer and policy.
        """

    def close(self) -> None:
        """End the workers, if there are any."""
