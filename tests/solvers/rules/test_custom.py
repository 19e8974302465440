"""Rules of one's own: the four operations from Python give what the fused kernel gives."""

from typing import Any

import numpy as np
import pytest

from tests.random_games import RandomGame
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.solvers import Rule, Step, make_solver


def regret_matching_plus(step: Step) -> np.ndarray:
    step.memory[0] = np.maximum(step.memory[0] + step.regrets, 0.0)
    return step.memory[0]


@pytest.mark.slow_cases("kuhn_poker-1.0-alternating")
@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("gamma", [1.0, 2.5])
@pytest.mark.parametrize("game", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker"])
def test_regret_matching_plus_is_cfr_plus(game: str, gamma: float, updates: str) -> None:
    compiled = compile_game(game)
    own = make_solver(compiled, Rule("rm+", regret_matching_plus, gamma=gamma), updates=updates)
    built_in = make_solver(compiled, f"cfr+(gamma={gamma})", updates=updates)
    for _ in range(3):
        own.run(4)
        built_in.run(4)
        np.testing.assert_allclose(
            own.average_policy().probabilities, built_in.average_policy().probabilities, rtol=1e-9, atol=1e-9
        )
    assert own.algorithm == "rm+"
    assert own.iteration == 12


def test_what_a_step_holds() -> None:
    game = compile_rules(RandomGame(44, players=3, depth=6))
    seen: list[Step] = []

    def watch(step: Step) -> np.ndarray:
        seen.append(step)
        step.memory[1] += 1
        return np.ones_like(step.regrets)

    make_solver(game, Rule("watch", watch, rows=2)).run(2)
    assert [(step.t, step.player) for step in seen] == [(t, player) for t in (1, 2) for player in range(3)]
    for step in seen:
        start, end = game.tree.sequence_offsets[step.player : step.player + 2]
        assert all(len(array) == end - start for array in (step.values, step.regrets, step.policy))
        assert step.memory.shape == (2, end - start)
        assert step.regrets[0] == 0.0
        infoset = game.tree.sequence_infoset[start:end]
        weighted = np.bincount(infoset[1:], step.regrets[1:] * step.policy[1:])
        np.testing.assert_allclose(weighted, 0.0, atol=1e-12)
    assert (seen[-1].memory[1] == 2).all()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (lambda step: step.regrets - 1.0, r"rule 'bad' must return weights >= 0 of shape \(13,\); at iteration 1"),
        (lambda step: np.full_like(step.regrets, np.nan), "minimum nan"),
        (lambda step: np.ones(3), r"it returned shape \(3,\)"),
    ],
)
def test_bad_weights(weights: object, message: str) -> None:
    with pytest.raises(AlgorithmError, match=message):
        make_solver(compile_game("kuhn_poker"), Rule("bad", weights)).run(1)  # type: ignore[arg-type]


def test_infinite_weights() -> None:
    rule = Rule("bad", lambda step: np.full_like(step.regrets, np.inf))
    with pytest.raises(AlgorithmError, match="maximum inf"):
        make_solver(compile_game("kuhn_poker"), rule).run(1)


def test_a_rule_that_returns_no_numbers() -> None:
    with pytest.raises(AlgorithmError, match=r"rule 'none' must return an array of weights >= 0, not '{}'"):
        make_solver(compile_game("kuhn_poker"), Rule("none", lambda step: {})).run(1)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rows": -1}, "rule 'bad': rows must be an integer from 0, not -1"),
        ({"rows": 1.5}, "rows must be an integer from 0, not 1.5"),
        ({"gamma": float("nan")}, "gamma must be a finite number from 0, not nan"),
        ({"gamma": -1.0}, "gamma must be a finite number from 0, not -1.0"),
        ({"weights": 3}, "weights must be a function of a step, not 3"),
    ],
)
def test_bad_settings_of_a_rule(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Rule(**{"name": "bad", "weights": lambda step: step.regrets, **settings})
