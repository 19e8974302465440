"""What holds for jobs of every kind: they go on bit for bit however they ended, and nobody else writes their folder."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from papers.cfr2007.runs import LIMIT, LimitSettings, solve_limit
from tests.saved.items import Counting
from treeplex.errors import FileError, JobInterrupt
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.solve.solution import HoldemSolution, load_solution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.study.batches.batch import run_batch
from treeplex.holdem.study.batches.boards import read_boards
from treeplex.learn.best_response.kind import BEST_RESPONSE
from treeplex.learn.best_response.learner import BestResponseSettings
from treeplex.learn.blueprint.job import HOLDEM_BLUEPRINT
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.learn.discount.job import DISCOUNT
from treeplex.learn.discount.settings import DiscountSettings
from treeplex.learn.train.learner_job import LIBRARY, OWN
from treeplex.learn.train.train import train
from treeplex.run.job import job as frame
from treeplex.run.job.checkpoint import position_of
from treeplex.run.job.folder import LOCK, METRICS, RUN, STATE, JobFolder, JobKind
from treeplex.run.job.interrupt import NOTICE
from treeplex.run.job.record import Progress, Record
from treeplex.run.sample.sample import sample
from treeplex.run.sample.settings import SAMPLE
from treeplex.run.solve.settings import SOLVE

ROOT = Path(__file__).parents[3]
DAMAGES = ("truncated", "changed", "emptied")


@dataclass(frozen=True)
class Case:
    """A kind of job, and a short one of it.

    Attributes:
        kind: the kind.
        new: runs it anew; takes ``out``, ``force`` and ``progress``.
        resume: goes on with it; takes ``resume`` and ``progress``.
        stop: how far it is when it is stopped.
        volatile: numbers of records that time decides.
    """

    kind: JobKind
    new: Callable[..., Any]
    resume: Callable[..., Any]
    stop: int
    volatile: tuple[str, ...] = ()


BUCKETS = LimitSettings("bucketed_holdem(cards=royal,buckets=2,boards=50,river_boards=50)")
EPOCHS = DiscountSettings(epochs=6, population=4, horizon=20, hidden=(8,), sigma=0.5, learning_rate=0.1)
CASES = {
    "solve": Case(SOLVE, lambda **given: tp.solve("kuhn_poker", "pcfr+", iterations=90, **given), tp.solve, 33),
    "sample": Case(SAMPLE, lambda **given: sample("kuhn_poker", iterations=80, playouts=20, **given), sample, 30),
    "limit": Case(
        LIMIT,
        lambda **given: solve_limit(BUCKETS, iterations=2000, evaluations=6, **given),
        lambda resume, **given: solve_limit(BUCKETS, iterations=2000, evaluations=6, out=resume, resume=True, **given),
        150,
    ),
    "discount": Case(DISCOUNT, partial(train, "kuhn_poker", "ddcfr", settings=EPOCHS, workers=1), partial(train, workers=1), 3),
}


TEN_CARDS = "holdem(ranks=5,suits=2,stack=12,preflop=[a],sizes=[100%;a],raises=[2;2;1;1])"
BLUEPRINT = BlueprintTraining(boards=60, deals=2, buckets=(3, 2, 2, 2), method="kmeans", discount_every=20, prune_after=10)
CASES["blueprint"] = Case(HOLDEM_BLUEPRINT, partial(train, TEN_CARDS, "blueprint", settings=BLUEPRINT), train, 23)
RESPONSE = BestResponseSettings(steps=12, batch=32, width=4, hands=8, every=4, approximator="table")
CASES["best response"] = Case(BEST_RESPONSE, partial(train, "kuhn_poker", "best-response", settings=RESPONSE), train, 4)
CASES["own learner"] = Case(OWN, partial(train, "kuhn_poker", Counting), partial(train, learner=Counting), 12)
if find_spec("torch"):
    from treeplex.learn.alphaholdem.job import ALPHAHOLDEM
    from treeplex.learn.alphaholdem.settings import AlphaHoldemSettings
    from treeplex.learn.deepstack.kind import DEEPSTACK
    from treeplex.learn.deepstack.settings import DeepStackSettings
    from treeplex.learn.rebel.settings import RebelSettings
    from treeplex.learn.rebel.training.job import REBEL, TURNS
    from treeplex.learn.rebel.training.kind import HoldemRebelKind

    LEARNING = {"steps": 12, "walks": 20, "value_walks": 20, "fits": 3, "critic_fits": 3, "average_fits": 5, "width": 4}
    CASES["learner"] = Case(LIBRARY, partial(train, "kuhn_poker", "escher", settings=LEARNING), train, 4)
    POKER = AlphaHoldemSettings(updates=6, hands=16, match=8, admit=2, best=2, channels=2, width=8, checked=8, every=2)
    CASES["alphaholdem"] = Case(ALPHAHOLDEM, partial(train, "kuhn_poker", "alphaholdem", settings=POKER), train, 3)
    DICE = RebelSettings(iterations=4, episodes=16, width=8, solves=128, burn_in=32, batch=16, reuse=4.0, depth=1, seed=3)
    SPOT = holdem("3s7hTdKs", "QQ,AKs,JTs", "99,KQs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%", ""))
    GAMES = replace(
        HoldemRebelKind().settings_for(SPOT, None),
        iterations=2,
        rivers=4,
        river_iterations=8,
        games=5,
        bins=8,
        width=8,
        layers=1,
        burn_in=8,
        batch=8,
        reuse=8.0,
    )
    for name, (streams, workers) in {"rebel": (1, None), "rebel with streams": (3, 1)}.items():
        given = {"judge_every": 0, "workers": workers}
        new = partial(train, "liars_dice(dice_sides=2)", settings=replace(DICE, streams=streams), **given)
        resume = partial(train, **given)
        CASES[name] = Case(REBEL, new, resume, 48, ("rate",))
    SITUATIONS = DeepStackSettings(iterations=4, situations=64, side=16, width=8, layers=1, burn_in=8, batch=8, reuse=2.0)
    CASES["deepstack"] = Case(DEEPSTACK, partial(train, "leduc_poker", "deepstack", settings=SITUATIONS), train, 48)
    CASES["turns"] = Case(TURNS, partial(train, SPOT, settings=GAMES), train, 2, ("rate",))


def name_of(case: Case) -> str:
    return next(name for name, each in CASES.items() if each is case)


SLOW = ("alphaholdem", "best response", "blueprint", "deepstack", "rebel with streams", "turns")
"""Kinds whose jobs take seconds each time; another kind of training stands for them in the default tests."""


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in sorted(CASES)])
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Path]:
    """Folders of jobs that were never stopped, each run once."""
    made: dict[str, Path] = {}

    def folder(case: Case) -> Path:
        name = name_of(case)
        if name not in made:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(frame, "RECORD_SECONDS", 0.0)
                made[name] = tmp_path_factory.mktemp("whole") / "run"
                case.new(out=made[name])
        return made[name]

    return folder


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tables of hand strength are worked out once for all tests and the processes that they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEPLEX_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs without points to evaluate at are evaluated after each step, so that records do not depend on speed."""
    monkeypatch.setattr(frame, "RECORD_SECONDS", 0.0)


def found(case: Case, folder: Path) -> tuple[list[Any], dict[str, bytes], int]:
    """All that a job found out, without times."""

    def timeless(record: Record) -> tuple[int, dict[str, Any]]:
        return record.done, {name: value for name, value in record.numbers.items() if name not in case.volatile}

    place = JobFolder(case.kind, folder)
    with place.state() as state:
        arrays = {name: array.tobytes() for name, array in state.items() if not name.endswith(".seconds")}
        return [timeless(record) for record in place.records()], arrays, position_of(state).done


def stop_by(number: int, after: int) -> Callable[[Progress], None]:
    """A watcher that sends a signal once, after so many units."""
    sent: list[int] = []

    def watch(progress: Progress) -> None:
        if progress.done >= after and not sent:
            sent.append(progress.done)
            signal.raise_signal(number)

    return watch


def status_of(folder: Path) -> str:
    return str(json.loads((folder / RUN).read_text())["status"])


class PowerCut(BaseException):
    """Nothing is saved any more."""


def cut_power(after: int) -> Callable[[Progress], None]:
    def watch(progress: Progress) -> None:
        if progress.done >= after:
            raise PowerCut

    return watch


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_and_resumed_is_as_if_never_stopped(
    case: Case, unbroken: Callable[[Case], Path], tmp_path: Path, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(JobInterrupt) as stopped:
        case.new(out=tmp_path / "run", progress=stop_by(number, case.stop))
    assert stopped.value.result.status == "interrupted"
    assert NOTICE in capsys.readouterr().err
    assert status_of(tmp_path / "run") == "interrupted"
    assert case.stop <= found(case, tmp_path / "run")[2] < found(case, unbroken(case))[2]
    assert case.resume(resume=tmp_path / "run").status == "finished"
    assert found(case, tmp_path / "run") == found(case, unbroken(case))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.slow_cases("limit")
def test_the_second_signal_stops_at_once(case: Case, tmp_path: Path) -> None:
    def press(progress: Progress) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt) as stopped:
        case.new(out=tmp_path / "run", progress=press)
    assert not isinstance(stopped.value, JobInterrupt)
    assert not (tmp_path / "run" / LOCK).exists()


SLOW = """
import sys, time
from treeplex.run.job import job
job.CHECKPOINT_SECONDS = job.LEAST_SHARE = job.RECORD_SECONDS = 0.0
from tests.run.job.test_kinds import CASES
if __name__ == "__main__":
    CASES[sys.argv[1]].new(out=sys.argv[2], progress=lambda state: time.sleep(0.2))
"""


def started(tmp_path: Path, code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A process that runs some code."""
    (tmp_path / "slow.py").write_text(code)
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, str(tmp_path / "slow.py"), *arguments]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths})


def wait_for(process: subprocess.Popen[bytes], condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_killed_and_resumed_is_as_if_never_stopped(case: Case, unbroken: Callable[[Case], Path], tmp_path: Path) -> None:
    """And while it runs, nobody else writes there; what it left half-written goes."""
    folder, whole = tmp_path / "run", unbroken(case)  # first, so that kernels are compiled while no process waits for them
    process = started(tmp_path, SLOW, name_of(case), str(folder))
    try:
        wait_for(process, lambda: (folder / STATE).exists() and found(case, folder)[2] >= 1)
        for again in (lambda: case.resume(resume=folder), lambda: case.new(out=folder, force=True)):
            with pytest.raises(FileError, match=f"is being written by process {process.pid} on .*; wait for it to end"):
                again()
    finally:
        process.kill()
        process.wait()
    assert status_of(folder) == "running"
    assert found(case, folder)[2] < found(case, whole)[2]
    left, ours = (folder / f".{STATE}.{pid}-0123456789ab.tmp" for pid in (process.pid, os.getpid()))
    for path in (left, ours):
        path.write_bytes(b"half")
    with (folder / METRICS).open("a") as file:
        file.write('{"done": 63, "sec')
    case.resume(resume=folder)
    assert found(case, folder) == found(case, whole)
    assert not left.exists()
    assert ours.exists()
    assert not (folder / LOCK).exists()


@pytest.mark.quick_cases("solve")
def test_records_after_the_checkpoint_are_made_again(
    case: Case, unbroken: Callable[[Case], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(frame, "LEAST_SHARE", 0.0)
    with pytest.raises(PowerCut):
        case.new(out=tmp_path / "run", progress=cut_power(case.stop))
    saved = found(case, tmp_path / "run")[2]
    monkeypatch.undo()
    monkeypatch.setattr(frame, "RECORD_SECONDS", 0.0)
    with pytest.raises(PowerCut):
        case.resume(resume=tmp_path / "run", progress=cut_power(saved + 1))
    assert found(case, tmp_path / "run")[2] == saved
    case.resume(resume=tmp_path / "run")
    assert found(case, tmp_path / "run") == found(case, unbroken(case))


@pytest.mark.quick_cases("solve")
def test_one_that_never_came_to_a_checkpoint_begins_anew(case: Case, unbroken: Callable[[Case], Path], tmp_path: Path) -> None:
    with pytest.raises(PowerCut):
        case.new(out=tmp_path / "run", progress=cut_power(1))
    assert not (tmp_path / "run" / STATE).exists()
    case.resume(resume=tmp_path / "run")
    assert found(case, tmp_path / "run") == found(case, unbroken(case))


@pytest.mark.quick_cases("rebel", "solve")
def test_a_finished_one_is_left_as_it_is(case: Case, unbroken: Callable[[Case], Path], tmp_path: Path) -> None:
    folder = copied(unbroken(case), tmp_path)
    before = {path: path.read_bytes() for path in folder.rglob("*")}
    assert case.resume(resume=folder).status == "finished"
    assert {path: path.read_bytes() for path in folder.rglob("*")} == before


def copied(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.slow_cases("limit", "sample")
def test_a_folder_says_what_it_holds(case: Case, unbroken: Callable[[Case], Path]) -> None:
    folder = unbroken(case)
    about = json.loads((folder / RUN).read_text())
    assert (about["kind"], about["status"], about["treeplex"]) == (case.kind.name, "finished", tp.__version__)
    assert {path.name for path in folder.iterdir()} >= {RUN, METRICS, STATE, *case.kind.files}
    lines = [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]
    assert list(lines[0]) == ["done", "seconds", "cpu_seconds", *case.kind.numbers]
    assert [line["done"] for line in lines] == sorted({line["done"] for line in lines})
    assert about["last"] == lines[-1]


@pytest.mark.quick_cases("solve")
def test_one_in_the_way_is_kept_unless_forced(case: Case, unbroken: Callable[[Case], Path], tmp_path: Path) -> None:
    folder = copied(unbroken(case), tmp_path)
    (folder / "letter.txt").write_text("dear")
    before = {path: path.read_bytes() for path in folder.rglob("*")}
    with pytest.raises(FileError, match=rf"is not empty; resume it \(--resume\).*the {case.kind.noun} in it.*--force"):
        case.new(out=folder)
    assert {path: path.read_bytes() for path in folder.rglob("*")} == before
    (folder / METRICS).write_text("old")
    case.new(out=folder, force=True)
    assert found(case, folder) == found(case, unbroken(case))
    assert (folder / "letter.txt").read_text() == "dear"


@pytest.mark.slow_cases("limit")
def test_what_is_no_folder_of_this_kind(case: Case, unbroken: Callable[[Case], Path], tmp_path: Path) -> None:
    by_folder = case.kind.name == "rebel on turns"  # what a folder without run.json holds is not known
    noun, maker = ("training", "treeplex train") if by_folder else (case.kind.noun, case.kind.maker)
    with pytest.raises(FileError, match=rf"contains no {noun} of {maker} .* with --out"):
        case.resume(resume=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="is a file; give a folder"):
        case.new(out=tmp_path / "file")
    folder = copied(unbroken(case), tmp_path)
    other = JobFolder(JobKind("other", "things", "treeplex other"), folder)
    other.describe({}, status="finished", records=())
    with pytest.raises(FileError, match=r"job of kind other, not "):
        case.resume(resume=folder)


@pytest.mark.slow_cases(
    "limit-truncated-run.json",
    "limit-truncated-metrics.jsonl",
    "limit-truncated-state.safetensors",
    "limit-changed-run.json",
    "limit-changed-metrics.jsonl",
    "limit-changed-state.safetensors",
    "limit-emptied-run.json",
    "limit-emptied-metrics.jsonl",
    "limit-emptied-state.safetensors",
)
@pytest.mark.parametrize("name", [RUN, METRICS, STATE])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named(case: Case, unbroken: Callable[[Case], Path], tmp_path: Path, name: str, damage: str) -> None:
    folder = copied(unbroken(case), tmp_path)
    data = (folder / name).read_bytes()
    if damage == "truncated":
        data = data[: len(data) // 2] + (b"\n" if name == METRICS else b"")
    elif damage == "changed":
        at = data.index(b'"treeplex": "') + 14 if name == RUN else data.index(b'"seconds": ') + 11 if name == METRICS else -3
        data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 if at > 0 else len(data) + at + 1 :]
    else:
        data = b""
    (folder / name).write_bytes(data)
    with pytest.raises(FileError, match=name):
        case.resume(resume=folder)


@pytest.mark.slow_cases("limit")
def test_a_folder_that_several_wrote_is_refused(case: Case, unbroken: Callable[[Case], Path], tmp_path: Path) -> None:
    folder = copied(unbroken(case), tmp_path)
    lines = (folder / METRICS).read_text().splitlines(keepends=True)
    for spoilt in ([*lines, *lines[-2:]], [*lines[:2], lines[1], *lines[2:]]):
        (folder / METRICS).write_text("".join(spoilt))
        with pytest.raises(FileError, match=r"metrics.jsonl, line \d+: .* follow .* written by several runs"):
            case.resume(resume=folder)
    del lines[1]
    (folder / METRICS).write_text("".join(lines))
    with pytest.raises(FileError, match=r"metrics.jsonl: truncated or edited"):
        case.resume(resume=folder)


@pytest.mark.slow_cases("limit")
def test_files_of_another_version_or_job_are_refused(case: Case, unbroken: Callable[[Case], Path], tmp_path: Path) -> None:
    folder = copied(unbroken(case), tmp_path)
    about = json.loads((folder / RUN).read_text())
    (folder / RUN).write_text(json.dumps({**about, "version": 99}))
    with pytest.raises(FileError, match=r"run.json: format version 99, but this Treeplex reads \d"):
        case.resume(resume=folder)
    (folder / RUN).write_text(json.dumps(about))
    with JobFolder(case.kind, folder).state() as state:
        at, arrays = position_of(state), dict(state)
    other = type(at)(**{**vars(at), "identity": "another"})
    JobFolder(case.kind, folder).save_state(other, arrays)
    with pytest.raises(FileError, match=r"state.safetensors: state belongs to another .*; restore the matching file"):
        case.resume(resume=folder)
    JobFolder(case.kind, folder).save_state(at, {"nothing": arrays[next(iter(arrays))]})
    with pytest.raises(FileError, match=r"state.safetensors: not a state of"):
        case.resume(resume=folder)
    (folder / STATE).unlink()
    with pytest.raises(FileError, match=STATE):
        case.resume(resume=folder)


@pytest.mark.slow
def test_a_full_disk_leaves_the_last_checkpoint(
    case: Case, unbroken: Callable[[Case], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(JobInterrupt):
        case.new(out=tmp_path / "run", progress=stop_by(signal.SIGINT, case.stop))
    before = (tmp_path / "run" / STATE).read_bytes()

    def full(*given: Any) -> None:
        raise FileError("cannot write: no space left on device; free disk space") from OSError(28, "No space left")

    monkeypatch.setattr("treeplex.run.job.folder.write_checkpoint", full)
    with pytest.raises(FileError, match="no space left"):
        case.resume(resume=tmp_path / "run")
    assert (tmp_path / "run" / STATE).read_bytes() == before
    monkeypatch.undo()
    monkeypatch.setattr(frame, "RECORD_SECONDS", 0.0)
    case.resume(resume=tmp_path / "run")
    assert found(case, tmp_path / "run") == found(case, unbroken(case))


SPOT_OF_RIVER = holdem("Td9d6hQc2s", "AA,QJs,JTs", "KK,T8s,65s", pot=20, stack=60, bets=BetPlan.same("50%,a", "a"))
SLOW_SPOT = """
import sys, time
from treeplex.run.job import job
job.CHECKPOINT_SECONDS = job.LEAST_SHARE = 0.0
from tests.run.job.test_kinds import SPOT_OF_RIVER
from treeplex.holdem.solve.solve_spot import solve_spot
solve_spot(SPOT_OF_RIVER, iterations=95, threads=1, out=sys.argv[1], progress=lambda state: time.sleep(0.2))
"""


def same_spot(one: HoldemSolution, other: HoldemSolution) -> bool:
    assert one.state is not None
    assert other.state is not None
    records = ([(record.done, record.exploitability) for record in each.records] for each in (one, other))
    arrays = all(np.array_equal(array, other.state[name]) for name, array in one.state.items())
    return arrays and next(records) == next(records) and one.ev == other.ev


@pytest.mark.slow
def test_a_spot_that_was_killed_goes_on_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "river.spot"
    process = started(tmp_path, SLOW_SPOT, str(file))
    try:
        wait_for(process, file.exists)
        with pytest.raises(FileError, match=f"river.spot is being written by process {process.pid} on .*; wait for it to end"):
            solve_spot(SPOT_OF_RIVER, iterations=5, threads=1, out=file)
    finally:
        process.kill()
        process.wait()
    saved = load_solution(file)
    assert saved.status == "running"
    assert 0 < saved.iterations < 95
    left = tmp_path / f".river.spot.{process.pid}-0123456789ab.tmp"
    left.write_bytes(b"half")
    solve_spot(resume=saved, iterations=95, threads=1, out=file)
    assert same_spot(load_solution(file), solve_spot(SPOT_OF_RIVER, iterations=95, threads=1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["river.spot", "slow.py"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_spot_that_was_stopped_goes_on_from_its_file(tmp_path: Path, number: int) -> None:
    with pytest.raises(JobInterrupt) as stopped:
        solve_spot(SPOT_OF_RIVER, iterations=95, threads=1, out=tmp_path / "river", progress=stop_by(number, 13))
    assert stopped.value.result.status == "interrupted"
    saved = load_solution(tmp_path / "river.spot")
    assert 13 <= saved.iterations < 95
    ended = solve_spot(resume=saved, iterations=95, threads=1)
    assert same_spot(ended, solve_spot(SPOT_OF_RIVER, iterations=95, threads=1))


def test_one_writer_at_a_time_for_batches(tmp_path: Path) -> None:
    def again(spot: Any, interrupt: Any, file: Path) -> Any:
        run_batch(lambda board: SPOT_OF_RIVER, read_boards("AsKd2c"), tmp_path / "batch", again, {})

    with pytest.raises(FileError, match=f"is being written by process {os.getpid()} on"):
        run_batch(lambda board: SPOT_OF_RIVER, read_boards("AsKd2c"), tmp_path / "batch", again, {})
    assert not (tmp_path / "batch" / LOCK).exists()
