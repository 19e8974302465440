"""Networks as policies in small files, and those that come with the library."""

import shlex
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.learn.neural.network_policy import network_policy, shipped_network, shipped_networks
from treeplex.learn.neural.responses.nfsp import Nfsp, NfspSettings
from treeplex.learn.train.registry import learner_named

MARKS = {"leduc-deep-cfr": 0.165, "leduc-nfsp": 0.506, "leduc-vr-deep-dcfr+": 0.191}
"""Exploitability that published trainings come to: Deep CFR after 100 iterations, NFSP after 9.2 million episodes, VR-DeepDCFR+
after 4.7 million histories."""
COMMANDED = ("leduc-deep-cfr",)
"""Those whose cards have the command that made them."""


@pytest.mark.slow_cases("leduc-deep-cfr")
@pytest.mark.parametrize("name", MARKS)
def test_shipped_networks_reach_their_marks_and_are_what_their_cards_say(name: str) -> None:
    path = shipped_networks()[name]
    policy = NeuralPolicy.load(path)
    game = compile_game(policy.spec)
    found = judge(game, policy.on(game)).exploitability
    assert found <= MARKS[name]
    assert found == pytest.approx(float(policy.about["exploitability"]), abs=1e-5)
    assert path.stat().st_size < 100_000


@pytest.mark.parametrize("name", COMMANDED)
def test_the_command_on_the_card_is_one_of_the_command_line(name: str) -> None:
    policy = NeuralPolicy.load(shipped_networks()[name])
    about, (program, verb, learner, game, *changes) = policy.about, shlex.split(policy.about["command"])
    assert (program, verb, game) == ("treeplex", "train", policy.spec)
    assert changes[::2] == ["--set"] * (len(changes) // 2)
    settings = learner_named(learner).settings().changed(dict(change.split("=") for change in changes[1::2]))
    assert learner == about["algorithm"]
    assert settings.seed == int(about["seed"])


@pytest.mark.slow
def test_the_command_of_deep_cfr_makes_what_ships(tmp_path: Path) -> None:
    """Another machine rounds differently; trainings from other seeds come to 0.074 to 0.097."""
    about = NeuralPolicy.load(shipped_networks()["leduc-deep-cfr"]).about
    assert about["command"] == "treeplex train deep-cfr leduc_poker"
    made = tp.train("leduc_poker", "deep-cfr", out=tmp_path / "run").records[-1]
    assert made.done == int(about["iterations"])
    assert made.measures["exploitability"] == pytest.approx(float(about["exploitability"]), rel=0.35)
    assert made.measures["nodes"] == pytest.approx(float(about["nodes"]), rel=0.05)


@pytest.mark.slow
def test_a_shipped_network_is_named_where_policies_are() -> None:
    found = tp.policies.load("network:leduc-nfsp")
    assert np.array_equal(found.probabilities, tp.policies.load(shipped_networks()["leduc-nfsp"]).probabilities)
    assert tp.agent("network:leduc-nfsp", "leduc_poker").policy is not None


def test_an_unknown_network_is_refused() -> None:
    with pytest.raises(SpecError, match="did you mean 'leduc-nfsp'"):
        shipped_network("network:leduc-nfps")
    assert shipped_network("runs/leduc") is None


def test_a_file_plays_what_the_networks_of_a_learner_do(tmp_path: Path) -> None:
    learner = Nfsp(tp.load("leduc_poker"), NfspSettings(plays=20, fits=1, width=8, layers=2))
    learner.step()
    network_policy(learner, [average.network for average in learner.averages]).save(tmp_path / "net.safetensors")
    found = tp.policies.load(tmp_path / "net.safetensors")
    np.testing.assert_allclose(found.probabilities, learner.policy().probabilities, atol=1e-6)


def test_networks_that_see_no_tensors_are_refused() -> None:
    learner = Nfsp(tp.load("kuhn_poker"), NfspSettings(plays=2, width=8, layers=1))
    with pytest.raises(AlgorithmError, match="do not use information_state_tensor"):
        network_policy(learner, [average.network for average in learner.averages])
