"""Coarse correlated equilibria: how far a device is from one, and the optimal one of a tiny game.

A device is a coarse correlated equilibrium if no player gains by committing to a strategy before the mediator's recommendation,
while the others follow theirs (Moulin and Vial 1978; for sequential games Celli, Marchesi, Bianchi and Gatti 2019).
"""

from math import prod
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from treeplex.base.arrays import Floats
from treeplex.base.notices import reporting
from treeplex.engine.plans.plans import product_statistics
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.sweeps import best_value
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Device
from treeplex.forms.correlation.plans import all_plans, count_plans, written
from treeplex.games.base import Game

MOST_ENTRIES = 10_000_000
"""Maximum size of the linear program, sequences times joint plans (80 MB)."""


def cce_gaps(device: Device) -> Floats:
    """Return each player's gain from the best fixed strategy while the others follow the device, float64 [N].

    The gains are exact: a best response to the mean gradient of the joint plans. A gain is negative if following is better than
    every fixed strategy.
    """
    tree = device.game.tree
    values, infoset_values = device.gradients.copy(), workspace(tree).infoset_values
    best = [best_value(tree, player, values, infoset_values) for player in range(device.game.players)]
    return np.array(best) - device.payoffs


def cce_gap(device: Device) -> float:
    """Return the maximum of :func:`cce_gaps`; at most 0 for a coarse correlated equilibrium."""
    return float(cce_gaps(device).max())


def best_cce(
    game: CompiledGame | str | Game | Any,
    *,
    objective: Floats | None = None,
    most_entries: int = MOST_ENTRIES,
    progress: bool | None = None,
) -> Device:
    """Return a welfare-maximising coarse correlated equilibrium, by a linear program over joint plans (HiGHS).

    For tiny games only: the number of joint plans is exponential in the number of infosets. In constant-sum games every device
    has the same welfare.

    Args:
        game: a spec, rules or the compiled game.
        objective: float64 [N], weight of each player's payoff; ones for welfare.
        most_entries: maximum of sequences times joint plans.
        progress: False hides progress; None shows it on a terminal or in a notebook, see :func:`treeplex.solve`.

    Raises:
        AlgorithmError: the game is too large, or HiGHS fails.
    """
    game = compile_game(game, progress=progress)
    joint = prod(count_plans(game, player) for player in range(game.players))
    sequences = int(game.tree.sequence_offsets[-1])
    if joint * sequences > most_entries:
        raise AlgorithmError(
            f"{game} has {written(joint)} joint plans and {sequences:,} sequences, too many for a linear program over joint "
            f"plans (limit on their product: {most_entries:,}); choose a smaller game"
        )
    with reporting(progress, f"computing the best CCE over {joint:,} joint plans"):
        plans = tuple(all_plans(game, player) for player in range(game.players))
        support = np.indices([len(table) for table in plans]).reshape(game.players, -1).T.astype(np.int64)
        gradients, values = joint_payoffs(Device(game, plans, support, np.full(joint, 1.0 / joint)))
        weighed = values @ (np.ones(game.players) if objective is None else np.asarray(objective, np.float64))
        weights = np.maximum(distribution(game, gradients, values, weighed), 0.0)
    return Device(game, plans, support, weights / weights.sum()).merged()


def joint_payoffs(device: Device) -> tuple[Floats, Floats]:
    """Return the gradients [S, Q] against each joint plan of a device, and the payoffs [S, N] of each."""
    game = device.game
    strategies = np.empty((len(device), int(game.tree.sequence_offsets[-1])))
    for player, table in enumerate(device.plans):
        sequences = slice(*(int(q) for q in game.tree.sequence_offsets[player : player + 2]))
        forms = np.stack([device.strategy(player, plan) for plan in range(len(table))])
        strategies[:, sequences] = forms[device.support[:, player]]
    gradients, values = np.empty_like(strategies), np.empty((len(device), game.players))
    product_statistics(game.tree, game.payoff, strategies, gradients, values)
    return gradients, values


def distribution(game: CompiledGame, gradients: Floats, values: Floats, objective: Floats) -> Floats:
    """Maximise ``objective @ w`` over ``w`` [S] so that no player gains by deviating.

    The best response of player i is expressed by its dual, with a free value ``v`` per infoset: ``sum of v[infosets right below
    q] + w @ gradients[:, q] <= v[infoset of q]`` for every sequence q, where for the empty sequence the right side is the
    player's payoff, ``w @ values[:, i]``.
    """
    tree, infosets = game.tree, len(game.infostates)
    below = csr_array((np.ones(infosets), (tree.infoset_parent, np.arange(infosets))), shape=(gradients.shape[1], infosets))
    inner = np.flatnonzero(tree.sequence_infoset >= 0)
    decisions = csr_array((np.ones(len(inner)), (inner, tree.sequence_infoset[inner])), shape=below.shape)
    earns = gradients.T.copy()
    earns[tree.sequence_offsets[:-1]] -= values.T
    scale = max(np.abs(earns).max(initial=0.0), 1e-300)
    result = linprog(
        np.concatenate((-objective / max(np.abs(objective).max(initial=0.0), 1e-300), np.zeros(infosets))),
        A_ub=hstack([csr_array(earns / scale), below - decisions], format="csr"),
        b_ub=np.zeros(len(earns)),
        A_eq=csr_array(np.concatenate((np.ones(len(values)), np.zeros(infosets)))[None, :]),
        b_eq=np.ones(1),
        bounds=[(0.0, None)] * len(values) + [(None, None)] * infosets,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:
        raise AlgorithmError(f"could not solve the linear program of {game}: {result.message}")
    return np.asarray(result.x[: len(values)], np.float64)
