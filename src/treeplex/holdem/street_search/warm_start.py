"""Warm starts for street searches in full-game hold'em over many boards: values and regrets of guessed policies."""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.sweeps import backup, best_value
from treeplex.holdem.street_search.betting import ROOT
from treeplex.search.leaf import leaf_values
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.guess import GuessRegrets

if TYPE_CHECKING:
    from treeplex.holdem.street_search.street import StreetSubgame
    from treeplex.search.subgame_search import SubgameSearch


class StreetGuess(Protocol):
    """Guessed policies at public belief states on a street, computed without search."""

    def __call__(self, street: "StreetSubgame", decision: int, reached: Ranges) -> Floats:
        """Policy of all hands at a decision on every board, float64 [A, B, H], given both players' reaches [B, H]."""
        ...


def write_guess(search: "SubgameSearch", street: "StreetSubgame", guess: StreetGuess) -> None:
    """Set the current policy to the guess, from the root down."""
    for number, decision in enumerate(street.betting.decisions):
        first, second = (street.at(search.strategy, player, last) for player, last in enumerate(decision.both))
        street.block(search.policy, number)[:] = guess(street, number, (first, second))
        search.arrays.play(decision.player)


def regrets_of_guess(search: "SubgameSearch", street: "StreetSubgame", weight: float) -> GuessRegrets:
    """Values and regrets of the current policy."""
    arrays: Any = search.arrays
    for player in (0, 1):
        arrays.write_gradient(player, search.strategy)
    if len(street.leaves):
        arrived = arrays.reach_at_leaves(search.strategy)
        end_values = leaf_values(search.leaf, street.leaves, arrived, arrived)
        for player in (0, 1):
            entries = end_values[player] * street.leaves.opposing(arrived, player)
            search.last_leaf[player] = weight * entries
            arrays.write_leaves(player, entries)
    values, better = arrays.values, arrays.values.copy()
    infoset_values, regrets = workspace(street.tree).infoset_values, np.zeros_like(better)
    for player in (0, 1):
        backup(street.tree, player, search.policy, values, infoset_values)
        best_value(street.tree, player, better, infoset_values)
    for number in range(len(street.betting.decisions)):
        gained, policy = street.block(better, number), street.block(search.policy, number)
        street.block(regrets, number)[:] = gained - (policy * gained).sum(axis=0)
    ends = [[np.array(street.at(source, player, ROOT)) for player in (0, 1)] for source in (values, better)]
    return GuessRegrets((ends[0][0], ends[0][1]), (ends[1][0], ends[1][1]), regrets)
