"""What follows what from each player's point of view, against a search through the rest of the episode."""

from itertools import pairwise

import numpy as np

from treeplex.engine.histories.transitions import next_own


def test_the_next_own_decision_is_the_first_one_later_in_the_episode() -> None:
    generator = np.random.default_rng(4)
    first = np.append(0, np.cumsum(generator.integers(0, 7, 50)))
    player = generator.integers(0, 3, first[-1]).astype(np.int32)
    infoset = generator.integers(0, 90, first[-1]).astype(np.int32)
    found = next_own(first, player, infoset, 3)
    for begin, end in pairwise(first):
        for at in range(begin, end):
            later = [int(infoset[after]) for after in range(at + 1, end) if player[after] == player[at]]
            assert found[at] == (later[0] if later else -1)
