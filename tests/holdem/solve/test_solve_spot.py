"""Solving spots: when it stops, what it says, going on, and figures of published programs."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests.poker_games import SPOTS
from treeplex.base.storage.memory import available_memory, container_memory
from treeplex.errors import AlgorithmError, JobInterrupt, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.solve.estimate import estimate_spot
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.libratus_endgames import read_libratus_endgame
from treeplex.run.job.interrupt import Interrupt

ENDGAMES = os.environ.get("TREEPLEX_ENDGAMES")
RIVER = holdem("Td9d6hQc2s", "AA,QJs,JTs", "KK,T8s,65s,KJs:0.5", pot=20, stack=60, bets=BetPlan.same("50%,a", "a"))
LEDUC = SPOTS["leduc"]


def same_state(one, other):
    return all(np.array_equal(array, other.state[name]) for name, array in one.state.items())


def test_stops_at_the_default_target():
    seen = []
    found = solve_spot(RIVER, threads=1, progress=seen.append)
    assert (found.status, found.algorithm) == ("target reached", "dcfr")
    assert found.exploitability <= found.target == 0.005 * 20
    assert found.target_reached
    assert found.iterations % 10 == 0
    assert [record.done for record in found.records] == list(range(10, found.iterations + 1, 10))
    assert found.records[-2].exploitability > found.target
    assert sum(found.ev) == pytest.approx(0, abs=1e-6)
    assert (seen[-1].done, seen[-1].total) == (found.iterations, 1000)
    assert seen[-1].numbers["exploitability"] == found.records[-2].exploitability
    assert found.seconds > 0
    assert found.judging_seconds > 0
    assert found.memory > 2 * 4 * found.game.stored


def test_stops_after_the_iterations_asked_for():
    found = solve_spot(LEDUC, "cfr+", iterations=25, threads=1, every=7)
    assert [record.done for record in found.records] == [7, 14, 21, 25]
    assert (found.status, found.target, found.target_reached) == ("finished", None, True)
    missed = solve_spot(LEDUC, iterations=5, target=1e-6, threads=1)
    assert (missed.status, missed.target_reached) == ("finished", False)
    assert missed.records[-1].done == 5


def test_no_iterations_judge_the_uniform_strategy():
    found = solve_spot(RIVER, iterations=0, threads=1)
    assert found.at("").strategy == pytest.approx(1 / 3)
    assert found.at("a").strategy == pytest.approx(1 / 2)
    assert found.exploitability > 1


def test_stops_in_time():
    found = solve_spot(RIVER, seconds=0.05, threads=1)
    assert found.status == "time up"
    assert 0.05 <= found.seconds < 10


@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+", "apcfr+", "hs-dcfr", "vt-cfr+", "flop", "cfr"])
def test_going_on_is_as_if_it_had_never_stopped(algorithm):
    whole = solve_spot(LEDUC, algorithm, iterations=30, threads=1)
    half = stopped_after(13, algorithm, 30)
    before = {name: array.copy() for name, array in half.state.items()}
    found = solve_spot(algorithm=algorithm, iterations=30, threads=1, resume=half)
    assert same_state(whole, found)
    assert found.exploitability == whole.exploitability
    assert found.iterations == 30
    assert found.seconds > half.seconds
    assert all(np.array_equal(array, before[name]) for name, array in half.state.items())
    assert [record.done for record in found.records] == [13, 26, 30]


def stopped_after(iteration, algorithm, iterations):
    """A run that was to do more iterations, stopped."""
    interrupt = Interrupt(wanted=False)

    def watch(progress):
        interrupt.requested = progress.done >= iteration

    found = solve_spot(LEDUC, algorithm, iterations=iterations, threads=1, interrupt=interrupt, progress=watch, every=iteration)
    assert (found.status, found.iterations) == ("interrupted", iteration)
    return found


def test_control_c_hands_out_what_there_is():
    def press(progress):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(JobInterrupt) as stopped:
        solve_spot(RIVER, iterations=10**6, threads=1, progress=press)
    found = stopped.value.result
    assert (found.status, found.iterations) == ("interrupted", 1)
    assert found.records[-1].done == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_sigterm_is_control_c_and_a_second_one_skips_the_judging(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("treeplex.holdem.solve.job.LONG_ITERATION", 0.0)
    monkeypatch.setattr("treeplex.holdem.solve.job.judge_spot", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    with pytest.raises(JobInterrupt) as stopped:
        solve_spot(LEDUC, iterations=3, threads=1, progress=lambda _: signal.raise_signal(signal.SIGTERM))
    monkeypatch.undo()
    said = capsys.readouterr().err.splitlines()
    assert [line.split(";")[0] for line in said if line] == ["stopping after this step", "evaluating the strategy"]
    found = stopped.value.result
    assert (found.status, found.iterations, found.judged) == ("interrupted", 1, False)
    assert np.isnan([found.exploitability, *found.ev]).all()
    read = load_solution(found.save(tmp_path / "half"))
    assert not read.judged
    seen = []
    resumed = solve_spot(resume=read, iterations=3, threads=1, progress=seen.append)
    assert [record.done for record in resumed.records] == [3]
    assert "exploitability" not in seen[0].numbers
    whole = solve_spot(LEDUC, iterations=3, threads=1)
    assert (resumed.exploitability, resumed.ev) == (whole.exploitability, whole.ev)
    assert same_state(resumed, whole)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_second_control_c_is_heard_within_an_iteration(threads, monkeypatch):
    """Between two boards: neither this thread nor another begins a further piece of work."""
    monkeypatch.setattr("treeplex.holdem.engine.passes.NUMBERS_A_PIECE", 10)
    monkeypatch.setattr("treeplex.holdem.engine.passes.NUMBERS_A_STREET", 0)
    monkeypatch.setattr("treeplex.engine.threads.available_cores", lambda: 2)
    solver = HoldemSolver(compile_spot(LEDUC), threads=threads)
    pressed, pieces = threading.Event(), []

    def piece(first, last, thread):
        pieces.append(first)
        if threading.current_thread() is threading.main_thread():
            pressed.set()
            signal.raise_signal(signal.SIGINT)
        pressed.wait()
        time.sleep(0.05)

    with pytest.raises(KeyboardInterrupt):
        solver.crew.share(piece, 1000)
    assert len(pieces) < 2 * threads + 1
    assert solver.crew.pieces > 8


def test_what_cannot_be_resumed():
    found = solve_spot(LEDUC, iterations=5, threads=1)
    with pytest.raises(SpecError, match="'iterations' is the total, and 5 are already done"):
        solve_spot(iterations=3, threads=1, resume=found)
    with pytest.raises(SpecError, match="belongs to another spot"):
        solve_spot(RIVER, threads=1, resume=found)
    with pytest.raises(SpecError, match="uses dcfr, not cfr"):
        solve_spot(LEDUC, "cfr", threads=1, resume=found)
    with pytest.raises(SpecError, match="has storage float32, not float64"):
        solve_spot(storage="float64", threads=1, resume=found)
    same = solve_spot(LEDUC, iterations=5, threads=1, resume=found)
    assert (same.status, same.seconds) == ("finished", found.seconds)
    assert same.judging_seconds > found.judging_seconds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": -1}, "iterations must be an integer"),
        ({"iterations": 2.5}, "iterations must be an integer"),
        ({"every": 0}, "every must be"),
        ({"target": -1}, "target must be"),
        ({"seconds": float("nan")}, "seconds must be"),
        ({"threads": 0}, "threads is 0"),
        ({"storage": "float8"}, "storage is 'float8'"),
        ({"algorithm": "dcfx"}, "unknown algorithm 'dcfx'"),
        ({"most_memory": 1000}, r"needs .* MB of memory, .* numbers per array, but 0.001 MB are allowed; offer fewer sizes"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(SpecError, match=message):
        solve_spot(RIVER, **options)


def test_nothing_to_solve():
    with pytest.raises(SpecError, match="no spot given"):
        solve_spot()
    with pytest.raises(AlgorithmError, match="lp is not an update rule"):
        solve_spot(RIVER, "lp")


def test_advice_on_memory():
    with pytest.raises(SpecError, match=r"narrow the ranges, .*use storage=int16 \("):
        solve_spot(RIVER, storage="float64", most_memory=0)


def test_memory_of_a_container(tmp_path, monkeypatch):
    monkeypatch.setattr("treeplex.base.storage.memory.CGROUP", tmp_path)
    assert container_memory() is None
    for name, text in {"memory.max": "1000\n", "memory.current": "600\n", "memory.stat": "anon 5\ninactive_file 100\n"}.items():
        (tmp_path / name).write_text(text)
    assert container_memory() == 500
    assert available_memory() == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert container_memory() is None


def test_16_bit_numbers():
    packed = solve_spot(RIVER, iterations=100, threads=1, storage="int16")
    plain = solve_spot(RIVER, iterations=100, threads=1)
    assert packed.ev == pytest.approx(plain.ev, abs=0.2)
    assert packed.at("").strategy == pytest.approx(plain.at("").strategy, abs=0.1)
    assert {array.dtype.name for array in packed.state.values()} == {"int16", "float32"}


@pytest.mark.skipif(not ENDGAMES, reason="TREEPLEX_ENDGAMES does not name the folder of LibratusEndgames")
@pytest.mark.parametrize(
    ("number", "decoding", "expected"),
    [(3, "true", 25.860), (4, "true", 36.403), (3, "ddcfr", 27.8168), (4, "ddcfr", 38.4312)],
)
def test_end_games_in_the_unit_of_papers(number, decoding, expected):
    spot = read_libratus_endgame(Path(ENDGAMES or "") / f"subgame{number}.txt", decoding=decoding)
    found = solve_spot(spot, iterations=0, threads=1)
    assert found.exploitability_unnormalised / 100 == pytest.approx(expected, abs=6e-4 if decoding == "true" else 6e-5)
    assert found.exploitability > found.exploitability_unnormalised


def test_an_estimate_says_what_solving_takes():
    found = estimate_spot(RIVER, "dcfr", threads=1)
    solution = solve_spot(RIVER, iterations=2, threads=1)
    assert found.memory["float32"] == pytest.approx(solution.memory, rel=0.1)
    assert found.memory["float32"] < found.memory["float64"]
    assert (found.size.decisions, found.size.stored) == (solution.game.decisions, solution.game.stored)
    assert found.fits()
    assert "per array" in str(found)
    assert "about" in found.facts()["time"]


def test_memory_is_asked_for_before_anything_is_built(monkeypatch):
    monkeypatch.setattr("treeplex.holdem.solve.session.compile_spot", lambda *_, **__: pytest.fail("it was built"))
    with pytest.raises(SpecError, match=r"this spot needs .* are allowed"):
        solve_spot(RIVER, most_memory=0)
    monkeypatch.setattr("treeplex.holdem.solve.estimate.available_memory", lambda: 5)
    with pytest.raises(SpecError, match="are free"):
        solve_spot(RIVER)
    assert estimate_spot(RIVER).facts()["verdict"] == "does not fit"


def test_an_estimate_names_the_storage_that_fits(monkeypatch):
    spot = holdem("Td9d6h", "AA,KK", "QQ,JJ", pot=100, stack=300, bets=BetPlan.same("60%", "a"))
    memory = estimate_spot(spot).memory
    for kind, larger in (("int16", "float32"), ("int8", "int16"), ("packed", "int8")):
        monkeypatch.setattr("treeplex.holdem.solve.estimate.available_memory", lambda free=memory[larger] - 1: free)
        assert estimate_spot(spot).facts()["verdict"] == f"fits in {kind} only", memory


@pytest.mark.slow
def test_the_pace_of_an_estimate_is_that_of_this_machine() -> None:
    estimate = estimate_spot("flop_holdem", threads=1)
    found = estimate.at_pace_here()
    assert found.memory == estimate.memory
    assert found.seconds > 0
    assert found.seconds != estimate.seconds
