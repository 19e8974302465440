"""The update of one decision for all sequences and starts at once."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Singles
from treeplex.engine.kernel import kernel


@kernel(error_model="numpy")
def update(
    values: Singles,
    policy: Singles,
    own: Singles,
    weights: Singles,
    regrets: NDArray[np.floating],
    average: NDArray[np.floating],
    result: Singles,
) -> None:
    """Regret matching's update with weights: discount, add, perhaps floor; and the average.

    Args:
        values: float32 [actions, sequences, starts], counterfactual values of the actions.
        policy: float32 [sequences, actions, starts], what is played.
        own: float32 [sequences, starts], the player's own reach.
        weights: float32 [6]: factors on positive and negative regrets, weight of the new ones, whether negative sums are set to
            zero, factor on the average and weight of what is added to it.
        regrets, average: [sequences, actions, starts], updated in place.
        result: float32 [sequences, starts], output: values of the decision.
    """
    positive, negative, fresh, floor, kept, added = weights
    zero = np.float32(0.0)
    actions, sequences, starts = values.shape
    for s in range(sequences):
        for j in range(starts):
            value = zero
            for a in range(actions):
                value += policy[s, a, j] * values[a, s, j]
            result[s, j] = value
        for a in range(actions):
            for j in range(starts):
                before = regrets[s, a, j]
                after = before * (positive if before > zero else negative) + fresh * (values[a, s, j] - result[s, j])
                regrets[s, a, j] = zero if floor > zero and after < zero else after
                average[s, a, j] = average[s, a, j] * kept + added * own[s, j] * policy[s, a, j]
