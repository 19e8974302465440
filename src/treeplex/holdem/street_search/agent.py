"""An agent for full-game hold'em with street-by-street search (Brown et al. 2020, section 6)."""

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import AlgorithmError, GameError
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.rules import CALL, FOLD, BettingRules, BettingState
from treeplex.holdem.street_search.betting import StreetBetting
from treeplex.holdem.street_search.street import Cards, StreetSubgame
from treeplex.holdem.street_search.street_search import StoppedRows, run_stopping
from treeplex.holdem.whole.public import PublicHand, PublicHoldem, hand_of
from treeplex.search.agents.agent import BaseAgent, Thought
from treeplex.search.agents.searching import AgentSearchSettings
from treeplex.search.leaf import LeafValue
from treeplex.search.methods import METHODS, average_weights
from treeplex.search.subgames.beliefs import Belief, normalised_range, with_trace
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import begin_search


class StreetStart(NamedTuple):
    """The start of a street.

    Attributes:
        table: the betting, with a player to act.
        board: the cards in the order of the deal.
        ranges: float64 [H] for each player, unnormalised.
    """

    table: BettingState
    board: tuple[int, ...]
    ranges: Ranges


class StreetSolution(NamedTuple):
    """A searched street: its betting, and either one policy per copy, each from its own iteration, or the average policy."""

    betting: StreetBetting
    rows: StoppedRows


class WholeSearchAgent(BaseAgent):
    """Plays either seat: searches each street at its start and plays the policy of a random iteration until the street ends.

    Searches use the raise sizes of the agent's own game. An opponent's raise that this game lacks is added, and the street is
    searched again. If the table does not offer the agent's raise size, the agent chooses the nearest.

    Attributes:
        own: the game with the agent's raise sizes.
        leaf: values at the ends of streets.
        settings: method and iterations.
        drawn: whether a random iteration is played; if not, the average policy of each search is played.
    """

    def __init__(
        self,
        game: PublicHoldem,
        own: PublicHoldem,
        leaf: LeafValue,
        settings: AgentSearchSettings,
        generator: np.random.Generator | None = None,
        *,
        drawn: bool = True,
    ) -> None:
        """Create the agent.

        Args:
            game: the game at the table.
            own: the same game, possibly with different raises.
            leaf, settings, drawn: see the attributes.
            generator: random generator for its actions.

        Raises:
            GameError: the game has rake or more than two players, or the table has different cards, stacks or blinds.
        """
        super().__init__(game, generator)
        if (own.rules.format, unlimited(own)) != (game.rules.format, unlimited(game)):
            raise GameError(
                f"the agent plays {own.rules.stakes}, but the table has {game.rules.stakes}; use the agent's game, or train a "
                "network for the table"
            )
        self.leaf, self.settings, self.drawn, self.cards = leaf, settings, drawn, Cards(own)
        self._plan, self.draws = own, drawn and settings.iterations > 1
        weights = average_weights(settings.method, settings.iterations)
        self._weights = weights / weights.sum()
        self._first: StreetSolution | None = None
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: ``at`` lies within a hand.
        """
        self.sit_at_first(seat, generator, at)
        self.state, self.thought, self.own = self.game.first_state(), None, self._plan
        both = np.ones(len(self.own.hands))
        self._open(StreetStart(self.own.rules.betting.root, (), (both, both)))

    def fork(self) -> "WholeSearchAgent":
        """See :meth:`treeplex.search.agents.agent.BaseAgent.fork`; at a decision, both copies share the street's search."""
        if self.game.options(self.state).player >= 0:
            self._search()
        return super().fork()

    def _open(self, opening: StreetStart) -> None:
        """Set the start of a street."""
        self.opening, self._labels = opening, tuple[int, ...]()
        self._solved: StreetSolution | None = None
        self._copy = int(self.generator.choice(len(self._weights), p=self._weights)) if self.drawn else 0

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        options, before = self.game.options(self.state), hand_of(self.state)
        following = hand_of(self.game.after(self.state, event))
        if options.player >= 0:
            decision = self._betting().decisions[self._number()]
            if event not in decision.actions:
                self._add(PublicHand(decision.table, before.board), event)
            self._labels = (*self._labels, event)
        if options.player == CHANCE and following.table.player >= 0:
            self._open(StreetStart(following.table, following.board, self._arrived()))
        self.state = following

    def _add(self, state: PublicHand, raised: int) -> None:
        """Add a raise that the agent's game lacks; if its limit on raises is reached, remove the limit."""
        try:
            self.own, _ = self.own.with_action(state, raised)
        except GameError:
            rules = replace(self.own.rules, betting=replace(self.own.rules.betting, most=()))
            self.own, _ = PublicHoldem(rules, self.own.added).with_action(state, raised)
        self._solved = None

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        solved, number = self._search(), self._number()
        table = solved.rows.policies[number][:, self._place(solved)][:, self._renamed()[1]]
        labels = list(self.game.options(self.state).labels)
        policy = np.zeros((len(labels), table.shape[1]))
        for action, row in zip(solved.betting.decisions[number].actions, table, strict=True):
            policy[labels.index(nearest_action(action, labels))] += row
        return policy

    def _betting(self) -> StreetBetting:
        """The betting of this street in the agent's game."""
        return self._solved.betting if self._solved else StreetBetting.of(self.own, self.opening.table, self.opening.board)

    def _number(self) -> int:
        """The index of the decision after this street's actions."""
        betting, number = self._betting(), 0
        for label in self._labels:
            decision = betting.decisions[number]
            kind, number = decision.after[decision.actions.index(label)]
            if kind != "decision":
                raise AlgorithmError("no player acts on this street any more")
        return number

    def _place(self, solved: StreetSolution) -> int:
        """Index of the copy whose policy is played."""
        return self._copy if solved.rows.policies[0].shape[1] > 1 else 0

    def _renamed(self) -> tuple[tuple[int, ...], Ints]:
        """The canonical board that is searched, and each hand's index on it, int64 [H]."""
        board, renaming = self.cards.suits.canonical(self.opening.board)
        return board, self.cards.suits.maps[renaming]

    def _search(self) -> StreetSolution:
        """Search the street, unless already done."""
        if self._solved is None:
            begins = not self.opening.board and self.own is self._plan
            if begins and self._first is not None:
                self._solved, self.thought = self._first, Thought(0, 0.0, 0)
            else:
                began = perf_counter()
                self._solved = self._searched(every=begins)
                self.thought = Thought(self.settings.iterations, perf_counter() - began, 1)
            if begins:
                self._first = self._solved
        else:
            self.thought = Thought(0, 0.0, 0)
        return self._solved

    def _searched(self, *, every: bool) -> StreetSolution:
        """Search the street from its start; ``every`` keeps the policies of all iterations, for use with other hands."""
        board, maps = self._renamed()
        free = self.own.free(PublicHand(self.opening.table, board))
        moved = tuple(np.empty_like(reach) for reach in self.opening.ranges)
        for there, reach in zip(moved, self.opening.ranges, strict=True):
            there[maps] = with_trace(reach)
        ranges = tuple(normalised_range(reach, free)[None] for reach in moved)
        street = StreetSubgame.of(self.own, self.cards, self.opening.table, [board], ranges)
        settings = self.settings
        search = begin_search(street, METHODS[settings.method], self.leaf, None, settings.iterations, settings.warm)
        if not self.drawn:
            search.run(settings.iterations - search.iteration)
            average = search.average_policy()
            tables = [street.block(average, number) for number in range(len(street.betting.decisions))]
            first, second = (
                reach.reshape(len(street.betting.ends), 1, -1) for reach in search.arrays.reach_at_leaves(search.average)
            )
            return StreetSolution(street.betting, StoppedRows(tables, (first, second)))
        stops = np.arange(1, self.settings.iterations + 1) if every else np.array([self._copy + 1])
        return StreetSolution(
            street.betting, run_stopping(search, self.settings.iterations, np.zeros(len(stops), np.int64), stops)
        )

    def _arrived(self) -> Ranges:
        """The ranges at the end of the street, under the policy played."""
        solved, number, kind = self._search(), 0, "decision"
        for label in self._labels:
            decision = solved.betting.decisions[number]
            kind, number = decision.after[decision.actions.index(label)]
        if kind != "end":
            return self.opening.ranges
        maps, copy = self._renamed()[1], self._place(solved)
        first, second = (reach[number, copy][maps] for reach in solved.rows.arrived)
        return first, second


def unlimited(game: PublicHoldem) -> BettingRules:
    """The game's betting with no limit on raises and any bet size."""
    return replace(game.rules.betting, most=(), plan=BetPlan())


def nearest_action(action: int, labels: list[int]) -> int:
    """The action if a table offers it, else the nearest raise, or a call if there is none."""
    if action in labels:
        return action
    raises = [label for label in labels if label > CALL]
    return min(raises, key=lambda label: abs(label - action)) if action not in (FOLD, CALL) and raises else CALL
