"""Solved spots as files: what comes back, what is refused."""

import hashlib
import json
import struct
import zlib

import numpy as np
import pytest

from tests.poker_games import SPOTS
from treeplex.base.located_text import LocatedText
from treeplex.errors import FileError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.solve import files as poker_files
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.fields import read_lock
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.spot import Spot

PLAN = BetPlan.same("50%,a", "a")
TURN = holdem("Td9d6hQc", "AA,QJs,87s:0.3", "KK,T8s,KJs", pot=20, stack=60, bets=PLAN)
LINES = ("", "x", "x,b10", "x,x", "b10,c,7s", "a,c", "x,x,Ks,b10", "x,x,2c,x,a")
SIDES = ("weight_of", "compatible_of", "ev_of", "equity_of")


@pytest.fixture(scope="module")
def turn():
    return solve_spot(TURN, iterations=20, threads=1)


@pytest.fixture
def saved(turn, tmp_path):
    return turn.save(tmp_path / "turn.spot")


def check_same(one, other, lines=LINES, **tolerance):
    for line in lines:
        first, second = one.at(line), other.at(line)
        assert (first.line, first.board, first.pot, first.actions) == (second.line, second.board, second.pot, second.actions)
        assert first.strategy == pytest.approx(second.strategy, **tolerance)
        for name in SIDES:
            for player in (0, 1):
                mine, theirs = getattr(first, name)(player), getattr(second, name)(player)
                assert mine == pytest.approx(theirs, nan_ok=True, **tolerance)


def check_facts(one, other):
    for name in ("algorithm", "settings", "records", "ev", "status", "streets", "judging_seconds", "memory", "exploitability"):
        assert getattr(one, name) == getattr(other, name)


def test_everything_comes_back(turn, saved):
    found = load_solution(saved)
    check_facts(turn, found)
    check_same(turn, found, rel=1e-12)
    assert found.state.keys() == turn.state.keys()
    assert all(np.array_equal(array, found.state[name]) for name, array in turn.state.items())


@pytest.mark.slow_cases("int16-dcfr")
@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+", "flop"])
@pytest.mark.parametrize("storage", ["float32", "int16"])
def test_solving_goes_on_from_a_file(algorithm, storage, tmp_path):
    if (algorithm, storage) == ("flop", "int16"):
        return
    spot = SPOTS["three streets"]
    whole = solve_spot(spot, algorithm, iterations=20, threads=1, storage=storage)
    half = solve_spot(spot, algorithm, iterations=10, threads=1, storage=storage)
    found = solve_spot(iterations=20, threads=1, resume=load_solution(half.save(tmp_path / "half")))
    assert all(np.array_equal(array, found.state[name]) for name, array in whole.state.items())
    assert found.spot.identity == load_solution(half.save(tmp_path / "half")).spot.identity
    assert [record.exploitability for record in found.records] == [record.exploitability for record in whole.records]


def test_a_look_takes_the_strategy_alone(turn, saved):
    found = load_solution(saved, resumable=False)
    check_facts(turn, found)
    check_same(turn, found, rel=1e-12)
    assert found.state is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": "float32"}, "must be a mapping, not str"),
        ({"settings": {"storage": 0}}, "storage must be a string, not 0"),
        ({"settings": {"storage": "float12"}}, "storage is 'float12'"),
        ({"settings": {"storage": "disk:elsewhere"}}, "it names a folder, disk:elsewhere"),
        ({"settings": {"threads": "two"}}, "threads must be an integer of at least 1, not 'two'"),
        ({"settings": {"horizon": None}}, "horizon must be an integer"),
        ({"settings": {"target": [1]}}, "target must be a number of at least 0, or none, not \\[1\\]"),
        ({"settings": {"until": 3}}, "until must be a string"),
        ({"settings": {"unknown": 3}}, "unknown"),
        ({"streets": 9}, "it covers 9 of 2 streets"),
    ],
)
def test_headers_with_values_of_another_type(saved, change, message):
    data = saved.read_bytes()
    length, _ = poker_files.TRAILER.unpack(data[-poker_files.TRAILER.size :])
    start = len(data) - poker_files.TRAILER.size - length
    header = json.loads(data[start : start + length])
    text = json.dumps(header | change).encode()
    whole = data[:start] + text + struct.pack("<Q", len(text))
    saved.write_bytes(whole + hashlib.sha256(whole).digest())
    with pytest.raises(FileError, match=rf"turn\.spot cannot be read \(.*{message}.*\); solve the spot again"):
        load_solution(saved)


@pytest.mark.parametrize("size", [0, 10, 60, 1000])
def test_headers_alone(turn, saved, size):
    header = poker_files.read_header(saved)
    assert header["status"] == turn.status
    assert header["records"][-1][0] == 20
    assert {entry["name"] for entry in header["arrays"]} >= {"range0", "range1", "state.average"}
    data = saved.read_bytes()
    saved.write_bytes(data[:size] if size < 1000 else data[:-1])
    with pytest.raises(FileError, match=r"turn\.spot"):
        poker_files.read_header(saved)


def test_a_strategy_alone_is_smaller(turn, saved, tmp_path):
    path = turn.save(tmp_path / "small.spot", resumable=False)
    assert path.stat().st_size < 0.5 * saved.stat().st_size
    found = load_solution(path)
    check_facts(turn, found)
    check_same(turn, found, abs=2e-3, rel=1e-3)
    with pytest.raises(SpecError, match="saved without solver state"):
        solve_spot(resume=found, threads=1)
    again = load_solution(found.save(tmp_path / "again.spot"))
    check_same(found, again, abs=2e-3, rel=1e-3)
    with pytest.raises(SpecError, match="cannot be resumable"):
        found.save(tmp_path / "never.spot", resumable=True)


@pytest.mark.parametrize("streets", [1, "turn"])
def test_streets_left_out(turn, streets, tmp_path):
    path = turn.save(tmp_path / "turn_only.spot", streets=streets)
    found = load_solution(path)
    check_same(
        turn, found, [line for line in LINES if line not in ("b10,c,7s", "x,x,Ks,b10", "x,x,2c,x,a")], abs=2e-3, rel=1e-3
    )
    assert found.at("x,x").children() == ()
    with pytest.raises(SpecError, match="'x,x,7s': this solution was saved without its last streets"):
        found.at("x,x,7s")
    again = load_solution(found.save(tmp_path / "again.spot"))
    check_same(found, again, ("", "x,b10"), abs=2e-3, rel=1e-3)
    with pytest.raises(SpecError, match=r"name the last street to keep \(turn\) or how many, 1 to 1"):
        found.save(tmp_path / "more.spot", streets="river")
    with pytest.raises(SpecError, match="cannot be resumable"):
        turn.save(tmp_path / "never.spot", streets=1, resumable=True)


def test_streets_left_out_of_three(tmp_path):
    whole = solve_spot(SPOTS["three streets"], iterations=5, threads=1)
    for kept in (1, 2):
        found = load_solution(whole.save(tmp_path / "few.spot", streets=kept))
        lines = ["", "x", "x,x"] + [f"x,x,{card}" for card in ("Ac", "Kd")] * (kept == 2)
        check_same(whole, found, lines, abs=2e-3, rel=1e-3)


def test_locks_and_strengths_come_back(tmp_path):
    lock = read_lock(LocatedText("lock", text="x,x: x 100%"))
    locked = solve_spot(TURN, iterations=6, threads=1, locks=[lock])
    found = load_solution(locked.save(tmp_path / "locked.spot"))
    check_same(locked, found, rel=1e-12)
    more, same = (solve_spot(iterations=9, threads=1, resume=each) for each in (locked, found))
    assert more.exploitability == same.exploitability
    assert (same.at("x,x,7s").strategy[0] == 1).all()
    strengths = np.arange(1326)[::-1]
    spot = Spot((*TURN.board, 0), 20, 60, TURN.ranges, PLAN, strengths=strengths)
    odd = solve_spot(spot, iterations=3, threads=1)
    assert load_solution(odd.save(tmp_path / "odd.spot")).spot.strengths.tolist() == strengths.tolist()


def test_the_suffix(turn, tmp_path):
    assert turn.save(tmp_path / "plain").name == "plain.spot"
    assert turn.save(tmp_path / "other.bin").name == "other.bin"


@pytest.mark.parametrize("place", [0, 3, 30, 500, -1, -20, -45, -200])
def test_changed_files_are_refused(saved, place):
    data = bytearray(saved.read_bytes())
    data[place] ^= 1
    saved.write_bytes(data)
    with pytest.raises(FileError, match=r"is not a solved spot|is truncated or was changed"):
        load_solution(saved)


@pytest.mark.parametrize("size", [0, 10, 24, 60, 3000, -1])
def test_truncated_files_are_refused(saved, size):
    saved.write_bytes(saved.read_bytes()[:size])
    with pytest.raises(FileError, match=r"is not a solved spot|is truncated or was changed"):
        load_solution(saved)


def rewritten(path, change):
    """Change the header of a file and give it a checksum that fits."""
    data = path.read_bytes()[:-32]
    (length,) = struct.unpack("<Q", data[-8:])
    header = json.loads(data[-8 - length : -8])
    change(header)
    text = json.dumps(header).encode()
    data = data[: -8 - length] + text + struct.pack("<Q", len(text))
    path.write_bytes(data + poker_files.hashlib.sha256(data).digest())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "has format version 99, but this Treeplex reads 2"),
        ({"layout": "0"}, "numbers boards or bets differently"),
        ({"spot": {}}, "cannot be read"),
        ({"arrays": []}, "cannot be read"),
        ({"arrays": [{"name": "range0", "kind": "O", "shape": [1], "blocks": [[1]]}]}, "truncated or was changed"),
        ({"arrays": [{"name": "range0", "kind": "<f8", "shape": [10], "blocks": [[1] * 8]}]}, "truncated or was changed"),
        ({"records": "none"}, "cannot be read"),
        ({"locks": [[1, 0, 0, 2, 2]]}, "cannot be read"),
    ],
)
def test_strange_headers_are_refused(saved, change, message):
    rewritten(saved, lambda header: header.update(change))
    with pytest.raises(FileError, match=message):
        load_solution(saved)


def test_files_that_are_not_there(turn, tmp_path):
    with pytest.raises(FileError, match=r"cannot read .*no such file"):
        load_solution(tmp_path / "none.spot")
    with pytest.raises(FileError, match=r"cannot write .*; create the folder"):
        turn.save(tmp_path / "none" / "a.spot")
    (tmp_path / "folder.spot").mkdir()
    with pytest.raises(FileError, match="give a file name"):
        turn.save(tmp_path / "folder.spot")
    assert [each.name for each in tmp_path.iterdir()] == ["folder.spot"]


def test_a_failure_leaves_the_old_file(turn, saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr(poker_files, "packed", lambda piece: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        turn.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_bytes_that_do_not_shrink_are_kept():
    noise = np.random.default_rng(0).bytes(1 << 16)
    assert poker_files.smaller(noise) is noise
    assert zlib.decompress(poker_files.smaller(bytes(1 << 16))) == bytes(1 << 16)
