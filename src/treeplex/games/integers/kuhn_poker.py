"""Kuhn poker as Numba functions, for any number of players.

The state: number of cards dealt and of decisions made, the first player to bet (-1 for nobody), the decisions that were bets as
a bit set, and the cards.
"""

from functools import lru_cache
from typing import Any

from numba import njit

from treeplex.engine.uncompiled.rules import CHANCE, TERMINAL
from treeplex.games.numba_rules import NumbaRules

DEALT, MADE, FIRST, BETS, CARDS = range(5)
"""Indices into a state; the cards are last."""


@lru_cache
def kuhn_rules(players: int) -> NumbaRules:
    """Return the rules."""

    @njit
    def actor(state: Any) -> int:
        if state[DEALT] < players:
            return CHANCE
        return TERMINAL if state[MADE] == players + max(state[FIRST], 0) else int(state[MADE] % players)

    @njit
    def actions(state: Any, legal: Any) -> int:
        if state[DEALT] == players:
            legal[0], legal[1] = 0, 1
            return 2
        count = 0
        for card in range(players + 1):
            held = False
            for player in range(state[DEALT]):
                held |= state[CARDS + player] == card
            if not held:
                legal[count] = card
                count += 1
        return count

    @njit
    def play(state: Any, action: int) -> None:
        if state[DEALT] < players:
            state[CARDS + state[DEALT]] = action
            state[DEALT] += 1
            return
        if action == 1 and state[FIRST] < 0:
            state[FIRST] = state[MADE]
        state[BETS] |= action << state[MADE]
        state[MADE] += 1

    @njit
    def infoset(state: Any, player: int) -> int:
        return int((state[CARDS + player] * 2 * players + state[MADE]) << 2 * players | state[BETS])

    @njit
    def in_pot(state: Any, player: int) -> bool:
        if state[FIRST] < 0:
            return True
        return bool(state[BETS] >> (player if player >= state[FIRST] else players + player) & 1)

    @njit
    def payoff(state: Any, player: int) -> float:
        winner, pot, stake = -1, 0, 2 if state[FIRST] >= 0 else 1
        for i in range(players):
            stays = in_pot(state, i)
            pot += stake if stays else 1
            if stays and (winner < 0 or state[CARDS + i] > state[CARDS + winner]):
                winner = i
        paid = stake if in_pot(state, player) else 1
        return float(pot * (player == winner) - paid)

    start = (0, 0, -1, 0, *([0] * players))
    return NumbaRules(start, actor, actions, play, infoset, payoff, most_actions=players + 1, players=players)
