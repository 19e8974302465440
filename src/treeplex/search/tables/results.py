"""Records of hands, and their totals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treeplex.search.evaluate.statistics import FEWEST_DEALS, summary
from treeplex.search.tables.judging import DecisionReview


@dataclass
class Hand:
    """The record of a finished or unfinished hand.

    Attributes:
        number: number of the hand, from 1.
        seed: seed of its deal.
        person: the person's seat.
        spot: the file of the solved spot, if one was drawn.
        said: descriptions of the events.
        decided: the person's evaluated decisions.
        thoughts: the opponents' decisions, in the form of :func:`~treeplex.web.playing.thoughts.thought_of`.
        payoff: the person's payoff; None for an unfinished hand.
        luckless: the luck-adjusted payoff; None if unavailable.
        end: information shown after the hand.
        phh: the hand in PHH format; None if unavailable.
    """

    number: int
    seed: int
    person: int
    spot: str = ""
    said: list[dict[str, Any]] = field(default_factory=list)
    decided: list[DecisionReview] = field(default_factory=list)
    thoughts: list[dict[str, Any]] = field(default_factory=list)
    payoff: float | None = None
    luckless: float | None = None
    end: dict[str, Any] = field(default_factory=dict)
    phh: str | None = None

    @property
    def lost(self) -> float | None:
        """Total loss of the decisions whose loss a solution or a search knows; None without any."""
        return total_loss(self.decided)


def losses_of(decisions: Sequence[DecisionReview]) -> dict[str, Any]:
    """The loss of decisions, and of how many of them it is known, as JSON data."""
    judged = sum(decision.counted is not None for decision in decisions)
    return {"lost": total_loss(decisions), "judged": judged, "decisions": len(decisions)}


def total_loss(decisions: Sequence[DecisionReview]) -> float | None:
    """Sum of the known losses; None without any."""
    known = [loss for decision in decisions if (loss := decision.counted) is not None]
    return sum(known) if known else None


def results_of(hands: Sequence[Hand], big_blind: float | None) -> dict[str, Any]:
    """Summarise hands: payoffs with 95% intervals, and losses by street or other point of the game.

    Args:
        hands: the hands, including the current one.
        big_blind: unit of results in poker games.

    Returns:
        Lists of hands, totals and losses by point of the game, as JSON data.
    """
    done = [hand for hand in hands if hand.payoff is not None]
    spots: dict[str, list[DecisionReview]] = {}
    for decision in (decision for hand in done for decision in hand.decided if np.isfinite(decision.lost)):
        spots.setdefault(decision.where, []).append(decision)
    fields = ("number", "payoff", "luckless")
    return {
        "hands": [{name: getattr(hand, name) for name in fields} | losses_of(hand.decided) for hand in done],
        "raw": totals_of([hand.payoff for hand in done]),
        "luckless": totals_of([hand.luckless for hand in done]),
        "spots": [
            {"where": where or "all", "mistakes": sum(decision.verdict == "mistake" for decision in decisions)}
            | losses_of(decisions)
            for where, decisions in spots.items()
        ],
        "big_blind": big_blind,
        "fewest": FEWEST_DEALS,
    }


def totals_of(numbers: list[float | None]) -> dict[str, float | None] | None:
    """Sum, mean and half-width of its 95% interval (None with too few hands); None if any number is missing."""
    known = np.array([number for number in numbers if number is not None], np.float64)
    if not len(known) or len(known) < len(numbers):
        return None
    summarised = summary(known[:, None])
    half = summarised.interval[0][1] - summarised.mean[0] if len(known) >= FEWEST_DEALS else None
    return {"total": float(known.sum()), "mean": summarised.mean[0], "half": half}
