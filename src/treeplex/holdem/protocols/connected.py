"""Base class of agents that play heads-up hold'em through an external program; this library is the dealer."""

import re
from dataclasses import dataclass
from time import monotonic
from typing import NoReturn

import numpy as np

from treeplex.errors import GameError, SpecError, StoppedAgentError
from treeplex.games.base import Game
from treeplex.games.public import PublicGame, State
from treeplex.holdem.betting.rules import CALL, FOLD
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.protocols.acpc import RAISE, VERSION, VERSIONS, MatchState
from treeplex.holdem.protocols.lines import LateError
from treeplex.holdem.protocols.process import Command, ProgramProcess
from treeplex.holdem.whole.public import PublicHand, PublicHoldem, hand_of
from treeplex.search.agents.agent import BaseAgent

RAISE_TO = re.compile(r"r([0-9]+)")
"""A raise in a line of actions."""


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
    """Base class for agents that play heads-up hold'em through an external program.

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
