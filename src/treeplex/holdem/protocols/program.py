"""Agents that are programs of other authors: they play heads-up hold'em over the ACPC protocol, as this library's dealer."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NoReturn, final

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.settings import setting
from treeplex.errors import GameError, SpecError, StoppedAgentError
from treeplex.games.base import CHANCE, Game
from treeplex.games.public import PublicGame, State
from treeplex.holdem.betting.rules import CALL, FOLD
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.protocols.acpc import RAISE, VERSION, VERSIONS, MatchState, answer_to
from treeplex.holdem.protocols.lines import LateError
from treeplex.holdem.protocols.process import CONNECTIONS, SOCKET, Command, ProgramProcess
from treeplex.holdem.whole.public import PublicHand, PublicHoldem, hand_of
from treeplex.search.agents.agent import Agent, BaseAgent
from treeplex.search.environments.guests import NO_POLICY
from treeplex.search.named_agents.kind import AgentKind, AgentSettings
from treeplex.search.subgames.beliefs import Belief

RAISE_TO = re.compile(r"r([0-9]+)")
"""A raise in a line of actions."""


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
        from treeplex.holdem.protocols.program_policy import ProgramPolicyAgent

        made = ProgramPolicyAgent if settings.policies else ProgramAgent
        return made(
            game.public, command, unit=settings.unit, timeout=settings.timeout, start=settings.start, generator=generator
        )


@dataclass(eq=False)
class ProgramRecord:
    """A program's process and what it has answered; copies of an agent share it.

    Attributes:
        process: the running program; None before the first hand.
        failure: why it no longer runs; empty while it does.
        hands: number of hands begun.
        answers: number of actions received.
        rounded: number of raises rounded to a size that the game offers.
        replaced: number of illegal actions, each replaced by a legal one.
        first_replaced: description of the first of these.
    """

    process: ProgramProcess | None = None
    failure: str = ""
    hands: int = 0
    answers: int = 0
    rounded: int = 0
    replaced: int = 0
    first_replaced: str = ""


class ConnectedAgent(BaseAgent):
    """Base class for agents that play heads-up hold'em by a program.

    The program starts with the first hand and ends with :meth:`close`. As in the competition, its illegal actions are
    replaced by legal ones, see :meth:`action_of`.

    Attributes:
        command: how the program is started.
        unit: the program's chips per chip of the game.
        timeout: seconds per decision.
        start: seconds until the program's first line.
        record: the process and what it has answered.
        number: number of the current hand, from 0; -1 before the first.
    """

    draws = True

    def __init__(
        self,
        game: PublicGame | str | Game,
        command: Command,
        *,
        unit: int = 1,
        timeout: float = 60.0,
        start: float = 60.0,
        generator: np.random.Generator | None = None,
    ) -> None:
        """Create the agent; for its parameters see the attributes.

        Raises:
            SpecError: the protocol cannot represent the game.
        """
        super().__init__(game, generator)
        public = self.game
        if not isinstance(public, PublicHoldem) or public.players != 2 or public.rules.format != HOLDEM:
            raise SpecError(f"a program plays heads-up holdem with 52 cards, not {public.title}")
        self.rules = public.rules
        if len(self.rules.betting.blinds) != 2 or any(self.rules.antes):
            raise SpecError("the ACPC protocol has a small and a big blind, but no straddles or antes; remove them")
        self.command, self.unit, self.timeout, self.start = command, unit, timeout, start
        self.record, self.number = ProgramRecord(), -1
        self.about = f"program {command.path}"

    @property
    def seats(self) -> tuple[int, int]:
        """The seats of positions 0 (big blind) and 1 (small blind)."""
        big = self.rules.betting.seat(1)
        return big, 1 - big

    def close(self) -> None:
        """End the program."""
        record = self.record
        if record.process is not None:
            record.process.close()
            record.process = None
            record.failure = record.failure or f"program {self.command.path} was ended; create the agent again"

    def remarks(self) -> list[str]:
        """Remarks on rounded raises and on illegal actions, if there are any."""
        record, remarks = self.record, list[str]()
        of_all = f"of {record.answers:,} actions"
        if record.rounded:
            remarks.append(f"{self.about}: {record.rounded:,} {of_all} were raises rounded to a size of the game")
        if record.replaced:
            illegal = f"{record.replaced:,} {of_all} were illegal and were replaced"
            remarks.append(f"{self.about}: {illegal}; the first: {record.first_replaced}")
        return remarks

    def check_running(self) -> None:
        """Raise a :class:`StoppedAgentError` if the program has ended."""
        if self.record.failure:
            raise StoppedAgentError(self.record.failure)

    def running(self) -> ProgramProcess:
        """The process, once a hand has begun.

        Raises:
            GameError: no hand has begun.
            StoppedAgentError: the program has ended.
        """
        self.check_running()
        if self.record.process is None or self.number < 0:
            raise GameError("no hand has begun; call begin first")
        return self.record.process

    def begin_hand(self) -> None:
        """Begin the next hand of the program."""
        self.number, self.state = self.record.hands, self.game.first_state()
        self.record.hands += 1

    def action_of(self, state: State, word: str) -> tuple[int, str]:
        """The action for a program's answer, and that action as the program would write it.

        A fold without a bet to fold to, and anything unreadable, becomes a check or call. A raise becomes the nearest raise
        that the game offers, the smaller of two; without one it becomes a call. Where calling is not offered, a call becomes
        a fold.
        """
        labels, limit = self.game.options(state).labels, bool(self.rules.betting.limits)
        raises = [label for label in labels if label > CALL]
        number = RAISE.match(word)
        if word[:1] == "f" and FOLD in labels:
            return FOLD, "f"
        if word[:1] == "r" and raises and limit:
            return raises[0], "r"
        if number and raises:
            label = min(raises, key=lambda raised: abs(raised * self.unit - int(number[1])))
            return label, f"r{label * self.unit}"
        return (CALL, "c") if CALL in labels else (FOLD, "f")

    def counted(self, word: str) -> int:
        """The action for a program's answer at the current state, which is counted in :attr:`record`."""
        label, used = self.action_of(self.state, word)
        record, line = self.record, self.betting(hand_of(self.state).table.line)
        record.answers += 1
        if used == word.strip():
            return label
        if self.in_range(word):
            record.rounded += 1
        else:
            record.replaced += 1
            record.first_replaced = record.first_replaced or f"{word[:40]!r} after {line!r} became {used}"
        return label

    def in_range(self, word: str) -> bool:
        """Whether an answer is a raise between the smallest and the largest legal one."""
        number, legal = RAISE.match(word), self.rules.betting.legal_raises(hand_of(self.state).table)
        return bool(number and legal) and legal[0] * self.unit <= int(number[1]) <= legal[-1] * self.unit  # type: ignore[index]

    def hole(self, hand: int) -> tuple[int, ...]:
        """The cards of a hand."""
        return tuple(self.rules.format.hands[hand].tolist())

    def betting(self, line: str) -> str:
        """A line of actions in the program's chips."""
        if self.rules.betting.limits:
            return RAISE_TO.sub("r", line)
        return RAISE_TO.sub(lambda raised: f"r{int(raised[1]) * self.unit}", line)

    def shown(self, hand: PublicHand, position: int, own: tuple[int, ...], other: tuple[int, ...] = ()) -> MatchState:
        """The state that the program receives at a position."""
        hole = (own, other) if position == 0 else (other, own)
        return MatchState(position, self.number, self.betting(hand.table.line), hole, hand.board)

    def launch(self) -> ProgramProcess:
        """The running program, started if necessary.

        Raises:
            GameError: the program cannot be started, or speaks another protocol.
        """
        if self.record.process is not None:
            return self.record.process
        began = monotonic()
        process = ProgramProcess(self.command, seconds=self.start)
        try:
            line = process.lines.read(max(0.0, self.start - (monotonic() - began)))
        except LateError as error:
            process.close()
            raise GameError(
                f"program {self.command.path} sent nothing within {self.start:g} s; expected {VERSION}; allow more "
                "time with start="
            ) from error
        except GameError as error:
            how = process.ending()
            process.close()
            raise GameError(f"{error}{how}; expected {VERSION} as its first line") from error
        if not VERSIONS.match(line):
            process.close()
            raise GameError(
                f"program {self.command.path} began with {line[:80]!r} instead of {VERSION}; check that it uses the "
                "ACPC protocol"
            )
        self.record.process = process
        return process

    def fail(self, text: str, error: GameError) -> NoReturn:
        """End the program and raise a :class:`StoppedAgentError`."""
        self.record.failure = text
        if self.record.process is not None:
            self.record.process.close()
        raise StoppedAgentError(text) from error


@final
class ProgramAgent(ConnectedAgent):
    """Plays one seat by a program that receives the states of all hands in turn and answers with actions."""

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
