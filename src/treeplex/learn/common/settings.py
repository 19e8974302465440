"""Settings of gradient steps that trainings of several kinds share, and how the step size falls."""

import math
from dataclasses import dataclass

from treeplex.base.settings import Settings, setting


@dataclass(frozen=True)
class LearningSettings(Settings):
    """A network's size, a buffer of rows, and steps of Adam."""

    width: int = setting(128, "width of the networks' layers", low=1, fixed=True)
    layers: int = setting(2, "layers of the networks", low=1, fixed=True)
    rows: int = setting(100_000, "the most rows of a buffer", low=1)
    burn_in: int = setting(1024, "rows before the first step", low=1)
    batch: int = setting(512, "rows of a step", low=1)
    reuse: float = setting(64.0, "how often a row is seen on average", above=0)
    rate: float = setting(1e-3, "Adam's step at first", above=0)
    last_rate: float = setting(2e-5, "Adam's step at the end, along half a cosine", above=0)
    halve: float = setting(
        0.0,
        "instead: the part of a training after which the step is halved, and again; 0: not",
        low=0,
        high=1,
        added=True,
    )
    clip: float = setting(5.0, "the most that a gradient's norm may be", above=0)
    seed: int = setting(0, "seed of everything random", low=0, fixed=True)

    @property
    def length(self) -> int:
        """The length of a training, in its own unit; the step size falls over it."""
        raise NotImplementedError


def falling_rate(settings: LearningSettings, done: float) -> float:
    """Adam's step size once the fraction ``done`` of a training is over.

    Half of ``rate`` each time that another part ``halve`` of the training is done; where that is 0, from ``rate`` to
    ``last_rate`` along half a cosine.
    """
    if settings.halve:
        return settings.rate * 0.5 ** max(math.ceil(min(done, 1.0) / settings.halve) - 1, 0)
    share = 0.5 * (1.0 + math.cos(math.pi * min(done, 1.0)))
    return settings.last_rate + (settings.rate - settings.last_rate) * share
