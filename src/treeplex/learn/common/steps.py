"""Gradient steps that new rows call for, so that each row is seen so often on average, whenever rows come."""

from collections.abc import Collection

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.settings import LearningSettings, falling_rate


class Steps:
    """Steps of Adam that are owed for rows.

    Attributes:
        settings: ``reuse`` says how often a row is seen on average.
        taken: steps so far.
        owed: those that are due, a fraction of one included.
    """

    def __init__(self, settings: LearningSettings) -> None:
        self.settings, self.taken, self.owed = settings, 0, 0.0

    def owe(self, rows: int) -> None:
        """Add the steps due for ``rows`` new rows."""
        self.owed += self.settings.reuse * rows / self.settings.batch

    def take(self, fittings: Collection[Fitting], generator: np.random.Generator, done: float) -> list[tuple[float, ...]]:
        """The steps that are due, of all networks on uniform batches; their losses, step by step.

        Args:
            fittings: networks and their rows.
            generator: of the batches.
            done: which part of the training is, in [0, 1]; the step size falls with it.

        Raises:
            AlgorithmError: a loss is not finite; that network is as it was before.
        """
        losses, settings, rate = [], self.settings, falling_rate(self.settings, done)
        while self.owed >= 1.0:
            self.owed -= 1.0
            try:
                found = [each.step(generator, batch=settings.batch, rate=rate, clip=settings.clip) for each in fittings]
            except AlgorithmError as error:
                why = f"{error} after {self.taken} steps; resume from the last checkpoint with a smaller rate"
                raise AlgorithmError(why) from error
            self.taken += 1
            losses.append(tuple(found))
        return losses
