"""Mixtures of strategy profiles, converted to correlation devices exactly or by sampling."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.plans.plans import cross, decompose_all, draw_plans
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Device, Plans
from treeplex.forms.correlation.plans import last_sequences

MOST_JOINT_PLANS = 1_000_000
"""Limit of :func:`mixture_device`."""
REPEATS = 20
"""Maximum ratio of joint plans before merging to the limit of joint plans."""
POOL = 1 << 20
"""Number of joint plans, or of entries of plan tables, after which equal ones are merged."""


def mixture_device(
    game: CompiledGame, strategies: NDArray[np.generic], shares: Floats, *, most: int = MOST_JOINT_PLANS
) -> Device:
    """Convert a mixture of product strategies to a device with equal reach probabilities.

    Each strategy is split into plans (``forms.correlation.plans.plans_of``), and each product into joint plans; equal joint
    plans are merged.

    Args:
        game: the compiled game.
        strategies: [K, Q], one product per row: the strategies of all players in sequence form.
        shares: float64 [K], the weight of each product; they sum to 1.
        most: maximum number of joint plans; also limits joint plans before merging to :data:`REPEATS` times as many.

    Raises:
        AlgorithmError: too many joint plans, which happens soon in games with many infosets.
    """
    writing = DeviceBuilder(game, most)
    last = max(len(last_sequences(game, player)) for player in range(game.players))
    rows = max(1, POOL // (last * max(1, *game.infosets)))
    for first in range(0, len(strategies), rows):
        writing.add(strategies[first : first + rows].astype(np.float64), shares[first : first + rows], last)
    return writing.device()


def sampled_device(game: CompiledGame, strategies: NDArray[np.generic], shares: Floats, count: int, *, seed: int) -> Device:
    """Sample joint plans from a mixture of products; expectations under the device approximate those under the mixture.

    Products are taken evenly, in proportion to their shares; each player's plan is drawn from the player's strategy.

    Args:
        game, strategies, shares: as :func:`mixture_device`.
        count: number of joint plans to draw; equal ones are merged.
        seed: random seed, >= 0.

    Raises:
        SpecError: a count below 1.
    """
    if count < 1:
        raise SpecError(f"a device needs at least 1 sampled joint plan, not {count!r}")
    edges = np.cumsum(shares)
    chosen = np.searchsorted(edges, (np.arange(count) + 0.5) / count * edges[-1], side="right")
    chosen = np.minimum(chosen, len(shares) - 1)
    tables, support = [], np.empty((count, game.players), np.int64)
    for player in range(game.players):
        plans = np.empty((count, game.infosets[player]), np.int32)
        for first in range(0, count, rows := max(1, POOL // strategies.shape[1])):
            some = slice(first, first + rows)
            draw_plans(game.tree, player, strategies[chosen[some]].astype(np.float64), seed, first, plans[some])
        table, support[:, player] = distinct(plans)
        tables.append(table)
    return Device(game, tuple(tables), support, np.full(count, 1.0 / count)).merged()


def distinct(plans: Plans) -> tuple[Plans, Ints]:
    """Return the distinct rows of ``plans`` [M, I], sorted, and the index of each row among them, int64 [M]."""
    wide = np.ascontiguousarray(plans, ">i4").view(np.uint8).reshape(len(plans), -1)
    if wide.shape[1] == 0:
        return plans[:1], np.zeros(len(plans), np.int64)
    _, first, number = np.unique(wide.view(f"V{wide.shape[1]}").ravel(), return_index=True, return_inverse=True)
    return plans[first], number.reshape(-1).astype(np.int64)


class DeviceBuilder:
    """Accumulates products of strategies into a device.

    Attributes:
        game: the compiled game.
        most: maximum number of joint plans.
        plans: each player's plans so far, in the order of their numbers.
        support, weights: joint plans, int64 [S, N] and float64 [S].
    """

    def __init__(self, game: CompiledGame, most: int) -> None:
        self.game, self.most, self.written = game, most, 0
        self.plans: tuple[dict[bytes, Plans], ...] = tuple({} for _ in range(game.players))
        self.numbers: tuple[dict[bytes, int], ...] = tuple({} for _ in range(game.players))
        self.support, self.weights = np.empty((0, game.players), np.int64), np.empty(0)

    def add(self, strategies: Floats, shares: Floats, last: int) -> None:
        """Add products of strategies [K, Q] with weights [K]; each strategy decomposes into at most ``last`` plans."""
        shape = (self.game.players, len(strategies), last)
        counts, numbers, parts = np.empty(shape[:2], np.int64), np.zeros(shape, np.int64), np.zeros(shape)
        for player in range(self.game.players):
            plans = np.empty((len(strategies), last, self.game.infosets[player]), np.int32)
            decompose_all(self.game.tree, player, strategies, plans, parts[player], counts[player])
            there = np.arange(last)[None, :] < counts[player][:, None]
            table, number = distinct(plans[there])
            numbers[player][there] = np.array([self.number(player, plan) for plan in table], np.int64)[number]
        sizes = [prod(int(n) for n in column) for column in counts.T]
        self.written += sum(sizes)
        self.check()
        start = 0
        while start < len(sizes):
            stop, size = start, 0
            while stop < len(sizes) and (stop == start or size + sizes[stop] <= POOL):
                size, stop = size + sizes[stop], stop + 1
            support, weights = np.empty((size, self.game.players), np.int64), np.empty(size)
            some = slice(start, stop)
            cross(counts[:, some], numbers[:, some], parts[:, some], shares[some], support, weights)
            self.put(support, weights)
            self.check()
            start = stop

    def check(self) -> None:
        """Raise :class:`AlgorithmError` if there are too many joint plans."""
        if len(self.support) > self.most or self.written > REPEATS * self.most:
            raise AlgorithmError(
                f"a device of {self.game} needs more than {self.most:,} joint plans; store fewer iterations, or "
                "sample joint plans with samples=10000"
            )

    def number(self, player: int, plan: Plans) -> int:
        """Return the number of a plan; a new plan is added."""
        key = plan.tobytes()
        self.plans[player].setdefault(key, plan.copy())
        return self.numbers[player].setdefault(key, len(self.numbers[player]))

    def put(self, support: Ints, weights: Floats) -> None:
        """Add joint plans; equal ones are merged."""
        support, weights = np.concatenate((self.support, support)), np.concatenate((self.weights, weights))
        rows = np.lexsort(support.T[::-1])
        support = support[rows]
        fresh = np.append(True, (support[1:] != support[:-1]).any(axis=1))
        self.support = support[fresh]
        self.weights = np.bincount(np.cumsum(fresh) - 1, weights=weights[rows]).astype(np.float64)

    def device(self) -> Device:
        """Return the accumulated device."""
        tables = tuple(np.stack([*plans.values()]) for plans in self.plans)
        return Device(self.game, tables, self.support, self.weights / self.weights.sum()).merged()
