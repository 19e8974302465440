"""Walks under a fixed policy that record training rows: an infoset, one value per action, and a weight.

Learners that train networks keep the policy of the whole game in one array, with one probability per slot (contiguous actions
of an infoset). The policy does not change during a batch of walks.
"""

import math
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Bools, Floats, Ints, Singles, SmallInts
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit


class RecordedWalks(NamedTuple):
    """Constants of a batch of walks.

    Attributes:
        histories: the game's histories; keys of decisions are infosets.
        first: int64 [I+1], first slot of each infoset.
        policy: float64 [S], probability of each slot.
        player: the traverser, whose regrets are recorded.
        seed: random seed; each walk's stream depends on the seed, its number and the traverser.
        exploration: outcome sampling only: probability of a uniform choice by the traverser.
        corrected: outcome sampling only: whether sampled outcomes correct the critic.
        returns: outcome sampling only: whether edges lead to the end of the game instead of the next decision.
    """

    histories: Histories
    first: Ints
    policy: Floats
    player: int
    seed: int
    exploration: float = 0.0
    corrected: bool = True
    returns: bool = False


class WalkRows(NamedTuple):
    """Buffers that walks fill with rows.

    Attributes:
        places: int32 [R], infosets of the traverser.
        values: float32 [R, A], sampled regrets of the actions: action values minus the policy's value.
        weights: float32 [R], reach of the traverser under uniform play divided by its sampling reach; 1 with external sampling.
        others: int32 [R'], infosets of the other players.
        edges: int32 [R'', 2], outcome sampling only: a slot of a history, and the history that followed.
    """

    places: SmallInts
    values: Singles
    weights: Singles
    others: SmallInts
    edges: SmallInts


def new_rows(histories: Histories, first: Ints, chunk: int) -> WalkRows:
    """Allocate buffers for at least ``chunk`` rows plus any single walk."""
    widest = int(np.diff(first).max(initial=1))
    rows, others = chunk + len(first), chunk + len(histories.nodes)
    return WalkRows(
        np.empty(rows, np.int32),
        np.empty((rows, widest), np.float32),
        np.empty(rows, np.float32),
        np.empty(others, np.int32),
        np.empty((others, 2), np.int32),
    )


@kernel()
def drawn(probabilities: Floats, first: int, count: int, number: float) -> int:
    """Return which of ``count`` outcomes, starting at ``first``, is selected by a number in [0, 1)."""
    cumulative = 0.0
    for a in range(count - 1):
        cumulative += probabilities[first + a]
        if number < cumulative:
            return a
    return count - 1


@kernel()
def record_external(walks: RecordedWalks, walk: int, end: int, buffers: WalkRows) -> tuple[int, int, int, int]:
    """External sampling: follow all actions of the traverser and one of everyone else (Lanctot et al. 2009, section 3.3).

    Args:
        walks: constants of the walks.
        walk, end: range of walk numbers; walks stop early when the buffers may not hold another walk.
        buffers: arrays to fill; ``places``, ``values`` and ``others`` are written.

    Returns:
        Number of the next walk, rows written to ``places`` and to ``others``, histories visited.
    """
    histories, first, policy, player = walks.histories, walks.first, walks.policy, walks.player
    places, regrets, others = buffers.places, buffers.values, buffers.others
    nodes, depth_room, widest = histories.nodes, 64, regrets.shape[1]
    stack, following = np.empty(depth_room, np.int64), np.empty(depth_room, np.int64)
    values = np.empty((depth_room, widest))
    infosets = first.shape[0] - 1
    rows = other_rows = visited = 0
    while walk < end and rows + infosets <= places.shape[0] and other_rows + nodes.shape[0] <= others.shape[0]:
        stream = start(np.uint64(walks.seed), np.uint64(walk), np.uint64(player))
        walk += 1
        depth, node = -1, 0
        while True:
            visited += 1
            actor, child, children, key = nodes[node, ACTOR], nodes[node, CHILD], nodes[node, CHILDREN], nodes[node, KEY]
            if actor == player:
                depth += 1
                if depth == stack.shape[0]:
                    stack, following = np.append(stack, stack), np.append(following, following)
                    values = np.concatenate((values, values))
                stack[depth], following[depth] = node, 1
                node = child
                continue
            if actor != TERMINAL:
                stream = advanced(stream)
                if actor == CHANCE:
                    node = child + drawn(histories.chance, key, children, unit(stream))
                else:
                    others[other_rows] = key
                    other_rows += 1
                    node = child + drawn(policy, first[key], children, unit(stream))
                continue
            value = histories.payoffs[key, player]
            while depth >= 0:
                above = stack[depth]
                values[depth, following[depth] - 1] = value
                if following[depth] < nodes[above, CHILDREN]:
                    node = nodes[above, CHILD] + following[depth]
                    following[depth] += 1
                    break
                infoset = nodes[above, KEY]
                value = 0.0
                for a in range(nodes[above, CHILDREN]):
                    value += policy[first[infoset] + a] * values[depth, a]
                places[rows] = infoset
                buffers.weights[rows] = 1.0
                for a in range(widest):
                    regrets[rows, a] = values[depth, a] - value if a < nodes[above, CHILDREN] else 0.0
                rows += 1
                depth -= 1
            if depth < 0:
                break
    return walk, rows, other_rows, visited


@kernel()
def record_outcomes(
    walks: RecordedWalks, critic: Floats, edge: Ints, walk: int, end: int, buffers: WalkRows
) -> tuple[int, int, int, int, int]:
    """Outcome sampling: follow one action of every player, with a critic as baseline (Schmid et al. 2019, section 4).

    The sampled value of an action is ``b(h, a) + [a taken] (u(ha) - b(h, a)) / q(h, a)`` and that of a history the mean of
    these under the policy, with b the critic's values and q the probability with which the traverser (exploring) or another
    player (by the policy) takes the action. Without ``corrected`` it is ``b(h, a)`` alone (McAleer et al. 2022, ESCHER).

    Args:
        walks: constants of the walks.
        critic: float64, estimated value to the traverser of each action of each history.
        edge: int64 [H], first index into ``critic`` of each history; -1 at chance and terminal histories.
        walk, end: as in :func:`record_external`.
        buffers: arrays to fill; all are written, ``edges`` for actions of all players.

    Returns:
        Number of the next walk, rows written to ``places``, ``others`` and ``edges``, histories visited.
    """
    histories, first, policy, player = walks.histories, walks.first, walks.policy, walks.player
    nodes, widest, infosets = histories.nodes, buffers.values.shape[1], walks.first.shape[0] - 1
    path, taken, chances = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64)
    values = np.empty(widest)
    rows = other_rows = edges = visited = 0
    room = buffers.edges.shape[0] - nodes.shape[0]
    while walk < end and rows + infosets <= buffers.places.shape[0] and max(other_rows, edges) <= room:
        stream = start(np.uint64(walks.seed), np.uint64(walk), np.uint64(player))
        walk += 1
        depth, node, own_reach, from_edge = 0, 0, 1.0, -1
        while nodes[node, ACTOR] != TERMINAL:
            visited += 1
            actor, child, children, key = nodes[node, ACTOR], nodes[node, CHILD], nodes[node, CHILDREN], nodes[node, KEY]
            stream = advanced(stream)
            if actor == CHANCE:
                node = child + drawn(histories.chance, key, children, unit(stream))
                continue
            if from_edge >= 0:
                buffers.edges[from_edge, 1] = node
            slot, number = first[key], unit(stream)
            a, chance = drawn(policy, slot, children, number), 1.0
            if actor == player:
                if number < walks.exploration:
                    a = min(int(number / walks.exploration * children), children - 1)
                else:
                    a = drawn(policy, slot, children, (number - walks.exploration) / (1.0 - walks.exploration))
                chance = walks.exploration / children + (1.0 - walks.exploration) * policy[slot + a]
                buffers.places[rows], buffers.weights[rows] = key, 1.0 / own_reach
                own_reach *= chance * children
                rows += 1
            else:
                chance = policy[slot + a]
                buffers.others[other_rows] = key
                other_rows += 1
            if depth == path.shape[0]:
                path, taken, chances = np.append(path, path), np.append(taken, taken), np.append(chances, chances)
            path[depth], taken[depth], chances[depth] = node, a, chance
            from_edge = edges
            buffers.edges[edges, 0] = edge[node] + a
            edges, depth, node = edges + 1, depth + 1, child + a
        visited += 1
        for passed in range(edges - depth if walks.returns else edges - min(depth, 1), edges):
            buffers.edges[passed, 1] = node
        value, row = histories.payoffs[nodes[node, KEY], player], rows
        for ply in range(depth - 1, -1, -1):
            here = path[ply]
            children, slot, mean = nodes[here, CHILDREN], first[nodes[here, KEY]], 0.0
            for a in range(children):
                values[a] = critic[edge[here] + a]
                if walks.corrected and a == taken[ply]:
                    values[a] += (value - values[a]) / chances[ply]
                mean += policy[slot + a] * values[a]
            value = mean
            if nodes[here, ACTOR] == player:
                row -= 1
                for a in range(widest):
                    buffers.values[row, a] = values[a] - value if a < children else 0.0
    return walk, rows, other_rows, edges, visited


@kernel()
def matched(first: Ints, values: Floats, greedy: bool) -> Floats:
    """Regret matching: return each infoset's policy, proportional to the positive values, float64 [S].

    If no value is positive, the policy is the greatest value's action if ``greedy`` (Brown et al. 2019, section 4.1), else
    uniform.
    """
    policy = np.empty_like(values)
    for infoset in range(first.shape[0] - 1):
        total, best = 0.0, first[infoset]
        for slot in range(first[infoset], first[infoset + 1]):
            total += max(values[slot], 0.0)
            if values[slot] > values[best]:
                best = slot
        for slot in range(first[infoset], first[infoset + 1]):
            if total > 0.0:
                policy[slot] = max(values[slot], 0.0) / total
            elif greedy:
                policy[slot] = 1.0 if slot == best else 0.0
            else:
                policy[slot] = 1.0 / (first[infoset + 1] - first[infoset])
    return policy


@kernel()
def gathered(legal: Bools, places: SmallInts, values: Singles, weights: Singles) -> tuple[Floats, Floats, float]:
    """Aggregate rows by infoset.

    Args:
        legal: bool [P, A], legal actions of each infoset.
        places, values, weights: see ``Rows`` of :mod:`treeplex.learn.neural.fitting.buffers`; NaN values are ignored.

    Returns:
        Sum of weights per action, float64 [P, A]; weighted means of values, float64 [P, A], 0 without values; and the
            weighted mean squared error of these means.
    """
    total, mean = np.zeros(legal.shape), np.zeros(legal.shape)
    error = whole = 0.0
    for row in range(places.shape[0]):
        infoset, weight = places[row], weights[row]
        for a in range(legal.shape[1]):
            if not legal[infoset, a] or weight <= 0.0 or math.isnan(values[row, a]):
                continue
            apart = values[row, a] - mean[infoset, a]
            total[infoset, a] += weight
            share = weight / total[infoset, a]
            mean[infoset, a] += share * apart
            error += weight * (1.0 - share) * apart * apart
            whole += weight
    return total, mean, error / whole if whole > 0.0 else 0.0
