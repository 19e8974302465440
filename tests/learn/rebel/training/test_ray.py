"""ReBeL's self-play and judging on Ray, where it is installed: the numbers of local workers, whatever dies."""

import gc
import json
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

ray = pytest.importorskip("ray")
pytest.importorskip("torch")

from ray.cluster_utils import Cluster  # noqa: E402

from tests.trainings import weights  # noqa: E402
from treeplex.base.workers import on_ray  # noqa: E402
from treeplex.base.workers.on_ray import RayActors, cluster_cpus, sigterm_kept  # noqa: E402
from treeplex.errors import JobInterrupt, SpecError  # noqa: E402
from treeplex.learn.rebel.settings import RebelSettings  # noqa: E402
from treeplex.learn.rebel.training.job import NET, REBEL  # noqa: E402
from treeplex.learn.rebel.training.judge import judge_rebel  # noqa: E402
from treeplex.learn.rebel.training.kind import streams_for  # noqa: E402
from treeplex.learn.train.train import train  # noqa: E402
from treeplex.run.cli.main import app  # noqa: E402
from treeplex.run.job.folder import METRICS, JobFolder  # noqa: E402
from treeplex.run.job.record import Progress  # noqa: E402
from treeplex.run.job.workers import Work  # noqa: E402

DICE = "liars_dice(dice_sides=2)"
TINY = RebelSettings(
    iterations=4,
    episodes=16,
    width=8,
    solves=640,
    burn_in=64,
    batch=32,
    reuse=4.0,
    depth=1,
    seed=3,
    policy_net=True,
    warm=1,
    streams=4,
)
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("ray"), pytest.mark.slow]


class RecordedActors(RayActors):  # type: ignore[misc]
    """A crew that a test can find."""

    made: "list[RecordedActors]"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.made.append(self)


@pytest.fixture
def crews(monkeypatch: pytest.MonkeyPatch) -> list[RecordedActors]:
    """All crews that are made."""
    monkeypatch.setattr(RecordedActors, "made", [], raising=False)
    monkeypatch.setattr(on_ray, "RayActors", RecordedActors)
    return RecordedActors.made


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two machines of one CPU each, as far as Ray can tell."""
    with sigterm_kept():
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        found.add_node(num_cpus=1)
        found.wait_for_nodes()
    yield found
    found.shutdown()
    del found
    with warnings.catch_warnings(action="ignore"):  # processes that Ray ended and did not wait for
        gc.collect()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The training as one process does it."""
    folder = tmp_path_factory.mktemp("rebel") / "alone"
    train(DICE, settings=TINY, out=folder, workers=1, judge_every=0)
    return folder


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """What waits for ever fails instead."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"not done within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def at_round(number: int, act: Callable[[], None]) -> Callable[[Progress], None]:
    """A watcher that does something once, after so many rounds."""
    count = 0

    def watch(progress: Progress) -> None:
        nonlocal count
        count += 1
        if count == number:
            act()

    return watch


def counts(folder: Path) -> tuple[int, int, int]:
    """What the last record counts."""
    last = JobFolder(REBEL, folder).records()[-1]
    return last.done, last.rows, last.steps


def test_an_actor_that_is_killed_changes_no_number(
    cluster: Cluster, crews: list[RecordedActors], alone: Path, tmp_path: Path
) -> None:
    def kill() -> None:
        os.kill(crews[0].pids[0], signal.SIGKILL)

    before = signal.getsignal(signal.SIGTERM)
    with within(300):
        options: dict[str, Any] = {"workers": 2, "ray": cluster.address, "judge_every": 0}
        ended = train(DICE, settings=TINY, out=tmp_path / "run", progress=at_round(5, kill), **options)
    assert ended.records[-1].lost == 1
    assert weights(tmp_path / "run") == weights(alone)
    assert counts(tmp_path / "run") == counts(alone)
    assert not ray.is_initialized()
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_machine_that_goes_leaves_the_work_to_the_others(
    cluster: Cluster, crews: list[RecordedActors], alone: Path, tmp_path: Path
) -> None:
    gone = []

    def remove() -> None:
        assert crews[0].pids  # both are up
        cluster.remove_node(next(iter(cluster.worker_nodes)))
        gone.append(ray.cluster_resources()["CPU"])

    def last(progress: Progress) -> None:
        watch(progress)
        if progress.done == TINY.solves:
            gone.append(crews[0].up)

    watch = at_round(5, remove)
    try:
        with within(300):
            ended = train(DICE, settings=TINY, out=tmp_path / "run", ray=cluster.address, judge_every=0, progress=last)
    finally:
        with sigterm_kept():
            cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
    assert gone[-1] == 1
    assert ended.records[-1].lost == 1
    assert weights(tmp_path / "run") == weights(alone)


def test_it_goes_on_with_ray_or_without(cluster: Cluster, alone: Path, tmp_path: Path) -> None:
    def stop() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    options: dict[str, Any] = {"judge_every": 0}
    with within(300):
        with pytest.raises(JobInterrupt):
            train(DICE, settings=TINY, out=tmp_path / "run", workers=1, progress=at_round(7, stop), **options)
        with pytest.raises(JobInterrupt):
            train(resume=tmp_path / "run", ray=cluster.address, progress=at_round(9, stop), **options)
        train(resume=tmp_path / "run", workers=1, **options)
    assert weights(tmp_path / "run") == weights(alone)
    assert counts(tmp_path / "run") == counts(alone)


def test_judging_finds_the_same(cluster: Cluster, crews: list[RecordedActors], alone: Path) -> None:
    asked: dict[str, Any] = {"playthroughs": 8, "iterations": 4}
    here = judge_rebel(DICE, alone / NET, workers=1, **asked)
    with within(300):
        there = judge_rebel(DICE, alone / NET, ray=cluster.address, **asked)
    assert [crew.size for crew in crews] == [2]
    assert there.judgement.exploitability == here.judgement.exploitability
    assert there.halves == here.halves


def test_the_commands(alone: Path, tmp_path: Path) -> None:
    settings = {name: getattr(TINY, name) for name in ("iterations", "episodes", "width", "burn_in", "batch", "depth", "seed")}
    changes = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    asked = ["train", "rebel", DICE, *changes, "--set", "solves=128", "--judge-every", "0", "--workers", "1", "--json"]
    with within(300):
        result = CliRunner().invoke(app, [*asked, "--ray", "local", "--out", str(tmp_path / "run")])
        assert json.loads(result.stdout)["subgames"] == 128
        judge = ["evaluate", DICE, str(tmp_path / "run"), "--playthroughs", "4", "--iterations", "2", "--json"]
        there = json.loads(CliRunner().invoke(app, [*judge, "--ray", "local", "--workers", "1"]).stdout)
    assert JobFolder(REBEL, tmp_path / "run").about()["settings"]["streams"] == 2
    here = json.loads(CliRunner().invoke(app, [*judge[:2], str(tmp_path / "run" / NET), *judge[3:]]).stdout)
    assert there["exploitability"] == here["exploitability"]
    result = CliRunner().invoke(app, ["evaluate", DICE, "uniform", "--ray", "local"])
    assert "--ray apply to agents, not to uniform" in result.output


def test_streams_by_the_cpus_of_the_cluster(cluster: Cluster) -> None:
    assert cluster_cpus(cluster.address) == 2
    assert not ray.is_initialized()
    assert streams_for(Work(None, cluster.address)) == 4
    assert streams_for(Work(1, cluster.address)) == 2
    assert streams_for(Work(1)) == 1


def test_a_mistake_costs_no_earlier_training(cluster: Cluster, alone: Path) -> None:
    before = (alone / METRICS).read_bytes()
    options: dict[str, Any] = {"out": alone, "force": True}
    with pytest.raises(SpecError, match=r"no Ray cluster at '127\.0\.0\.1:1'"):
        train(DICE, settings=TINY, workers=2, ray="127.0.0.1:1", **options)
    with pytest.raises(SpecError, match="has 2 CPUs, too few for 3"):
        train(DICE, settings=TINY, workers=3, ray=cluster.address, **options)
    with pytest.raises(SpecError, match="leave --ray out"):
        train(DICE, settings=replace(TINY, streams=1), ray=cluster.address, **options)
    assert (alone / METRICS).read_bytes() == before
    assert not ray.is_initialized()
