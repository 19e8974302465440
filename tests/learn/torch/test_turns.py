"""Turns of hold'em searched on tensors against the same searched by compiled kernels, with a network for rivers."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.learn.torch.devices import DEVICE  # noqa: E402
from treeplex.errors import SpecError  # noqa: E402
from treeplex.holdem.betting.bet_plan import BetPlan  # noqa: E402
from treeplex.holdem.cards.format import small  # noqa: E402
from treeplex.holdem.rules.features import features_of_board  # noqa: E402
from treeplex.holdem.search.subgames.subgame import cut_spot  # noqa: E402
from treeplex.holdem.spots.known import all_hands  # noqa: E402
from treeplex.holdem.spots.spot import Spot  # noqa: E402
from treeplex.learn.rebel.turns.river_net import RiverNet  # noqa: E402
from treeplex.learn.torch.turns import TurnSearch  # noqa: E402
from treeplex.search import METHODS, SubgameSearch, ZeroLeaf  # noqa: E402

torch.set_num_threads(1)
DECK = small(ranks=6, suits=4, hole=2, deal=(0, 3, 1, 1))
BETS = BetPlan.same("50%,a", "a")
SPOT = Spot(DECK.deck[3:15:3], 1_000.0, 2_500.0, all_hands(DECK), BETS, format=DECK)


def network(*, single: bool, shown: bool) -> RiverNet:
    """A network whose values are no longer small."""
    board = len(features_of_board(DECK, SPOT.board)) if single else 0
    net = RiverNet(len(DECK.hands) if single else 8, width=16, layers=1, seed=3, board=board, shown=shown)
    with torch.no_grad():
        net.net[-1].weight.mul_(100.0)
    return net


@pytest.mark.slow_cases("True-False-lcfr", "True-False-dcfr")
@pytest.mark.parametrize("method", ["lcfr", "dcfr", "lcfr-avg", "lcfr-avg-modified"])
@pytest.mark.parametrize(("single", "shown"), [(True, False), (False, True)])
def test_a_turn_is_that_of_the_kernels(method: str, single: bool, shown: bool) -> None:
    """From ranges in which some hands are missing, in parts, and going on where the kernels stopped."""
    generator, hands = np.random.default_rng(1), len(DECK.hands)
    first, second = (generator.random((1, hands)) * (generator.random(hands) < 0.8) + 1e-9 for _ in "01")
    leaf = network(single=single, shown=shown).leaf()
    expected, begun = (SubgameSearch(cut_spot(SPOT), METHODS[method], leaf, (first, second), horizon=9) for _ in range(2))
    before = leaf(expected.subgame.leaves, expected.arrays.reach_at_leaves(expected.strategy), (first, second))
    assert max(np.abs(own).max() for own in before) > 100.0
    expected.run(1), begun.run(1)
    tensors = TurnSearch(begun, device=DEVICE, dtype=torch.float64)
    for _ in range(3):
        expected.run(2), tensors.run(2)
        for ours, theirs in zip(begun.root_values(), expected.root_values(), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=0.02)
        for name in ("average", "strategy", "faced"):
            np.testing.assert_allclose(getattr(begun, name), getattr(expected, name), atol=1e-5)
    expected.run(1), begun.run(1)
    np.testing.assert_allclose(begun.average, expected.average, atol=1e-5)


def test_only_searches_with_a_network_go_over() -> None:
    leaf = network(single=False, shown=True).leaf()
    for search in (
        SubgameSearch(cut_spot(SPOT), METHODS["lcfr"], ZeroLeaf()),
        SubgameSearch(cut_spot(SPOT), METHODS["flop"], leaf),
        SubgameSearch(cut_spot(replace(SPOT, stack=2_000.0)), METHODS["pcfr+"], leaf),
    ):
        with pytest.raises(SpecError, match=r"a turn search on tensors|runs on device cpu only"):
            TurnSearch(search, device=DEVICE)
