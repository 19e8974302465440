import sys
from typing import Any

import numpy as np
import pytest
import scipy.stats

from treeplex.engine.networks.mlp_single import forward as engine_forward
from treeplex.engine.tree.learned import HEAD, trace_episode
from treeplex.errors import FileError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.learn.discount.fitness import fitness_on
from treeplex.learn.discount.ppo import PPO, PPOTrainer, clipped_gain, draw_noise, forward, log_probabilities, output_blocks
from treeplex.solvers.rules.discount_policy import DiscountPolicy, untrained_discount_policy

HORIZON = 50
SMALL = PPO(episodes=6, passes=2, minibatches=3)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def trainer(ppo: PPO = SMALL, games: tuple[str, ...] = ("kuhn_poker",), weights: Any = None, **kwargs: Any) -> PPOTrainer:
    compiled = [compile_game(spec) for spec in games]
    policy = untrained_discount_policy(horizon=HORIZON, seed=ppo.seed, **kwargs)
    return PPOTrainer(policy, compiled, fitness_on(compiled, HORIZON, weights=weights), ppo=ppo)


def policies() -> list[DiscountPolicy]:
    return [
        untrained_discount_policy(seed=1),
        untrained_discount_policy(seed=2, discrete=True),
        untrained_discount_policy("pcfr+", seed=3, holds=()),
        untrained_discount_policy("pdcfr+", seed=4, features=("iteration", "regret", "movement"), hidden=(7,)),
    ]


def engine_outputs(policy: DiscountPolicy, inputs: np.ndarray) -> np.ndarray:
    scheme, rows = policy.compiled, []
    for row in inputs:
        activations = np.zeros(int(scheme.sizes.sum()))
        activations[: len(row)] = row
        first = engine_forward(scheme.sizes, scheme.parameters, activations)
        rows.append(activations[first:].copy())
    return np.array(rows)


def test_without_torch_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    games, policy = [compile_game("kuhn_poker")], untrained_discount_policy()
    fitness = fitness_on(games, HORIZON)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SpecError, match=r"pip install .*\[torch\]'"):
        PPOTrainer(policy, games, fitness)


@pytest.mark.parametrize(
    "wrong",
    [{"episodes": 0}, {"learning_rate": 0.0}, {"clip": float("nan")}, {"entropy": -1.0}, {"seed": -1}, {"discount": 1.1},
     {"smallest": 2000}],
)  # fmt: skip
def test_wrong_settings(wrong: dict[str, Any]):
    with pytest.raises(SpecError, match="of PPO"):
        PPO(**wrong)


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.base)
def test_forward_is_the_engines(torch: Any, policy: DiscountPolicy):
    parameters = 3.0 * policy.parameters  # so that some units are far below 0
    policy = policy.with_parameters(parameters)
    inputs = np.random.default_rng(0).uniform(-2, 2, (50, len(policy.features)))
    found = forward(torch, policy.sizes, torch.tensor(parameters), torch.tensor(inputs)).numpy()
    assert np.abs(found - engine_outputs(policy, inputs)).max() < 1e-12


def test_output_blocks():
    assert output_blocks(untrained_discount_policy()) == ([0, 1, 2], [slice(3, 8)])
    assert output_blocks(untrained_discount_policy(discrete=True)) == (
        [],
        [slice(0, 6), slice(6, 12), slice(12, 18), slice(18, 23)],
    )
    assert output_blocks(untrained_discount_policy("pcfr+", holds=())) == ([0], [])


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.base)
def test_noise_samples_from_the_distributions(policy: DiscountPolicy):
    continuous, choices = output_blocks(policy)
    outputs = engine_outputs(policy, np.full((1, len(policy.features)), 0.3))[0]
    for columns in choices:
        outputs[columns] += np.linspace(0, 1.5, columns.stop - columns.start)
    spread = np.linspace(0.2, 0.7, len(continuous))
    random = np.random.default_rng(1)
    sampled = outputs + np.concatenate([draw_noise(policy, spread, random) for _ in range(20)])
    for column, deviation in zip(continuous, spread, strict=True):
        assert scipy.stats.kstest((sampled[:, column] - outputs[column]) / deviation, "norm").pvalue > 1e-3
    for columns in choices:
        count = columns.stop - columns.start
        seen = np.bincount(sampled[:, columns].argmax(axis=1), minlength=count)
        softmax = np.exp(outputs[columns]) / np.exp(outputs[columns]).sum()
        assert scipy.stats.chisquare(seen, len(sampled) * softmax).pvalue > 1e-3


def test_log_probabilities_of_an_episode_follow_from_its_noise(torch: Any):
    game, policy = compile_game("kuhn_poker"), untrained_discount_policy(horizon=HORIZON, seed=5)
    spread = np.array([0.3, 0.5, 0.8])
    noise = draw_noise(policy, spread, np.random.default_rng(2))
    _, trace = trace_episode(game.tree, game.payoff, policy.compiled, HORIZON, noise)
    features, sampled = trace[:, HEAD : HEAD + 2], trace[:, HEAD + 2 :]
    outputs = forward(torch, policy.sizes, torch.tensor(policy.parameters), torch.tensor(features))
    found, entropy = log_probabilities(torch, policy, outputs, torch.tensor(np.log(spread)), torch.tensor(sampled))

    logits = engine_outputs(policy, features)[:, 3:]
    softmax = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    chosen = (logits + noise[: len(trace), 3:]).argmax(axis=1)
    assert [policy.holds[choice] for choice in chosen] == list(trace[:, 6])
    expected = scipy.stats.norm.logpdf(noise[: len(trace), :3], scale=spread).sum(axis=1)
    expected += np.log(softmax[np.arange(len(trace)), chosen])
    assert found.numpy() == pytest.approx(expected, abs=1e-10)
    surprise = scipy.stats.norm.entropy(scale=spread).sum() + scipy.stats.entropy(softmax, axis=1)
    assert entropy.numpy() == pytest.approx(surprise, abs=1e-10)


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.base)
def test_ratios_of_another_policy_average_to_one(torch: Any, policy: DiscountPolicy):
    """Importance weights are a density: their mean under the old policy is 1, whatever the new one."""
    continuous, _ = output_blocks(policy)
    outputs = torch.tensor(engine_outputs(policy, np.full((1, len(policy.features)), 0.4))).repeat(40_000, 1)
    spread = np.full(len(continuous), 0.5)
    random = np.random.default_rng(3)
    sampled = outputs + torch.tensor(np.concatenate([draw_noise(policy, spread, random) for _ in range(40)]))
    moved = outputs + torch.tensor(random.uniform(-0.2, 0.2, outputs.shape[1]))
    old, _ = log_probabilities(torch, policy, outputs, torch.tensor(np.log(spread)), sampled)
    new, _ = log_probabilities(torch, policy, moved, torch.tensor(np.log(spread) - 0.1), sampled)
    ratios = torch.exp(new - old).numpy()
    assert ratios.std() > 0.05
    assert ratios.mean() == pytest.approx(1, abs=4 * ratios.std() / np.sqrt(len(ratios)))


def test_ratios_are_one_before_an_update_and_not_after(torch: Any):
    training = trainer()
    decisions = training._play()
    features, sampled = torch.tensor(decisions.features), torch.tensor(decisions.sampled)
    with torch.no_grad():
        old = training._judge(features, sampled)[0]
        half = training._judge(features[::2], sampled[::2])[0]
        assert np.abs(torch.exp(half - old[::2]).numpy() - 1).max() < 1e-12
    training._improve(decisions)
    with torch.no_grad():
        ratios = torch.exp(training._judge(features, sampled)[0] - old).numpy()
    assert ratios.std() > 1e-3
    assert np.abs(ratios - 1).mean() < training.ppo.clip


def test_clipped_gain_has_no_slope_where_the_ratio_has_moved_far_enough(torch: Any):
    ratios = np.array([0.5, 0.5, 1.1, 1.1, 2.0, 2.0])
    log_ratio = torch.tensor(np.log(ratios)).requires_grad_()
    gain = clipped_gain(torch, log_ratio, torch.tensor([1.0, -1.0] * 3, dtype=torch.float64), 0.2)
    gain.sum().backward()
    assert gain.detach().numpy() == pytest.approx([0.5, -0.8, 1.1, -1.1, 1.2, -2.0])
    assert log_ratio.grad.numpy() == pytest.approx([0.5, 0, 1.1, -1.1, 0, -2.0])


@pytest.mark.slow
def test_learns_on_one_game(torch: Any):
    """Episodes get better by more than chance explains, for each of several seeds, and do not when nothing is learned."""
    episodes, gains, idle = 60, [], []
    for seed in range(3):
        for rate, passes, found in ((3e-3, 10, gains), (1e-12, 1, idle)):
            training = trainer(PPO(episodes=episodes, learning_rate=rate, passes=passes, smallest=256, seed=seed))
            means = [training.step().mean for _ in range(10)]
            found.append(np.mean(means[-2:]) - np.mean(means[:2]))
    noise = 0.4 * np.sqrt(2 / (2 * episodes))  # an episode's reward has a standard deviation of 0.3 to 0.4
    assert min(gains) > 3 * noise
    assert np.mean(gains) > 8 * noise / np.sqrt(3)
    assert np.abs(idle).max() < 4 * noise


def test_report_is_about_the_policy_without_noise(torch: Any):
    training = trainer(games=("kuhn_poker", "small_matrix"))
    report = training.step()
    for game, found in zip(training.games, report.exploitability, strict=True):
        assert found == trace_episode(game.tree, game.payoff, training.policy.compiled, HORIZON)[0]
    assert report.epoch == training.epoch == 1
    assert report.fitness == training.fitness.of(np.array(report.exploitability))
    assert report.mean <= report.best


@pytest.mark.parametrize("more", [{}, {"discrete": True}, {"base": "pcfr+", "holds": ()}])
def test_restored_training_is_the_same_bit_for_bit(torch: Any, more: dict[str, Any]):
    through, broken = trainer(**more), trainer(**more)
    fresh = {name: array.copy() for name, array in through.state().items()}
    for _ in range(2):
        through.step()
        broken.step()
    kept = {name: array.copy() for name, array in broken.state().items()}
    assert kept["epoch"] == 2
    continued = trainer(**more)
    continued.restore(kept)
    assert through.step() == continued.step()
    for name, array in through.state().items():
        assert np.array_equal(array, continued.state()[name]), name
        assert array.size == 0 or not np.array_equal(array, kept[name]), name
    continued.restore(fresh)
    for name, array in fresh.items():
        assert np.array_equal(array, continued.state()[name]), name
    again = [continued.step() for _ in range(3)]
    assert np.array_equal(continued.policy.parameters, through.policy.parameters)
    assert [report.epoch for report in again] == [1, 2, 3]


def test_workers_and_scaled_weights_change_nothing_and_other_weights_and_seeds_do(torch: Any):
    games = ("kuhn_poker", "small_matrix")
    alone = trainer(games=games)
    several = PPOTrainer(alone.policy, alone.games, alone.fitness, ppo=SMALL, workers=3)
    doubled, unequal = trainer(games=games, weights=(2.0, 2.0)), trainer(games=games, weights=(3.0, 1.0))
    other = PPOTrainer(alone.policy, alone.games, alone.fitness, ppo=PPO(episodes=6, passes=2, minibatches=3, seed=1))
    networks = []
    for training in (alone, several, doubled, unequal, other):
        training.step()
        networks.append(training.policy.parameters)
    assert np.array_equal(networks[0], networks[1])
    assert np.array_equal(networks[0], networks[2])
    assert not np.array_equal(networks[0], networks[3])
    assert not np.array_equal(networks[0], networks[4])


@pytest.mark.parametrize("damage", ["missing", "shape", "nan", "kind"])
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(torch: Any, damage: str):
    training = trainer()
    training.step()
    state = {name: array.copy() for name, array in training.state().items()}
    changed: dict[str, Any] = {name: array + 1 for name, array in state.items()}
    critic = changed.pop("critic")
    if damage == "shape":
        changed["critic"] = critic[1:]
    if damage == "nan":
        changed["critic"] = np.full_like(critic, np.nan)
    if damage == "kind":
        changed["critic"] = critic.astype(np.float32)
    with pytest.raises(FileError, match="'critic'"):
        training.restore(changed)
    for name, array in training.state().items():
        assert np.array_equal(array, state[name]), name


def test_what_watch_raises_leaves_the_trainer_as_it_was(torch: Any):
    training, calls = trainer(), []
    before = training.state()

    def stop() -> None:
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt

    training.watch = stop
    with pytest.raises(KeyboardInterrupt):
        training.step()
    for name, array in training.state().items():
        assert np.array_equal(array, before[name]), name
    assert training.epoch == 0


def test_shaped_rewards_need_to_see_exploitability(torch: Any):
    with pytest.raises(SpecError, match="with the exploitability feature"):
        trainer(PPO(shaped=True), features=("iteration",))
    assert trainer(PPO(episodes=4, passes=1, shaped=True)).step().epoch == 1


def test_threads_of_torch_are_given_back(torch: Any):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        trainer().step()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
