"""Snapshots and their Elo: the K best are kept and played against (Zhao et al. 2022)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
FIRST, SPREAD, STEP = 1000.0, 400.0, 32.0
"""The first rating; the difference at which ten to one is expected; how far a match moves a rating."""


@dataclass(frozen=True)
class Member:
    """A snapshot: its weights, its rating, and the update after which it was taken."""

    weights: Arrays
    rating: float
    update: int


def expected(rating: float, other: float) -> float:
    """The share of a match that a rating should win against another (Elo 1978)."""
    return float(1.0 / (1.0 + 10.0 ** ((other - rating) / SPREAD)))


def rated(rating: float, others: Sequence[float], scores: Sequence[float]) -> tuple[float, list[float]]:
    """The ratings after a match against each of some others.

    Args:
        rating: of who plays them all, before.
        others: theirs, before.
        scores: of the former in each match: 1 won, 0 lost, one half neither.
    """
    gains = [STEP * (score - expected(rating, other)) for other, score in zip(others, scores, strict=True)]
    return rating + sum(gains), [other - gain for other, gain in zip(others, gains, strict=True)]


def kept(members: Sequence[Member], best: int) -> tuple[Member, ...]:
    """The best by rating, the newer first where two are equal."""
    return tuple(sorted(members, key=lambda member: (-member.rating, -member.update))[:best])
