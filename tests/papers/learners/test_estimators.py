"""Policy gradient estimators against an enumeration of all episodes of OpenSpiel's tiny Hanabi, and against derivatives."""

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from papers.learners.estimators import ESTIMATORS, estimator_moments
from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.evaluate.judge import judge
from treeplex.forms.policies.tabular import Policy

TINY_HANABI = "openspiel:tiny_hanabi"


def softmax_policy(game: tp.CompiledGame, logits: Floats) -> Policy:
    """The policy with logits [Q]."""
    probabilities = np.ones(len(logits))
    for infoset in range(len(game.infostates)):
        at = game.sequences_at(infoset)
        weights = np.exp(logits[at] - logits[at].max())
        probabilities[at] = weights / weights.sum()
    return Policy(game, probabilities)


def drawn_policy(spec: str, seed: int) -> Policy:
    """A policy whose logits are standard normal, infoset by infoset."""
    game, generator = tp.compile(spec), np.random.default_rng(seed)
    logits = np.zeros(len(game.action_ids))
    for infoset in range(len(game.infostates)):
        at = game.sequences_at(infoset)
        logits[at] = generator.normal(size=len(at))
    return softmax_policy(game, logits)


def by_enumeration(policy: Policy, estimator: str) -> tuple[Floats, float]:
    """Mean and total variance over the 36 episodes of tiny Hanabi, from OpenSpiel's rules alone."""
    pyspiel = pytest.importorskip("pyspiel")
    game = policy.game
    episodes: list[tuple[float, Floats]] = []

    def value(state: Any) -> float:
        if state.is_terminal():
            return float(state.returns()[0])
        if state.is_chance_node():
            return float(sum(chance * value(state.child(action)) for action, chance in state.chance_outcomes()))
        return sum(p * value(state.child(action)) for action, p in policy.action_probabilities(state).items())

    def walk(state: Any, reached: float, taken: list[tuple[Any, int]]) -> None:
        if state.is_terminal():
            estimate = np.zeros(len(game.action_ids))
            for before, action in taken:
                infoset = game.lookup[before.current_player(), before.information_state_string()]
                at, p = game.sequences_at(infoset), policy.action_probabilities(before)
                worth = value(before.child(action)) if estimator == "coma" else float(state.returns()[before.current_player()])
                baseline = 0.0 if estimator == "reinforce" else sum(p[b] * value(before.child(b)) for b in p)
                estimate[at] += (worth - baseline) * (np.array(list(p)) == action)
                estimate[at] -= (worth - baseline) * np.array(list(p.values()))
            episodes.append((reached, estimate))
        elif state.is_chance_node():
            for action, chance in state.chance_outcomes():
                walk(state.child(action), reached * chance, taken)
        else:
            for action, share in policy.action_probabilities(state).items():
                walk(state.child(action), reached * share, [*taken, (state, action)])

    walk(pyspiel.load_game("tiny_hanabi").new_initial_state(), 1.0, [])
    mean = np.sum([reached * estimate for reached, estimate in episodes], axis=0)
    return mean, float(sum(reached * np.sum((estimate - mean) ** 2) for reached, estimate in episodes))


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_tiny_hanabi_episode_by_episode(estimator: str) -> None:
    policy = drawn_policy(TINY_HANABI, 0)
    mean, variance = by_enumeration(policy, estimator)
    found = estimator_moments(policy, estimator)
    np.testing.assert_allclose(found.mean, mean, atol=1e-14)
    assert found.variance == pytest.approx(variance, rel=1e-12)


def test_one_mean_and_less_variance() -> None:
    pytest.importorskip("pyspiel")
    policy = drawn_policy(TINY_HANABI, 0)
    found = {estimator: estimator_moments(policy, estimator) for estimator in ESTIMATORS}
    np.testing.assert_allclose(found["coma"].mean, found["reinforce"].mean, atol=1e-12)
    variances = {estimator: round(each.variance, 1) for estimator, each in found.items()}
    assert variances == {"reinforce": 34.5, "value": 19.2, "coma": 11.8}


@pytest.mark.parametrize("spec", ["kuhn_poker", "kuhn_poker(players=3)", "matrix(rows=[[1,2],[3,0]],second=[[0,4],[1,2]])"])
def test_the_mean_is_the_derivative_of_each_players_payoff(spec: str) -> None:
    policy, step = drawn_policy(spec, 1), 1e-5
    game, logits = policy.game, np.log(policy.probabilities)
    for estimator in ESTIMATORS:
        mean = estimator_moments(policy, estimator).mean
        for infoset in range(0, len(game.infostates), 3):
            player = game.player_of(infoset)
            for sequence in game.sequences_at(infoset).tolist():
                payoffs = []
                for sign in (1, -1):
                    moved = logits.copy()
                    moved[sequence] += sign * step
                    payoffs.append(judge(game, softmax_policy(game, moved)).value[player])
                assert mean[sequence] == pytest.approx((payoffs[0] - payoffs[1]) / (2 * step), abs=1e-8)


def test_unknown_estimators_are_refused() -> None:
    with pytest.raises(AlgorithmError, match="unknown estimator 'comma'"):
        estimator_moments(drawn_policy("kuhn_poker", 0), "comma")
