"""Policy gradients against their definitions by autograd and finite differences, and figures on Kuhn poker."""

from typing import Any

import numpy as np
import pytest
import torch

import treeplex as tp
from tests.learn.neural.gradients.softmax_cases import learner, run, slopes_by_autograd, softmax
from treeplex.learn.neural.gradients.policy_gradient import (
    NeuRD,
    PolicyGradient,
    Qpg,
    Rmpg,
    Rpg,
    inside,
    matching_direction,
    q_direction,
    regret_direction,
)

GENERATOR = np.random.default_rng(0)
LOGITS, VALUES = GENERATOR.normal(size=(2, 40, 4))
POLICY = softmax(LOGITS)
ADVANTAGES = VALUES - (POLICY * VALUES).sum(axis=1, keepdims=True)
Q = torch.tensor(VALUES)


def test_directions_are_gradients_of_their_definitions() -> None:
    """QPG of the value, RPG of minus the positive regrets, RMPG of probabilities times fixed positive regrets."""

    def value(logs: torch.Tensor) -> torch.Tensor:
        return (logs.exp() * Q).sum()

    def regrets(logs: torch.Tensor) -> torch.Tensor:
        return torch.relu(Q - (logs.exp() * Q).sum(dim=1, keepdim=True))

    assert q_direction(POLICY, ADVANTAGES) == pytest.approx(slopes_by_autograd(value, LOGITS))
    found = slopes_by_autograd(lambda logs: -regrets(logs).sum(), LOGITS)
    assert regret_direction(POLICY, ADVANTAGES) == pytest.approx(found)
    found = slopes_by_autograd(lambda logs: (logs.exp() * regrets(logs).detach()).sum(), LOGITS)
    assert matching_direction(POLICY, ADVANTAGES) == pytest.approx(found)


def test_rpg_is_qpg_times_the_number_of_positive_regrets() -> None:
    """Exactly; with two actions they are the same."""
    positive = (ADVANTAGES > 0).sum(axis=1, keepdims=True)
    assert regret_direction(POLICY, ADVANTAGES) == pytest.approx(positive * q_direction(POLICY, ADVANTAGES), rel=1e-14)
    settings: dict[str, Any] = {"critic": "exact", "adam": False, "rate": 2.0, "entropy": 0.0}
    one, two = (run(learner(made, **settings), 50) for made in (Qpg, Rpg))
    assert (one.logits.values() == two.logits.values()).all()


@pytest.mark.parametrize("game", ["kuhn_poker", "kuhn_poker(players=3)", "goofspiel(num_cards=3,imp_info=true)"])
def test_an_exact_step_is_the_gradient_of_each_players_value(game: str) -> None:
    """The change of logits of QPG against finite differences of the expected payoff, whoever and however many play."""
    student = learner(Qpg, game, critic="exact", adam=False, rate=1.0, entropy=0.0)
    compiled, grid = student.compiled, student.infosets
    logits = np.random.default_rng(1).normal(size=grid.legal.shape)
    student.logits.values()[:] = logits
    student.update()
    moved = student.logits.values() - logits

    def value(player: int, at: np.ndarray) -> float:
        return tp.judge(compiled, tp.Policy(compiled, grid.table(grid.softmax(at)))).value[player]

    places = np.argwhere(grid.legal)
    for infoset, action in np.random.default_rng(2).permutation(places)[:12]:
        shift = np.zeros_like(logits)
        shift[infoset, action] = 1e-5
        player = compiled.player_of(int(infoset))
        slope = (value(player, logits + shift) - value(player, logits - shift)) / 2e-5
        assert moved[infoset, action] == pytest.approx(slope, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("made", "average", "last"), [(Qpg, 0.0033, 0.2435), (Rmpg, 0.0082, 0.0113)])
def test_exact_critics_on_kuhn_poker(made: type[PolicyGradient], average: float, last: float) -> None:
    """Exploitability after 20,000 steps of size 2, as another implementation of the same equations found it."""
    found = run(learner(made, critic="exact", adam=False, rate=2.0, weight=0.0, entropy=0.0, decay=0.0), 20_000).measure()
    assert found["exploitability_of_average"] == pytest.approx(average, abs=5e-5)
    assert found["exploitability"] == pytest.approx(last, abs=5e-5)


def test_neurd_learns_leduc_poker_by_a_table() -> None:
    """Its average, as hedging over counterfactual values does."""
    assert (
        run(learner(NeuRD, "leduc_poker", adam=False, rate=0.3, threshold=6.0, decay=0.0), 1000).measure()["exploitability"]
        < 0.5
    )


def test_the_threshold_lets_logits_come_back() -> None:
    """Beyond it only the way in is left."""
    rises, logits = np.array([[1.0, -1.0, 1.0, -1.0]]), np.array([[3.0, 3.0, -3.0, 1.0]])
    assert inside(rises, logits, 2.0).tolist() == [[0.0, -1.0, 1.0, -1.0]]


def test_learned_values_are_those_of_the_game() -> None:
    """A critic that takes the mean of 200,000 episodes against the sweep over the compiled game; rows weigh as they come."""
    student = learner(Qpg, batch=200_000, critic_rate=1.0, critic_steps=1)
    grid = student.infosets
    assert student.critic is not None
    _, policy, advantages, weights = student.sampled(student.critic)
    exact, reaches = grid.action_values(policy), grid.opposing_reaches(policy)[:, None]
    assert np.where(grid.legal, advantages - exact.advantages / reaches, 0.0) == pytest.approx(0.0, abs=0.05)
    assert weights == pytest.approx(exact.own_reach[:, None] * reaches, abs=0.005)


@pytest.mark.quick_cases("Rmpg")
@pytest.mark.parametrize("made", [Qpg, Rpg, Rmpg, NeuRD])
def test_sampled_episodes_teach_tables(made: type[PolicyGradient]) -> None:
    """Kuhn poker within 400,000 episodes."""
    student = learner(
        made,
        steps=1600,
        batch=256,
        critic="learned",
        critic_rate=0.02,
        critic_steps=1,
        adam=False,
        rate=0.5,
        entropy=0.05,
        decay=1.0,
    )
    assert run(student, 1600).measure()["exploitability"] < 0.1
    assert student.sampler.played == 1600 * 256
