"""The command line: what it prints, what it writes, and its exit codes."""

import errno
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treeplex as tp
from tests.commands import call, call_json, complaint
from tests.processes import spawned
from treeplex.errors import FileError
from treeplex.run.cli.main import app
from treeplex.run.cli.shared import failures
from treeplex.run.job.folder import JobFolder
from treeplex.run.job.progress_line import clock, line_of
from treeplex.run.job.record import Progress
from treeplex.run.solve.settings import SOLVE

RESULT_KEYS = ["game", "algorithm", "iterations", "seconds", "exploitability", "nash_conv", "value", "gains"]
KUHN3 = "kuhn_poker(players=3)"
INFO_KEYS = [
    "game",
    "players",
    "histories",
    "terminals",
    "depth",
    "largest_infoset",
    "infosets",
    "sequences",
    "public_states",
]
COMMANDS = [
    *("games", "algorithms", "info", "solve", "compare", "evaluate", "show", "export"),
    *("sample", "playouts", "device", "train", "play", "agents"),
]


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    call("solve", "kuhn_poker", "-n", 50, "--out", folder)
    return folder


def test_info_json():
    info = call_json("info", "kuhn_poker")
    assert list(info) == [*INFO_KEYS, "memory_mb", "available_mb", "seconds_per_iteration", "threads", "algorithm"]
    assert info["seconds_per_iteration"] > 0
    assert (info["game"], info["players"], info["histories"], info["terminals"]) == ("kuhn_poker", 2, 58, 30)
    assert (info["infosets"], info["sequences"]) == ([6, 6], [13, 13])


def test_info_for_people():
    out, _ = call("info", "kuhn_poker")
    assert "histories" in out
    assert "58" in out


def test_solve_json():
    result = call_json("solve", "kuhn_poker", "-n", 200)
    assert list(result) == [*RESULT_KEYS, "nodes"]
    assert result["nodes"] == 200 * 2 * 58
    assert sum(result["gains"]) == pytest.approx(result["nash_conv"])
    assert (result["game"], result["algorithm"], result["iterations"]) == ("kuhn_poker", "dcfr", 200)
    assert len(result["value"]) == 2
    assert result["nash_conv"] == pytest.approx(2 * result["exploitability"])


def test_solve_for_people(tmp_path):
    out, err = call("solve", "kuhn_poker", "-n", 20, "--out", tmp_path / "run")
    for text in ("value of player 0", "exploitability", "next", str(tmp_path / "run")):
        assert text in out
    assert err == ""


def test_the_gain_of_each_player_is_shown():
    game = "kuhn_poker(players=3)"
    result = call_json("solve", game, "-n", 50)
    assert len(result["gains"]) == 3
    out, _ = call("solve", game, "-n", 50)
    for gain in result["gains"]:
        assert f"gain of a best response {gain:.4e}" in out
    assert "   gain of a best response" not in call("solve", "kuhn_poker", "-n", 50)[0]
    judged = call_json("evaluate", game, "uniform")
    assert judged["gains"] == list(tp.judge(game, "uniform").gains)
    shown = call("evaluate", game, "uniform")[0]
    assert all(f"{gain:.3e}" in shown for gain in judged["gains"])
    rows = call_json("compare", game, "-a", "cfr", "-n", 50)["rows"]
    table = call("compare", game, "-a", "cfr", "-n", 50)[0]
    assert all(f"{gain:.2e}" in table for gain in rows[0]["gains"])


def test_histories_are_counted(tmp_path):
    folder = tmp_path / "run"
    first = call_json("solve", "kuhn_poker", "--nodes", 10_000, "--out", folder)
    assert (first["iterations"], first["nodes"]) == (87, 87 * 116)
    assert f"--resume {folder} --nodes 100000" in call("solve", "--resume", folder)[0]
    second = call_json("solve", "--resume", folder, "--nodes", 20_000)
    assert (second["iterations"], second["nodes"]) == (173, 173 * 116)
    assert "nodes" in complaint("solve", "kuhn_poker", "--nodes", 0)


@pytest.mark.slow
def test_seed_updates_and_every_are_passed_on(run, tmp_path):
    folder = tmp_path / "other"
    call("solve", "kuhn_poker", "-n", 9, "--every", 4, "--seed", 7, "--updates", "simultaneous", "--out", folder)
    settings = json.loads((folder / "run.json").read_text())["settings"]
    assert (settings["every"], settings["seed"], settings["updates"]) == (4, 7, "simultaneous")
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["done"] for line in lines] == [4, 8, 9]


def test_resume(run, tmp_path):
    resumed = call_json("solve", "--resume", run, "-n", 120)
    whole = call_json("solve", "kuhn_poker", "-n", 120)
    assert {**resumed, "seconds": 0} == {**whole, "seconds": 0}


def test_target_missed_has_its_own_code():
    assert call_json("solve", "kuhn_poker", "-n", 5, "--target", 1e-9, code=3)["iterations"] == 5
    assert call_json("solve", "kuhn_poker", "--target", 1e-2)["exploitability"] <= 1e-2
    assert "not reached" in call("solve", "kuhn_poker", "-n", 5, "--target", 1e-9, code=3)[0]


def test_evaluate(run, tmp_path):
    uniform = call_json("evaluate", "kuhn_poker", "uniform")
    assert list(uniform) == RESULT_KEYS
    assert uniform["exploitability"] == pytest.approx(11 / 24, abs=1e-12)
    assert (uniform["algorithm"], uniform["iterations"]) == ("uniform", 0)
    judged = call_json("evaluate", "kuhn_poker", run)
    last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    assert judged["exploitability"] == last["exploitability"]
    assert (judged["algorithm"], judged["iterations"], judged["seconds"]) == ("dcfr", 50, last["seconds"])
    out, _ = call("evaluate", "kuhn_poker", run / "policy.safetensors")
    assert "best response" in out
    assert "kuhn_poker" in complaint("evaluate", "leduc_poker", run)


@pytest.mark.quick_cases("a.safetensors")
@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.npz", "a.safetensors"])
def test_export_policies(run, tmp_path, name):
    out, _ = call("export", run, tmp_path / name)
    assert name in out.replace("\n", "")
    assert call_json("evaluate", "kuhn_poker", tmp_path / name) == call_json("evaluate", "kuhn_poker", run)


@pytest.mark.parametrize("name", ["kuhn.efg", "kuhn.game"])
def test_export_rules(tmp_path, name):
    call("export", "kuhn_poker", tmp_path / name)
    info = call_json("info", tmp_path / name)
    assert info["infosets"] == [6, 6]


def test_export_to_what_is_not_known(run, tmp_path):
    assert ".xyz" in complaint("export", run, tmp_path / "a.xyz")
    assert not (tmp_path / "a.xyz").exists()


def test_show(run):
    out, _ = call("show", run)
    assert out.count("Bet") == 12
    rows = call_json("show", run, "--infostate", "0pb")
    assert len(rows) == 1
    assert list(rows[0]) == ["player", "infostate", "actions", "names"]
    assert sum(rows[0]["actions"].values()) == pytest.approx(1)
    assert len(call_json("show", run, "--player", 1)) == 6
    assert len(call_json("show", run, "--limit", 3)) == 3
    assert "3 of 12" in call("show", run, "--limit", 3)[0]
    assert "zzz" in complaint("show", run, "--infostate", "zzz")
    assert "players are 0 to 1" in complaint("show", run, "--player", 2)


@pytest.mark.slow
def test_show_keeps_brackets_and_lines(tmp_path):
    call("solve", "leduc_poker", "-n", 2, "--out", tmp_path / "leduc")
    assert "[Private: 0]" in call("show", tmp_path / "leduc", "--limit", 1)[0].replace("\n", " ")
    call("solve", "goofspiel(num_cards=3,imp_info=True)", "-n", 2, "--out", tmp_path / "goofspiel")
    infostate = call_json("show", tmp_path / "goofspiel", "--limit", 1)[0]["infostate"]
    assert "\n" in infostate
    shown = call("show", tmp_path / "goofspiel", "--infostate", infostate.replace("\n", "\\n"))[0]
    assert all(line in shown for line in infostate.strip().split("\n"))


@pytest.mark.slow
def test_compare(tmp_path):
    out, _ = call("compare", "kuhn_poker", "-a", "cfr", "-a", "dcfr", "-n", 30, "--out", tmp_path / "out")
    assert "cfr" in out
    assert (tmp_path / "out" / "convergence.png").stat().st_size > 10_000
    rows = call_json("compare", "kuhn_poker", "-a", "cfr", "-a", "lp", "-n", 30)["rows"]
    assert [row["algorithm"] for row in rows] == ["cfr", "lp"]
    rows = call_json("compare", "kuhn_poker", "-a", "cfr", "-a", "greedy", "--nodes", 11600, "--x", "seconds")["rows"]
    assert [(row["iterations"], row["nodes"]) for row in rows] == [(100, 11600), (200, 11600)]
    assert "iterations, nodes or seconds" in complaint("compare", "kuhn_poker", "--x", "time")


def test_a_comparison_reports_what_finished_and_what_failed(tmp_path):
    out, err = call("compare", KUHN3, "-a", "cfr,recursive", "-n", 5, "--out", tmp_path, code=2)
    assert "cfr" in out
    assert err.startswith("error: recursive failed: recursive cannot solve")
    assert (tmp_path / "comparison.md").exists()


def test_a_narrow_table_keeps_the_values_of_both_players(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    game = "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)"
    out, _ = call("compare", game, "-a", "cfr", "-n", 5)
    for value in tp.solve(game, "cfr", iterations=5).value:
        assert f"{value:+.6f}" in out


def test_the_suggestion_to_save_repeats_the_options():
    out, _ = call("solve", "leduc_poker(ranks=2)", "-a", "dcfr(alpha=2)", "-n", 9, "--updates", "simultaneous", "--refine")
    line = next(line for line in out.splitlines() if "save the solution" in line)
    words = ["treeplex", "solve", "leduc_poker(ranks=2)", "-a", "dcfr(alpha=2)", "-n", "9", "--updates", "simultaneous"]
    assert shlex.split(line.partition("   save")[0]) == [*words, "--refine", "--out", "runs/first"]


def test_lists():
    assert "leduc_poker" in call("games")[0]
    assert call_json("games")["kuhn_poker"]["parameters"] == {"players": 2}
    out = call("algorithms")[0]
    places = [
        out.index(text) for text in ("Tabular:", "pcfr+", "Learned:", "ddcfr", "Sampling:", "es-mccfr", "Exact", "  lp ")[:6]
    ]
    assert places == sorted(places)
    assert call_json("algorithms")["lp"]["group"] == "exact"
    assert call_json("algorithms")["dcfr"]["parameters"]["alpha"] == 1.5


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command):
    out, _ = call(command, "--help")
    assert "Examples:" in out or command == "games"
    assert f"treeplex {command}" in out


def test_help_names_the_exit_codes():
    out, _ = call("--help")
    assert "Exit codes" in out
    assert "130" in out
    assert call("--version")[0].startswith("treeplex ")


@pytest.mark.slow_cases(
    "arguments7-iterations",
    "arguments8-target",
    "arguments9-simultaneous",
    "arguments10-two",
    "arguments11-no game",
    "arguments22-unknown method 'nosuch'; known: cfr, cfr+, ",
)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info", "kuhn_pokr"], "'kuhn_poker'"),
        (["info", "kuhn_poker(plyers=3)"], "'players'"),
        (["info", "kuhn_poker(players=30)"], "players"),
        (["info", "kuhn_poker(players=2"], "bracket"),
        (["info", "no_such.efg"], "no_such.efg"),
        (["solve", "kuhn_poker", "-a", "dcrf"], "'dcfr'"),
        (["solve", "kuhn_poker", "-a", "dcfr(alhpa=2)"], "'alpha'"),
        (["solve", "kuhn_poker", "-n", "0"], "iterations"),
        (["solve", "kuhn_poker", "--target", "-1"], "target"),
        (["solve", "kuhn_poker", "--updates", "both"], "simultaneous"),
        (["solve", "kuhn_poker(players=3)", "-a", "lp"], "two"),
        (["solve"], "no game"),
        (["solve", "--resume", "no_such_folder"], "no_such_folder"),
        (["solve", "kuhn_poker", "--out", "/dev/null/run"], "/dev/null"),
        (["solve", "kuhn_poker", "--out", "/proc/run"], "/proc"),
        (["evaluate", "kuhn_poker", "no_such.json"], "no_such.json"),
        (["evaluate", "kuhn_poker", "no_such_folder"], "no_such_folder"),
        (["show", "no_such.npz"], "no_such.npz"),
        (["export", "kuhn_poker", "/no/such/folder/kuhn.efg"], "/no/such/folder"),
        (["compare", "kuhn_poker", "-a", "dcrf"], "'dcfr'"),
        (["--foo"], "No such option: --foo; see treeplex --help"),
        (["holdem", "--foo"], "No such option: --foo"),
        (["holdem", "search", "turn_endgame", "--exact", "--method", "nosuch"], "unknown method 'nosuch'; known: cfr, cfr+, "),
    ],
)
def test_bad_input_is_one_line(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in complaint(*arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("group", [[], ["holdem"]])
def test_a_group_alone_shows_its_help(group):
    out, err = call(*group, code=2)
    assert out == ""
    assert err.startswith("Usage: ")
    assert "\nCommands:\n" in err


def test_imperfect_recall_is_refused_or_refined(tmp_path):
    game = "goofspiel(num_cards=4,points_order=descending,imp_info=False)"
    message = complaint("info", game)
    assert "infostate" in message
    assert "--refine" in message
    assert sum(call_json("info", game, "--refine")["infosets"]) == 322
    call("solve", game, "--refine", "-n", 5, "--out", tmp_path / "run")
    assert call_json("solve", "--resume", tmp_path / "run", "-n", 9)["iterations"] == 9
    assert len(call_json("show", tmp_path / "run", "--limit", 0)) == 322


def test_a_tampered_file_is_named(run):
    data = bytearray((run / "state.safetensors").read_bytes())
    data[-1] ^= 1
    (run / "state.safetensors").write_bytes(data)
    before = (run / "metrics.jsonl").read_bytes()
    assert "state.safetensors" in complaint("solve", "--resume", run, "-n", 100)
    assert (run / "metrics.jsonl").read_bytes() == before
    (run / "policy.safetensors").write_bytes(b"nonsense")
    assert "policy.safetensors" in complaint("evaluate", "kuhn_poker", run)


def test_a_folder_in_use_needs_force(run):
    assert "--force" in complaint("solve", "kuhn_poker", "-n", 5, "--out", run)
    call("solve", "kuhn_poker", "-n", 5, "--out", run, "--force")
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 5


def test_rules_of_ones_own_are_not_run_by_a_folder(run):
    folder = JobFolder(SOLVE, run)
    folder.describe({**folder.about(), "game": "evil.py:Game"}, status="finished", records=folder.records())
    assert "never loaded automatically" in complaint("solve", "--resume", run, "-n", 100)
    assert "never loaded automatically" in complaint("show", run)


def test_full_disk_is_not_bad_input():
    error = FileError("cannot write")
    error.__cause__ = OSError(errno.ENOSPC, "no space left on device")
    assert failures.code_of(error) == failures.FAILED
    assert failures.code_of(FileError("truncated")) == failures.BAD_INPUT


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MemoryError(), 1, "out of memory"),
        (ZeroDivisionError("division by zero"), 1, "TREEPLEX_DEBUG=1"),
        (RecursionError("too deep"), 1, "too deep"),
        (OSError(errno.EIO, "broken"), 1, "broken"),
        (KeyboardInterrupt(), 130, "stopped"),
    ],
)
def test_what_else_goes_wrong_is_one_line_too(error, code, words, monkeypatch):
    def fail(*args, **options):
        raise error

    monkeypatch.setattr("treeplex.forms.compile.compile_game.compile_game", fail)
    assert words in complaint("info", "kuhn_poker", code=code)


def test_a_bug_in_rules_of_ones_own_is_placed(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import treeplex as tp\n\n\nclass FailingGame(tp.Game):\n    def new_initial_state(self):\n        return 1 / 0\n"
    )
    message = complaint("info", f"{tmp_path}/mine.py:FailingGame")
    assert "ZeroDivisionError" in message
    assert "mine.py:6" in message


def test_progress_line():
    progress = Progress("dcfr", "iterations", 1200, 5000, 31234.0, 65.0, {"exploitability": 1.25e-3})
    assert line_of(progress) == "dcfr  iteration 1,200/5,000  exploitability 1.25e-03  31,234 it/s  1:05 left"
    numbers = {"exploitability": 1.25e-3, "nodes": 250_000, "budget": 1_000_000}
    counted = Progress("es-mccfr", "iterations", 1200, None, 31234.0, 65.0, numbers)
    assert line_of(counted).startswith("es-mccfr  iteration 1,200  25% of 1,000,000 nodes  exploitability 1.25e-03")
    uncounted = Progress("es-mccfr", "iterations", 1200, None, 31234.0, None, {"exploitability": 1.25e-3})
    assert line_of(uncounted) == "es-mccfr  iteration 1,200  exploitability 1.25e-03  31,234 it/s"
    numbers = {"exploitability": 1.25e-3, "measures": {"cce_gap": 0.25}, "objective": "cce_gap"}
    joint = Progress("joint", "iterations", 12, 50, 3.0, None, numbers)
    assert line_of(joint) == "joint  iteration 12/50  CCE gap 2.50e-01  3 it/s"
    assert clock(3725) == "1:02:05"
    out, _ = call("solve", "kuhn_poker", "-n", 50, "--progress", "--json")
    assert json.loads(out)["iterations"] == 50
    assert call("solve", "kuhn_poker", "-n", 50, "--no-progress")[1] == ""


def command(*arguments):
    return [sys.executable, "-m", "treeplex.run.cli.main", *map(str, arguments)]


def wait_for(path: Path, seconds: float = 60.0) -> None:
    """Wait until a file exists and is not empty."""
    end = time.monotonic() + seconds
    while not (path.exists() and path.stat().st_size):
        assert time.monotonic() < end, f"no {path}"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_saves_and_the_run_goes_on(tmp_path):
    folder = tmp_path / "run"
    with spawned("solve", "leduc_poker", "-n", 10**8, "--out", folder, "--json") as process:
        wait_for(folder / "metrics.jsonl")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert f"--resume {folder}" in err
    done = json.loads(out)["iterations"]
    assert not [path for path in folder.iterdir() if "tmp" in path.name]
    total = done + 1000
    resumed = call_json("solve", "--resume", folder, "-n", total)
    whole = tp.solve("leduc_poker", iterations=total)
    assert (resumed["exploitability"], resumed["value"]) == (whole.exploitability, list(whole.value))
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["exploitability"] for line in lines] == [record.exploitability for record in whole.records]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_saves_without_a_folder_too(tmp_path):
    with spawned("solve", "kuhn_poker", "-n", 10**9, "--progress", cwd=tmp_path) as process:
        seen = ""
        while "iteration" not in seen:
            more = process.stderr.read(20)
            assert more, f"it ended: {seen}"
            seen += more
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (tmp_path / "runs" / "kuhn_poker-dcfr" / "state.safetensors").exists()
    assert "--resume runs/kuhn_poker-dcfr" in err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_in_a_comparison_keeps_what_was_done(tmp_path):
    folder = tmp_path / "both"
    algorithms = ("-a", "cfr", "-a", "dcfr")
    with spawned("compare", "leduc_poker", *algorithms, "-n", 10**8, "--out", folder, "--json") as process:
        wait_for(folder / "cfr" / "metrics.jsonl")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"--resume {folder / 'cfr'}" in err
    assert [row["algorithm"] for row in json.loads(out)["rows"]] == ["cfr"]
    assert {"comparison.md", "comparison.csv", "comparison.json", "convergence.png"} <= {each.name for each in folder.iterdir()}
    assert not (folder / "dcfr").exists()


@pytest.mark.slow_cases("<lambda>1")
@pytest.mark.parametrize("damage", [lambda lines: lines[:-1], lambda lines: [*lines[:-1], lines[-1].replace(".", ".1", 1)]])
def test_a_damaged_log_is_not_resumed(tmp_path, damage):
    folder = tmp_path / "run"
    call_json("solve", "kuhn_poker", "-n", 100, "--out", folder)
    log = folder / "metrics.jsonl"
    log.write_text("\n".join(damage(log.read_text().splitlines())) + "\n")
    assert "metrics.jsonl: truncated or edited" in complaint("solve", "--resume", folder, "-n", 200)


@pytest.mark.slow
def test_prints_in_rules_of_ones_own_stay_out_of_the_json(tmp_path):
    quiet = (Path(__file__).parents[3] / "examples" / "mygame.py").read_text()
    head = "def new_initial_state(self):"
    (tmp_path / "loud.py").write_text(quiet.replace(head, head + "\n        print('hello')", 1))
    done = subprocess.run(
        command("info", f"{tmp_path / 'loud.py'}:MyGame", "--json"), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["players"] == 2
    assert "hello" in done.stderr


def test_help_and_version_import_nothing_heavy():
    code = (
        "import sys, treeplex.run.cli.main as cli\n"
        "try:\n    cli.app(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'numpy', 'pyspiel'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.slow
def test_program_prints_json_only():
    done = subprocess.run(command("solve", "kuhn_poker", "-n", 10, "--json"), capture_output=True, text=True, check=True)
    assert list(json.loads(done.stdout)) == [*RESULT_KEYS, "nodes"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "kuhn_poker", "-n", "many"], ["--iterations", "treeplex solve --help"]),
        (["solve", "kuhn_poker", "--nosuch"], ["--nosuch"]),
        (["info"], ["GAME", "treeplex info --help"]),
        (["solv"], ["solv", "treeplex --help"]),
        (["evaluate", "kuhn_poker", "uniform", "--worst", "-1"], ["--worst"]),
        (["solve", "kuhn_poker", "-a", ""], ["empty name"]),
        (["evaluate", "kuhn_poker", ""], ["not a policy file name"]),
        (["evaluate", "kuhn_poker", "nowhere"], ["no policy file or run folder nowhere"]),
        (["evaluate", "kuhn_poker", "."], ["not a policy file name"]),
        (["show", "/"], ["not a policy file name"]),
        (["export", "kuhn_poker", "x.what"], ["x.what", ".safetensors"]),
        (
            ["export", "kuhn_poker", "x.csv"],
            ["kuhn_poker is a game, not a policy; solve it", "--out runs/first)"],
        ),
        (["export", ".", "x.efg"], [". is a folder, not a game; name a game, or resume a run with --resume ."]),
        (["solve", "."], [". is a folder, not a game", "--resume ."]),
        (["solve", "kuhn_poker", "--workers", "3"], ["workers is not an option for compiled games; leave it out\n"]),
        (["info", "KUHN_POKER"], ["kuhn_poker"]),
    ],
)
def test_wrong_use_is_one_line(arguments, words):
    message = complaint(*arguments)
    assert all(word in message for word in words)


def test_a_folder_or_a_file_that_is_no_policy(tmp_path):
    assert "a folder without a policy" in complaint("evaluate", "kuhn_poker", tmp_path)
    (tmp_path / "notes").write_text("no policy")
    assert "unknown kind of policy file" in complaint("show", tmp_path / "notes")


def test_what_to_try_next_works_with_rules_of_ones_own(tmp_path):
    rules = Path(__file__).parents[3] / "examples" / "mygame.py"
    game, folder = f"{rules}:MyGame", tmp_path / "a folder"
    out, _ = call("solve", game, "-n", 10, "--out", folder)
    commands = [
        line.partition("   ")[0].split(maxsplit=1)[1] for line in map(str.strip, out.splitlines()) if "treeplex" in line
    ]
    assert len(commands) == 3
    for command in commands[:2]:
        call(*shlex.split(command))


@pytest.mark.parametrize(
    ("game", "cards"),
    [
        ("leduc_poker", "[JQK][cd]"),
        ("leduc_poker(ranks=4,suits=3)", "[TJQK][cdh]"),
        ("leduc_poker(suit_isomorphism=true)", "[JQK]"),
    ],
)
def test_a_table_names_its_cards(game, cards):
    words = ["play", game, "--against", "uniform", "--seat", "0", "--games", "1", "--seed", "3"]
    out = CliRunner().invoke(app, words, input="1\n" * 8).stdout
    known = [line.removeprefix("  you know   ") for line in out.splitlines() if line.startswith("  you know")]
    assert re.fullmatch(rf"card {cards}, pot 2", known[0])
    assert re.fullmatch(rf"card {cards}, public card {cards}, pot \d+, round 1: [a-z ]+", known[-1])
    assert re.search(rf"player 1 knew   card {cards}, ", out)
    assert "Private" not in out


def test_learners_that_are_not_here_are_answered():
    assert "'deep_cfr' is not a solving algorithm; train it: treeplex train deep-cfr GAME" in complaint(
        "solve", "kuhn_poker", "-a", "deep_cfr"
    )
    assert "'dqn' is not implemented" in complaint("train", "dqn", "--out", "none")
    assert "did you mean 'es-mccfr'?" in complaint("sample", "kuhn_poker", "-a", "mccfr")
    assert call_json("solve", "kuhn_poker", "-a", "CFR+", "-n", 5)["algorithm"] == "cfr+"
