"""Q-learning against fixed play: with a table it finds best responses and what they are worth."""

import numpy as np
import pytest

from treeplex.evaluate.judge import best_response, judge
from treeplex.forms.policies.heads import best_rows
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load
from treeplex.learn.neural.responses.psro import PSRO


@pytest.mark.slow_cases("2-network")
@pytest.mark.parametrize("approximator", ["table", "network"])
@pytest.mark.parametrize("player", [0, 1, 2])
def test_learned_responses_are_best_ones(player: int, approximator: str) -> None:
    words = {"oracle": "learned", "approximator": approximator, "plays": 4000, "explore": 0.5, "meta": "uniform", "batches": 12}
    psro = PSRO(load("kuhn_poker(players=3)"), PSRO.settings_class().changed(words))
    policy = psro.policy_of(np.random.default_rng(player).random(len(psro.slots)))
    response = psro.pools.learned(player, policy)  # type: ignore[attr-defined]
    own = psro.sequences_of(player)
    learned = policy.probabilities.copy()
    learned[own] = response[own]
    learned = Policy(psro.compiled, learned)
    best, _ = best_response(psro.compiled, policy, player)
    assert judge(psro.compiled, learned).value[player] == pytest.approx(best, abs=0.02)
    assert judge(psro.compiled, policy).value[player] < best - 0.1


def test_of_equal_values_the_first_is_best() -> None:
    values = np.array([[1.0, 1.0, 9.0], [0.0, 3.0, 3.0], [-1.0, 0.0, 0.0]])
    legal = np.array([[True, True, False], [True, True, True], [True, False, False]])
    assert best_rows(values, legal).argmax(axis=1).tolist() == [0, 1, 0]
