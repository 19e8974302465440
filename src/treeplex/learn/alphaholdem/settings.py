"""Settings of AlphaHoldem's training."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treeplex.base.settings import Settings, setting
from treeplex.errors import SpecError
from treeplex.learn.neural.fitting.approximator import NETWORK, TABLE

BEST, LATEST = "k-best", "latest"
OF_TABLES: Mapping[str, Any] = {"approximator": TABLE, "learning_rate": 0.03}
"""Changes for a table: its rows share nothing, so each is met less often and needs longer steps."""


@dataclass(frozen=True)
class AlphaHoldemSettings(Settings):
    """Settings of AlphaHoldem: ``third``, ``discount`` and ``trace`` as published; steps and networks sized for a processor."""

    updates: int = setting(100, "updates, over all resumes", low=1)
    hands: int = setting(512, "hands of an update", low=2)
    approximator: str = setting(
        NETWORK, "what learns; a table makes no error of its own, in small games", choices=(NETWORK, TABLE), fixed=True
    )
    opponents: str = setting(BEST, "whom it plays: its K best snapshots by Elo, or itself", choices=(BEST, LATEST), fixed=True)
    best: int = setting(5, "K, snapshots that are kept", low=1, fixed=True)
    admit: int = setting(10, "updates between snapshots", low=1)
    match: int = setting(400, "hands of a match for Elo", low=2)
    learning_rate: float = setting(1e-3, "Adam's step", above=0)
    passes: int = setting(3, "passes over the decisions of an update", low=1)
    minibatch: int = setting(512, "decisions of a gradient step", low=1)
    clip: float = setting(0.2, "how far the ratio of probabilities may leave 1 before it earns nothing", above=0, below=1)
    third: float = setting(3.0, "bound on the ratio where the advantage is negative", above=1)
    discount: float = setting(0.999, "discount of each decision", above=0, high=1)
    trace: float = setting(0.95, "lambda of the advantage estimates", low=0, high=1)
    entropy: float = setting(0.15, "weight of the entropy bonus", low=0)
    value: float = setting(0.5, "weight of the value loss", low=0)
    norm: float = setting(1.0, "norm to which gradients are clipped", above=0)
    sizes: tuple[float, ...] = setting((0.5, 1.0, 2.0), "bets in parts of the pot, besides the largest", above=0, fixed=True)
    slots: int = setting(6, "planes for the actions of a street", low=1, fixed=True)
    channels: int = setting(16, "channels of each convolution", low=1, fixed=True)
    layers: int = setting(2, "convolutions of a tower", low=1, fixed=True)
    width: int = setting(64, "units of what joins the towers", low=1, fixed=True)
    exact: bool = setting(True, "judge exactly where the game can be compiled", fixed=True)
    checked: int = setting(2000, "hands against uniform play of each evaluation, at least 30", low=2, fixed=True)
    every: int | None = setting(None, "updates between evaluations; none: 10, 20, 50, 100, ...", low=1, fixed=True)
    seed: int = setting(0, "seed of everything drawn", low=0, fixed=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.third <= 1.0 + self.clip:
            raise SpecError(f"third must be above 1 + clip, {1.0 + self.clip:g}, not {self.third:g}")
        if not self.sizes or list(self.sizes) != sorted(set(self.sizes)):
            raise SpecError(f"sizes must be parts of the pot in ascending order, such as 0.5,1,2, not {self.sizes}")
