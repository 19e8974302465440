"""The loop of fictitious play: best responses to averages, averaged in sequence form."""

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Payoff, Tree, TreeState, Workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import best_response, reach


@kernel()
def iterate_best_replies(
    tree: Tree,
    payoff: Payoff,
    steps: Floats,
    optimism: Floats,
    alternating: bool,
    state: TreeState,
    target: Floats,
    work: Workspace,
) -> None:
    """Run one iteration for each entry of ``steps``.

    Each player best-responds to ``(1 - optimism) * average + optimism * last best response`` of the others and moves its
    average toward the response by ``step``, all in sequence form.

    Args:
        tree, payoff: the game.
        steps, optimism: [K], one entry per iteration.
        alternating: whether players respond to best responses of the same iteration.
        state: the last best responses (``policy`` and ``strategy``) and the averages in sequence form, updated in place.
        target: [Q], scratch.
        work: scratch.
    """
    players, reply, average = tree.sequence_offsets.shape[0] - 1, state.strategy, state.averages[0]
    for k in range(steps.shape[0]):
        if not alternating:
            for player in range(players):
                mix(tree, player, optimism[k], average, reply, target)
            for player in range(players):
                gradient(tree, payoff, player, target, work.values)
        for player in range(players):
            if alternating:
                for other in range(players):
                    if other != player:
                        mix(tree, other, optimism[k], average, reply, target)
                gradient(tree, payoff, player, target, work.values)
            best_response(tree, player, work.values, work.infoset_values, state.policy)
            reach(tree, player, state.policy, reply)
            mix(tree, player, steps[k], average, reply, average)


@kernel()
def mix(tree: Tree, player: int, share: float, average: Floats, reply: Floats, target: Floats) -> None:
    """Write a player's ``(1 - share) * average + share * reply`` to ``target``."""
    for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
        target[q] = (1.0 - share) * average[q] + share * reply[q]
