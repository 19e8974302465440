"""Runs that sample rules: stopping, recording, resuming, memory, what is refused; and their commands."""

import json
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from tests.commands import call
from tests.processes import interrupt_after
from treeplex.errors import AlgorithmError, FileError, GameError, JobInterrupt, PolicyError, SpecError
from treeplex.evaluate.playouts import Estimate, estimate
from treeplex.forms.policies.sparse import load_table_policy
from treeplex.run.cli import sample as cli_sample
from treeplex.run.cli.main import app
from treeplex.run.job.folder import METRICS, RUN, STATE, JobFolder
from treeplex.run.job.record import Record
from treeplex.run.sample import job as sample_job
from treeplex.run.sample.sample import parsed_memory, sample
from treeplex.run.sample.settings import PLOT, POLICY, SAMPLE

QUICK: dict[str, Any] = {"playouts": 20}


def timeless(records: Any) -> list[Record]:
    return [replace(record, seconds=0.0, cpu_seconds=0.0) for record in records]


@pytest.mark.slow
def test_a_run_learns_and_records() -> None:
    found = sample("leduc_poker", iterations=1500, every=500, playouts=2000, judge=True)
    assert (found.status, found.last.done, found.last.nodes) == ("finished", 1500, found.sampler.nodes)
    assert [record.done for record in found.records] == [500, 1000, 1500]
    assert found.last.infosets == len(found.policy) > 800
    assert found.last.match > 4 * found.last.match_error > 0
    assert found.last.exploitability is not None
    assert found.last.exploitability < 0.8 * found.records[0].exploitability  # type: ignore[operator]
    compiled = tp.compile("leduc_poker")
    judged = tp.judge(compiled, found.policy.on(compiled))
    assert judged.exploitability == found.last.exploitability
    assert abs(found.last.value[0] - judged.value[0]) < 4 * found.last.error[0]
    assert "leduc_poker" in repr(found)


def test_the_same_as_solving_the_compiled_game() -> None:
    sampled = sample("kuhn_poker", "os-mccfr(variant=lcfr)", iterations=500, seed=4, **QUICK)
    solved = tp.solve("kuhn_poker", "os-mccfr(variant=lcfr)", iterations=500, seed=4)
    assert sampled.algorithm == solved.algorithm
    assert all(sampled.policy[key] == pytest.approx(solved[key], abs=1e-12) for key in solved)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "memory"),
    [
        ("es-mccfr", "1GiB"),
        ("es-mccfr", "90kB"),
        ("os-mccfr(variant=dcfr)", "1GiB"),
        ("vr-mccfr", "200kB"),
        ("vr-mccfr(key=infoset)", "1GiB"),
        ("as-mccfr", "1GiB"),
        ("rs-mccfr(k=2,averaging=stochastic)", "1GiB"),
    ],
)
def test_resuming_is_as_if_never_stopped(algorithm: str, memory: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"iterations": 90, "memory": memory, **QUICK}
    whole = sample("leduc_poker", algorithm, out=tmp_path / "whole", **given)
    with pytest.raises(JobInterrupt) as stopped:
        sample("leduc_poker", algorithm, out=tmp_path / "stopped", progress=interrupt_after(20), **given)
    assert 20 <= stopped.value.result.last.done < 90
    assert JobFolder(SAMPLE, tmp_path / "stopped").about()["status"] == "interrupted"
    resumed = sample(resume=tmp_path / "stopped")
    assert timeless(resumed.records) == timeless(whole.records)
    assert timeless(JobFolder(SAMPLE, tmp_path / "stopped").records()) == timeless(whole.records)
    assert (tmp_path / "whole" / POLICY).read_bytes() == (tmp_path / "stopped" / POLICY).read_bytes()
    states = [(tmp_path / name / STATE).read_bytes() for name in ("whole", "stopped")]
    size = whole.sampler.infosets
    assert len(states[0]) == pytest.approx(len(states[1]), abs=64)
    assert states[0][-size:] == states[1][-size:]  # what comes first tells the seconds
    for name in ("whole", "stopped"):
        assert sorted(each.name for each in (tmp_path / name).iterdir()) == sorted([RUN, METRICS, STATE, POLICY, PLOT])


@pytest.mark.slow
def test_more_iterations_and_more_memory(tmp_path: Path) -> None:
    first = sample("leduc_poker", iterations=300, memory="90kB", out=tmp_path / "run", **QUICK)
    assert first.last.unstored > 0
    more = sample(resume=tmp_path / "run", iterations=600, memory="200kB")
    assert more.last.infosets > first.last.infosets
    assert more.last.bytes <= 200_000
    assert more.last.seconds > first.last.seconds
    with pytest.raises(SpecError, match="600 iterations already"):
        sample(resume=tmp_path / "run", iterations=20)
    with pytest.raises(SpecError, match="tables take"):
        sample(resume=tmp_path / "run", memory="80kB")
    with pytest.raises(SpecError, match="was run with seed 0, not 3"):
        sample(resume=tmp_path / "run", seed=3)
    with pytest.raises(SpecError, match="not os-mccfr on"):
        sample(resume=tmp_path / "run", algorithm="os-mccfr")
    again = sample(resume=tmp_path / "run")
    assert timeless(again.records) == timeless(more.records)


@pytest.mark.slow
def test_a_limit_of_histories(tmp_path: Path) -> None:
    whole = sample("leduc_poker", nodes=3000, **QUICK)
    assert whole.status == "finished"
    assert 3000 <= whole.last.nodes < 3100
    sample("leduc_poker", nodes=1000, out=tmp_path / "run", **QUICK)
    assert timeless(sample(resume=tmp_path / "run", nodes=3000).records) == timeless(whole.records)
    with pytest.raises(SpecError, match="histories already"):
        sample(resume=tmp_path / "run", nodes=2000)


@pytest.mark.slow
def test_a_limit_of_time() -> None:
    found = sample("leduc_poker", "os-mccfr", seconds=0.3, **QUICK)
    assert found.status == "time up"
    assert found.last.done > 0
    assert found.last.seconds < 20


@pytest.mark.slow
def test_two_runs_play_each_other(tmp_path: Path) -> None:
    sample("leduc_poker", iterations=2000, out=tmp_path / "good", every=1000, **QUICK)
    weak = sample("leduc_poker", iterations=5, every=5, against=str(tmp_path / "good"), playouts=4000)
    assert weak.last.match < -4 * weak.last.match_error < 0
    with pytest.raises(SpecError, match="a policy for leduc_poker, not for kuhn_poker"):
        sample("kuhn_poker", against=str(tmp_path / "good" / POLICY))
    with pytest.raises(FileError, match="cannot read"):
        sample("kuhn_poker", against=str(tmp_path / "nothing"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("500MB", 500_000_000), ("1GiB", 2**30), ("1.5 kib", 1536), ("2e9", 2 * 10**9), ("64", 64), (77, 77), ("3TB", 3 * 10**12)],
)
def test_memory_is_read(text: str | int, size: int) -> None:
    assert parsed_memory(text) == size


@pytest.mark.parametrize("text", ["", "much", "1XB", "-5", "0", "1e99GB", "1..2MB", "GiB", -1])
def test_memory_that_cannot_be_read(text: str | int) -> None:
    with pytest.raises(SpecError, match="as memory; write 500MB, 1GiB"):
        parsed_memory(text)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"algorithm": "dcfr"}, AlgorithmError, "dcfr needs a compiled game"),
        ({"algorithm": "lp"}, AlgorithmError, "sample with cs-mccfr"),
        ({"algorithm": "es-mcfr"}, SpecError, "did you mean 'es-mccfr'"),
        ({"algorithm": "es-mccfr(x=1)"}, SpecError, "no parameter 'x'"),
        ({"algorithm": "es-mccfr(averaging=full)"}, AlgorithmError, "averaging=full"),
        ({"algorithm": "es-mccfr(threads=2)"}, AlgorithmError, "one thread"),
        ({"algorithm": "es-mccfr(variant=pcfr+)"}, AlgorithmError, "does not support sampling"),
        ({"iterations": 0}, SpecError, "iterations"),
        ({"nodes": 0}, SpecError, "nodes"),
        ({"every": 0}, SpecError, "every"),
        ({"seconds": -1}, SpecError, "seconds"),
        ({"playouts": 1}, SpecError, "playouts"),
        ({"memory": 10}, SpecError, "at least 65,536"),
        ({"game": "kuhn_pokr"}, SpecError, "kuhn_poker"),
        ({"game": None}, SpecError, "no game given"),
        ({"game": "goofspiel(num_cards=4)", "iterations": 10_000}, GameError, "forgets one of their actions"),
    ],
)
def test_bad_input_is_one_clear_error(given: dict[str, Any], error: type[Exception], message: str, tmp_path: Path) -> None:
    arguments = {"game": "kuhn_poker", **QUICK, **given}
    with pytest.raises(error, match=message):
        sample(**arguments, out=tmp_path / "run")


@pytest.mark.slow
def test_what_stops_a_run_during_an_evaluation_stops_it_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is done after it, and nothing is evaluated twice."""
    whole = sample("kuhn_poker", iterations=100, every=10, out=tmp_path / "whole", **QUICK)
    calls: list[int] = []

    def estimate_and_stop(*given: Any, **settings: Any) -> Estimate:
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return estimate(*given, **settings)

    monkeypatch.setattr(sample_job, "estimate", estimate_and_stop)
    with pytest.raises(JobInterrupt) as stopped:
        sample("kuhn_poker", iterations=100, every=10, out=tmp_path / "run", **QUICK)
    assert (stopped.value.result.last.done, len(calls)) == (30, 3)
    assert timeless(sample(resume=tmp_path / "run").records) == timeless(whole.records)


@pytest.mark.slow
def test_another_run_in_the_folder_is_overwritten_whole(tmp_path: Path) -> None:
    """Compiled runs and runs on rules leave nothing of each other behind."""
    sample("kuhn_poker", iterations=2, out=tmp_path / "run", **QUICK)
    tp.solve("kuhn_poker", iterations=2, out=tmp_path / "run", force=True)
    assert not (tmp_path / "run" / PLOT).exists()
    sample("kuhn_poker", iterations=2, out=tmp_path / "run", force=True, **QUICK)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == sorted([RUN, METRICS, STATE, POLICY, PLOT])


def test_policies_are_judged_and_shown_where_the_game_compiles(tmp_path: Path) -> None:
    """By folder and by file, on the command line and in Python."""
    found = sample("kuhn_poker", iterations=500, out=tmp_path / "run", judge=True, **QUICK)
    for place in (tmp_path / "run", tmp_path / "run" / POLICY):
        judged = CliRunner().invoke(app, ["evaluate", "kuhn_poker", str(place), "--json"])
        answer = json.loads(judged.stdout)
        assert (answer["algorithm"], answer["iterations"]) == ("es-mccfr", 500)
        assert answer["exploitability"] == tp.judge("kuhn_poker", place).exploitability == found.last.exploitability
        shown = CliRunner().invoke(app, ["show", str(place), "--json", "--infostate", "0"])
        assert json.loads(shown.stdout)


def test_whole_numbers_of_numpy_are_numbers() -> None:
    found = sample("kuhn_poker", iterations=np.int64(3), seed=np.int32(4), playouts=np.int64(5), every=np.int16(2))
    assert found.settings.iterations == found.last.done == 3


@pytest.mark.slow
def test_a_game_in_a_python_file_has_to_be_named_again(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("from treeplex import load\ndef game():\n    return load('kuhn_poker')\n")
    class_file = tmp_path / "mine.py"
    class_file.write_text(
        "from treeplex.games.builtin.kuhn_poker import *\nimport treeplex\n"
        "class Mine(treeplex.Game):\n    num_players = 2\n"
        "    def new_initial_state(self):\n        return treeplex.load('kuhn_poker').new_initial_state()\n"
    )
    sample(f"{class_file}:Mine", iterations=10, out=tmp_path / "run", **QUICK)
    with pytest.raises(FileError, match="never loaded automatically"):
        sample(resume=tmp_path / "run", iterations=20)
    assert sample(f"{class_file}:Mine", resume=tmp_path / "run", iterations=20).last.done == 20


MEASURED = """
import sys
from treeplex.run.sample.sample import sample
found = sample("liars_dice(numdice=2)", nodes=int(sys.argv[1]), memory=sys.argv[2], playouts=2, every=50)
found.save(sys.argv[3])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(found.last.bytes, found.last.unstored, int(peak.split()[1]) * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is told in another way elsewhere")
def test_a_process_keeps_within_its_memory(tmp_path: Path) -> None:
    """Peak resident memory with tables full, evaluated and written, beyond that with tables of next to nothing."""

    def measured(nodes: int, memory: str) -> list[int]:
        command = [sys.executable, "-c", MEASURED, str(nodes), memory, str(tmp_path / memory)]
        return [int(number) for number in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]

    (_, _, least), (used, unstored, most) = measured(2000, "70kB"), measured(400_000, "30MB")
    assert unstored > 0
    assert 29.9e6 < used <= 30e6
    assert 15e6 < most - least < 30e6 + 4e6  # pieces being written, and what the allocator of Python keeps


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    run = tmp_path / "run"
    printed, _ = call("sample", "leduc_poker", "-a", "es-mccfr", "-n", 200, "--memory", "90kB", "--playouts", 50, "--out", run)
    for text in (
        "leduc_poker by es-mccfr: 200 iterations",
        "value of player 1",
        "against uniform play",
        "memory limit reached",
    ):
        assert text in printed
    assert f"treeplex sample --resume {run} -n 2000" in printed
    found = json.loads(call("sample", "--resume", run, "-n", 300, "--json", "--memory", "1MiB")[0])
    assert (found["iteration"], found["status"], found["exploitability"]) == (300, "finished", None)
    assert len(load_table_policy(run / POLICY)) == found["infosets"]
    judged = json.loads(call("sample", "kuhn_poker", "-n", 500, "--judge", "--json", "--playouts", 20)[0])
    assert judged["exploitability"] < 0.2


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    for arguments, message in (
        (("sample", "leduc_poker", "--memory", "lots"), "cannot read 'lots' as memory"),
        (("sample", "leduc_poker", "-a", "lp"), "lp needs a compiled game"),
        (("sample", "leduc_poker", "-a", "nonsense"), "unknown sampling scheme 'nonsense'"),
        (("sample",), "no game given"),
        (("sample", "--resume", tmp_path), "contains no run of treeplex sample"),
        (("playouts", "leduc_poker", tmp_path / "none"), "cannot read"),
    ):
        _, printed = call(*arguments, code=2)
        assert re.fullmatch(rf"error: .*{message}.*\n", printed), printed


def test_runs_of_solve_are_played(tmp_path: Path) -> None:
    solved = tp.solve("kuhn_poker", "cfr+", iterations=100, out=tmp_path / "solved")
    tp.policies.save(solved.policy, tmp_path / "solved.json")
    for named in ("solved", "solved.json"):
        found = json.loads(call("playouts", "kuhn_poker", tmp_path / named, "-n", 2000, "--json")[0])
        assert abs(found["value"][0] + 1 / 18) < 4 * found["error"][0]
    against = sample("kuhn_poker", iterations=2, against=str(tmp_path / "solved"), playouts=2000)
    assert against.last.match < 0
    with pytest.raises(PolicyError, match="a policy for kuhn_poker, not for leduc_poker"):
        sample("leduc_poker", against=str(tmp_path / "solved"))


@pytest.mark.slow
def test_the_command_playouts(tmp_path: Path) -> None:
    call("sample", "kuhn_poker", "-n", 2000, "--playouts", 20, "--out", tmp_path / "run")
    own = json.loads(call("playouts", "kuhn_poker", tmp_path / "run", "-n", 4000, "--json")[0])
    assert abs(own["value"][0] + 1 / 18) < 4 * own["error"][0]
    match = json.loads(call("playouts", "kuhn_poker", tmp_path / "run", "--against", "uniform", "-n", 4000, "--json")[0])
    assert match["value"] > 3 * match["error"]
    assert "in seat 1" in call("playouts", "kuhn_poker", "uniform", "--against", tmp_path / "run", "-n", 10)[0]
    assert "value of player 0" in call("playouts", "kuhn_poker", "uniform", "-n", 10)[0]


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli_sample, "sampling_line", lambda progress: interrupt_after(1)(progress) or "")
    _, printed = call("sample", "leduc_poker", "-n", 10**6, "--playouts", 20, code=130)
    found = re.search(r"saved; resume with (treeplex sample --resume (\S+))", printed)
    assert found
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    resumed = json.loads(call("sample", "--resume", found[2], "-n", 2000, "--json")[0])
    assert resumed["iteration"] == 2000


def test_seconds_lift_the_number_of_iterations_of_a_resumed_run(tmp_path: Path) -> None:
    sample("kuhn_poker", iterations=20, out=tmp_path / "run", **QUICK)
    assert sample(resume=tmp_path / "run", seconds=0.5).last.done > 20


def test_a_run_does_not_resume_against_another_opponent(tmp_path: Path) -> None:
    sample("kuhn_poker", iterations=20, out=tmp_path / "first", **QUICK)
    sample("kuhn_poker", iterations=20, against=tmp_path / "first", out=tmp_path / "run", **QUICK)
    assert sample(resume=tmp_path / "run", iterations=30).last.done == 30
    sample(resume=tmp_path / "first", iterations=30)
    with pytest.raises(FileError, match="first has changed since the start"):
        sample(resume=tmp_path / "run", iterations=40)


def test_changed_rules_are_not_resumed(tmp_path: Path) -> None:
    rules, run = tmp_path / "pennies.nfg", tmp_path / "run"
    text = 'NFG 1 R "pennies" {{ "A" "B" }} {{ 2 2 }} 1 -1 -1 1 -1 1 {} {}'
    rules.write_text(text.format(1, -1))
    tp.sample(str(rules), iterations=5, playouts=2, out=run)
    tp.sample(str(rules), iterations=6, resume=run)
    rules.write_text(text.format(2, -2))
    with pytest.raises(FileError, match=r"pennies\.nfg has changed since the start"):
        tp.sample(str(rules), iterations=7, resume=run)
