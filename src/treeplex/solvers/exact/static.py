"""Static games: every player chooses once and simultaneously. Payoffs are an array ``[N, A0, A1, ...]``.

:func:`static_equilibrium` finds one Nash equilibrium. One player: the best action. Constant-sum with two players: a saddle
point, pure if possible, else by linear programming. Otherwise it searches for pure equilibria, removes strictly dominated
actions, and uses nashpy for two players (Lemke and Howson 1964; support and vertex enumeration) or
:mod:`treeplex.solvers.exact.supports` for more.
Results are verified: no player gains more than 1e-9 of the payoff range.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import cycle, islice
from typing import Any

import numpy as np
from scipy.optimize import linprog

from treeplex.base.arrays import Floats
from treeplex.base.version import install_hint
from treeplex.errors import AlgorithmError
from treeplex.solvers.exact.supports import action_values, mixed_on_supports

TOLERANCE = 1e-9
"""Tolerated gain of a deviation, as a fraction of the player's payoff range."""
CONSTANT = 1e-12
"""Tolerance for constant sums, as a fraction of the payoff range."""
ROUNDING = 1e-14
"""Additional tolerance for rounding, as a fraction of the largest payoff."""
MOST_PIVOTS = 20
"""Maximum number of pivots of a Lemke-Howson path per action."""
PLAYED = 1e-7
"""Probabilities below this count as zero in a support."""
MOST_ENUMERATED = 8
"""Largest number of actions for which two-player supports are enumerated if Lemke-Howson fails."""


def static_equilibrium(payoffs: Floats) -> list[Floats] | None:
    """Return one equilibrium of a static game as a distribution per player, or None if none was found.

    Args:
        payoffs: float64 ``[N, A0, ..., A(N-1)]``, payoff of each player for each action profile.

    Raises:
        AlgorithmError: nashpy is needed but not installed.
    """
    shape = payoffs.shape[1:]
    choosers = [player for player, count in enumerate(shape) if count > 1]
    if len(choosers) < len(shape):
        index = (choosers, *(slice(None) if count > 1 else 0 for count in shape))
        strategies = static_equilibrium(payoffs[index]) if choosers else []
        if strategies is None:
            return None
        mixed = iter(strategies)
        return [next(mixed) if count > 1 else np.ones(1) for count in shape]
    if len(shape) == 1:
        return [unit(int(payoffs[0].argmax()), shape[0])]
    if len(shape) == 2 and constant_sum(payoffs):
        strategies = saddle_point(payoffs[0])
        if strategies is not None and largest_gain(payoffs, strategies) <= TOLERANCE:
            return strategies
    return pure_equilibrium(payoffs) or undominated_equilibrium(payoffs)


def constant_sum(payoffs: Floats) -> bool:
    """Return whether the payoffs of all players sum to a constant."""
    if not payoffs.size:
        return True
    ranges = np.ptp(payoffs.reshape(len(payoffs), -1), axis=1)
    return bool(np.ptp(payoffs.sum(axis=0)) <= CONSTANT * ranges.max() + ROUNDING * np.abs(payoffs).max())


def unit(action: int, count: int) -> Floats:
    """Return the distribution that plays one action."""
    strategy = np.zeros(count)
    strategy[action] = 1.0
    return strategy


def largest_gain(payoffs: Floats, strategies: Sequence[Floats]) -> float:
    """Return the largest deviation gain, as a fraction of the player's payoff range."""
    gains = [0.0]
    for player, strategy in enumerate(strategies):
        values = action_values(payoffs, strategies, player)
        gains.append(float(values.max() - strategy @ values) / (float(np.ptp(payoffs[player])) or 1.0))
    return max(gains)


def saddle_point(matrix: Floats) -> list[Floats] | None:
    """Return optimal strategies of a zero-sum game; ``matrix`` has player 0's payoffs."""
    rows, columns = matrix.shape
    row, column = int(matrix.min(axis=1).argmax()), int(matrix.max(axis=0).argmin())
    if matrix[row].min() == matrix[:, column].max():
        return [unit(row, rows), unit(column, columns)]
    scaled = (matrix - matrix.min()) / np.ptp(matrix)
    result = linprog(
        [*[0.0] * rows, -1.0],
        A_ub=np.column_stack((-scaled.T, np.ones(columns))),
        b_ub=np.zeros(columns),
        A_eq=[[*[1.0] * rows, 0.0]],
        b_eq=[1.0],
        bounds=[(0.0, None)] * rows + [(None, None)],
        method="highs",
    )
    if result.status != 0:
        return None
    return checked(np.stack((scaled, -scaled)), [result.x[:rows], -result.ineqlin.marginals])


def pure_equilibrium(payoffs: Floats) -> list[Floats] | None:
    """Return the pure equilibrium with the largest welfare, the first in action order among equals; None without one."""
    stable = np.ones(payoffs.shape[1:], bool)
    for player, table in enumerate(payoffs):
        stable &= table >= table.max(axis=player, keepdims=True) - CONSTANT * np.ptp(table)
    if not stable.any():
        return None
    best = np.unravel_index(int(np.where(stable, payoffs.sum(axis=0), -np.inf).argmax()), stable.shape)
    return [unit(int(action), count) for action, count in zip(best, payoffs.shape[1:], strict=True)]


def undominated_equilibrium(payoffs: Floats) -> list[Floats] | None:
    """Return a mixed equilibrium after iterated strict dominance."""
    undominated_actions = undominated(payoffs)
    smaller = payoffs[np.ix_(range(len(payoffs)), *undominated_actions)]
    if smaller.shape != payoffs.shape:
        mixed = static_equilibrium(smaller)
    elif len(payoffs) == 2:
        mixed = mixed_of_two(payoffs)
    else:
        mixed = first_checked(payoffs, mixed_on_supports(payoffs))
    if mixed is None:
        return None
    strategies = [np.zeros(count) for count in payoffs.shape[1:]]
    for strategy, actions, probabilities in zip(strategies, undominated_actions, mixed, strict=True):
        strategy[actions] = probabilities
    return strategies


def undominated(payoffs: Floats) -> list[list[int]]:
    """Return each player's actions that survive iterated strict dominance by pure actions."""
    survivors = [list(range(count)) for count in payoffs.shape[1:]]
    changed = True
    while changed:
        changed = False
        for player in range(len(survivors)):
            rows = np.moveaxis(payoffs[player][np.ix_(*survivors)], player, 0).reshape(len(survivors[player]), -1)
            dominated = [(rows > row).all(axis=1).any() for row in rows]
            changed = changed or any(dominated)
            survivors[player] = [action for action, gone in zip(survivors[player], dominated, strict=True) if not gone]
    return survivors


def mixed_of_two(payoffs: Floats) -> list[Floats] | None:
    """Return an equilibrium of a general-sum two-player game, with nashpy.

    Raises:
        AlgorithmError: nashpy is not installed.
    """
    try:
        nashpy, linalg = import_module("nashpy"), import_module("nashpy.linalg")
    except ImportError as error:
        raise AlgorithmError(
            f"mixed equilibria of general-sum two-player games need nashpy; run: {install_hint('nash')}"
        ) from error
    scaled = np.stack([(matrix - matrix.min()) / (float(np.ptp(matrix)) or 1.0) for matrix in payoffs])
    return first_checked(scaled, candidates(nashpy, linalg, scaled))


def candidates(nashpy: Any, linalg: Any, payoffs: Floats) -> Iterator[Sequence[Floats]]:
    """Yield nashpy's equilibrium candidates: Lemke-Howson by label, then supports, then vertices.

    In degenerate games some candidates are not valid strategies; the caller checks them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label in range(sum(payoffs.shape[1:])):
            with suppress(ArithmeticError, ValueError, IndexError):
                yield from lemke_howson(linalg, payoffs, label)
        if max(payoffs.shape[1:]) <= MOST_ENUMERATED:
            game = nashpy.Game(*payoffs)
            for method in (game.support_enumeration, game.vertex_enumeration):
                with suppress(ArithmeticError, ValueError, IndexError, RuntimeError):
                    yield from method()


def lemke_howson(linalg: Any, payoffs: Floats, label: int) -> Iterator[Sequence[Floats]]:
    """Yield the end of the Lemke-Howson path that starts by dropping a label, if the path ends.

    Uses nashpy's pivots with a limit on their number, since nashpy's own loop may not end when rounding hides which variables
    are basic, which happens from about ten actions on.
    """
    rows, columns = linalg.create_row_tableau(payoffs[1], True), linalg.create_col_tableau(payoffs[0], True)
    turns = cycle((rows, columns) if label in rows.non_basic_variables else (columns, rows))
    labels = columns.labels
    for tableau in islice(turns, MOST_PIVOTS * len(labels)):
        label = tableau.pivot_and_drop_label(label)
        if columns.non_basic_variables | rows.non_basic_variables == labels:
            yield rows.to_strategy(columns.non_basic_variables), columns.to_strategy(rows.non_basic_variables)
            return


def first_checked(payoffs: Floats, proposals: Iterator[Sequence[Floats]]) -> list[Floats] | None:
    """Return the first candidate that is an equilibrium; None if there is none."""
    return next((equilibrium for proposal in proposals if (equilibrium := checked(payoffs, proposal)) is not None), None)


def checked(payoffs: Floats, strategies: Sequence[Floats]) -> list[Floats] | None:
    """Return the strategies if they are an equilibrium to :data:`TOLERANCE`, polished for two players; else None."""
    shapes = [np.shape(strategy) for strategy in strategies]
    if shapes != [(count,) for count in payoffs.shape[1:]] or not all(np.isfinite(strategy).all() for strategy in strategies):
        return None
    clipped = [np.maximum(strategy, 0.0) for strategy in strategies]
    if not all(0.5 < strategy.sum() < 2.0 for strategy in clipped):
        return None
    options = [[strategy / strategy.sum() for strategy in clipped]]
    if len(clipped) == 2:
        options.append(polished(payoffs, options[0]))
    best = min(options, key=lambda option: largest_gain(payoffs, option))
    return best if largest_gain(payoffs, best) <= TOLERANCE else None


def polished(payoffs: Floats, strategies: Sequence[Floats]) -> list[Floats]:
    """Recompute probabilities on the given supports by solving the indifference equations."""
    supports = [np.flatnonzero(strategy > PLAYED) for strategy in strategies]
    better = []
    for player, matrix in ((0, payoffs[1].T), (1, payoffs[0])):  # rows: the opponent's actions, columns: own actions
        support, other = supports[player], supports[1 - player]
        equations = np.zeros((len(other) + 1, len(support) + 1))
        equations[:-1, :-1], equations[:-1, -1], equations[-1, :-1] = matrix[np.ix_(other, support)], -1.0, 1.0
        solution = np.linalg.lstsq(equations, unit(len(other), len(other) + 1), rcond=None)[0][:-1]
        strategy = np.zeros(len(strategies[player]))
        strategy[support] = np.maximum(solution, 0.0)
        better.append(strategy / strategy.sum() if strategy.sum() > 0.0 else strategies[player])
    return better
