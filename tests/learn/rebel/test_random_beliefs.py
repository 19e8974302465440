"""Random public belief states: ranges by halving in order of strength, flat elsewhere; and training on them."""

import numpy as np
import pytest

pytest.importorskip("torch")

from treeplex.errors import SpecError
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import Chance, Decision, PublicTree
from treeplex.learn.rebel.random_beliefs import random_belief, split
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.search import Belief
from treeplex.search.action_subset import ActionAbstraction

TINY = RebelSettings(iterations=4, episodes=16, width=8, solves=320, burn_in=64, batch=32, reuse=4.0, depth=1, source="random")


def after_public_card(rules: PublicTree, card: int) -> Belief:
    belief = Belief.root(rules)
    while not isinstance(visited := rules.visit(belief.state.node), Chance):
        assert isinstance(visited, Decision)
        belief = belief.after(1, np.ones((len(visited.actions), len(rules.prior))))
    return belief.after(card)


def test_halves_share_at_a_uniform_point() -> None:
    """So the first half's share is uniform, a quarter's the product of two, and shares of neighbours vary together."""
    generator = np.random.default_rng(0)
    drawn = np.stack([split(6, generator) for _ in range(4000)])
    assert drawn.sum(axis=1) == pytest.approx(np.ones(4000))
    first = drawn[:, :3].sum(axis=1)
    assert (first.mean(), first.var()) == pytest.approx((1 / 2, 1 / 12), abs=0.01)
    assert drawn[:, 0].mean() == pytest.approx(1 / 4, abs=0.01)
    assert np.corrcoef(drawn[:, 1], drawn[:, 2])[0, 1] > 0 > np.corrcoef(drawn[:, 2], drawn[:, 3])[0, 1]


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)"])
def test_ranges_are_of_hands_that_can_be_there(spec: str) -> None:
    rules = public_tree(spec)
    belief = after_public_card(rules, 2) if spec == "leduc_poker" else Belief.root(rules)
    generator = np.random.default_rng(1)
    for _ in range(20):
        drawn = random_belief(rules, belief.state, generator)
        assert drawn.joint.sum() == pytest.approx(1)
        for own, could in zip(drawn.ranges, belief.ranges, strict=True):
            assert ((own > 0) == (could > 0)).all()


def test_hands_of_like_strength_have_like_probability() -> None:
    """After a king among six cards of Leduc poker, kings are strongest, then queens, then jacks."""
    rules = public_tree("leduc_poker")
    state = after_public_card(rules, 4).state
    assert rules.strengths(state.node, 0).tolist() == [0, 0, 1, 1, 5, 5]  # type: ignore[union-attr]
    assert rules.strengths(rules.root, 1).tolist() == [0, 0, 1, 1, 2, 2]  # type: ignore[union-attr]
    assert ActionAbstraction(rules, lambda node, actions: actions).strengths(rules.root, 1) is not None
    generator = np.random.default_rng(2)
    drawn = np.stack([random_belief(rules, state, generator).ranges[0] for _ in range(2000)])
    jacks = drawn[:, 0] + drawn[:, 1]  # the weaker half of the five hands; uniform, where a flat range would have variance 0.04
    assert (jacks.mean(), jacks.var()) == pytest.approx((1 / 2, 1 / 12), abs=0.01)


def test_episodes_of_random_beliefs_go_down_as_uniform_play() -> None:
    rules = public_tree("liars_dice(dice_sides=2)")
    trainer = RebelTrainer(rules, TINY)
    ranges, nodes = [], []
    for _ in range(40):
        ranges += [belief.ranges[0] for belief in trainer.play.beliefs]
        nodes += [belief.state.node for belief in trainer.play.beliefs]
        trainer.play.advance()
    first = np.array(ranges)[:, 0]
    assert (first.mean(), first.var()) == pytest.approx((1 / 2, 1 / 12), abs=0.03)
    visits = {bid: nodes.count((bid,)) for bid in range(4)}
    assert min(visits.values()) > 0.7 * max(visits.values())  # each first bid alike
    assert nodes.count(()) == pytest.approx(sum(visits.values()), rel=0.2)


def test_a_training_on_random_beliefs_goes_on_bit_for_bit() -> None:
    rules = public_tree("liars_dice(dice_sides=2)")
    whole, first, second = (RebelTrainer(rules, TINY) for _ in range(3))
    for _ in range(8):
        whole.round()
    for _ in range(3):
        first.round()
    second.restore(first.state())
    for _ in range(5):
        second.round()
    for name, array in whole.state().items():
        assert np.array_equal(array, second.state()[name]), name
    assert rules.first_state().node == rules.root


def test_what_is_refused() -> None:
    with pytest.raises(SpecError, match="source must be one of self-play, random, not 'rnd'"):
        RebelSettings(source="rnd")
