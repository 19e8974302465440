"""Evolution strategies: shaping, gradient, Adam, the search as a whole."""

import math

import numpy as np
import pytest

from treeplex.errors import FileError, SpecError
from treeplex.learn.discount.evolution import Adam, Evolution, shape


def written_out(fitness):
    """Shaped fitness as the paper writes it, one candidate at a time; no two are equal."""
    count = len(fitness)
    ranks = [1 + sum(other > value for other in fitness) for value in fitness]
    utility = [max(0.0, math.log(count / 2 + 1) - math.log(rank)) for rank in ranks]
    total = sum(max(0.0, math.log(count / 2 + 1) - math.log(rank)) for rank in range(1, count + 1))
    return [value / total - 1 / count for value in utility]


@pytest.mark.parametrize("count", [2, 4, 10, 100])
def test_shaping_is_the_papers(count):
    fitness = np.random.default_rng(count).standard_normal(count)
    assert shape(fitness) == pytest.approx(written_out(fitness), abs=1e-15)
    assert shape(fitness).sum() == pytest.approx(0, abs=1e-12)


def test_shaping_sees_ranks_only():
    fitness = np.random.default_rng(0).standard_normal(20)
    assert np.array_equal(shape(fitness), shape(np.exp(5 * fitness)))


def test_equal_fitness_has_equal_shape_and_no_direction():
    shaped = shape(np.array([1.0, 3.0, 3.0, 0.0, 4.0, 2.0]))
    apart = shape(np.array([1.0, 3.0, 3.1, 0.0, 4.0, 2.0]))
    assert shaped[1] == shaped[2] == pytest.approx((apart[1] + apart[2]) / 2)
    assert apart[2] > shaped[2] > apart[1]
    assert shaped[4] == apart[4]
    assert shaped.sum() == pytest.approx(0, abs=1e-12)
    assert shape(np.full(8, 7.0)) == pytest.approx(np.zeros(8), abs=1e-15)


def test_what_is_no_number_ranks_last():
    shaped = shape(np.array([math.nan, 1.0, 2.0, -1e300]))
    assert shaped[0] == shaped.min()
    assert shaped.argmax() == 2


def test_candidates_are_mirrored_pairs():
    evolution = Evolution(population=6, sigma=0.3, seed=4)
    parameters, noise = np.arange(5.0), evolution.noise(2, 5)
    candidates = evolution.candidates(parameters, noise)
    assert candidates.shape == (6, 5)
    assert (candidates[:3] + candidates[3:]) / 2 == pytest.approx(np.tile(parameters, (3, 1)))
    assert candidates[:3] - parameters == pytest.approx(0.3 * noise)


def test_noise_depends_on_seed_and_epoch_only():
    assert np.array_equal(Evolution(seed=1).noise(7, 3), Evolution(seed=1, sigma=1.0).noise(7, 3))
    assert not np.array_equal(Evolution(seed=1).noise(7, 3), Evolution(seed=1).noise(8, 3))
    assert not np.array_equal(Evolution(seed=1).noise(7, 3), Evolution(seed=2).noise(7, 3))


def test_noise_is_standard_normal():
    noise = Evolution(population=200, seed=0).noise(0, 500)
    assert noise.mean() == pytest.approx(0, abs=0.02)
    assert noise.std() == pytest.approx(1, abs=0.02)


def test_the_gradient_is_the_papers_sum():
    evolution = Evolution(population=10, sigma=0.2)
    noise, fitness = evolution.noise(0, 4), np.random.default_rng(3).standard_normal(10)
    both = np.concatenate([noise, -noise])
    wanted = sum(weight * row for weight, row in zip(written_out(fitness), both, strict=True)) / (10 * 0.2)
    assert evolution.gradient(fitness, noise) == pytest.approx(wanted)


def test_adam_takes_the_first_steps_that_its_paper_says():
    adam = Adam.start(np.zeros(2))
    adam.climb(np.array([3.0, -0.5]), 0.01)
    assert adam.parameters == pytest.approx([0.01, -0.01], rel=1e-6)
    adam.climb(np.array([1.0, -0.5]), 0.01)
    mean = (0.1 * 0.9 * 3.0 + 0.1 * 1.0) / (1 - 0.9**2)
    square = (0.001 * 0.999 * 9.0 + 0.001 * 1.0) / (1 - 0.999**2)
    assert adam.parameters[0] == pytest.approx(0.01 + 0.01 * mean / math.sqrt(square), rel=1e-6)


def test_the_search_climbs_a_quadratic():
    evolution, top = Evolution(population=20, sigma=0.05, learning_rate=0.05, seed=0), np.array([1.0, -2.0, 0.5])
    adam = Adam.start(np.zeros(3))
    for epoch in range(300):
        noise = evolution.noise(epoch, 3)
        fitness = -((evolution.candidates(adam.parameters, noise) - top) ** 2).sum(axis=1)
        adam.climb(evolution.gradient(fitness, noise), evolution.learning_rate)
    assert adam.parameters == pytest.approx(top, abs=0.1)


def test_adam_goes_on_from_its_arrays():
    once, gradients = Adam.start(np.ones(3)), np.random.default_rng(0).standard_normal((6, 3))
    for gradient in gradients[:3]:
        once.climb(gradient, 0.1)
    again = Adam.from_arrays(once.arrays(), 3)
    for gradient in gradients[3:]:
        once.climb(gradient, 0.1)
        again.climb(gradient, 0.1)
    assert np.array_equal(once.parameters, again.parameters)
    assert again.steps == 6


@pytest.mark.parametrize("change", [{"mean": np.zeros(4)}, {"square": np.zeros(3, np.float32)}, {"epoch": np.array([-1])}])
def test_arrays_of_another_search_are_refused(change):
    with pytest.raises(FileError, match=next(iter(change))):
        Adam.from_arrays(Adam.start(np.zeros(3)).arrays() | change, 3)


@pytest.mark.parametrize(
    "wrong", [{"population": 7}, {"population": 0}, {"sigma": 0.0}, {"sigma": math.nan}, {"learning_rate": -1.0}, {"seed": -1}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(SpecError, match=next(iter(wrong)).replace("_", " ")):
        Evolution(**wrong)
