"""The seating of each hand, as a function of the hand's number."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Ints
from treeplex.errors import SpecError
from treeplex.search.match.settings import EVERY, FIXED, MatchSettings


class Seating(NamedTuple):
    """The seating of a hand.

    Attributes:
        number: number of the hand in the match.
        table: index of the table.
        order: for each seat, the index of its agent at the table.
        deal: number of the deal; hands with the same deal have the same cards.
    """

    number: int
    table: int
    order: tuple[int, ...]
    deal: int


@dataclass(frozen=True)
class MatchPlan:
    """The tables of a match.

    Attributes:
        tables: for each table the indices of its agents, one per player, in the order of the agents' names.
        orders: the seatings of a table, used in turn; each has the agent's index at the table for every seat.
        rounds: rounds per table.
        duplicate: whether all hands of a round have the same deal.
    """

    tables: tuple[tuple[int, ...], ...]
    orders: tuple[tuple[int, ...], ...]
    rounds: int
    duplicate: bool

    @classmethod
    def of(cls, agents: Sequence[str], players: int, settings: MatchSettings) -> "MatchPlan":
        """Create the plan of a match.

        Raises:
            SpecError: the wrong number of agents for the game.
        """
        orders = orders_of(players, settings.seats)
        return cls(tables_of(agents, players, settings.table), orders, -(-settings.hands // len(orders)), settings.duplicate)

    @property
    def players(self) -> int:
        """Number of players at a table."""
        return len(self.orders[0])

    @property
    def hands(self) -> int:
        """Number of hands in the match; the tables take turns."""
        return len(self.tables) * len(self.orders) * self.rounds

    def seating(self, number: int) -> Seating:
        """Return the seating of a hand, given its number."""
        hand, table = divmod(number, len(self.tables))
        round_, order = divmod(hand, len(self.orders))
        deal = round_ * len(self.tables) + table if self.duplicate else number
        return Seating(number, table, self.orders[order], deal)

    def seatings(self, numbers: range) -> tuple[Ints, Ints, Ints]:
        """Return the seatings of hands as arrays: index at the table of each seat's agent, index of that agent in the match
        (both int64 [K, N]), and number of the deal (int64 [K]).
        """
        hands, tables = np.divmod(np.arange(numbers.start, numbers.stop), len(self.tables))
        rounds, orders = np.divmod(hands, len(self.orders))
        places = np.array(self.orders)[orders]
        agents = np.take_along_axis(np.array(self.tables)[tables], places, axis=1)
        return places, agents, rounds * len(self.tables) + tables if self.duplicate else np.arange(numbers.start, numbers.stop)


def orders_of(players: int, seats: str) -> tuple[tuple[int, ...], ...]:
    """Return the seatings in order of use, each as indices at the table by seat."""
    places = tuple(range(players))
    if seats == FIXED:
        return (places,)
    if seats == EVERY:
        return tuple(permutations(places))
    return tuple(tuple((index - shift) % players for index in places) for shift in places)


def tables_of(agents: Sequence[str], players: int, everybody: bool) -> tuple[tuple[int, ...], ...]:
    """Return the indices of each table's agents.

    A round robin has a table for each pair of agents. With more than two players, each agent of the pair in turn plays one seat
    against copies of the other in all remaining seats.

    Raises:
        SpecError: the wrong number of agents.
    """
    count = len(agents)
    if everybody:
        if count < 2:
            raise SpecError(f"a round robin needs at least two agents, not {count}; name another")
        pairs = [(i, j) for i in range(count) for j in range(count) if (i < j if players == 2 else i != j)]
        return tuple((i, *([j] * (players - 1))) for i, j in pairs)
    if count == players:
        return (tuple(range(count)),)
    more = "; --table plays a round robin" if count > 1 else ""
    named = "1 agent is" if count == 1 else f"{count} agents are"
    raise SpecError(f"{named} given, but the game has {players} seats; list {players} agents (repeats are allowed){more}")
