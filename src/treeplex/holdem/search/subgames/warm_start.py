"""Warm starts on a hold'em street: values and regrets of an initial guess of the policy."""

from typing import TYPE_CHECKING, Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.forms.layout import decision_rows
from treeplex.holdem.policies.node_values import HoldemValues, Pair
from treeplex.search.leaf import leaf_values
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.guess import Guess, GuessRegrets

if TYPE_CHECKING:
    from treeplex.holdem.search.subgames.subgame import HoldemArrays, HoldemSubgame
    from treeplex.search.subgame_search import SubgameSearch


def street_of(search: "SubgameSearch") -> "tuple[HoldemSubgame, HoldemArrays]":
    """The subgame and the arrays of a search on one street.

    Raises:
        AlgorithmError: the subgame begins with a deal, or spans several streets.
    """
    subgame: Any = search.subgame
    arrays: Any = search.arrays
    if subgame.streets != 1 or not isinstance(subgame.game.event(subgame.state), Decision):
        raise AlgorithmError(
            "a warm start in hold'em needs a subgame of one street that begins with a decision; search without a warm start"
        )
    return subgame, arrays


def write_guess(search: "SubgameSearch", guess: Guess) -> None:
    """Write the guess as the current policy, from the root down."""
    _, arrays = street_of(search)
    policies_from(search, arrays.policy, guess)
    for player in (0, 1):
        arrays.play(player)


def policies_from(search: "SubgameSearch", policy: Floats, guess: Guess | None = None) -> tuple[Ranges, dict[int, Floats]]:
    """Reach and policies at all decisions of a street, level by level, from the search's starting ranges.

    Args:
        search: the search.
        policy: float64 [Q], the policy, read by :meth:`SubgameSearch.policy_at`.
        guess: writes each level of the policy before it is read; None if it is already written.

    Returns:
        For each player float64 [nodes of the betting tree, H], and for each decision float64 [A, H].
    """
    subgame, arrays = street_of(search)
    nodes, level, tables = subgame.game.tree.nodes, [subgame.state.node], dict[int, Floats]()
    reached = tuple(np.zeros((len(nodes), reach.shape[1])) for reach in arrays.ranges)
    for reach, begun in zip(reached, arrays.ranges, strict=True):
        reach[level] = begun
    while level:
        if guess is not None:
            guess(subgame, np.array(level), reached, policy)
        below = []
        for number in level:
            node = nodes[number]
            assert isinstance(node, Decision)
            tables[number] = subgame.policy_at(number, policy)
            for child, played in zip(node.children, tables[number], strict=True):
                after = nodes[child]
                if isinstance(after, Decision) and after.street == node.street:
                    for player, reach in enumerate(reached):
                        reach[child] = reach[number] * played if player == node.player else reach[number]
                    below.append(child)
        level = below
    return reached, tables


def regrets_of_guess(search: "SubgameSearch", weight: float) -> GuessRegrets:
    """Values and regrets of the current policy; leaves are valued for its beliefs.

    Args:
        search: the search.
        weight: factor on the leaf entries that modified CFR-AVG subtracts in its next update.
    """
    subgame, arrays = street_of(search)
    leaves, strategy, policy = subgame.leaves, search.strategy, arrays.policy.copy()
    reached = arrays.reach_at_leaves(strategy)
    values = leaf_values(search.leaf, leaves, reached, reached) if len(leaves) else reached
    for player in (0, 1):
        arrays.write_gradient(player, strategy)
        if len(leaves):
            search.last_leaf[player] = (entries := values[player] * leaves.opposing(reached, player)) * weight
            arrays.write_leaves(player, entries)
    known = HoldemValues(subgame.whole, policy, ends=arrays.crew.work.gathered.copy())
    first, second = (weights[0][subgame.held(player)] for player, weights in enumerate(arrays.ranges))
    street, root = known.tree(0, 0, subgame.state.node, (first, second)), subgame.state.node
    regrets, best = np.zeros_like(policy), dict(street.values)
    for number in reversed(list(street.policy)):  # a decision precedes its children
        node = subgame.game.tree.nodes[number]
        assert isinstance(node, Decision)
        worth = np.array([best[child][node.player] for child in node.children])
        other = np.sum([best[child][1 - node.player] for child in node.children], axis=0)
        decision_rows(subgame.top, number, regrets)[:] = worth - (street.policy[number] * worth).sum(axis=0)
        best[number] = (worth.max(axis=0), other) if node.player == 0 else (other, worth.max(axis=0))
    return GuessRegrets(widened(subgame, street.values[root]), widened(subgame, best[root]), regrets)


def widened(subgame: "HoldemSubgame", pair: Pair) -> Ranges:
    """Expand values of held hands to all hands, float64 [1, H] for each player."""
    values = tuple(np.zeros((1, width)) for width in subgame.roots.widths)
    for player, (hand_values, numbers) in enumerate(zip(values, pair, strict=True)):
        hand_values[0, subgame.held(player)] = numbers
    return values
