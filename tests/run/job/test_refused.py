"""A new job that is refused by its first step leaves nothing, so that the same folder can be asked for again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, GameError
from treeplex.learn.alphaholdem.job import ALPHAHOLDEM
from treeplex.learn.blueprint.job import HOLDEM_BLUEPRINT
from treeplex.learn.discount.job import DISCOUNT
from treeplex.learn.rebel.training.job import REBEL, TURNS
from treeplex.learn.train.learner_job import OWN
from treeplex.run.job.folder import MADE, REPLACED, RUN, STATE, JobFolder, JobKind
from treeplex.run.job.job import Job, start
from treeplex.run.job.record import integer
from treeplex.run.sample.settings import SAMPLE
from treeplex.run.solve.settings import SOLVE
from treeplex.search.match.settings import MATCH

KIND = JobKind("refused", "steps", "a test", numbers={"steps": integer})


class RefusedJob(Job):
    """Its first step raises an error."""

    kind, name, identity, done, total = KIND, "refused", "refused", 0, 10

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def step(self, count: int) -> None:
        raise self.error

    def measure(self) -> Mapping[str, Any]:
        return {"steps": 0}

    def about(self) -> Mapping[str, Any]:
        return {}


def refuse(path: Path, error: Exception) -> None:
    with JobFolder(KIND, path) as folder, pytest.raises(type(error)):
        start(RefusedJob(error), folder).run()


def test_nothing_is_left(tmp_path: Path) -> None:
    refuse(tmp_path / "new" / "run", GameError("nobody acts"))
    assert not (tmp_path / "new" / "run").exists()
    refuse(tmp_path / "new" / "run", GameError("nobody acts"))


def test_a_folder_that_was_there_stays_with_what_it_held(tmp_path: Path) -> None:
    refuse(tmp_path, GameError("nobody acts"))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "notes.txt").write_text("mine")
    with JobFolder(KIND, tmp_path) as folder, pytest.raises(GameError):
        start(RefusedJob(GameError("nobody acts")), folder, force=True).run()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_job_that_fails_at_once_gives_back_the_files_it_replaced(tmp_path: Path) -> None:
    tp.solve("kuhn_poker", "cfr", iterations=5, out=tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()}
    assert {RUN, STATE, "policy.safetensors"} <= {*before}
    for error in (GameError("nobody acts"), AlgorithmError("no"), ValueError("a bug")):
        with pytest.raises(type(error)), JobFolder(KIND, tmp_path / "run") as folder:
            start(RefusedJob(error), folder, force=True).run()
        assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()} == before
        assert not (tmp_path / "run" / REPLACED).exists()
    tp.solve("kuhn_poker", "cfr+", iterations=5, out=tmp_path / "run", force=True)
    assert "cfr+" in (tmp_path / "run" / RUN).read_text()
    assert not (tmp_path / "run" / REPLACED).exists()


def test_force_removes_the_files_of_every_kind_of_job() -> None:
    kinds = [MATCH, SAMPLE, SOLVE, REBEL, TURNS, ALPHAHOLDEM, OWN, HOLDEM_BLUEPRINT, DISCOUNT]
    assert {name for kind in kinds for name in kind.files} <= {*MADE}


def test_a_job_that_fails_says_so_in_its_folder(tmp_path: Path) -> None:
    refuse(tmp_path / "run", AlgorithmError("the loss is no number"))
    assert JobFolder(KIND, tmp_path / "run").about()["status"] == "failed"
