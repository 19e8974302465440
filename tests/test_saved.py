"""What earlier versions wrote is read: folders and files of every kind, with the numbers recorded when they were saved.

``tests/saved/VERSION`` has one small instance of each, made by :mod:`tests.saved.make` with that version's code. A job that was
interrupted then is resumed now, and finishes as it did then.
"""

import importlib.util
import json
import pkgutil
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import treeplex
import treeplex as tp
from tests.fence.cases import Case
from tests.fence.record import entries_of, faults
from tests.saved.items import ITEMS, JOBS, Item, Job
from tests.saved.make import HERE, NUMBERS, place_of
from treeplex.holdem.forms.spot_form import STORAGE
from treeplex.learn.train.registry import learners
from treeplex.run.job.folder import JobKind

RECORDED: Mapping[str, Mapping[str, Any]] = {
    file.parent.name: json.loads(file.read_text())["items"] for file in sorted(HERE.glob(f"*/{NUMBERS}"))
}
"""Numbers by version, item and part."""
NOT_SAVED: Mapping[str, str] = {
    "training": "no kind of job: what messages say of a folder that contains no training",
}
"""Kinds of jobs that are not saved, and why."""

WITH_TRITON = {"treeplex.learn.torch.spots.kernels"}
"""Modules that need Triton, which PyTorch has for CUDA only."""

SLOW = {"batch", "batch, interrupted", "seeds", "spot on the flop"}
"""What takes seconds to read."""
RESUMED_QUICKLY = {f"solve {name}" for name in ("cfr+", "ddcfr", "vt-cfr+", "fp", "es-mccfr", "cfr-s", "cfr-jr", "rm")}
RESUMED_QUICKLY |= {"train best-response", "train blueprint", "train ddcfr", "train a learner of one's own"}
"""Runs and trainings that are resumed in the quick tests; spots, matches and sampled runs are as well."""


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tables of hand strength are computed once for all items."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEPLEX_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take most of the time of a short job, and nothing reads them."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *given, **options: None)


def skip_without(thing: Item | Job) -> None:
    """Skip what needs packages that are not installed."""
    for needed, package in ((thing.torch, "torch"), (getattr(thing, "web", False), "fastapi")):
        if needed and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")


def copied(version: str, name: str, part: str, tmp_path: Path) -> Path:
    """A copy of a part of an item, all of it for the part ''."""
    source = HERE / version / place_of(name)
    if part:
        source /= f"{part}{JOBS[name].suffix}"
    copy = tmp_path / source.name
    (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
    return copy


def parameters(resumed: bool) -> list[Any]:
    """Versions, items and their parts; of jobs that are resumed the interrupted ones."""
    found = []
    for version, items in RECORDED.items():
        for name, parts in items.items():
            for part in parts if not resumed else [each for each in parts if each == "interrupted"]:
                many = name.startswith(("solve ", "train ", "limit")) and name not in RESUMED_QUICKLY
                slow = name in SLOW or (resumed and many)
                marks, place = [pytest.mark.slow] if slow else [], place_of(name)
                found.append(pytest.param(version, name, part, id=f"{version}-{place}-{part}".rstrip("-"), marks=marks))
    return found


@pytest.mark.slow_cases(
    "0.1-dev-train-rebel-on-whole-holdem-finished",
    "0.1-dev-spot-in-int8-finished",
    "0.1-dev-spot-in-parts-on-disk",
    "0.1-dev-correlation-devices",
)
@pytest.mark.parametrize(("version", "name", "part"), parameters(False))
def test_what_was_saved_is_read(version: str, name: str, part: str, tmp_path: Path) -> None:
    thing = JOBS[name] if name in JOBS else ITEMS[name]
    skip_without(thing)
    found = entries_of(thing.look(copied(version, name, part, tmp_path)))
    assert not faults(Case(dict, thing.rtol), found, RECORDED[version][name][part], bits=False)


@pytest.mark.slow_cases(
    "0.1-dev-solve-cfr-s-interrupted",
    "0.1-dev-train-blueprint-interrupted",
    "0.1-dev-spot-in-int8-interrupted",
    "0.1-dev-spot-until-the-turn-interrupted",
)
@pytest.mark.parametrize(("version", "name", "part"), parameters(True))
def test_what_was_interrupted_finishes(version: str, name: str, part: str, tmp_path: Path) -> None:
    job = JOBS[name]
    skip_without(job)
    place = copied(version, name, part, tmp_path)
    job.resume(place)
    found = entries_of(job.look(place))
    case = Case(dict, job.resumed or job.rtol)
    assert not faults(case, found, RECORDED[version][name]["finished"], bits=False)


def saved_kinds() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The kind of each job that is saved, and what its ``run.json`` says."""
    for version in RECORDED:
        for file in (HERE / version).rglob("run.json"):
            about = json.loads(file.read_text())
            yield about["kind"], about
        for _ in (HERE / version).rglob("*.spot"):
            yield "spot", {}


def test_every_kind_of_job_is_saved() -> None:
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(treeplex.__path__, "treeplex.")
        if "__main__" not in each.name and each.name not in WITH_TRITON
    ]
    kinds = {value.name for module in modules for value in vars(module).values() if isinstance(value, JobKind)}
    assert kinds - {kind for kind, _ in saved_kinds()} == NOT_SAVED.keys()


def test_every_learner_is_saved() -> None:
    assert learners().keys() <= {about.get("learner", "rebel" if "rebel" in kind else kind) for kind, about in saved_kinds()}


def test_every_algorithm_is_saved() -> None:
    named = {about["algorithm"].partition("(")[0] for kind, about in saved_kinds() if kind == "solve"}
    assert tp.algorithms().keys() <= named


def test_every_storage_of_spots_is_saved() -> None:
    assert {f"spot in {storage}" for storage in STORAGE} <= JOBS.keys()


def test_everything_is_recorded() -> None:
    assert {*JOBS, *ITEMS} <= {name for items in RECORDED.values() for name in items}
