"""Mixed equilibria of static games with three or more players: support enumeration with Newton's method.

On given supports, an equilibrium solves a system of multilinear equations: all actions in a player's support have the same
value (Porter, Nudelman and Shoham 2008, section 3). Newton's method finds roots near its starting points, so equilibria may be
missed. Candidates are not checked for deviations outside their support.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import prod

import numpy as np
from scipy.optimize import root

from treeplex.base.arrays import Floats

MOST_SUPPORTS = 5000
"""Maximum number of support profiles."""
STARTS = 6
"""Starting points of Newton's method per profile: the uniform point, then random ones with a fixed seed."""


def mixed_on_supports(payoffs: Floats) -> Iterator[list[Floats]]:
    """Yield roots of the equations on all support profiles, small supports first; none if there are too many profiles.

    Args:
        payoffs: float64 ``[N, A0, ..., A(N-1)]``.
    """
    shape = payoffs.shape[1:]
    if prod(2**count - 1 for count in shape) > MOST_SUPPORTS:
        return
    scaled = np.stack([(table - table.min()) / (float(np.ptp(table)) or 1.0) for table in payoffs])
    subsets = [[support for size in range(1, count + 1) for support in combinations(range(count), size)] for count in shape]
    profiles = [supports for supports in product(*subsets) if plausible(scaled, supports)]
    profiles.sort(key=lambda supports: (sum(map(len, supports)), np.ptp(list(map(len, supports)))))
    generator = np.random.default_rng(0)
    for start in range(STARTS):
        for supports in profiles:
            first = [
                np.ones(len(table)) / len(table) if start == 0 else generator.dirichlet(np.ones(len(table)))
                for table in supports
            ]
            strategies = indifferent(scaled[np.ix_(range(len(shape)), *supports)], first)
            if strategies is not None:
                yield [
                    on_all_actions(actions, strategy, count)
                    for actions, strategy, count in zip(supports, strategies, shape, strict=True)
                ]


def plausible(payoffs: Floats, supports: tuple[tuple[int, ...], ...]) -> bool:
    """Return whether no action of the supports is strictly dominated given the others' supports."""
    if all(len(support) == 1 for support in supports):
        return False  # pure profiles are handled elsewhere
    for player, support in enumerate(supports):
        others = [range(payoffs.shape[1 + player]) if other == player else actions for other, actions in enumerate(supports)]
        rows = np.moveaxis(payoffs[player][np.ix_(*others)], player, 0).reshape(payoffs.shape[1 + player], -1)
        if any((rows > rows[action]).all(axis=1).any() for action in support):
            return False
    return True


def on_all_actions(support: tuple[int, ...], strategy: Floats, count: int) -> Floats:
    """Extend a strategy on a support to all actions."""
    whole = np.zeros(count)
    whole[list(support)] = strategy
    return whole


def indifferent(payoffs: Floats, start: list[Floats]) -> list[Floats] | None:
    """Find positive strategies that make each player indifferent among its actions; None if the search fails."""
    sizes = [len(strategy) for strategy in start]
    cuts = np.cumsum(sizes)

    def surplus(point: Floats) -> Floats:
        strategies, levels = np.split(point[: cuts[-1]], cuts[:-1]), point[cuts[-1] :]
        values = [action_values(payoffs, strategies, player) - levels[player] for player in range(len(sizes))]
        return np.concatenate((*values, [strategy.sum() - 1.0 for strategy in strategies]))

    values = [float(strategy @ action_values(payoffs, start, player)) for player, strategy in enumerate(start)]
    result = root(surplus, np.concatenate((*start, values)), method="hybr", options={"xtol": 1e-14})
    strategies = [np.asarray(part, np.float64) for part in np.split(result.x[: cuts[-1]], cuts[:-1])]
    if np.abs(surplus(result.x)).max() > 1e-10 or min(strategy.min() for strategy in strategies) < -1e-12:
        return None
    return strategies


def action_values(payoffs: Floats, strategies: Sequence[Floats], player: int) -> Floats:
    """Return a player's expected payoff of each action against the others' strategies, float64 [A]."""
    values = payoffs[player]
    for other in range(len(strategies) - 1, -1, -1):
        if other != player:
            values = np.tensordot(values, strategies[other], axes=([other], [0]))
    return np.asarray(values, np.float64)
