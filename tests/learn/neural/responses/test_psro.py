"""PSRO: with exact responses it ends where the double oracle algorithm does, and mixing evenly is fictitious play."""

from itertools import product

import numpy as np
import pytest

import treeplex as tp
from treeplex.forms.policies.tabular import normalised
from treeplex.forms.sources.load import load
from treeplex.learn.neural.responses.meta_solvers import nash, replicator
from treeplex.learn.neural.responses.psro import PSRO, pool_payoffs
from treeplex.solvers import make_solver


def learner(game: str, **settings: object) -> PSRO:
    return PSRO(load(game), PSRO.settings_class().changed(settings))


@pytest.mark.parametrize("game", ["kuhn_poker", "liars_dice(dice_sides=2)"])
def test_best_responses_to_equilibria_end_in_an_equilibrium(game: str) -> None:
    psro = learner(game)
    while True:
        before = sum(map(len, psro.pools.found))
        psro.step()
        if sum(map(len, psro.pools.found)) == before:
            break
    judged = tp.judge(psro.compiled, psro.policy())
    assert judged.exploitability < 1e-9
    assert judged.value[0] == pytest.approx(tp.solve(game, "lp").value[0], abs=1e-9)
    assert before < 40


def test_mixing_evenly_is_fictitious_play() -> None:
    psro = learner("leduc_poker", meta="uniform")
    play = make_solver(psro.compiled, "fp", updates="simultaneous")
    for _ in range(12):
        psro.step()
        play.run(1)
        np.testing.assert_allclose(psro.policy().probabilities, play.average_policy().probabilities, atol=1e-12)


def test_payoffs_are_values_of_the_choices_and_are_only_filled_in() -> None:
    psro = learner("kuhn_poker(players=3)", meta="uniform")
    game = psro.compiled
    for _ in range(2):
        psro.step()
    shape = psro.pools.payoffs.shape[1:]
    assert psro.pools.payoffs.shape[0] == 3 == len(shape)
    for choice in product(*map(range, shape)):
        strategy = np.concatenate([pool[number] for pool, number in zip(psro.pools.of, choice, strict=True)])
        policy = tp.Policy(game, normalised(game, strategy))
        assert np.array([own[choice] for own in psro.pools.payoffs]) == pytest.approx(tp.judge(game, policy).value, abs=1e-12)
    known = np.full((3, 1, 1, 1), 7.0)
    filled = pool_payoffs(game, psro.pools.of, known)
    assert (~np.isclose(filled, psro.pools.payoffs)).sum() == 3


def test_replicator_dynamics_come_near_the_equilibrium() -> None:
    # rock, paper, scissors where one win counts twice
    matrix = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -1.0], [-2.0, 1.0, 0.0]])
    payoffs = np.stack((matrix, -matrix))
    found, exact = replicator(payoffs, []), nash(payoffs, [])
    for own, expected in zip(found, exact, strict=True):
        np.testing.assert_allclose(expected, [0.25, 0.5, 0.25], atol=1e-12)
        np.testing.assert_allclose(own, expected, atol=0.02)
