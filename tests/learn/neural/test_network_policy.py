"""Networks as policies in small files, and those that come with the library."""

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

MARKS = {"leduc-deep-cfr": 0.165, "leduc-nfsp": 0.506, "leduc-vr-deep-dcfr+": 0.191}
"""Exploitability that published trainings come to: Deep CFR after 100 iterations, NFSP after 9.2 million episodes, VR-DeepDCFR+
after 4.7 million histories."""


@pytest.mark.parametrize("name", MARKS)
def test_shipped_networks_reach_their_marks_and_are_what_their_cards_say(name: str) -> None:
    path = shipped_networks()[name]
    policy = NeuralPolicy.load(path)
    game = compile_game(policy.spec)
    found = judge(game, policy.on(game)).exploitability
    assert found <= MARKS[name]
    assert found == pytest.approx(float(policy.about["exploitability"]), abs=1e-5)
    assert path.stat().st_size < 100_000


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
    with pytest.raises(AlgorithmError, match="see no information_state_tensor"):
        network_policy(learner, [average.network for average in learner.averages])
