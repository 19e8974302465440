"""Regrets of infostates against the oracle, and the bound they give."""

import numpy as np
import pytest
from hypothesis import given

from tests import oracle
from tests.compiled_view import policy_of
from tests.random_games import SEEDS, STEADY, RandomGame, games
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import PolicyError
from treeplex.evaluate import infostate_regrets, judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import Policy
from treeplex.solvers import make_solver


@STEADY
@given(games(), SEEDS)
def test_against_the_oracle(rules: RandomGame, seed: int) -> None:
    root, game = oracle.grow(rules), compile_rules(rules)
    table = oracle.random_policy(root, np.random.default_rng(seed))
    policy = policy_of(game, table)
    regrets = infostate_regrets(game, policy)
    assert len(regrets) == len(game.infostates)
    gains = np.subtract(judge(game, policy).best_response_values, judge(game, policy).value)
    offsets = game.tree.infoset_offsets
    for player in range(game.players):
        for key, values in oracle.counterfactual_values(root, table, player).items():
            expected = values.max() - values @ list(table[key].values())
            assert regrets[game.lookup[key]] == pytest.approx(expected, abs=1e-12)
        total = regrets[offsets[player] : offsets[player + 1]].sum()
        assert gains[player] <= total + 1e-12, "Zinkevich et al. 2007, Theorem 3"


def test_none_on_the_way_at_an_equilibrium() -> None:
    """Where a player never comes by its own play, an equilibrium may leave regret."""
    game = compile_game("liars_dice(dice_sides=3)")
    solver = make_solver(game, "cfr+")
    assert infostate_regrets(game, solver.average_policy()).max() > 0.01
    solver.run(5000)
    policy = solver.average_policy()
    strategy = np.empty_like(policy.probabilities)
    for player in (0, 1):
        reach(game.tree, player, policy.probabilities, strategy)
    played = strategy[game.tree.infoset_parent] > 0.01
    assert 50 < played.sum() < 192
    assert infostate_regrets(game, policy)[played].max() < 1e-4


def test_a_policy_of_another_game() -> None:
    with pytest.raises(PolicyError, match="this is a policy for kuhn_poker"):
        infostate_regrets(compile_game("leduc_poker"), Policy.uniform(compile_game("kuhn_poker")))
