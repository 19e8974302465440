"""Matches decisions and actions of two betting trees with different bet sizes.

Folds, checks and calls match each other, and so do all-ins. Other bets and raises match the nearest size as a share of the
pot, by the pseudo-harmonic mapping (:mod:`treeplex.search.translation.mapping`), even if their amounts differ. After such a
bet the pots differ, but both trees are followed in parallel until betting ends in one of them.
"""

from typing import NamedTuple

from treeplex.holdem.betting.tree import BettingTree, Decision, StreetEnd
from treeplex.search.translation.mapping import pseudo_harmonic

NONE = -1
"""No matching action in the other tree."""


class Match(NamedTuple):
    """The match of a decision in the other tree.

    Attributes:
        node: the matching decision.
        actions: for each action the matching one; NONE for a bet if the other decision has no bets.
    """

    node: int
    actions: tuple[int, ...]


def matched_betting(tree: BettingTree, other: BettingTree) -> dict[int, Match]:
    """For each decision of a tree that has a match, its match in the other tree; matching starts at the roots."""
    matches, stack = dict[int, Match](), [(0, 0)]
    while stack:
        number, other_number = stack.pop()
        node, there = tree.nodes[number], other.nodes[other_number]
        if isinstance(node, StreetEnd) and isinstance(there, StreetEnd):
            stack.append((node.child, there.child))
        elif isinstance(node, Decision) and isinstance(there, Decision) and node.player == there.player:
            matches[number] = match = Match(other_number, matched_actions(node, there))
            stack += [
                (child, there.children[action])
                for child, action in zip(node.children, match.actions, strict=True)
                if action != NONE
            ]
    return matches


def matched_actions(node: Decision, there: Decision) -> tuple[int, ...]:
    """For each action of a decision, its match at another decision; NONE if there is none."""
    bets_here, its = node.bets(), there.bets()
    known = {action.kind: number for number, action in enumerate(there.actions) if action.kind not in ("bet", "raise")}
    bets = [number for number, kind in enumerate(its.kinds) if kind == "bet"]
    matches = []
    for action, kind, size in zip(node.actions, bets_here.kinds, bets_here.sizes, strict=True):
        if action.kind in known:
            matches.append(known[action.kind])
        elif kind == "bet" and bets:
            matches.append(bets[int(pseudo_harmonic(float(size), its.sizes[bets], "likelier").argmax())])
        else:
            matches.append(its.kinds.index(kind) if kind in its.kinds else NONE)
    return tuple(matches)
