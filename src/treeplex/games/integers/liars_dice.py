"""Liar's Dice as Numba functions, for any number of players and dice.

The state: number of dice rolled and of bids made, the last two bids, a code of all (public) bids, and the dice, sorted per
player once all are rolled.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit

from treeplex.engine.uncompiled.rules import CHANCE, TERMINAL, mix
from treeplex.games.numba_rules import NumbaRules

ROLLED, MADE, LAST, BEFORE, BIDS, DICE = range(6)
"""Indices into a state; the dice are last."""


@lru_cache
def liars_dice_rules(num_dice: tuple[int, ...], sides: int) -> NumbaRules:
    """Return the rules; ``num_dice`` has the number of dice of each player."""
    players, total = len(num_dice), sum(num_dice)
    begins = np.concatenate(([0], np.cumsum(num_dice)))
    liar = total * sides

    @njit
    def actor(state: Any) -> int:
        if state[ROLLED] < total:
            return CHANCE
        return TERMINAL if state[LAST] == liar else int(state[MADE] % players)

    @njit
    def actions(state: Any, legal: Any) -> int:
        if state[ROLLED] < total:
            for face in range(sides):
                legal[face] = face
            return sides
        first, last = state[LAST] + 1, liar if state[MADE] == 0 else liar + 1
        for bid in range(first, last):
            legal[bid - first] = bid
        return int(last - first)

    @njit
    def play(state: Any, action: int) -> None:
        if state[ROLLED] == total:
            state[BEFORE], state[LAST] = state[LAST], action
            state[MADE] += 1
            state[BIDS] = state[BIDS] | 1 << action if liar < 62 else mix(state[BIDS], action)
            return
        state[DICE + state[ROLLED]] = action + 1
        state[ROLLED] += 1
        if state[ROLLED] == total:
            for player in range(players):
                for last in range(begins[player] + 1, begins[player + 1]):
                    for die in range(last, begins[player], -1):
                        low, high = state[DICE + die - 1], state[DICE + die]
                        state[DICE + die - 1], state[DICE + die] = min(low, high), max(low, high)

    @njit
    def infoset(state: Any, player: int) -> int:
        dice = 0
        for die in range(begins[player], begins[player + 1]):
            dice = dice * (sides + 1) + state[DICE + die]
        return mix(dice, state[BIDS])

    @njit
    def payoff(state: Any, player: int) -> float:
        quantity, face = state[BEFORE] // sides + 1, state[BEFORE] % sides + 1
        matches = 0
        for die in range(total):
            shown = state[DICE + die]
            matches += shown in (face, sides)
        caller, bidder = (state[MADE] - 1) % players, (state[MADE] - 2) % players
        if player not in (caller, bidder):
            return 0.0
        return 1.0 if (player == bidder) == (matches >= quantity) else -1.0

    start = [0, 0, -1, -1, 0, *([0] * total)]
    return NumbaRules(tuple(start), actor, actions, play, infoset, payoff, most_actions=max(liar + 1, sides), players=players)
