"""Settings for training AlphaHoldem."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treeplex.base.settings import Settings, setting
from treeplex.errors import SpecError
from treeplex.learn.neural.fitting.approximator import NETWORK, TABLE

BEST, LATEST = "k-best", "latest"
OF_TABLES: Mapping[str, Any] = {"approximator": TABLE, "learning_rate": 0.03}
"""Changes to the settings for a table: rows share no parameters, so each is updated less often and needs larger steps."""


@dataclass(frozen=True)
class AlphaHoldemSettings(Settings):
    """Settings of AlphaHoldem: ``third``, ``discount`` and ``trace`` as published; networks and step sizes chosen for a CPU."""

    updates: int = setting(100, "total number of updates, including those before a resume", low=1)
    hands: int = setting(512, "hands per update", low=2)
    approximator: str = setting(
        NETWORK,
        "function approximator: a network or, in small games, a table without approximation error",
        choices=(NETWORK, TABLE),
        fixed=True,
    )
    opponents: str = setting(
        BEST,
        "opponents in training: the K best snapshots by Elo rating, or the current network",
        choices=(BEST, LATEST),
        fixed=True,
    )
    best: int = setting(5, "number of snapshots kept, K", low=1, fixed=True)
    admit: int = setting(10, "updates between snapshots", low=1)
    match: int = setting(400, "hands per Elo match", low=2)
    learning_rate: float = setting(1e-3, "Adam's step size", above=0)
    passes: int = setting(3, "passes over an update's decisions", low=1)
    minibatch: int = setting(512, "decisions per gradient step", low=1)
    clip: float = setting(0.2, "PPO's clip range of the probability ratio", above=0, below=1)
    third: float = setting(3.0, "upper bound on the ratio for negative advantages", above=1)
    discount: float = setting(0.999, "discount factor per decision", above=0, high=1)
    trace: float = setting(0.95, "lambda of the generalised advantage estimates", low=0, high=1)
    entropy: float = setting(0.15, "weight of the entropy bonus", low=0)
    value: float = setting(0.5, "weight of the value loss", low=0)
    norm: float = setting(1.0, "maximum gradient norm, to which gradients are clipped", above=0)
    sizes: tuple[float, ...] = setting(
        (0.5, 1.0, 2.0), "bet sizes as fractions of the pot, in addition to the largest bet", above=0, fixed=True
    )
    slots: int = setting(6, "action planes per street", low=1, fixed=True)
    channels: int = setting(16, "channels per convolution", low=1, fixed=True)
    layers: int = setting(2, "convolutions per tower", low=1, fixed=True)
    width: int = setting(64, "units of the layer that joins the towers", low=1, fixed=True)
    exact: bool = setting(True, "evaluate exactly if the game can be compiled", fixed=True)
    checked: int = setting(2000, "hands per evaluation against uniform play, at least 30", low=2, fixed=True)
    every: int | None = setting(None, "updates between evaluations (none: 10, 20, 50, 100, ...)", low=1, fixed=True)
    seed: int = setting(0, "random seed", low=0, fixed=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.third <= 1.0 + self.clip:
            raise SpecError(f"third is {self.third:g}; it must be above 1 + clip, {1.0 + self.clip:g}")
        if not self.sizes or list(self.sizes) != sorted(set(self.sizes)):
            raise SpecError(f"sizes must be pot fractions in ascending order, such as 0.5,1,2, not {self.sizes}")
