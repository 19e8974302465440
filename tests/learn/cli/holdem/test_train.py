"""``treeplex train rebel`` on turns, and ``treeplex holdem search``."""

import json
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from tests.processes import spawned  # noqa: E402
from tests.trainings import copied, weights  # noqa: E402
from treeplex.holdem.betting.tree import betting_tree  # noqa: E402
from treeplex.holdem.spots.files import load_spot  # noqa: E402
from treeplex.holdem.spots.known import turn_endgame_holdem  # noqa: E402
from treeplex.holdem.spots.spot_table import TURN_ENDGAME  # noqa: E402
from treeplex.learn.cli.train import training_line  # noqa: E402
from treeplex.learn.first_street.search import search_spot  # noqa: E402
from treeplex.learn.rebel.files import read_net, save_net  # noqa: E402
from treeplex.learn.rebel.settings import HoldemRebelSettings  # noqa: E402
from treeplex.learn.rebel.shipped_nets import RIVERS  # noqa: E402
from treeplex.learn.rebel.training.job import NET, TURNS  # noqa: E402
from treeplex.learn.rebel.training.kind import HoldemRebelKind, spot_of_record  # noqa: E402
from treeplex.run.cli.main import app  # noqa: E402
from treeplex.run.job.folder import METRICS, JobFolder  # noqa: E402
from treeplex.run.job.record import Progress  # noqa: E402
from treeplex.search import ZeroLeaf  # noqa: E402

torch.set_num_threads(1)

SPOT = """\
board: 3s 7h Td Ks
oop: QQ, AKs, JTs
ip: 99, KQs, T9s
pot: 20
stack: 40
bets: 100%
raises: none
min_bet: 2
iterations: 7
"""
SMALL = {"iterations": 2, "rivers": 4, "river_iterations": 8, "bins": 8, "width": 8, "layers": 1, "burn_in": 8, "batch": 8}
TINY = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]


def games(count: int) -> tuple[str, str]:
    """So many turns in total."""
    return "--set", f"games={count}"


KEYS = [
    "iterations",
    "method",
    "values",
    "unlike",
    "seconds",
    "cpu_seconds",
    "judging_seconds",
    "first",
    "ev_oop",
    "ev_ip",
    "played_ev_oop",
    "played_ev_ip",
    "exploitability",
    "exploitability_percent",
    "exploitability_mbb",
]


def call(*arguments: object, code: int = 0) -> tuple[str, str]:
    """Run a command, of training ReBeL or of hold'em; return what it printed on stdout and stderr."""
    first, *others = map(str, arguments)
    begun = ["train", *([] if "--resume" in others else ["rebel"])] if first == "train" else [first]
    result = CliRunner().invoke(app, [*(["holdem"] if first == "search" else []), *begun, *others])
    assert result.exit_code == code, (arguments, result.output, result.exception)
    assert "Traceback" not in result.output
    return result.stdout, result.stderr


def call_json(*arguments: object) -> dict[str, object]:
    found = json.loads(call(*arguments, "--json")[0])
    assert isinstance(found, dict)
    return found


def complaint(*arguments: object) -> str:
    """The one line on stderr of what is refused."""
    out, err = call(*arguments, code=2)
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


@pytest.fixture
def spot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A spot file in a folder of one's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spot.yaml").write_text(SPOT)
    return "spot.yaml"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "spot.yaml").write_text(SPOT)
    out, _ = call("train", folder / "spot.yaml", *TINY, *games(3), "--out", folder / "run")
    assert "ReBeL on turns, pot 20: 3 games" in out
    assert "on 12 rivers" in out
    assert f"treeplex holdem search SPOT {folder / 'run'}" in out
    assert f"treeplex train --resume {folder / 'run'} --set games=6" in out
    return folder / "run"


@pytest.mark.slow
def test_training_and_going_on(trained: Path, spot: str) -> None:
    settings = HoldemRebelSettings.from_json(JobFolder(TURNS, trained).about()["settings"], "here")
    assert {name: getattr(settings, name) for name in SMALL} == SMALL
    assert (settings.games, settings.stacks) == (3, (50.0, 500.0))
    (Path.cwd() / "settings.yaml").write_text(call("train", spot, *TINY, "--set", "games=1", "--show")[0])
    first = call_json("train", spot, "--config", "settings.yaml", "--out", "run")
    assert (first["status"], first["games"], first["rows"], first["folder"]) == ("finished", 1, 4, "run")
    assert first["loss"] is None
    found = call_json("train", "--resume", "run", *games(3), "--set", "rate=1e-3")
    last = JobFolder(TURNS, "run").records()[-1]
    assert (found["games"], found["steps"], found["loss"]) == (3, last.steps, last.loss)
    assert (found["seconds"], found["cpu_seconds"]) == (last.seconds, last.cpu_seconds)
    assert "3 games" in call("train", "--resume", "run")[0]


def test_turn_endgame_holdem_is_there_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own, found = turn_endgame_holdem(), load_spot(TURN_ENDGAME)
    assert betting_tree(found).nodes == betting_tree(own).nodes
    assert (found.board, found.pot, found.stack, found.min_bet) == (own.board, own.pot, own.stack, 100.0)
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(found.ranges, own.ranges, strict=True))
    assert "stacks: [5000.0, 50000.0] " in call("train", TURN_ENDGAME, "--show")[0]
    assert "width: 1536 " in call("train", TURN_ENDGAME, "--show", "--preset", "paper")[0]
    printed = call_json("train", TURN_ENDGAME, "--bets", "100%", "--raises", "none", *TINY, *games(1), "--out", "run")
    assert printed["games"] == 1
    model = spot_of_record(JobFolder(TURNS, "run").about()["game"], "run")
    assert (model.board, model.stack, str(model.bets.streets[3][1].bets[0])) == (own.board, 19_000.0, "100%")  # type: ignore[union-attr]  # fmt: skip


@pytest.mark.slow
def test_a_search_is_that_of_the_library(trained: Path, spot: str) -> None:
    found = call_json("search", spot, trained, "-n", 5, "--river", 8, "--threads", 1)
    assert list(found) == KEYS
    turn = load_spot(spot)
    own = search_spot(turn, trained, iterations=5, river=8)
    assert own.played is not None
    assert (found["iterations"], found["method"], found["values"]) == (5, "lcfr", str(trained / NET))
    half = own.spot.pot / 2
    assert (found["first"], (found["ev_oop"], found["ev_ip"])) == (own.actions, (own.ev[0] + half, own.ev[1] + half))
    assert (found["played_ev_oop"], found["played_ev_ip"]) == (own.played.ev[0] + half, own.played.ev[1] + half)
    assert found["exploitability"] == own.played.exploitability
    assert found["exploitability_percent"] == pytest.approx(5 * own.played.exploitability)
    assert found["exploitability_mbb"] == pytest.approx(500 * own.played.exploitability)
    exact = call_json("search", spot, "--exact", "-n", 5, "--river", 8, "--method", "flop", "--stack", 30)
    own = search_spot(replace(turn, stack=30.0), None, iterations=5, river=8, method="flop")
    assert own.played is not None
    assert (exact["values"], exact["exploitability"]) == ("exact", own.played.exploitability)
    alone = call_json("search", spot, trained / NET, "-n", 5, "--no-judge")
    assert (alone["first"], alone["exploitability"], alone["played_ev_ip"]) == (found["first"], None, None)


def test_evs_of_a_search_include_the_blinds(tmp_path: Path) -> None:
    (tmp_path / "blinds.yaml").write_text(
        "format: small(ranks=6,suits=4)\nblinds: 1, 2\npot: 0\nstack: 20\noop: all\nip: all\n"
    )
    found = call_json("search", tmp_path / "blinds.yaml", "--zero", "--no-judge", "-n", 8)
    own = search_spot(load_spot(tmp_path / "blinds.yaml"), ZeroLeaf(), iterations=8, judge=False)
    assert (found["ev_oop"], found["ev_ip"]) == (own.ev[0] + 2, own.ev[1] + 1)


@pytest.mark.slow
def test_a_search_for_people(trained: Path, spot: str) -> None:
    out, _ = call("search", spot, trained, "-n", 5, "--river", 8, "--out", "played.spot")
    lines = {line.split("  ")[1]: line for line in out.splitlines() if line.startswith("  ")}
    assert out.startswith("3s 7h Td Ks, pot 20, stacks 40 searched by lcfr: 5 iterations\n")
    found = call_json("search", spot, trained, "-n", 5, "--river", 8)
    first = found["first"]
    assert isinstance(first, dict)
    assert f"check {100 * first['check']:.1f}%, bet 20 {100 * first['bet 20']:.1f}%" in lines["OOP first"]
    assert f"{found['played_ev_oop']:.3f} of the pot of 20 " in lines["EV OOP"]
    assert "% of the pot, " in lines["exploitability"]
    assert "mbb/hand" in lines["exploitability"]
    assert "3 games, 12 rivers" in lines["values"]
    assert "beware" not in lines
    assert "treeplex show played.spot" in out
    shown = json.loads(call("show", "played.spot", "--json")[0])
    assert shown["exploitability"] == found["exploitability"]
    assert "already exists" in complaint("search", spot, trained, "--out", "played.spot")
    call("search", spot, trained, "-n", 1, "--river", 8, "--out", "played.spot", "--force")
    out, _ = call("search", spot, trained, "-n", 1, "--no-judge", "--bets", "50%")
    assert "not evaluated" in out
    assert "the network was not trained for this spot, which has other bet sizes" in out


def test_other_networks_are_refused(spot: str) -> None:
    save_net("dice.safetensors", {"a": np.zeros(2)}, game="liars_dice", identity="x", settings={"width": 8}, card={})
    assert "a network for liars_dice, not for hold'em rivers" in complaint("search", spot, "dice.safetensors")


@pytest.mark.slow_cases(
    "train spot.yaml --out {0} --set game=3-unknown setting 'game'; did you mean 'games'",
    "train spot.yaml --out {0} --set games---set must be key=value",
    "train spot.yaml --out {0} --set stacks=1,2-stacks must be more than 10 chips",
    "search spot.yaml-leaf values are missing",
)
@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("train", "--out DIR"),
        ("train --out {0} --resume {0}", "give only one of --out and --resume"),
        ("train --pot 40 --resume {0}", "--pot cannot be combined with --resume"),
        ("train nothing.yaml --out {0}", "nothing.yaml"),
        ("train spot.yaml --out {0} --set game=3", "unknown setting 'game'; did you mean 'games'"),
        ("train spot.yaml --out {0} --set games", "--set must be key=value"),
        ("train spot.yaml --out {0} --set games=0", "games must be an integer of at least 1"),
        ("train spot.yaml --out {0} --set stacks=1", "stacks must be 2 numbers"),
        ("train spot.yaml --out {0} --set stacks=1,2", "stacks must be more than 10 chips"),
        ("train spot.yaml --out {0} --set source=dice", "source must be one of"),
        ("train spot.yaml --out {0} --workers many", "see treeplex train --help"),
        ("train spot.yaml --out {0} --board 3s7hTd", "3 streets of betting, not 2"),
        ("train raked.yaml --out {0}", "networks do not support rake"),
        ("train --resume {0}", "contains no training of treeplex train"),
        ("search spot.yaml", "leaf values are missing"),
        ("search spot.yaml {0} --exact", "cannot be combined"),
        ("search spot.yaml {0}", "cannot read"),
        ("search spot.yaml --exact --method cfrd", "unknown method 'cfrd'"),
        ("search spot.yaml --exact -n 0", "iterations must be an integer of at least 1"),
        ("search spot.yaml --exact --river 0", "iterations of endgames must be an integer of at least 1"),
        ("search spot.yaml --exact --threads 0", "threads"),
        ("search spot.yaml --exact --board 3s7hTdKs2c", "one street of betting"),
        ("search spot.yaml --exact --no-judge --out played.spot", "remove --no-judge"),
        ("search locked.yaml --exact", "locked.yaml:10: search does not support node locks"),
    ],
)
def test_wrong_use_is_one_line(spot: str, arguments: str, part: str) -> None:
    Path("raked.yaml").write_text(SPOT + "rake: 5%\n")
    Path("locked.yaml").write_text(SPOT + "locks: ['x: x 100%']\n")
    assert part in complaint(*arguments.format("run").split())
    assert not Path("run").exists()


@pytest.mark.slow
def test_another_training_is_kept_unless_forced(spot: str) -> None:
    call("train", spot, *TINY, *games(1), "--out", "run")
    before = Path("run", METRICS).read_bytes()
    assert "--resume" in complaint("train", spot, *TINY, *games(1), "--out", "run")
    assert Path("run", METRICS).read_bytes() == before
    call("train", spot, *TINY, *games(2), "--out", "run", "--force")
    assert JobFolder(TURNS, "run").records()[-1].done == 2


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on(spot: str) -> None:
    with spawned("train", "rebel", spot, *TINY, *games(3000), "--out", "run") as child:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not (Path("run", METRICS).exists() and child.poll() is None):
            time.sleep(0.1)
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
    assert child.returncode == 130, err
    assert "resume with treeplex train --resume run" in err.strip().splitlines()[-1]
    done = JobFolder(TURNS, "run").records()[-1].done
    assert f": {done:,} game" in out
    assert call_json("train", "--resume", "run", *games(done + 1))["games"] == done + 1
    assert read_net("run/net.safetensors").card["games"] == done + 1


def test_the_live_line() -> None:
    numbers = {"rows": 384, "steps": 90, "loss": 0.0123, "rate": 1.25}
    state = Progress("rebel on turns", "games", 12, 3, 1.25, 75.0, numbers)
    known = HoldemRebelKind()
    assert training_line(known, state) == "training rebel  12/3 games  1.2/s  384 rivers  loss 1.23e-02  1:15 left"
    assert "loss" not in training_line(known, replace(state, numbers={**numbers, "loss": None}))
    assert "37/s" in training_line(known, replace(state, numbers={**numbers, "rate": 37.2}))


def test_the_network_that_comes_with_the_library() -> None:
    found = call_json("search", "turn_endgame", "rebel", "--bets", "100%,a", "--raises", "a", "-n", 2, "--no-judge")
    assert (found["values"], found["unlike"]) == ("rebel", [])
    judged = read_net(RIVERS).card["judged"]
    assert set(judged) == {"spot", "method", "iterations", "river", "exploitability", "date"}


def test_donk_sizes_of_a_file_are_refused_and_can_be_left_out(tmp_path: Path) -> None:
    file = Path(__file__).parents[4] / "examples" / "spots" / "turn.yaml"
    text = complaint("search", file, "rebel", "-n", 1, "--no-judge")
    assert "donk" in text
    assert call_json("search", file, "rebel", "--donk", "default", "-n", 1, "--no-judge")["unlike"] == [
        "other bet sizes (trained with --bets 100%,a --raises a)"
    ]


def test_a_place_where_no_file_can_be_is_named_before_the_search(spot: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    text = complaint("search", spot, "--exact", "-n", 1, "--out", tmp_path / "taken" / "turn.spot")
    assert "taken is a file; choose another name" in text.replace("\n", " ")


def test_the_card_of_a_network_is_shown() -> None:
    out, _ = call("search", "turn_endgame", "rebel", "--bets", "100%,a", "--raises", "a", "-n", 1, "--no-judge")
    assert "% of the pot of 2000 on its own spot, 128 iterations of lcfr" in out


def test_a_resumed_training_shows_its_own_settings(trained: Path) -> None:
    own = HoldemRebelSettings.from_json(JobFolder(TURNS, trained).about()["settings"], "here")
    assert f"games: {own.games} " in call("train", "--resume", trained, "--show")[0]
    assert "--preset does not apply" in complaint("train", "--resume", trained, "--preset", "paper")
    assert f"batch: {own.batch + 1} " in call("train", "--resume", trained, "--show", "--set", f"batch={own.batch + 1}")[0]


def test_a_network_that_was_deleted_is_written_again(trained: Path, tmp_path: Path) -> None:
    folder = copied(trained, tmp_path)
    (folder / NET).unlink()
    call("train", "--resume", folder)
    assert weights(folder) == weights(trained)


def test_learning_that_would_never_begin_is_refused_or_said(spot: str, tmp_path: Path) -> None:
    text = complaint("train", spot, "--set", "burn_in=20", "--set", "rows=10", "--out", tmp_path / "never")
    assert ", above rows (10)" in text
    tiny = [word for each in ("iterations=2", "rivers=2", "river_iterations=4", "burn_in=500") for word in ("--set", each)]
    assert "so the network is still untrained" in call("train", spot, *games(1), *tiny, "--out", tmp_path / "short")[0]
