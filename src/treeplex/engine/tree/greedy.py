"""The loop of Greedy Weights: each iteration's weight minimises the potential of the average regrets."""

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Payoff, Tree, TreeState, Workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, normalise, reach

BISECTIONS = 50


@kernel()
def iterate_greedily(
    tree: Tree,
    payoff: Payoff,
    first: int,
    iterations: int,
    floor: float,
    state: TreeState,
    work: Workspace,
) -> None:
    """Run iterations ``first, first + 1, ...`` (from 1), all players simultaneously with one weight.

    With ``m`` the weighted mean of regrets so far and ``r`` the new ones, the new mean is ``(1 - s) m + s r`` where the
    share ``s`` minimises ``sum over sequences of ([(1 - s) m + s r]+)^2``, a convex function of s, over
    ``s >= floor / (t - 1 + floor)``, that is a weight of at least ``floor`` times the mean weight so far.

    Args:
        tree, payoff: the game.
        first, iterations: first iteration and number of iterations.
        floor: minimum weight, as a fraction of the mean weight so far.
        state: the solver's state, updated in place; regrets and average are means, not sums.
        work: scratch.
    """
    players, mean_regrets, average = tree.sequence_offsets.shape[0] - 1, state.regrets, state.averages[0]
    policy, strategy, values, infoset_values = state.policy, state.strategy, work.values, work.infoset_values
    for t in range(first, first + iterations):
        for player in range(players):
            gradient(tree, payoff, player, strategy, values)
            backup(tree, player, policy, values, infoset_values)
        for q in range(values.shape[0]):
            infoset = tree.sequence_infoset[q]
            values[q] = values[q] - infoset_values[infoset] if infoset >= 0 else 0.0
        share = 1.0 if t == 1 else least_potential(mean_regrets, values, floor / (t - 1 + floor))
        for q in range(values.shape[0]):
            mean_regrets[q] = (1.0 - share) * mean_regrets[q] + share * values[q]
            average[q] = (1.0 - share) * average[q] + share * strategy[q]
            values[q] = max(mean_regrets[q], 0.0)
        for player in range(players):
            normalise(tree, player, values, policy)
            reach(tree, player, policy, strategy)


@kernel()
def least_potential(old: Floats, new: Floats, lowest: float) -> float:
    """Return the s in [lowest, 1] that minimises ``sum ([(1 - s) old + s new]+)^2``, by bisection on its derivative."""
    low, high = lowest, 1.0
    if potential_slope(old, new, low) >= 0.0:
        return low
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if potential_slope(old, new, middle) < 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@kernel()
def potential_slope(old: Floats, new: Floats, share: float) -> float:
    """Return half the derivative of the potential."""
    slope = 0.0
    for q in range(old.shape[0]):
        step = new[q] - old[q]
        slope += max(old[q] + share * step, 0.0) * step
    return slope
