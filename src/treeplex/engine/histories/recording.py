"""Walks by a fixed policy that record what they find as rows: a place, a number for each action, and a weight.

Learners that fit networks walk with the policy of the whole game in one array, a probability for each slot (an infoset's
actions side by side), and learn nothing on the way.
"""

import math
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Bools, Floats, Ints, Singles, SmallInts
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit


class RecordedWalks(NamedTuple):
    """What walks of one kind share.

    Attributes:
        histories: keys of decisions are infosets.
        first: int64 [I+1], the first slot of each infoset.
        policy: float64 [S].
        player: the traverser, whose regrets are recorded.
        seed: of the training; a walk has a random stream of its own, from the seed, its number and the traverser.
        exploration: of outcome sampling, the probability with which the traverser chooses uniformly.
        corrected: of outcome sampling, whether the critic is corrected by what was sampled.
        returns: of outcome sampling, whether edges lead to the end of the game instead of to the next decision.
    """

    histories: Histories
    first: Ints
    policy: Floats
    player: int
    seed: int
    exploration: float = 0.0
    corrected: bool = True
    returns: bool = False


class Recorded(NamedTuple):
    """Arrays that walks write rows into, each from its beginning.

    Attributes:
        places: int32 [R], infosets of the traverser.
        values: float32 [R, A], the sampled regrets of their actions: values of actions less that of the policy.
        weights: float32 [R], one over the probability that the traverser's own choices led there, times that of uniform ones; 1
            with external sampling.
        others: int32 [R'], infosets of the other players.
        edges: int32 [R'', 2], of outcome sampling a slot of a history, and the history that came of it.
    """

    places: SmallInts
    values: Singles
    weights: Singles
    others: SmallInts
    edges: SmallInts


def recorded(histories: Histories, first: Ints, chunk: int) -> Recorded:
    """Allocate buffers for at least ``chunk`` rows plus any single walk."""
    widest = int(np.diff(first).max(initial=1))
    rows, others = chunk + len(first), chunk + len(histories.nodes)
    return Recorded(
        np.empty(rows, np.int32),
        np.empty((rows, widest), np.float32),
        np.empty(rows, np.float32),
        np.empty(others, np.int32),
        np.empty((others, 2), np.int32),
    )


@kernel()
def drawn(probabilities: Floats, first: int, count: int, number: float) -> int:
    """Which of ``count`` outcomes from ``first`` on a number in [0, 1) picks."""
    cumulative = 0.0
    for a in range(count - 1):
        cumulative += probabilities[first + a]
        if number < cumulative:
            return a
    return count - 1


@kernel()
def record_external(walks: RecordedWalks, walk: int, end: int, found: Recorded) -> tuple[int, int, int, int]:
    """External sampling: all actions of the traverser, one of everybody else (Lanctot et al. 2009, section 3.3).

    Args:
        walks: the kind.
        walk, end: the number of the first walk, and the one before which to stop; no more are begun once the arrays may not
            hold all rows of one.
        found: gets ``places``, ``values`` and ``others``.

    Returns:
        The number of the next walk, rows of ``places`` and of ``others`` written, histories visited.
    """
    histories, first, policy, player = walks.histories, walks.first, walks.policy, walks.player
    places, regrets, others = found.places, found.values, found.others
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
                found.weights[rows] = 1.0
                for a in range(widest):
                    regrets[rows, a] = values[depth, a] - value if a < nodes[above, CHILDREN] else 0.0
                rows += 1
                depth -= 1
            if depth < 0:
                break
    return walk, rows, other_rows, visited


@kernel()
def record_outcomes(
    walks: RecordedWalks, critic: Floats, edge: Ints, walk: int, end: int, found: Recorded
) -> tuple[int, int, int, int, int]:
    """Outcome sampling: one action of everybody, with a critic's values as baselines (Schmid et al. 2019, section 4).

    The sampled value of an action is ``b(h, a) + [a taken] (u(ha) - b(h, a)) / q(h, a)`` and that of a history the mean of
    these under the policy, with b the critic's values and q the probability with which the traverser (exploring) or another
    player (by the policy) takes the action. Without ``corrected`` it is ``b(h, a)`` alone (McAleer et al. 2022, ESCHER).

    Args:
        walks: the kind.
        critic: float64, what the traverser gets from each action of each history, as far as is known.
        edge: int64 [H], where the actions of each history begin in ``critic``; -1 at chance and terminal histories.
        walk, end: as in :func:`record_external`.
        found: gets all rows; ``edges`` of all players' actions.

    Returns:
        The number of the next walk, rows of ``places``, ``others`` and ``edges`` written, histories visited.
    """
    histories, first, policy, player = walks.histories, walks.first, walks.policy, walks.player
    nodes, widest, infosets = histories.nodes, found.values.shape[1], walks.first.shape[0] - 1
    path, taken, chances = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64)
    values = np.empty(widest)
    rows = other_rows = edges = visited = 0
    room = found.edges.shape[0] - nodes.shape[0]
    while walk < end and rows + infosets <= found.places.shape[0] and max(other_rows, edges) <= room:
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
                found.edges[from_edge, 1] = node
            slot, number = first[key], unit(stream)
            a, chance = drawn(policy, slot, children, number), 1.0
            if actor == player:
                if number < walks.exploration:
                    a = min(int(number / walks.exploration * children), children - 1)
                else:
                    a = drawn(policy, slot, children, (number - walks.exploration) / (1.0 - walks.exploration))
                chance = walks.exploration / children + (1.0 - walks.exploration) * policy[slot + a]
                found.places[rows], found.weights[rows] = key, 1.0 / own_reach
                own_reach *= chance * children
                rows += 1
            else:
                chance = policy[slot + a]
                found.others[other_rows] = key
                other_rows += 1
            if depth == path.shape[0]:
                path, taken, chances = np.append(path, path), np.append(taken, taken), np.append(chances, chances)
            path[depth], taken[depth], chances[depth] = node, a, chance
            from_edge = edges
            found.edges[edges, 0] = edge[node] + a
            edges, depth, node = edges + 1, depth + 1, child + a
        visited += 1
        for passed in range(edges - depth if walks.returns else edges - min(depth, 1), edges):
            found.edges[passed, 1] = node
        value, row = histories.payoffs[nodes[node, KEY], player], rows
        for place in range(depth - 1, -1, -1):
            here = path[place]
            children, slot, mean = nodes[here, CHILDREN], first[nodes[here, KEY]], 0.0
            for a in range(children):
                values[a] = critic[edge[here] + a]
                if walks.corrected and a == taken[place]:
                    values[a] += (value - values[a]) / chances[place]
                mean += policy[slot + a] * values[a]
            value = mean
            if nodes[here, ACTOR] == player:
                row -= 1
                for a in range(widest):
                    found.values[row, a] = values[a] - value if a < children else 0.0
    return walk, rows, other_rows, edges, visited


@kernel()
def matched(first: Ints, values: Floats, greedy: bool) -> Floats:
    """Regret matching: each infoset's policy in proportion to what is positive of its values, float64 [S].

    Where nothing is positive, the action of the greatest value if ``greedy`` (Brown et al. 2019, section 4.1), else all alike.
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
    """Put rows together by place.

    Args:
        legal: bool [P, A], the actions of each place.
        places, values, weights: see ``Rows`` of :mod:`treeplex.learn.neural.fitting.buffers`; NaN does not count.

    Returns:
        Float64 [P, A], the sum of the weights of each action's values; float64 [P, A], their weighted means, 0 without values;
        and the mean squared error, over weights, that these means have.
    """
    total, mean = np.zeros(legal.shape), np.zeros(legal.shape)
    error = whole = 0.0
    for row in range(places.shape[0]):
        place, weight = places[row], weights[row]
        for a in range(legal.shape[1]):
            if not legal[place, a] or weight <= 0.0 or math.isnan(values[row, a]):
                continue
            apart = values[row, a] - mean[place, a]
            total[place, a] += weight
            share = weight / total[place, a]
            mean[place, a] += share * apart
            error += weight * (1.0 - share) * apart * apart
            whole += weight
    return total, mean, error / whole if whole > 0.0 else 0.0
