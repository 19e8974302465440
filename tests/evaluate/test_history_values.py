"""Values of histories and infosets against the judge's sweeps, which know no histories."""

import numpy as np
import pytest

from treeplex import evaluate
from treeplex.errors import PolicyError
from treeplex.evaluate.history_values import HistoryValues
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import grow
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load
from treeplex.solvers import make_solver

GAMES = ("kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "liars_dice(dice_sides=2)", "goofspiel(num_cards=3)")


def drawn(game: CompiledGame, seed: int) -> Policy:
    """A policy with every action, drawn at random."""
    probabilities = np.ones_like(Policy.uniform(game).probabilities)
    generator = np.random.default_rng(seed)
    for infoset in range(len(game.infostates)):
        places = game.sequences_at(infoset)
        probabilities[places] = generator.dirichlet(np.ones(len(places)))
    return Policy(game, probabilities)


@pytest.mark.parametrize("name", GAMES)
def test_values_and_regrets_are_the_judges(name: str) -> None:
    game = compile_game(name)
    policy = drawn(game, 3)
    found = HistoryValues(grow(load(name)), policy)
    assert np.allclose(found.values[0], evaluate.judge(game, policy).value, atol=1e-12)
    regrets = evaluate.infostate_regrets(game, policy)
    for key, number in found.infosets.items():
        assert found.regrets[number] == pytest.approx(regrets[game.lookup[key]], abs=1e-12)


def test_kuhn_values_are_those_of_the_paper() -> None:
    """Kuhn 1950: having passed the middle card, calling a bet and folding are worth the same to player 0."""
    game = compile_game("kuhn_poker")
    solver = make_solver(game, "lp")
    solver.run(1)
    found = HistoryValues(grow(load("kuhn_poker")), solver.average_policy())
    fold, call = found.action_values[found.infosets[0, "1pb"]]
    assert fold == pytest.approx(-1.0)
    assert call == pytest.approx(-1.0, abs=1e-6)
    assert found.values[0] == pytest.approx([-1 / 18, 1 / 18])
    assert found.others_reach[found.infosets[0, "0"]] == pytest.approx(1 / 3)
    assert found.own_reach[found.infosets[0, "0"]] == 1.0


def test_a_policy_of_another_game_is_refused() -> None:
    found = HistoryValues(grow(load("leduc_poker")), Policy.uniform(compile_game("kuhn_poker")))
    with pytest.raises(PolicyError, match="lacks infostate"):
        found.chances
