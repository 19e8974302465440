"""Lemmas 1 and 2 of Brown et al. 2020 (appendix F), by linear programs: the value of a belief against a fixed policy is linear
in it, the value itself is the least of these, so it is concave."""

from itertools import pairwise

import numpy as np
import pytest

from tests.search.exact_values import PublicProgram
from tests.search.test_theory import DICE, program
from treeplex.forms.sources.load import public_tree
from treeplex.search import METHODS, Belief, NoLeaf, SubgameSearch
from treeplex.search.subgames.batch import cut_states

FixedPolicies = dict[tuple[int, ...], np.ndarray]
SHARES = (0.25, 0.5, 0.8)
TOLERANCE = 1e-7
"""Of linear programs."""


def beliefs(count: int, seed: int) -> np.ndarray:
    """Beliefs about player 0, float64 [count, H]; the other's stays as it was dealt."""
    return np.random.default_rng(seed).dirichlet(np.ones(3), size=count)


def response(whole: PublicProgram, belief: np.ndarray, fixed: FixedPolicies) -> float:
    """What player 0 gets by a best response to a policy of player 1."""
    return -whole.value((belief, np.full(3, 1 / 3)), 1, fixed)


def policies(whole: PublicProgram, seed: int) -> FixedPolicies:
    """Random policies of player 1 at all its decisions."""
    generator = np.random.default_rng(seed)
    return {
        path: generator.dirichlet(np.ones(len(made)), size=made.shape[1]).T
        for path, (player, made) in whole.decisions.items()
        if player == 1
    }


@pytest.mark.parametrize("seed", range(3))
def test_lemma_1_values_against_a_policy_are_linear_in_the_belief(seed: int) -> None:
    whole, (one, other) = program(DICE), beliefs(2, seed)
    fixed = policies(whole, seed)
    ends = response(whole, one, fixed), response(whole, other, fixed)
    assert abs(ends[0] - ends[1]) > 1e-3
    for share in SHARES:
        mixed = response(whole, share * one + (1 - share) * other, fixed)
        assert mixed == pytest.approx(share * ends[0] + (1 - share) * ends[1], abs=TOLERANCE)


def test_lemma_2_the_value_is_the_least_over_policies_and_concave() -> None:
    whole, flat, rules = program(DICE), np.full(3, 1 / 3), public_tree(DICE)
    points, bends = np.concatenate((beliefs(1, 5), np.eye(3))), []
    value = {tuple(point): whole.value((point, flat), 0) for point in points}
    for seed in range(3):
        fixed = policies(whole, seed)
        assert all(response(whole, point, fixed) > value[tuple(point)] for point in points)
    ranges = points[:1], flat[None]
    search = SubgameSearch(cut_states(rules, [Belief.root(rules).state]), METHODS["dcfr"], NoLeaf(), ranges)
    search.run(1000)
    average = search.average_policy()
    equilibrium = {path: search.policy_at(k, average) for k, path in enumerate(search.subgames.decisions.paths)}
    fixed = {path: policy for path, policy in equilibrium.items() if whole.decisions[path][0] == 1}
    assert response(whole, points[0], fixed) == pytest.approx(value[tuple(points[0])], abs=1e-4)  # attained by an equilibrium
    assert all(response(whole, point, fixed) > value[tuple(point)] - TOLERANCE for point in points)
    for one, other in pairwise(points):
        for share in SHARES:
            mixed = whole.value((share * one + (1 - share) * other, flat), 0)
            bends.append(mixed - share * value[tuple(one)] - (1 - share) * value[tuple(other)])
    assert min(bends) > -TOLERANCE  # a game where the value bends is in tests/papers/rebel/test_theory.py
