# mypy: disallow-untyped-decorators=False
"""The independent chip model: prize money of tournament stacks.

Malmuth-Harville (Harville 1973 for horse races, Malmuth 1987 for poker): a player wins with probability proportional to the
stack, and each next place is decided in the same way among the players left. The sum over all orders of finish is computed
exactly by a recursion over the sets of players that took the first places, in ``n 2^n`` steps.
"""

from collections.abc import Sequence
from math import isfinite

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.errors import SpecError

MOST_PLAYERS = 10


def icm(stacks: Sequence[float], payouts: Sequence[float]) -> Floats:
    """Prize money that each stack is worth.

    Args:
        stacks: chips of each player, at most 10 players; players without chips share the last places.
        payouts: prizes from the first place on; missing places pay nothing.

    Returns:
        float64 [n], in the unit of the payouts.

    Raises:
        SpecError: fewer than 2 or more than 10 players, a negative stack, no chips at all, or payouts that are not
            non-negative and descending.
    """
    chips = np.asarray(stacks, np.float64)
    if not 2 <= len(chips) <= MOST_PLAYERS:
        raise SpecError(f"ICM needs 2 to {MOST_PLAYERS} stacks, not {len(chips)}")
    if not (np.isfinite(chips).all() and chips.min() >= 0 and chips.sum() > 0):
        raise SpecError(f"the stacks are {', '.join(f'{each:g}' for each in chips)}; give stacks of 0 or more, not all 0")
    values = np.zeros(len(chips))
    prize_money(chips, np.ones(len(chips)), checked_payouts(payouts, len(chips)), values)
    return values


def checked_payouts(payouts: Sequence[float], players: int) -> Floats:
    """Payouts of all places, float64 [players].

    Raises:
        SpecError: there are none or too many, or they are not finite, non-negative, descending and positive in the first place.
    """
    given = ", ".join(f"{each:g}" for each in payouts)
    if not 1 <= len(payouts) <= players:
        raise SpecError(f"there are {len(payouts)} payouts ({given}) for {players} players; give one for each paid place")
    if (
        not all(isfinite(each) and each >= 0 for each in payouts)
        or payouts[0] <= 0
        or sorted(payouts, reverse=True) != [*payouts]
    ):
        raise SpecError(f"the payouts are {given}; give them from the first place on, none larger than the one before")
    return np.array([*payouts, *[0.0] * (players - len(payouts))])


@kernel(error_model="numpy")
def prize_money(chips: Floats, before: Floats, payouts: Floats, values: Floats) -> None:
    """Write the prize money of final stacks.

    Players without chips take the last places in the order of their stacks before the hand; equal stacks share their places.

    Args:
        chips: float64 [n], final stacks.
        before: float64 [n], stacks before the hand.
        payouts: float64 [n].
        values: float64 [n], written.
    """
    players, alive = chips.shape[0], 0
    total = 0.0
    for player in range(players):
        values[player] = 0.0
        total += chips[player]
        alive += chips[player] > 0.0
    for player in range(players):
        if chips[player] > 0.0:
            continue
        ahead, equal = 0, 0
        for other in range(players):
            if chips[other] <= 0.0:
                ahead += before[other] > before[player]
                equal += before[other] == before[player]
        for place in range(ahead, ahead + equal):
            values[player] += payouts[alive + place] / equal
    chance = np.zeros(1 << players)
    chance[0] = 1.0
    for first in range(1 << players):  # the set of players in the first places
        if chance[first] == 0.0:
            continue
        place, left = 0, total
        for player in range(players):
            if first >> player & 1:
                place += 1
                left -= chips[player]
        for player in range(players):
            if not first >> player & 1 and chips[player] > 0.0:
                next_place = chance[first] * chips[player] / left
                values[player] += next_place * payouts[place]
                chance[first | 1 << player] += next_place
