"""A new job that is refused by its first step leaves nothing, so that the same folder can be asked for again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from treeplex.errors import AlgorithmError, GameError
from treeplex.run.job.folder import JobFolder, JobKind
from treeplex.run.job.job import Job, start
from treeplex.run.job.record import integer

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


def test_a_job_that_fails_says_so_in_its_folder(tmp_path: Path) -> None:
    refuse(tmp_path / "run", AlgorithmError("the loss is no number"))
    assert JobFolder(KIND, tmp_path / "run").about()["status"] == "failed"
