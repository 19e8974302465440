"""Searches of a street of hold'em that start from a guess, against the same over pairs of hands."""

import numpy as np
import pytest

from tests.holdem.search.test_turn import Bent, WideBent, by_pairs, rules_of_the_turn, small_turn, widened
from treeplex.holdem.forms.layout import decision_rows
from treeplex.holdem.search.subgames.subgame import HoldemSubgame
from treeplex.search import METHODS, SubgameSearch
from treeplex.search.subgames.batch import Subgames
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import start_warm


def told(node: int, board: int, hands: int) -> np.ndarray:
    """How hands play at a node on a board, for at most four actions, [4, hands]."""
    return np.random.default_rng([node, board]).random((4, hands)) + 0.05


class OverPairs:
    """A guess for the search over pairs of hands."""

    def __call__(self, subgames: Subgames, rows: np.ndarray, reached: Ranges, policy: np.ndarray) -> None:
        for row in rows:
            node, board = subgames.decisions.states[row].node
            here = told(node if len(board) == 4 else 999, 0, 15)
            for hand in np.flatnonzero(subgames.infosets[row] >= 0):
                first, stride, count = subgames.tree.infoset_layout[subgames.infosets[row, hand]]
                policy[first : first + stride * count : stride] = here[:count, hand] / here[:count, hand].sum()


class OverHands:
    """The guess for the street."""

    def __call__(self, subgame: HoldemSubgame, rows: np.ndarray, reached: Ranges, policy: np.ndarray) -> None:
        for node in rows:
            rows_here = decision_rows(subgame.top, int(node), policy)
            wide = widened(told(int(node), 0, 15))
            held = subgame.held(subgame.game.tree.nodes[node].player)  # type: ignore[union-attr]
            rows_here[:] = wide[: len(rows_here), held] / wide[: len(rows_here), held].sum(axis=0)


@pytest.mark.parametrize("method", ["cfr", "lcfr", "lcfr-avg", "lcfr-avg-modified"])
def test_a_warm_start_is_that_of_the_search_over_pairs(method: str) -> None:
    root = np.random.default_rng(0).random((2, 1, 15)) + 0.1
    leaves = len(by_pairs().leaves)
    other = SubgameSearch(by_pairs(), METHODS[method], Bent(leaves), (root[0], root[1]))
    search = SubgameSearch(small_turn(), METHODS[method], WideBent(leaves), (widened(root[0]), widened(root[1])))
    start_warm(other, OverPairs(), 5)
    start_warm(search, OverHands(), 5)
    assert search.iteration == 5
    tree = other.subgames.tree
    for block in tree.infoset_layout:  # the street goes on with what regrets lead to; so does this one
        first, stride, count = block
        own = slice(first, first + stride * count, stride)
        positive = np.maximum(other.regrets[own], 0.0)
        other.policy[own] = positive / positive.sum() if positive.sum() > 0 else 1.0 / count
    for player in (0, 1):
        other.arrays.play(player)
    for _ in range(2):
        for player in (0, 1):
            mine = search.root_values()[player][0][rules_of_the_turn().hands]
            assert mine == pytest.approx(other.root_values()[player][0], abs=1e-9)
        for number, state in enumerate(by_pairs().decisions.states):
            node, board = state.node  # type: ignore[misc]
            if len(board) == 4:
                mine = search.policy_at(node, search.average)[:, rules_of_the_turn().hands]
                assert mine == pytest.approx(other.policy_at(number, other.average_policy()), abs=1e-9)
        other.run(4), search.run(4)
