"""A custom rule: Hedge (exponential weights) at every infoset (Freund and Schapire 1997).

treeplex solve kuhn_poker -a "examples/extending/hedge_rule.py:hedge(rate=2)" -n 2000
"""

import numpy as np

import treeplex as tp


def hedge(rate=2.0):
    """The rule with this learning rate, divided by the square root of the iteration."""

    def weights(step):
        total = step.memory[0]  # the rule's own array, kept between iterations and saved with the run
        total += step.regrets
        return np.exp(np.clip(rate / np.sqrt(step.t) * total, -500.0, 500.0))

    return tp.solvers.Rule("hedge", weights, rows=1, gamma=1.0)
