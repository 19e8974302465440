"""Settings of gradient steps that trainings of several kinds share: whether they make sense, and how the step size falls."""

import math
from typing import Protocol

from treeplex.errors import SpecError


class Learning(Protocol):
    """Settings with a network's size, a buffer, and steps of Adam: what ``learn.rebel.trainer.RebelSettings`` says."""

    @property
    def rate(self) -> float: ...
    @property
    def last_rate(self) -> float: ...
    @property
    def halve(self) -> float: ...


def check_learning(settings: Learning, amount: str) -> None:
    """Check them; ``amount`` is the name of the setting that says how long the training is.

    Raises:
        SpecError: a value outside its range.
    """
    for name in (amount, "width", "layers", "rows", "burn_in", "batch"):
        value = getattr(settings, name)
        if not 1 <= value == int(value):
            raise SpecError(f"{name} must be a whole number of at least 1, not {value!r}")
    for name in ("reuse", "rate", "last_rate", "clip"):
        value = getattr(settings, name)
        if not 0.0 < value < math.inf:
            raise SpecError(f"{name} must be a number above 0, not {value!r}")
    if not 0.0 <= settings.halve <= 1.0:
        raise SpecError(f"halve must be a part of the training, from 0 (never) to 1, not {settings.halve!r}")


def falling_rate(settings: Learning, done: float) -> float:
    """Adam's step size when so much of a training is done.

    Half of ``rate`` each time that another part ``halve`` of the training is done; where that is 0, from ``rate`` to
    ``last_rate`` along half a cosine.
    """
    if settings.halve:
        return settings.rate * 0.5 ** max(math.ceil(min(done, 1.0) / settings.halve) - 1, 0)
    share = 0.5 * (1.0 + math.cos(math.pi * min(done, 1.0)))
    return settings.last_rate + (settings.rate - settings.last_rate) * share
