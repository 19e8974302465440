"""Policies from network outputs by softmax, regret matching or argmax."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bools, Floats

SOFTMAX, MATCHED, MATCHED_OR_BEST, BEST = "softmax", "matched", "matched or best", "best"


def masked_softmax(logits: NDArray[Any], legal: Bools) -> Floats:
    """Probabilities of logits [n, columns] where ``legal``, zero elsewhere; float64 [n, columns]."""
    masked = np.where(legal, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    found: Floats = weights / weights.sum(axis=1, keepdims=True)
    return found


def matched_rows(values: NDArray[Any], legal: Bools, greedy: bool = False) -> Floats:
    """Regret matching: in proportion to what is positive of the values [n, columns], float64 [n, columns].

    Where nothing is positive, the action of the greatest value if ``greedy`` (Brown et al. 2019, section 4.1), else all alike.
    """
    positive = np.where(legal, np.maximum(values, 0.0), 0.0).astype(np.float64)
    total = positive.cumsum(axis=1)[:, -1:]
    otherwise = best_rows(values, legal) if greedy else uniform_rows(legal)
    return np.where(total > 0.0, positive / np.where(total > 0.0, total, 1.0), otherwise)


def best_rows(values: NDArray[Any], legal: Bools) -> Floats:
    """The action of the greatest value, of equal ones the first, with probability 1; float64 [n, columns]."""
    best = np.where(legal, values, -np.inf).argmax(axis=1)
    return np.asarray(np.arange(legal.shape[1]) == best[:, None], np.float64)


def uniform_rows(legal: Bools) -> Floats:
    """All actions alike, float64 [n, columns]."""
    found: Floats = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1)
    return found


def matched_or_best_rows(values: NDArray[Any], legal: Bools) -> Floats:
    """Regret matching; where no regret is positive, the action of the greatest."""
    return matched_rows(values, legal, greedy=True)


HEADS: Mapping[str, Callable[[NDArray[Any], Bools], Floats]] = {
    SOFTMAX: masked_softmax,
    MATCHED: matched_rows,
    MATCHED_OR_BEST: matched_or_best_rows,
    BEST: best_rows,
}
"""By the names that files of policies have for them."""
