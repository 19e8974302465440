"""Zinkevich, Johanson, Bowling and Piccione 2007, theorems 2 to 4, along runs of the paper's own algorithm."""

import numpy as np
import pytest

from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.solvers import make_solver

LENGTHS = (1, 3, 10, 30, 100, 300, 1000)
SPANS = {"kuhn_poker": 4.0, "leduc_poker": 26.0, "liars_dice(dice_sides=3)": 2.0}
"""Games, and how far apart payoffs are: the stakes of a hand at most, twice."""


@pytest.mark.parametrize("name", SPANS)
def test_regrets_and_bounds(name: str) -> None:
    """Both players are updated at once, and sums are plain, as in the paper."""
    game = compile_game(name)
    solver = make_solver(game, "cfr", updates="simultaneous")
    offsets, layout = game.tree.infoset_offsets, game.tree.infoset_layout
    actions = layout[:, 2]
    won, span = np.zeros(game.players), SPANS[name]
    for done in range(1, LENGTHS[-1] + 1):
        won += judge(game, solver.current_policy()).value
        solver.run(1)
        if done not in LENGTHS:
            continue
        judged = judge(game, solver.average_policy())
        reply = np.asarray(judged.best_response_values)
        overall, gains = reply - won / done, reply - judged.value
        assert gains.max() <= 2 * overall.max() + 1e-9, "theorem 2"
        best = [solver.regrets[first : first + stride * count : stride].max() for first, stride, count in layout]
        immediate = np.maximum(best, 0.0) / done
        for player in range(game.players):
            own = slice(offsets[player], offsets[player + 1])
            assert overall[player] <= immediate[own].sum() + 1e-9, "theorem 3"
            assert (immediate[own] <= span * np.sqrt(actions[own]) / np.sqrt(done)).all(), "theorem 4, of an infoset"
            assert overall[player] <= span * np.sqrt(actions[own].max()) * len(actions[own]) / np.sqrt(done), "theorem 4"
