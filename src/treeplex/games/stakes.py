"""Chips at public states of poker: what rules of thumb about pots need to know, and no more of the rules."""

from typing import NamedTuple


class Stakes(NamedTuple):
    """What is at stake at a public state of a game of poker.

    Every action that is neither ``fold`` nor ``call`` is a bet or a raise; what it costs follows from ``paid`` after it.

    Attributes:
        paid: chips that each player has in the pot, antes and what was there at the beginning included.
        fold: the label of folding; None where the player to act cannot fold, or nobody acts.
        call: the label of checking or calling; None where nobody acts.
        betting_round: the number of the betting round, from 0; in hold'em the street, 0 before the flop.
        settled: whether nobody acts any more and :meth:`treeplex.games.public.PublicGame.terminal_values` knows the payoffs,
            perhaps over cards still to come.
    """

    paid: tuple[float, ...]
    fold: int | None = None
    call: int | None = None
    betting_round: int = 0
    settled: bool = False
