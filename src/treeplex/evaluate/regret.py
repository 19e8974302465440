"""Counterfactual values of a policy, and the regret of every infostate."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, reach
from treeplex.evaluate.judge import check_game
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game


class CounterfactualValues(NamedTuple):
    """Action and infoset values under a policy, weighted by counterfactual reach.

    Attributes:
        actions: float64 [Q], value of each sequence's last action, following the policy afterwards.
        infosets: float64 [I], value of each infoset under the policy.
        reach: float64 [Q], own reach of each sequence.
    """

    actions: NDArray[np.float64]
    infosets: NDArray[np.float64]
    reach: NDArray[np.float64]


def counterfactual_values(game: CompiledGame | str | Game, policy: Policy) -> CounterfactualValues:
    """Return counterfactual values of a policy, in the game's units (Zinkevich et al. 2007, section 3.1).

    The advantage of a sequence ``q`` at its infoset ``i`` is ``values.actions[q] - values.infosets[i]``.

    Args:
        game: a spec, rules or the compiled game.
        policy: the policy.

    Raises:
        PolicyError: the policy belongs to another game.
    """
    game = compile_game(game)
    check_game(game, policy)
    tree = game.tree
    strategy, (values, infoset_values, _) = np.empty_like(policy.probabilities), workspace(tree)
    for player in range(game.players):
        reach(tree, player, policy.probabilities, strategy)
    for player in range(game.players):
        gradient(tree, game.payoff, player, strategy, values)
        backup(tree, player, policy.probabilities, values, infoset_values)
    return CounterfactualValues(values, infoset_values, strategy)


def infostate_regrets(game: CompiledGame, policy: Policy) -> NDArray[np.float64]:
    """Return the immediate counterfactual regret of each infoset, float64 [I], in the game's units (Zinkevich et al. 2007).

    The regret is the gain of the best action over the policy's mixture, following the policy elsewhere, weighted by
    counterfactual reach. The sum over a player's infosets bounds that player's best-response gain, as shown in the paper.
    """
    tree, (values, infoset_values, _) = game.tree, counterfactual_values(game, policy)
    best = np.full(len(game.infostates), -np.inf)
    inner = tree.sequence_infoset >= 0
    np.maximum.at(best, tree.sequence_infoset[inner], values[inner])
    return best - infoset_values
