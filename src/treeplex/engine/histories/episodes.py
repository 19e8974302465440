"""Episodes: complete plays by policy tables, with each decision recorded in flat arrays."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit

LANE = 1 << 34
"""Stream index of episodes, in place of a traverser."""


class Episodes(NamedTuple):
    """B episodes with D decisions in all, stored contiguously per episode; chance moves are not recorded.

    Attributes:
        first: int64 [B+1], first decision of each episode.
        history: int32 [D], history of each decision.
        player: int32 [D], acting player.
        infoset: int32 [D], infoset.
        action: int32 [D], index of the action taken.
        probability: float64 [D], probability of that action.
        payoffs: float64 [B, N], in the game's units.
        ends: int32 [B], terminal history of each episode.
        nodes: number of histories visited, including terminals.
    """

    first: Ints
    history: SmallInts
    player: SmallInts
    infoset: SmallInts
    action: SmallInts
    probability: Floats
    payoffs: Floats
    ends: SmallInts
    nodes: int


@kernel()
def play_episodes(
    histories: Histories, layout: Ints, policies: Floats, seats: Ints, depth: int, seed: int, number: int
) -> Episodes:
    """Play episodes. Each depends only on the seed and its number, however the episodes are batched.

    To explore, pass exploring policies.

    Args:
        histories: the game's histories, with the infosets of ``layout``.
        layout: int64 [I, 3], first sequence, stride of sequences and number of actions of each infoset.
        policies: float64 [E, Q], the probabilities of each policy.
        seats: int64 [B, N], policy of each player in each episode.
        depth: maximum number of nodes on a path.
        seed: random seed.
        number: number of the first episode.

    Returns:
        The episodes, in the order of their numbers.
    """
    episodes, players = seats.shape
    room = episodes * depth
    first, payoffs = np.zeros(episodes + 1, np.int64), np.empty((episodes, players))
    history, player = np.empty(room, np.int32), np.empty(room, np.int32)
    infoset, action = np.empty(room, np.int32), np.empty(room, np.int32)
    probability, ends = np.empty(room), np.empty(episodes, np.int32)
    nodes, walked, at = histories.nodes, 0, 0
    for episode in range(episodes):
        stream = start(np.uint64(seed), np.uint64(number + episode), np.uint64(LANE))
        node = 0
        walked += 1
        while nodes[node, ACTOR] != TERMINAL:
            actor, key, last = nodes[node, ACTOR], nodes[node, KEY], nodes[node, CHILDREN] - 1
            stream = advanced(stream)
            left, taken = unit(stream), 0
            if actor == CHANCE:
                left -= histories.chance[key]
                while left >= 0.0 and taken < last:
                    taken += 1
                    left -= histories.chance[key + taken]
            else:
                policy, sequence, stride = policies[seats[episode, actor]], layout[key, 0], layout[key, 1]
                left -= policy[sequence]
                while left >= 0.0 and taken < last:
                    taken += 1
                    left -= policy[sequence + stride * taken]
                while policy[sequence + stride * taken] == 0.0 and taken > 0:  # probabilities sum to just below 1
                    taken -= 1
                history[at], player[at], infoset[at], action[at] = node, actor, key, taken
                probability[at] = policy[sequence + stride * taken]
                at += 1
            node = nodes[node, CHILD] + taken
            walked += 1
        ends[episode], payoffs[episode] = node, histories.payoffs[nodes[node, KEY]]
        first[episode + 1] = at
    return Episodes(
        first,
        history[:at].copy(),
        player[:at].copy(),
        infoset[:at].copy(),
        action[:at].copy(),
        probability[:at].copy(),
        payoffs,
        ends,
        walked,
    )


@kernel()
def next_own(first: Ints, player: SmallInts, infoset: SmallInts, players: int) -> SmallInts:
    """Return the infoset of the same player's next decision in the episode, int32 [D]; -1 after its last.

    Args:
        first: int64 [B+1], first decision of each episode.
        player, infoset: int32 [D], acting player and infoset.
        players: number of players.
    """
    following, ahead = np.empty(len(player), np.int32), np.empty(players, np.int32)
    for episode in range(len(first) - 1):
        ahead[:] = -1
        for at in range(first[episode + 1] - 1, first[episode] - 1, -1):
            following[at] = ahead[player[at]]
            ahead[player[at]] = infoset[at]
    return following
