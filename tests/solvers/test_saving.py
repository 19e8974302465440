"""A restored solver continues bit for bit."""

import numpy as np
import pytest

from treeplex.errors import FileError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.solvers import Rule, Solver, algorithms, make_solver

GAME, STATIC = compile_game("leduc_poker"), compile_game("small_matrix")
RULE = Rule("memory", lambda step: np.maximum(np.cumsum(step.memory + step.regrets, axis=0)[-1], 0.0), rows=2)


def build(name: str, updates: str | None) -> Solver:
    return make_solver(game_for(name), RULE if name == "a rule" else name, horizon=30, updates=updates)


def game_for(name: str) -> CompiledGame:
    """What an algorithm is tried on; recursion through a game of one piece is linear programming."""
    return STATIC if name in ("rm", "recursive") else GAME


CASES = [(name, updates) for name, known in algorithms().items() for updates in (known.updates or (None,))]


@pytest.mark.parametrize(("name", "updates"), [*CASES, ("a rule", "alternating"), ("a rule", "simultaneous")])
def test_continues_bit_for_bit(name: str, updates: str | None) -> None:
    straight, first, second = (build(name, updates) for _ in range(3))
    straight.run(17)
    first.run(7)
    state = first.state()
    kept = {key: array.copy() for key, array in state.items()}
    first.run(3)
    assert all(np.array_equal(state[key], kept[key]) for key in kept), "a saved state must not change with its solver"
    second.run(2)
    second.restore(state)
    assert second.iteration == 7
    second.run(10)
    for key, array in straight.state().items():
        np.testing.assert_array_equal(second.state()[key], array, err_msg=key)
    np.testing.assert_array_equal(second.average_policy().probabilities, straight.average_policy().probabilities)


@pytest.mark.parametrize("name", algorithms())
def test_a_state_that_does_not_fit(name: str) -> None:
    solver = make_solver(game_for(name), name)
    solver.run(2)
    state = solver.state()
    for key in state:
        fresh = make_solver(game_for(name), name)
        before = fresh.state()
        with pytest.raises(FileError, match="solver state does not fit"):
            fresh.restore({other: array for other, array in state.items() if other != key})
        if key != "iteration" and len(state[key]):  # some algorithms leave a table empty
            with pytest.raises(FileError, match=f"array '{key}' should have shape"):
                fresh.restore({**state, key: state[key][:-1]})
        assert all(np.array_equal(array, before[other]) for other, array in fresh.state().items())
