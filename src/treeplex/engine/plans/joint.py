"""The loop of CFR-S and CFR-Jr: regret matching that accumulates joint play in place of each player's average."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel
from treeplex.engine.plans.plans import draw_plan
from treeplex.engine.sampling.streams import start
from treeplex.engine.tree.form import Payoff, Tree, TreeState, Workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.regret import update
from treeplex.engine.tree.sweeps import reach


class JointPlay(NamedTuple):
    """The accumulated joint play, updated in place.

    Attributes:
        gradients: [Q], sum of gradients against the joint play, used to compute the gap.
        earned: [N], sum of payoffs.
        kept: [K, Q], strategies played at iterations ``s, 2 s, 3 s, ...``; when full, every second row is dropped and s
            doubles.
        spacing: [2], s and the number of used rows of ``kept``.
    """

    gradients: Floats
    earned: Floats
    kept: NDArray[np.float64] | NDArray[np.uint8]
    spacing: Ints


@kernel()
def iterate_jointly(
    tree: Tree,
    payoff: Payoff,
    row: Floats,
    first: int,
    iterations: int,
    seed: int,
    sampled: bool,
    state: TreeState,
    joint: JointPlay,
    work: Workspace,
) -> None:
    """Run iterations ``first, first + 1, ...`` (from 1) with simultaneous updates.

    Players play their current strategies or, if ``sampled``, a plan drawn from each of them. Gradients are taken against this
    joint play, and regrets compare an infoset's actions with the current policy.

    Args:
        tree, payoff: the game.
        row: [9], :class:`treeplex.engine.tree.regret.Weights`, the same for every iteration.
        first, iterations: first iteration and number of iterations.
        seed: random seed.
        sampled: True for CFR-S (sampled plans), False for CFR-Jr.
        state: the solver's state, updated in place; the average is the sum of the strategies played, in sequence form.
        joint: the joint play, updated in place.
        work: scratch.
    """
    players, values = tree.sequence_offsets.shape[0] - 1, work.values
    policy, strategy, average = state.policy, state.strategy, state.averages[0]
    played = strategy.copy()
    for t in range(first, first + iterations):
        for player in range(players):
            if sampled:
                draw_plan(tree, player, policy, start(np.uint64(seed), np.uint64(t), np.uint64(player)), played)
            else:
                sequences = slice(tree.sequence_offsets[player], tree.sequence_offsets[player + 1])
                played[sequences] = strategy[sequences]
        for player in range(players):
            gradient(tree, payoff, player, played, values)
            for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
                joint.earned[player] += played[q] * values[q]
                joint.gradients[q] += values[q]
                average[q] += played[q]
        keep(joint.kept, joint.spacing, t, played)
        for player in range(players):
            update(tree, player, row, state, work)
            reach(tree, player, policy, strategy)


@kernel()
def keep(stored: NDArray[np.float64] | NDArray[np.uint8], spacing: Ints, t: int, played: Floats) -> None:
    """Store the strategies of iteration t if t is a multiple of the spacing, enlarging the store if needed."""
    if t % spacing[0] != 0:
        return
    if spacing[1] == stored.shape[0]:
        half = spacing[1] // 2
        for k in range(half):
            stored[k] = stored[2 * k + 1]
        spacing[0] *= 2
        spacing[1] = half
        if t % spacing[0] != 0:
            return
    for q in range(played.shape[0]):
        stored[spacing[1], q] = played[q]
    spacing[1] += 1
