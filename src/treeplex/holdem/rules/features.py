"""Poker features for searches and networks: nodes with equal futures, features of public nodes, and hand equities.

Cards are encoded so that a network can embed them. Deep CFR (Brown, Lerer, Gross and Sandholm 2019, section 5.1) represents
a set of cards by the sum over its cards of three learned vectors: for the card, its rank and its suit; ReBeL (Brown et al.
2020, appendix E) embeds board cards "similar to" that. A linear layer whose inputs count the cards, ranks and suits of a
board computes exactly such a sum, with its columns as the vectors. So the features are counts, and the first layer of any
network embeds the board. Deep CFR has a set for each street; here the board is one set, since the future does not depend on
the order of the cards.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.holdem.betting.tree import BettingTree, Decision, Fold, Node, StreetEnd
from treeplex.holdem.cards.format import Format
from treeplex.holdem.spots.spot import Spot

SHORT_STACK = 0.02
"""Smallest stack-to-pot ratio whose logarithm :func:`stacks_in_pots` takes."""


def futures(tree: BettingTree) -> list[int]:
    """A number for each node of a betting tree; nodes with the same future have the same number.

    Such nodes have the same chips in the pot, the same player to act and equal nodes below every action: check, bet and call
    is equivalent to bet and call.
    """
    numbers: dict[Hashable, int] = {}
    future_numbers = [0] * len(tree)
    for number in range(len(tree) - 1, -1, -1):  # preorder, so children come before their parents
        future_numbers[number] = numbers.setdefault(signature(tree.nodes[number], future_numbers), len(numbers))
    return future_numbers


def signature(node: Node, future_numbers: Sequence[int]) -> Hashable:
    """The data that determine the rest of the game at a node, with children given by number."""
    match node:
        case Decision(street, player, actions, children, contributions, street_bets):
            return street, player, actions, tuple(future_numbers[child] for child in children), contributions, street_bets
        case StreetEnd(street, child, contributions):
            return street, future_numbers[child], contributions
        case Fold(street, loser, contributions):
            return "fold", loser, contributions
    return "showdown", node.contributions


def features_of_betting(node: Node, spot: Spot) -> list[float]:
    """Betting features of a node; amounts are fractions of both players' total chips, or of the pot.

    In order: the pot and each player's contribution, as shares of all chips; the smaller stack behind relative to the pot,
    ``s / (s + 1)`` so that it stays below 1; the bet to call relative to the pot including that bet; whether player 1 is to
    act, whether a bet was made on this street, whether the street is over.
    """
    total = spot.pot + 2.0 * spot.stack
    first, second = node.contributions
    pot = first + second
    behind = (total / 2.0 - max(first, second)) / max(pot, spot.chip)
    acts = isinstance(node, Decision)
    bet = max(node.street_bets) if isinstance(node, Decision) else 0.0
    second_acts = isinstance(node, Decision) and node.player == 1
    to_call = abs(first - second) / (pot + abs(first - second)) if acts and pot else 0.0
    return [pot / total, first / total, second / total, behind / (1.0 + behind), to_call, second_acts, bet > 0.0, not acts]


def stacks_in_pots(stacks: Floats | float, pots: Floats | float) -> Floats:
    """Logarithms of stack-to-pot ratios, float64; ratios below :data:`SHORT_STACK` are raised to it."""
    return np.asarray(np.log(np.maximum(np.divide(stacks, pots), SHORT_STACK)))


def features_of_board(format: Format, board: Sequence[int]) -> Floats:
    """How often each card, rank and suit of the deck appears on a board, float64 [cards + ranks + suits]."""
    deck = np.array(format.deck, np.int64)
    kinds = deck, np.unique(deck >> 2), np.unique(deck & 3)
    cards = np.array(board, np.int64)
    shown = cards, cards >> 2, cards & 3
    return np.concatenate(
        [(values[None, :] == kind[:, None]).sum(axis=1) for kind, values in zip(kinds, shown, strict=True)]
    ).astype(np.float64)


def equities(wins: Sequence[Floats], free: NDArray[np.bool_], apart: Floats) -> Floats:
    """Each hand's equity against a uniformly random hand over the runouts (a tie counts half), float64 [H].

    Args:
        wins: for each complete board [H, H], 1 if the first hand wins, -1 if the second does, 0 for a tie.
        free: bool [B, H], for each complete board the hands that it does not block.
        apart: [H, H], 1 for pairs of hands without a common card.
    """
    won, met = np.zeros(len(apart)), np.zeros(len(apart))
    for sign, hands in zip(wins, free, strict=True):
        possible = apart * np.outer(hands, hands)
        won += (possible * (1.0 + sign) / 2.0).sum(axis=1)
        met += possible.sum(axis=1)
    return np.divide(won, met, out=np.zeros_like(won), where=met > 0)
