"""Lemma 3, theorem 2 and the figures beside it, on small numbers of iterations."""

import numpy as np
import pytest

from papers.rebel import theory
from tests.search.exact_values import PublicProgram
from treeplex.forms.sources.load import public_tree
from treeplex.search import METHODS, Belief, LeafValue, SubgameSearch
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Ranges

RULES = public_tree(theory.GAME)


def passed() -> Belief:
    """A public belief state that is not the root: player 0 passed, its hands in other shares than its opponent's."""
    return Belief.root(RULES).after(0, np.array([[0.9, 0.5, 0.2], [0.1, 0.5, 0.8]]))


def searched(belief: Belief, leaf: LeafValue, iterations: int) -> SubgameSearch:
    """A search of one action from there."""
    ranges = belief.ranges[0][None], belief.ranges[1][None]
    search = SubgameSearch(cut_states(RULES, [belief.state], Horizon(1)), METHODS["cfr"], leaf, ranges, horizon=iterations)
    search.run(iterations)
    return search


def sampled(belief: Belief, episodes: int) -> Ranges:
    """What the approximator that keeps the latest sample says of a belief after episodes of algorithm 1 that begin there."""
    values, generator = theory.Latest(), np.random.default_rng(0)
    for _ in range(episodes):
        reached: Belief | None = belief
        while reached is not None:
            reached = theory.self_play(RULES, reached, values, generator)
    ranges = belief.ranges[0][None], belief.ranges[1][None]
    first, second = values.samples[theory.key(belief.state, ranges, 0)]
    return first, second


def test_lemma_3_algorithm_1_learns_the_values_of_nested_searches_at_any_belief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand by hand, as its proof has it: every call of the network is CFR-D of what follows; not so after one episode."""
    monkeypatch.setattr(theory, "LITERAL", 2)
    expected = searched(passed(), theory.NestedSearchLeaf(1, 2, "cfr"), 2).root_values()
    early, late = sampled(passed(), 1), sampled(passed(), 100)
    for player in (0, 1):
        assert late[player] == pytest.approx(expected[player][0], abs=1e-12)
    assert max(np.abs(early[player] - expected[player][0]).max() for player in (0, 1)) > 1e-3


def test_lemma_3_they_are_those_of_an_equilibrium_up_to_the_root_of_the_iterations() -> None:
    belief, gaps = passed(), []
    exact = PublicProgram(RULES, belief.state).value(belief.ranges)
    for count in (4, 16, 64):
        first, second = searched(belief, theory.NestedSearchLeaf(1, count, "cfr"), count).mean_values()
        gaps.append(max(abs(float(first[0]) - exact), abs(float(second[0]) + exact)))
        assert gaps[-1] * count**0.5 < 0.2
    assert gaps[0] > 0.05 > gaps[1] > gaps[2]


def test_theorem_2_algorithm_1_comes_to_what_nested_searches_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """The approximator that keeps the latest sample, 0 at first, on Kuhn poker with T = 2."""
    monkeypatch.setattr(theory, "LITERAL", 2)
    monkeypatch.setattr(theory, "EPISODES", 3)
    early = theory.literal()
    monkeypatch.setattr(theory, "EPISODES", 150)
    found = theory.literal()
    assert found["gap"] < 1e-12 < early["gap"]
    assert found["policies"] < 1e-12


@pytest.mark.slow
def test_theorem_2_errors_fall_as_the_root_of_the_iterations() -> None:
    few, many = (theory.errors(2, count, "cfr")["leaves"] for count in (4, 8))
    assert few > 0.05
    assert many < few / 2**0.5


@pytest.mark.slow
def test_figure_1b_equilibrium_values_do_not_tell_actions_apart() -> None:
    found = theory.one_ply()
    plain, right = found["equilibrium values"], found["values of beliefs"]
    assert plain["values"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert plain["loses"] == pytest.approx(1 / 3)
    assert right["policy"] == pytest.approx([0.4, 0.4, 0.2], abs=0.03)
    assert right["loses"] < 0.05


def test_figure_3_the_value_is_the_lower_of_two_lines() -> None:
    found = theory.coin()
    assert found["whole"][0] == pytest.approx(-np.abs(1 - 2 * theory.CHANCES), abs=1e-3)
    assert theory.above(found) < 1e-6
