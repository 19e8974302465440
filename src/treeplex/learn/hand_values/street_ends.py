"""Situations at the end of a street: means over the next card of the network for the start of the next street."""

from math import comb

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.search.leaves.all_ins import all_ins
from treeplex.holdem.search.leaves.hand_values import Function, HandBoard, zero_sum
from treeplex.holdem.search.leaves.street_end_values import EVERY
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.situations import (
    SURE,
    Situation,
    pairs_of,
    random_board,
    random_range,
    random_stack,
    some_hands,
)


def end_situations(
    settings: HandValueSettings, count: int, generator: np.random.Generator, function: Function
) -> list[Situation]:
    """Random situations on one board.

    Args:
        settings: the settings; with ``hands``, every second situation has subsets of the hands.
        count: number of situations.
        generator: random generator.
        function: the network for the start of the next street.
    """
    board = HandBoard.of(HOLDEM, random_board(settings.street, generator), every=EVERY)
    reach = np.stack([random_pair(board, settings.hands * (number % 2), generator) for number in range(count)])
    stacks = [random_stack(settings, generator) for _ in range(count)]
    pairs = all_ins(HOLDEM, board.cards, np.ones(len(HOLDEM.hands), bool))
    mass, _ = board.equities(reach, step=EVERY * len(board.order))
    won = reach[:, ::-1, board.held] @ pairs.edges.T
    equity = 0.5 + np.divide(won, mass, out=np.zeros_like(won), where=mass > SURE)
    worth = equity - 0.5
    values = values_over_cards(board, reach, stacks, function)
    known = (mass > SURE) & (reach[:, :, board.held] > 0)
    worth[known] = values[:, :, board.held][known] / mass[known]
    return [Situation(board, *each) for each in zip(stacks, reach, mass, equity, worth, strict=True)]


def random_pair(board: HandBoard, hands: int, generator: np.random.Generator) -> Floats:
    """Two ranges, float64 [2, H], of about ``hands`` hands each; 0 for all hands."""
    while True:  # with few hands all pairs may share cards
        pair = np.stack([some_hands(board, random_range(board, generator), hands, generator) for _ in (0, 1)])
        if pairs_of(board, pair) > SURE:
            return pair


def values_over_cards(board: HandBoard, reach: Floats, stacks: list[float], function: Function) -> Floats:
    """Hand values over all next cards, times the opponent's compatible reach, in pots relative to half of the pot.

    Args:
        board: the board before the card.
        reach: float64 [K, 2, H], both ranges.
        stacks: K stacks in pots.
        function: values over the showdown after the card.
    """
    total = np.zeros_like(reach)
    chance = 1.0 / comb(len(HOLDEM.deck) - len(board.cards) - 2 * HOLDEM.hole, 1)
    for card in HOLDEM.deck:
        if card in board.cards:
            continue
        below = HandBoard.of(HOLDEM, (*board.cards, int(card)))
        mass, equity = below.equities(reach)
        rows = below.rows_of_ranges(reach, mass, equity, np.array([below.look(1.0, stack) for stack in stacks]))
        worth = equity - 0.5 + function(rows.reshape(-1, INPUTS)).reshape(rows.shape[:-1])
        total[:, :, below.held] += chance * mass * zero_sum(worth, reach[:, :, below.held], mass)
    return total
