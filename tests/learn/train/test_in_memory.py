"""Trainings without a folder: the model and the learning curve come back, and nothing is left behind."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from tests.processes import interrupt_after
from treeplex.base.settings import Settings, setting
from treeplex.errors import JobInterrupt, SpecError
from treeplex.learn import Learner
from treeplex.learn.train.learner_job import panels_of


@dataclass(frozen=True)
class MixingSettings(Settings):
    """How long."""

    steps: int = setting(3, "steps", low=1)


class MixtureLearner(Learner):
    """Moves a tenth of the way to a best response at each step."""

    settings_class = MixingSettings

    def __init__(self, game: tp.Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.table = tp.Policy.uniform(self.compiled).probabilities

    def step(self) -> None:
        for player in range(self.compiled.players):
            response = tp.best_response(self.compiled, self.policy(), player)[1]
            self.table = 0.9 * self.table + 0.1 * response.probabilities

    def policy(self) -> tp.Policy:
        return tp.Policy(self.compiled, self.table)

    def state(self) -> dict[str, np.ndarray]:
        return {"table": self.table}

    def restore(self, arrays: Any) -> None:
        self.table = arrays["table"]


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Trainings write neither here nor, for longer than they last, among temporary files."""
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir()
    scratch.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield
    assert not [each for each in scratch.iterdir() if "torch" not in each.name]  # of PyTorch's own
    assert not [each for each in here.iterdir() if each.name != "run"]


def test_a_learner_of_your_own() -> None:
    training = tp.train("kuhn_poker", MixtureLearner)
    assert training.folder is None
    assert training.status == "finished"
    assert [record.done for record in training.records] == [0, 1, 2, 3]
    assert training.records[0].measures["exploitability"] == pytest.approx(tp.exploitability("kuhn_poker", "uniform"))
    assert tp.exploitability("kuhn_poker", training.model) == training.records[-1].measures["exploitability"]
    assert training.load() is training.model
    assert training.to_json()["folder"] is None
    assert "exploitability" in training._repr_html_()
    written = tp.train("kuhn_poker", MixtureLearner, out="run")
    assert np.array_equal(written.model.probabilities, training.model.probabilities)


def test_rules_without_a_name() -> None:
    training = tp.train([[1.0, -1.0], [-1.0, 2.0]], MixtureLearner)
    assert isinstance(training.model, tp.Policy)


def test_ctrl_c_gives_the_model_so_far() -> None:
    with pytest.raises(JobInterrupt) as stopped:
        tp.train("kuhn_poker", MixtureLearner, progress=interrupt_after(1))
    assert stopped.value.result.records[-1].done == 1
    assert isinstance(stopped.value.result.model, tp.Policy)


@pytest.mark.slow
def test_discounts_and_a_value_network() -> None:
    settings = {"epochs": 1, "population": 2, "horizon": 10}
    training = tp.train(["kuhn_poker"], "ddcfr", settings=settings, workers=1)
    assert training.records[0].done == 0
    assert tp.solve("kuhn_poker", training.model, iterations=10).exploitability < 0.5
    torch = pytest.importorskip("torch")
    small = {"solves": 64, "width": 8, "iterations": 4, "burn_in": 16, "episodes": 16, "batch": 16}
    training = tp.train("liars_dice(dice_sides=2)", "rebel", settings=small, workers=1, judge_every=0)
    assert training.records[0].done == 0
    leaf = training.model.leaf()
    assert isinstance(leaf.net, torch.nn.Module)
    written = tp.train("liars_dice(dice_sides=2)", "rebel", settings=small, workers=1, judge_every=0, out="run")
    assert all(np.array_equal(array, training.model.weights[name]) for name, array in written.model.weights.items())


def test_learning_curves_begin_at_step_0() -> None:
    training = tp.train("kuhn_poker", MixtureLearner)
    panel = panels_of(training.records, ("nodes", "episodes"))[0]
    assert list(panel.curves[0].across) == [0, 1, 2, 3]
    assert panel.curves[0].heights[0] == training.records[0].measures["exploitability"]


def test_what_needs_a_folder() -> None:
    with pytest.raises(SpecError, match="events need a folder; set 'out'"):
        tp.train("kuhn_poker", MixtureLearner, tensorboard=True)
    with pytest.raises(SpecError, match="give only one of 'out' and 'resume'"):
        tp.train("kuhn_poker", MixtureLearner, out="run", resume="run")
