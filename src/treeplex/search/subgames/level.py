"""One level of a player's decisions, in a gadget or below leaves."""

from collections.abc import Sequence

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.form import Tree, new_state, workspace
from treeplex.engine.tree.regret import Weights, update
from treeplex.engine.tree.sweeps import best_response, reach


def level_tree(blocks: Sequence[tuple[int, int]]) -> Tree:
    """Build a one-player treeplex of root infosets; each block gives its numbers of infosets and actions.

    Sequence 0 is the empty sequence; a block's sequences follow those of the previous block, in action-major order.
    """
    rows, layout, first, infosets = [], [], 1, 0
    owners = [np.array([-1])]
    for count, actions in blocks:
        rows.append((first, infosets, count, actions))
        layout += [(first + j, count, actions) for j in range(count)]
        owners.append(np.tile(np.arange(infosets, infosets + count), actions))
        first, infosets = first + count * actions, infosets + count
    return Tree(
        sequence_offsets=np.array([0, first], np.int64),
        infoset_offsets=np.array([0, infosets], np.int64),
        block_offsets=np.array([0, len(rows)], np.int64),
        blocks=np.array(rows, np.int64).reshape(-1, 4),
        infoset_parent=np.zeros(infosets, np.int64),
        infoset_layout=np.array(layout, np.int64).reshape(-1, 3),
        sequence_infoset=np.concatenate(owners),
    )


class Level:
    """The decisions of a level being solved, updated by the same rule as the subgame.

    Attributes:
        tree: the treeplex.
        regrets, policy, strategy: float64 [Q]; the strategy is the normalised policy, since every infoset is a root.
    """

    def __init__(self, blocks: Sequence[tuple[int, int]]) -> None:
        """Start from the uniform policy.

        Args:
            blocks: for each block the number of infosets and of actions.
        """
        self.tree = level_tree(blocks)
        size = int(self.tree.sequence_offsets[-1])
        self.policy = np.ones(size)
        self.policy[1:] = 1.0 / self.tree.infoset_layout[self.tree.sequence_infoset[1:], 2]
        self._state, self._work = new_state(self.policy, averages=np.empty((0, size))), workspace(self.tree)
        self.regrets, self.strategy = self._state.regrets, self._state.strategy
        reach(self.tree, 0, self.policy, self.strategy)

    def improve(self, values: Floats, row: Weights) -> Floats:
        """Update regrets and policy from action values.

        Args:
            values: float64 [Q], overwritten.
            row: the iteration's weights.

        Returns:
            The value of each infoset under the previous policy, float64 [I], valid until the next call.
        """
        update(self.tree, 0, np.array(row), self._state, self._work._replace(values=values))
        reach(self.tree, 0, self.policy, self.strategy)
        return self._work.infoset_values

    def respond(self, values: Floats) -> Floats:
        """Set the policy to a best response; returns each infoset's best-response value, float64 [I]."""
        best_response(self.tree, 0, values, self._work.infoset_values, self.policy)
        reach(self.tree, 0, self.policy, self.strategy)
        return self._work.infoset_values
