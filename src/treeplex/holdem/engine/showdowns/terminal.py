"""Fold and showdown operators: values of all of a player's hands against the opponent's reach, with card removal.

All terminals of a board are evaluated together, hands outermost and terminals side by side (*columns*) as the vector axis; a
terminal costs O(hands). For a hand h with cards a and b and the opponent's reach r, let S be the sum of r over a set of the
opponent's hands and C the sum for each card. Then ``S - C[a] - C[b]``, plus r[h] if h is in the set, is the reach of those
that share no card with h.

The opponent's reach is [m + 1, columns], with hands in order of strength for showdowns, and a last row of zeros that
represents a missing hand. The loops are inlined where a call would cost more than its work.
"""

from treeplex.base.arrays import Bytes, Floats, Shorts
from treeplex.engine.kernel import kernel

CARDS = 54
COLUMNS = 128
"""Maximum number of terminals per chunk; with float32, the sums for each card then fit into the L1 cache."""
PADDING = 16
"""Columns are padded to a multiple of this, so that vector loops have no remainder."""


@kernel(error_model="numpy")
def sum_hands(reach: Floats, cards: Bytes, total: Floats, by_card: Floats) -> None:
    """Set ``total`` [columns] and ``by_card`` [54, columns] to sums of reach, over all hands and over the hands with each
    card.
    """
    total[:] = 0.0
    by_card[:] = 0.0
    for hand in range(cards.shape[0]):
        row, one, two = reach[hand], by_card[cards[hand, 0]], by_card[cards[hand, 1]]
        for k in range(row.shape[0]):
            r = row[k]
            one[k] += r
            two[k] += r
            total[k] += r


@kernel(error_model="numpy")
def folds(own_cards: Bytes, twin: Shorts, cards: Bytes, reach: Floats, values: Floats, total: Floats, by_card: Floats) -> None:
    """Write the opponent's compatible reach, which is the value of a fold; ``reach`` is already in chips.

    Args:
        own_cards, twin: [n, 3] and [n], of the own hands.
        cards: [m, 3], of the opponent's hands.
        reach: [m + 1, columns].
        values: [n, columns], output.
        total, by_card: [columns] and [54, columns], scratch.
    """
    sum_hands(reach, cards, total, by_card)
    nobody = cards.shape[0]
    for hand in range(own_cards.shape[0]):
        out, one, two = (values[hand], by_card[own_cards[hand, 0]], by_card[own_cards[hand, 2]])
        same = reach[twin[hand] if twin[hand] >= 0 else nobody]
        for k in range(out.shape[0]):
            out[k] = total[k] - one[k] - two[k] + same[k]


@kernel(error_model="numpy")
def showdowns(
    own_cards: Bytes,
    own_order: Shorts,
    cards: Bytes,
    order: Shorts,
    reach: Floats,
    values: Floats,
    total: Floats,
    by_card: Floats,
) -> None:
    """Values of showdowns without rake: ``weaker - stronger``; ``reach`` is already in chips, and both orders are ascending.

    One ascending sweep: before the opponent's hands of a level are added, the sums are those of weaker hands, W; afterwards
    W + E. With the sum T over all hands, ``W - L = W + (W + E) - T``; starting the sums at -T/2 leaves two evaluations, and
    a hand's twin cancels.
    """
    own_hands, others = own_cards.shape[0], cards.shape[0]
    sum_hands(reach, cards, total, by_card)
    for k in range(total.shape[0]):
        total[k] *= -0.5
    for card in range(CARDS):
        one = by_card[card]
        for k in range(one.shape[0]):
            one[k] *= -0.5
    start = other = 0
    while start < own_hands:
        level = own_order[start]
        end = start
        while other < others and order[other] < level:
            row, one, two = (reach[other], by_card[cards[other, 0]], by_card[cards[other, 1]])
            for k in range(row.shape[0]):
                r = row[k]
                one[k] += r
                two[k] += r
                total[k] += r
            other += 1
        while end < own_hands and own_order[end] == level:
            out, one, two = (values[end], by_card[own_cards[end, 0]], by_card[own_cards[end, 2]])
            for k in range(out.shape[0]):
                out[k] = total[k] - one[k] - two[k]
            end += 1
        while other < others and order[other] == level:
            row, one, two = (reach[other], by_card[cards[other, 0]], by_card[cards[other, 1]])
            for k in range(row.shape[0]):
                r = row[k]
                one[k] += r
                two[k] += r
                total[k] += r
            other += 1
        for hand in range(start, end):
            out, one, two = (values[hand], by_card[own_cards[hand, 0]], by_card[own_cards[hand, 2]])
            for k in range(out.shape[0]):
                out[k] += total[k] - one[k] - two[k]
        start = end


@kernel(error_model="numpy")
def raked_showdowns(
    own_cards: Bytes,
    own_order: Shorts,
    twin: Shorts,
    cards: Bytes,
    order: Shorts,
    reach: Floats,
    chips: Floats,
    values: Floats,
    total: Floats,
    by_card: Floats,
) -> None:
    """Values of showdowns with rake: ``win W + tie E + lose L = (win - tie) W + (tie - lose) (W + E) + lose T``.

    ``chips`` is [3, columns], win, lose and tie; ``reach`` is not in chips here.
    """
    own_hands, others, nobody = own_cards.shape[0], cards.shape[0], cards.shape[0]
    win, lose, tie = chips[0], chips[1], chips[2]
    folds(own_cards, twin, cards, reach, values, total, by_card)
    total[:] = 0.0
    by_card[:] = 0.0
    start = other = 0
    while start < own_hands:
        level = own_order[start]
        end = start
        while other < others and order[other] <= level:
            if order[other] == level and end == start:
                while end < own_hands and own_order[end] == level:
                    out, one, two = (values[end], by_card[own_cards[end, 0]], by_card[own_cards[end, 2]])
                    for k in range(out.shape[0]):
                        out[k] = lose[k] * out[k] + (win[k] - tie[k]) * (total[k] - one[k] - two[k])
                    end += 1
            row, one, two = (reach[other], by_card[cards[other, 0]], by_card[cards[other, 1]])
            for k in range(row.shape[0]):
                r = row[k]
                one[k] += r
                two[k] += r
                total[k] += r
            other += 1
        while end < own_hands and own_order[end] == level:  # the opponent has no hand of this level
            out, one, two = (values[end], by_card[own_cards[end, 0]], by_card[own_cards[end, 2]])
            for k in range(out.shape[0]):
                out[k] = lose[k] * out[k] + (win[k] - tie[k]) * (total[k] - one[k] - two[k])
            end += 1
        for hand in range(start, end):
            out, one, two = (values[hand], by_card[own_cards[hand, 0]], by_card[own_cards[hand, 2]])
            tied = twin[hand] >= 0 and twin[hand] < other
            same = reach[twin[hand] if tied else nobody]
            for k in range(out.shape[0]):
                out[k] += (tie[k] - lose[k]) * (total[k] - one[k] - two[k] + same[k])
        start = end
