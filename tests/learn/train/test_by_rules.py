"""Learners by the rules: the commands take their folders, on games that are compiled to be judged and on those that are not."""

import json
from pathlib import Path

import pytest

import treeplex as tp
from tests.commands import call
from treeplex.forms.policies.neural import NeuralPolicy

pytestmark = pytest.mark.slow

pytest.importorskip("torch")
SMALL = ("--set", "batch=8", "--set", "width=8", "--set", "steps=2")


def test_the_commands_take_its_folder(tmp_path: Path) -> None:
    """A small game, by its rules: trained, judged, resumed, shown and matched as ever."""
    folder = tmp_path / "run"
    printed = json.loads(call("train", "ppo", "kuhn_poker", *SMALL, "--set", "rules=true", "--out", folder, "--json")[0])
    assert (printed["steps"], printed["episodes"]) == (2, 16)
    judged = json.loads(call("evaluate", "kuhn_poker", folder, "--json")[0])
    assert judged["exploitability"] == pytest.approx(printed["exploitability"])
    assert judged["algorithm"] == "ppo"
    assert "Pass" in call("show", folder)[0]
    assert json.loads(call("match", "kuhn_poker", folder, "uniform", "--json")[0])["exact"]
    assert json.loads(call("train", "--resume", folder, "--set", "steps=3", "--json")[0])["steps"] == 3


@pytest.mark.parametrize("name", ["ppo", "nfsp"])
def test_a_game_too_large_to_store(tmp_path: Path, name: str) -> None:
    """Nothing is compiled; the policy plays; what was interrupted goes on as if it had not been."""
    settings = {"steps": 4, "batch": 8, "width": 8, "exact": False} | ({"plays": 8} if name == "nfsp" else {})
    whole = tp.train("phantom_ttt", name, settings=settings, out=tmp_path / "whole")
    tp.train("phantom_ttt", name, settings={**settings, "steps": 2}, out=tmp_path / "parts")
    parts = tp.train(resume=tmp_path / "parts", settings={"steps": 4})
    assert "exploitability" not in whole.records[-1].measures
    policy, same = whole.load(), parts.load()
    assert isinstance(policy, NeuralPolicy)
    root = tp.load("phantom_ttt").new_initial_state()  # type: ignore[union-attr]
    if name == "nfsp":  # step sizes of PPO fall with the steps that are asked for
        assert policy.action_probabilities(root) == same.action_probabilities(root)
    printed = call("playouts", "phantom_ttt", tmp_path / "whole", "--against", "uniform", "-n", 20, "--json")[0]
    assert -1.0 <= json.loads(printed)["value"] <= 1.0
    assert f"treeplex playouts phantom_ttt {tmp_path / 'whole'}" in dict(whole.kind.next_steps(whole)).popitem()[0]


@pytest.mark.slow
def test_phantom_tic_tac_toe_is_judged_exactly(tmp_path: Path) -> None:
    """A network that has learned nothing yet is uniform: .78873 (Rudolph et al. 2025)."""
    training = tp.train("phantom_ttt", "mmd", settings={"steps": 1, "batch": 4, "rate": 1e-9}, out=tmp_path / "run")
    assert training.records[0].measures["exploitability"] == pytest.approx(0.78873, abs=1e-5)
    judged = json.loads(call("evaluate", "phantom_ttt", tmp_path / "run", "--json")[0])
    assert judged["exploitability"] == pytest.approx(0.78873, abs=1e-4)
