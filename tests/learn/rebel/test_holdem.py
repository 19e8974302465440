"""Training on a turn: rows where a card comes, and what they teach."""

import numpy as np
import pytest

pytest.importorskip("torch")

from treeplex.forms.sources.load import public_tree
from treeplex.games.public import Chance
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.search import ExactLeaf
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.beliefs import stacked_ranges

TURN = "turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[])"
TINY = RebelSettings(
    iterations=64, depth=0, rounds=True, endgame=7, episodes=16, width=16, solves=160, burn_in=32, batch=32, reuse=4.0
)


@pytest.mark.slow_cases("random")
@pytest.mark.parametrize("source", ["self-play", "random"])
def test_rows_at_the_river_hold_its_exact_values(source: str) -> None:
    """What a player gets there is one number; what single hands get is not where the other has several best plays."""
    rules = public_tree(TURN)
    trainer = RebelTrainer(rules, RebelSettings(**{**vars(TINY), "source": source}))
    hands, compared = len(rules.prior), 0
    for _ in range(8):
        before = list(trainer.play.beliefs)
        targets = trainer.play.advance().targets
        rivers = [k for k, belief in enumerate(before) if isinstance(rules.visit(belief.state.node), Chance)]
        if not rivers:
            continue
        beliefs = [before[k] for k in rivers]
        places = cut_states(rules, [belief.state for belief in beliefs]).roots
        ranges = stacked_ranges(beliefs)
        exact = ExactLeaf(iterations=300)(places, ranges, ranges)
        for player in (0, 1):  # where chance is to act, player 0 comes first
            found = targets[rivers, player * hands : (player + 1) * hands]
            weights = np.stack([belief.beliefs[player] for belief in beliefs])
            assert (weights * found).sum(axis=1) == pytest.approx((weights * exact[player]).sum(axis=1), abs=0.01)
            compared += len(rivers)
    assert compared > 30


def test_a_training_with_both_networks_goes_on_bit_for_bit() -> None:
    rules = public_tree(TURN)
    settings = RebelSettings(**{**vars(TINY), "iterations": 6, "policy_net": True, "warm": 2})
    whole, first, second = (RebelTrainer(rules, settings) for _ in range(3))
    for _ in range(6):
        whole.round()
    for _ in range(3):
        first.round()
    second.restore(first.state())
    for _ in range(3):
        done = second.round()
    assert np.isfinite(done.loss)
    for name, array in whole.state().items():
        assert np.array_equal(array, second.state()[name]), name
