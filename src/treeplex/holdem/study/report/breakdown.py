"""Node breakdowns by groups of hands (made hands, draws, suits, classes), filters, and distributions over a range."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.spec import nearest, shown
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, hand_numbers
from treeplex.holdem.cards.made_hands import KINDS
from treeplex.holdem.cards.ranges import range_to_string
from treeplex.holdem.study.equity import quantiles
from treeplex.holdem.study.report.page_data import ABSENT, NodeReport, Side, class_numbers, weighted_mean

GROUPINGS = (*KINDS, "class")
"""Groupings of hands."""
DIGITS = 4
"""Decimals of weights in a range's text."""


@dataclass(frozen=True, eq=False)
class HandGroup:
    """A group of hands of one side.

    Attributes:
        name: name of the group, such as ``"top pair"``.
        combos: number of combos, by weight.
        share: the group's share of the range.
        ev: mean EV in chips, in the side's convention; NaN at zero reach.
        equity: mean share of the pot, in [0, 1]; NaN at zero reach.
        frequency: float64 [A], frequency of each action; empty for the player not to act.
        action_ev: float64 [A], the mean EV of each action.
    """

    name: str
    combos: float
    share: float
    ev: float
    equity: float
    frequency: Floats
    action_ev: Floats


def group_hands(side: Side, board: Sequence[int], by: str) -> tuple[HandGroup, ...]:
    """Group the hands of a side by category; groups without weight are left out.

    Args:
        side: one player at a node.
        board: the board cards.
        by: one of :data:`GROUPINGS`.

    Raises:
        SpecError: an unknown grouping, hands that are not two cards, or made hands and draws preflop.
    """
    names, places = grouping(side, board, by)
    groups = []
    for index, name in enumerate(names):
        here = places == index
        if side.weight[here].sum() > 0:
            groups.append(group_of(only(side, here), name))
    return tuple(groups)


def grouping(side: Side, board: Sequence[int], by: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The names of the groups, and each hand's index among them, int64 [n]."""
    if by not in GROUPINGS:
        raise SpecError(f"hands cannot be grouped by {shown(by)}; write {', '.join(GROUPINGS)}")
    check_pairs(side)
    if by == "class":
        return CLASSES, class_numbers(side.cards)
    names, find = KINDS[by]
    return names, find(board, side.cards)


def check_pairs(side: Side) -> None:
    """Reject hands that are not two cards."""
    if side.cards.shape[1] != 2:
        raise SpecError("hands of one card have no groups; this view is for spots with two hole cards")


def group_of(side: Side, name: str) -> HandGroup:
    """All hands of a side as one group."""
    return HandGroup(
        name,
        side.combos,
        float(side.share.sum()),
        side.mean(side.ev),
        side.mean(side.equity),
        side.totals,
        np.array([weighted_mean(row, side.share) for row in side.action_ev]),
    )


def only(side: Side, rows: NDArray[np.bool_]) -> Side:
    """The given hands of a side; ``share`` stays relative to the whole range."""
    return replace(
        side,
        cards=side.cards[rows],
        names=tuple(side.names[row] for row in np.flatnonzero(rows)),
        weight=side.weight[rows],
        share=side.share[rows],
        ev=side.ev[rows],
        equity=side.equity[rows],
        frequency=side.frequency[:, rows],
        action_ev=side.action_ev[:, rows],
    )


def known_groups() -> dict[str, tuple[str, str]]:
    """Groups of hands by name in lower case: their grouping and exact name."""
    return {name.lower(): (by, name) for by in GROUPINGS for name in (CLASSES if by == "class" else KINDS[by][0])}


def filtered(node: NodeReport, names: Sequence[str]) -> NodeReport:
    """A node restricted to the named groups of hands; if both made hands and draws are named, a hand must match both.

    Args:
        node: the node.
        names: names of :data:`MADE_HANDS`, :data:`DRAWS`, :data:`SUIT_PAIRS` and classes such as ``"AKs"``.

    Raises:
        SpecError: an unknown name.
    """
    wanted: dict[str, set[str]] = {}
    known = known_groups()
    for name in names:
        group = known.get(name.strip().lower())
        if group is None:
            raise SpecError(f"{shown(name)} is not a group of hands{nearest(name, known)}; write top pair, flush draw or AKs")
        wanted.setdefault(group[0], set()).add(group[1])
    sides = []
    for side in node.sides:
        rows = np.ones(len(side.names), bool)
        for by, chosen in wanted.items():
            offers, places = grouping(side, node.cards, by)
            rows &= np.isin(places, [offers.index(name) for name in chosen])
        sides.append(only(side, rows))
    return replace(node, sides=(sides[0], sides[1]))


def node_range(side: Side) -> str:
    """The range of a side at its node as range text; the largest weight is 1.

    Weights have four decimals; hands below 1/2000 of the largest weight are left out.
    """
    check_pairs(side)
    largest = float(side.weight.max(initial=0.0))
    weights = np.zeros(1326)
    if largest > 0:
        beside = side.weight / largest
        weights[hand_numbers(side.cards)] = np.where(beside >= ABSENT, np.round(beside, DIGITS), 0.0)
    return range_to_string(weights)


def spread(side: Side, values: Floats, points: int = 101) -> Floats:
    """Quantiles of a per-hand value over the range, float64 [points], for equity and EV distribution curves.

    Args:
        side: one player at a node.
        values: float64 [n], ``side.equity`` or ``side.ev``.
        points: at least 2; see :func:`treeplex.holdem.study.equity.quantiles`.
    """
    return quantiles(values, side.share, points)
