"""Held-out winnings of a learned response: a lower bound on the fixed agent's exploitability."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treeplex.engine.sampling.streams import Stream
from treeplex.learn.best_response.positions import NOBODY, Position, World
from treeplex.search.evaluate.statistics import FEWEST_DEALS, half_width

LANE = 1 << 33
"""Stream lane of held-out hands, so that evaluation and training use different random numbers."""
TOGETHER = 256
"""Hands played concurrently, so that network queries are batched."""

Choose = Callable[[Sequence[Position], int], Sequence[int]]
"""Maps positions and the seat to the indices of the chosen actions."""


@dataclass(frozen=True)
class HeldOutResult:
    """Mean winnings of a response against the fixed agent.

    Attributes:
        values: mean winnings from each seat.
        intervals: half the width of the 95% confidence interval of each mean.
        gain: mean over seats of the response's winnings minus the fixed agent's own in the same seat: a lower bound on the
            agent's exploitability.
        interval: half the width of the gain's 95% confidence interval.
    """

    values: tuple[float, ...]
    intervals: tuple[float, ...]
    gain: float
    interval: float


def play_out(world: World, choose: Choose, seat: int, streams: Sequence[Stream]) -> list[Sequence[float]]:
    """Play a batch of hands from a seat; returns the payoffs of all players in each hand."""
    positions = [world.begin(seat, stream) for stream in streams]
    while going := [number for number, position in enumerate(positions) if position.actions]:
        chosen = choose([positions[number] for number in going], seat)
        for number, action in zip(going, chosen, strict=True):
            positions[number] = positions[number].after(action)
    return [position.payoffs for position in positions]


def held_out(world: World, choose: Choose, hands: int, seed: int) -> HeldOutResult:
    """Evaluate a response in ``hands`` held-out hands, at least 30 per seat; the seed determines all chance outcomes.

    In general-sum games, the fixed agent also plays the same number of hands against itself.
    """
    count = max(FEWEST_DEALS, -(-hands // world.players))
    seat_payoffs = []
    for seat in range(world.players):
        payoffs: list[Sequence[float]] = []
        for start in range(0, count, TOGETHER):
            streams = [Stream(seed, number, LANE + seat) for number in range(start, min(start + TOGETHER, count))]
            payoffs += play_out(world, choose, seat, streams)
        seat_payoffs.append(np.array(payoffs, np.float64))
    own_payoffs = np.array([table[:, seat] for seat, table in enumerate(seat_payoffs)])
    errors = own_payoffs.std(axis=1, ddof=1) / count**0.5
    sums = np.concatenate([table.sum(axis=1) for table in seat_payoffs])
    gain, variance = float(own_payoffs.mean()), float((errors**2).sum()) / world.players**2
    if np.ptp(sums) < 1e-9:
        gain -= float(sums[0]) / world.players
    else:
        alone = np.array([world.begin(NOBODY, Stream(seed, number, LANE + world.players)).payoffs for number in range(count)])
        means = alone.mean(axis=1)
        gain -= float(means.mean())
        variance += float(means.var(ddof=1)) / count
    intervals = tuple(half_width(float(error), count) for error in errors)
    return HeldOutResult(
        tuple(own_payoffs.mean(axis=1).tolist()), intervals, gain, half_width(variance**0.5, count * world.players)
    )
