"""Lookups in a card abstraction: the hands of each bucket, and a hand's buckets."""

from dataclasses import dataclass

import numpy as np

from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS
from treeplex.holdem.buckets.buckets import Buckets, placed
from treeplex.holdem.cards.cards import hand_class, hand_index, parse_cards
from treeplex.holdem.cards.strength import FULL, MEAN, SQUARE, River


@dataclass(frozen=True)
class Look:
    """A hand on one street: E[HS], E[HS2] (on the river, HS and its square) and the bucket, numbered from 0."""

    street: str
    mean: float
    square: float
    bucket: int


def preflop_buckets(buckets: Buckets) -> list[tuple[str, ...]]:
    """The hand classes in each preflop bucket: weakest bucket first, and strongest class first within a bucket."""
    strengths = buckets.strengths
    codes = buckets.codes[0]
    table = buckets.tables[0][0]
    groups: list[dict[str, int]] = [{} for _ in range(buckets.plan.counts[0])]
    for hand, (low, high) in enumerate(strengths.format.hands):
        groups[table[codes[hand]]][hand_class(hand_index(int(low), int(high)))] = int(strengths.preflop[SQUARE, hand])
    return [tuple(sorted(group, key=lambda name: (-group[name], name))) for group in groups]


def look_up(buckets: Buckets, hand: str, board: str) -> list[Look]:
    """A hand's strength and bucket on every street of a board.

    Args:
        buckets: the card abstraction.
        hand: two cards.
        board: none, three, four or five cards.

    Raises:
        SpecError: the cards are not a hand and a board, or a card is repeated.
    """
    strengths = buckets.strengths
    cards = parse_cards(hand + board)
    format = strengths.format
    format.check_cards(cards, "cards" if board else "hand")
    if len(parse_cards(hand)) != 2:
        raise SpecError(f"hand {hand!r} has {len(parse_cards(hand))} cards; give two, such as AsKs")
    shown = format.street(cards[2:]) + 1
    places = np.flatnonzero(np.isin(format.hands, cards[:2]).all(axis=1))
    number = int(places[0])
    deck = format.cards_left(cards)
    complete = np.array([*cards[2:], *deck][:5], dtype=np.int64)[None]  # cards to come do not matter on the streets shown
    where = placed(strengths, complete)
    keys, codes = River(format)(complete[0])
    sequences = np.empty(len(format.hands), dtype=np.int32)
    buckets.sequences(where, 0, (keys, codes), sequences)
    digits = np.unravel_index(int(sequences[number]), buckets.plan.counts)
    flop = strengths.flop[:, where.flop_rows[0], strengths.flops.hand_maps[where.flop_renamings[0], number]]
    turn = strengths.turn[:, where.turn_rows[0], strengths.turns.hand_maps[where.turn_renamings[0], number]]
    wins = codes[number] / (2 * strengths.opponents)
    values = [np.array(row) / FULL for row in (strengths.preflop[:, number], flop, turn)] + [np.array([wins, wins**2])]
    return [
        Look(HOLDEM_STREETS[street], float(values[street][MEAN]), float(values[street][SQUARE]), int(digits[street]))
        for street in range(shown)
    ]
