"""The local update of value-tested CFR+ for a tile of hands; the rule is ``engine.tree.value_tested.update_tested``."""

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.regret import POSITIVE, PREDICTED_POSITIVE, PREDICTION
from treeplex.engine.tree.value_tested import DECAY, ROUNDING, UNTESTED
from treeplex.holdem.engine.node import TINY, expected

SINGLE = 1e-6
"""Smallest ``rounding`` in single precision, unless it is 0."""


@kernel(error_model="numpy")
def update_by_test(
    nodes: Ints,
    roots: int,
    regrets: Floats,
    guesses: Floats,
    differences: Floats,
    tests: Floats,
    base: int,
    stride: int,
    infosets: int,
    hands: int,
    width: int,
    weights: Floats,
    rows: Floats,
    scratch: Floats,
) -> None:
    """Backup and local update, bottom-up: ``rows`` holds the gradient and becomes counterfactual values.

    ``guesses`` holds the unnormalised next policy. ``differences`` (the candidate with full prediction minus the one
    without) is laid out as ``regrets``; ``tests`` is [2, I], with node x of the tile's hand j at ``infosets + x * hands +
    j``.
    """
    number = regrets.dtype.type
    discount, next_discount = number(weights[POSITIVE]), number(weights[PREDICTED_POSITIVE])
    zero, one = number(0.0), number(1.0)
    single = regrets.itemsize == 4 and weights[ROUNDING] > 0.0
    rounding = number(max(weights[ROUNDING], SINGLE) if single else weights[ROUNDING])
    strength, without, value, full = scratch[0], scratch[1], scratch[2], scratch[3]
    for x in range(nodes.shape[0] - 1, -1, -1):
        first, actions = nodes[x, 1], nodes[x, 2]
        start, test_start = base + first * stride, infosets + x * hands
        expected(guesses, start, stride, width, roots + first, actions, rows, scratch)
        parent = rows[nodes[x, 0]]
        for j in range(width):
            parent[j] += value[j]
        strengths(
            differences,
            start,
            stride,
            width,
            roots + first,
            actions,
            tests,
            test_start,
            weights,
            rounding,
            rows,
            strength,
            full,
        )
        for j in range(width):
            without[j] = zero
            full[j] = zero
        for a in range(actions):
            row, stored = rows[roots + first + a], regrets[start + a * stride : start + a * stride + width]
            guess = guesses[start + a * stride : start + a * stride + width]
            difference = differences[start + a * stride : start + a * stride + width]
            for j in range(width):
                new = row[j] - value[j]
                regret = max(stored[j] * discount + new, zero)
                discounted = regret * next_discount
                sure = max(discounted + new, zero)
                stored[j] = regret
                guess[j] = max(discounted + strength[j] * new, zero)
                difference[j] = sure
                without[j] += regret
                full[j] += sure
        equal = number(1.0 / actions)
        for a in range(actions):
            stored = regrets[start + a * stride : start + a * stride + width]
            difference = differences[start + a * stride : start + a * stride + width]
            for j in range(width):
                plain = stored[j] / (without[j] if without[j] > zero else one)
                sure = difference[j] / (full[j] if full[j] > zero else one)
                gap = (sure if full[j] > zero else equal) - (plain if without[j] > zero else equal)
                difference[j] = gap if abs(gap) > rounding else zero


@kernel(error_model="numpy")
def strengths(
    differences: Floats,
    start: int,
    stride: int,
    width: int,
    first_row: int,
    actions: int,
    tests: Floats,
    test_start: int,
    weights: Floats,
    rounding: float,
    rows: Floats,
    strength: Floats,
    terms: Floats,
) -> None:
    """Add what the candidates earn to the sums of a node's tests, and write the prediction strengths.

    ``terms`` is scratch.
    """
    number = rows.dtype.type
    zero, one, half = number(0.0), number(1.0), number(0.5)
    factor, decay, untested = number(weights[PREDICTION]), number(weights[DECAY]), number(weights[UNTESTED])
    tiny = number(TINY if rows.itemsize == 4 else 0.0)
    for j in range(width):
        strength[j] = zero
        terms[j] = zero
    for a in range(actions):
        row, difference = rows[first_row + a], differences[start + a * stride : start + a * stride + width]
        for j in range(width):
            term = difference[j] * row[j]
            strength[j] += term
            terms[j] += abs(term)
    sums, sizes = tests[0, test_start : test_start + width], tests[1, test_start : test_start + width]
    for j in range(width):
        earned = strength[j] if abs(strength[j]) > rounding * terms[j] else zero
        size = sizes[j] * decay + abs(earned)
        tested = size > tiny
        balance = sums[j] * decay + earned if tested else zero
        sums[j] = balance
        sizes[j] = size if tested else zero
        share = half + factor * (balance / (size if tested else one))
        strength[j] = min(max(share, zero), one) if tested else untested
