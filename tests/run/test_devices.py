"""Devices from solvers and policies, and as files."""

import json
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from tests.mediator import random_device
from treeplex.errors import AlgorithmError, FileError, PolicyError
from treeplex.evaluate.correlation import judge_device
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.correlation.device import Device
from treeplex.forms.policies.tabular import Policy
from treeplex.run import devices
from treeplex.run.devices import device_from_policy, load_device, read_device, save_device

GAME = "kuhn_poker(players=3)"


@pytest.fixture
def device() -> Device:
    return random_device(compile_game(GAME), np.random.default_rng(1), 5).merged()


def same(one: Device, other: Device) -> bool:
    """Whether two devices are the same distribution."""
    one, other = one.merged(), other.merged()
    arrays = [*zip(one.plans, other.plans, strict=True), (one.support, other.support), (one.weights, other.weights)]
    return one.game.identity == other.game.identity and all(np.array_equal(a, b) for a, b in arrays)


@pytest.mark.parametrize("name", ["device.safetensors", "device.json"])
def test_files_keep_a_device(device: Device, tmp_path: Path, name: str) -> None:
    save_device(device, tmp_path / name, metadata={"algorithm": "by hand"})
    loaded, about = read_device(tmp_path / name)
    assert same(loaded, device)
    assert about == {"algorithm": "by hand"}
    assert same(load_device(tmp_path / name, device.game), device)


@pytest.mark.parametrize("name", ["device.safetensors", "device.json"])
def test_every_cut_is_noticed(device: Device, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save_device(device, path)
    data = path.read_bytes()
    for size in (0, 7, 60, len(data) // 2, len(data) - 3):
        path.write_bytes(data[:size])
        with pytest.raises(FileError, match=r"write it again|not a device"):
            load_device(path, device.game)


def test_a_changed_file_is_refused(device: Device, tmp_path: Path) -> None:
    path = tmp_path / "device.safetensors"
    save_device(device, path)
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileError, match="was changed after it was written"):
        load_device(path, device.game)


def test_devices_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "chicken.json"
    spec = "matrix(rows=[[0,7],[2,6]],second=[[0,2],[7,6]])"
    game = compile_game(spec)
    row, column = game.infostates
    cells = [(1, 1, 0.5), (1, 0, 0.25), (0, 1, 0.25)]
    joint_plans = [{"probability": p, "plans": [{row: i}, {column: j}]} for i, j, p in cells]
    about = {"format": "treeplex device", "version": 1, "game": spec}
    path.write_text(json.dumps({**about, "joint_plans": joint_plans}))
    judgement = judge_device(load_device(path))
    assert judgement.welfare == pytest.approx(10.5)
    assert judgement["CE"].distance == pytest.approx(0.0, abs=1e-12)
    for change, complaint in [
        ({"joint_plans": [{"probability": 1.0, "plans": [{row: 2}, {column: 0}]}]}, "no action 2 at infostate"),
        ({"joint_plans": [{"probability": 1.0, "plans": [{"elsewhere": 0}, {column: 0}]}]}, "has no infostate 'elsewhere'"),
        ({"joint_plans": [{"probability": 1.0, "plans": [{row: 0}]}]}, "has 1 plans; give one for each of 2 players"),
        ({"joint_plans": [{"probability": 0.5, "plans": [{row: 0}, {column: 0}]}]}, "sum to"),
        ({"joint_plans": [{"probability": 1.0, "plans": [{}, {column: 0}]}]}, "not a reduced plan"),
        ({"joint_plans": []}, "not a list of joint plans"),
        ({"joint_plans": [{"plans": [{row: 0}, {column: 0}]}]}, "damaged"),
        ({"version": 2}, "format version 2"),
        ({"version": "1"}, "format version '1', but this Treeplex reads 1"),
        ({"format": "treeplex policy"}, "is not a device"),
        ({"game": "mygame.py:MyGame"}, "give the game too"),
        ({"game": "chickn"}, r"chicken\.json names a game that cannot be loaded: unknown game 'chickn'"),
        ({"identity": "0" * 16}, "rules have changed"),
    ]:
        path.write_text(json.dumps({**about, "joint_plans": joint_plans, **change}))
        with pytest.raises((FileError, PolicyError), match=complaint):
            load_device(path)
    path.write_text(json.dumps({**about, "joint_plans": joint_plans}).replace('"probability"', '"plans": [], "probability"', 1))
    with pytest.raises(FileError, match="'plans' is given twice"):
        load_device(path)


def test_a_device_of_another_game(device: Device, tmp_path: Path) -> None:
    save_device(device, tmp_path / "device.json")
    with pytest.raises(PolicyError, match="not for kuhn_poker; load it with that game"):
        load_device(tmp_path / "device.json", compile_game("kuhn_poker"))


def test_paths_that_hold_no_device(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"unknown kind of device file .*policy\.csv"):
        load_device(tmp_path / "policy.csv")
    with pytest.raises(FileError, match="check the path"):
        load_device(tmp_path / "device.json")
    with pytest.raises(FileError, match="is not a run folder"):
        load_device(tmp_path)
    tp.solve("kuhn_poker", "cfr", iterations=2, out=tmp_path / "run")
    assert not (tmp_path / "run" / "device.safetensors").exists()
    with pytest.raises(FileError, match="has no correlation device, since cfr computes none; solve with -a cfr-s or -a cfr-jr"):
        load_device(tmp_path / "run")


@pytest.mark.quick_cases("cfr-s")
@pytest.mark.parametrize("algorithm", ["cfr-s", "cfr-jr"])
def test_run_folders_hold_the_device(tmp_path: Path, algorithm: str) -> None:
    solution = tp.solve(GAME, algorithm, iterations=200, out=tmp_path / "run")
    loaded, about = read_device(tmp_path / "run")
    assert same(loaded, solution.device())
    assert about == {"algorithm": algorithm, "iterations": 200, "drawn": 0}
    assert judge_device(loaded)["CCE"].gap == pytest.approx(solution.last.measure("cce_gap"), abs=1e-9)
    more = tp.solve(resume=tmp_path / "run", iterations=400)
    assert same(load_device(tmp_path / "run"), more.device())
    assert read_device(tmp_path / "run")[1]["iterations"] == 400
    tp.solve(GAME, "cfr", iterations=2, out=tmp_path / "run", force=True)
    assert not (tmp_path / "run" / "device.safetensors").exists()


@pytest.mark.slow
def test_large_devices_are_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(devices, "MOST_JOINT_PLANS", 10)
    monkeypatch.setattr(devices, "DRAWN_JOINT_PLANS", 500)
    tp.solve(GAME, "cfr-jr", iterations=50, out=tmp_path / "run")
    drawn, about = read_device(tmp_path / "run")
    assert about["drawn"] == 500
    np.testing.assert_allclose(drawn.weights * 500, np.round(drawn.weights * 500), atol=1e-9)


def test_other_algorithms_make_no_device() -> None:
    with pytest.raises(AlgorithmError, match="cfr has no correlation device"):
        tp.solve("kuhn_poker", "cfr", iterations=2).device()


def test_a_policy_as_a_device() -> None:
    policy = tp.solve(GAME, "cfr", iterations=20).policy
    device = device_from_policy(policy)
    assert judge_device(device)["CCE"].distance == pytest.approx(tp.nash_conv(GAME, policy), abs=1e-9)
    reached = device.average_strategy() > 0
    np.testing.assert_allclose(device.policy().probabilities[reached], policy.probabilities[reached], atol=1e-9)
    with pytest.raises(AlgorithmError):
        device_from_policy(Policy.uniform(policy.game), most=1)


def test_json_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "device.json"
    path.write_text("[" * 200_000)
    with pytest.raises(FileError, match="truncated or not JSON"):
        load_device(path)
