"""Snapshots and their Elo ratings: the learner plays against the K best (Zhao et al. 2022)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
FIRST, SPREAD, STEP = 1000.0, 400.0, 32.0
"""Initial rating; rating difference at which 10:1 is expected; step size of rating updates."""


@dataclass(frozen=True)
class Member:
    """A snapshot: its weights, its rating, and the update after which it was taken."""

    weights: Arrays
    rating: float
    update: int


def expected_score(rating: float, other: float) -> float:
    """Expected score of a player with a rating against another (Elo 1978)."""
    return float(1.0 / (1.0 + 10.0 ** ((other - rating) / SPREAD)))


def updated_ratings(rating: float, others: Sequence[float], scores: Sequence[float]) -> tuple[float, list[float]]:
    """Elo ratings after a player's match against each of several opponents.

    Args:
        rating: the player's rating before the matches.
        others: the opponents' ratings before the matches.
        scores: the player's score in each match: 1 for a win, 0 for a loss, 0.5 for a draw.

    Returns:
        The player's new rating, and the opponents' new ratings in order.
    """
    gains = [STEP * (score - expected_score(rating, other)) for other, score in zip(others, scores, strict=True)]
    return rating + sum(gains), [other - gain for other, gain in zip(others, gains, strict=True)]


def best_members(members: Sequence[Member], best: int) -> tuple[Member, ...]:
    """The ``best`` highest-rated members; ties go to the newer member."""
    return tuple(sorted(members, key=lambda member: (-member.rating, -member.update))[:best])
