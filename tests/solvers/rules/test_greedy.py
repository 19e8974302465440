"""Greedy Weights as a solver."""

import numpy as np
import pytest

from treeplex.forms.compile.compile_game import compile_game
from treeplex.run.judge import exploitability
from treeplex.solvers import make_solver


@pytest.mark.parametrize(
    ("game", "bound"), [("kuhn_poker", 0.01), ("modified_rps", 0.04), ("small_matrix", 0.06), ("leduc_poker", 0.05)]
)
@pytest.mark.parametrize("floor", [0.0, 0.5])
def test_converges(game: str, floor: float, bound: float) -> None:
    compiled = compile_game(game)
    solver = make_solver(compiled, f"greedy(floor={floor})")
    solver.run(1000)
    assert exploitability(compiled, solver.average_policy()) < bound


def test_beats_equal_weights_where_one_action_costs_much() -> None:
    """The case that the method is for: the first iterations' huge losses must not weigh forever."""
    game = compile_game("small_matrix")
    found = {}
    for name in ("cfr", "greedy"):
        solver = make_solver(game, name)
        solver.run(300)
        found[name] = exploitability(game, solver.average_policy())
    assert found["greedy"] < found["cfr"] / 10


def test_potential_bounds_exploitability() -> None:
    """Zinkevich et al. 2007, Theorem 3: a player's gain is at most the sum of the infosets' positive average regrets."""
    game = compile_game("leduc_poker")
    solver = make_solver(game, "greedy")
    for _ in range(5):
        solver.run(40)
        regrets = solver.state()["regrets"]
        bound = sum(max(regrets[game.sequences_at(infoset)].max(), 0.0) for infoset in range(len(game.infostates)))
        assert 2 * exploitability(game, solver.average_policy()) <= bound + 1e-9
    assert np.isfinite(regrets).all()
