"""Policies from network outputs by softmax, regret matching or argmax."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bools, Floats

SOFTMAX, MATCHED, MATCHED_OR_BEST, BEST = "softmax", "matched", "matched or best", "best"


def masked_softmax(logits: NDArray[Any], legal: Bools) -> Floats:
    """Return the softmax of logits [n, columns] over ``legal`` columns, zero elsewhere; float64 [n, columns]."""
    masked = np.where(legal, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    policy: Floats = weights / weights.sum(axis=1, keepdims=True)
    return policy


def matched_rows(values: NDArray[Any], legal: Bools, greedy: bool = False) -> Floats:
    """Return the regret-matching policy of values [n, columns]: proportional to positive values; float64 [n, columns].

    If no value is positive, the policy is the greatest value's action if ``greedy`` (Brown et al. 2019, section 4.1), else
    uniform.
    """
    positive = np.where(legal, np.maximum(values, 0.0), 0.0).astype(np.float64)
    total = positive.cumsum(axis=1)[:, -1:]
    otherwise = best_rows(values, legal) if greedy else uniform_rows(legal)
    return np.where(total > 0.0, positive / np.where(total > 0.0, total, 1.0), otherwise)


def best_rows(values: NDArray[Any], legal: Bools) -> Floats:
    """Return probability 1 for the action with the greatest value (the first if tied); float64 [n, columns]."""
    best = np.where(legal, values, -np.inf).argmax(axis=1)
    return np.asarray(np.arange(legal.shape[1]) == best[:, None], np.float64)


def uniform_rows(legal: Bools) -> Floats:
    """Return the uniform policy over legal actions, float64 [n, columns]."""
    policy: Floats = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1)
    return policy


def matched_or_best_rows(values: NDArray[Any], legal: Bools) -> Floats:
    """Return the regret-matching policy, or the action with the greatest regret if none is positive."""
    return matched_rows(values, legal, greedy=True)


HEADS: Mapping[str, Callable[[NDArray[Any], Bools], Floats]] = {
    SOFTMAX: masked_softmax,
    MATCHED: matched_rows,
    MATCHED_OR_BEST: matched_or_best_rows,
    BEST: best_rows,
}
"""Heads by their names in policy files."""
