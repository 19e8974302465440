"""The chips at stake at public states of poker, independent of the other rules."""

from typing import NamedTuple


class Stakes(NamedTuple):
    """The stakes at a public state of a poker game.

    Attributes:
        paid: chips of each player in the pot, including antes and the starting pot. With unequal stacks, chips that no other
            player can match are excluded.
        betting_round: the betting round, from 0; in hold'em the street, 0 preflop.
        settled: whether betting is over and :meth:`treeplex.games.public.PublicGame.terminal_values` gives the payoffs,
            averaged over cards still to come.
    """

    paid: tuple[float, ...]
    betting_round: int = 0
    settled: bool = False
