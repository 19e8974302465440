"""Oshi-Zumo as Numba functions.

The state: turns played, coins of both players, the position, whether player 0 has bid and how much, and a code of the (public)
bids of all turns.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from numba import njit

from treeplex.engine.uncompiled.rules import TERMINAL, mix
from treeplex.games.numba_rules import NumbaRules

if TYPE_CHECKING:
    from treeplex.games.builtin.oshi_zumo import OshiZumoRules

TURN, FIRST, SECOND, PLACE, MOVER, BID, PAST = range(7)
"""Indices into a state."""


@lru_cache
def oshi_zumo_rules(rules: "OshiZumoRules") -> NumbaRules:
    """Return the rules."""
    size, horizon, alesia, least = rules.size, rules.horizon, rules.alesia, rules.min_bid

    @njit
    def actor(state: Any) -> int:
        broke = state[FIRST] == 0 and state[SECOND] == 0
        return TERMINAL if abs(state[PLACE]) > size or state[TURN] == horizon or broke else int(state[MOVER])

    @njit
    def actions(state: Any, legal: Any) -> int:
        held = state[FIRST + state[MOVER]]
        lowest = min(least, held)
        for bid in range(lowest, held + 1):
            legal[bid - lowest] = bid
        return int(held + 1 - lowest)

    @njit
    def play(state: Any, action: int) -> None:
        if state[MOVER] == 0:
            state[MOVER], state[BID] = 1, action
            return
        first = state[BID]
        state[TURN] += 1
        state[FIRST] -= first
        state[SECOND] -= action
        state[PLACE] += (first > action) - (first < action)
        state[PAST] = mix(mix(state[PAST], first), action)
        state[MOVER] = state[BID] = 0

    @njit
    def infoset(state: Any, player: int) -> int:
        return int(state[PAST])

    @njit
    def payoff(state: Any, player: int) -> float:
        wrestler = state[PLACE]
        if wrestler == 0 or (alesia and abs(wrestler) <= size):
            return 0.0
        return 1.0 if (wrestler > 0) == (player == 0) else -1.0

    return NumbaRules(
        (0, rules.coins, rules.coins, 0, 0, 0, 0), actor, actions, play, infoset, payoff, most_actions=rules.coins + 1
    )
