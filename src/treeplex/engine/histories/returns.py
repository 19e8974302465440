"""Returns after the decisions of episodes."""

import numpy as np

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.kernel import kernel


@kernel()
def lambda_returns(first: Ints, player: SmallInts, payoffs: Floats, values: Floats, costs: Floats, smoothing: float) -> Floats:
    """Return the lambda-return after each decision, float64 [D].

    With t' the same player's next decision in the episode,

        G_t = (1 - lambda) V_t' + lambda (G_t' - c_t'),

    plus the costs of the others' decisions between the two, and the payoff if there is no t'. A player pays the cost of its
    decision to the others. ``G_t - V_t`` is the generalised advantage estimate of Schulman et al. (2016, equation 16) without
    discounting, since payoffs come only at the end; with lambda 1 the returns are plain payoffs. The returns are those of
    v-trace (Espeholt et al. 2018, equation 1) where behaviour is the policy itself.

    Args:
        first: int64 [B+1], first decision of each episode.
        player: int32 [D], acting player.
        payoffs: float64 [B, N].
        values: float64 [D], V, the player's expected value before each decision, net of its cost.
        costs: float64 [D], c.
        smoothing: lambda.
    """
    returns, players = np.empty(len(player)), payoffs.shape[1]
    expected, earned = np.empty(players), np.empty(players)
    for episode in range(len(first) - 1):
        expected[:], earned[:] = payoffs[episode], payoffs[episode]
        for decision in range(first[episode + 1] - 1, first[episode] - 1, -1):
            who = player[decision]
            returns[decision] = (1.0 - smoothing) * expected[who] + smoothing * earned[who]
            for other in range(players):
                expected[other] += costs[decision]
                earned[other] += costs[decision]
            expected[who], earned[who] = values[decision], returns[decision] - costs[decision]
    return returns
