"""Spots in parts: the numbers of the whole, whoever does the jobs, whatever dies, and in fewer bytes."""

import errno
import os
import signal
from functools import cache

import numpy as np
import pytest

from treeplex.base.workers.executor import make_executor
from treeplex.errors import AlgorithmError, FileError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.engine.form import SCALES, STORE
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.split import blocks, jobs, parts
from treeplex.holdem.forms.split.form import SplitForm
from treeplex.holdem.policies.judge import judge_spot, judgement_of, judging_crew
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import holdem, leduc_holdem, rhode_island_holdem

SPOTS = {
    "leduc": lambda: leduc_holdem(13),
    "three streets": lambda: rhode_island_holdem(4),
    "turn": lambda: holdem("Td9d6hQc", "AA,QJs,JTs", "KK,T8s,65s,KJs:0.5", pot=20, stack=60, bets=BetPlan.same("50%,a", "a")),
}


@cache
def compiled(name):
    return compile_spot(SPOTS[name]())


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "LEAST_NUMBERS", 200)


def solved(name, iterations, algorithm="dcfr", storage="float32", **options):
    solver = HoldemSolver(compiled(name), algorithm, storage=storage, threads=1, **options)
    solver.run(iterations - solver.iteration)
    return solver


def in_parts(name, iterations, algorithm="dcfr", storage="float32", where="inline", size=1):
    with make_executor(where, size) as executor:
        solver = solved(name, iterations, algorithm, storage, executor=executor)
        assert len(solver.form.parts) > 3
        found = {key: array.copy() for key, array in solver.arrays().items()}
        found["exploitability"] = solver.form.exploitability(solver.tables)
        solver.close()
    return found


def equal(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("name", SPOTS)
@pytest.mark.parametrize("column", [STORE, SCALES])
def test_parts_have_every_number_of_the_whole_once(name, column):
    game = compiled(name)
    trunk, found = parts.split_spot(game)
    hit = np.zeros(game.stored if column == STORE else game.scales, int)
    hit[: int(trunk.form.boards[1, column])] += 1
    for part in found:
        own = part.stored if column == STORE else part.scales
        inside = np.zeros(own[1].stop, int)
        for player in (0, 1):
            for here, there in part.pieces(game.form, player, column):
                assert own[player].start <= here.start <= here.stop <= own[player].stop
                assert here.stop - here.start == there.stop - there.start
                inside[here] += 1
                hit[there] += 1
        assert (inside == 1).all()
    assert (hit == 1).all()


@pytest.mark.parametrize(("name", "algorithm"), [("leduc", "pcfr+"), ("three streets", "dcfr"), ("turn", "cfr+")])
def test_the_numbers_are_those_of_the_whole(name, algorithm):
    whole, found = solved(name, 3, algorithm, "float64"), in_parts(name, 3, algorithm, "float64")
    for key, array in whole.arrays().items():
        np.testing.assert_allclose(found[key], array, rtol=1e-9, atol=1e-9 * np.abs(array).max())


def test_the_judge_says_what_the_judge_of_the_whole_says():
    with make_executor("inline") as executor:
        solver = solved("three streets", 7, executor=executor)
        found = judgement_of(solver.game, lambda player, mode: solver.form.root_values(solver.tables, player, mode))
        whole = solved("three streets", 0)
        whole.restore(7, solver.arrays())
        wanted = judge_spot(whole.game, whole.store.average, whole.store, judging_crew(whole.game, 1))
    assert found.exploitability == pytest.approx(wanted.exploitability, rel=1e-9)
    assert found.value == pytest.approx(wanted.value, rel=1e-9)
    assert found.best_response_values == pytest.approx(wanted.best_response_values, rel=1e-9)


@pytest.mark.quick_cases("packed")
@pytest.mark.parametrize("storage", ["float32", "packed"])
def test_the_same_bits_whoever_does_the_jobs(storage):
    wanted = in_parts("three streets", 4, "dcfr", storage)
    assert equal(in_parts("three streets", 4, "dcfr", storage, "threads", 3), wanted)
    if storage == "float32":
        with make_executor("processes", 2) as executor:
            solver = solved("three streets", 2, executor=executor)
            os.kill(executor.crew.pids[0], signal.SIGKILL)
            solver.run(2)
            assert executor.lost == 1
            found = {key: array.copy() for key, array in solver.arrays().items()}
            found["exploitability"] = solver.form.exploitability(solver.tables)
            solver.close()
        assert equal(found, wanted)


@pytest.mark.slow
def test_packed_numbers_take_less_and_solve_as_well():
    short, packed = (in_parts("turn", 60, storage=storage) for storage in ("int16", "packed"))
    assert packed["exploitability"] == pytest.approx(short["exploitability"], rel=0.1)
    with make_executor("inline") as executor:
        sizes = [solved("leduc", 20, storage=storage, executor=executor).tables.blocks.size for storage in ("int16", "packed")]
    assert sizes[1] < 0.75 * sizes[0]


@pytest.mark.slow_cases("packed")
@pytest.mark.parametrize("storage", ["float32", "packed"])
def test_arrays_of_the_whole_are_a_state_to_resume(storage):
    half, whole = in_parts("leduc", 5, "pcfr+", storage), in_parts("leduc", 9, "pcfr+", storage)
    with make_executor("inline") as executor:
        solver = solved("leduc", 0, "pcfr+", storage, executor=executor)
        solver.restore(5, half)
        solver.run(4)
        assert equal({**solver.arrays(), "exploitability": whole["exploitability"]}, whole)


def test_a_run_on_disk_resumes_at_its_last_iteration(tmp_path, monkeypatch):
    storage, written = f"disk:{tmp_path / 'run'}", []
    wanted = solved("leduc", 8, storage=f"disk:{tmp_path / 'whole'}")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "regrets.0.0.0").write_bytes(b"of a run that was killed in its first iteration")
    first = solved("leduc", 5, storage=storage)
    write = blocks.FolderBlocks.write

    def fails(self, block, content):
        written.append(block)
        if len(written) == 30:
            raise KeyboardInterrupt
        write(self, block, content)

    monkeypatch.setattr(blocks.FolderBlocks, "write", fails)
    with pytest.raises(KeyboardInterrupt):
        first.run(1)
    monkeypatch.undo()
    monkeypatch.setattr(parts, "LEAST_NUMBERS", 200)
    second = HoldemSolver(compiled("leduc"), storage=storage, threads=1)
    assert second.iteration == 5
    second.run(3)
    assert equal(second.arrays(), wanted.arrays())
    assert second.form.moved[0] > 0


def test_refusals_are_one_line(tmp_path, monkeypatch):
    storage = f"disk:{tmp_path}"
    solved("leduc", 1, storage=storage)
    with pytest.raises(FileError, match="contains a run with algorithm dcfr; choose another folder"):
        HoldemSolver(compiled("leduc"), "cfr+", storage=storage)
    with pytest.raises(FileError, match="contains a run with another spot; choose another folder"):
        HoldemSolver(compiled("turn"), storage=storage)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    with pytest.raises(FileError, match=r"contains other files, such as a\.txt"):
        HoldemSolver(compiled("leduc"), storage=f"disk:{tmp_path / 'notes'}")
    (tmp_path / "regrets.0.1.1").write_bytes(b"12345")
    with pytest.raises(FileError, match="truncated"):
        HoldemSolver(compiled("leduc"), storage=storage, threads=1).run(1)
    with pytest.raises(FileError, match="cannot create the folder"):
        HoldemSolver(compiled("leduc"), storage=f"disk:{tmp_path / 'notes' / 'a.txt'}")

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("builtins.open", full)
    with pytest.raises(FileError, match="the disk is full; free some space and resume"):
        blocks.FolderBlocks(tmp_path).write(blocks.Block(0, "average", 0, 0), np.zeros(3, np.uint8))


def test_what_does_not_work_in_parts_is_said():
    with make_executor("inline") as executor:
        with pytest.raises(AlgorithmError, match=r"vt-cfr. does not support solving in parts"):
            solved("leduc", 1, "vt-cfr+", executor=executor)
        with pytest.raises(AlgorithmError, match="deals no cards after its first street"):
            HoldemSolver(
                compile_spot(holdem("Td9d6hQc2s", "AA", "KK", pot=2, stack=2, bets=BetPlan.same("a", "a"))), storage="packed"
            )
        executor.crew.elsewhere = True
        with pytest.raises(AlgorithmError, match="needs a folder shared by all machines"):
            SplitForm(compiled("leduc"), executor)


def test_a_worker_forgets_its_scratch_space_on_the_way():
    worker = jobs.PartWorker(
        np.float32, parts.greatest_extent(parts.split_spot(compiled("leduc"))[1]), packed=False, predicts=False, raked=False
    )
    worker.space("regrets", 10, np.float32)
    assert worker.__getstate__()["_spaces"] == {}
