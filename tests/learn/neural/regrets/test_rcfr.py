"""Regression CFR: with a table it is CFR, regret matching+ where negative regrets become zero, with networks it follows."""

import numpy as np
import pytest

from treeplex.forms.sources.load import load
from treeplex.learn.neural.regrets.rcfr import Rcfr
from treeplex.solvers import make_solver

VARIANTS = [({}, "cfr"), ({"bootstrap": True}, "cfr"), ({"plus": True, "linear": True}, "cfr+")]


def learner(game: str, **settings: object) -> Rcfr:
    return Rcfr(load(game), Rcfr.settings_class().changed(settings))


@pytest.mark.slow_cases("settings1-cfr-leduc_poker", "settings2-cfr+-leduc_poker")
@pytest.mark.parametrize("game", ["kuhn_poker(players=3)", "leduc_poker"])
@pytest.mark.parametrize(("settings", "algorithm"), VARIANTS)
def test_with_a_table_it_is_cfr_iterate_by_iterate(game: str, settings: dict[str, object], algorithm: str) -> None:
    rcfr = learner(game, approximator="table", **settings)
    solver = make_solver(rcfr.compiled, algorithm, updates="alternating")
    for _ in range(15):
        rcfr.step()
        solver.run(1)
        np.testing.assert_allclose(rcfr.policy().probabilities, solver.average_policy().probabilities, atol=1e-9)


@pytest.mark.slow
def test_networks_follow_cfr() -> None:
    rcfr, cfr = learner("kuhn_poker", fits=12, rate=0.003), learner("kuhn_poker", approximator="table")
    for _ in range(40):
        rcfr.step()
        cfr.step()
    assert cfr.measure()["exploitability"] < rcfr.measure()["exploitability"] * 1.2 < 0.1
