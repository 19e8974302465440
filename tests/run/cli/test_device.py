"""The command ``device``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.evaluate.correlation import CONCEPTS, judge_device
from treeplex.run.cli.main import app
from treeplex.run.devices import device_from_policy, load_device, save_device

pytestmark = pytest.mark.slow

GAME = "matrix(rows=[[0,7],[2,6]],second=[[0,2],[7,6]])"
KUHN = "kuhn_poker(players=3)"


def call(*arguments: object, code: int = 0) -> str:
    """What a command prints, or the one line on stderr of one that fails."""
    result = CliRunner().invoke(app, ["device", *map(str, arguments)], env={"COLUMNS": "120"})
    assert result.exit_code == code, (arguments, result.output, result.exception)
    return result.stdout if code == 0 else result.stderr


@pytest.fixture
def chicken(tmp_path: Path) -> Path:
    """Aumann's correlated equilibrium of chicken, as a file."""
    row, column = tp.compile(GAME).infostates
    joint_plans = [
        {"probability": p, "plans": [{row: i}, {column: j}]} for i, j, p in ((1, 1, 0.5), (1, 0, 0.25), (0, 1, 0.25))
    ]
    path = tmp_path / "chicken.json"
    path.write_text(json.dumps({"format": "treeplex device", "version": 1, "game": GAME, "joint_plans": joint_plans}))
    return path


def test_json(chicken: Path) -> None:
    found = json.loads(call(chicken, "--json", "--best", "--top", 1))
    assert list(found["distances"]) == list(CONCEPTS)
    assert (found["joint_plans"], found["plans"], found["drawn"]) == (3, [2, 2], False)
    assert found["value"] == pytest.approx([5.25, 5.25])
    assert found["welfare"] == pytest.approx(10.5)
    assert found["best_welfare"] == pytest.approx(10.5)
    row, column = tp.compile(GAME).infostates
    assert found["likeliest"] == [{"probability": 0.5, "plans": [{row: 1}, {column: 1}]}]
    for distance in found["distances"].values():
        assert distance["distance"] == pytest.approx(0.0, abs=1e-12)
        assert [trigger["player"] for trigger in distance["triggers"]] == [0, 1]


def test_for_people(chicken: Path) -> None:
    out = call(chicken)
    assert "3   plans of the players: 2 / 2" in out
    assert "+5.250000, +5.250000" in out
    assert "EFCCE     0.000e+00" in out
    assert "Non-terminal: 1" in out
    assert "more joint plans" not in out
    assert "2 more joint plans; --top shows more" in call(chicken, "--top", 1)


def test_numbers_are_those_of_the_library(tmp_path: Path) -> None:
    policy = tp.solve(KUHN, "cfr", iterations=10).policy
    device = device_from_policy(policy)
    save_device(device, tmp_path / "device.safetensors", metadata={"algorithm": "cfr", "iterations": 10})
    judgement = judge_device(device)
    found = json.loads(call(tmp_path / "device.safetensors", "--game", KUHN, "--top", 0, "--json"))
    assert found["likeliest"] == []
    assert (found["algorithm"], found["iterations"]) == ("cfr", 10)
    for concept in CONCEPTS:
        distance = found["distances"][concept]
        assert distance["distance"] == judgement[concept].distance
        assert distance["gains"] == list(judgement[concept].gains)
        assert [trigger["gain"] for trigger in distance["triggers"]] == [t.gain for t in judgement[concept].triggers]
        told = distance["triggers"][0]
        assert (told["told"] is None) == (concept not in ("EFCE", "AFCE"))
        assert (told["infostate"] is None) == (concept in ("CCE", "CE"))
    out = call(tmp_path / "device.safetensors", "--top", 1, "--lines", 2)
    assert "device: cfr, 10 iterations, on kuhn_poker(players=3)" in out
    assert "+0.000000   constant sum of payoffs in this game" in out
    assert "more infostates (--lines 0)" in out
    assert "more infostates" not in call(tmp_path / "device.safetensors", "--top", 1, "--lines", 0)


def test_run_folder(tmp_path: Path) -> None:
    tp.solve(KUHN, "cfr-jr", iterations=100, out=tmp_path / "run")
    found = json.loads(call(tmp_path / "run", "--json"))
    assert (found["algorithm"], found["iterations"]) == ("cfr-jr", 100)
    assert found["joint_plans"] == len(load_device(tmp_path / "run"))
    assert len(found["likeliest"]) == 3


def test_devices_of_refined_games(tmp_path: Path) -> None:
    game, run = "goofspiel(num_cards=4,points_order=descending)", tmp_path / "run"
    tp.solve(game, "cfr-s", iterations=20, refine=True, out=run)
    found = call(run, "--json")
    assert call(run, "--game", game, "--json") == found
    assert "names a game that cannot be loaded:" in call(run / "device.safetensors", code=2)
    assert call(run / "device.safetensors", "--refine", "--json") == found
    assert call(run / "device.safetensors", "--refine", "--game", game, "--json") == found


def test_solve_says_that_there_is_a_device(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for algorithm, there in (("cfr-s", True), ("cfr", False)):
        result = CliRunner().invoke(app, ["solve", GAME, "-a", algorithm, "-n", "9", "--out", str(run), "--force"])
        assert result.exit_code == 0
        assert ("device.safetensors" in result.stdout, f"treeplex device {run}" in result.stdout) == (there, there)


def test_mistakes(tmp_path: Path, chicken: Path) -> None:
    tp.solve("kuhn_poker", "cfr", iterations=2, out=tmp_path / "run")
    assert "has no correlation device, since cfr computes none" in call(tmp_path / "run", code=2)
    assert "correct the plan or the game" in call(chicken, "--game", "kuhn_poker", code=2)
    save_device(load_device(chicken), tmp_path / "chicken.safetensors")
    assert "not for kuhn_poker" in call(tmp_path / "chicken.safetensors", "--game", "kuhn_poker", code=2)
    assert "check the path" in call(tmp_path / "none.json", code=2)
    assert "is neither a run folder nor a device file; check the path" in call(tmp_path / "none", code=2)
    assert "1 more joint plan; --top shows more" in call(chicken, "--top", 2)
    assert "2 more joint plans; --top shows more" in call(chicken, "--top", 1)


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ({"iterations": 5}, "device: 5 iterations, on matrix"),
        ({"algorithm": "mine"}, "device: mine, on matrix"),
        ({"algorithm": "mine", "iterations": "many"}, "device: mine, on matrix"),
        ({"drawn": 7}, "3, sampled from a larger device"),
    ],
)
def test_metadata_of_your_own(tmp_path: Path, chicken: Path, metadata: dict[str, object], title: str) -> None:
    save_device(load_device(chicken), tmp_path / "own.safetensors", metadata=metadata)
    assert title in call(tmp_path / "own.safetensors")
