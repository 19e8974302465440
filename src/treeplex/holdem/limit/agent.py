"""An agent that plays a strategy for limit hold'em in buckets, at a table with real cards."""

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import SpecError
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.sizes import FixedLimit
from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.buckets.rows import BucketRows
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.buckets.street import END, NODE
from treeplex.holdem.limit.policy import LimitStrategy
from treeplex.holdem.spots.known import unbound
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.named import holdem
from treeplex.holdem.whole.public import PublicHoldem, hand_of
from treeplex.search.agents.agent import Seat
from treeplex.search.subgames.beliefs import Belief

DEEP = 100
"""Big blinds in front of each player at a table of fixed limit, where that is more than can be bet."""


class LimitAgent(Seat):
    """Plays either seat of limit hold'em by the buckets of its hand.

    Attributes:
        strategy: what it plays.
    """

    draws = False

    def __init__(self, game: PublicHoldem, strategy: LimitStrategy, generator: np.random.Generator | None = None) -> None:
        """Sit down.

        Raises:
            SpecError: another game than :func:`limit_holdem` of the strategy, stacks aside.
        """
        super().__init__(game, generator)
        check_table(game, strategy)
        self.strategy, self._rows = strategy, BucketRows(strategy.game.buckets, recall=True)
        self._sequences: dict[tuple[int, ...], Ints] = {}
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: to begin within a hand.
        """
        self.sit_at_first(seat, generator, at)
        self.state = self.game.first_state()
        self._street = self._node = self._start = 0
        self._sequences = {}

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        options, following = self.game.options(self.state), self.game.after(self.state, event)
        if options.player != CHANCE:
            betting = self.strategy.game.betting
            row, number = betting.streets[self._street, 0] + self._node, list(options.labels).index(event)
            kind, child = int(betting.kinds[row, number]), int(betting.children[row, number])
            if kind == NODE:
                self._node = child
            elif kind == END and self._street + 1 < len(betting.streets):
                self._start += child * int(betting.streets[self._street, 2])
                self._street, self._node = self._street + 1, 0
        self.state = following

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        betting, tables = self.strategy.game.betting, self.strategy.average
        street, board = self._street, hand_of(self.state).board
        _, actions, slot = (int(each) for each in betting.nodes[betting.streets[street, 0] + self._node])
        starts, slots = (int(each) for each in betting.streets[street, 2:4])
        if board not in self._sequences:
            self._sequences = {board: self._rows.at(board)}  # the next question is mostly about the same cards
        first = int(tables.offsets[street]) + (self._sequences[board] * slots + slot) * starts + self._start
        table = tables.late if street == len(betting.streets) - 1 else tables.early
        sums = table[first + starts * np.arange(actions)[:, None]].astype(np.float64)
        total = sums.sum(axis=0)
        return np.asarray(np.divide(sums, total, out=np.full(sums.shape, 1.0 / actions), where=total > 0))


def limit_holdem(game: BucketGame) -> Holdem:
    """The game that hands in buckets stand for, with real cards: stacks are more than can be bet.

    Raises:
        SpecError: its betting is not fixed limit, or it begins after the flop.
    """
    spot = game.spot
    if not isinstance(spot.bets, FixedLimit) or spot.blinds is None:
        raise SpecError(f"{game} is no limit hold'em from the blinds on; solve one with treeplex holdem limit solve")
    deck = spot.format.deck
    return holdem(
        stack=max(DEEP * round(spot.blinds[1]), round(unbound(spot.bets)) + 1),
        blinds=[round(blind) for blind in spot.blinds],
        bets=[round(bet) for bet in spot.bets.bets],
        raises=[spot.bets.most[0] - 1, *spot.bets.most[1:]],  # among them the big blind is the first bet
        ranks=13 if spot.format is HOLDEM else len({card >> 2 for card in deck}),
        suits=4 if spot.format is HOLDEM else len({card & 3 for card in deck}),
    )


def check_table(game: PublicHoldem, strategy: LimitStrategy) -> None:
    """Refuse a table that plays something else than a strategy, stacks aside.

    Raises:
        SpecError: it does.
    """
    own = limit_holdem(strategy.game)
    rules, theirs = own.rules, game.rules
    cards, betting = rules.format, rules.betting
    alike = (
        (theirs.format.deck, theirs.format.deal, theirs.format.hole) == (cards.deck, cards.deal, cards.hole)
        and (theirs.betting.limits, theirs.betting.most) == (betting.limits, betting.most)
        and (theirs.betting.dealer, theirs.betting.root) == (betting.dealer, rules.betting.root)
        and not any(theirs.antes)
    )
    if not alike or min(theirs.stacks) <= unbound_of(strategy):
        raise SpecError(f"{strategy.name} plays {own}; let it play that")


def unbound_of(strategy: LimitStrategy) -> float:
    """Chips that no line of a strategy's betting uses up."""
    bets = strategy.game.spot.bets
    assert isinstance(bets, FixedLimit)
    return unbound(bets)
