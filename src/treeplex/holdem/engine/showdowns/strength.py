"""Kernels over the hands on one complete board: sorting by strength, each hand's wins, and counts of pairs of hands."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bytes, Ints, Shorts
from treeplex.engine.kernel import kernel

DIGIT = 10
"""Bits per digit of the radix sort; three digits cover every strength."""
CARDS = 52
PACK = 1 << 32
"""One pair of hands in the packed counts; the low half holds wins minus losses."""

Keys = NDArray[np.int32]
Codes = NDArray[np.uint16]


@kernel(error_model="numpy")
def sort_by_strength(keys: Keys, order: Shorts, spare: Shorts) -> int:
    """Order the hands with ``keys >= 0`` by ascending key: a stable radix sort in three passes.

    Args:
        keys: int32 [H], below 2**30; -1 for blocked hands.
        order: int16 [H], output: the hands in order, undefined after the last.
        spare: int16 [H], scratch.

    Returns:
        The number of hands in ``order``.
    """
    size = 0
    for hand in range(keys.shape[0]):
        if keys[hand] >= 0:
            spare[size] = hand
            size += 1
    mask = (1 << DIGIT) - 1
    counts = np.zeros((3, mask + 1), dtype=np.int32)
    for position in range(size):
        key = keys[spare[position]]
        counts[0, key & mask] += 1
        counts[1, key >> DIGIT & mask] += 1
        counts[2, key >> 2 * DIGIT & mask] += 1
    source, target = spare, order
    for digit in range(3):
        start = 0
        for value in range(mask + 1):
            number = counts[digit, value]
            counts[digit, value] = start
            start += number
        shift = digit * DIGIT
        for position in range(size):
            hand = source[position]
            value = keys[hand] >> shift & mask
            target[counts[digit, value]] = hand
            counts[digit, value] += 1
        source, target = target, source
    return size


@kernel(error_model="numpy")
def double_wins(hands: Bytes, keys: Keys, order: Shorts, spare: Shorts, codes: Codes) -> None:
    """Count for each hand twice the opposing hands that it beats plus those that it ties, without shared cards.

    One sweep over the hands in order: ``below`` counts weaker hands, ``held`` weaker hands with each card.

    Args:
        hands: uint8 [H, 2].
        keys: int32 [H], strengths; -1 for blocked hands.
        order, spare: int16 [H], scratch.
        codes: uint16 [H], output; 0 for blocked hands.
    """
    size = sort_by_strength(keys, order, spare)
    held = np.zeros(CARDS, dtype=np.int32)
    tied = np.zeros(CARDS, dtype=np.int32)
    codes[:] = 0
    below = start = 0
    while start < size:
        key = keys[order[start]]
        end = start
        while end < size and keys[order[end]] == key:
            tied[hands[order[end], 0]] += 1
            tied[hands[order[end], 1]] += 1
            end += 1
        for position in range(start, end):
            hand = order[position]
            low, high = hands[hand, 0], hands[hand, 1]
            weaker = below - held[low] - held[high]
            equal = end - start - tied[low] - tied[high] + 1  # the hand itself was subtracted twice
            codes[hand] = 2 * weaker + equal
        for position in range(start, end):
            low, high = hands[order[position], 0], hands[order[position], 1]
            held[low] += 1
            held[high] += 1
            tied[low] = 0
            tied[high] = 0
        below += end - start
        start = end


@kernel(error_model="numpy")
def add_powers(codes: Codes, scale: float, total: NDArray[np.float64], squares: NDArray[np.float64]) -> None:
    """Add ``scale * codes`` to ``total`` and the square of that to ``squares``, all [H]."""
    for hand in range(codes.shape[0]):
        strength = scale * codes[hand]
        total[hand] += strength
        squares[hand] += strength * strength


@kernel(error_model="numpy")
def count_pairs(hands: Bytes, keys: Keys, groups: Ints, listed: Ints, packed: Ints) -> None:
    """Count pairs of hands without a common card, and their wins, for every two groups of hands on a board.

    Args:
        hands: uint8 [H, 2].
        keys: int32 [H], strengths.
        groups: int64 [H], a group below L for each listed hand.
        listed: int64 [n], the hands to pair, by ascending group.
        packed: int64 [L, L], added to: for groups a <= b ``pairs * 2**32 + wins of a - losses of a``.
    """
    size = listed.shape[0]
    low, high = np.empty(size, dtype=np.uint8), np.empty(size, dtype=np.uint8)
    key, group = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int64)
    for index in range(size):
        hand = listed[index]
        low[index], high[index] = hands[hand, 0], hands[hand, 1]
        key[index], group[index] = keys[hand], groups[hand]
    for first in range(size):
        a, b, mine = low[first], high[first], key[first]
        row = packed[group[first]]
        for second in range(first + 1, size):
            c, d = low[second], high[second]
            if a != c and a != d and b != c and b != d:
                row[group[second]] += PACK + int(mine > key[second]) - int(mine < key[second])


@kernel(error_model="numpy")
def add_pairs(packed: Ints, sequences: Ints, pairs: NDArray[np.float32], wins: NDArray[np.float32]) -> None:
    """Add a board's counts to tables over bucket sequences; reset ``packed`` to 0.

    Args:
        packed: int64 [L, L] of :func:`count_pairs`.
        sequences: int64 [L], the bucket sequence of each group, ascending.
        pairs, wins: float32 [S, S], on and above the diagonal: ordered pairs of hands, and the first's wins minus losses.
    """
    for a in range(sequences.shape[0]):
        for b in range(a, sequences.shape[0]):
            both = packed[a, b]
            if both == 0:
                continue
            packed[a, b] = 0
            margin = (both + PACK // 2) % PACK - PACK // 2
            count = (both - margin) // PACK
            row, column = sequences[a], sequences[b]
            if a == b:
                pairs[row, row] += np.float32(2 * count)
            else:
                pairs[row, column] += np.float32(count)
                wins[row, column] += np.float32(margin)


@kernel(error_model="numpy")
def mirror(table: NDArray[np.float32], sign: np.float32) -> None:
    """Copy a square table's upper triangle, times ``sign``, to the lower one; tile by tile, for the cache."""
    size, tile = table.shape[0], 32
    for top in range(0, size, tile):
        for left in range(top, size, tile):
            for row in range(top, min(top + tile, size)):
                for column in range(max(left, row + 1), min(left + tile, size)):
                    table[column, row] = sign * table[row, column]
