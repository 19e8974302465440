"""Phantom games as Numba functions.

The state: each player's stones and known opposing stones as bit sets, the player to act (or the end of the game), the last
player to move, and for each player a code of all tries and their outcomes.
"""

from typing import TYPE_CHECKING, Any

from numba import njit

from treeplex.engine.uncompiled.rules import TERMINAL, mix
from treeplex.games.numba_rules import NumbaRules

if TYPE_CHECKING:
    from treeplex.games.builtin.phantom import PhantomGame

STONES, SEEN, TURN, LAST, TRIED = 0, 2, 4, 5, 6
"""Indices into a state; stones, known stones and tries have one entry per player."""
MOST_CELLS = 12
"""Largest number of cells for which the functions embed the table of winning sets."""


def phantom_rules(game: "PhantomGame") -> NumbaRules:
    """Return the rules without symmetry, for boards with at most :data:`MOST_CELLS` cells."""
    cells, abrupt, counted, won = game.cells, game.abrupt, game.counted, game.won
    full = (1 << cells) - 1

    @njit
    def actor(state: Any) -> int:
        return int(state[TURN])

    @njit
    def actions(state: Any, legal: Any) -> int:
        known, count = state[STONES + state[TURN]] | state[SEEN + state[TURN]], 0
        for cell in range(cells):
            if not known >> cell & 1:
                legal[count] = cell
                count += 1
        return count

    @njit
    def play(state: Any, action: int) -> None:
        mover, other, bit = state[TURN], 1 - state[TURN], 1 << action
        failed = state[STONES + other] >> action & 1
        state[TRIED + mover] = mix(state[TRIED + mover], 2 * action + failed)
        if counted:
            state[TRIED + other] = mix(state[TRIED + other], 2 * cells)
        state[LAST] = mover
        if failed:
            state[SEEN + mover] |= bit
            state[TURN] = other if abrupt else mover
            return
        state[STONES + mover] |= bit
        over = won[mover, state[STONES + mover]] or state[STONES] | state[STONES + 1] == full
        state[TURN] = TERMINAL if over else other

    @njit
    def infoset(state: Any, player: int) -> int:
        return int(state[TRIED + player])

    @njit
    def payoff(state: Any, player: int) -> float:
        if not won[state[LAST], state[STONES + state[LAST]]]:
            return 0.0
        return 1.0 if player == state[LAST] else -1.0

    return NumbaRules((0,) * 8, actor, actions, play, infoset, payoff, most_actions=cells)
