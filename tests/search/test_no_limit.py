"""What Brown and Sandholm (2018) found of re-solving in large games, in no-limit Leduc poker."""

import numpy as np
import pytest

from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.search.resolving.resolved import resolve_subgames
from treeplex.solvers import make_solver

GAME = compile_game("no_limit_leduc")
CONVERGED = 0.05
"""Chips that so many iterations leave."""


@pytest.mark.quick_cases("cfr-50-unsafe0")
@pytest.mark.parametrize(("algorithm", "iterations", "unsafe"), [("cfr", 50, (0.0, 0.6)), ("cfr+", 1000, (5.0, 100.0))])
def test_unsafe_can_be_best_and_far_worse_and_safe_is_never_worse(
    algorithm: str, iterations: int, unsafe: tuple[float, float]
) -> None:
    """Table 1 there has both; here of a rough blueprint and of one that is almost an equilibrium."""
    solver = make_solver(GAME, algorithm)
    solver.run(iterations)
    blueprint = solver.average_policy()
    before = judge(GAME, blueprint)
    after = {
        gadget: judge(GAME, resolve_subgames(GAME, blueprint, gadget)) for gadget in ("none", "maxmargin", "reach-maxmargin")
    }
    low, high = unsafe
    assert low < after["none"].exploitability / before.exploitability < high
    for gadget in ("maxmargin", "reach-maxmargin"):
        assert (np.array(after[gadget].best_response_values) <= np.array(before.best_response_values) + CONVERGED).all(), gadget
    assert after["reach-maxmargin"].exploitability <= after["maxmargin"].exploitability + CONVERGED
