"""Agents' replies: the action, the policy for every hand, and the agent's range."""

from dataclasses import dataclass
from typing import cast, final

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.games.public import PublicGame, State, pick
from treeplex.search.agents.agent import Agent, BaseAgent
from treeplex.search.subgames.beliefs import Belief, moved_range


@dataclass(frozen=True, eq=False)
class AgentReply:
    """An agent's decision.

    Attributes:
        player: the player who decided.
        hand: the player's hand.
        chosen: index of the action.
        options: names of the actions.
        policy: float64 [A, H], the policy for every hand.
        reach: float64 [H], the probability of each hand, by chance and the player's earlier actions, up to a factor; zero for
            impossible hands.
    """

    player: int
    hand: int
    chosen: int
    options: tuple[str, ...]
    policy: Floats
    reach: Floats


@final
class Ranges:
    """Tracks all players' ranges from the policies behind their actions; a person's range stays as dealt."""

    def __init__(self, root: Belief) -> None:
        self._own = [np.array(weights, np.float64) for weights in root.ranges]

    def move(self, player: int, policy: Floats | None, number: int, actions: int, *, private: bool = False) -> None:
        """Update the ranges for an action; ``policy`` is float64 [A, H], or None for a person's action."""
        if policy is None and not private:
            return
        weights = self._own[player]
        known = np.full((actions, len(weights)), 1.0 / actions) if policy is None else policy
        self._own[player] = moved_range(weights, known, number, private=private)

    def at(self, game: PublicGame, state: State) -> list[Floats]:
        """Return each player's unnormalised range at a public state, float64 [H]; zero for impossible hands."""
        return [weights * possible for weights, possible in zip(self._own, game.possible(state), strict=True)]


def reply_of(agent: Agent, hand: int) -> tuple[Floats, int]:
    """Return the acting agent's policy for every hand, float64 [A, H], and the action sampled for one hand."""
    policy = np.asarray(agent.policy(), np.float64)
    if isinstance(agent, BaseAgent) and cast(object, type(agent).act) is BaseAgent.act:  # search only once
        return policy, agent.game.options(agent.state).labels[pick(agent.generator, policy[:, hand])]
    return policy, agent.act(hand)
