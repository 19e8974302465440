"""When to evaluate: a function of the settings alone, so that a resumed run evaluates where an unbroken one does."""

from collections.abc import Iterable, Iterator
from itertools import chain, count, takewhile

from treeplex.runs.job.record import Settings

TEN_A_DECADE = (10, 12, 16, 20, 25, 32, 40, 50, 63, 80)
TEN_A_DECADE_UNTIL = 200


def evaluation_points(settings: Settings) -> Iterator[int]:
    """The iterations after which the average policy is judged, ascending; the last one is ``settings.iterations``.

    With ``every``: its multiples. Else ten a decade (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, ...), evenly spaced on a
    logarithmic axis. With a target, the points from 200 on are ``9/4 k**2``: about three times the root of the iteration apart,
    which is where the cost of judging (some two iterations) and that of iterating past the target balance.
    """
    last = settings.iterations
    if settings.every is not None:
        points: Iterable[int] = count(settings.every, settings.every)
    elif settings.target is not None:
        points = chain(takewhile(lambda point: point <= TEN_A_DECADE_UNTIL, ten_a_decade()), targeted())
    else:
        points = ten_a_decade()
    previous = 0
    for point in takewhile(lambda point: point < last, points):
        if point > previous:
            yield point
            previous = point
    yield last


def ten_a_decade() -> Iterator[int]:
    """1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 63, 80, 100, 120, 160, ..."""
    yield from (1, 2, 3, 4, 5, 6, 8)
    for power in count():
        for mantissa in TEN_A_DECADE:
            yield mantissa * 10**power


def targeted() -> Iterator[int]:
    """``ceil(9/4 k**2)`` for k = 10, 11, ...: 225, 273, 324, ..."""
    return (-(-9 * k * k // 4) for k in count(10))
