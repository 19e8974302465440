"""Streets of whole hold'em whose search starts from a guess of the policies; see :mod:`treeplex.search.warm_start`."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.sweeps import backup, best_value
from treeplex.forms.subgames.subgame import Ranges
from treeplex.forms.whole.betting import ROOT
from treeplex.forms.whole.street import StreetArrays, StreetSubgame
from treeplex.search.subgame import SubgameSearch
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.rule import average_after
from treeplex.solvers.rules.variants import Variant

Floats = NDArray[np.float64]


class StreetGuess(Protocol):
    """Policies of public belief states on a street, without search."""

    def __call__(self, street: StreetSubgame, decision: int, reached: Ranges) -> Floats:
        """How hands play at a decision on every board, float64 [A, B, H], by reaches [B, H] of both players."""
        ...


def start_street(search: SubgameSearch, guess: StreetGuess, warm: int, added_up: "AddedUp") -> None:
    """Put a search of a street that has not begun where ``warm`` iterations of a guess would have left it.

    Args:
        search: of a street.
        guess: of its policies.
        warm: how many, at least 1.
        added_up: regrets met in each of the first iterations of a variant, as it weighs them.
    """
    street, arrays, scheme = search.subgame, search.arrays, search.method.scheme
    assert isinstance(street, StreetSubgame)
    assert isinstance(arrays, StreetArrays)
    for number, decision in enumerate(street.betting.decisions):
        reached = tuple(street.at(search.strategy, player, last) for player, last in enumerate(decision.both))
        street.block(search.policy, number)[:] = guess(street, number, (reached[0], reached[1]))
        arrays.play(decision.player)
    kept, weight = average_after(scheme, search.horizon, warm)
    values = arrays.values
    for player in (0, 1):
        arrays.write_gradient(player, search.strategy)
    if len(street.leaves):
        arrived = arrays.reach_at_leaves(search.strategy)
        found = search.leaf(street.leaves, arrived, arrived)
        for player in (0, 1):
            entries = found[player] * street.leaves.opposing(arrived, player)
            search.last_leaf[player] = weight * entries
            arrays.write_leaves(player, entries)
    search.average[:] = kept * search.average + weight * search.strategy
    search.faced[:] = search.average
    infoset_values, better = workspace(street.tree).infoset_values, values.copy()
    for player in (0, 1):
        backup(street.tree, player, search.policy, values, infoset_values)
        best_value(street.tree, player, better, infoset_values)
        counted = better if isinstance(scheme, FictitiousRule) else values
        search.sums[player] = weight * street.at(counted, player, ROOT)
        search.sum_weights[player] = weight
    if isinstance(scheme, Variant):
        regrets = np.zeros_like(better)
        for number in range(len(street.betting.decisions)):
            gained, policy = street.block(better, number), street.block(search.policy, number)
            street.block(regrets, number)[:] = gained - (policy * gained).sum(axis=0)
        search.regrets[:] = added_up(scheme, search.horizon, warm, regrets)
    search.iteration = warm


class AddedUp(Protocol):
    """See :func:`treeplex.search.warm_start.added_up`."""

    def __call__(self, scheme: Variant, horizon: int, warm: int, regrets: Floats) -> Floats: ...
