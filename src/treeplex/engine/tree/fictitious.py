"""The loop of fictitious play: best responses against averages, averaged in sequence form."""

from numba import njit

from treeplex.engine.tree.form import Floats, Payoff, Tree
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import best_response, reach


@njit(cache=True, nogil=True)
def iterate_best_replies(
    tree: Tree,
    payoff: Payoff,
    steps: Floats,
    optimism: Floats,
    alternating: bool,
    policy: Floats,
    reply: Floats,
    average: Floats,
    target: Floats,
    values: Floats,
    infoset_values: Floats,
) -> None:
    """Run one iteration for each entry of ``steps``.

    Each player best-responds to ``(1 - optimism) * average + optimism * last reply`` of the others; the reply moves the
    player's average by ``step``, all in sequence form.

    Args:
        tree, payoff: the game.
        steps, optimism: [K], for each iteration.
        alternating: whether a player sees the replies that others found in the same iteration.
        policy: [Q], the last pure replies as behaviour policies, updated in place.
        reply, average: [Q], sequence forms of the last replies and of the averages, updated in place.
        target, values, infoset_values: [Q], [Q], [I], scratch.
    """
    players = tree.sequence_offsets.shape[0] - 1
    for k in range(steps.shape[0]):
        if not alternating:
            for player in range(players):
                mix(tree, player, optimism[k], average, reply, target)
            for player in range(players):
                gradient(tree, payoff, player, target, values)
        for player in range(players):
            if alternating:
                for other in range(players):
                    if other != player:
                        mix(tree, other, optimism[k], average, reply, target)
                gradient(tree, payoff, player, target, values)
            best_response(tree, player, values, infoset_values, policy)
            reach(tree, player, policy, reply)
            mix(tree, player, steps[k], average, reply, average)


@njit(cache=True, nogil=True)
def mix(tree: Tree, player: int, share: float, average: Floats, reply: Floats, target: Floats) -> None:
    """Write ``(1 - share) * average + share * reply`` of a player to ``target``."""
    for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
        target[q] = (1.0 - share) * average[q] + share * reply[q]
