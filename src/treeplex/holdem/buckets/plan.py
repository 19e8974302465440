"""Settings of a bucket game: the card abstraction, and the betting of limit hold'em."""

from dataclasses import dataclass
from math import prod

from treeplex.base.spec import nearest
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import FixedLimit
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.spots.known import all_hands, unbound
from treeplex.holdem.spots.spot import Spot

HISTOGRAM = "histogram"
METHODS = ("percentile", "kmeans", "kmeans-pair", HISTOGRAM)
"""Percentiles of E[HS2]; k-means on E[HS2], on pairs (E[HS], E[HS2]), or on histograms of river strength."""
MOST = 255
"""Maximum number of buckets on a street."""
MOST_SEQUENCES = 65_535
"""Maximum number of bucket sequences on the last street for joint tables or nested buckets."""
MOST_NUMBERED = 2**31 - 1
"""Maximum number of bucket sequences that can be indexed."""

BLINDS = (1.0, 2.0)
LIMIT_BETS = FixedLimit((2.0, 2.0, 4.0, 4.0), (4, 4, 4, 4))
"""Heads-up limit hold'em with blinds of 1 and 2 chips: bets of one big blind, from the turn on two, at most four per street."""


@dataclass(frozen=True)
class BucketPlan:
    """Settings of a card abstraction: how hands are assigned to buckets.

    Attributes:
        counts: number of buckets on each street.
        method: one of :data:`METHODS`.
        nested: whether a street's buckets are made separately within every sequence of earlier buckets, as in the paper;
            else all hands are bucketed together.
        boards: number of random boards from which the river's buckets are computed (earlier streets are enumerated).
        seed: random seed for those boards.

    Raises:
        SpecError: a value out of range.
    """

    counts: tuple[int, int, int, int]
    method: str = "percentile"
    nested: bool = True
    boards: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.counts) != 4 or not all(1 <= count <= MOST for count in self.counts):
            raise SpecError(f"buckets: counts are {self.counts}; give four numbers from 1 to {MOST}")
        self.check_sequences(MOST_SEQUENCES if self.nested else MOST_NUMBERED)
        if self.method not in METHODS:
            raise SpecError(f"buckets: method is {self.method!r}{nearest(self.method, METHODS)}")
        if self.method == HISTOGRAM and self.nested:
            raise SpecError(
                "buckets: the method histogram does not support nested buckets; write nested=false, or another method"
            )
        if self.boards < 1:
            raise SpecError(f"buckets: boards is {self.boards}; give at least 1")

    def check_sequences(self, most: int) -> None:
        """Reject a plan with more than ``most`` bucket sequences.

        Raises:
            SpecError: there are more.
        """
        if self.sequences > most:
            shown = "x".join(map(str, self.counts))
            raise SpecError(f"buckets: {shown} give {self.sequences:,} sequences, more than {most:,}; use fewer")

    @property
    def sequences(self) -> int:
        """The number of bucket sequences on the river."""
        return prod(self.counts)


def limit_spot(format: Format = HOLDEM) -> Spot:
    """Heads-up limit hold'em with :data:`BLINDS` and :data:`LIMIT_BETS`, and stacks too deep to run out."""
    return Spot((), 0.0, unbound(LIMIT_BETS), all_hands(format), LIMIT_BETS, format=format, blinds=BLINDS)
