"""Matches the decisions and actions of one betting tree to those of another with other bet sizes.

Folds, checks and calls stand for each other, and so do all-ins. Other bets and raises stand for the nearest one in parts of the
pot, by the pseudo-harmonic mapping (:mod:`treeplex.search.translation.mapping`), which may be one of another amount. After such
a bet the trees go on side by side, although their pots differ, until betting has ended in one and not in the other.
"""

from typing import NamedTuple

from treeplex.holdem.betting.tree import BettingTree, Decision, StreetEnd
from treeplex.search.translation.mapping import pseudo_harmonic

NONE = -1
"""No action of the other tree."""


class Match(NamedTuple):
    """What stands for a decision in the other tree.

    Attributes:
        node: the decision there.
        actions: for each action the one there; NONE where there is no bet at all for a bet.
    """

    node: int
    actions: tuple[int, ...]


def matched_betting(tree: BettingTree, other: BettingTree) -> dict[int, Match]:
    """For each decision of a tree that has one, its match in the other tree, both from their roots on."""
    found, stack = dict[int, Match](), [(0, 0)]
    while stack:
        number, place = stack.pop()
        node, there = tree.nodes[number], other.nodes[place]
        if isinstance(node, StreetEnd) and isinstance(there, StreetEnd):
            stack.append((node.child, there.child))
        elif isinstance(node, Decision) and isinstance(there, Decision) and node.player == there.player:
            found[number] = match = Match(place, matched_actions(node, there))
            stack += [
                (child, there.children[action])
                for child, action in zip(node.children, match.actions, strict=True)
                if action != NONE
            ]
    return found


def matched_actions(node: Decision, there: Decision) -> tuple[int, ...]:
    """For each action of a decision the one of another decision that stands for it; NONE for none."""
    own, its = node.bets(), there.bets()
    known = {action.kind: number for number, action in enumerate(there.actions) if action.kind not in ("bet", "raise")}
    bets = [number for number, kind in enumerate(its.kinds) if kind == "bet"]
    found = []
    for action, kind, size in zip(node.actions, own.kinds, own.sizes, strict=True):
        if action.kind in known:
            found.append(known[action.kind])
        elif kind == "bet" and bets:
            found.append(bets[int(pseudo_harmonic(float(size), its.sizes[bets], "likelier").argmax())])
        else:
            found.append(its.kinds.index(kind) if kind in its.kinds else NONE)
    return tuple(found)
