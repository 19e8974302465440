"""The policy behind an agent's action for every hand, and its range after its play."""

from dataclasses import dataclass
from typing import cast, final

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.games.public import PublicGame, State, pick
from treeplex.search.agents.agent import Agent, BaseAgent
from treeplex.search.subgames.beliefs import Belief, moved_range


@dataclass(frozen=True, eq=False)
class AgentReply:
    """A decision of an agent.

    Attributes:
        player: the player who decided.
        hand: the player's hand.
        chosen: the number of the action.
        options: names of the actions.
        policy: float64 [A, H], the policy of every hand.
        reach: float64 [H], the probability of each hand by chance and the player's own play so far, up to a factor; zero for
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
    """All players' ranges given the policies behind actions; a person's range stays as dealt."""

    def __init__(self, root: Belief) -> None:
        self._own = [np.array(own, np.float64) for own in root.ranges]

    def move(self, player: int, policy: Floats | None, number: int, actions: int, *, private: bool = False) -> None:
        """Update for an action, by a policy float64 [A, H] or, if that is None, by a person."""
        if policy is None and not private:
            return
        own = self._own[player]
        known = np.full((actions, len(own)), 1.0 / actions) if policy is None else policy
        self._own[player] = moved_range(own, known, number, private=private)

    def at(self, game: PublicGame, state: State) -> list[Floats]:
        """The ranges at a public state, for each player float64 [H], up to a factor; zero for impossible hands."""
        return [own * possible for own, possible in zip(self._own, game.possible(state), strict=True)]


def reply_of(agent: Agent, hand: int) -> tuple[Floats, int]:
    """An acting agent's policy for every hand, float64 [A, H], and the action drawn for one."""
    policy = np.asarray(agent.policy(), np.float64)
    if isinstance(agent, BaseAgent) and cast(object, type(agent).act) is BaseAgent.act:  # think only once
        return policy, agent.game.options(agent.state).labels[pick(agent.generator, policy[:, hand])]
    return policy, agent.act(hand)
