"""Small decks are compiled from public states and hands; the result is that of walking every history."""

from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import compiled_numbers, grown, harvested, histories_of
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import Policy
from treeplex.games.registry import load
from treeplex.holdem.whole.public_tree import HoldemTree, small_tree

GAMES = (
    "holdem(ranks=3,suits=2,hole=1,deal=[0;1],stack=6,sizes=[100%;a])",
    "holdem(ranks=3,suits=2,hole=1,deal=[0;2],stack=4,sizes=[a])",
    "holdem(ranks=3,suits=2,hole=2,deal=[0;1],stack=4,sizes=[a],ranking=three)",
    "holdem(ranks=4,suits=2,hole=1,deal=[0;1],stack=[6;9],ante=[0;1],sizes=[100%;a])",
    "holdem(ranks=3,suits=2,hole=1,deal=[0;1;1],stack=5,ante=1,sizes=[a],dealer=0,rules=acpc)",
    "holdem(ranks=3,suits=2,hole=1,deal=[0;1],stack=12,bets=[2;4])",
)


def random_policy(game: CompiledGame) -> Policy:
    """A policy whose probabilities depend only on infostate and action."""
    policy = Policy.uniform(game)
    for infoset, infostate in enumerate(game.infostates):
        places = game.sequences_at(infoset)
        weights = np.array([1 + crc32(f"{infostate} {action}".encode()) % 1000 for action in game.actions_at(infoset)], float)
        policy.probabilities[places] = weights / weights.sum()
    return policy


def in_step(one: Histories, other: Histories) -> None:
    """Compare two trees history by history, whatever the histories' numbers are."""
    assert len(one.nodes) == len(other.nodes)
    pairs: list[tuple[int, int]] = [(0, 0)]
    while pairs:
        x, y = pairs.pop()
        mine, their = one.nodes[x].tolist(), other.nodes[y].tolist()
        assert (mine[ACTOR], mine[CHILDREN]) == (their[ACTOR], their[CHILDREN])
        if mine[ACTOR] == TERMINAL:
            np.testing.assert_array_equal(one.payoffs[mine[KEY]], other.payoffs[their[KEY]])
        elif mine[ACTOR] == CHANCE:
            chances = [tree.chance[row[KEY] : row[KEY] + row[CHILDREN]] for tree, row in ((one, mine), (other, their))]
            np.testing.assert_allclose(*chances, rtol=1e-12)
        else:
            assert mine[KEY] == their[KEY]
        pairs.extend((mine[CHILD] + step, their[CHILD] + step) for step in range(mine[CHILDREN]))


def walked(game: CompiledGame) -> Histories:
    """The histories of a compiled game from a walk over its rules."""
    assert game.rules is not None
    growth = grown(game.rules, True, 1_000_000, None)
    histories, numbers = harvested(growth).histories, compiled_numbers(game, growth)
    nodes: NDArray[np.int32] = histories.nodes.copy()
    decisions = nodes[:, ACTOR] >= 0
    nodes[decisions, KEY] = numbers[nodes[decisions, KEY]]
    return histories._replace(nodes=nodes)


@pytest.mark.parametrize("spec", GAMES)
def test_compiled_game_equals_the_walk(spec: str) -> None:
    rules = load(spec)
    assert isinstance(rules.compilation_tree(), HoldemTree)
    one, other = compile_game(rules), compile_rules(rules)
    assert one.size == other.size
    assert {*one.lookup} == {*other.lookup}
    for key, infoset in one.lookup.items():
        assert tuple(one.actions_at(infoset)) == tuple(other.actions_at(other.lookup[key]))
    assert one.action_names == other.action_names
    mine, their = (judge(game, random_policy(game)) for game in (one, other))
    np.testing.assert_allclose(mine.value, their.value, atol=1e-12)
    assert mine.exploitability == pytest.approx(their.exploitability, abs=1e-12)


@pytest.mark.parametrize("spec", [GAMES[0], *GAMES[3:], "no_limit_leduc"])
def test_histories_equal_the_walk(spec: str) -> None:
    tree = load(spec).compilation_tree()
    assert tree is not None
    assert tree.deals_hands
    game = compile_game(load(spec))
    in_step(histories_of(game), walked(game))


@pytest.mark.parametrize(
    "spec",
    ["holdem", "holdem(ranks=3,suits=2,hole=1,deal=[0;1],stack=6,rake=0.05)", "holdem(players=3,ranks=4,hole=1,deal=[0;1])"],
)
def test_other_games_have_no_such_tree(spec: str) -> None:
    game = load(spec)
    assert small_tree(game) is None  # type: ignore[arg-type]
    assert game.compilation_tree() is None
