"""The kernels that a solver of a compiled game needs after its first, compiled on a second core."""

from typing import Any

import numba
import numpy as np

from treeplex.engine.tree.form import new_state, workspace
from treeplex.engine.tree.gradient import factor_gradient
from treeplex.engine.tree.regret import Weights, accumulate, update
from treeplex.engine.tree.sweeps import best_value
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy, uniform_probabilities


def update_and_judge(signature: str) -> None:
    """Compile the local update and the judge while the calling process compiles the gradient, whatever its argument types."""
    game = compile_game("kuhn_poker")
    policy, work = uniform_probabilities(game), workspace(game.tree)
    state = new_state(policy)
    compile_for(factor_gradient, game.tree, game.payoff.factors, 0, policy, work.values)
    compile_for(update, game.tree, 0, np.array(Weights()), state, work)
    compile_for(accumulate, game.tree, 0, 1.0, 1.0, policy, state.averages[0])
    compile_for(best_value, game.tree, 0, work.values, work.infoset_values)
    judge(game, Policy(game, policy))


def compile_for(kernel: Any, *arguments: Any) -> None:
    """Compile a kernel for arguments of these types, or load it from the cache."""
    kernel.compile(tuple(map(numba.typeof, arguments)))
