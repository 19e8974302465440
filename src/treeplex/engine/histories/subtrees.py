"""Subtrees of a game tree: common ancestors of infosets, closed subtrees, and backward induction.

A subtree is **closed** if it contains every infoset that it intersects: a proper subgame in the sense of Selten (1965).
"""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, SmallInts
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.kernel import kernel


class Outline(NamedTuple):
    """Depth-first layout of a tree; all arrays int32 [H].

    Attributes:
        parent: parent of each history; -1 for the root.
        place: position in depth-first order, with children in the order of actions.
        extent: size of the subtree, whose positions are ``place .. place + extent - 1``.
        level: number of preceding player moves, without chance.
    """

    parent: SmallInts
    place: SmallInts
    extent: SmallInts
    level: SmallInts


@kernel()
def outline(nodes: SmallInts) -> Outline:
    """Return the :class:`Outline` of nodes int32 [H, 4]."""
    count = nodes.shape[0]
    parent, level = np.full(count, -1, np.int32), np.zeros(count, np.int32)
    extent, position = np.ones(count, np.int32), np.zeros(count, np.int32)
    for h in range(count):
        for child in range(nodes[h, CHILD], nodes[h, CHILD] + nodes[h, CHILDREN]):
            parent[child] = h
            level[child] = level[h] + (1 if nodes[h, ACTOR] >= 0 else 0)
    for h in range(count - 1, 0, -1):
        extent[parent[h]] += extent[h]
    for h in range(count):
        following = position[h] + 1
        for child in range(nodes[h, CHILD], nodes[h, CHILD] + nodes[h, CHILDREN]):
            position[child] = following
            following += extent[child]
    return Outline(parent, position, extent, level)


@kernel()
def contains(lines: Outline, above: int, below: int) -> bool:
    """Return whether ``below`` is in the subtree of ``above``, which includes ``above`` itself."""
    return bool(lines.place[above] <= lines.place[below] < lines.place[above] + lines.extent[above])


@kernel()
def edges(nodes: SmallInts, lines: Outline, infosets: int) -> SmallInts:
    """Return the first and last history of every infoset in depth-first order, int32 [I, 2]."""
    ends = np.full((infosets, 2), -1, np.int32)
    for h in range(nodes.shape[0]):
        if nodes[h, ACTOR] >= 0:
            infoset = nodes[h, KEY]
            if ends[infoset, 0] < 0 or lines.place[h] < lines.place[ends[infoset, 0]]:
                ends[infoset, 0] = h
            if ends[infoset, 1] < 0 or lines.place[h] > lines.place[ends[infoset, 1]]:
                ends[infoset, 1] = h
    return ends


@kernel()
def meetings(lines: Outline, ends: SmallInts) -> SmallInts:
    """Return the lowest common ancestor of all histories of each infoset, int32 [I]."""
    common = ends[:, 0].copy()
    for infoset in range(ends.shape[0]):
        while not contains(lines, common[infoset], ends[infoset, 1]):
            common[infoset] = lines.parent[common[infoset]]
    return common


@kernel()
def own_move(nodes: SmallInts, lines: Outline, history: int) -> int:
    """Return the history right after the actor's previous move on the path to ``history``; -1 if there is none."""
    after = history
    while lines.parent[after] >= 0:
        if nodes[lines.parent[after], ACTOR] == nodes[history, ACTOR]:
            return int(after)
        after = lines.parent[after]
    return -1


@kernel()
def forgotten(nodes: SmallInts, lines: Outline, ends: SmallInts) -> SmallInts:
    """Return, for each infoset, a history whose actor has a different past from the first history's; -1 if there is none.

    Only the last own infoset and action are compared; if they agree in every infoset, whole pasts agree.
    """
    other = np.full(ends.shape[0], -1, np.int32)
    for h in range(nodes.shape[0]):
        if nodes[h, ACTOR] < 0 or other[nodes[h, KEY]] >= 0 or h == ends[nodes[h, KEY], 0]:
            continue
        here, there = own_move(nodes, lines, h), own_move(nodes, lines, ends[nodes[h, KEY], 0])
        if here < 0 or there < 0:
            same = here == there
        else:
            one, two = lines.parent[here], lines.parent[there]
            same = nodes[one, KEY] == nodes[two, KEY] and here - nodes[one, CHILD] == there - nodes[two, CHILD]
        if not same:
            other[nodes[h, KEY]] = h
    return other


@kernel()
def closed_subtrees(nodes: SmallInts, lines: Outline, ends: SmallInts) -> SmallInts:
    """Return 1 for histories with a closed subtree, else 0; int32 [H]."""
    count = nodes.shape[0]
    low, high = lines.place.copy(), lines.place.copy()
    closed = np.zeros(count, np.int32)
    for h in range(count - 1, -1, -1):
        if nodes[h, ACTOR] >= 0:
            low[h] = min(low[h], lines.place[ends[nodes[h, KEY], 0]])
            high[h] = max(high[h], lines.place[ends[nodes[h, KEY], 1]])
        if low[h] == lines.place[h] and high[h] < lines.place[h] + lines.extent[h]:
            closed[h] = 1
        if h > 0:
            low[lines.parent[h]] = min(low[lines.parent[h]], low[h])
            high[lines.parent[h]] = max(high[lines.parent[h]], high[h])
    return closed


@kernel()
def ties(nodes: SmallInts, lines: Outline, infosets: int) -> SmallInts:
    """Return the first of the siblings tied to each history (the history itself if it has no ties), int32 [H].

    Two siblings are tied if an infoset has a history below both, or if both are tied to a third sibling.
    """
    count = nodes.shape[0]
    tied = np.arange(count).astype(np.int32)
    at = np.empty(count, np.int32)
    for h in range(count):
        at[lines.place[h]] = h
    last = np.full(infosets, -1, np.int32)
    for position in range(count):
        h = at[position]
        if nodes[h, ACTOR] < 0:
            continue
        one, two = last[nodes[h, KEY]], h
        last[nodes[h, KEY]] = h
        if one < 0 or contains(lines, one, two):
            continue
        while not contains(lines, lines.parent[one], h):
            one = lines.parent[one]
        while lines.parent[two] != lines.parent[one]:
            two = lines.parent[two]
        while tied[one] != one:
            one = tied[one]
        while tied[two] != two:
            two = tied[two]
        tied[max(one, two)] = min(one, two)
    for h in range(count):  # a group is named by its smallest index, which is final by then
        tied[h] = tied[tied[h]]
    return tied


@kernel()
def fold(tree: Histories, closed: SmallInts, start: int, end: int, values: Floats, choices: SmallInts) -> None:
    """Backward induction from history ``start`` down to ``end``, over histories with a closed subtree.

    Args:
        tree: the histories.
        closed: result of :func:`closed_subtrees`; other histories are skipped.
        start, end: first and last history in descending order; none of them has tied actions.
        values: [H, N], values of histories with a closed subtree; read above ``start``, written from there.
        choices: [I], best action of infosets with one history; the first among equals.
    """
    nodes = tree.nodes
    for h in range(start, end - 1, -1):
        actor, first, count, key = nodes[h, ACTOR], nodes[h, CHILD], nodes[h, CHILDREN], nodes[h, KEY]
        if actor == TERMINAL:
            values[h] = tree.payoffs[key]
        elif closed[h] == 0:
            continue
        elif actor == CHANCE:
            values[h] = 0.0
            for child in range(first, first + count):
                values[h] += tree.chance[key + child - first] * values[child]
        else:
            best = first
            for child in range(first + 1, first + count):
                if values[child, actor] > values[best, actor]:
                    best = child
            values[h] = values[best]
            choices[key] = best - first


@kernel()
def second_act(nodes: SmallInts, lines: Outline) -> int:
    """Return a history whose actor has moved before; -1 if no player moves twice."""
    for h in range(nodes.shape[0]):
        if nodes[h, ACTOR] >= 0 and own_move(nodes, lines, h) >= 0:
            return h
    return -1
