"""Whether the runs of one kind are significantly higher than those of another.

An exact permutation test of ranks: if both kinds have the same distribution, all divisions of the runs into two groups of these
sizes are equally likely. Two kinds with the same distribution are therefore called different in at most :data:`LEVEL` of all
comparisons; a test measures that. Three runs each can be divided in 20 ways, two of which have disjoint ranges, so this happens
by chance one time in ten. With four or more runs each (one time in 35), disjoint ranges alone are significant.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import comb, prod

Runs = Sequence[float]
LEVEL = 0.05
"""Significance level: the largest p-value at which two kinds of runs count as different."""
HIGHER, LOWER, UNDECIDED, TOO_FEW = "higher", "lower", "undecided", "too few runs to tell"


def p_value(*pairs: tuple[Runs, Runs]) -> float:
    """The probability of a difference at least as large by chance, two-sided and exact.

    Args:
        pairs: runs of the two kinds; several pairs, such as one a game, are tested together, by the sum of their rank sums.
    """
    found, ways = 0, Counter({0: 1})
    for first, second in pairs:
        ranks, centre = doubled_ranks([*first, *second]), len(first) * (len(first) + len(second) + 1)
        found += sum(ranks[: len(first)]) - centre
        own = rank_sums(ranks, len(first))
        joined = Counter[int]()
        for before, many in ways.items():
            for total, times in own.items():
                joined[before + total - centre] += many * times
        ways = joined
    return float(Fraction(sum(many for total, many in ways.items() if abs(total) >= abs(found)), sum(ways.values())))


def verdict(*pairs: tuple[Runs, Runs]) -> str:
    """Whether the first kind is :data:`HIGHER` or :data:`LOWER` than the second; else :data:`UNDECIDED` or :data:`TOO_FEW`."""
    if LEVEL * prod(comb(len(first) + len(second), len(first)) for first, second in pairs) < 2:
        return TOO_FEW
    if p_value(*pairs) > LEVEL:
        return UNDECIDED
    ranks = [(doubled_ranks([*first, *second]), len(first), len(second)) for first, second in pairs]
    return HIGHER if sum(sum(own[:size]) - size * (size + other + 1) for own, size, other in ranks) > 0 else LOWER


def doubled_ranks(values: Runs) -> list[int]:
    """Twice the rank of each value, starting at 2; equal values share their mean rank."""
    return [sum(other < value for other in values) + sum(other <= value for other in values) + 1 for value in values]


def rank_sums(ranks: Sequence[int], size: int) -> Counter[int]:
    """Number of groups of a given size for each sum of ranks."""
    groups = [Counter({0: 1})] + [Counter[int]() for _ in range(size)]
    for rank in ranks:
        for number in range(size, 0, -1):
            for total, many in groups[number - 1].items():
                groups[number][total + rank] += many
    return groups[size]
