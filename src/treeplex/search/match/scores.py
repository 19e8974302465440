"""Scores of a match's agents, table by table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.search.evaluate.statistics import Summary, permutation_test, summary
from treeplex.search.match.hands import HandResult
from treeplex.search.match.plan import MatchPlan


@dataclass(frozen=True)
class Score:
    """The score of a table. Sequences have one entry per agent, in the order of the agents' names.

    Attributes:
        agents: indices of the agents.
        result: means, standard errors and standard deviations of payoffs, luck-adjusted if available.
        plain: summary of the payoffs without luck adjustment.
        chance: p-value of the difference between each agent and the others; NaN for exact values and fixed seats.
        by_seat: float64 [N, N], mean of each agent in each seat; NaN for seats in which it never sat.
        hands: number of finished hands.
    """

    agents: tuple[int, ...]
    result: Summary
    plain: Summary
    chance: tuple[float, ...]
    by_seat: Floats
    hands: int


class Ledger:
    """The results of a match as arrays.

    Attributes:
        plan: the seating plan.
        payoffs, aivat: float64 [hands, N], for the agents in the order of their names; NaN if missing.
        done: number of hands so far.
        failures, slow: hands in which an agent failed or exceeded the time limit.
    """

    def __init__(self, plan: MatchPlan) -> None:
        self.plan, self.done = plan, 0
        self.payoffs = np.full((plan.hands, plan.players), np.nan)
        self.aivat = np.full((plan.hands, plan.players), np.nan)
        self.failures: list[HandResult] = []
        self.slow: list[HandResult] = []

    def add(self, hands: Sequence[HandResult]) -> None:
        """Append hands."""
        for hand in hands:
            order = list(self.plan.seating(hand.number).order)
            if hand.payoffs is not None:
                self.payoffs[hand.number, order] = hand.payoffs
            if hand.aivat is not None:
                self.aivat[hand.number, order] = hand.aivat
            if hand.failure is not None:
                self.failures.append(hand)
            if hand.slow:
                self.slow.append(hand)
        self.done += len(hands)

    def add_payoffs(self, payoffs: Floats) -> None:
        """Append the payoffs of hands by seat, float64 [K, N]."""
        places, _, _ = self.plan.seatings(range(self.done, self.done + len(payoffs)))
        np.put_along_axis(self.payoffs[self.done : self.done + len(payoffs)], places, payoffs, axis=1)
        self.done += len(payoffs)

    @property
    def without_luck(self) -> bool:
        """Whether there are luck-adjusted payoffs."""
        return bool(np.isfinite(self.aivat[: self.done]).any())

    def samples(self, table: int, *, plain: bool = False) -> Floats:
        """Independent samples of a table, float64 [K, N]: one per hand, or one per complete round if its hands share a deal."""
        source = self.payoffs if plain or not self.without_luck else self.aivat
        samples = source[: self.done][table :: len(self.plan.tables)]
        if self.plan.duplicate:
            orders = len(self.plan.orders)
            whole = len(samples) - len(samples) % orders
            samples = samples[:whole].reshape(-1, orders, self.plan.players).mean(axis=1)
        return np.asarray(samples[np.isfinite(samples).all(axis=1)])

    def score(self, table: int, *, seed: int = 0) -> Score:
        """The score of a table."""
        plan, samples = self.plan, self.samples(table)
        of_table = (self.aivat if self.without_luck else self.payoffs)[: self.done][table :: len(plan.tables)]
        by_seat = np.full((plan.players, plan.players), np.nan)
        for index in range(plan.players):
            for seat in range(plan.players):
                orders = [number for number, order in enumerate(plan.orders) if order[seat] == index]
                sat = (
                    np.concatenate([of_table[number :: len(plan.orders), index] for number in orders])
                    if orders
                    else of_table[:0, 0]
                )
                if np.isfinite(sat).any():
                    by_seat[index, seat] = np.nanmean(sat)
        chance = (float("nan"),) * plan.players
        if len(plan.orders) > 1:  # in fixed seats, equal agents differ by the advantage of a seat
            chance = permutation_test(samples, seed=seed)
        finished = int(np.isfinite(of_table).all(axis=1).sum())
        return Score(plan.tables[table], summary(samples), summary(self.samples(table, plain=True)), chance, by_seat, finished)


def exact_score(agents: tuple[int, ...], values: Floats, orders: Sequence[Sequence[int]]) -> Score:
    """Create the score of a table from exact values.

    Args:
        agents: indices of the agents.
        values: float64 [orders, N], payoff of each seat for each seating.
        orders: for each seating, the index at the table of each seat's agent.
    """
    players = len(agents)
    by_seat, count = np.zeros((players, players)), np.zeros((players, players))
    for row, order in zip(values, orders, strict=True):
        for seat, player in enumerate(order):
            by_seat[player, seat] += row[seat]
            count[player, seat] += 1
    means = by_seat.sum(axis=1) / count.sum(axis=1)
    by_seat[count == 0] = np.nan
    summary = Summary(tuple(means.tolist()), (0.0,) * players, (0.0,) * players, 0)
    return Score(agents, summary, summary, (float("nan"),) * players, by_seat / np.maximum(count, 1), 0)
