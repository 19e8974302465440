"""Guesses of the policies in a subgame: the protocol, and their values and regrets."""

from typing import Any, NamedTuple, Protocol

from treeplex.base.arrays import Floats, Ints
from treeplex.search.subgames.subgame import Ranges


class Guess(Protocol):
    """Protocol for predicting policies at public belief states without search."""

    def __call__(self, subgames: Any, rows: Ints, reached: Ranges, policy: Floats) -> None:
        """Write policies for all hands at some decisions to ``policy``.

        Args:
            subgames: the subgame.
            rows: the indices of the decisions, int64 [K], see :meth:`treeplex.search.subgames.subgame.Subgame.find`.
            reached: float64 [decisions, H_i] for each player, reach at all decisions; valid only at ``rows``.
            policy: float64 [Q], written at the infosets of these decisions.
        """
        ...


class GuessRegrets(NamedTuple):
    """Values and regrets of guessed policies.

    Attributes:
        values, best: float64 [B, H_i] for each player, counterfactual values of the root hands under the policies, and under
            best responses to them.
        regrets: float64 [Q], the gain of each action over the policy at its infoset, with a best response afterwards.
    """

    values: Ranges
    best: Ranges
    regrets: Floats
