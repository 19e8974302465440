"""Warm starts for batches of public trees: writing guesses, and their values and regrets."""

from typing import TYPE_CHECKING

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.leaves import gather, scatter
from treeplex.engine.tree.sweeps import backup, best_value, reach
from treeplex.search.leaf import leaf_values
from treeplex.search.warm_start.guess import Guess, GuessRegrets

if TYPE_CHECKING:
    from treeplex.search.subgame_search import SubgameSearch


def write_guess(search: "SubgameSearch", guess: Guess) -> None:
    """Set the current policy to the guess, from the roots down; each state's guess is made at the beliefs that it implies."""
    tree, decisions = search.subgames.tree, search.subgames.decisions
    levels = np.array([len(path) for path in decisions.paths], np.int64)
    for level in np.unique(levels):
        guess(search.subgames, np.flatnonzero(levels == level), decisions.reach_at(search.strategy), search.policy)
        for player in (0, 1):
            reach(tree, player, search.policy, search.strategy)


def regrets_of_guess(search: "SubgameSearch", weight: float) -> GuessRegrets:
    """Compute values and regrets of the current policy."""
    values = values_of_guess(search, weight)
    tree, roots = search.subgames.tree, search.subgames.roots
    infoset_values, better, values_by_player = workspace(tree).infoset_values, values.copy(), []
    for player in (0, 1):
        backup(tree, player, search.policy, values, infoset_values)
        best_value(tree, player, better, infoset_values)
        for source in (values, better):
            entries = np.zeros_like(search.sums[player])
            gather(roots.sequences[player], source, entries)
            values_by_player.append(entries)
    return GuessRegrets(
        (values_by_player[0], values_by_player[2]), (values_by_player[1], values_by_player[3]), regrets_of(search, better)
    )


def values_of_guess(search: "SubgameSearch", weight: float) -> Floats:
    """Compute both players' gradients against the current policy, including leaf values, float64 [Q]."""
    tree, leaves = search.subgames.tree, search.subgames.leaves
    values = workspace(tree).values
    for player in (0, 1):
        gradient(tree, search.subgames.payoff, player, search.strategy, values)
    if len(leaves):
        arrived = leaves.reach_at(search.strategy)
        values_at_leaves = leaf_values(search.leaf, leaves, arrived, arrived)
        for player in (0, 1):
            entries = values_at_leaves[player] * leaves.opposing(arrived, player)
            search.last_leaf[player] = weight * entries
            scatter(leaves.sequences[player], entries, values)
    return values


def regrets_of(search: "SubgameSearch", values: Floats) -> Floats:
    """Value of each action minus the current policy's value at its infoset, float64 [Q]; 0 at sequences without infoset."""
    infosets = search.subgames.tree.sequence_infoset
    inner = infosets >= 0
    mean = np.bincount(infosets[inner], weights=(search.policy * values)[inner])
    regrets = np.zeros_like(values)
    regrets[inner] = values[inner] - mean[infosets[inner]]
    return regrets
