"""Whole hold'em before the flop by charts, as far as they go, and by another agent from there on."""

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.holdem.blueprint.preflop import ChartBook
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent, BaseAgent, fork
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.translation.mapping import bets_at, heard, spoken

OFF = -1
NEAR, DEPTH = 1.5, 1.25
"""Largest factors at which a raise is translated to one of the charts, and at which their stacks still apply."""


class ChartedAgent(BaseAgent):
    """Plays either seat of whole hold'em of two players.

    Raises are translated to the nearest ones of the charts while none is far from them; after one that is, and from
    the flop on, the guide plays, and so it does hands that the charts' ranges lack. It has seen all that was done.

    Attributes:
        guide: the other agent, at the same table.
        book: the charts.
        at: the number of the decision in the book; :data:`OFF` once it has been left.
    """

    draws = False

    def __init__(self, game: PublicHoldem, guide: Agent, book: ChartBook, generator: np.random.Generator | None = None) -> None:
        """Sit down.

        Raises:
            SpecError: the charts are of another deck, of other blinds, or of stacks that are a quarter larger or smaller.
        """
        super().__init__(game, generator)
        rules, table = game.rules, game.rules.betting.root
        if game.players != 2 or rules.format != HOLDEM or rules.betting.dealer != 1 or any(rules.antes):
            raise SpecError("preflop charts are of two players, 52 cards, no antes, the button with player 1; leave chart out")
        if table.paid[0] != 2 * table.paid[1]:
            raise SpecError(f"preflop charts are of blinds of one and two, the table's are {table.paid[1]} and {table.paid[0]}")
        deep = min(rules.stacks) / rules.betting.big_blind
        if not 1 / DEPTH <= deep / book.stack <= DEPTH:
            raise SpecError(
                f"{book.name} is a chart of {book.stack:g} big blinds and the table has {deep:g}; take a chart of about as many"
            )
        self.guide, self.book, self.at = guide, book, 0
        self.chip = rules.betting.big_blind / book.big_blind

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: to begin within a hand.
        """
        if at is not None and at.state != self.game.first_state():
            raise GameError("charts are for whole hands: every bet has to be seen")
        self.sit(seat, generator)
        self.guide.begin(seat)
        self.state, self.at = self.game.first_state(), 0

    def fork(self) -> "ChartedAgent":
        """See :meth:`treeplex.search.agents.agent.BaseAgent.fork`."""
        found = super().fork()
        found.guide = fork(self.guide)
        return found

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        options = self.game.options(self.state)
        if self.at != OFF:
            self.at = OFF if options.player == CHANCE else self._following(list(options.labels).index(event))
        self.guide.see(event)
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        if self.at == OFF:
            return self.guide.policy()
        decision, real = self.book.decisions[self.at], bets_at(self.game, self.state)
        found = np.zeros((len(real.kinds), decision.policy.shape[1]))
        np.add.at(found, spoken(decision.bets, real), decision.policy)
        lacking = ~decision.policy.any(axis=0)
        if lacking.any():
            found[:, lacking] = self.guide.policy()[:, lacking]
        return found

    def _following(self, action: int) -> int:
        """The decision of the book after an action, its size translated; :data:`OFF` if the book has no such action."""
        decision, real = self.book.decisions[self.at], bets_at(self.game, self.state)
        meant = int(heard(real, action, decision.bets, "likelier").argmax())
        if decision.bets.kinds[meant] != real.kinds[action]:
            return OFF
        if real.kinds[action] == "bet":
            larger = float(real.chips[action] / (decision.bets.chips[meant] * self.chip))
            if not 1 / NEAR <= larger <= NEAR:
                return OFF
        return decision.following[meant]
