"""A custom metric: gain of an opponent who best-responds in its first decisions and follows the policy afterwards.

treeplex solve leduc_poker --measure "examples/extending/short_sighted_judge.py:short_sighted_gain(decisions=2)"
"""

import numpy as np

from treeplex.engine import backup, gradient, reach


def short_sighted_gain(game, policy, decisions=1):
    """Mean gain over players; with many decisions it equals exploitability, with none it is zero."""
    tree, probabilities = game.tree, policy.probabilities
    strategy, values = np.zeros((2, len(probabilities)))
    infoset_values = np.zeros(len(tree.infoset_parent))
    for player in range(game.players):
        reach(tree, player, probabilities, strategy)
    level = np.zeros(len(tree.infoset_parent), int)  # own decisions before each infoset; parents come first
    for infoset, parent in enumerate(tree.infoset_parent):
        before = tree.sequence_infoset[parent]
        level[infoset] = level[before] + 1 if before >= 0 else 0
    gains = []
    for player in range(game.players):
        found, reply = [], probabilities.copy()
        for depth in range(decisions, -1, -1):  # deepest responses first
            gradient(tree, game.payoff, player, strategy, values)
            found.append(backup(tree, player, reply, values, infoset_values))
            for infoset in np.flatnonzero(level == depth - 1):
                sequences = game.sequences_at(infoset)
                if tree.sequence_offsets[player] <= sequences[0] < tree.sequence_offsets[player + 1]:
                    reply[sequences] = np.arange(len(sequences)) == np.argmax(values[sequences])
        gains.append(found[-1] - found[0])
    return float(np.mean(gains))
