"""Goofspiel as Numba functions: secret bids, any order of point cards, and any number of players.

The state: turns played, cards shown and bids made this turn, packed with the set of cards not shown; the cards shown; the
winner of each turn; and for each player the bids, packed with the set of cards held. Cards, and winners plus one, take four
bits each.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from numba import njit

from treeplex.engine.uncompiled.rules import CHANCE, TERMINAL, mix
from treeplex.games.numba_rules import NumbaRules

if TYPE_CHECKING:
    from treeplex.games.builtin.goofspiel import GoofspielRules

MOST_CARDS = 11
"""Largest number of cards for which four bits per card and a set of cards fit into 63 bits."""
SET = 48
"""Bits below a set of cards, used by bids or counts."""


@lru_cache
def goofspiel_rules(rules: "GoofspielRules") -> NumbaRules:
    """Return the rules with secret bids, for games with at most :data:`MOST_CARDS` cards."""
    players, cards, turns = rules.players, rules.num_cards, rules.turns
    order, paid = rules.points_order, rules.returns_type
    shuffled, ascending = order == "random", order == "ascending"
    wins_only, differences = paid == "win_loss", paid == "point_difference"
    packed = players == 2 and cards <= 7

    @njit
    def actor(state: Any) -> int:
        turn, shown = state[0] & 15, state[0] >> 4 & 15
        if turn == turns:
            return TERMINAL
        return CHANCE if shown == turn else state[0] >> 8 & 15

    @njit
    def actions(state: Any, legal: Any) -> int:
        turn, shown = state[0] & 15, state[0] >> 4 & 15
        held = state[0] >> SET if shown == turn else state[3 + (state[0] >> 8 & 15)] >> SET
        count = 0
        for card in range(cards):
            if held >> card & 1:
                legal[count] = card
                count += 1
        return count

    @njit
    def show(state: Any, card: int) -> None:
        shown = state[0] >> 4 & 15
        state[1] |= card << 4 * shown
        state[0] += 1 << 4
        state[0] ^= 1 << SET + card

    @njit
    def bid(state: Any, card: int) -> None:
        turn, player = state[0] & 15, state[0] >> 8 & 15
        state[3 + player] |= card << 4 * turn
        state[3 + player] ^= 1 << SET + card
        state[0] += 1 << 8
        if player + 1 < players:
            return
        highest, winner = -1, 0
        for i in range(players):
            card = state[3 + i] >> 4 * turn & 15
            if card > highest:
                highest, winner = card, i + 1
            elif card == highest:
                winner = 0
        state[2] |= winner << 4 * turn
        state[0] += 1 - (players << 8)
        if not shuffled and turn + 1 < turns:
            show(state, turn + 1 if ascending else cards - 2 - turn)

    @njit
    def play(state: Any, action: int) -> None:
        if state[0] & 15 == state[0] >> 4 & 15:
            show(state, action)
            return
        bid(state, action)
        turn = state[0] & 15
        if state[0] >> 8 & 15 == 0 and turn == cards - 1 and turn < turns:  # the last turn is forced
            if shuffled:
                show(state, lowest(state[0] >> SET))
            for player in range(players):
                bid(state, lowest(state[3 + player] >> SET))

    @njit
    def infoset(state: Any, player: int) -> int:
        turn = state[0] & 15
        if packed:
            number = turn
            for i in range(turn + 1):
                number = number << 8 | (state[1] >> 4 * i & 7) << 5 | (state[3 + player] >> 4 * i & 7) << 2
                number |= state[2] >> 4 * i & 3
            return number  # type: ignore[no-any-return]
        return mix(mix(mix(turn, state[1]), state[2]), state[3 + player])

    @njit
    def payoff(state: Any, player: int) -> float:
        won, most, best, total = 0, -1, 0, 0
        for i in range(players):
            points = 0
            for turn in range(turns):
                if state[2] >> 4 * turn & 15 == i + 1:
                    points += (state[1] >> 4 * turn & 15) + 1
            total += points
            if points > most:
                most, best = points, 0
            best += points == most
            if i == player:
                won = points
        if wins_only:
            if best == players:
                return 0.0
            return 1.0 / best if won == most else -1.0 / (players - best)
        return won - total / players if differences else float(won)

    everything = (1 << cards) - 1
    start = [everything << SET, 0, 0, *([everything << SET] * players)]
    if not shuffled:
        card = 0 if ascending else cards - 1
        start[0], start[1] = (everything ^ 1 << card) << SET | 1 << 4, card
    return NumbaRules(tuple(start), actor, actions, play, infoset, payoff, most_actions=cards, players=players)


@njit
def lowest(held: int) -> int:
    """Return the lowest card of a non-empty set."""
    card = 0
    while not held >> card & 1:
        card += 1
    return card
