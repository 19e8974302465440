"""The family of Deep CFR: with tables each does what its theory says, with networks each learns Kuhn poker."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError
from treeplex.learn.common.device import one_thread
from treeplex.learn.neural.regrets.deep_cfr import SingleDeepCfr, SingleDeepCfrSettings
from treeplex.learn.train.registry import learner_named

pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def single_thread() -> Iterator[None]:
    with one_thread():
        yield


def trained(name: str, steps: int, game: str = "kuhn_poker", **settings: Any) -> Any:
    kind = learner_named(name)
    learner = kind.made(tp.load(game), kind.settings().changed(settings))  # type: ignore[attr-defined]
    for _ in range(steps):
        learner.step()
    return learner


def exploitability(learner: Any) -> float:
    return float(learner.measure()["exploitability"])


TABLES = {
    "deep-cfr": {"walks": 400},
    "sd-cfr": {"walks": 400},
    "dream": {"walks": 800, "critic_memory": 10_000},
    "escher": {"walks": 400, "value_walks": 4000, "average": "exact"},
    "vr-deep-dcfr+": {"walks": 800, "critic_memory": 10_000},
    "vr-deep-pdcfr+": {"walks": 800, "average": "exact", "critic_memory": 10_000},
}


@pytest.mark.slow_cases("escher")
@pytest.mark.parametrize("name", TABLES)
def test_with_tables_all_of_them_converge(name: str) -> None:
    learner = trained(name, 60, approximator="table", **TABLES[name])
    assert exploitability(learner) < 0.03
    assert tp.judge("kuhn_poker", learner.policy()).value[0] == pytest.approx(-1 / 18, abs=0.02)
    assert learner.sampler.played >= 60 * 2 * TABLES[name]["walks"]
    assert learner.sampler.walked > 4 * learner.sampler.played


def test_correction_takes_the_bias_of_a_poor_critic_away() -> None:
    """Plain ESCHER comes to a standstill where its critic sees few playthroughs; the correction goes on."""
    poor = {"walks": 1000, "value_walks": 30, "average": "exact", "approximator": "table"}
    assert exploitability(trained("escher", 60, **poor)) > 0.08
    assert exploitability(trained("escher", 60, corrected=True, **poor)) < 0.04


NETWORKS = {
    "deep-cfr": {"walks": 200, "average_fits": 300},
    "sd-cfr": {"walks": 200},
    "dream": {"walks": 300, "critic_fits": 30},
    "escher": {"walks": 300, "value_walks": 600, "critic_fits": 40, "average": "exact", "corrected": True},
    "vr-deep-dcfr+": {"walks": 300, "critic_fits": 30, "average": "exact"},
    "vr-deep-pdcfr+": {"walks": 300, "critic_fits": 30, "average_fits": 300},
}


@pytest.mark.quick_cases("sd-cfr", "escher", "vr-deep-dcfr+")
@pytest.mark.parametrize("name", NETWORKS)
def test_with_networks_all_of_them_learn(name: str) -> None:
    learner = trained(name, 10, width=32, layers=2, rate=0.01, fits=30, **NETWORKS[name])
    assert exploitability(learner) < 0.2  # the uniform policy has 0.458


def test_the_exact_average_is_that_of_all_policies_by_enumeration() -> None:
    """Weights t and own reach, multiplied along each infoset's own past, policy by policy."""
    learner = SingleDeepCfr(tp.load("kuhn_poker"), SingleDeepCfrSettings(walks=30, approximator="table"))
    sums = np.zeros(len(learner.slots))
    policies, original = list[tuple[int, np.ndarray]](), learner.average.played

    def noted(player: int, weight: float) -> None:
        policies.append((player, learner.strategy(learner.infosets)[learner.infosets.legal]))
        original(player, weight)

    learner.average.played = noted  # type: ignore[method-assign]
    for iteration in range(1, 8):
        policies.clear()
        learner.step()
        for player, policy in policies:
            for infoset in range(learner.infosets_of(player).start, learner.infosets_of(player).stop):
                own_reach, sequence = 1.0, int(learner.compiled.tree.infoset_parent[infoset])
                while (above := int(learner.compiled.tree.sequence_infoset[sequence])) >= 0:
                    own_reach *= policy[list(learner.slots).index(sequence)]
                    sequence = int(learner.compiled.tree.infoset_parent[above])
                slots = slice(learner.first[infoset], learner.first[infoset + 1])
                sums[slots] += iteration * own_reach * policy[slots]
    np.testing.assert_allclose(learner.policy().probabilities, learner.policy_of(sums).probabilities, atol=1e-12)


def test_with_a_table_and_room_for_all_rows_it_is_linear_cfr_by_external_sampling() -> None:
    """The next policy matches the sums of t times the sampled regrets, whatever the number of visits."""
    learner = SingleDeepCfr(tp.load("kuhn_poker"), SingleDeepCfrSettings(walks=50, approximator="table", greedy=False))
    for _ in range(6):
        learner.step()
    for player, memory in enumerate(learner.memories):
        rows, legal, strategy = memory.rows, learner.regrets[player].inputs.legal_actions, learner.strategy(learner.infosets)
        for infoset in range(len(legal)):
            own = rows.places == infoset
            regrets = (rows.weights[own, None].astype(float) * rows.values[own]).sum(axis=0)
            positive = np.maximum(regrets[legal[infoset]], 0.0)
            if positive.sum() > 1e-6:
                found = strategy[learner.infosets_of(player).start + infoset, legal[infoset]]
                np.testing.assert_allclose(found, positive / positive.sum(), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "game", "message"),
    [
        ("deep-cfr", "kuhn_poker(players=3)", "needs two players, but .* has 3, .*; use sd-cfr"),
        ("escher", "kuhn_poker(players=3)", "two-player games with constant-sum payoffs, but .* has 3 players"),
        ("vr-deep-dcfr+", "matrix(rows=[[2,0],[0,1]],second=[[1,0],[0,2]])", "has general sums"),
    ],
)
def test_games_that_a_learner_is_not_defined_for(name: str, game: str, message: str) -> None:
    with pytest.raises(AlgorithmError, match=message):
        trained(name, 1, game)


def test_three_players_learn_too() -> None:
    uniform = tp.exploitability("kuhn_poker(players=3)", "uniform")
    for name in ("sd-cfr", "dream"):
        learner = trained(name, 10, "kuhn_poker(players=3)", approximator="table", walks=300)
        assert exploitability(learner) < 0.4 * uniform
