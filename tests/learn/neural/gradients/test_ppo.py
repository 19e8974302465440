"""PPO, PPG and MMD: their slopes against autograd over single rows, fixed points, and Kuhn poker."""

import numpy as np
import pytest
import torch

import treeplex as tp
from tests.learn.neural.gradients.softmax_cases import learner, run, slopes_by_autograd, softmax
from treeplex.errors import SpecError
from treeplex.learn.neural.gradients.actor import entropy_slopes
from treeplex.learn.neural.gradients.mmd import Mmd
from treeplex.learn.neural.gradients.ppg import Ppg
from treeplex.learn.neural.gradients.ppo import Ppo, clipped_slopes, divergence_slopes

GENERATOR = np.random.default_rng(0)
LOGITS, OLD = GENERATOR.normal(size=(2, 6, 3))
POLICY, BEFORE = softmax(LOGITS), softmax(OLD)


def test_sums_by_infoset_give_the_clipped_gradient_of_all_rows() -> None:
    """300 rows, one by one through PyTorch; some ratios lie beyond the clip on either side."""
    infosets, actions = GENERATOR.integers(0, 6, 300), GENERATOR.integers(0, 3, 300)
    advantages = GENERATOR.normal(size=300)
    old, gained = torch.tensor(np.log(BEFORE[infosets, actions])), torch.tensor(advantages)

    def objective(logs: torch.Tensor) -> torch.Tensor:
        ratio = (logs[infosets, actions] - old).exp()
        return torch.minimum(ratio * gained, ratio.clamp(0.8, 1.2) * gained).sum()

    gains, falls = np.zeros((2, 6, 3))
    np.add.at(gains, (infosets, actions), np.maximum(advantages, 0.0))
    np.add.at(falls, (infosets, actions), np.minimum(advantages, 0.0))
    ratio = POLICY / BEFORE
    assert (ratio > 1.2).any()
    assert (ratio < 0.8).any()
    assert clipped_slopes(POLICY, BEFORE, gains, falls, 0.2) == pytest.approx(slopes_by_autograd(objective, LOGITS))


def test_slopes_of_entropy_and_divergence() -> None:
    """Against autograd."""

    def entropy(logs: torch.Tensor) -> torch.Tensor:
        return -(logs.exp() * logs).sum()

    def divergence(logs: torch.Tensor) -> torch.Tensor:
        return (logs.exp() * (logs - torch.tensor(np.log(BEFORE)))).sum()

    assert entropy_slopes(POLICY) == pytest.approx(slopes_by_autograd(entropy, LOGITS))
    assert divergence_slopes(POLICY, BEFORE) == pytest.approx(slopes_by_autograd(divergence, LOGITS))


@pytest.mark.slow
@pytest.mark.parametrize("made", [Ppo, Ppg, Mmd])
def test_sampled_episodes_teach_tables(made: type[Ppo]) -> None:
    """Kuhn poker in a second or less; untrained it is 0.46."""
    student = learner(made, steps=300, rate=0.02, critic_rate=0.01)
    assert run(student, 300).measure()["exploitability"] < 0.12


@pytest.mark.slow
def test_mmd_comes_to_the_quantal_response_equilibrium() -> None:
    """At a fixed temperature the policy is the softmax of its own action values over it, everywhere."""
    student = run(learner(Mmd, "leduc_poker", critic="exact", temperature=0.1, cooling=0.0, ratio=3.0), 2000)
    policy, grid = student.current, student.infosets
    values = grid.action_values(policy).values / grid.opposing_reaches(policy)[:, None]
    assert policy == pytest.approx(grid.softmax(values / student.scale / 0.1), abs=1e-6)


def test_mmd_with_a_falling_temperature_comes_to_nash() -> None:
    """Its last policy, on Kuhn poker."""
    student = run(learner(Mmd, critic="exact"), 3000)
    assert student.measure()["exploitability_of_last"] < 0.003


def test_exact_mmd_needs_a_table() -> None:
    """One line says so."""
    with pytest.raises(SpecError, match="approximator=table"):
        learner(Mmd, critic="exact", approximator="network")


def test_an_auxiliary_phase_teaches_values_and_holds_the_policy() -> None:
    """The network's extra output comes nearer to the returns; the policy hardly moves."""
    student = learner(Ppg, approximator="network", phase=1000, auxiliary_passes=150, width=32, rate=0.01, decay=0.0)
    run(student, 2)
    before = student.current
    seen = student.visits[:, 0] > 0
    targets = (student.sums / np.maximum(student.visits, 1.0))[seen, 0]
    wrong = np.abs(student.logits.values()[seen, -1] - targets).mean()
    student.auxiliary_phase()
    assert np.abs(student.logits.values()[seen, -1] - targets).mean() < 0.2 * wrong
    assert np.abs(student.current - before).max() < 0.1
    assert not student.visits.any()


@pytest.mark.slow
def test_three_players_may_learn() -> None:
    """Nothing in PPO needs two players; NashConv falls."""
    student = learner(Ppo, "kuhn_poker(players=3)", steps=200, rate=0.02, critic_rate=0.01)
    before = tp.judge(student.compiled, student.policy()).nash_conv
    run(student, 200)
    assert tp.judge(student.compiled, student.policy()).nash_conv < 0.3 * before
