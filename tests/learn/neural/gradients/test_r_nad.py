"""R-NaD: the mean of its estimates by enumeration, its transformed game, fine-tuning, and Kuhn poker."""

import numpy as np
import pytest

from tests.learn.neural.gradients.softmax_cases import learner, run
from treeplex.base.arrays import Floats
from treeplex.engine.histories.form import CHANCE, TERMINAL
from treeplex.errors import AlgorithmError
from treeplex.learn.neural.fitting.outputs import TableOutputs
from treeplex.learn.neural.gradients.r_nad import RNaD, fine_tuned


def advantages(student: RNaD, policy: Floats, costs: Floats) -> tuple[Floats, float]:
    """Of the game with costs, weighted by the probability of each history, and the decisions of an episode, by recursion."""
    histories, found = student.histories, np.zeros_like(policy)
    visits = 0.0

    def value(h: int, reach: float) -> Floats:
        nonlocal visits
        actor, child, actions, key = histories.nodes[h]
        if actor == TERMINAL:
            return np.asarray(histories.payoffs[key] / student.scale)
        if actor == CHANCE:
            shares = histories.chance[key : key + actions]
            return np.asarray(np.sum([share * value(child + a, reach * share) for a, share in enumerate(shares)], axis=0))
        side = np.where(np.arange(2) == actor, -1.0, 1.0)  # what one pays the other gets
        after = [value(child + a, reach * policy[key, a]) + side * costs[key, a] for a in range(actions)]
        mean = np.sum([policy[key, a] * each for a, each in enumerate(after)], axis=0)
        visits += reach
        for a, each in enumerate(after):
            found[key, a] += reach * (each[actor] - mean[actor])
        return np.asarray(mean)

    value(0, 1.0)
    return found, visits


def test_a_step_follows_the_advantages_of_the_game_with_costs() -> None:
    """The mean of 400,000 episodes against enumeration, whatever the values that returns are compared with."""
    student = learner(RNaD, batch=400_000, adam=False, rate=1.0, regularisation=0.5)
    generator, grid = np.random.default_rng(0), student.infosets
    logits = 0.7 * generator.normal(size=grid.legal.shape)
    student.logits.values()[:] = logits
    student.target_critic.values()[:, 0] = generator.normal(size=len(logits))
    policy = student.current
    found, visits = advantages(student, policy, 0.5 * np.log(2.0 * policy))
    student.update()
    assert student.logits.values() - logits == pytest.approx(grid.centred(found) / visits, abs=2e-3)


@pytest.mark.slow
def test_kuhn_poker_by_a_table() -> None:
    """The fine-tuned policy and the average within half a million episodes."""
    found = run(learner(RNaD, steps=2000, phase=250, rate=0.01, target=0.02), 2000).measure()
    assert found["exploitability"] < 0.05
    assert found["exploitability_of_fine_tuned"] < 0.15


def test_averages_follow_and_anchors_change_by_phase() -> None:
    """After a phase the newer anchor is the averaged policy, the older one the anchor before."""
    student = learner(RNaD, phase=5, target=0.5)
    newer, older = student.anchors
    newer.values()[:] = 0.5
    run(student, 5)
    assert (older.values() == 0.5).all()
    assert newer.values() == pytest.approx(student.target_logits.values(), abs=1e-15)
    assert newer.values().any()
    assert isinstance(student.logits, TableOutputs)


def test_fine_tuned_policies_are_rounded_and_whole() -> None:
    """Rare actions go, the rest are multiples of 1/32 nearest to what they were."""
    policy = np.array([[0.02, 0.49, 0.49], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    found = fine_tuned(policy, 0.03, 32)
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-15)
    assert (found * 32 == np.rint(found * 32)).all()
    assert found[0].tolist() == [0.0, 0.5, 0.5]
    assert np.abs(found[2] - 1 / 3).max() < 1 / 32


@pytest.mark.parametrize("game", ["kuhn_poker(players=3)", "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)"])
def test_other_games_are_refused_in_a_line(game: str) -> None:
    """Three players, general sums."""
    with pytest.raises(AlgorithmError, match="r-nad supports only two-player games"):
        learner(RNaD, game)
