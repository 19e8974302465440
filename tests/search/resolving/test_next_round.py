"""Values at the end of a betting round, as means over deals of values at the beginning of the next."""

from collections.abc import Hashable

import numpy as np
import pytest

from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.builtin.leduc_poker import LeducPublicTree, LeducTable, leduc_poker
from treeplex.games.public import PublicTree
from treeplex.search import METHODS, Belief, ExactLeaf, Horizon, SubgameSearch, ZeroLeaf, cut, public_tree
from treeplex.search.resolving.next_round import NextRoundLeaf
from treeplex.search.subgame_search import Subgames
from treeplex.search.subgames.batch import cut_states

LEDUC = public_tree("leduc_poker")


def first_round(rules: PublicTree, seed: int) -> tuple[Subgames, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The first round of some games, and random reaches at its ends, of two policies."""
    generator = np.random.default_rng(seed)
    subgames = cut(rules, [Belief.root(rules)] * 3, Horizon(rounds=1))
    assert isinstance(subgames, Subgames)
    drawn = [
        tuple(generator.random((len(subgames.leaves), width)) ** 3 * (generator.random(width) < 0.8) for width in (6, 6))
        for _ in range(2)
    ]
    return subgames, drawn[0], drawn[1]


@pytest.mark.parametrize("seed", range(3))
def test_exact_values_after_the_card_are_those_before_it(seed: int) -> None:
    subgames, believed, reached = first_round(LEDUC, seed)
    before, after = ExactLeaf(iterations=60), NextRoundLeaf(ExactLeaf(iterations=60))
    for said in (reached, believed):
        for expected, found in zip(before(subgames.leaves, said, reached), after(subgames.leaves, said, reached), strict=True):
            assert np.abs(expected).max() > 1
            assert found == pytest.approx(expected, abs=1e-6)


def test_one_players_values_are_asked_for_alone() -> None:
    subgames, believed, _ = first_round(LEDUC, 0)
    both = NextRoundLeaf(ExactLeaf(iterations=5))(subgames.leaves, believed, believed)
    for player in (0, 1):
        alone = NextRoundLeaf(ExactLeaf(iterations=5))(subgames.leaves, believed, believed, player)
        assert alone[player] == pytest.approx(both[player])


class NoSecondBets(LeducPublicTree):
    """Leduc poker that is over with the card."""

    def child(self, node: Hashable, action: int) -> LeducTable:
        after = super().child(node, action)
        assert isinstance(node, LeducTable)
        return after._replace(player=TERMINAL) if node.player == CHANCE else after


def test_payoffs_are_exact_where_the_card_ends_the_game() -> None:
    rules = NoSecondBets(leduc_poker())
    whole = SubgameSearch(cut(rules, [Belief.root(rules)]), METHODS["cfr+"], ZeroLeaf())
    parts = SubgameSearch(cut(rules, [Belief.root(rules)], Horizon(rounds=1)), METHODS["cfr+"], NextRoundLeaf(ZeroLeaf()))
    assert len(parts.subgame.leaves)
    assert not len(whole.subgame.leaves)
    for search in (whole, parts):
        search.run(50)
    assert parts.root_values()[0] == pytest.approx(whole.root_values()[0])
    assert parts.root_values()[1] == pytest.approx(whole.root_values()[1])


def test_places_after_a_deal_are_valued_themselves() -> None:
    whole = cut(LEDUC, [Belief.root(LEDUC)])
    assert isinstance(whole, Subgames)
    states = [
        state for state in whole.decisions.true_states if isinstance(state.node, LeducTable) and state.node.public_card >= 0
    ]
    places, generator = cut_states(LEDUC, states).roots, np.random.default_rng(4)
    reached = generator.random((len(states), 6)), generator.random((len(states), 6))
    exact, found = (
        leaf(places, reached, reached) for leaf in (ExactLeaf(iterations=5), NextRoundLeaf(ExactLeaf(iterations=5)))
    )
    for player in (0, 1):
        there = places.possible[player] > 0
        assert found[player][there] == pytest.approx(exact[player][there])
