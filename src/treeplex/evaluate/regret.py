"""Where a policy loses: the regret of every infostate."""

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, reach
from treeplex.evaluate.judge import check_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy


def infostate_regrets(game: CompiledGame, policy: Policy) -> NDArray[np.float64]:
    """Immediate counterfactual regret of each infoset, float64 [I], in the game's units (Zinkevich et al. 2007).

    What the acting player would gain at the infoset by its best action instead of the policy's mixture, the policy
    followed everywhere else, weighted by the probability that chance and the others lead there. Their sum over a
    player's infosets bounds what a best response of that player gains, as shown there.
    """
    check_game(game, policy)
    tree = game.tree
    strategy, (values, infoset_values, _) = np.empty_like(policy.probabilities), workspace(tree)
    for player in range(game.players):
        reach(tree, player, policy.probabilities, strategy)
    for player in range(game.players):
        gradient(tree, game.payoff, player, strategy, values)
        backup(tree, player, policy.probabilities, values, infoset_values)
    best = np.full(len(game.infostates), -np.inf)
    inner = tree.sequence_infoset >= 0
    np.maximum.at(best, tree.sequence_infoset[inner], values[inner])
    return best - infoset_values
