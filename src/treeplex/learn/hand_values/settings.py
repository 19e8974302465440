"""Settings for training a hand network."""

from dataclasses import dataclass
from functools import cached_property

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.holdem.cards.format import HOLDEM, Format, format_named
from treeplex.learn.common.device import DEVICES
from treeplex.learn.common.settings import LearningSettings

STREETS = ("flop", "turn", "river")
SOLVES, NETWORK = "solves", "network"
RANDOM, PLAY, MIXED = "random", "play", "mixed"
START, END = "start", "end"


@dataclass(frozen=True)
class HandValueSettings(LearningSettings):
    """Settings for sampling situations, solving them, and fitting a network to their values."""

    street: str = setting("turn", "street at whose start or end hands are valued", choices=STREETS, fixed=True)
    at: str = setting(
        START,
        "where hands are valued: at the start of the street, or at the end of the flop, before the turn card. Values at the "
        "end are the shipped turn network's means over all turn cards, so nothing is solved (needs labels=network)",
        choices=(START, END),
        fixed=True,
        added=True,
    )
    per_board: int = setting(16, "situations on each board with at=end", low=2, added=True)
    labels: str = setting(
        SOLVES,
        "source of training values: solves (situations solved to the end of the hand), network (only their street is solved, "
        "with shipped networks for what follows, several times faster on flops), or a file of solved situations "
        "(treeplex.learn.hand_values.label)",
        fixed=True,
    )
    ranges: str = setting(
        RANDOM,
        "source of boards, stacks and ranges: random; play, turns in which resolver plays itself; or mixed, half of each",
        choices=(RANDOM, PLAY, MIXED),
        fixed=True,
        added=True,
    )
    format: str = setting(
        "holdem",
        "cards: holdem, or another format with two hole cards, flop, turn and river, such as royal",
        fixed=True,
        added=True,
    )
    bets: str = setting("100%,a", "bet sizes on all streets, as in spot files", fixed=True)
    raises: str = setting("a", "raise sizes on all streets", fixed=True)
    least_stack: float = setting(0.25, "smallest stack, as a multiple of the pot", above=0)
    most_stack: float = setting(20.0, "largest stack, as a multiple of the pot; stacks are drawn log-uniformly", above=0)
    situations: int = setting(400, "number of situations to solve, over which the step size decays", low=1)
    iterations: int = setting(
        80,
        "Discounted CFR iterations for stacks of 1.5 to 4 times the pot (half as many below, 1.75 times as many above)",
        low=2,
    )
    hands: int = setting(
        0,
        "average number of random hands per player and situation, drawn from half to 1.5 times this number (0: "
        "all hands); fewer hands make solves faster. With at=end, every second situation has all hands",
        low=0,
    )
    sampled: int = setting(
        128, "hands per player used for training in each situation, half of them sampled from the range", low=1
    )
    held_out: float = setting(0.05, "fraction of situations held out for validation", low=0, below=1)
    device: str = setting(
        "cpu",
        "device for solves and gradient steps: cuda is a GPU, which solves turns and rivers side by side, auto is cuda if "
        "available",
        choices=tuple(DEVICES),
        added=True,
    )
    together: int = setting(
        384, "situations drawn at a time for a GPU; those with the same betting tree are solved side by side", low=1, added=True
    )
    workers: int = setting(1, "processes that draw situations for a GPU, also by self-play", low=1, added=True)
    width: int = setting(64, "width of the network's layers", low=1, fixed=True)
    rows: int = 2_000_000
    burn_in: int = setting(2048, "rows before the first gradient step", low=1)
    batch: int = 1024
    reuse: float = 40.0

    @cached_property
    def cards(self) -> Format:
        """The format.

        Raises:
            SpecError: an unknown format, or one without two hole cards, a flop, a turn and a river.
        """
        found = format_named(self.format)
        if (found.hole, found.deal) != (HOLDEM.hole, HOLDEM.deal):
            raise SpecError(
                f"format={self.format} has no two hole cards, flop, turn and river; use holdem, royal or a small deck such as "
                "small(ranks=6,suits=4,hole=2,deal=[0,3,1,1])"
            )
        return found

    @property
    def length(self) -> int:
        """Total number of situations to solve."""
        return self.situations
