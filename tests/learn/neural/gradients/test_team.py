"""COMA and independent A2C: what they refuse, returns by hand, resuming, and that they learn to coordinate."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.histories.episodes import Episodes
from treeplex.errors import AlgorithmError
from treeplex.learn.neural.gradients.a2c import IndependentA2C
from treeplex.learn.neural.gradients.coma import Coma, ComaSettings
from treeplex.learn.neural.gradients.team import TABLES, TeamLearner, TeamSettings, traced_returns

torch = pytest.importorskip("torch")

MEETING = "matrix(rows=[[10,0,0],[0,3,0],[0,0,3]],second=[[10,0,0],[0,3,0],[0,0,3]])"
"""Both want to meet, at the first place most of all."""


def learner(name: str, spec: str = MEETING, **changes: Any) -> TeamLearner:
    settings = {"coma": ComaSettings(), "a2c": TeamSettings()}[name].changed(changes)
    made: dict[str, Callable[..., TeamLearner]] = {"coma": Coma, "a2c": IndependentA2C}
    return made[name](tp.load(spec), settings)


def test_returns_by_hand() -> None:
    empty = np.zeros(5, np.int32)
    players = np.array([0, 1, 0, 1, 0], np.int32)
    payoffs = np.array([[1.0, 1.0], [3.0, 3.0]])
    episodes = Episodes(np.array([0, 3, 5]), empty, players, empty, empty, np.ones(5), payoffs, np.zeros(2, np.int32), 0)
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    last = 0.25 * 0.3 + 0.75 * 1.0
    together = [0.25 * 0.2 + 0.75 * last, last, 1.0, 0.25 * 0.5 + 0.75 * 3.0, 3.0]
    np.testing.assert_allclose(traced_returns(episodes, values, 0.75, own=False), together, rtol=1e-6)
    own = [0.25 * 0.3 + 0.75 * 1.0, 1.0, 1.0, 3.0, 3.0]
    np.testing.assert_allclose(traced_returns(episodes, values, 0.75, own=True), own, rtol=1e-6)


@pytest.mark.quick_cases("table-a2c")
@pytest.mark.parametrize("name", ["coma", "a2c"])
@pytest.mark.parametrize("approximator", ["table", "network"])
def test_learns_to_meet(name: str, approximator: str) -> None:
    changes = TABLES["table"] if approximator == "table" else {"rate": 0.003}
    found = learner(name, **{**changes, "exploring": 3000, "explore": 0.1})
    assert found.measure()["return"] == pytest.approx(16 / 9, abs=0.02)
    for _ in range(500):
        found.step()
    assert found.measure()["return"] > 9.9
    assert found.effort()["episodes"] == 4000


@pytest.mark.parametrize("name", ["coma", "a2c"])
@pytest.mark.parametrize("approximator", ["table", "network"])
def test_resumes_bit_for_bit(name: str, approximator: str) -> None:
    changes: dict[str, Any] = {"approximator": approximator} | ({"renew": 4} if name == "coma" else {})
    whole, begun, resumed = (learner(name, "openspiel:tiny_hanabi", **changes) for _ in range(3))
    for _ in range(12):
        whole.step()
    for _ in range(7):
        begun.step()
    resumed.restore(begun.state())
    for _ in range(5):
        resumed.step()
    first, second = whole.state(), resumed.state()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize("name", ["coma", "a2c"])
def test_games_that_are_not_cooperative_are_refused(name: str) -> None:
    with pytest.raises(AlgorithmError, match="kuhn_poker does not give all players the same payoff"):
        learner(name, "kuhn_poker")


@pytest.mark.slow
def test_by_name(tmp_path) -> None:  # type: ignore[no-untyped-def]
    settings = {**TABLES["table"], "steps": 20}
    training = tp.train("openspiel:tiny_hanabi", "coma", settings=settings, out=tmp_path / "coma")
    assert training.records[-1].measures["episodes"] == 160
    again = tp.train(resume=tmp_path / "coma", settings={"steps": 30})
    assert again.records[-1].measures["episodes"] == 240
    assert len(again.load()) == 8
