"""Exploitability inside an abstract limit game, exactly: best responses by matrix products over bucket sequences."""

from dataclasses import dataclass

from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.engine.buckets.street import Tables
from treeplex.holdem.limit.streets import BestResponse


@dataclass(frozen=True)
class LimitJudgement:
    """What best responses gain against a pair of strategies in the abstract game.

    Attributes:
        best_responses: what a best response of each player wins against the other's strategy, in thousandths of a big blind per
            hand.
    """

    best_responses: tuple[float, float]

    @property
    def exploitability(self) -> float:
        """Mean over players of a best response's gain, in thousandths of a big blind per hand."""
        return sum(self.best_responses) / 2

    @property
    def bounds(self) -> tuple[float, float]:
        """What the game is worth to player 0, the big blind, lies between these, in the same unit."""
        return -self.best_responses[1], self.best_responses[0]


def judge_limit(game: BucketGame, average: Tables) -> LimitJudgement:
    """Judge the strategies of both players that an average table holds.

    Args:
        game: the abstract game.
        average: own-reach-weighted sums of policies of both players; strategies are in proportion to them.
    """
    milli = 1000.0 / game.big_blind
    first, second = (BestResponse(game, player, average).value() * milli for player in (0, 1))
    return LimitJudgement((first, second))
