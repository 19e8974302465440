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
        order: for each seat, the agent's place at the table.
        deal: number of the deal; hands of one deal have the same cards.
    """

    number: int
    table: int
    order: tuple[int, ...]
    deal: int


@dataclass(frozen=True)
class MatchPlan:
    """The tables of a match.

    Attributes:
        tables: for each table the indices of its agents, in the order of their names; as many as the game has players.
        orders: the seatings of a table, used in turn: the place of the agent in each seat.
        rounds: rounds per table.
        duplicate: whether the hands of a round have the same deal.
    """

    tables: tuple[tuple[int, ...], ...]
    orders: tuple[tuple[int, ...], ...]
    rounds: int
    duplicate: bool

    @classmethod
    def of(cls, agents: Sequence[str], players: int, settings: MatchSettings) -> "MatchPlan":
        """The plan of a match.

        Raises:
            SpecError: too few or too many agents for the game.
        """
        orders = orders_of(players, settings.seats)
        return cls(tables_of(agents, players, settings.table), orders, -(-settings.hands // len(orders)), settings.duplicate)

    @property
    def players(self) -> int:
        """Number of players at a table."""
        return len(self.orders[0])

    @property
    def hands(self) -> int:
        """Number of hands of the match; the tables take turns."""
        return len(self.tables) * len(self.orders) * self.rounds

    def seating(self, number: int) -> Seating:
        """The seating of a hand, by its number."""
        hand, table = divmod(number, len(self.tables))
        round_, order = divmod(hand, len(self.orders))
        deal = round_ * len(self.tables) + table if self.duplicate else number
        return Seating(number, table, self.orders[order], deal)

    def seatings(self, numbers: range) -> tuple[Ints, Ints, Ints]:
        """Seatings of hands by their numbers: int64 [K, N] the place at the table of the agent in each seat, int64 [K, N] the
        agents themselves, and int64 [K] the deals.
        """
        hands, tables = np.divmod(np.arange(numbers.start, numbers.stop), len(self.tables))
        rounds, orders = np.divmod(hands, len(self.orders))
        places = np.array(self.orders)[orders]
        agents = np.take_along_axis(np.array(self.tables)[tables], places, axis=1)
        return places, agents, rounds * len(self.tables) + tables if self.duplicate else np.arange(numbers.start, numbers.stop)


def orders_of(players: int, seats: str) -> tuple[tuple[int, ...], ...]:
    """The seatings as places at the table by seat, in order."""
    places = tuple(range(players))
    if seats == FIXED:
        return (places,)
    if seats == EVERY:
        return tuple(permutations(places))
    return tuple(tuple((place - shift) % players for place in places) for shift in places)


def tables_of(agents: Sequence[str], players: int, everybody: bool) -> tuple[tuple[int, ...], ...]:
    """The agents of each table, by index.

    A round robin has a table for each pair; with more than two players, one agent in one seat against another in all others,
    and vice versa.

    Raises:
        SpecError: too few or too many agents.
    """
    count = len(agents)
    if everybody:
        if count < 2:
            raise SpecError(f"a round robin needs at least two agents, not {count}; name more")
        pairs = [(i, j) for i in range(count) for j in range(count) if (i < j if players == 2 else i != j)]
        return tuple((i, *([j] * (players - 1))) for i, j in pairs)
    if count == players:
        return (tuple(range(count)),)
    more = "; --table plays a round robin" if count > 1 else ""
    named = "1 agent is" if count == 1 else f"{count} agents are"
    raise SpecError(f"{named} named, and the game has {players} seats; name {players}; an agent may be named twice{more}")
