"""What all learners of softmax policies have in common: training by name, resuming bit for bit, networks beside tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from tests.learn.neural.gradients.softmax_cases import learner, run
from treeplex.errors import AlgorithmError
from treeplex.learn.neural.fitting.outputs import Network, Outputs, TableOutputs
from treeplex.learn.neural.gradients.actor import Actor
from treeplex.learn.neural.gradients.mmd import Mmd
from treeplex.learn.neural.gradients.policy_gradient import NeuRD, Qpg, Rmpg, Rpg
from treeplex.learn.neural.gradients.ppg import Ppg
from treeplex.learn.neural.gradients.ppo import Ppo
from treeplex.learn.neural.gradients.r_nad import RNaD
from treeplex.learn.train.registry import NEURAL, neural_class
from treeplex.solvers.synonyms import LEARNERS

ALL: dict[str, Any] = {"qpg": Qpg, "rpg": Rpg, "rmpg": Rmpg, "neurd": NeuRD, "r-nad": RNaD, "mmd": Mmd, "ppo": Ppo, "ppg": Ppg}
SMALL: dict[str, Any] = {"width": 8, "layers": 1, "batch": 32, "steps": 8}


@pytest.mark.slow_cases("mmd-network", "ppo-network", "ppg-network")
@pytest.mark.parametrize("approximator", ["network", "table"])
@pytest.mark.parametrize("name", ALL)
def test_half_a_training_restored_goes_on_bit_for_bit(name: str, approximator: str) -> None:
    """Four updates, the state into a new learner, four more, against eight at a stretch."""
    phases = {"phase": 3} if name in ("r-nad", "ppg") else {}
    settings: dict[str, Any] = {**SMALL, **phases, "approximator": approximator}
    whole, half, rest = (learner(ALL[name], **settings) for _ in range(3))
    run(whole, 8)
    run(half, 4)
    rest.restore({key: np.array(value) for key, value in half.state().items()})
    rest.generator.bit_generator.state = half.generator.bit_generator.state
    run(rest, 4)
    for key, policy in whole.policies().items():
        assert (policy.probabilities == rest.policies()[key].probabilities).all()


def test_all_are_learners_by_name() -> None:
    """The names that commands take."""
    assert {name: neural_class(NEURAL[name]) for name in ALL} == ALL


@pytest.mark.quick_cases("neurd")
@pytest.mark.parametrize("name", ["neurd", "r-nad", "mmd", "ppg"])
def test_each_trains_by_name_and_leaves_a_policy(name: str, tmp_path: Path) -> None:
    """A folder whose policy is judged as its last record says."""
    training = tp.train("kuhn_poker", name, out=tmp_path / "run", settings=SMALL)
    last = training.records[-1]
    found = tp.judge(tp.compile("kuhn_poker"), training.load())
    assert found.exploitability == pytest.approx(last.measures["exploitability"])
    assert last.measures["episodes"] == (0 if name == "neurd" else 8 * 32)


@pytest.mark.quick_cases("NeuRD")
@pytest.mark.parametrize("made", [Qpg, NeuRD, Ppo, RNaD])
def test_networks_learn_kuhn_poker(made: type[Actor]) -> None:
    """The average within some hundred updates; untrained it is 0.46."""
    changes: dict[type[Actor], dict[str, Any]] = {Qpg: {"entropy": 0.2}, Ppo: {"passes": 2, "minibatches": 2}}
    settings = changes.get(made, {})
    student = run(learner(made, approximator="network", steps=200, width=32, batch=256, rate=0.003, **settings), 200)
    assert tp.judge(student.compiled, student.policies()["average"]).exploitability < 0.25


def test_names_that_the_solvers_send_on_are_learners() -> None:
    """What ``treeplex solve`` says of a learner's name is a command that there is."""
    assert set(LEARNERS.values()) <= set(NEURAL)


def outputs() -> list[Outputs]:
    student = learner(Qpg, approximator="network", **SMALL)
    return [
        TableOutputs(5, 2, None),
        TableOutputs(5, 2, 0.9),
        Network(student.infosets.with_player(2)[:5], 2, student.settings, student.generator, 0.9),
    ]


@pytest.mark.parametrize("made", range(3))
def test_outputs_are_fitted_to_means(made: int) -> None:
    """Places that were never seen do not count; the loss falls."""
    each = outputs()[made]
    targets, counts = np.arange(10.0).reshape(5, 2) / 10.0, np.ones((5, 2))
    losses = [each.fit(targets, counts, 0.1) for _ in range(200)]
    assert losses[-1] < 0.02 * losses[0]


@pytest.mark.parametrize("made", range(3))
def test_a_gradient_that_is_not_finite_changes_nothing(made: int) -> None:
    """One clear error, and the numbers stay."""
    each = outputs()[made]
    before = each.values().copy()
    with pytest.raises(AlgorithmError, match="smaller rate"):
        each.move(np.full((5, 2), np.nan), 0.1)
    assert (each.values() == before).all()


def test_one_step_of_a_network_goes_down_the_gradient() -> None:
    """A loss of outputs falls by about the squared length of its gradient by weights."""
    student = learner(Qpg, approximator="network", **SMALL)
    slopes = student.generator.normal(size=student.logits.values().shape)
    before = (student.logits.values() * slopes).sum()
    student.logits.move(slopes, 1e-3)
    assert (student.logits.values() * slopes).sum() < before


def test_the_average_is_weighted_by_own_reach() -> None:
    """Against a sum over updates at one infoset that is reached differently by different policies."""
    student = learner(Qpg, critic="exact", adam=False, rate=2.0, result="average")
    total = np.zeros_like(student.average)
    for update in range(1, 6):
        student.step()
        total += update * student.infosets.strategy(student.infosets.table(student.current))
    game = student.compiled
    for infoset in range(len(game.infostates)):
        sequences = game.sequences_at(infoset)
        expected = total[sequences] / total[game.tree.infoset_parent[infoset]]
        assert student.policy().probabilities[sequences] == pytest.approx(expected)
