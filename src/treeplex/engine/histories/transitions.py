"""Transitions within episodes from each player's point of view."""

import numpy as np

from treeplex.base.arrays import Ints, SmallInts
from treeplex.engine.kernel import kernel


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
