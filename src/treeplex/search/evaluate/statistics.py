"""Statistics of matches: means with 95% t intervals, and permutation tests."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import stdtrit

from treeplex.base.arrays import Floats, Ints
from treeplex.evaluate.playouts import standard_errors

FEWEST_DEALS = 30
"""Fewest independent deals for an interval. A t interval of few skewed payoffs covers too little: for exponential payoffs 88%
instead of 95% with 4 deals, 90% with 10, 93% with 30; for fair coins 87% with 4. If one deal in twenty decides a match, even 30
are too few. Payoffs adjusted by AIVAT are more skewed than payoffs: on Leduc poker 87% with 30, 93% with 120."""
MOST_ENUMERATED = 16
"""Maximum number of samples for which all sign changes are enumerated."""
FLIPS, MOST_SIGNS = 9_999, 20_000_000
"""Number of random sign changes with more samples, and maximum number of signs drawn for them."""


@dataclass(frozen=True)
class Summary:
    """Summary statistics of each agent's samples.

    Attributes:
        mean: mean of each agent.
        error: standard error of each mean; 0 for exact values, NaN for a single sample.
        deviation: standard deviation of each agent's samples.
        samples: number of independent samples.
    """

    mean: tuple[float, ...]
    error: tuple[float, ...]
    deviation: tuple[float, ...]
    samples: int

    @property
    def interval(self) -> tuple[tuple[float, float], ...]:
        """The 95% interval of each mean; NaN with fewer than :data:`FEWEST_DEALS` samples."""
        halves = [half_width(error, self.samples) for error in self.error]
        return tuple((mean - half, mean + half) for mean, half in zip(self.mean, halves, strict=True))


def half_width(error: float, deals: int) -> float:
    """Half the width of a mean's 95% interval by Student's t; NaN with fewer than :data:`FEWEST_DEALS` deals.

    Args:
        error: standard error of the mean.
        deals: number of independent samples; hands with the same deal, as in duplicate matches, form one sample.
    """
    return float(half_widths(np.array(error), np.array(deals)))


def half_widths(errors: Floats, deals: Floats | Ints) -> Floats:
    """:func:`half_width` elementwise for arrays of equal shape; float64."""
    enough = deals >= FEWEST_DEALS
    return np.where(enough, errors * stdtrit(np.where(enough, deals, FEWEST_DEALS) - 1, 0.975), np.nan)


def summary(samples: Floats) -> Summary:
    """Summarise independent samples, float64 [K, N]."""
    count, agents = samples.shape
    nothing = (float("nan"),) * agents
    mean = tuple(samples.mean(axis=0).tolist()) if count else nothing
    if count < 2:
        return Summary(mean, nothing, nothing, count)
    return Summary(mean, tuple(standard_errors(samples).tolist()), tuple(samples.std(axis=0, ddof=1).tolist()), count)


def sign_flip_test(samples: Floats, *, seed: int = 0) -> float:
    """Two-sided p-value of a mean by sign flips; the null hypothesis is that samples are symmetric about 0.

    With at most :data:`MOST_ENUMERATED` nonzero samples, all sign changes are enumerated. Otherwise :data:`FLIPS` sign changes
    are drawn at random, and the unchanged samples are included as one more (Phipson and Smyth 2010), so that the p-value is
    never too small. Samples of equal size are flipped together, by binomial draws.

    Args:
        samples: float64 [K], samples of one agent.
        seed: seed of the random sign changes.
    """
    values = np.abs(samples[samples != 0])
    if not len(values):
        return 1.0
    sizes, counts = np.unique(values, return_counts=True)
    observed = abs(float(samples.sum())) * (1 - 1e-12)
    if len(values) <= MOST_ENUMERATED:
        sums = np.array([float(np.dot(signs, values)) for signs in product((1.0, -1.0), repeat=len(values))])
        return float((np.abs(sums) >= observed).mean())
    generator = np.random.default_rng(seed)
    flips = min(FLIPS, max(99, MOST_SIGNS // len(sizes)))
    totals = np.zeros(flips)
    for size, count in zip(sizes, counts, strict=True):
        totals += size * (2.0 * generator.binomial(count, 0.5, flips) - count)
    return float((1 + (np.abs(totals) >= observed).sum()) / (1 + flips))


def permutation_test(samples: Floats, *, seed: int = 0) -> tuple[float, ...]:
    """Two-sided p-value of each agent's mean difference from the other agents.

    The null hypothesis is that the agents' payoffs are exchangeable within each sample. For two agents this is
    :func:`sign_flip_test`. For more, differences are skewed even between equal agents (one wins what all others lose), so that
    signs cannot be flipped; instead each sample gives the difference of a random agent. All choices are enumerated if there are
    at most ``2**MOST_ENUMERATED``, otherwise :data:`FLIPS` are drawn, see :func:`sign_flip_test`.

    Args:
        samples: float64 [K, N], samples of N agents.
        seed: seed of the random choices.
    """
    agents = samples.shape[1]
    apart = samples - (samples.sum(axis=1, keepdims=True) - samples) / max(1, agents - 1)
    if agents <= 2:
        return tuple(sign_flip_test(column, seed=seed) for column in apart.T)
    observed = np.abs(apart.sum(axis=0)) * (1 - 1e-12)
    rows, counts = np.unique(np.sort(apart[apart.any(axis=1)], axis=1), axis=0, return_counts=True)
    if agents ** int(counts.sum()) <= 2**MOST_ENUMERATED:
        sums = np.zeros(1)
        for row in np.repeat(rows, counts, axis=0):
            sums = np.add.outer(sums, row).ravel()
        return tuple(float((np.abs(sums) >= least).mean()) for least in observed)
    generator, totals = np.random.default_rng(seed), np.zeros(min(FLIPS, max(99, MOST_SIGNS // len(rows))))
    for row, count in zip(rows, counts, strict=True):
        totals += generator.multinomial(count, np.full(agents, 1.0 / agents), len(totals)) @ row
    return tuple(float((1 + (np.abs(totals) >= least).sum()) / (1 + len(totals))) for least in observed)
