"""A strategy for limit hold'em: buckets of real hands, and what to do with each sequence of them."""

from dataclasses import dataclass, field

from treeplex.engine.buckets.street import Betting, Tables
from treeplex.games.poker.buckets.buckets import Buckets


@dataclass(frozen=True, eq=False)
class LimitStrategy:
    """How to play both seats of limit hold'em.

    Attributes:
        name: for tables and messages.
        buckets: from cards to bucket sequences.
        betting: the betting, in chips.
        average: sums of policies of both seats; actions are chosen in proportion to them, uniformly where all are zero.
        big_blind: chips.
    """

    name: str
    buckets: Buckets = field(repr=False)
    betting: Betting = field(repr=False)
    average: Tables = field(repr=False)
    big_blind: float
