"""An agent that plays the solution of a spot."""

from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.policies.line import action_text
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.rules.public import HoldemGame, holdem_state
from treeplex.run.judge import as_policy
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.subgames.beliefs import Belief


def spot_agent(game: HoldemGame, policy: Any, generator: np.random.Generator | None) -> "SpotAgent":
    """The agent for any policy that :func:`treeplex.policies.as_policy` accepts for a spot."""
    return SpotAgent(game, as_policy(game.spot, policy), generator)


class SpotAgent(BaseAgent):
    """Plays the solution of a hold'em spot from the start of the spot."""

    draws = False

    def __init__(self, game: HoldemGame, policy: HoldemPolicy, generator: np.random.Generator | None = None) -> None:
        """Create the agent.

        Args:
            game: the spot as a public game.
            policy: a policy of all streets of the spot.
            generator: random generator for its actions.
        """
        super().__init__(game, generator)
        self.holdem, self.solution = game, policy
        self._line: tuple[str, ...] = ()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """Begin a hand; see :meth:`treeplex.search.agents.agent.Agent.begin`."""
        if at is not None and at.state != self.holdem.first_state():
            raise GameError("a solved spot is played from its start; leave out 'at'")
        self.sit(seat, generator)
        self.state, self._line = self.holdem.first_state(), ()

    def see(self, event: int) -> None:
        """Observe an event; see :meth:`treeplex.search.agents.agent.Agent.see`."""
        state, here = holdem_state(self.state), self.holdem.event(self.state)
        after = self.holdem.after(self.state, event)
        came = after.board[len(state.board) :]
        step = action_text(here.actions[event]) if isinstance(here, Decision) else cards_to_string(came)
        self.state, self._line = after, (*self._line, step)

    def policy(self) -> Floats:
        """The policy at the current decision; see :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        view, options = self.solution.at(",".join(self._line)), self.holdem.options(self.state)
        table = np.full((len(options.labels), len(self.holdem.spot.format.hands)), 1.0 / len(options.labels))
        table[:, view.hands] = view.strategy
        return table

    def action_values(self, hand: int) -> Floats:
        """The acting player's action values with its hand if both players follow the solution afterwards, float64 [A].

        In chips relative to half of the starting pot; NaN for a hand outside the range or without compatible reach.
        """
        self.check_acting()
        view = self.solution.at(",".join(self._line))
        rows = np.flatnonzero(view.hands == hand)
        return view.action_ev[:, rows[0]] if len(rows) else np.full(len(view.actions), np.nan)
