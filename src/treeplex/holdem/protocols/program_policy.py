"""Programs that answer with probabilities: their policy is known for every hand, as AIVAT and local best response require."""

from collections.abc import Callable
from time import monotonic
from typing import final

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import GameError
from treeplex.games.public import State, pick
from treeplex.holdem.protocols.acpc import MatchState
from treeplex.holdem.protocols.connected import ConnectedAgent
from treeplex.holdem.protocols.lines import LateError
from treeplex.holdem.whole.public import hand_of
from treeplex.search.subgames.beliefs import Belief

AT_ONCE = 64
"""Number of states sent before their answers are read; more could fill both directions of the connection."""
TOLERANCE = 1e-3
"""Maximum difference from 1 of the sum of an answer's probabilities."""


@final
class ProgramPolicyAgent(ConnectedAgent):
    """Plays one seat or both through a program that answers every state with probabilities, such as ``f 0.1,c 0.6,r300 0.3``.

    At each decision the program is asked about all hands. It must therefore not rely on the states that it received before,
    and must give the same answer to the same state within a hand.
    """

    _policies: dict[State, Floats]

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`; starts the program for the first hand.

        Raises:
            GameError: the program cannot be started, or speaks another protocol.
            StoppedAgentError: the program has ended.
        """
        self.check_running()
        self.sit_at_first(seat, generator, at)
        self.launch()
        self.begin_hand()
        self._policies = {}

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`.

        Raises:
            GameError: no hand has begun.
            StoppedAgentError: the program has ended, answered too late, or not with probabilities that sum to 1.
        """
        self.check_acting()
        self.running()
        if self.state not in self._policies:
            possible = self.game.possible(self.state)[self.game.options(self.state).player]
            self._policies[self.state] = self._answers(np.flatnonzero(possible))
        return self._policies[self.state]

    def act(self, hand: int) -> int:
        """See :meth:`treeplex.search.agents.agent.Agent.act`; asks about this hand only, unless the policy is known.

        Raises:
            GameError: no hand has begun.
            StoppedAgentError: as in :meth:`policy`.
        """
        self.check_acting()
        self.running()
        policy = self._policies.get(self.state)
        if policy is None:
            policy = self._answers(np.array([hand]))
        return self.game.options(self.state).labels[pick(self.generator, policy[:, hand])]

    def _answers(self, hands: Ints) -> Floats:
        """The program's probabilities for some hands, float64 [A, H]; uniform for the others."""
        process, options, state = self.running(), self.game.options(self.state), hand_of(self.state)
        size = len(self.game.possible(self.state)[options.player])
        policy = np.full((len(options.labels), size), 1.0 / len(options.labels))
        position, ends, rows = self.seats.index(options.player), monotonic() + self.timeout, dict[str, int]()
        ignored = list[str]()
        try:
            for first in range(0, len(hands), AT_ONCE):
                asked = {int(hand): self.shown(state, position, self.hole(hand)) for hand in hands[first : first + AT_ONCE]}
                process.lines.send("\r\n".join(map(str, asked.values())), max(0.0, ends - monotonic()))
                for hand, question in asked.items():
                    answer = answer_for(question, lambda: process.lines.read(max(0.0, ends - monotonic())), ignored)
                    policy[:, hand] = self._row(answer, rows, len(policy))
        except LateError as error:
            late = f"program {self.command.path} did not answer for all hands within {self.timeout:g} s in hand {self.number}"
            first_ignored = f"; it {ignored[0]}" if ignored else ""
            self.fail(f"{late}{first_ignored}; allow more with timeout=, or check its output with log=", error)
        except GameError as error:
            self.fail(f"{error} in hand {self.number}{process.ending()}; check its output with log=", error)
        return policy

    def _row(self, answer: str, rows: dict[str, int], actions: int) -> Floats:
        """The probability of each action in an answer, float64 [A].

        Args:
            answer: such as ``f 0.1,c 0.6,r300 0.3``.
            rows: index of the action of every word read at this state, to which new words are added.
            actions: number of actions, A.

        Raises:
            GameError: it is not a list of actions with probabilities that sum to 1.
        """
        row = np.zeros(actions)
        for part in answer.split(","):
            word, _, number = part.strip().partition(" ")
            share = probability(number)
            if share is None:
                wrong = f"program {self.command.path} answered {answer[:80]!r}"
                raise GameError(f"{wrong} instead of probabilities such as 'c 0.75,r300 0.25'")
            if share and word not in rows:
                rows[word] = self.game.options(self.state).labels.index(self.counted(word))
            if share:
                row[rows[word]] += share
        if abs(row.sum() - 1.0) > TOLERANCE:
            raise GameError(f"program {self.command.path} answered {answer[:80]!r}, whose probabilities sum to {row.sum():.4g}")
        return np.asarray(row / row.sum())


def probability(text: str) -> float | None:
    """The probability in a text; None if it is not one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0.0 <= number <= 1.0 + TOLERANCE else None


def answer_for(question: MatchState, read: Callable[[], str], ignored: list[str]) -> str:
    """The answer to a state; lines about other states are ignored and added to ``ignored``.

    Args:
        question: the state.
        read: returns the program's next line.
        ignored: descriptions of ignored lines.
    """
    start = f"{question}:"
    while True:
        line = read()
        if line.startswith(start):
            return line[len(start) :]
        said, _, word = line.rpartition(":")
        try:
            answered = MatchState.read(said)
        except GameError:
            ignored.append(f"sent {line[:80]!r} instead of an answer to {str(question)!r}")
            continue
        if compared(answered) == compared(question):
            return word
        ignored.append(f"answered {said[:80]!r} instead of {str(question)!r}")


def compared(state: MatchState) -> tuple[object, ...]:
    """What identifies a state, in whatever order it names cards."""
    return state.position, state.number, state.betting, *(frozenset(cards) for cards in (*state.hole, state.board))
