"""Policies up to symmetry are worth the same in the game itself."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import PolicyError
from treeplex.forms.policies.unfold import unfold


@pytest.mark.parametrize(
    "spec",
    [
        "phantom_ttt(rows=2,columns=2,line=2,symmetric=true)",
        "phantom_ttt(gameversion=abrupt,rows=2,columns=2,line=2,symmetric=true)",
        "phantom_ttt(rows=2,columns=3,line=2,symmetric=true)",
        "dark_hex(board_size=2,gameversion=adh,symmetric=true)",
        pytest.param("phantom_ttt(symmetric=true)", marks=pytest.mark.slow),
    ],
)
def test_value_and_exploitability_are_the_same(spec: str) -> None:
    game, generator = tp.compile(spec), np.random.default_rng(7)
    policy = tp.solve(game, "cfr+", iterations=3).policy
    weights = policy.probabilities * generator.random(len(policy.probabilities)) ** 2 + 1e-3
    weights[game.tree.sequence_offsets[:-1]] = 1.0
    for first, _, many, actions in game.tree.blocks.tolist():
        block = weights[first : first + many * actions].reshape(actions, many)
        block /= block.sum(axis=0)
    policy = tp.Policy(game, weights)
    whole = unfold(policy).game
    here, there = tp.judge(game, policy), tp.judge(whole, unfold(policy, whole))
    assert there.value == pytest.approx(here.value, abs=1e-9)
    assert there.gains == pytest.approx(here.gains, abs=1e-9)


def test_nothing_to_unfold() -> None:
    with pytest.raises(PolicyError, match="not a phantom game with symmetric=true"):
        unfold(tp.Policy.uniform(tp.compile("kuhn_poker")))


def test_the_whole_game_is_that_of_the_policy() -> None:
    policy = tp.Policy.uniform(tp.compile("phantom_ttt(rows=2,columns=2,line=2,symmetric=true)"))
    with pytest.raises(PolicyError, match=r"unfolds to phantom_ttt\(rows=2,columns=2,line=2\), not to dark_hex"):
        unfold(policy, tp.compile("dark_hex(board_size=2)"))
