"""Held-out winnings of a learned response: a lower bound on the fixed agent's exploitability."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treeplex.engine.sampling.streams import Stream
from treeplex.learn.best_response.positions import NOBODY, Position, World
from treeplex.search.evaluate.statistics import FEWEST_DEALS, half_width

LANE = 1 << 33
"""Of the streams of held-out plays: a response is not tested on the draws from which it was learned."""
TOGETHER = 256
"""Plays that go on side by side, so that a network is asked for many positions at once."""

Choose = Callable[[Sequence[Position], int], Sequence[int]]
"""Maps positions and the seat to the numbers of the actions to play."""


@dataclass(frozen=True)
class HeldOut:
    """Mean winnings of a response against the fixed agent.

    Attributes:
        values: from each seat.
        intervals: of each, half the width of its 95% confidence interval.
        gain: the mean over seats of what it wins more than the fixed agent would there: at least so exploitable it is.
        interval: half the width of the 95% confidence interval of the gain.
    """

    values: tuple[float, ...]
    intervals: tuple[float, ...]
    gain: float
    interval: float


def played_out(world: World, choose: Choose, seat: int, streams: Sequence[Stream]) -> list[Sequence[float]]:
    """The payoffs of all players in plays from a seat, side by side."""
    positions = [world.begin(seat, stream) for stream in streams]
    while going := [number for number, position in enumerate(positions) if position.actions]:
        chosen = choose([positions[number] for number in going], seat)
        for number, action in zip(going, chosen, strict=True):
            positions[number] = positions[number].after(action)
    return [position.payoffs for position in positions]


def held_out(world: World, choose: Choose, hands: int, seed: int) -> HeldOut:
    """Play ``hands`` held-out hands with a response, split over all seats with at least 30 in each; the seed fixes them.

    Where payoffs do not always have the same sum, the fixed agent plays as many hands against itself.
    """
    count = max(FEWEST_DEALS, -(-hands // world.players))
    found = []
    for seat in range(world.players):
        payoffs: list[Sequence[float]] = []
        for start in range(0, count, TOGETHER):
            streams = [Stream(seed, number, LANE + seat) for number in range(start, min(start + TOGETHER, count))]
            payoffs += played_out(world, choose, seat, streams)
        found.append(np.array(payoffs, np.float64))
    own = np.array([table[:, seat] for seat, table in enumerate(found)])
    errors = own.std(axis=1, ddof=1) / count**0.5
    sums = np.concatenate([table.sum(axis=1) for table in found])
    gain, variance = float(own.mean()), float((errors**2).sum()) / world.players**2
    if np.ptp(sums) < 1e-9:
        gain -= float(sums[0]) / world.players
    else:
        alone = np.array([world.begin(NOBODY, Stream(seed, number, LANE + world.players)).payoffs for number in range(count)])
        means = alone.mean(axis=1)
        gain -= float(means.mean())
        variance += float(means.var(ddof=1)) / count
    intervals = tuple(half_width(float(error), count) for error in errors)
    return HeldOut(tuple(own.mean(axis=1).tolist()), intervals, gain, half_width(variance**0.5, count * world.players))
