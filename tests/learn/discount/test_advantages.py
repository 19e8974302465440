import numpy as np
import pytest

from treeplex.learn.discount.advantages import LEAST_SPREAD, Decisions, estimate_advantages, rewards


def some_decisions(seed: int, games: int = 2, episodes: int = 4) -> Decisions:
    """Episodes of 1 to 6 decisions, exploitability falling at random."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 7, games * episodes)
    count = int(lengths.sum())
    return Decisions(
        offsets=np.cumsum([0, *lengths]),
        game=np.repeat(np.arange(games), episodes),
        final=10.0 ** -random.uniform(1, 8, games * episodes),
        features=random.uniform(size=(count, 2)),
        sampled=random.normal(size=(count, 8)),
        before=10.0 ** -random.uniform(0, 8, count),
        holds=random.integers(1, 20, count).astype(float),
    )


@pytest.mark.parametrize("shaped", [False, True])
def test_rewards_of_an_episode_sum_to_the_standardised_log_exploitability(shaped: bool):
    for seed in range(20):
        decisions = some_decisions(seed)
        paid = rewards(decisions, shaped=shaped)
        sums = np.array([paid[first:end].sum() for first, end in zip(decisions.offsets, decisions.offsets[1:], strict=False)])
        by_game = sums.reshape(2, 4)
        assert by_game.mean(axis=1) == pytest.approx(0, abs=1e-12)
        assert by_game.std(axis=1) == pytest.approx(1)
        for final, found in zip(decisions.final.reshape(2, 4), by_game, strict=True):
            assert np.corrcoef(np.log(final), found)[0, 1] == pytest.approx(-1)


def test_sparse_rewards_come_with_the_last_decision_only():
    decisions = some_decisions(1)
    paid = rewards(decisions)
    assert np.count_nonzero(np.delete(paid, decisions.offsets[1:] - 1)) == 0
    assert np.count_nonzero(paid) == len(decisions.game)


def test_shaped_rewards_are_drops_in_log_exploitability():
    decisions = some_decisions(2)
    paid = rewards(decisions, shaped=True)
    scales = np.log(decisions.final).reshape(2, 4).std(axis=1)
    for episode, (first, end) in enumerate(zip(decisions.offsets, decisions.offsets[1:], strict=False)):
        drops = -np.diff(np.log(decisions.before[first:end])) / scales[decisions.game[episode]]
        assert paid[first : end - 1] == pytest.approx(drops)


def test_a_game_that_is_solved_every_time_pays_nothing():
    decisions = some_decisions(3, games=1)
    decisions.final[:] = 1e-12
    assert not rewards(decisions).any()
    decisions.final[:2] *= np.exp(1e-6)
    assert np.abs(rewards(decisions)).max() == pytest.approx(0.5e-6 / LEAST_SPREAD, rel=1e-6)


@pytest.mark.parametrize(("discount", "smoothing"), [(1.0, 0.95), (0.99, 0.9), (0.9, 0.0), (0.97, 1.0)])
def test_advantages_are_the_sum_that_defines_them(discount: float, smoothing: float):
    decisions = some_decisions(4)
    random = np.random.default_rng(5)
    paid, values = random.normal(size=(2, len(decisions.before)))
    found = estimate_advantages(decisions, paid, values, discount, smoothing)
    for first, end in zip(decisions.offsets, decisions.offsets[1:], strict=False):
        for d in range(first, end):
            total, weight = 0.0, 1.0
            for k in range(d, end):
                following = values[k + 1] if k + 1 < end else 0.0
                total += weight * (paid[k] + discount ** decisions.holds[k] * following - values[k])
                weight *= smoothing * discount ** decisions.holds[k]
            assert found[d] == pytest.approx(total, abs=1e-12)


def test_without_discount_and_smoothing_advantages_are_what_was_earned_less_what_was_expected():
    decisions = some_decisions(6)
    values = np.random.default_rng(7).normal(size=len(decisions.before))
    paid = rewards(decisions)
    found = estimate_advantages(decisions, paid, values, 1.0, 1.0)
    earned = paid[decisions.offsets[1:] - 1][decisions.episode]
    assert found == pytest.approx(earned - values)
