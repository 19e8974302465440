"""ESCHER's critics: of returns, anew in each iteration; or by expected SARSA, kept. Corrected regrets are right with either."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from tests.learn.neural.test_recording import exact_regrets, slot_sums
from treeplex.learn.common.device import one_thread
from treeplex.learn.neural.regrets.escher import RETURNS, SARSA, Escher, EscherSettings

pytest.importorskip("torch")

POOR = {"approximator": "table", "corrected": True, "walks": 20, "value_walks": 5, "critic_memory": 60}
"""A critic that has seen next to nothing."""
SMALL = {"walks": 20, "fits": 4, "critic_fits": 4, "critic_rounds": 2, "average_fits": 5, "width": 16, "layers": 1, "batch": 64}
MANY = 60_000


@pytest.fixture(autouse=True)
def single_thread() -> Iterator[None]:
    with one_thread():
        yield


def trained(steps: int, **settings: Any) -> Escher:
    learner = Escher(tp.load("kuhn_poker"), EscherSettings(**{"corrected": True, **settings}))
    for _ in range(steps):
        learner.step()
    return learner


def sampled_regrets(learner: Escher, player: int) -> np.ndarray:
    """The means of what a learner's own walks add to a reservoir, of all slots, as counterfactual regrets."""
    learner.memories[player] = learner.sampler.reservoir(10 * MANY)
    learner.settings = replace(learner.settings, walks=MANY)
    learner.walk(player)
    rows, start = learner.memories[player].rows, learner.infosets_of(player).start
    sums = slot_sums(learner, rows.places + start, rows.values, rows.weights)  # type: ignore[arg-type]
    tree, uniform = learner.compiled.tree, np.ones(len(learner.first) - 1)
    for infoset in range(len(uniform)):
        if (before := tree.sequence_infoset[tree.infoset_parent[infoset]]) >= 0:
            uniform[infoset] = uniform[before] / len(learner.compiled.sequences_at(int(before)))
    return sums * learner.scale / (learner.iteration * MANY * np.repeat(uniform, np.diff(learner.first)))


@pytest.mark.parametrize("critic", [RETURNS, SARSA])
def test_corrected_regrets_are_unbiased_whatever_the_critic_says(critic: str) -> None:
    learner = trained(5, critic=critic, **POOR)
    strategy = learner.strategy(learner.infosets)[learner.infosets.legal]
    exact = exact_regrets(learner, strategy)  # type: ignore[arg-type]
    assert np.ptp(strategy) > 0.5
    for player in (0, 1):
        own = learner.slots_of(player)
        np.testing.assert_allclose(sampled_regrets(learner, player)[own], exact[own], atol=0.06)
    learner.settings = replace(learner.settings, corrected=False)
    assert np.abs(sampled_regrets(learner, 0) - exact)[learner.slots_of(0)].max() > 0.15


def test_a_kept_critic_needs_no_playthroughs_of_its_own() -> None:
    learner, anew = (trained(3, critic=critic, approximator="table", walks=20, value_walks=30) for critic in (SARSA, RETURNS))
    assert (learner.sampler.played, anew.sampler.played) == (3 * 2 * 20, 3 * 2 * 50)
    assert learner.sampler.walked < 0.5 * anew.sampler.walked


def test_a_kept_critic_learns_from_the_newest_transitions_of_all_iterations() -> None:
    learner = trained(1, critic=SARSA, approximator="table", walks=20)
    sizes = [len(learner.critic.transitions)]
    for _ in range(2):
        learner.step()
        sizes.append(len(learner.critic.transitions))
    assert 80 <= sizes[0] < sizes[1] - 79 < sizes[2] - 158  # each playthrough has two decisions or three
    assert len(trained(3, critic=SARSA, approximator="table", walks=20, critic_memory=50).critic.transitions) == 50


def test_as_many_histories_bring_a_kept_critic_further() -> None:
    """The variance of a critic that has seen 20 playthroughs stays; one that is kept has soon seen thousands."""
    shared: dict[str, Any] = {"approximator": "table", "average": "exact"}
    kept = trained(100, critic=SARSA, walks=40, **shared)
    anew = trained(100, critic=RETURNS, walks=20, value_walks=20, **shared)
    assert kept.sampler.walked == pytest.approx(anew.sampler.walked, rel=0.1)
    assert kept.measure()["exploitability"] < 0.75 * anew.measure()["exploitability"]


@pytest.mark.parametrize("settings", [{"approximator": "table"}, {}, {"rules": True}], ids=["table", "network", "rules"])
def test_a_kept_critic_continues_bit_for_bit(settings: dict[str, Any]) -> None:
    one = trained(2, critic=SARSA, **SMALL, **settings)
    again = trained(0, critic=SARSA, **SMALL, **settings)
    again.restore({key: np.array(array) for key, array in one.state().items()})
    again.generator.bit_generator.state = one.generator.bit_generator.state
    assert one.step() == again.step()
    assert one.effort() == again.effort()
    found, wanted = again.state(), one.state()
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
