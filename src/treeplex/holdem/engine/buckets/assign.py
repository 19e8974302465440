"""Kernels that assign hands to buckets and sum the deals of each strength code after each bucket sequence."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints, Shorts
from treeplex.engine.kernel import kernel

Codes = NDArray[np.uint16]
Table = NDArray[np.uint8]


@kernel()
def chain_buckets(
    keys: NDArray[np.int32],
    preflop: Codes,
    flop: Codes,
    flop_hands: Shorts,
    turn: Codes,
    turn_hands: Shorts,
    river: Codes,
    tables: tuple[Table, Table, Table, Table],
    counts: Ints,
    nested: bool,
    sequences: NDArray[np.int32],
) -> None:
    """Write the bucket sequences of all hands on one board.

    Args:
        keys: int32 [H], negative where the board blocks a hand.
        preflop, river: uint16 [H], codes.
        flop, turn: uint16 [H], codes on the canonical boards.
        flop_hands, turn_hands: int16 [H], index of each hand on the canonical boards.
        tables: uint8 [G, codes], the bucket of each code, with a row for each earlier sequence if ``nested``, else one.
        counts: int64 [4], number of buckets on each street.
        nested: whether tables have a row for each sequence.
        sequences: int32 [H], output; -1 for blocked hands.
    """
    for hand in range(preflop.shape[0]):
        if keys[hand] < 0:
            sequences[hand] = -1
            continue
        sequence = np.int64(tables[0][0, preflop[hand]])
        sequence = sequence * counts[1] + tables[1][sequence if nested else 0, flop[flop_hands[hand]]]
        sequence = sequence * counts[2] + tables[2][sequence if nested else 0, turn[turn_hands[hand]]]
        sequence = sequence * counts[3] + tables[3][sequence if nested else 0, river[hand]]
        sequences[hand] = sequence


@kernel()
def flop_histogram(
    boards: Table,
    board_weights: Ints,
    hands: Table,
    first: Table,
    codes: Codes,
    nested: bool,
    weights: NDArray[np.float64],
) -> None:
    """Count the deals of each flop code after each preflop bucket.

    Args:
        boards, board_weights: uint8 [R, 3] canonical flops, and int64 [R] the number of boards each represents.
        hands: uint8 [H, 2].
        first: uint8 [H], preflop buckets.
        codes: uint16 [R, H].
        nested: whether ``weights`` has a row for each bucket.
        weights: float64 [G, codes], added to.
    """
    for row in range(boards.shape[0]):
        for hand in range(hands.shape[0]):
            if not holds(hands[hand], boards[row]):
                weights[first[hand] if nested else 0, codes[row, hand]] += board_weights[row]


@kernel()
def turn_histogram(
    boards: Table,
    board_weights: Ints,
    hands: Table,
    first: Table,
    flop_codes: Codes,
    flop_rows: NDArray[np.int32],
    flop_renamings: Table,
    hand_maps: Shorts,
    flop_table: Table,
    flop_count: int,
    codes: Codes,
    nested: bool,
    weights: NDArray[np.float64],
) -> None:
    """Count the deals of each turn code after each sequence of two buckets, over the four ways to deal a turn board.

    Args:
        boards, board_weights: uint8 [R, 4] canonical turn boards, and int64 [R] the number of boards each represents.
        hands: uint8 [H, 2].
        first: uint8 [H], preflop buckets.
        flop_codes: uint16 [F, H].
        flop_rows, flop_renamings: int32 and uint8 [R, 4], the flop without each card of a turn board.
        hand_maps: int16 [P, H], hands after each renaming.
        flop_table, flop_count: uint8 [G, codes], buckets of flop codes, and their number.
        codes: uint16 [R, H].
        nested: whether tables and ``weights`` have a row for each sequence.
        weights: float64 [G, codes], added to.
    """
    for row in range(boards.shape[0]):
        for turn_index in range(4):
            flop, names = flop_codes[flop_rows[row, turn_index]], hand_maps[flop_renamings[row, turn_index]]
            for hand in range(hands.shape[0]):
                if holds(hands[hand], boards[row]):
                    continue
                bucket = np.int64(first[hand])
                sequence = bucket * flop_count + flop_table[bucket if nested else 0, flop[names[hand]]]
                weights[sequence if nested else 0, codes[row, hand]] += board_weights[row]


@kernel()
def holds(hand: Table, board: Table) -> bool:
    """Whether a hand shares a card with a board."""
    for card in board:  # noqa: SIM110 (a plain loop compiles to less)
        if hand[0] == card or hand[1] == card:
            return True
    return False
