"""What the others at a table held, could have held, and thought: shown once a hand is over."""

from collections.abc import Callable
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, N_HANDS
from treeplex.holdem.tables.spot import HoldemTable
from treeplex.search.agents.agent import Thought
from treeplex.search.tables.table import AgentTable, Table

SHOWN_RANGE = 200
"""Hands of a range that are shown, the most likely ones."""
MOST_SINGLE = 40
"""Hands of hold'em up to which each is shown; more are shown by classes."""
MOST_ACTIONS = 10
"""Actions of a strategy that are shown, those played most; the rest is summed up."""


def ranges_of(table: Table, person: int) -> list[dict[str, Any]]:
    """What each of the others could have held, given how it plays and what the person held: see :func:`rows_of`."""
    if not isinstance(table, HoldemTable | AgentTable):
        return []
    found = []
    for player in range(table.players):
        if player != person:
            share, held = table.range_against(player, person), table.hand_of(player)
            if share.any():
                names = table.hand_names(player)
                about = {"held": names(held), "held_share": float(share[held])}
                found.append({"seat": player, **about, "hands": rows_of(share, names)})
    return found


def thought_of(table: Table, where: str, thought: Thought | None) -> dict[str, Any] | None:
    """The last decision of an agent as the page shows it; None where the rules do not say what is public.

    ``policy`` is what it played with the hand it held, ``mean`` with its whole range, both by action; ``hands`` are as
    :func:`rows_of` has them.
    """
    made = table.replied()
    if made is None or not isinstance(table, HoldemTable | AgentTable):
        return None
    total = float(made.reach.sum())
    share = made.reach / total if total > 0 else made.reach
    kept, rest = shown_actions(made.policy @ share, made.chosen)
    options = [made.options[place] for place in kept] + [f"{rest} others"] * bool(rest)

    policy = made.policy[kept]
    if rest:
        policy = np.vstack([policy, 1.0 - policy.sum(axis=0)])
    names = table.hand_names(made.player)
    return {
        "seat": made.player,
        "where": where,
        "options": options,
        "chosen": kept.index(made.chosen),
        "held": names(made.hand),
        "policy": policy[:, made.hand].round(4).tolist(),
        "mean": (policy @ share).round(4).tolist(),
        "hands": rows_of(share, names, policy),
        "search": None if thought is None else thought._asdict(),
    }


def rows_of(share: Floats, names: Callable[[int], str], policy: Floats | None = None) -> list[dict[str, Any]]:
    """The hands of a range with how likely they are, the most likely first; many hands of hold'em by their classes.

    Args:
        share: float64 [H].
        names: what hands are called.
        policy: float64 [A, H], what is played with each, where that is to be said.
    """
    if len(share) == N_HANDS and np.count_nonzero(share) > MOST_SINGLE:
        weight = np.asarray(np.bincount(HAND_CLASSES, share, len(CLASSES)), np.float64)
        if policy is not None:
            sums = np.array([np.bincount(HAND_CLASSES, own * share, len(CLASSES)) for own in policy])
            policy = sums / np.where(weight > 0, weight, 1.0)
        share, names = weight, CLASSES.__getitem__
    order = [int(hand) for hand in np.argsort(-share, kind="stable")[:SHOWN_RANGE] if share[hand] > 0]
    rows: list[dict[str, Any]] = [{"name": names(hand), "share": float(share[hand])} for hand in order]
    if policy is not None:
        for row, played in zip(rows, policy[:, order].T.round(4).tolist(), strict=True):
            row["policy"] = played
    return rows


def shown_actions(mean: Floats, chosen: int) -> tuple[list[int], int]:
    """The actions that are shown, in their order, the one taken among them; and how many are left out."""
    if len(mean) <= MOST_ACTIONS:
        return list(range(len(mean))), 0
    first = [int(place) for place in np.argsort(-mean, kind="stable")[: MOST_ACTIONS - 1]]
    kept = sorted({chosen, *first})
    return kept, len(mean) - len(kept)
