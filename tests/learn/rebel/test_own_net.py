"""Value networks of one's own: trained, kept by name, named again by a person."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

import treeplex as tp  # noqa: E402
from tests.trainings import stop_after, weights  # noqa: E402
from treeplex.errors import (  # noqa: E402
    FileError,
    JobInterrupt,
    SpecError,
)
from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.learn.rebel.files import read_net  # noqa: E402
from treeplex.learn.rebel.settings import RebelSettings  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer  # noqa: E402
from treeplex.learn.rebel.training.job import NET  # noqa: E402
from treeplex.learn.rebel.training.judge import judge_rebel  # noqa: E402
from treeplex.run.cli.main import app  # noqa: E402

torch.set_num_threads(1)

DICE = "liars_dice(dice_sides=2)"
SMALL = {"iterations": 4, "episodes": 16, "solves": 160, "burn_in": 64, "batch": 32, "reuse": 4.0, "depth": 1, "seed": 3}
FILE = """
from pathlib import Path

import torch

Path({ran!r}).touch()


def tanh_net(inputs, outputs, width=8):
    return torch.nn.Sequential(torch.nn.Linear(inputs, width), torch.nn.Tanh(), torch.nn.Linear(width, outputs))


def wrong_net(inputs, outputs):
    return torch.nn.Linear(inputs, outputs + 1)


def broken_net(inputs, outputs):
    raise ValueError("no idea")
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(FILE.format(ran=str(tmp_path / "ran")))
    return str(tmp_path / "mine.py")


@pytest.mark.slow
def test_it_is_trained_and_resumed_bit_for_bit(file: str, tmp_path: Path) -> None:
    own = f"{file}:tanh_net(width=5)"
    given = {"settings": SMALL | {"net": own}, "judge_every": 0, "workers": 1}
    tp.train(DICE, out=tmp_path / "whole", **given)
    assert {len(array) for array in read_net(tmp_path / "whole" / NET).weights.values()} >= {5}
    with pytest.raises(JobInterrupt):
        tp.train(DICE, out=tmp_path / "part", progress=stop_after(5), **given)
    tp.train(resume=tmp_path / "part", settings={"net": own}, judge_every=0)
    assert weights(tmp_path / "part") == weights(tmp_path / "whole")


def test_a_trainer_takes_a_function() -> None:
    trainer = RebelTrainer(public_tree(DICE), RebelSettings().changed(SMALL), net=torch.nn.Linear)
    while not trainer.finished:
        last = trainer.round()
    assert last.steps > 0
    assert np.isfinite(last.loss)


def test_streams_are_played_with_it(file: str, tmp_path: Path) -> None:
    own = {"net": f"{file}:tanh_net", "streams": 2}
    training = tp.train(DICE, settings=SMALL | own, workers=1, judge_every=0, out=tmp_path / "run")
    assert training.records[-1].steps > 0


def test_reading_runs_no_code(file: str, tmp_path: Path) -> None:
    own = f"{file}:tanh_net"
    tp.train(DICE, settings=SMALL | {"net": own}, judge_every=0, workers=1, out=tmp_path / "run")
    (tmp_path / "ran").unlink()
    with pytest.raises(FileError, match="loading a folder never runs code; name the network again: --set net="):
        tp.train(resume=tmp_path / "run", settings={"solves": 200}, judge_every=0)
    for source in (tmp_path / "run", tmp_path / "run" / NET):
        with pytest.raises(FileError, match="whose code is not run from a file; name it again: --set net="):
            judge_rebel(DICE, source, playthroughs=2, iterations=2, workers=1)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(SpecError, match=r"net .* cannot change to .* on resume"):
        tp.train(resume=tmp_path / "run", settings={"net": f"{file}:broken_net"}, judge_every=0)
    asked = ["evaluate", DICE, str(tmp_path / "run"), "--playthroughs", "4", "--iterations", "2", "--workers", "1", "--json"]
    printed = json.loads(CliRunner().invoke(app, [*asked, "--set", f"net={own}"]).stdout)
    assert printed["exploitability"] > 0


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("wrong_net", r"the network maps \[2, \d+\] to \[2, \d+\]; its output must be"),
        ("broken_net", "no idea"),
        ("no_net", "defines no 'no_net'"),
        ("Path", "returned a PosixPath|must return a torch.nn.Module|no idea|mine.py"),
    ],
)
def test_what_makes_no_network_is_refused(file: str, tmp_path: Path, name: str, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        tp.train(DICE, settings=SMALL | {"net": f"{file}:{name}"}, workers=1, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
