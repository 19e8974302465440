"""Exploitability descent: the slopes it climbs, the curve of its paper, and networks."""

import numpy as np
import pytest

from treeplex.base.arrays import Floats
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError
from treeplex.evaluate.judge import best_response, judge
from treeplex.forms.compile.views.matrix_form import payoff_matrix
from treeplex.forms.sources.load import load
from treeplex.learn.neural.gradients.ned import Ned


def learner(game: str, preset: str | None = None, **settings: object) -> Ned:
    return Ned(load(game), Ned.settings_class().changed(Ned.presets[preset] if preset else {}, settings))


def test_values_are_slopes_of_what_the_policy_is_worth_against_its_response() -> None:
    ned = learner("kuhn_poker", "table")
    game, tree = ned.compiled, ned.compiled.tree
    policy = ned.policy_of(np.random.default_rng(0).random(len(ned.current)))
    ned.current = policy.probabilities[ned.slots]
    values, worst = ned.values_against_responses()
    assert worst == pytest.approx(-2.0 * judge(game, policy).exploitability)  # zero-sum: what both are worth at worst

    def strategy_of(probabilities: Floats) -> Floats:
        strategy = np.empty_like(probabilities)
        for player in range(2):
            reach(tree, player, probabilities, strategy)
        return strategy

    def worth(probabilities: Floats, player: int) -> float:
        strategy, middle = strategy_of(probabilities), tree.sequence_offsets[1]
        value = strategy[:middle] @ payoff_matrix(game) @ strategy[middle:]
        return float(value if player == 0 else -value)

    own_reach = strategy_of(policy.probabilities)[tree.infoset_parent]
    for slot, sequence in enumerate(ned.slots):
        infoset = tree.sequence_infoset[sequence]
        player = game.player_of(infoset)
        against = best_response(game, policy, 1 - player)[1].probabilities
        moved = against.copy()
        moved[sequence] += 1.0  # worth is linear in each probability
        slope = worth(moved, player) - worth(against, player)
        assert own_reach[infoset] * values[slot] == pytest.approx(slope, abs=1e-12)


@pytest.mark.slow
def test_the_table_is_as_fast_as_the_paper_on_kuhn_poker() -> None:
    ned, found = learner("kuhn_poker", "table"), {}
    for step in range(1, 5001):
        ned.step()
        if step in (89, 5000):
            found[step] = 2.0 * ned.measure()["exploitability"]
    assert found[89] < 0.0055  # of the paper, at 90 iterations
    assert found[5000] < 0.001  # 0.00028 at 97,000


@pytest.mark.slow
def test_networks_descend() -> None:
    ned = learner("kuhn_poker", width=32, layers=2)
    before = ned.measure()["exploitability"]
    for _ in range(500):
        ned.step()
    assert ned.measure()["exploitability"] < 0.06 < 0.4 < before


def test_three_players_are_refused() -> None:
    with pytest.raises(AlgorithmError, match=r"ned supports only two-player games .* has 3 players"):
        learner("kuhn_poker(players=3)")
