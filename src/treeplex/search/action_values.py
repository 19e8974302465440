"""What actions are worth in a subgame of a public tree if all follow one policy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.search.leaf import LeafValue, leaf_values
from treeplex.search.resolving.continuations import ManyValued
from treeplex.search.subgames.batch import Subgames
from treeplex.search.subgames.subgame import Ranges, Subgame


def action_values(
    subgame: Subgame, policy: NDArray[Any], ranges: Ranges, leaf: LeafValue, path: tuple[int, ...]
) -> Floats | None:
    """The expected payoff of each action with each hand of the player to act, float64 [A, H], in the game's units.

    NaN for hands that cannot be there or meet nobody. None for subgames of other kinds, and where players choose among
    continuations behind the leaves.

    Args:
        subgame: one subgame.
        policy: [Q], what all follow.
        ranges: for each player float64 [1, H_i], with which it begins, up to a factor.
        leaf: values at the leaves.
        path: labels from the subgame's root to a decision.
    """
    chosen = isinstance(leaf, ManyValued) and max(leaf.continuations) > 1 and len(subgame.leaves) > 0
    if not isinstance(subgame, Subgames) or chosen:
        return None
    decision = subgame.find(0, path)[1]
    player = subgame.game.options(subgame.decisions.states[decision]).player
    arrays = subgame.start(ranges, predicts=False)
    arrays.policy[:] = policy
    for each in (0, 1):
        arrays.play(each)
    arrays.write_gradient(player, arrays.strategy)
    if len(subgame.leaves):
        reached = arrays.reach_at_leaves(arrays.strategy)
        worth = leaf_values(leaf, subgame.leaves, reached, reached, player)[player]
        arrays.write_leaves(player, worth * subgame.leaves.opposing(reached, player))
    entries = arrays.backed_up(player)
    met = subgame.decisions.opposing(subgame.decisions.reach_at(arrays.strategy), player)[decision]
    infosets = subgame.infosets[decision, : subgame.decisions.states[decision].weight.shape[player]]
    hands = np.flatnonzero((infosets >= 0) & (met[: len(infosets)] > 0))
    first, stride, count = subgame.tree.infoset_layout[infosets[infosets >= 0]].T
    found = np.full((int(count[0]), len(infosets)), np.nan)
    first, stride, _ = subgame.tree.infoset_layout[infosets[hands]].T
    found[:, hands] = entries[first + np.arange(len(found))[:, None] * stride] / met[hands]
    return found
