"""The opponents' cards, ranges and search results, shown once a hand is over."""

from collections.abc import Callable
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, N_HANDS
from treeplex.holdem.tables.spot import HoldemTable
from treeplex.holdem.tables.whole import WholeTable
from treeplex.search.agents.agent import Thought
from treeplex.search.tables.table import AgentTable, Table

SHOWN_RANGE = 200
"""Maximum number of hands shown of a range, the likeliest first."""
MOST_SINGLE = 40
"""Ranges of hold'em with more hands than this are shown by hand class."""
MOST_ACTIONS = 10
"""Maximum number of actions shown of a strategy; the least likely ones are summed into one row."""


def ranges_of(table: Table, person: int) -> list[dict[str, Any]]:
    """Return each opponent's range given its strategy and the person's cards, in the form of :func:`rows_of`."""
    known = table.inner if isinstance(table, WholeTable) else table
    if not isinstance(known, HoldemTable | AgentTable):
        return []
    rows = []
    for player in range(table.players):
        if player != person:
            share, held = known.range_against(player, person), known.hand_of(player)
            if share.any():
                names = known.hand_names(player)
                about = {"held": names(held), "held_share": float(share[held])}
                rows.append({"seat": player, **about, "hands": rows_of(share, names)})
    return rows


def thought_of(table: Table, where: str, thought: Thought | None) -> dict[str, Any] | None:
    """Return an agent's last decision as JSON data; None if the game does not define public information.

    ``policy`` has each action's probability with the hand that the agent held, ``mean`` the average over its range, and
    ``hands`` the rows of :func:`rows_of`.
    """
    made = table.replied()
    known = table.inner if isinstance(table, WholeTable) else table
    if made is None or not isinstance(known, HoldemTable | AgentTable):
        return None
    total = float(made.reach.sum())
    share = made.reach / total if total > 0 else made.reach
    shown, rest = shown_actions(made.policy @ share, made.chosen)
    options = [made.options[index] for index in shown] + [f"{rest} others"] * bool(rest)

    policy = made.policy[shown]
    if rest:
        policy = np.vstack([policy, 1.0 - policy.sum(axis=0)])
    names = known.hand_names(made.player)
    return {
        "seat": made.player,
        "where": where,
        "options": options,
        "chosen": shown.index(made.chosen),
        "held": names(made.hand),
        "policy": policy[:, made.hand].round(4).tolist(),
        "mean": (policy @ share).round(4).tolist(),
        "hands": rows_of(share, names, policy),
        "search": None if thought is None else thought._asdict(),
    }


def rows_of(share: Floats, names: Callable[[int], str], policy: Floats | None = None) -> list[dict[str, Any]]:
    """List a range's hands with their probabilities, the likeliest first; large hold'em ranges by hand class.

    Args:
        share: float64 [H], probability of each hand.
        names: function from a hand's index to its name.
        policy: float64 [A, H], the strategy with each hand; None to omit it.
    """
    if len(share) == N_HANDS and np.count_nonzero(share) > MOST_SINGLE:
        weight = np.asarray(np.bincount(HAND_CLASSES, share, len(CLASSES)), np.float64)
        if policy is not None:
            sums = np.array([np.bincount(HAND_CLASSES, frequencies * share, len(CLASSES)) for frequencies in policy])
            policy = sums / np.where(weight > 0, weight, 1.0)
        share, names = weight, CLASSES.__getitem__
    order = [int(hand) for hand in np.argsort(-share, kind="stable")[:SHOWN_RANGE] if share[hand] > 0]
    rows: list[dict[str, Any]] = [{"name": names(hand), "share": float(share[hand])} for hand in order]
    if policy is not None:
        for row, played in zip(rows, policy[:, order].T.round(4).tolist(), strict=True):
            row["policy"] = played
    return rows


def shown_actions(mean: Floats, chosen: int) -> tuple[list[int], int]:
    """Return the indices of the actions to show, including the chosen one, and the number of omitted actions."""
    if len(mean) <= MOST_ACTIONS:
        return list(range(len(mean))), 0
    first = [int(index) for index in np.argsort(-mean, kind="stable")[: MOST_ACTIONS - 1]]
    shown = sorted({chosen, *first})
    return shown, len(mean) - len(shown)
