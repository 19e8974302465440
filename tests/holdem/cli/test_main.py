"""Commands on hold'em spots from end to end on rivers, and hundreds of wrong calls that each give one message."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.commands import call, call_json, complaint
from tests.holdem.cli.nonsense import NONSENSE
from tests.processes import spawned
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.spots.files import spot_request
from treeplex.holdem.study.batches.batch import BatchJob
from treeplex.holdem.study.batches.board import solve_board
from treeplex.holdem.study.batches.boards import read_boards
from treeplex.run.cli.main import app
from treeplex.run.job.interrupt import StepAbandoned

SPOT = """\
board: Td 9d 6h Qc 2s
oop: 66+, A8s+, AJo+, K9s+
ip: QQ-22, ATs+, KTs+
pot: 200
stack: 900
bets: 50%, a
raises: a
threads: 1
"""
FLOPS = ("holdem", "flops")
KEYS = [
    *("game", "algorithm", "iterations", "seconds", "exploitability", "nash_conv", "value", "gains", "nodes"),
    "seconds_per_iteration",
    "threads",
    "device",
    "memory_mb",
    "exploitability_percent",
    "exploitability_bb",
    "ev_oop",
    "ev_ip",
]


@pytest.fixture
def spot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spot.yaml").write_text(SPOT)
    return "spot.yaml"


def test_solve_json(spot):
    found = call_json("solve", spot, "--target", "0.5%")
    assert list(found) == KEYS
    assert found["exploitability"] <= 1.0
    assert found["exploitability_percent"] == pytest.approx(found["exploitability"] / 2)
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(200)
    assert found["seconds_per_iteration"] == pytest.approx(found["seconds"] / found["iterations"])
    assert (found["threads"], found["exploitability_bb"]) == (1, None)
    assert found["memory_mb"] > 0


def test_options_say_the_same_as_the_file(spot):
    lines = dict(line.split(": ", 1) for line in SPOT.splitlines())
    options = [part for name, value in lines.items() for part in (f"--{name}", value)]
    for found in (call_json("solve", *options, "-n", 20), call_json("solve", spot, "-n", 20)):
        assert {**found, "iterations": 20, "threads": 1, "exploitability_bb": None} == found
    first, second = call_json("solve", *options, "-n", 20), call_json("solve", spot, "-n", 20)
    assert first["exploitability"] == second["exploitability"]
    assert call_json("solve", spot, "-n", 20, "--stack", "300")["ev_oop"] != first["ev_oop"]


def test_solve_for_people(spot, tmp_path):
    out, err = call("solve", spot, "--out", "river.spot")
    for text in (
        "Td 9d 6h Qc 2s, pot 200, stacks 900 by dcfr",
        "of the pot",
        "reached",
        "EV OOP",
        "OOP first",
        "show river.spot",
    ):
        assert text in out
    assert err == ""
    assert (tmp_path / "river.spot").exists()
    assert "river.spot already exists; choose another name" in complaint("solve", spot, "--out", "river.spot")
    call("solve", spot, "--out", "river.spot", "--force")


def test_judging_a_whole_solve_is_refused_before_it_begins(spot, tmp_path):
    said = complaint("solve", spot, "-n", 1, "--judge", "--out", "judged.spot")
    assert "'judge' needs 'until', since solves of all streets are always evaluated; leave it out" in said
    assert not (tmp_path / "judged.spot").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--until", "river", "--target", "1%"), "exploitability is unknown; leave out 'target'"),
        (("--until", "river", "--threads", "2"), "'threads' has no effect with 'until', which runs on one thread"),
        (("--net", "nowhere"), "'net' needs 'until'"),
    ],
)
def test_options_that_a_first_street_does_not_heed(options, words):
    ranges = ("--oop", "AA", "--ip", "KK", "--pot", "20", "--stack", "20", "--bets", "100%")
    assert words in complaint("solve", "--board", "Td9d6h2s", *ranges, *options, "-n", "1")


def test_judging_what_does_not_fit_is_refused_before_anything_is_solved(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    ranges = ["--oop", "AA,KK", "--ip", "AA,QQ", "--pot", "2", "--stack", "2", "--bets", "a"]
    asked = ["solve", "--board", "Td9d6h2s", *ranges, "--until", "river", "--net", "showdown", "-n", "1", "--out", "a.spot"]
    monkeypatch.setattr("treeplex.holdem.solve.estimate.available_memory", lambda: 1000)
    assert "of memory" in complaint(*asked, "--judge")
    assert not (tmp_path / "a.spot").exists()


def test_folders_are_not_made_from_mistyped_names(spot, tmp_path):
    command = [*FLOPS, spot, "--boards", "Td9d6hQc2s", "-n", 1]
    assert "there is no folder nowhere/dir; create it" in complaint(*command, "--out", "nowhere/dir/x")
    assert "cannot create the folder spot.yaml" in complaint("solve", spot, "-n", 1, "--out", "spot.yaml/x")
    assert [each.name for each in tmp_path.iterdir()] == ["spot.yaml"]


def test_big_blinds_and_blinds(spot):
    found = call_json("solve", spot, "--pot", "6.5bb", "--stack", "97bb", "--bets", "33%,2.5bb", "-n", 20)
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(6.5)
    assert "pot 6.5, stacks 97 by dcfr" in call("solve", spot, "--pot", "6.5", "--stack", "97", "-n", 1)[0]


@pytest.mark.parametrize(("pot", "dead"), [("4", 7), ("0", 3)])
def test_shares_of_the_pot_count_the_blinds(pot, dead, tmp_path):
    options = ["--format", "small(ranks=3,suits=2,hole=2,deal=[0;1])", "--oop", "all", "--ip", "all", "--blinds", "1,2"]
    options += ["--pot", pot, "--stack", "10", "--bets", "a", "--raises", "a"]
    text = call("solve", *options)[0]
    assert f"target          {0.005 * dead:.3g} chips, 0.5% of the pot   reached" in text
    assert f"of the pot of {dead}" in text
    found = call_json("solve", *options, "--target", "1%")
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(dead)
    assert 0 < found["exploitability_percent"] < 1
    assert found["exploitability_percent"] == pytest.approx(100 * found["exploitability"] / dead)


def test_uniform_strategy(spot):
    found = call_json("solve", spot, "-n", 0)
    assert (found["iterations"], found["seconds"], found["seconds_per_iteration"]) == (0, 0, None)
    assert found["exploitability"] > 20


def test_missed_target_has_its_own_code(spot):
    assert call_json("solve", spot, "-n", 2, "--target", "0.001c", code=3)["iterations"] == 2


def test_resume(spot):
    call("solve", spot, "-n", 20, "--out", "a.spot")
    resumed, whole = call_json("solve", "--resume", "a.spot", "-n", 50), call_json("solve", spot, "-n", 50)
    assert resumed["iterations"] == 50
    assert resumed["exploitability"] == whole["exploitability"]
    assert call_json("solve", "--resume", "a.spot", "-n", 60)["iterations"] == 60
    assert "--pot cannot be combined with --resume" in complaint("solve", "--resume", "a.spot", "--pot", 3)


def test_locks_are_kept(spot):
    call("solve", spot, "--lock", ": x 25%, b50% 75%", "--lock", "x [QQ,JJ]: x 100%", "--out", "l.spot", "-n", 30)
    node = call_json("show", "l.spot")["node"]
    assert [round(action["frequency"], 3) for action in node["actions"]] == [0.25, 0.75, 0]
    hands = call_json("show", "l.spot", "--line", "x")["node"]["ip"]["hands"]
    assert {tuple(entry["frequency"]) for name, entry in hands.items() if name[0] == name[2] in "QJ"} == {(1, 0, 0)}
    assert any(entry["frequency"][0] < 0.9 for entry in hands.values())
    assert "--lock: no player acts after 'x,x'" in complaint("solve", spot, "--lock", "x,x: x 100%")


@pytest.mark.slow
def test_show(spot, tmp_path):
    call("solve", spot, "-n", 40, "--out", "s.spot")
    out, _ = call("show", "s.spot", "--line", "x,b50%")
    assert "x,b100   OOP acts" in out
    call("show", "s.spot", "--html", "s.html", "--png", "s.png")
    assert (tmp_path / "s.html").stat().st_size > 50_000
    nodes = call("show", "s.spot", "--depth", "all", "--json")[0].splitlines()
    by_line = {node["line"]: node for node in map(json.loads, nodes[1:])}
    assert set(by_line["x"]["children"]) <= set(by_line)
    for line, node in by_line.items():
        if node["actions"]:
            assert sum(action["frequency"] for action in node["actions"]) == pytest.approx(1, abs=1e-4), line
    assert "OOP can" in complaint("show", "s.spot", "--line", "b33%")
    assert "cannot read" in complaint("show", "none.spot")
    assert complaint("show", spot)


def test_endgame(tmp_path):
    reach = " ".join(["1.0"] * 2652)
    path = tmp_path / "end.txt"
    path.write_text(f"-round 4\n-board Td9d6hQc2s\n-pot 4000\n-reach {reach}\n")
    found = call_json("solve", "--endgame", path, "-a", "dcfr", "-n", 3, "--threads", 1)
    compatible = 990 / 1081  # of 1081 hands off the board, those that share no card with one
    assert found["exploitability_bb"] == pytest.approx(found["exploitability"] / 100 * compatible)
    assert call_json("solve", "--endgame", path, "--decoding", "ddcfr", "-n", 0)["iterations"] == 0
    said = call("solve", "--endgame", path, "-n", 3, "--threads", 1)[0]
    assert f"in papers       {found['exploitability_bb']:.3g} big blinds" in said
    assert "use true or ddcfr" in complaint("solve", "--endgame", path, "--decoding", "x")


def test_hand_history(tmp_path):
    pytest.importorskip("pokerkit")
    path = tmp_path / "hand.phh"
    path.write_text(
        "variant = 'NT'\nantes = [0, 0]\nblinds_or_straddles = [1, 2]\nmin_bet = 2\nstarting_stacks = [100, 100]\n"
        "actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cbr 5', 'p1 cc', 'd db AsKd2c', 'p1 cc', 'p2 cc', "
        "'d db 3h', 'p1 cc', 'p2 cc', 'd db 8s', 'p1 cbr 7', 'p2 f']\n"
    )
    spot = ["--street", "river", "--oop", "22+,A2s+", "--ip", "TT-22,ATs+", "--bets", "50%", "--raises", "a"]
    out, _ = call("solve", "--phh", path, *spot, "--out", tmp_path / "h.spot")
    assert "As Kd 2c 3h 8s, pot 10, stacks 95" in out
    assert "--line b7   the last decision of the hand" in out
    call("show", tmp_path / "h.spot", "--line", "b7")


@pytest.mark.slow
def test_flops(spot, tmp_path):
    boards = "Td9d6hQc2s,Td9d6hQcAs,KsKhKdKc2c"
    _, err = call(*FLOPS, spot, "--boards", boards, "--oop", "KK", "--target", "5%", "--out", "out", code=1)
    assert "1 of 3 boards failed: KsKhKdKc2c:" in err or "1 of 3 boards failed" in err
    assert (tmp_path / "out" / "errors.txt").read_text().startswith("KsKhKdKc2c: ")
    found = call_json(*FLOPS, spot, "--boards", boards[:21], "--oop", "KK", "--target", "5%", "--line", "x", "--out", "out")
    assert (found["solved"], found["reused"], found["line"]) == (0, 2, "x")
    assert sum(found["averages"][name] for name in ("check", "bet 100", "allin 900")) == pytest.approx(1, abs=1e-4)
    out, _ = call(*FLOPS, spot, "--boards", boards[:10], "--oop", "KK", "--target", "5%", "--out", "out")
    assert "1 of 1 boards, first decision" in out
    assert "end the line where a player acts" in complaint(*FLOPS, spot, "--boards", boards, "--line", "x,x", "--out", "out")
    again = (*FLOPS, spot, "--boards", boards[:21], "--oop", "KK", "--target", "5%", "--out", "out")
    assert "\ntwo-tone (2)" in call(*again, "--by", "suits", "--sort", "equity_oop")[0]
    rows = call_json(*again, "--by", "high", "--sort", "equity_oop", "--ascending")
    assert set(rows["by"]) == {"Q", "A"}
    assert rows["rows"][0]["equity_oop"] < rows["rows"][1]["equity_oop"]
    assert "--by is 'colour'; write suits, pairing, high, connected" in complaint(*again, "--by", "colour")


def test_a_board_that_was_stopped_goes_on_where_it_was(tmp_path):
    asked, seen = {"iterations": "60", "threads": "1"}, []

    def solving(folder, most):
        def watch(progress):
            seen.append(progress.done)
            job.interrupt.requested = progress.done >= most

        boards = read_boards("Td9d6hQc2s")
        spot = spot_request(tmp_path / "spot.yaml", asked)
        job = BatchJob(lambda board: spot.on_board(board).spot(), boards, folder, partial(solve_board, watch=watch), {})
        (folder / "boards").mkdir(parents=True, exist_ok=True)
        return job

    (tmp_path / "spot.yaml").write_text(SPOT)
    whole, begun = solving(tmp_path / "whole", 1000), solving(tmp_path / "b", 20)
    whole.step(1)
    with pytest.raises(StepAbandoned):
        begun.step(1)
    file = tmp_path / "b" / "boards" / "Td9d6hQc2s.spot"
    assert 20 <= load_solution(file).iterations < 60
    seen.clear()
    resumed = solving(tmp_path / "b", 1000)
    resumed.step(1)
    assert min(seen) >= 20
    assert not file.exists()
    rows = [replace(job.rows["Td9d6hQc2s"], seconds=0.0) for job in (resumed, whole)]
    assert rows[0] == rows[1]
    with pytest.raises(StepAbandoned):
        solving(tmp_path / "c", 20).step(1)
    damaged = tmp_path / "c" / "boards" / file.name
    damaged.write_bytes(damaged.read_bytes()[:100])
    anew = solving(tmp_path / "c", 1000)
    anew.step(1)
    assert replace(anew.rows["Td9d6hQc2s"], seconds=0.0) == rows[1]


@pytest.mark.parametrize("command", ["solve", "show", "holdem flops"])
def test_help_is_quick_and_has_examples(command):
    out, _ = call(*command.split(), "--help")
    assert "Examples:" in out
    assert f"treeplex {command}" in out


def test_estimate(spot):
    out, _ = call("info", spot)
    assert "Td 9d 6h Qc 2s, pot 200, stacks 900" in out
    for line in (
        "betting    21 nodes",
        "boards     1 on the river",
        "per array",
        "MB in float32, ",
        "s per iteration of dcfr, threads: 1",
    ):
        assert line in out
    found = call_json("info", spot)
    solved = call_json("solve", spot, "-n", 1)
    assert found["memory_mb"]["float32"] == pytest.approx(solved["memory_mb"], rel=0.1)
    assert found["fits"] == {"float32": True, "float64": True, "int16": True, "int8": True}
    assert found["seconds_per_iteration"] > 0
    assert call_json("info", spot, "--bets", "20%,50%,90%,a")["infosets"] > found["infosets"]
    until = Path("until.yaml")
    until.write_text(SPOT.replace(" 2s", "") + "until: river\n")
    assert "leave out 'until' (river)" in complaint("info", until)


def test_preflop_with_a_whole_deck_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("preflop.yaml").write_text("blinds: 1, 2\npot: 0\nstack: 200\noop: random\nip: random\nbets: 100%\nraises: a\n")
    begun = time.process_time()
    assert "GB of memory; give a flop or turn board, deal a subset" in complaint("solve", "preflop.yaml")
    assert time.process_time() - begun < 3
    out, _ = call("info", "preflop.yaml")
    assert "1 preflop, 1,755 on the flop, 63,193 on the turn, 2,554,656 on the river" in out
    assert "verdict" in out


def test_help_imports_nothing_heavy():
    heavy = "('numpy', 'numba', 'matplotlib', 'yaml')"
    code = f"import sys, treeplex.run.cli.main; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_ctrl_c_saves_and_says_how_to_go_on(spot, tmp_path):
    with spawned("solve", spot, "-n", 100000000, "--target", 0, "--progress") as child:
        seen = ""
        begun = time.monotonic()
        while "iteration" not in seen and time.monotonic() - begun < 120:
            seen += child.stderr.read(1)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    last = err.strip().splitlines()[-1]
    assert "resume with treeplex solve --resume runs/Td-9d-6h-Qc-2s-pot-200-stacks-900-dcfr.spot" in last
    done = int(last.split("stopped after ")[1].split(" ")[0].replace(",", ""))
    assert (
        call_json("solve", "--resume", "runs/Td-9d-6h-Qc-2s-pot-200-stacks-900-dcfr.spot", "-n", done + 1)["iterations"]
        == done + 1
    )
    assert Path("runs/Td-9d-6h-Qc-2s-pot-200-stacks-900-dcfr.spot").exists()


JUNK = [*NONSENSE, "--", "-n", "/"]
OPTIONS = {
    "solve": "board oop ip pot stack bets raises river-bets oop-bets ip-raises donk rake rake-cap target iterations algorithm "
    "threads storage lock endgame decoding phh hand street resume",
    "flops": "boards oop ip pot stack target iterations algorithm storage threads line sort by",
    "show": "line player hand depth ev html png by only",
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_wrong_calls_give_one_message(spot, seed):
    call("solve", spot, "-n", 1, "--out", "s.spot")
    draw = random.Random(seed)
    base = {
        "solve": [spot, "-n", "1"],
        "flops": [spot, "--boards", "Td9d6hQc2s", "--out", "out", "-n", "1"],
        "show": ["s.spot"],
    }
    complaints = 0
    for _ in range(60):
        command = draw.choice(list(base))
        arguments = list(base[command])
        for name in draw.sample(OPTIONS[command].split(), draw.randint(1, 2)):
            arguments += [f"--{name}", draw.choice(JUNK)]
        if draw.random() < 0.1:
            arguments.append(draw.choice(JUNK))
        result = CliRunner().invoke(app, [*(["holdem"] if command == "flops" else []), command, *arguments])
        assert "Traceback" not in result.output, arguments
        assert result.exit_code in (0, 2, 3), (arguments, result.output)
        if result.exit_code == 2:
            complaints += 1
            assert result.stderr.startswith("error: "), arguments
            assert result.stderr.count("\n") == 1, arguments
            assert len(result.stderr) < 1500
    assert complaints > 30
    assert np.isfinite(complaints)


def test_turn_endgame_holdem_is_solved_by_its_name(tmp_path, monkeypatch):
    """As search and play take it, options over it; a file of that name comes first."""
    monkeypatch.chdir(tmp_path)
    spot = ("--bets", "100%", "--raises", "none", "--oop", "AA,KK", "--ip", "QQ,AK", "--target", "90%")
    out = call("solve", "turn_endgame", *spot, "-n", 2, "--threads", 1)[0]
    assert out.startswith("3s 7h Td Ks, pot 2000, stacks 19000 by dcfr: 2 iterations")
    (tmp_path / "turn_endgame").write_text("pot: 1\n", encoding="utf-8")
    assert "turn_endgame" in complaint("solve", "turn_endgame", "-n", 2)
