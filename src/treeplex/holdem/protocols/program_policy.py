"""Programs that answer with probabilities: their policy is known for every hand, as AIVAT and local best response require."""

from collections.abc import Sequence
from time import monotonic

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.games.public import State
from treeplex.holdem.protocols.lines import LateError
from treeplex.holdem.protocols.process import ProgramProcess
from treeplex.holdem.protocols.program import ProgramAgent
from treeplex.holdem.whole.public import hand_of
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.subgames.beliefs import Belief

AT_ONCE = 64
"""Number of questions sent before their answers are read; more could fill both directions of the connection."""
TOLERANCE = 1e-3
"""Maximum difference from 1 of the sum of an answer's probabilities."""


class ProgramPolicyAgent(ProgramAgent):
    """Plays one seat or both by a program that answers every state with probabilities, such as ``f 0.1,c 0.6,r300 0.3``.

    At each decision the program is asked about all hands. It must therefore not rely on the states that it received before,
    and must give the same answer again within a hand (that is, for the same hand number).
    """

    has_policy = True

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.holdem.protocols.program.ProgramAgent.begin`."""
        self.check_running()
        self.sit_at_first(seat, generator, at)
        self.launch()
        self.hands += 1
        self.state = self.game.first_state()
        self._asked: tuple[State, Floats] | None = None

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        self.state = self.game.after(self.state, event)

    def act(self, hand: int) -> int:
        """See :meth:`treeplex.search.agents.agent.Agent.act`."""
        return BaseAgent.act(self, hand)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`.

        Raises:
            StoppedAgentError: the program has ended, answered too late, or its probabilities do not sum to 1.
        """
        self.check_acting()
        if self._asked is None or self._asked[0] != self.state:
            self._asked = self.state, self._policy()
        return self._asked[1]

    def finish(self, hands: Sequence[int]) -> None:
        """Do nothing; the program receives only the states that it is asked about."""

    def fork(self) -> "ProgramPolicyAgent":
        """See :meth:`treeplex.search.agents.agent.BaseAgent.fork`; copies share the program."""
        return BaseAgent.fork(self)

    def _policy(self) -> Floats:
        self.check_running()
        process = self.launch()
        options, state = self.game.options(self.state), hand_of(self.state)
        possible = self.game.possible(self.state)[options.player] > 0
        policy = np.full((len(options.labels), len(possible)), 1.0 / len(options.labels))
        position = self.seats.index(options.player)
        began, rows, hands = monotonic(), dict[str, int](), np.flatnonzero(possible).tolist()
        try:
            for first in range(0, len(hands), AT_ONCE):
                asked = {hand: str(self.shown(state, position, self.hole(hand))) for hand in hands[first : first + AT_ONCE]}
                process.lines.send("\r\n".join(asked.values()), self.timeout)
                for hand, question in asked.items():
                    policy[:, hand] = self._row(self._answer(process, question, began), rows, len(policy))
        except LateError as error:
            late = f"program {self.command.path} did not answer for all hands within {self.timeout:g} s"
            self.fail(f"{late}; allow more with timeout=, or check its output with log=", error)
        except GameError as error:
            self.fail(f"{error} in hand {self.hands - 1}{process.ending()}; check its output with log=", error)
        self.answers += 1
        return policy

    def _answer(self, process: ProgramProcess, question: str, began: float) -> str:
        """The answer to a state; other lines are ignored."""
        while True:
            line = process.lines.read(self.timeout - (monotonic() - began))
            if line.startswith(f"{question}:"):
                return line[len(question) + 1 :]

    def _row(self, answer: str, rows: dict[str, int], actions: int) -> Floats:
        """The probability of each action in an answer, float64 [A].

        Args:
            answer: such as ``f 0.1,c 0.6,r300 0.3``.
            rows: index of the action of every word read at this state, to which new words are added.
            actions: number of actions, A.

        Raises:
            GameError: the answer cannot be read.
        """
        row = np.zeros(actions)
        for part in answer.split(","):
            word, _, number = part.strip().partition(" ")
            try:
                share = float(number)
            except ValueError:
                share = -1.0
            if not 0.0 <= share <= 1.0 + TOLERANCE:
                raise GameError(
                    f"program {self.command.path} answered {answer[:80]!r}; expected probabilities such as 'c 0.75,r300 0.25'"
                )
            if share and word not in rows:
                label, used = self.action_of(self.state, word)
                self.count(word, used)
                rows[word] = self.game.options(self.state).labels.index(label)
            if share:
                row[rows[word]] += share
        if abs(row.sum() - 1.0) > TOLERANCE:
            raise GameError(f"program {self.command.path} answered {answer[:80]!r}, whose probabilities sum to {row.sum():.4g}")
        return np.asarray(row / row.sum())
