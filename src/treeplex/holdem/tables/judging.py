"""Evaluation of a person's decisions in full-game hold'em by charts, and by solves of the street."""

from collections.abc import Callable

import numpy as np

from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.search.tables.judging import RARE, DecisionReview

SOLVED = 0.02
"""Loss against an agent's solve, as a share of the pot, that is ignored."""


def charted(agent: WholeHoldemAgent, hand: int, where: str, options: dict[int, str], action: int) -> DecisionReview | None:
    """Compare a decision in poker with the policy of an agent that plays a chart there, without a search.

    Raises of all sizes count as one action, since a chart has few sizes.

    Args:
        agent: an agent in the seat of the other player, at this state.
        hand: the hand of the player to act.
        where, options, action: the point of the game, the actions by label, and the action taken.

    Returns:
        The decision with frequencies only; None if the agent does not play a chart here.
    """
    table, bets = agent.chart_policy(), agent.game.bets(agent.state)
    if table is None or bets is None:
        return None
    labels, policy = [int(label) for label in agent.game.options(agent.state).labels], table[:, hand]
    shares, names = dict[str, float](), dict[str, str]()
    for label, kind, share in zip(labels, bets.kinds, policy.tolist(), strict=True):
        shares[kind] = shares.get(kind, 0.0) + share
        names.setdefault(kind, options.get(label, kind) if kind != "bet" else "raise (any size)")
    chosen = list(shares).index(bets.kinds[labels.index(action)])
    unknown = (float("nan"),) * len(shares)
    return DecisionReview(where, (*names.values(),), chosen, unknown, (*shares.values(),), "chart")


def solved(
    agent: WholeHoldemAgent, hand: int, where: str, name: Callable[[int], str], action: int, pot: float
) -> DecisionReview | None:
    """Evaluate a decision against the other player's solve of the street.

    Values are those of a best response to the solve after the action. A loss is ignored if the solve's own mix with this hand
    loses as much, if it is below :data:`SOLVED` of the pot, or if the solve takes the action in :data:`RARE` of cases.

    Args:
        agent: an agent in the seat of the other player, at this state.
        hand: the hand of the player to act.
        where, name, action: the point of the game, the name of each action by label, and the action taken.
        pot: chips in the pot.

    Returns:
        The evaluated decision; None if the agent does not solve this street, or has no values for this hand.
    """
    found = agent.reply_values(action)
    if found is None or not np.isfinite(found.values[:, hand]).all():
        return None
    values, policy = found.values[:, hand], found.policy[:, hand]
    lost = values.max() - values
    close = max(SOLVED * pot, float(policy @ lost), float(lost[found.chosen]) if policy[found.chosen] >= RARE else 0.0)
    names = tuple(name(label) for label in found.labels)
    return DecisionReview(where, names, found.chosen, (*values.tolist(),), (*policy.tolist(),), "agent", close)
