"""Dresher's inspection game as Numba functions: histories are not stored, so it may be large."""

from numba import njit

import treeplex as tp
from treeplex.games import NumbaGame, NumbaRules

INSPECTOR, SMUGGLER = 0, 1
NIGHTS, INSPECTIONS, SEEN, INSPECTED, ENDED = range(
    5
)  # nights and inspections left, past inspections, tonight's inspection, and the winner


@njit
def actor(state):
    """The acting player: the inspector first, unseen by the smuggler."""
    if state[ENDED] != 0 or state[NIGHTS] == 0:
        return tp.TERMINAL
    return INSPECTOR if state[INSPECTED] < 0 else SMUGGLER


@njit
def actions(state, found):
    """Write the actions and return their number: 0 to wait or stay, 1 to inspect or set out."""
    found[0], found[1] = 0, 1
    return 1 if state[INSPECTED] < 0 and state[INSPECTIONS] == 0 else 2


@njit
def play(state, action):
    """Update the state by an action."""
    if state[INSPECTED] < 0:  # the inspector decides whether to inspect
        state[INSPECTED] = action
        state[INSPECTIONS] -= action
    elif action == 1:  # the smuggler sets out
        state[ENDED] = -1 if state[INSPECTED] else 1
    else:  # nothing happens, and both learn whether there was an inspection
        state[SEEN] = 2 * state[SEEN] + state[INSPECTED]
        state[NIGHTS] -= 1
        state[INSPECTED] = -1


@njit
def infoset(state, player):
    """A player's information as a number: a 1, then one bit per night for whether there was an inspection."""
    return state[SEEN]


@njit
def payoff(state, player):
    """A player's payoff at the end."""
    return float(state[ENDED] if player == SMUGGLER else -state[ENDED])


class Inspection(NumbaGame):
    """A smuggler sets out in one of several nights, or never; an inspector has fewer inspections than nights."""

    def __init__(self, nights=4, inspections=2):
        start = (nights, inspections, 1, -1, 0)
        super().__init__(NumbaRules(start, actor, actions, play, infoset, payoff, most_actions=2))

    def infostate_text(self, words, player):
        nights = ("an inspection" if bit == "1" else "none" for bit in bin(words[SEEN])[3:])
        return f"night {len(bin(words[SEEN])) - 2}, so far: {', '.join(nights)}"

    def action_name(self, player, action):
        return (("wait", "inspect"), ("stay", "set out"))[player][action]
