"""Matches between policy tables, sampled over stored histories at a rate of millions of hands per second."""

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit

LANE = 1 << 33
"""Stream index of chance in place of a traverser; the streams of the seats follow."""


@kernel()
def sample_hands(
    histories: Histories,
    layout: Ints,
    policies: Floats,
    seats: Ints,
    deals: Ints,
    hands: Ints,
    seed: int,
    payoffs: Floats,
) -> None:
    """Play hands. Each depends only on the seed, its hand number and its deal number.

    Args:
        histories: of the game, with the infosets of ``layout``.
        layout: int64 [I, 3], for each infoset its first sequence, the stride of its sequences and the number of actions.
        policies: float64 [E, Q], policy of each agent.
        seats: int64 [K, N], agent in each seat of each hand.
        deals: int64 [K], deal numbers, which seed chance.
        hands: int64 [K], hand numbers, which seed the agents.
        seed: random seed.
        payoffs: float64 [K, N], output: payoffs of the players.
    """
    nodes, players = histories.nodes, seats.shape[1]
    streams = np.empty(players, np.uint64)
    for row in range(len(hands)):
        chance = start(np.uint64(seed), np.uint64(deals[row]), np.uint64(LANE))
        for player in range(players):
            streams[player] = start(np.uint64(seed), np.uint64(hands[row]), np.uint64(LANE + 1 + player))
        node = 0
        while nodes[node, ACTOR] != TERMINAL:
            actor, key, last = nodes[node, ACTOR], nodes[node, KEY], nodes[node, CHILDREN] - 1
            number = 0
            if actor == CHANCE:
                chance = advanced(chance)
                left = unit(chance) - histories.chance[key]
                while left >= 0.0 and number < last:
                    number += 1
                    left -= histories.chance[key + number]
            else:
                streams[actor] = advanced(streams[actor])
                policy, first, stride = policies[seats[row, actor]], layout[key, 0], layout[key, 1]
                left = unit(streams[actor]) - policy[first]
                while left >= 0.0 and number < last:
                    number += 1
                    left -= policy[first + stride * number]
            node = nodes[node, CHILD] + number
        for player in range(players):
            payoffs[row, player] = histories.payoffs[nodes[node, KEY], player]
