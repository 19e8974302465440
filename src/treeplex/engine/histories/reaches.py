"""Reach probabilities of infosets, over stored histories."""

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, Histories
from treeplex.engine.kernel import kernel


@kernel()
def opposing_reaches(histories: Histories, layout: Ints, policy: Floats) -> Floats:
    """Return the counterfactual reach (of chance and opponents) of every infoset, float64 [I].

    A counterfactual value divided by it is the expected value given that the infoset is reached.

    Args:
        histories: of the game, with the infosets of ``layout``; children come after their parents.
        layout: int64 [I, 3], for each infoset its first sequence, the stride of its sequences and the number of actions.
        policy: float64 [Q], policies of all players.
    """
    nodes, players = histories.nodes, histories.payoffs.shape[1]
    parts = np.ones((nodes.shape[0], players + 1))  # of each player and of chance
    reaches = np.zeros(layout.shape[0])
    for h in range(nodes.shape[0]):
        actor, key = nodes[h, ACTOR], nodes[h, KEY]
        if actor >= 0:
            others = 1.0
            for player in range(players + 1):
                if player != actor:
                    others *= parts[h, player]
            reaches[key] += others
        for number in range(nodes[h, CHILDREN]):
            child = nodes[h, CHILD] + number
            parts[child] = parts[h]
            if actor == CHANCE:
                parts[child, players] *= histories.chance[key + number]
            else:
                parts[child, actor] *= policy[layout[key, 0] + layout[key, 1] * number]
    return reaches
