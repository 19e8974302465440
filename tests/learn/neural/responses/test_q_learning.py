"""Q-learning against fixed play: with a table it finds best responses and what they are worth."""

import numpy as np
import pytest

from treeplex.evaluate.judge import best_response, judge
from treeplex.forms.sources.load import load
from treeplex.learn.neural.responses.psro import PSRO
from treeplex.learn.neural.responses.q_learning import best_slots


@pytest.mark.slow_cases("2-network")
@pytest.mark.parametrize("approximator", ["table", "network"])
@pytest.mark.parametrize("player", [0, 1, 2])
def test_learned_responses_are_best_ones(player: int, approximator: str) -> None:
    words = {"oracle": "learned", "approximator": approximator, "plays": 4000, "explore": 0.5, "meta": "uniform", "batches": 12}
    psro = PSRO(load("kuhn_poker(players=3)"), PSRO.settings_class().changed(words))
    policy = psro.policy_of(np.random.default_rng(player).random(len(psro.slots)))
    learned = psro.policy_of(psro.learned(player, policy))
    best, _ = best_response(psro.compiled, policy, player)
    assert judge(psro.compiled, learned).value[player] == pytest.approx(best, abs=0.02)
    assert judge(psro.compiled, policy).value[player] < best - 0.1


def test_of_equal_values_the_first_is_best() -> None:
    first = np.array([0, 2, 5, 6])
    assert best_slots(first, np.array([1.0, 1.0, 0.0, 3.0, 3.0, -1.0])).tolist() == [0, 3, 5]
