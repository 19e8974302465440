"""What the others at a table held, could have held, and thought: shown once a hand is over."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.evaluate.match.agents import Thought
from treeplex.games.poker.cards.cards import CLASSES, HAND_CLASSES, N_HANDS
from treeplex.play.tables.holdem import HoldemTable
from treeplex.play.tables.replies import Replied
from treeplex.play.tables.table import AgentTable, Table

SHOWN_RANGE = 200
"""Hands of a range that are shown, the most likely ones."""
MOST_ACTIONS = 10
"""Actions of a strategy that are shown, those played most; the rest is summed up."""


def ranges_of(table: Table, person: int) -> list[dict[str, Any]]:
    """What each of the others could have held, given how it plays and what the person held: its most likely hands."""
    if isinstance(table, HoldemTable):
        other = 1 - person
        ranked = sorted(table.range_of(other).items(), key=lambda each: -each[1])
        hands = [{"name": name, "share": share} for name, share in ranked]
        return [{"seat": other, "hands": hands, "held": table.hand_name(table.hand_of(other))}] if hands else []
    if not isinstance(table, AgentTable):
        return []
    found = []
    for player in range(table.players):
        if player != person:
            shares, names = table.range_against(player, person), table.hand_names(player)
            hands = [{"name": names(hand), "share": float(shares[hand])} for hand in likeliest(shares)]
            found.append({"seat": player, "hands": hands, "held": names(table.hand_of(player))})
    return found


def thought_of(table: Table, where: str, thought: Thought | None) -> dict[str, Any] | None:
    """The last decision of an agent as the page shows it; None where the rules do not say what is public.

    ``policy`` is what it played with the hand it held, ``mean`` with its whole range, both by action; ``hands`` has what it
    played with each hand, most likely ones first, and with each class of hold'em's hands together.
    """
    made = table.replied()
    if made is None:
        return None
    total = float(made.reach.sum())
    share = made.reach / total if total > 0 else made.reach
    mean = made.policy @ share
    kept, rest = shown_actions(mean, made.chosen)
    options = [made.options[place] for place in kept] + [f"{rest} others"] * bool(rest)

    def shown(rows: NDArray[np.float64]) -> list[list[float]]:
        few = rows[kept]
        return np.vstack([few, 1.0 - few.sum(axis=0)] if rest else [few]).T.round(4).tolist()

    names = hand_names(table, made)
    return {
        "seat": made.player,
        "where": where,
        "options": options,
        "chosen": kept.index(made.chosen),
        "held": names(made.hand),
        "policy": shown(made.policy[:, [made.hand]])[0],
        "mean": shown(mean[:, None])[0],
        "hands": hands_of(share, made.policy, names, shown),
        "search": None if thought is None else thought._asdict(),
    }


def hands_of(
    share: NDArray[np.float64],
    policy: NDArray[np.float64],
    names: Callable[[int], str],
    shown: Callable[[NDArray[np.float64]], list[list[float]]],
) -> list[dict[str, Any]]:
    """Hands, or classes of hold'em's hands, with how likely they are and what is played."""
    if len(share) == N_HANDS:
        sums = np.zeros((len(policy), len(CLASSES)))
        for row, own in zip(sums, policy, strict=True):
            np.add.at(row, HAND_CLASSES, own * share)
        weight = np.bincount(HAND_CLASSES, share, len(CLASSES))
        policy, share = sums / np.where(weight > 0, weight, 1.0), weight
        names = CLASSES.__getitem__
    order = likeliest(share)
    rows = zip(order, shown(policy[:, order]), strict=True) if order else ()
    return [{"name": names(hand), "share": round(float(share[hand]), 6), "policy": played} for hand, played in rows]


def hand_names(table: Table, made: Replied) -> Callable[[int], str]:
    """What hands of the one who decided are called."""
    if isinstance(table, HoldemTable):
        return table.hand_name
    assert isinstance(table, AgentTable)
    return table.hand_names(made.player)


def likeliest(shares: NDArray[np.float64]) -> list[int]:
    """The hands that are possible, the most likely first, so many as are shown."""
    order = np.argsort(-shares, kind="stable")[:SHOWN_RANGE]
    return [int(hand) for hand in order if shares[hand] > 0]


def shown_actions(mean: NDArray[np.float64], chosen: int) -> tuple[list[int], int]:
    """The actions that are shown, in their order, the one taken among them; and how many are left out."""
    if len(mean) <= MOST_ACTIONS:
        return list(range(len(mean))), 0
    first = [int(place) for place in np.argsort(-mean, kind="stable")[: MOST_ACTIONS - 1]]
    kept = sorted({chosen, *first})
    return kept, len(mean) - len(kept)
