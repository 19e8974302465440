"""Hands of a match: playing them, in this process or in workers, and storing them as lines of a file."""

import json
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.base.storage.reading import parse_json
from treeplex.errors import FileError, GameError, StoppedAgentError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent, BaseAgent
from treeplex.search.evaluate.aivat import Aivat
from treeplex.search.evaluate.checked_down import CheckedDownAivat
from treeplex.search.evaluate.play import MatchTable, PlayedHand, check_games, has_policy, streams_of
from treeplex.search.evaluate.tables import TableHands
from treeplex.search.match.entrants import Entrant, checked_down, compiled_for_match, entrants_of, values_of
from treeplex.search.match.plan import MatchPlan
from treeplex.search.match.settings import CHECKED, MatchSettings


@dataclass(frozen=True)
class HandResult:
    """The result of a hand. Agents, payoffs and luck-adjusted payoffs are in the order of the seats.

    Attributes:
        number: number of the hand within the match.
        deal: number of its deal.
        agents: index of the agent in each seat.
        payoffs: payoff of each seat; None for an unfinished hand.
        aivat: luck-adjusted payoff of each seat; None if not requested.
        failure: index of the agent that failed, and its exception.
        slow: agent and duration in seconds of each decision that exceeded the time limit.
    """

    number: int
    deal: int
    agents: tuple[int, ...]
    payoffs: tuple[float, ...] | None
    aivat: tuple[float, ...] | None = None
    failure: tuple[int, str] | None = None
    slow: tuple[tuple[int, float], ...] = ()

    def to_json(self) -> str:
        """The hand as a line of ``hands.jsonl``."""
        plain: dict[str, Any] = {"hand": self.number, "deal": self.deal, "agents": self.agents, "payoffs": self.payoffs}
        plain |= {name: value for name in ("aivat", "failure", "slow") if (value := getattr(self, name)) not in (None, ())}
        return json.dumps(plain)

    @classmethod
    def from_json(cls, text: str, location: str) -> "HandResult":
        """Parse a line of ``hands.jsonl``.

        Raises:
            FileError: the line is not a valid hand record.
        """

        def numbers(value: Any) -> tuple[float, ...] | None:
            return None if value is None else tuple(float(number) for number in value)

        try:
            data = parse_json(text)
            failure = data.get("failure")
            return cls(
                int(data["hand"]),
                int(data["deal"]),
                tuple(int(number) for number in data["agents"]),
                numbers(data["payoffs"]),
                numbers(data.get("aivat")),
                None if failure is None else (int(failure[0]), str(failure[1])),
                tuple((int(agent), float(seconds)) for agent, seconds in data.get("slow", ())),
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise FileError(f"{location}: not a hand of a match; restore a backup, or start over with --force") from error


class TableResults(NamedTuple):
    """Results of hands between policy tables, as arrays; see :class:`HandResult`.

    Attributes:
        numbers, deals: int64 [K].
        agents: int64 [K, N].
        payoffs: float64 [K, N].
    """

    numbers: Ints
    deals: Ints
    agents: Ints
    payoffs: Floats

    def to_json(self) -> str:
        """The hands as lines of ``hands.jsonl``, without a final line break."""
        rows = zip(*(column.tolist() for column in self), strict=True)
        return "\n".join(
            f'{{"hand": {number}, "deal": {deal}, "agents": {agents}, "payoffs": {payoffs}}}'
            for number, deal, agents, payoffs in rows
        )


@dataclass(frozen=True, eq=False)
class HandPlayer:
    """Plays hands given their numbers; each worker has its own.

    Attributes:
        game: the game, or its spec.
        agents: the agents as names, files or objects.
        settings: settings of the match.
        values: AIVAT's value function, if given as an object.
        names: names of the agents; None to derive them from ``agents``.
    """

    game: Any
    agents: tuple[Any, ...]
    settings: MatchSettings
    values: Any = None
    names: tuple[str, ...] | None = None

    @cached_property
    def rules(self) -> Game:
        """The game."""
        return load(self.game)

    @cached_property
    def compiled(self) -> CompiledGame | None:
        """The compiled game; None if it is too large."""
        return compiled_for_match(self.rules)

    @cached_property
    def entrants(self) -> tuple[Entrant, ...]:
        """The entrants."""
        return entrants_of(self.rules, self.compiled, self.agents, self.settings.think, self.names, self.settings.seed)

    @cached_property
    def plan(self) -> MatchPlan:
        """The seating plan."""
        return MatchPlan.of([entrant.name for entrant in self.entrants], self.rules.num_players, self.settings)

    @cached_property
    def tables_only(self) -> TableHands | None:
        """Fast play between policy tables; None if an agent is not a policy table or payoffs are luck-adjusted."""
        game, policies = self.compiled, [entrant.table for entrant in self.entrants]
        if game is None or self.settings.aivat is not None:
            return None
        tables = [policy for policy in policies if policy is not None]
        return TableHands(game, tables) if len(tables) == len(policies) else None

    @cached_property
    def aivat(self) -> tuple[Aivat | CheckedDownAivat, str] | None:
        """The luck adjustment, and a description of its value function; None without luck adjustment."""
        if self.settings.aivat is None:
            return None
        if self.settings.aivat == CHECKED and self.values is None:
            return checked_down(self.rules), "check-down"
        values, words = values_of(self.rules, self.compiled, self.settings.aivat if self.values is None else self.values)
        return Aivat(self.rules.public, values), words

    def play(self, numbers: range) -> list[HandResult]:
        """Play the hands with these numbers; fewer if an agent stops, whose error the next call raises.

        Raises:
            StoppedAgentError: an agent stopped in the first of these hands.
        """
        hands = list[HandResult]()
        for number in numbers:
            try:
                hands.append(self._played(number))
            except StoppedAgentError:
                if not hands:
                    raise
                break
        return hands

    @property
    def seated_agents(self) -> list[BaseAgent]:
        """All agents created so far that are derived from :class:`treeplex.search.agents.agent.BaseAgent`."""
        entrants = self.entrants if "entrants" in vars(self) else ()
        return [agent for entrant in entrants for agent in entrant.created if isinstance(agent, BaseAgent)]

    def estimator(self, agents: Sequence[Agent]) -> Callable[[PlayedHand], Floats]:
        """The luck adjustment for agents in the order of their seats: those with a policy are averaged over.

        Raises:
            GameError: no agent has a policy.
        """
        assert self.aivat is not None
        known = tuple(seat for seat, agent in enumerate(agents) if has_policy(agent))
        if len(known) == len(agents):
            return self.aivat[0]
        if not known:
            raise GameError("AIVAT needs an agent with a policy, but no external program here reports one; leave out 'aivat'")
        partial = copy(self.aivat[0])
        partial.known = known
        return partial

    def sample(self, numbers: range) -> TableResults:
        """Play the hands with these numbers between policy tables."""
        assert self.tables_only is not None
        _, agents, deals = self.plan.seatings(numbers)
        hands = np.arange(numbers.start, numbers.stop)
        payoffs = self.tables_only.play(agents, deals=deals, hands=hands, seed=self.settings.seed)
        return TableResults(hands, deals, agents, payoffs)

    def seated(self, table: int) -> list[Agent]:
        """Create the agents of a table, in the order of their names.

        Raises:
            GameError: an agent is for another game.
        """
        chosen = self.plan.tables[table]
        agents = [self.entrants[agent].agent(chosen[:index].count(agent)) for index, agent in enumerate(chosen)]
        check_games(self.rules.public, agents)
        return agents

    def _played(self, number: int) -> HandResult:
        seating, public = self.plan.seating(number), self.rules.public
        agents = self.seated(seating.table)
        chance, streams = streams_of(self.settings.seed, seating.deal, number, self.plan.players)
        in_seats = [agents[index] for index in seating.order]
        table = MatchTable(public, in_seats, self.aivat is not None, self.settings.think)
        hand = table.play(chance, streams)
        seats = tuple(self.plan.tables[seating.table][index] for index in seating.order)
        failure = None if hand.failure is None else (seats[hand.failure[0]], hand.failure[1])
        payoffs = aivat = None
        if hand.payoffs is not None:
            payoffs = tuple(float(payoff) for payoff in hand.payoffs)
            if self.aivat is not None:
                try:
                    aivat = tuple(self.estimator(in_seats)(hand).tolist())
                except GameError as error:
                    payoffs, failure = None, (seats[0], str(error))
        slow = tuple((seats[seat], seconds) for seat, seconds in hand.slow)
        return HandResult(number, seating.deal, seats, payoffs, aivat, failure, slow)
