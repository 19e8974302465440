"""Evaluation points, determined by the request alone, so that resumed runs match."""

from collections.abc import Iterable, Iterator
from itertools import chain, count, takewhile

TEN_A_DECADE = (10, 12, 16, 20, 25, 32, 40, 50, 63, 80)
TEN_A_DECADE_UNTIL = 200


def evaluation_points(last: int, *, every: int | None = None, target: float | None = None) -> Iterator[int]:
    """Yield the iterations after which the average policy is evaluated, ascending up to ``last``.

    With ``every``, these are its multiples. The default is ten per decade (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, ...), evenly
    spaced on a logarithmic axis. With a target, the points from 200 on are ``9/4 k**2``, spaced by about three times the square
    root of the iteration, which balances the cost of evaluation (about two iterations) against iterating past the target.
    """
    if every is not None:
        return until(last, count(every, every))
    if target is not None:
        return until(last, chain(takewhile(lambda point: point <= TEN_A_DECADE_UNTIL, ten_a_decade()), targeted()))
    return until(last, ten_a_decade())


def sparse_points(last: int, *, every: int | None = None) -> Iterator[int]:
    """Yield multiples of ``every``, or 1, 2, 5, 10, 20, 50, ..., for slow evaluations by playouts."""
    decades = (digit * 10**power for power in count() for digit in (1, 2, 5))
    return until(last, decades if every is None else count(every, every))


def until(last: int, points: Iterable[int]) -> Iterator[int]:
    """Yield the distinct points before ``last`` in ascending order, then ``last``."""
    previous = 0
    for point in takewhile(lambda point: point < last, points):
        if point > previous:
            yield point
            previous = point
    yield last


def ten_a_decade() -> Iterator[int]:
    """Yield 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 63, 80, 100, 120, 160, ..."""
    yield from (1, 2, 3, 4, 5, 6, 8)
    for power in count():
        for mantissa in TEN_A_DECADE:
            yield mantissa * 10**power


def targeted() -> Iterator[int]:
    """Yield ``ceil(9/4 k**2)`` for k = 10, 11, ...: 225, 273, 324, ..."""
    return (-(-9 * k * k // 4) for k in count(10))
