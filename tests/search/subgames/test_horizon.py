"""Where depth-limited subgames end."""

from collections.abc import Hashable

import pytest

from treeplex.errors import SpecError
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import Chance, Decision, PublicTree, Terminal
from treeplex.search.subgames.batch import Subgames, cut_states
from treeplex.search.subgames.horizon import Horizon

DICE = public_tree("liars_dice(dice_sides=3)")
LEDUC = public_tree("leduc_poker")


def nodes(rules: PublicTree, node: Hashable) -> int:
    """Public nodes from here on."""
    visited = rules.visit(node)
    if isinstance(visited, Terminal):
        return 1
    labels = [label for label, _ in visited.outcomes] if isinstance(visited, Chance) else visited.actions
    return 1 + sum(nodes(rules, rules.child(node, label)) for label in labels)


def whole(rules: PublicTree, horizon: Horizon) -> Subgames:
    return cut_states(rules, [rules.first_state()], horizon)


@pytest.mark.parametrize("endgame", [1, 4, 8, 16])
def test_an_endgame_is_not_cut_off_and_all_else_is(endgame: int) -> None:
    leaves = whole(DICE, Horizon(2)).leaves.states
    kept = whole(DICE, Horizon(2, endgame=endgame))
    large = [state for state in leaves if nodes(DICE, state.node) > endgame]
    assert [state.node for state in kept.leaves.states] == [state.node for state in large]
    assert any(len(path) > 2 for path in kept.decisions.paths) == (len(large) < len(leaves) and endgame > 2)


def test_a_large_endgame_is_the_whole_game() -> None:
    largest = nodes(DICE, DICE.child(DICE.root, 0))  # after the lowest bid
    assert len(whole(DICE, Horizon(1, endgame=largest - 1)).leaves) == 1
    kept = whole(DICE, Horizon(1, endgame=largest))
    assert not len(kept.leaves)
    assert len(kept.decisions) == len(whole(DICE, Horizon()).decisions)


def test_rounds_end_where_chance_shows_something() -> None:
    subgames = whole(LEDUC, Horizon(rounds=True))
    assert len(subgames.leaves) == 5  # check-check, and bets or raises called after a bet or a check
    assert all(isinstance(LEDUC.visit(state.node), Chance) for state in subgames.leaves.states)
    assert all(isinstance(LEDUC.visit(state.node), Decision) for state in subgames.decisions.states)
    below = cut_states(LEDUC, subgames.leaves.states[:1], Horizon(rounds=True))
    assert not len(below.leaves)
    assert len(whole(LEDUC, Horizon(1, rounds=True)).leaves) == 2


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"depth": 1.5}, {"endgame": -1}, {"endgame": 0.5}])
def test_what_is_no_horizon(wrong: dict[str, int]) -> None:
    with pytest.raises(SpecError, match=next(iter(wrong))):
        Horizon(**wrong)
