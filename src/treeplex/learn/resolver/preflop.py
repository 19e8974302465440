"""Preflop play from the nearest chart, at any stack depth and raise size."""

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.holdem.blueprint.preflop import ChartBook
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.study.preflop_charts import shipped_charts
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.translation.mapping import bets_at, real_actions, translation_shares

OFF = -1


def nearest_chart(game: PublicHoldem) -> str:
    """Return the name of the shipped chart whose stack has the smallest ratio to the table's."""
    depth = min(game.rules.stacks) / game.rules.betting.big_blind
    return min(shipped_charts(), key=lambda name: abs(np.log(float(name.removesuffix("bb")) / depth)))


class PreflopCharts(BaseAgent):
    """Plays heads-up no-limit hold'em in either seat with a preflop chart; from the flop on, it checks or folds.

    Every raise is translated to a raise in the chart: the pseudo-harmonically likelier size, or the smallest if that is a call.
    Where the chart has no decision, and with hands outside its ranges, the agent checks or folds.

    Attributes:
        book: the chart.
        at: index of the decision in the book; :data:`OFF` once the hand has left the chart.
    """

    draws = False

    def __init__(self, game: PublicHoldem, book: ChartBook, generator: np.random.Generator | None = None) -> None:
        """Create the agent.

        Raises:
            SpecError: the table has another deck or number of players, or the button at player 0.
        """
        super().__init__(game, generator)
        rules = game.rules
        if game.players != 2 or rules.format != HOLDEM or rules.betting.dealer != 1 or rules.betting.limits:
            raise SpecError("preflop charts need two players, no limit, 52 cards and player 1 on the button")
        self.book, self.at = book, 0

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: ``at`` lies within a hand.
        """
        if at is not None and at.state != self.game.first_state():
            raise GameError("a preflop chart must follow the hand from its start; leave out 'at'")
        self.sit(seat, generator)
        self.state, self.at = self.game.first_state(), 0

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        options = self.game.options(self.state)
        if self.at != OFF:
            self.at = OFF if options.player == CHANCE else self._following(list(options.labels).index(event))
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        real = bets_at(self.game, self.state)
        policy = np.zeros((len(real.kinds), len(self.game.possible(self.state)[0])))
        if self.at != OFF:
            decision = self.book.decisions[self.at]
            np.add.at(policy, real_actions(decision.bets, real), decision.policy)
        passive = real.kinds.index("fold" if "fold" in real.kinds else "pass")
        policy[passive, ~policy.any(axis=0)] = 1.0
        return policy

    def _following(self, action: int) -> int:
        """Return the chart's decision after an action at the table."""
        decision, real = self.book.decisions[self.at], bets_at(self.game, self.state)
        meant = int(translation_shares(real, action, decision.bets, "likelier").argmax())
        if real.kinds[action] == "bet" and decision.bets.kinds[meant] != "bet":
            bets = [number for number, kind in enumerate(decision.bets.kinds) if kind == "bet"]
            if not bets:
                return OFF
            meant = bets[0]
        return decision.following[meant]
