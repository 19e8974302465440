"""Shipping a network: weights unchanged, on its card what ``evaluate`` finds, and no unlike comparisons."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from papers.rebel import ship_network
from treeplex.forms.sources.load import public_tree
from treeplex.learn.rebel import shipped_nets
from treeplex.learn.rebel.files import read_net
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.training.job import NET
from treeplex.learn.rebel.training.judge import judge_rebel
from treeplex.learn.train.train import train

DICE = "liars_dice(dice_sides=2)"
TINY = RebelSettings(iterations=3, episodes=8, width=8, solves=64, burn_in=16, batch=16, reuse=2.0, depth=1)


@pytest.fixture
def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that ships into an empty folder, as the command does."""
    for each in (ship_network, shipped_nets):
        monkeypatch.setattr(each, "SHIPPED", tmp_path / "networks")

    def run(*arguments: object) -> None:
        monkeypatch.setattr(sys, "argv", ["ship_network.py", *map(str, arguments), "--workers", "1"])
        ship_network.main()

    return run


@pytest.mark.slow
def test_what_is_shipped_is_what_was_trained_and_judged(ship, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(DICE, settings=TINY, out=run, judge_every=0)
    counts = ("--playthroughs", 8, "--iterations", 3)
    ship("small", run, *counts)
    ship("small", run / NET, "--suffix", "flop", *counts, "--set", "method=flop", "--set", "endgame=2", "--seed", 3)
    assert set(shipped_nets.shipped_nets()) == {"small", "small-flop"}
    rules, trained = public_tree(DICE), read_net(run / NET)
    for name, search, seed in (("small", {}, 0), ("small-flop", {"method": "flop", "endgame": 2}, 3)):
        net = shipped_nets.shipped_net(rules, name)
        assert all(np.array_equal(array, trained.weights[key]) for key, array in net.weights.items())
        assert net.weights.keys() == trained.weights.keys()
        assert (net.settings, net.identity) == (trained.settings, trained.identity)
        expected = judge_rebel(DICE, run, playthroughs=8, iterations=3, search=search, seed=seed, workers=1).to_json()
        judged = net.card["judged"]
        assert {key: expected[key] for key in judged if key != "date"} == {k: v for k, v in judged.items() if k != "date"}
        assert {key: net.card[key] for key in trained.card} == trained.card


@pytest.mark.slow
def test_networks_judged_otherwise_or_for_another_game_are_not_shipped(ship, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(DICE, settings=TINY, out=run, judge_every=0)
    with pytest.raises(SystemExit, match="a network for liars_dice"):
        ship("1x4f", run)
    ship("small", run, "--playthroughs", 4, "--iterations", 2)
    with pytest.raises(SystemExit, match="use the same for both"):
        ship("small", run, "--playthroughs", 8, "--iterations", 2, "--suffix", "more")
    ship("small", run, "--playthroughs", 5, "--iterations", 2)  # in its own place
    assert [net.card["judged"]["playthroughs"] for net in shipped_nets.shipped_nets().values()] == [5]
