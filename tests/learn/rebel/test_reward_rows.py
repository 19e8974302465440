"""Values learned from what episodes pay, in place of what searches find."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.learn.rebel.test_trainer import DICE, TINY  # noqa: E402
from treeplex.errors import SpecError  # noqa: E402
from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.learn.common.fitting import huber, of_known  # noqa: E402
from treeplex.learn.rebel.reward_rows import RewardRows, SubgamePath  # noqa: E402
from treeplex.learn.rebel.self_play import SelfPlay  # noqa: E402
from treeplex.learn.rebel.settings import RebelSettings, SelfPlaySettings  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer  # noqa: E402
from treeplex.search import ZeroLeaf  # noqa: E402

REWARDS = replace(TINY, targets="rewards", draw="average")


def self_play(*, iterations: int, exploration: float) -> SelfPlay:
    """64 episodes in subgames of one action."""
    settings = SelfPlaySettings(iterations=iterations, episodes=64, depth=1, targets="rewards", exploration=exploration)
    return SelfPlay(public_tree(DICE), settings, ZeroLeaf(), np.random.default_rng(2))


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "exploration"), [(DICE, 0.0), (DICE, 0.6), ("kuhn_poker", 0.0), ("kuhn_poker", 0.6)])
def test_mean_rewards_are_the_values_of_the_search(spec: str, exploration: float) -> None:
    """Where a subgame is the whole game: what each hand gets from the root, with the iterations drawn as they are weighted."""
    rules, method = public_tree(spec), "lcfr-simultaneous"
    shared = {"iterations": 24, "episodes": 8000, "depth": 9, "method": method, "draw": "average", "exploration": exploration}
    expected = SelfPlay(rules, SelfPlaySettings(**shared), ZeroLeaf(), np.random.default_rng(0)).advance().targets[0]
    play = SelfPlay(rules, SelfPlaySettings(**shared, targets="rewards"), ZeroLeaf(), np.random.default_rng(0))
    inputs, targets, *_ = play.advance()
    assert inputs.shape[0] == targets.shape[0]
    assert abs(len(inputs) - 8000) < (500 if exploration else 1)  # rows of games that explored are made up for
    assert (np.isfinite(targets).sum(axis=1) == 2).all()
    count, mean = np.isfinite(targets).sum(axis=0), np.nanmean(targets, axis=0)
    error = np.nanstd(targets, axis=0) / np.sqrt(count) * (2 if exploration else 1)  # copies are not independent
    assert (np.abs(mean - expected) < 4 * error).all()


def test_rows_make_up_for_those_dropped_after_as_many_decisions() -> None:
    rows, row, generator = RewardRows(1, 1, 2), np.ones(1, np.float32), np.random.default_rng(0)
    rows.follow(0, row, np.array([0, 1]), SubgamePath(3, (0, 0), kept=0.5), generator)
    rows.follow(0, 2 * row, np.array([0, 1]), SubgamePath(None, (0, 0), 1.0, kept=0.25), generator)
    inputs, targets = rows.taken()
    assert inputs[:, 0].tolist() == [1.0] * 8 + [2.0] * 4
    assert targets.tolist() == [[1.0, -1.0]] * 12


def test_payoffs_are_averaged_by_squared_errors() -> None:
    """The Huber loss would be least at 0, the middle of these payoffs, whose mean is 2."""
    play = SelfPlay(public_tree(DICE), REWARDS, ZeroLeaf(), np.random.default_rng(0))
    constant = torch.nn.Linear(1, 1)
    constant.weight.data[:], constant.bias.data[:] = 0.0, 2.0
    play.losses[0](constant, torch.ones(5, 1), torch.tensor([[0.0], [0.0], [10.0], [0.0], [0.0]])).backward()
    assert float(constant.bias.grad) == pytest.approx(0.0, abs=1e-6)


def test_every_subgame_of_an_episode_gets_what_it_paid() -> None:
    """All hands stay, and both players' rows are opposite numbers; nothing is paid before the game ends."""
    rules, settings = (
        public_tree(DICE),
        SelfPlaySettings(iterations=8, episodes=64, depth=1, targets="rewards", exploration=0.0),
    )
    play = SelfPlay(rules, settings, ZeroLeaf(), np.random.default_rng(2))
    paid = [play.advance() for _ in range(6)]
    assert len(paid[0].inputs) < 64
    assert sum(len(rows.inputs) for rows in paid) + sum(map(len, play.rewards.waiting)) == 6 * 64  # type: ignore[union-attr]
    known = np.concatenate([rows.targets for rows in paid])
    assert np.nansum(known) == 0.0
    assert set(known[np.isfinite(known)].tolist()) == {-1.0, 1.0}


def test_rows_before_an_exploring_action_are_dropped() -> None:
    rules, settings = (
        public_tree(DICE),
        SelfPlaySettings(iterations=4, episodes=64, depth=1, targets="rewards", exploration=1.0),
    )
    play = SelfPlay(rules, settings, ZeroLeaf(), np.random.default_rng(2))
    acting = [play.advance() for _ in range(8)]
    rows = sum(len(rows.inputs) for rows in acting)
    assert 0 < rows < 0.5 * 8 * 64  # a subgame of one action counts if the other player explores in it


@pytest.mark.slow
def test_training_goes_on_bit_for_bit() -> None:
    rules = public_tree(DICE)
    whole, half, rest = (RebelTrainer(rules, REWARDS) for _ in range(3))
    while not whole.finished:
        found = whole.round()
    assert found.steps > 0
    assert np.isfinite(found.loss)
    for _ in range(7):
        half.round()
    assert sum(map(len, half.play.rewards.waiting))
    rest.restore(half.state())
    while not rest.finished:
        rest.round()
    assert all(torch.equal(*pair) for pair in zip(whole.net.parameters(), rest.net.parameters(), strict=True))


def test_the_loss_counts_what_is_known() -> None:
    net = torch.nn.Linear(2, 3)
    inputs, targets = torch.ones(4, 2), torch.full((4, 3), torch.nan)
    targets[1, 2], targets[3, 0] = 0.25, 5.0
    found = net(inputs).detach()
    gap = [abs(float(found[1, 2]) - 0.25), abs(float(found[3, 0]) - 5.0)]
    expected = [0.5 * each**2 if each < 1 else each - 0.5 for each in gap]
    loss = of_known(huber)(net, inputs, targets)
    assert float(loss.detach()) == pytest.approx(sum(expected) / 2, rel=1e-5)
    loss.backward()
    assert torch.isfinite(net.weight.grad).all()
    assert not net.weight.grad[1].any()


@pytest.mark.parametrize("change", [{"source": "random"}, {"passed_on": "average"}])
def test_hands_must_follow_beliefs(change: dict[str, str]) -> None:
    with pytest.raises(SpecError, match="targets=rewards needs hands played along with the beliefs"):
        RebelSettings(targets="rewards", **change)
