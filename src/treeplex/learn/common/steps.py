"""Schedules gradient steps so that each row is used a given number of times on average, regardless of when rows arrive."""

from collections.abc import Collection

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.learn.common.fitting import NetworkFitter
from treeplex.learn.common.settings import LearningSettings, falling_rate


class Steps:
    """Schedule of gradient steps for new rows.

    Attributes:
        settings: ``reuse`` is the average number of uses of a row.
        taken: steps taken so far.
        owed: steps due, possibly fractional.
    """

    def __init__(self, settings: LearningSettings) -> None:
        self.settings, self.taken, self.owed = settings, 0, 0.0

    def owe(self, rows: int) -> None:
        """Add the steps due for ``rows`` new rows."""
        self.owed += self.settings.reuse * rows / self.settings.batch

    def take(self, fittings: Collection[NetworkFitter], generator: np.random.Generator, done: float) -> list[tuple[float, ...]]:
        """Take all due steps of all networks on uniformly sampled batches; returns the losses of each step.

        Args:
            fittings: networks and their rows.
            generator: random number generator for batches.
            done: fraction of training completed, which sets the step size.

        Raises:
            AlgorithmError: a loss is not finite; that network is left unchanged.
        """
        losses, settings, rate = [], self.settings, falling_rate(self.settings, done)
        while self.owed >= 1.0:
            self.owed -= 1.0
            try:
                step_losses = [
                    fitting.step(generator, batch=settings.batch, rate=rate, clip=settings.clip) for fitting in fittings
                ]
            except AlgorithmError as error:
                why = f"{error} after {self.taken} steps; resume from the last checkpoint with a smaller rate"
                raise AlgorithmError(why) from error
            self.taken += 1
            losses.append(tuple(step_losses))
        return losses
