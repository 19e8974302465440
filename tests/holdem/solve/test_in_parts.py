"""Spots that are solved in parts, from the outside: workers, packed numbers, and runs in folders."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from treeplex.errors import FileError, SpecError
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.known import leduc_holdem

LEDUC = leduc_holdem(13)


@pytest.mark.slow
def test_a_packed_solution_is_written_and_resumed(tmp_path):
    whole = solve_spot(LEDUC, iterations=30, threads=1, storage="packed")
    half = solve_spot(LEDUC, iterations=13, threads=1, storage="packed", out=tmp_path / "half.spot")
    found = solve_spot(iterations=30, threads=1, resume=load_solution(tmp_path / "half.spot"))
    assert half.settings.storage == found.settings.storage == "packed"
    assert found.exploitability == whole.exploitability
    assert all(np.array_equal(array, found.state[name]) for name, array in whole.state.items())
    assert found.at("").strategy.shape == whole.at("").strategy.shape


def test_one_worker_is_this_process_and_its_state_goes_on_without():
    whole = solve_spot(LEDUC, iterations=20, workers=1)
    half = solve_spot(LEDUC, iterations=8, workers=1)
    found = solve_spot(iterations=20, threads=1, resume=half)
    assert found.settings.storage == "float32"
    assert found.exploitability == pytest.approx(whole.exploitability, rel=1e-3)


def test_workers_judge_what_stops_at_a_target():
    found = solve_spot(LEDUC, iterations=200, target=0.2, every=10, workers=2)
    assert found.iterations < 200
    assert found.exploitability <= 0.2
    assert sum(found.ev) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.slow
def test_a_folder_resumes_with_its_records_and_hands_out_a_solution(tmp_path):
    storage, out = f"disk:{tmp_path / 'run'}", tmp_path / "found.spot"
    whole = solve_spot(LEDUC, iterations=30, threads=1, storage="packed")
    solve_spot(LEDUC, iterations=20, threads=1, storage=storage)
    found = solve_spot(LEDUC, iterations=30, threads=1, storage=storage, out=out)
    assert [record.done for record in found.records] == [10, 20, 30]
    assert found.exploitability == whole.exploitability
    assert found.records[0].measure("exploitability") == whole.records[0].measure("exploitability")
    assert found.disk[0] > 0
    assert load_solution(out).exploitability == whole.exploitability
    (tmp_path / "run" / "records.json").write_text("[[")
    with pytest.raises(FileError, match=r"records\.json .*delete it"):
        solve_spot(LEDUC, iterations=40, threads=1, storage=storage)
    with pytest.raises(SpecError, match="needs a folder; write disk:FOLDER"):
        solve_spot(LEDUC, iterations=1, threads=1, storage="disk:")
    with pytest.raises(SpecError, match="workers must be an integer"):
        solve_spot(LEDUC, iterations=1, workers=0)


def test_a_folder_keeps_its_number_of_iterations_between_evaluations(tmp_path):
    storage = f"disk:{tmp_path / 'run'}"
    solve_spot(LEDUC, iterations=7, threads=1, storage=storage, every=3)
    with pytest.raises(SpecError, match="is evaluated every 3 iterations, not 4; leave out 'every'"):
        solve_spot(LEDUC, iterations=14, threads=1, storage=storage, every=4)
    resumed = solve_spot(LEDUC, iterations=14, threads=1, storage=storage)
    assert [record.done for record in resumed.records] == [3, 6, 9, 12, 14]
    assert resumed.settings.every == 3


@pytest.mark.slow
def test_a_killed_run_loses_no_more_than_an_iteration(tmp_path):
    folder = tmp_path / "run"
    code = (
        "from treeplex.holdem.spots.known import leduc_holdem\n"
        "from treeplex.holdem.solve.solve_spot import solve_spot\n"
        f"solve_spot(leduc_holdem(13), iterations=100_000, threads=1, storage='disk:{folder}')"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    before = time.monotonic()
    while not (folder / "records.json").exists() and not (folder / "trunk.safetensors").exists():
        assert time.monotonic() - before < 120
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = solve_spot(LEDUC, seconds=0.2, threads=1, storage=f"disk:{folder}")
    assert found.iterations > 1
    whole = solve_spot(LEDUC, iterations=found.iterations, threads=1, storage="packed")
    assert found.exploitability == whole.exploitability
