"""Preflop charts for full-game hold'em; a second agent plays from the flop on."""

from typing import Protocol, runtime_checkable

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.holdem.blueprint.preflop import ChartBook
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent, BaseAgent, fork
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.translation.mapping import bets_at, real_actions, translation_shares

OFF = -1
NEAR, DEPTH = 1.5, 1.25
"""Maximum ratio between a raise and the chart's raise it is translated to, and between the stacks of table and charts."""


@runtime_checkable
class PlaysCharts(Protocol):
    """An agent that plays charts before the flop."""

    def chart_policy(self) -> Floats:
        """Its policy at the current decision, float64 [A, H], without drawing random numbers."""
        ...


class ChartedAgent(BaseAgent):
    """Plays heads-up full-game hold'em in either seat; preflop, it follows charts.

    A raise is mapped to the nearest raise in the charts if it is close. The guide plays after any other raise, from the flop
    on, and with hands outside the charts' ranges. It observes all actions.

    Attributes:
        guide: the other agent, at the same table.
        book: the charts.
        at: index of the decision in the book; :data:`OFF` once the hand has left the charts.
    """

    draws = False

    def __init__(self, game: PublicHoldem, guide: Agent, book: ChartBook, generator: np.random.Generator | None = None) -> None:
        """Create the agent.

        Raises:
            SpecError: the charts have a different deck, different blinds, or stacks that differ by more than a quarter.
        """
        super().__init__(game, generator)
        rules = game.rules
        if game.players != 2 or rules.format != HOLDEM or rules.betting.dealer != 1 or any(rules.antes):
            raise SpecError("preflop charts need two players, 52 cards, no antes and player 1 on the button; leave out 'chart'")
        check_blinds(game)
        deep = min(rules.stacks) / rules.betting.big_blind
        if not 1 / DEPTH <= deep / book.stack <= DEPTH:
            raise SpecError(
                f"{book.name} is a chart for {book.stack:g} big blinds, but the table has {deep:g}; use another chart"
            )
        self.guide, self.book, self.at = guide, book, 0
        self.chip = rules.betting.big_blind / book.big_blind

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """Begin a hand; see :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: ``at`` lies within a hand.
        """
        if at is not None and at.state != self.game.first_state():
            raise GameError("a preflop chart must follow the hand from its start; leave out 'at'")
        self.sit(seat, generator)
        self.guide.begin(seat)
        self.state, self.at = self.game.first_state(), 0

    def fork(self) -> "ChartedAgent":
        """A copy of the agent; see :meth:`treeplex.search.agents.agent.BaseAgent.fork`."""
        copy = super().fork()
        copy.guide = fork(self.guide)
        return copy

    def see(self, event: int) -> None:
        """Observe an event; see :meth:`treeplex.search.agents.agent.Agent.see`."""
        options = self.game.options(self.state)
        if self.at != OFF:
            self.at = OFF if options.player == CHANCE else self._following(list(options.labels).index(event))
        self.guide.see(event)
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """The policy at the current decision; see :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        if self.at == OFF:
            return self.guide.policy()
        decision, real = self.book.decisions[self.at], bets_at(self.game, self.state)
        policy = np.zeros((len(real.kinds), decision.policy.shape[1]))
        np.add.at(policy, real_actions(decision.bets, real), decision.policy)
        lacking = ~decision.policy.any(axis=0)
        if lacking.any():
            policy[:, lacking] = self.guide.policy()[:, lacking]
        return policy

    def chart_policy(self) -> Floats:
        """See :class:`PlaysCharts`."""
        return fork(self).policy()

    def _following(self, action: int) -> int:
        """The book's decision after an action, whose size is translated; :data:`OFF` if the book has no such action."""
        decision, real = self.book.decisions[self.at], bets_at(self.game, self.state)
        meant = int(translation_shares(real, action, decision.bets, "likelier").argmax())
        if decision.bets.kinds[meant] != real.kinds[action]:
            return OFF
        if real.kinds[action] == "bet":
            larger = float(real.chips[action] / (decision.bets.chips[meant] * self.chip))
            if not 1 / NEAR <= larger <= NEAR:
                return OFF
        return decision.following[meant]


def check_blinds(game: PublicHoldem) -> None:
    """Reject a table whose blinds are not in the charts' ratio.

    Raises:
        SpecError: the big blind is not twice the small blind.
    """
    paid = game.rules.betting.root.paid
    if paid[0] != 2 * paid[1]:
        raise SpecError(f"preflop charts need blinds in the ratio 1:2, but the table's are {paid[1]} and {paid[0]}")
