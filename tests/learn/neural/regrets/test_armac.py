"""ARMAC: with tables its critic is exact and its policies are CFR's, up to what sampling leaves."""

import numpy as np
import pytest

from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.heads import matched_rows
from treeplex.forms.sources.load import load
from treeplex.learn.neural.regrets.armac import Armac


def learner(game: str, **settings: object) -> Armac:
    return Armac(load(game), Armac.settings_class().changed(settings))


def test_advantages_of_past_policies_are_exact_with_a_table() -> None:
    armac = learner("kuhn_poker", approximator="table", plays=500)
    for _ in range(4):
        armac.step()
    nodes, payoffs, chance = armac.histories.nodes, armac.histories.payoffs, armac.histories.chance

    def worth(node: int, policy: np.ndarray) -> float:
        """Of player 0."""
        actor, child, count, key = nodes[node, [ACTOR, CHILD, CHILDREN, KEY]]
        if actor == TERMINAL:
            return float(payoffs[key, 0])
        shares = chance[key : key + count] if actor == CHANCE else policy[armac.first[key] : armac.first[key + 1]]
        return float(sum(share * worth(child + number, policy) for number, share in enumerate(shares)))

    assert len(armac.past.policies) == 4
    for policy, advantages in zip(armac.past.policies, armac.past.values, strict=True):
        for node in armac.critic.nodes.tolist():
            sign, here = 1.0 if nodes[node, ACTOR] == 0 else -1.0, worth(node, policy)
            children = range(int(nodes[node, CHILD]), int(nodes[node, CHILD] + nodes[node, CHILDREN]))
            expected = [sign * (worth(child, policy) - here) for child in children]
            first = armac.critic.edge[node]
            np.testing.assert_allclose(advantages[first : first + len(expected)] * armac.scale, expected, atol=1e-5)


@pytest.mark.slow
def test_with_tables_and_many_episodes_the_next_policy_is_cfrs() -> None:
    armac = learner("kuhn_poker", approximator="table", plays=400_000, memory=200_000, critic_memory=2000)
    game = armac.compiled
    tree, (values, infoset_values, _), regrets = game.tree, workspace(game.tree), np.zeros(len(armac.slots))
    for _ in range(5):
        policy = armac.infosets.table(armac.strategy(armac.infosets))
        strategy = armac.infosets.strategy(policy)
        for player in range(2):
            gradient(tree, game.payoff, player, strategy, values)
            backup(tree, player, policy, values, infoset_values)
        regrets += values[armac.slots] - np.repeat(infoset_values, np.diff(armac.first))
        armac.step()
        clear = np.repeat(np.maximum.reduceat(np.abs(regrets), armac.first[:-1]) > 0.03, np.diff(armac.first))
        assert clear.mean() > 0.6
        legal, matrix = armac.infosets.legal, np.zeros(armac.infosets.legal.shape)
        matrix[legal] = regrets
        found, wanted = armac.strategy(armac.infosets)[legal], matched_rows(matrix, legal)[legal]
        np.testing.assert_allclose(found[clear], wanted[clear], atol=0.06)


def test_networks_follow() -> None:
    words = {"plays": 500, "memory": 2000, "width": 32, "layers": 2, "rate": 0.005, "critic_memory": 2000}
    armac = learner("kuhn_poker", fits=8, critic_fits=8, **words)
    before = armac.measure()["exploitability"]
    for _ in range(25):
        armac.step()
    assert armac.measure()["exploitability"] < 0.25 < 0.4 < before


def test_of_many_past_policies_a_uniform_sample_is_kept() -> None:
    armac = learner("kuhn_poker", approximator="table", plays=20, memory=100, past=8)
    for _ in range(40):
        armac.step()
    assert armac.past.policies.shape == (8, len(armac.slots))
    assert armac.past.values.shape[0] == 8
    assert len(np.unique(armac.past.policies, axis=0)) > 4


def test_a_share_of_all_rows_is_fitted_where_it_is_more_than_the_memory() -> None:
    kept = []
    for share in (0.0, 0.5, 1.0):
        armac = learner("kuhn_poker", approximator="table", plays=400, memory=100, share=share)
        for _ in range(10):
            armac.step()
        kept.append([len(memory) for memory in (*armac.regret_rows, *armac.average_rows)])
    few, half, whole = kept
    assert few == [100] * 4
    assert all(0.4 < some / most < 0.6 for some, most in zip(half, whole, strict=True))


def test_three_players_are_refused() -> None:
    with pytest.raises(AlgorithmError, match=r"armac supports only two-player games .* has 3 players"):
        learner("kuhn_poker(players=3)")
