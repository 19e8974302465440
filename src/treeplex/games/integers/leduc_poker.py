"""Leduc poker as Numba functions, for any number of players and with distinct suits.

The state: number of cards dealt, the public card (-1 before), the round, its raises and the calls since the last raise, the
player to act, a bit set of folded players, and a code of all bets; then the chips paid and the private cards of each player.
"""

from functools import lru_cache
from typing import Any

from numba import njit

from treeplex.engine.uncompiled.rules import CHANCE, TERMINAL, mix
from treeplex.games.numba_rules import NumbaRules

DEALT, PUBLIC, ROUND, RAISES, CALLS, NEXT, FOLDED, BETS, PAID = range(9)
"""Indices into a state; payments and cards are last."""
FOLD, CALL, RAISE = 0, 1, 2


@lru_cache
def leduc_rules(players: int, ranks: int, suits: int, raises: int, bets: tuple[int, int], ante: int) -> NumbaRules:
    """Return the rules; ``bets`` are the raise sizes of both rounds."""
    cards, hands = ranks * suits, PAID + players

    @njit
    def actor(state: Any) -> int:
        return CHANCE if state[DEALT] < players else int(state[NEXT])

    @njit
    def highest(state: Any) -> int:
        most = 0
        for player in range(players):
            most = max(most, state[PAID + player])
        return most

    @njit
    def actions(state: Any, legal: Any) -> int:
        count = 0
        if state[DEALT] < players or state[NEXT] == CHANCE:
            for card in range(cards):
                held = False
                for player in range(state[DEALT]):
                    held |= state[hands + player] == card
                if not held:
                    legal[count] = card
                    count += 1
            return count
        if highest(state) > state[PAID + state[NEXT]]:
            legal[count] = FOLD
            count += 1
        legal[count] = CALL
        count += 1
        if state[RAISES] < raises:
            legal[count] = RAISE
            count += 1
        return count

    @njit
    def play(state: Any, action: int) -> None:
        if state[DEALT] < players:
            state[hands + state[DEALT]] = action
            state[DEALT] += 1
            return
        if state[NEXT] == CHANCE:
            state[PUBLIC], state[NEXT] = action, 0
            while state[FOLDED] >> state[NEXT] & 1:
                state[NEXT] += 1
            return
        player = state[NEXT]
        state[BETS] = mix(state[BETS], action)
        if action == FOLD:
            state[FOLDED] |= 1 << player
        else:
            state[PAID + player] = highest(state)
            state[CALLS] += 1
        if action == RAISE:
            state[PAID + player] += bets[state[ROUND]]
            state[RAISES] += 1
            state[CALLS] = 0
        left = 0
        for i in range(players):
            left += not state[FOLDED] >> i & 1
        over = state[CALLS] == (left - 1 if state[RAISES] else left)
        if left == 1 or (over and state[ROUND] == 1):
            state[NEXT] = TERMINAL
        elif over:
            state[NEXT], state[ROUND], state[RAISES], state[CALLS] = CHANCE, 1, 0, 0
        else:
            state[NEXT] = (player + 1) % players
            while state[FOLDED] >> state[NEXT] & 1:
                state[NEXT] = (state[NEXT] + 1) % players

    @njit
    def infoset(state: Any, player: int) -> int:
        return mix(state[hands + player] * (cards + 1) + state[PUBLIC] + 1, state[BETS])

    @njit
    def strength(state: Any, player: int) -> int:
        if state[FOLDED] >> player & 1:
            return -1
        if state[PUBLIC] < 0:
            return 0
        rank = state[hands + player] // suits
        return int(rank + ranks if rank == state[PUBLIC] // suits else rank)

    @njit
    def payoff(state: Any, player: int) -> float:
        best, winners, pot = -1, 0, 0
        for i in range(players):
            pot += state[PAID + i]
            hand_strength = strength(state, i)
            if hand_strength > best:
                best, winners = hand_strength, 0
            winners += hand_strength == best
        share = pot / winners if strength(state, player) == best else 0.0
        return float(share - state[PAID + player])

    start = (0, -1, 0, 0, 0, 0, 0, 0, *([ante] * players), *([0] * players))
    return NumbaRules(start, actor, actions, play, infoset, payoff, most_actions=max(cards, 3), players=players)
