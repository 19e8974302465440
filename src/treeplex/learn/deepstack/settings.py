"""Settings for training DeepStack's value networks."""

from dataclasses import dataclass

from treeplex.base.settings import setting
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.deepstack.value_net import UNITS
from treeplex.search.methods import METHOD_NAMES, METHODS


@dataclass(frozen=True)
class DeepStackSettings(LearningSettings):
    """Settings for solving situations and for fitting networks to their values."""

    method: str = setting("dcfr", "solver of situations", choices=METHODS, listed=METHOD_NAMES)
    iterations: int = setting(400, "iterations per situation, T; both players update in each", low=1)
    situations: int = setting(200_000, "number of situations per network, over which the step size decays", low=1, fixed=True)
    searched: float = setting(
        0.0,
        "fraction of situations with ranges from searches with the current networks, as in ReBeL, rather than random ranges",
        low=0,
        high=1,
    )
    side: int = setting(256, "situations solved in one batch", low=1)
    held_out: float = setting(0.05, "fraction of situations held out for validation", low=0, below=1)
    unit: str = setting(
        "gelu",
        "activation: layer norm and GeLU, as in ReBeL, or prelu, as in DeepStack",
        choices=UNITS,
        fixed=True,
    )
    layers: int = 3
    rows: int = 1_000_000
    burn_in: int = setting(1024, "rows of a network before its first gradient step", low=1)

    @property
    def length(self) -> int:
        """Number of situations for one network."""
        return self.situations
