"""Showdown values without further betting, for all hands against a range over all runouts."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.evaluator import evaluate_board, format_strengths
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.engine.form import ANY_CARD, NO_CARD
from treeplex.holdem.engine.showdowns.run_outs import add_showdown
from treeplex.holdem.engine.showdowns.terminal import CARDS, raked_showdowns

MOST_RUN_OUTS = 1500
"""Maximum number of complete boards to enumerate; a hold'em flop has 1,176."""
SAMPLED_RUN_OUTS = 400
"""Number of complete boards sampled if there are more than that."""
ALIKE = 1e-9
"""Tolerance within which the hands of a class count as equally frequent, relative to the likeliest hand."""


def run_outs(format: Format, board: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All complete boards that can follow, or a fixed sample of :data:`SAMPLED_RUN_OUTS` of them."""
    if few_run_outs(format, board):
        yield from format.complete_boards(board)
    else:
        left, missing = format.cards_left(board), format.board_size - len(board)
        generator = np.random.default_rng(len(board))
        for _ in range(SAMPLED_RUN_OUTS):
            yield (*board, *generator.choice(left, missing, replace=False).tolist())


def few_run_outs(format: Format, board: Sequence[int]) -> bool:
    """Whether there are few enough complete boards to enumerate."""
    return comb(len(format.deck) - len(board), format.board_size - len(board)) <= MOST_RUN_OUTS


def pot_shares(format: Format, board: Sequence[int], reached: Floats, strengths: NDArray[Any] | None = None) -> Floats:
    """Each hand's mean share of the pot at a showdown without further betting; ties split the pot.

    Args:
        format: the format.
        board: the board, complete or not.
        reached: the opponent's range or ranges, float64 [T, H].
        strengths: strengths of all hands on the complete board, if they differ from the evaluator's.

    Returns:
        float64 [T, H], from 0 to 1; one half at zero compatible reach. Exact unless boards are sampled, see :func:`run_outs`.
            Preflop in hold'em they are exact for ranges that are not suit-specific, see :func:`shares_by_class`.
    """
    if not board and format == HOLDEM and strengths is None:
        return shares_by_class(reached)
    if format.hole == 2 and format.ranking == "five" and strengths is None and len(board) < format.board_size:
        return np.stack([shares_against(format, tuple(board), np.asarray(reach, np.float64).tobytes()) for reach in reached])
    count = len(reached)
    twice = np.concatenate((reached, reached))
    chips = np.ones((3, 2 * count))  # for wins, losses and ties: the shares, then the compatible reach
    chips[1, :count], chips[2, :count] = 0.0, 0.5
    total = np.zeros_like(twice)
    columns, by_card = np.empty(2 * count), np.empty((CARDS, 2 * count))
    for complete in run_outs(format, board):
        by_strength, order, cards, twins = (
            ranked_by_cards(format, tuple(sorted(complete))) if strengths is None else ranked(format, complete, strengths)
        )
        rows = np.zeros((len(by_strength) + 1, 2 * count))
        rows[:-1] = twice[:, by_strength].T
        values = np.empty((len(by_strength), 2 * count))
        raked_showdowns(cards, order, twins, cards, order, rows, chips, values, columns, by_card)
        total[:, by_strength] += values.T
    won, met = total[:count], total[count:]
    share: Floats = np.divide(won, met, out=np.full_like(won, 0.5), where=met > 1e-13 * reached.sum(axis=1, keepdims=True))
    return np.clip(share, 0.0, 1.0)


def shares_by_class(reached: Floats) -> Floats:
    """Variant of :func:`pot_shares` for preflop hold'em, from exact equities between the 169 hand classes.

    Against each class, a hand gets the mean equity of the two classes, weighted by the compatible hands. This is exact if
    the opponent's range is not suit-specific.
    """
    holds = np.zeros((len(HANDS), 52))
    holds[np.arange(len(HANDS))[:, None], HANDS] = 1.0
    members = np.arange(len(CLASSES))[:, None] == HAND_CLASSES
    equity, shares = class_equities().equity[HAND_CLASSES], np.empty_like(reached)
    for row, reach in enumerate(reached):
        classed = (members * reach).T
        met = classed.sum(axis=0) - holds @ (holds.T @ classed) + classed
        total = met.sum(axis=1)
        shares[row] = np.divide(
            (met * equity).sum(axis=1), total, out=np.full(len(reach), 0.5), where=total > 1e-13 * reach.sum()
        )
    return np.clip(shares, 0.0, 1.0)


def suits_alike(reached: Floats) -> bool:
    """Whether a preflop range, float64 [1326], has equal weights within each hand class."""
    least, most = np.full(len(CLASSES), np.inf), np.zeros(len(CLASSES))
    np.minimum.at(least, HAND_CLASSES, reached)
    np.maximum.at(most, HAND_CLASSES, reached)
    return bool((most - least <= ALIKE * reached.max()).all())


@lru_cache(maxsize=16)
def shares_against(format: Format, board: tuple[int, ...], reached: bytes) -> Floats:
    """Variant of :func:`pot_shares` for two-card hands and five-card rankings, with one range given as the bytes of float64
    [H].

    The result is float64 [H], computed board by board in a kernel and cached, since evaluating a match repeats the same calls.
    """
    reach = np.frombuffer(reached).copy()
    hands, sums = np.ascontiguousarray(format.hands, np.uint8), np.zeros((2, len(format.hands)))
    keys, (order, spare) = np.empty(len(hands), np.int32), np.empty((2, len(hands)), np.int16)
    for complete in run_outs(format, board):
        evaluate_board(np.array(complete, np.int64), hands, keys)
        add_showdown(keys, hands, order, spare, reach, sums)
    met, won = sums
    share = np.divide(won, met, out=np.full_like(won, 0.5), where=met > 1e-9 * reach.sum())
    return np.clip(share, 0.0, 1.0)


class RankedHands(NamedTuple):
    """The hands that a complete board does not block, weakest first.

    Attributes:
        hands: intp [N], their indices.
        order: int16 [N], ranks of strength, equal for ties.
        cards, twins: uint8 [N, 3] and int16 [N], see :func:`card_columns`.
    """

    hands: NDArray[np.intp]
    order: NDArray[np.int16]
    cards: NDArray[np.uint8]
    twins: NDArray[np.int16]


def ranked(format: Format, board: Sequence[int], strengths: NDArray[Any]) -> RankedHands:
    """The hands that a complete board does not block, ranked by the given strengths."""
    free = np.flatnonzero(~np.isin(format.hands, board).any(axis=1))
    by_strength = free[np.argsort(strengths[free], kind="stable")]
    order = np.unique(strengths[by_strength], return_inverse=True)[1].astype(np.int16)
    return RankedHands(by_strength, order, *card_columns(format, by_strength))


@lru_cache(maxsize=MOST_RUN_OUTS)
def ranked_by_cards(format: Format, board: tuple[int, ...]) -> RankedHands:
    """The hands that a complete board does not block, ranked by the evaluator; recent boards are cached (25 MB for 52
    cards).
    """
    return ranked(format, board, format_strengths(format, board))


def card_columns(format: Format, hands: NDArray[np.intp]) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
    """Cards and twins of a list of hands compared with itself, as in :class:`treeplex.holdem.engine.form.HoldemForm`."""
    cards = format.hands[hands]
    if format.hole == 1:
        filler = np.full((len(cards), 1), ANY_CARD), np.full((len(cards), 1), NO_CARD)
        return np.concatenate((cards, *filler), axis=1).astype(np.uint8), np.full(len(cards), -1, np.int16)
    return np.ascontiguousarray(cards[:, [0, 1, 1]], np.uint8), np.arange(len(cards), dtype=np.int16)
