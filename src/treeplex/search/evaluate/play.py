"""Plays hands between agents, reproducible bit for bit from their numbers, and records the data for luck adjustment."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError, StoppedAgentError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import PublicGame, pick
from treeplex.search.agents.agent import Agent, BaseAgent, checked_policy
from treeplex.search.subgames.beliefs import Belief

CHANCE_LANE, SEAT_LANE = 0, 1
"""Random streams of a hand: chance's first, those of the seats after it."""
GRACE_SHARE, GRACE_SECONDS = 0.5, 0.1
"""Tolerance of the time limit, since a search checks the clock only between iterations."""


@dataclass(frozen=True, eq=False)
class HandEvent:
    """An event of a hand: an action or a deal.

    Attributes:
        number: index of the action or chance outcome among the labels of its public state.
        policy: float64 [A, H], the acting player's policy for every hand; None for chance and for agents that report none.
    """

    number: int
    policy: Floats | None = None


@dataclass(frozen=True, eq=False)
class PlayedHand:
    """The record of a hand.

    Attributes:
        dealt: each player's private hand.
        steps: the events.
        payoffs: each player's payoff, in the game's units; None if unfinished.
        failure: the seat of the agent that failed, and its exception; None if none failed.
        slow: seat and duration in seconds of each decision that exceeded the time limit.
    """

    dealt: tuple[int, ...]
    steps: tuple[HandEvent, ...]
    payoffs: tuple[float, ...] | None
    failure: tuple[int, str] | None = None
    slow: tuple[tuple[int, float], ...] = ()


class AgentError(Exception):
    """Wraps an exception raised by an agent.

    Attributes:
        seat: the agent's seat.
    """

    def __init__(self, seat: int, text: str) -> None:
        super().__init__(text)
        self.seat = seat


@dataclass
class MatchTable:
    """Agents at a table.

    Attributes:
        game: the game.
        agents: the agent in each seat; an agent may occupy several seats.
        asked: whether agents report their policies before they act, except those without one.
        think: seconds per decision; None for no limit.
    """

    game: PublicGame
    agents: Sequence[Agent]
    asked: bool = False
    think: float | None = None
    _spent: list[float] = field(default_factory=list)

    def play(self, chance: np.random.Generator, streams: Sequence[np.random.Generator]) -> PlayedHand:
        """Play a hand. A failing agent ends only this hand.

        Args:
            chance: random generator for deals.
            streams: random generators for the agents' draws, one per seat.

        Returns:
            The record of the hand; its failure names the seat and the exception.

        Raises:
            StoppedAgentError: an agent cannot play any further hand.
        """
        game, state = self.game, self.game.first_state()
        self._spent = [0.0] * len(self.agents)
        dealt = tuple(Belief.root(game).draw(chance))
        held, steps, slow = list(dealt), list[HandEvent](), list[tuple[int, float]]()
        try:
            self._begin(streams)
            while (options := game.options(state)).player != TERMINAL:
                if options.player == CHANCE:
                    steps.append(HandEvent(pick(chance, game.chances(state, held))))
                else:
                    steps.append(self._decide(options.player, held[options.player], options.labels))
                    self._note(options.player, slow)
                number = steps[-1].number
                if options.private:
                    held[options.player], number = held[options.player] * len(options.labels) + number, 0
                label = options.labels[number]
                for seat in self._own_seats():
                    self._timed(seat, self.agents[seat].see, label)
                state = game.after(state, label)
            for seat in self._own_seats():
                if isinstance(agent := self.agents[seat], BaseAgent):
                    self._timed(seat, agent.finish, held)
        except AgentError as error:
            return PlayedHand(dealt, tuple(steps), None, (error.seat, str(error)), tuple(slow))
        return PlayedHand(dealt, tuple(steps), tuple(game.payoffs(state, held)), None, tuple(slow))

    def _own_seats(self) -> list[int]:
        """The first seat of each agent."""
        agents = list(self.agents)
        return [seat for seat, agent in enumerate(agents) if not any(agent is other for other in agents[:seat])]

    def _begin(self, streams: Sequence[np.random.Generator]) -> None:
        for seat in self._own_seats():
            agent = self.agents[seat]
            alone = sum(agent is other for other in self.agents) == 1
            self._timed(seat, agent.begin, seat if alone else None, streams[seat])
            self._spent[seat] = 0.0

    def _decide(self, seat: int, hand: int, labels: Sequence[int]) -> HandEvent:
        agent = self.agents[seat]
        policy = self._timed(seat, checked_policy, agent) if self.asked and has_policy(agent) else None
        label, known = self._timed(seat, agent.act, hand), list(labels)
        if label not in known:
            raise AgentError(seat, f"its action {label!r} is not one of {known}")
        number = known.index(label)
        if policy is not None and not policy[number, hand] > 0:
            raise AgentError(seat, f"its action {label!r} has zero probability under its own policy")
        return HandEvent(number, policy)

    def _note(self, seat: int, slow: list[tuple[int, float]]) -> None:
        """Record a decision that exceeded the time limit, counting the time since the previous decision."""
        spent, self._spent[seat] = self._spent[seat], 0.0
        if self.think is not None and spent > self.think * (1 + GRACE_SHARE) + GRACE_SECONDS:
            slow.append((seat, spent))

    def _timed(self, seat: int, call: Callable[..., Any], *arguments: object) -> Any:
        """Call an agent, and add the elapsed time to its total."""
        began = perf_counter()
        try:
            return call(*arguments)
        except StoppedAgentError:
            raise
        except Exception as error:
            raise AgentError(seat, " ".join(f"{type(error).__name__}: {error}".split())) from error
        finally:
            self._spent[seat] += perf_counter() - began


def has_policy(agent: Agent) -> bool:
    """Whether an agent reports probabilities."""
    return not isinstance(agent, BaseAgent) or agent.has_policy


def streams_of(seed: int, deal: int, hand: int, seats: int) -> tuple[np.random.Generator, list[np.random.Generator]]:
    """Random generators of a hand: one for chance, seeded by the deal, and one per seat, seeded by the hand.

    Args:
        seed: seed of the match.
        deal: number of the deal; hands with the same deal have the same cards in every seating.
        hand: number of the hand.
        seats: number of seats.
    """
    of_seats = [np.random.default_rng((seed, hand, SEAT_LANE + seat)) for seat in range(seats)]
    return np.random.default_rng((seed, deal, CHANCE_LANE)), of_seats


def check_games(game: PublicGame, agents: Sequence[Agent]) -> None:
    """Raise a :class:`GameError` unless all agents play this game, or an action abstraction of it."""
    for agent in agents:
        if agent.game is not game and getattr(agent.game, "rules", None) is not game:
            raise GameError(
                "the agents play different games; give agents by name, or create all of them with the same game object"
            )
