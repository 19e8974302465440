"""Everything that decides a training of a network for single hands."""

from dataclasses import dataclass

from treeplex.base.settings import setting
from treeplex.learn.common.settings import LearningSettings

STREETS = ("flop", "turn", "river")
SOLVES, NETWORK = "solves", "network"


@dataclass(frozen=True)
class HandValueSettings(LearningSettings):
    """Settings for drawing situations, solving them, and fitting a network to their values."""

    street: str = setting("turn", "the street at whose beginning hands are valued", choices=STREETS, fixed=True)
    labels: str = setting(
        SOLVES,
        "what hands are worth in situations: solves to the end of the hand, or network: the street alone is solved, with the "
        "library's network for the street after it; that is several times cheaper on flops",
        choices=(SOLVES, NETWORK),
        fixed=True,
    )
    bets: str = setting("100%,a", "first bets on all streets, as spot files have them", fixed=True)
    raises: str = setting("a", "raises on all streets", fixed=True)
    least_stack: float = setting(0.25, "the smallest stack, in pots", above=0)
    most_stack: float = setting(20.0, "the largest stack, in pots; stacks are drawn evenly in their logarithm", above=0)
    situations: int = setting(400, "situations to solve; the step size falls over them", low=1)
    iterations: int = setting(
        80,
        "iterations of Discounted CFR in a solve at stacks of 1.5 to 4 pots; half with less, 1.75 times as many with more",
        low=2,
    )
    hands: int = setting(
        0,
        "hands of each player in a situation, half to one and a half times as many, chosen at random; 0: all that the board "
        "allows. Fewer make solves cheaper, so that more situations are seen in the same time",
        low=0,
    )
    sampled: int = setting(
        128, "hands of each player that are learned from in a situation, half of them drawn by the range", low=1
    )
    held_out: float = setting(0.05, "the part of situations kept for validation, never learned from", low=0, below=1)
    width: int = setting(64, "width of the network's layers", low=1, fixed=True)
    rows: int = 2_000_000
    burn_in: int = setting(2048, "rows before the first step", low=1)
    batch: int = 1024
    reuse: float = 40.0

    @property
    def length(self) -> int:
        """Situations."""
        return self.situations
