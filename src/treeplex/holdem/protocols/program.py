"""Agents that are programs of other authors: they play heads-up hold'em over the ACPC protocol, as this library's dealer."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import final

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.settings import setting
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE, Game
from treeplex.holdem.protocols.acpc import answer_to
from treeplex.holdem.protocols.connected import ConnectedAgent
from treeplex.holdem.protocols.lines import LateError
from treeplex.holdem.protocols.process import CONNECTIONS, SOCKET, Command, ProgramProcess
from treeplex.holdem.protocols.program_policy import ProgramPolicyAgent
from treeplex.holdem.whole.public import hand_of
from treeplex.search.agents.agent import Agent
from treeplex.search.environments.guests import NO_POLICY
from treeplex.search.named_agents.kind import AgentKind, AgentSettings
from treeplex.search.subgames.beliefs import Belief


@dataclass(frozen=True, kw_only=True)
class ProgramSettings(AgentSettings):
    """Settings of an external program."""

    path: str = setting(help="the program, such as ./bot.sh")
    args: str = setting("", "its arguments, quoted as for a shell; with a socket, host and port follow them")
    folder: str = setting(".", "its working directory")
    connection: str = setting(
        SOCKET, "socket: it connects to host and port; pipe: it uses standard input and output", choices=CONNECTIONS
    )
    unit: int = setting(1, "the program's chips per chip of the game", low=1)
    timeout: float = setting(60.0, "seconds per decision", above=0)
    start: float = setting(60.0, "seconds until its first line", above=0)
    policies: bool = setting(False, "whether the program answers with the probability of each action, for any hand")
    log: str = setting("", "file to which its other output is appended (empty: discarded)")


class Program(AgentKind):
    """Agent type for external programs."""

    name = "program"
    text = "a program of another author, over the ACPC protocol"
    source = "Annual Computer Poker Competition, protocol 2.0.0"
    plays = "two-player holdem"
    example = "program(path=./bot.sh)"
    settings = ProgramSettings
    external = True

    def make(self, game: Game, settings: ProgramSettings, generator: np.random.Generator) -> Agent:
        try:
            arguments = tuple(shlex.split(settings.args))
        except ValueError as error:
            raise SpecError(
                f"program arguments {settings.args!r} cannot be read: {str(error).lower()}; close every quote"
            ) from error
        command = Command(settings.path, arguments, settings.folder, settings.connection, settings.log)
        command.check()
        made = ProgramPolicyAgent if settings.policies else ProgramAgent
        return made(
            game.public, command, unit=settings.unit, timeout=settings.timeout, start=settings.start, generator=generator
        )


@final
class ProgramAgent(ConnectedAgent):
    """Plays one seat through a program that receives the states of all hands in turn and answers with actions."""

    has_policy = False

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`; starts the program for the first hand.

        Raises:
            GameError: the program cannot be started, or speaks another protocol.
            StoppedAgentError: the program has ended.
        """
        self.check_running()
        if seat is None:
            raise GameError(f"program {self.command.path} plays one seat; name it twice to let it play against itself")
        self.sit_at_first(seat, generator, at)
        self.launch()
        self.begin_hand()
        self._unsent = [hand_of(self.state)]

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        self.state = self.game.after(self.state, event)
        self._unsent.append(hand_of(self.state))

    def policy(self) -> Floats:
        """Raise a :class:`GameError`: a program reports no probabilities."""
        raise GameError(f"program {self.command.path} has no policy: {NO_POLICY}; set policies=true if it can report it")

    def act(self, hand: int) -> int:
        """See :meth:`treeplex.search.agents.agent.Agent.act`.

        Raises:
            StoppedAgentError: the program has ended, or sent no action in time.
        """
        self.check_acting()
        process = self.running()
        began = monotonic()
        try:
            self._send(process, self.hole(hand), None)
            state = self.shown(hand_of(self.state), self.seats.index(self.player or 0), self.hole(hand))
            word = answer_to(lambda: process.lines.read(self.timeout - (monotonic() - began)), state)
        except LateError as error:
            late = f"program {self.command.path} sent no action within {self.timeout:g} s in hand {self.number}"
            self.fail(f"{late}; allow more with timeout=, or check its output with log=", error)
        except GameError as error:
            self.fail(f"{error} in hand {self.number}{process.ending()}; check its output with log=", error)
        return self.counted(word)

    def finish(self, hands: Sequence[int]) -> None:
        """Send the program the end of the hand, with the other player's cards after a showdown."""
        process = self.record.process
        if process is None or self.record.failure or self.player is None:
            return
        other = hands[1 - self.player] if hand_of(self.state).table.folded.count(False) > 1 else None
        try:
            self._send(process, self.hole(hands[self.player]), None if other is None else self.hole(other))
        except GameError as error:  # this hand is complete: only the next one fails
            self.record.failure = f"{error} after hand {self.number}{process.ending()}; check its output with log="
            process.close()

    def fork(self) -> "ProgramAgent":
        """Raise a :class:`GameError`: a running program cannot be copied."""
        raise GameError(f"program {self.command.path} cannot be copied; use it in matches only")

    def _send(self, process: ProgramProcess, own: tuple[int, ...], other: tuple[int, ...] | None) -> None:
        """Send the states since the last one, without those in which cards are dealt."""
        states, self._unsent = [hand for hand in self._unsent if hand.table.player != CHANCE], []
        position = self.seats.index(self.player or 0)
        for hand in states:
            seen = other if other is not None and hand.table.player < 0 else ()
            process.lines.send(str(self.shown(hand, position, own, seen)), self.timeout)
