"""Training DeepStack's networks on small games: zero-sum leaves, learning, resuming."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.errors import AlgorithmError, FileError  # noqa: E402
from treeplex.learn.common.situations import SituationTrainer  # noqa: E402
from treeplex.learn.deepstack.leaf import DeepStackLeaf, RoundNets  # noqa: E402
from treeplex.learn.deepstack.settings import DeepStackSettings  # noqa: E402
from treeplex.learn.deepstack.situations import round_starts  # noqa: E402
from treeplex.learn.deepstack.source import DeepStackSource  # noqa: E402
from treeplex.learn.deepstack.value_net import UNITS  # noqa: E402
from treeplex.search import METHODS, Belief, ExactLeaf, Horizon, SubgameSearch, cut, public_tree  # noqa: E402
from treeplex.search.resolving.next_round import NextRoundLeaf  # noqa: E402
from treeplex.search.subgame_search import Subgames  # noqa: E402
from treeplex.search.subgames.batch import cut_states  # noqa: E402

torch.set_num_threads(1)

LEDUC = public_tree("leduc_poker")
TINY = DeepStackSettings(iterations=8, situations=96, side=32, width=8, layers=1, burn_in=16, batch=16, reuse=2.0, seed=3)


def first_round(count: int, seed: int) -> tuple[Subgames, tuple[np.ndarray, ...]]:
    """The first round of some games, and random reaches at its ends; of some hands none."""
    generator = np.random.default_rng(seed)
    subgames = cut(LEDUC, [Belief.root(LEDUC)] * count, Horizon(rounds=1))
    assert isinstance(subgames, Subgames)
    shape = len(subgames.leaves), 6
    first, second = (generator.random(shape) ** 3 * (generator.random(shape) < 0.8) for _ in range(2))
    return subgames, (first, second)


@pytest.mark.parametrize("unit", UNITS)
def test_values_sum_to_zero_whatever_the_network_says(unit: str) -> None:
    nets = RoundNets(LEDUC, unit=unit, width=16, layers=2, seed=0)
    with torch.no_grad():
        nets.nets[0][-1].weight.mul_(200.0)
    leaf = DeepStackLeaf(nets)
    subgames, reached = first_round(20, 0)
    values = leaf(subgames.leaves, reached, reached)
    sums = sum(
        (own * found * subgames.leaves.opposing(reached, player)).sum(axis=1)
        for player, (own, found) in enumerate(zip(reached, values, strict=True))
    )
    assert np.abs(values[0]).max() > 0.3
    assert sums == pytest.approx(np.zeros(len(subgames.leaves)), abs=1e-12)


def test_a_perfect_network_is_the_exact_leaf() -> None:
    subgames, reached = first_round(2, 1)
    exact = ExactLeaf(iterations=40)
    leaf = DeepStackLeaf(RoundNets(LEDUC, unit="gelu", width=4, layers=1, seed=0))
    leaf.after = ExactLeaf(iterations=40)
    for found, expected in zip(leaf(subgames.leaves, reached, reached), exact(subgames.leaves, reached, reached), strict=True):
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_a_small_network_learns_what_situations_are_worth() -> None:
    """Its counterfactual values at the end of Leduc's first round are several times closer to exact ones than nothing is."""
    small = DeepStackSettings(situations=8192, iterations=60, width=64, layers=2, reuse=32.0, burn_in=512, rate=3e-3)
    trainer = SituationTrainer(DeepStackSource(LEDUC, small))
    while trainer.done < trainer.total:
        trainer.round()
    assert trainer.validation() < 0.05
    subgames, reached = first_round(40, 2)
    leaves = subgames.leaves
    exact, found = (leaf(leaves, reached, reached) for leaf in (ExactLeaf(iterations=400), trainer.source.leaf))
    errors, sizes = 0.0, 0.0
    for player in (0, 1):
        weight = reached[player] * leaves.opposing(reached, player)
        errors += (weight * (found[player] - exact[player]) ** 2).sum()
        sizes += (weight * exact[player] ** 2).sum()
    assert errors < 0.1 * sizes


def test_rounds_are_trained_from_the_last_to_the_first() -> None:
    rules = public_tree("rhode_island(ranks=2,raises=1)")
    trainer = SituationTrainer(DeepStackSource(rules, TINY))
    before = trainer.source.nets.weights()
    assert (trainer.stage, trainer.total) == (0, 192)

    def changed() -> set[str]:
        return {name.partition(".")[0] for name, own in trainer.source.nets.weights().items() if (own != before[name]).any()}

    while trainer.done < 96:
        trainer.round()
    assert changed() == {"round2"}
    before = trainer.source.nets.weights()
    while trainer.done < trainer.total:
        trainer.round()
    assert changed() == {"round1"}
    search = SubgameSearch(cut(rules, [Belief.root(rules)], Horizon(rounds=1)), METHODS["cfr+"], trainer.source.leaf)
    search.run(2)


@pytest.mark.quick_cases("0.0-leduc_poker")
@pytest.mark.parametrize("game", ["leduc_poker", "rhode_island(ranks=2,raises=1)"])
@pytest.mark.parametrize("searched", [0.0, 0.5])
def test_a_training_goes_on_bit_for_bit(game: str, searched: float) -> None:
    rules, settings = public_tree(game), replace(TINY, searched=searched)
    whole, first = (SituationTrainer(DeepStackSource(rules, settings)) for _ in range(2))
    stop = whole.total - 64
    while whole.done < whole.total:
        whole.round()
    while first.done < stop:
        first.round()
    second = SituationTrainer(DeepStackSource(rules, settings))
    second.restore(first.state())
    while second.done < second.total:
        second.round()
    expected, found = whole.state(), second.state()
    assert expected.keys() == found.keys()
    assert all(np.array_equal(expected[name], found[name]) for name in expected)


def test_states_of_other_trainings_are_refused() -> None:
    state = SituationTrainer(DeepStackSource(LEDUC, TINY)).state()
    with pytest.raises(FileError, match="does not fit this training run"):
        SituationTrainer(DeepStackSource(LEDUC, replace(TINY, width=16))).restore(state)


def test_networks_say_where_they_know_nothing() -> None:
    nets = RoundNets(LEDUC, unit="gelu", width=4, layers=1, seed=0)
    places = cut_states(LEDUC, [LEDUC.first_state()]).roots
    with pytest.raises(AlgorithmError, match="no round of the networks' game starts at"):
        nets(places, places.possible, places.possible)
    (starts,) = round_starts(LEDUC)
    places = cut_states(LEDUC, starts).roots
    assert np.isfinite(nets(places, places.possible, places.possible)[0]).all()
    assert isinstance(NextRoundLeaf(nets), NextRoundLeaf)
