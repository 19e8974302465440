"""Everything that decides a training of DeepStack's value networks but the game."""

from dataclasses import dataclass

from treeplex.base.settings import setting
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.deepstack.value_net import UNITS
from treeplex.search.methods import METHOD_NAMES, METHODS


@dataclass(frozen=True)
class DeepStackSettings(LearningSettings):
    """How situations are solved, and how networks are fitted to their values."""

    method: str = setting("dcfr", "how situations are solved", choices=METHODS, listed=METHOD_NAMES)
    iterations: int = setting(400, "iterations of each solve, T; both players update in each", low=1)
    situations: int = setting(200_000, "situations to solve for each network; the step size falls over them", low=1, fixed=True)
    searched: float = setting(
        0.0,
        "the part of situations whose ranges come from searches with the networks so far, as in ReBeL; others have random ones",
        low=0,
        high=1,
    )
    side: int = setting(256, "situations solved side by side", low=1)
    held_out: float = setting(0.05, "the part of situations kept for validation, never learned from", low=0, below=1)
    unit: str = setting(
        "gelu",
        "what follows each linear layer: layer norm and GeLU, as in ReBeL, or prelu, as in DeepStack",
        choices=UNITS,
        fixed=True,
    )
    layers: int = 3
    rows: int = 1_000_000
    burn_in: int = setting(1024, "rows of a network before its first step", low=1)

    @property
    def length(self) -> int:
        """Situations of one network."""
        return self.situations
