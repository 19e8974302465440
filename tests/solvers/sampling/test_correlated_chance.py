"""Chance by quantiles: outcomes come in even shares; everything else is external sampling."""

import numpy as np
import pytest

from treeplex.engine.histories.form import ACTOR, CHANCE, CHILDREN, KEY
from treeplex.engine.sampling.choices import SECTION, next_quantile, picked
from treeplex.errors import AlgorithmError, SpecError
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.solvers import make_solver
from treeplex.solvers.sampling.rules_solver import RulesSampler
from treeplex.solvers.sampling.solver import SAMPLINGS, SamplingOptions


def test_outcomes_come_in_even_shares() -> None:
    """The discrepancy of a golden section is at most about 3 log N; independent draws would be off by hundreds here."""
    chance, quantiles = np.array([0.1, 0.5, 0.15, 0.25]), np.array([[0.3]])
    counts = np.zeros(4)
    for visit in range(1, 100_001):
        counts[picked(chance, np.zeros((0, 4)), CHANCE, 0, 4, next_quantile(quantiles, 0, 0))[0]] += 1
        if visit in (10, 100, 1000, 100_000):
            assert np.abs(counts - visit * chance).max() <= 1 + 2 * np.log(visit)


@pytest.mark.slow
def test_a_walk_moves_the_numbers_of_the_chance_nodes_it_comes_by() -> None:
    game = compile_game("kuhn_poker")
    solver = make_solver(game, "ccs-mccfr", seed=3)
    before = solver.arrays()["quantiles"].copy()
    solver.run(1)
    after = solver.arrays()["quantiles"]
    nodes = solver.histories.nodes  # type: ignore[attr-defined]
    root = nodes[0]
    assert root[ACTOR] == CHANCE
    np.testing.assert_allclose(after[:, root[KEY]], (before[:, root[KEY]] + SECTION) % 1.0)
    moved = {int(key) for key in np.flatnonzero((after != before)[0])}
    assert len(moved) == 2
    assert moved <= {int(node[KEY]) for node in nodes if node[ACTOR] == CHANCE and node[CHILDREN] > 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ccs-mccfr", "vr-mccfr(quantiles=1)", "cs-mccfr(quantiles=1)"])
def test_it_converges_and_resumes_bit_for_bit(name: str) -> None:
    game = compile_game("kuhn_poker")
    whole, parts = make_solver(game, name, seed=1), make_solver(game, name, seed=1)
    whole.run(20_000)
    parts.run(7_000)
    again = make_solver(game, name, seed=1)
    again.restore(parts.state())
    again.run(13_000)
    np.testing.assert_array_equal(whole.average_policy().probabilities, again.average_policy().probabilities)
    assert judge(game, whole.average_policy()).exploitability < 0.02


def test_what_is_refused() -> None:
    with pytest.raises(SpecError, match="quantiles must be 0 or 1"):
        make_solver(compile_game("kuhn_poker"), "es-mccfr(quantiles=0.5)")
    with pytest.raises(AlgorithmError, match="'quantiles' needs a compiled game"):
        RulesSampler("kuhn_poker", SAMPLINGS["es-mccfr"], SamplingOptions(quantiles=1))
