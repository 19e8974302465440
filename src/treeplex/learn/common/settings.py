"""Settings of gradient steps that several learners share, and the step-size schedule."""

import math
from dataclasses import dataclass

from treeplex.base.settings import Settings, setting


@dataclass(frozen=True)
class LearningSettings(Settings):
    """Settings of a network's size, a replay buffer and Adam."""

    width: int = setting(128, "width of the networks' layers", low=1, fixed=True)
    layers: int = setting(2, "number of layers of the networks", low=1, fixed=True)
    rows: int = setting(100_000, "maximum rows of a buffer", low=1)
    burn_in: int = setting(1024, "rows before the first gradient step", low=1)
    batch: int = setting(512, "rows per gradient step", low=1)
    reuse: float = setting(64.0, "average number of gradient steps that use a row", above=0)
    rate: float = setting(1e-3, "Adam's initial step size", above=0)
    last_rate: float = setting(2e-5, "Adam's final step size, reached by cosine decay", above=0)
    halve: float = setting(
        0.0,
        "fraction of training after which the step size is halved, again and again, instead of the cosine decay (0: off)",
        low=0,
        high=1,
        added=True,
    )
    clip: float = setting(5.0, "maximum gradient norm, to which gradients are clipped", above=0)
    seed: int = setting(0, "random seed", low=0, fixed=True)

    @property
    def length(self) -> int:
        """Length of training, over which the step size decays; subclasses choose the unit."""
        raise NotImplementedError


def falling_rate(settings: LearningSettings, done: float) -> float:
    """Adam's step size after the fraction ``done`` of training.

    Halves ``rate`` after each fraction ``halve`` of training; if ``halve`` is 0, decays from ``rate`` to ``last_rate`` along
    half a cosine.
    """
    if settings.halve:
        return settings.rate * 0.5 ** max(math.ceil(min(done, 1.0) / settings.halve) - 1, 0)
    share = 0.5 * (1.0 + math.cos(math.pi * min(done, 1.0)))
    return settings.last_rate + (settings.rate - settings.last_rate) * share
