"""Chips at public states of poker: what rules of thumb about pots need to know, and no more of the rules."""

from typing import NamedTuple


class Stakes(NamedTuple):
    """The stakes at a public state of a poker game.

    Attributes:
        paid: chips that each player has in the pot, antes and what was there at the beginning included. Where stacks differ,
            chips that no other player can match are left out.
        betting_round: the number of the betting round, from 0; in hold'em the street, 0 before the flop.
        settled: whether all betting is over and :meth:`treeplex.games.public.PublicGame.terminal_values` knows the payoffs,
            perhaps over cards still to come.
    """

    paid: tuple[float, ...]
    betting_round: int = 0
    settled: bool = False
