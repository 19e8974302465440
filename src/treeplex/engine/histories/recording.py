"""Walks by a fixed policy that record what they find as rows: a place, a number for each action, and a weight.

Learners that fit networks walk with the policy of the whole game in one array, a probability for each slot (an infoset's
actions side by side), and learn nothing on the way.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.histories.streams import advanced, start, unit
from treeplex.engine.tree.form import Floats, Ints, SmallInts

Singles = NDArray[np.float32]
NO_PLACE = -1


@njit(cache=True, nogil=True)
def drawn(probabilities: Floats, first: int, count: int, number: float) -> int:
    """Which of ``count`` outcomes from ``first`` on a number in [0, 1) picks."""
    cumulative = 0.0
    for a in range(count - 1):
        cumulative += probabilities[first + a]
        if number < cumulative:
            return a
    return count - 1


@njit(cache=True, nogil=True)
def record_external(
    histories: Histories,
    first: Ints,
    policy: Floats,
    player: int,
    seed: int,
    walk: int,
    walks: int,
    places: SmallInts,
    regrets: Singles,
    others: SmallInts,
) -> tuple[int, int, int, int]:
    """External sampling: all actions of ``player``, one of everybody else (Lanctot et al. 2009, section 3.3).

    Walks are numbered over the whole training, and each has a random stream of its own. No more are begun once the arrays may
    not hold all rows of one.

    Args:
        histories: keys of decisions are infosets.
        first: int64 [I+1], the first slot of each infoset.
        policy: float64 [S].
        player: whose regrets are recorded.
        seed: of the training.
        walk, walks: the number of the first walk, and the one before which to stop.
        places: int32 [R], gets the infosets of ``player`` that were visited.
        regrets: float32 [R, A], gets the sampled regrets of their actions: values of actions less that of the policy.
        others: int32 [R'], gets the infosets of the others that were visited.

    Returns:
        The number of the next walk, rows of ``places`` and of ``others`` written, histories visited.
    """
    nodes, depth_room, widest = histories.nodes, 64, regrets.shape[1]
    stack, following = np.empty(depth_room, np.int64), np.empty(depth_room, np.int64)
    values = np.empty((depth_room, widest))
    infosets = first.shape[0] - 1
    rows = other_rows = visited = 0
    while walk < walks and rows + infosets <= places.shape[0] and other_rows + nodes.shape[0] <= others.shape[0]:
        stream = start(np.uint64(seed), np.uint64(walk), np.uint64(player))
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
                for a in range(widest):
                    regrets[rows, a] = values[depth, a] - value if a < nodes[above, CHILDREN] else 0.0
                rows += 1
                depth -= 1
            if depth < 0:
                break
    return walk, rows, other_rows, visited


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def gathered(first: Ints, places: SmallInts, values: Singles, weights: Singles) -> tuple[Floats, Floats, float]:
    """Put rows together by place.

    Args:
        first: int64 [P+1], the first slot of each place.
        places, values, weights: see ``Rows`` of :mod:`treeplex.learn.neural.buffers`.

    Returns:
        Float64 [P], the sum of the weights of each place's rows; float64 [S], the weighted means of their values, 0 without
        rows; and the mean squared error, over weights, that these means have.
    """
    total, mean = np.zeros(first.shape[0] - 1), np.zeros(first[-1])
    error = 0.0
    for row in range(places.shape[0]):
        place, weight = places[row], weights[row]
        total[place] += weight
        share = weight / total[place] if total[place] > 0.0 else 0.0
        for slot in range(first[place], first[place + 1]):
            apart = values[row, slot - first[place]] - mean[slot]
            mean[slot] += share * apart
            error += weight * (1.0 - share) * apart * apart
    whole = total.sum()
    return total, mean, error / whole if whole > 0.0 else 0.0
