"""The learner in a single file, ``examples/ppo.py``."""

import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import treeplex as tp

EXAMPLE = runpy.run_path(str(Path(__file__).parents[3] / "examples" / "ppo.py"))


def test_it_learns_kuhn_poker(capsys: pytest.CaptureFixture[str]) -> None:
    args = EXAMPLE["Args"](game="kuhn_poker", updates=100, games=512, rate=0.003, width=32, every=50)
    found = EXAMPLE["train"](args)
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[0]) for line in lines] == [0, 50, 100]
    assert f"exploitability {found:.4f}" in lines[-1]
    assert found < 0.25 < tp.exploitability("kuhn_poker", "uniform")


def test_games_are_played_by_the_rules() -> None:
    """Under uniform play, payoffs are worth what the judge says, and infosets are met as often as they are reached."""
    compiled, game = tp.compile("kuhn_poker"), tp.load("kuhn_poker")
    tree = EXAMPLE["tree_of"](compiled, game)
    played = EXAMPLE["play"](tree, np.full((len(compiled.infostates), 2), 0.5), 20_000, np.random.default_rng(0))
    first = played.infosets < compiled.infosets[0]
    opening = np.isin(
        played.infosets, [compiled.lookup[0, text] for player, text in compiled.lookup if player == 0 and len(text) == 1]
    )
    assert opening.sum() == 20_000
    value = float(played.payoffs[opening].mean())
    assert value == pytest.approx(tp.judge(compiled, "uniform").value[0], abs=0.05)
    assert 0.4 < float(first.float().mean()) < 0.7


def test_the_command_takes_options(capsys: pytest.CaptureFixture[str]) -> None:
    EXAMPLE["main"](["--game", "kuhn_poker", "--updates", "1", "--games", "16"])
    assert "1 updates" in capsys.readouterr().out
