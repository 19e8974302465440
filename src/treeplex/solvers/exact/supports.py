"""Mixed equilibria of three and more players in a static game: supports one after another, Newton's method on each.

On given supports an equilibrium solves a system of multilinear equations: every action that a player plays is worth the same
(Porter, Nudelman and Shoham 2008, section 3). Newton's method finds a root of it, if at all, near where it starts; so a game
may have equilibria that are not found. None that is proposed here has been checked for actions outside its support.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import prod

import numpy as np
from scipy.optimize import root

from treeplex.base.arrays import Floats

MOST_SUPPORTS = 5000
"""Profiles of supports that are tried."""
STARTS = 6
"""Points from which Newton's method starts on each: the uniform one, then random ones from a fixed seed."""


def mixed_on_supports(payoffs: Floats) -> Iterator[list[Floats]]:
    """Roots of the equations on all profiles of supports, small ones first; nothing where there are too many profiles.

    Args:
        payoffs: float64 ``[N, A0, ..., A(N-1)]``.
    """
    shape = payoffs.shape[1:]
    if prod(2**count - 1 for count in shape) > MOST_SUPPORTS:
        return
    scaled = np.stack([(own - own.min()) / (float(np.ptp(own)) or 1.0) for own in payoffs])
    subsets = [[support for size in range(1, count + 1) for support in combinations(range(count), size)] for count in shape]
    profiles = [supports for supports in product(*subsets) if plausible(scaled, supports)]
    profiles.sort(key=lambda supports: (sum(map(len, supports)), np.ptp(list(map(len, supports)))))
    generator = np.random.default_rng(0)
    for start in range(STARTS):
        for supports in profiles:
            first = [np.ones(len(own)) / len(own) if start == 0 else generator.dirichlet(np.ones(len(own))) for own in supports]
            found = indifferent(scaled[np.ix_(range(len(shape)), *supports)], first)
            if found is not None:
                yield [
                    on_all_actions(own, strategy, count) for own, strategy, count in zip(supports, found, shape, strict=True)
                ]


def plausible(payoffs: Floats, supports: tuple[tuple[int, ...], ...]) -> bool:
    """Whether no action of the supports is strictly dominated as long as the others keep to theirs."""
    if all(len(own) == 1 for own in supports):
        return False  # pure, and looked at before
    for player, own in enumerate(supports):
        others = [range(payoffs.shape[1 + player]) if other == player else each for other, each in enumerate(supports)]
        rows = np.moveaxis(payoffs[player][np.ix_(*others)], player, 0).reshape(payoffs.shape[1 + player], -1)
        if any((rows > rows[action]).all(axis=1).any() for action in own):
            return False
    return True


def on_all_actions(support: tuple[int, ...], strategy: Floats, count: int) -> Floats:
    """A strategy over all actions from one over a support."""
    whole = np.zeros(count)
    whole[list(support)] = strategy
    return whole


def indifferent(payoffs: Floats, start: list[Floats]) -> list[Floats] | None:
    """Positive strategies under which all actions of each player are worth the same; None if the search fails."""
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
    """Expected payoff of each action of a player against the others' strategies, float64 [A]."""
    values = payoffs[player]
    for other in range(len(strategies) - 1, -1, -1):
        if other != player:
            values = np.tensordot(values, strategies[other], axes=([other], [0]))
    return np.asarray(values, np.float64)
