"""Gadgets in front of a subgame's roots: their treeplexes, every method on them, and what they refuse."""

import numpy as np
import pytest

from tests.coin_toss import toss_rules
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError
from treeplex.search import METHODS, Belief, NoLeaf, SubgameSearch
from treeplex.search.subgames.cut import cut
from treeplex.search.subgames.gadgets import GADGETS, Gadget, Maxmargin, Resolve
from treeplex.search.subgames.level import Level
from treeplex.search.warm_start.begin import start_warm

MASS = np.array([[0.5, 0.0, 0.25], [1.0, 2.0, 0.0]])
CARRIED = np.array([[1.0, np.nan, 2.0], [3.0, 4.0, np.nan]])


def guess(kind: type[Gadget], method: str, carried: tuple[float, float], iterations: int) -> SubgameSearch:
    """Player 1 of the coin toss solves its guess again."""
    rules = toss_rules()
    belief = Belief.root(rules).after(1, np.full((2, 2), 0.5))
    search = SubgameSearch(cut(rules, [belief], gadget=kind(1, np.array([carried]))), METHODS[method], NoLeaf())
    search.run(iterations)
    return search


def test_resolving_asks_each_hand() -> None:
    front = Resolve(0, CARRIED).front(MASS)
    assert front.blocks == [(4, 2)]
    assert front.doors.tolist() == [[5, -1, 6], [7, 8, -1]]
    assert front.payoffs.tolist() == [0, 1, 2, 3, 4, 0, 0, 0, 0]
    assert front.shares.tolist() == [[1, 0, 1], [1, 1, 0]]


def test_maxmargin_asks_for_a_hand() -> None:
    front = Maxmargin(0, CARRIED).front(MASS)
    assert front.blocks == [(1, 2), (1, 2)]
    assert front.doors.tolist() == [[1, -1, 2], [3, 4, -1]]
    assert front.payoffs.tolist() == [0, -1, -2, -3, -4]
    assert front.shares.tolist() == [[2, 0, 4], [1, 0.5, 0]]


def test_a_level_of_decisions() -> None:
    level = Level([(2, 2), (1, 3)])
    values = np.array([0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 4.0, 7.0])
    assert level.strategy[1:] == pytest.approx([0.5] * 4 + [1 / 3] * 3)
    assert level.improve(values.copy(), Weights()) == pytest.approx([2.0, 1.0, 4.0])
    assert level.policy[1:] == pytest.approx([0, 1, 1, 0, 0, 0, 1])
    assert level.respond(-values) == pytest.approx([-1.0, 0.0, -1.0])
    assert level.strategy.tolist() == [1, 1, 0, 0, 1, 1, 0, 0]


@pytest.mark.quick_cases(
    "Resolve-cfr+",
    "Resolve-lcfr",
    "Resolve-dcfr",
    "Resolve-pcfr+",
    "Resolve-pdcfr",
    "Resolve-dcfr+",
    "Resolve-pdcfr+",
    "Resolve-hs-dcfr",
    "Resolve-cfr-avg",
    "Resolve-dcfr+-simultaneous",
    "Resolve-cfr-avg-simultaneous",
    "Maxmargin-cfr+",
    "Maxmargin-pcfr+",
    "Maxmargin-lcfr-avg",
    "Maxmargin-linear-fp",
    "Maxmargin-flop",
    "Maxmargin-linear-fp-simultaneous",
)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", GADGETS.values())
def test_every_method_solves_the_coin_toss(kind: type[Gadget], method: str) -> None:
    """From the equilibrium's promises, 0.5 for heads and -0.5 for tails, only the equilibrium remains.

    HS-DCFR's average is little more than its last iterations, which circle if updates are simultaneous.
    """
    search, near = guess(kind, method, (0.5, -0.5), 1000), 0.06 if method == "hs-dcfr-simultaneous" else 0.04
    assert search.policy_at(0, search.average_policy())[:, 0] == pytest.approx([0.25, 0.75], abs=near)


def test_the_margins_are_balanced() -> None:
    """Promises with room to spare: resolving takes any answer that keeps them, maxmargin the one that keeps most."""
    search = guess(Maxmargin, "cfr+", (0.5, 0.0), 1000)
    got = search.root_values()[0][0]
    assert np.array([0.5, 0.0]) - got == pytest.approx([0.25, 0.25], abs=0.01)
    assert np.isnan(search.root_values()[1]).all()
    resolved = guess(Resolve, "cfr+", (0.5, 0.0), 1000).root_values()[0][0]
    assert (resolved <= np.array([0.5, 0.0]) + 0.01).all()


@pytest.mark.parametrize("kind", GADGETS.values())
def test_what_is_refused(kind: type[Gadget]) -> None:
    with pytest.raises(AlgorithmError, match=r"no alternative value for hand 1 of player 0 at \(1,\); compute carried with"):
        guess(kind, "cfr+", (0.5, np.nan), 1)
    rules = toss_rules()
    belief = Belief.root(rules).after(1, np.full((2, 2), 0.5))
    for gadget, words in (
        (kind(1, np.zeros(2)), r"carried has shape \(2,\), but 1 roots with 2 hands of player 0 need \(1, 2\)"),
        (kind(2, np.zeros((1, 2))), "player is 2; give 0 or 1"),
    ):
        with pytest.raises(AlgorithmError, match=words):
            SubgameSearch(cut(rules, [belief], gadget=gadget), METHODS["cfr+"], NoLeaf())


def test_what_knows_no_gadgets() -> None:
    search = guess(Resolve, "cfr+", (0.5, -0.5), 0)
    with pytest.raises(AlgorithmError, match="a warm start supports neither gadgets nor choices of continuations at leaves"):
        start_warm(search, lambda *_: None, 3)
