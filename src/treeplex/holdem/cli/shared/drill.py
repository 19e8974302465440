"""Drills at the terminal: decisions of solved spots, compared with their solutions."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from treeplex.errors import SpecError
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.solve.spot_game import SpotGame
from treeplex.holdem.spots.solved import is_solved_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.drill import DrillFilter, Question, deal, question_at, solved_spots
from treeplex.holdem.study.preflop_charts import is_shipped, read_solved, shipped_charts
from treeplex.holdem.tables.spot import NAMES
from treeplex.run.cli.shared.console import counted, print_table, say
from treeplex.search.cli.play import Seat, listed, typed_move, until_left
from treeplex.search.named_agents.registry import seconds_of

VERDICTS = {"best": "best", "mix": "in the mix", "inaccuracy": "inaccuracy", "mistake": "mistake"}
"""Names of the verdicts of :meth:`treeplex.holdem.study.drill.Question.verdict`."""
EVERY, RIGHT_ANSWERS = 3, 2
"""A mistake comes back at every third decision, until it has been answered correctly twice in a row."""
MOST_SHOWN = 30
"""Largest number of decisions listed at the end, the latest ones."""
MOST_LOADED = 4
"""Maximum number of a folder's solutions in memory."""
Policies = Callable[[np.random.Generator], HoldemPolicy]
"""Draws the solution for a decision."""


@dataclass(frozen=True)
class Answer:
    """An answered question: the policy it is from, the action's index, the seconds it took, and whether that was too long.

    Policies are large, so only mistakes, which come back, keep theirs.
    """

    policy: HoldemPolicy | None
    question: Question
    action: int
    seconds: float
    late: bool

    @property
    def key(self) -> tuple[int, str, tuple[int, int]]:
        """Identifies the question."""
        return id(self.policy), self.question.line, self.question.hands

    @property
    def verdict(self) -> str:
        """The verdict, see :meth:`treeplex.holdem.study.drill.Question.verdict`."""
        return self.question.verdict(self.action)

    @property
    def loss(self) -> float:
        """EV lost, as a share of the pot; NaN if it is unknown."""
        return self.question.loss(self.action) / float(self.question.node.pot)

    @property
    def frequency(self) -> float:
        """Frequency of the answer in the solution, relative to the most frequent action."""
        return float(self.question.mix[self.action] / self.question.mix.max())


class Drill:
    """A session of decisions at the terminal.

    Attributes:
        answers: all answers, in order.
        mistakes: answers to repeat, each with the number of correct answers that it still needs.
    """

    def __init__(
        self, policies: Policies, wanted: DrillFilter, start: str = "", seed: int | None = None, limit: float | None = None
    ) -> None:
        """Prepare a drill.

        Args:
            policies: draws the solution for a decision.
            wanted: which decisions to ask.
            start: the line to the node at which hands start.
            seed: random seed; None for a random one.
            limit: seconds per decision; an answer after them counts as the first action. None for no limit.
        """
        self.policies, self.wanted, self.start, self.limit = policies, wanted, start, limit
        self.rng = np.random.default_rng(seed)
        self.answers: list[Answer] = []
        self.mistakes: list[tuple[Answer, int]] = []

    def one(self, number: int) -> None:
        """Ask one question and show the answer."""
        again = number % EVERY == EVERY - 1 and self.mistakes
        if again:
            earlier = self.mistakes[0][0]
            assert earlier.policy is not None
            policy, question = earlier.policy, question_at(earlier.policy, earlier.question.line, earlier.question.hands)
        else:
            policy = self.policies(self.rng)
            question = deal(policy, self.wanted, self.rng, self.start)
        node, unit = question.node, question.unit
        board = f" on {node.board}" if node.board else ""
        say(f"{number + 1}: {question.position} with {question.hand}{board}{' (repeated mistake)' if again else ''}", bold=True)
        say(f"  {question.line or 'first decision'}; the pot is {node.pot:,.6g} {unit}")
        began = time.monotonic()
        action = chosen(node.actions)
        seconds = time.monotonic() - began
        late = self.limit is not None and seconds > self.limit
        if late:
            action = 0
            say(f"  time is up ({seconds:.1f} s): counts as {node.actions[0]}")
        answer = Answer(policy, question, action, seconds, late)
        self.record(answer)
        loss = question.loss(action)
        say(f"  {VERDICTS[answer.verdict]}, " + ("never played" if np.isnan(loss) else f"loses {loss:,.3g} {unit}"))
        print_table(["action", "mix", "EV", "EV loss"], rows_of(question, action), right=(1, 2, 3))

    def record(self, answer: Answer) -> None:
        """Add an answer and update the list of mistakes."""
        self.answers.append(replace(answer, policy=None))
        due = next((due for one, due in self.mistakes if one.key == answer.key), 0)
        self.mistakes = [(one, left) for one, left in self.mistakes if one.key != answer.key]
        if answer.verdict == "mistake":
            self.mistakes.append((answer, RIGHT_ANSWERS))
        elif due > 1:
            self.mistakes.append((answer, due - 1))

    def end(self) -> None:
        """Print the history and the score."""
        if not self.answers:
            say("no decision was answered")
            return
        say("")
        print_table(["decision", "line", "action", "verdict", "EV loss", "time"], self.history(), right=(4, 5))
        mean = {name: np.mean([getattr(each, name) for each in self.answers]) for name in ("frequency", "seconds")}
        losses = [each.loss for each in self.answers if not np.isnan(each.loss)]
        lost = f"EV loss {100 * np.mean(losses):.2f}% of the pot on average" if losses else "EV loss unknown"
        score = f"frequency score {100 * mean['frequency']:.0f}%, {mean['seconds']:.1f} s per decision"
        say(f"{counted(len(self.answers), 'decision')}: {lost}, {score}")

    def history(self) -> list[list[str]]:
        """Table rows of the latest answers."""
        rows = []
        for each in self.answers[-MOST_SHOWN:]:
            asked = each.question
            where = f"{asked.position} {asked.hand}" + (f" on {asked.node.board}" if asked.node.board else "")
            loss, verdict = value_text(asked.loss(each.action)), VERDICTS[each.verdict] + (", late" if each.late else "")
            rows.append([where, asked.line or "start", asked.node.actions[each.action], verdict, loss, f"{each.seconds:.1f} s"])
        return rows


def value_text(value: float) -> str:
    """A value in a table; a dash if it is unknown."""
    return "-" if np.isnan(value) else f"{value:.2f}"


def rows_of(question: Question, action: int) -> list[list[str]]:
    """The rows of the table after an answer."""
    return [
        [
            f"{name} (you)" if number == action else name,
            f"{100 * question.mix[number]:.1f}%",
            value_text(question.ev[number]),
            value_text(question.loss(number)),
        ]
        for number, name in enumerate(question.node.actions)
    ]


def chosen(names: Sequence[str]) -> int:
    """Read an action from the person: its number or its name."""
    say("  " + "   ".join(listed(list(names))))
    while True:
        text = typed_move().lower()
        near = [number for number, name in enumerate(names) if text and name.lower().startswith(text)]
        if text.isdecimal() and 1 <= int(text) <= len(names):
            return int(text) - 1
        if len(near) == 1:
            return near[0]
        say("  type a number or a name, or quit")


def policies_of(source: str, wanted: DrillFilter) -> Policies:
    """The solutions to drill: a shipped preflop chart, a solved spot, or a folder of solved spots.

    From a folder, a random spot with the wanted texture is drawn for each decision.

    Raises:
        SpecError: the source is none of these, or no spot of the folder has the wanted texture.
        FileError: a file cannot be read.
    """
    if is_shipped(source):
        solution = read_solved(source)
        assert solution is not None
        return lambda rng: solution.policy
    if is_solved_spot(source):
        policy = load_solution(source, resumable=False).policy
        return lambda rng: policy
    files = solved_spots(Path(source)) if Path(source).is_dir() else []
    if not files:
        charts = ", ".join(shipped_charts())
        raise SpecError(f"{source} is not a solved spot; name a .spot file, a folder of them, or a preflop chart ({charts})")
    load = lru_cache(MOST_LOADED)(lambda file: load_solution(file, resumable=False).policy)

    def draw(rng: np.random.Generator) -> HoldemPolicy:
        for index in rng.permutation(len(files)):
            policy: HoldemPolicy = load(files[index])
            board = policy.spot.board
            if not board or len(board) > 3 or wanted.fits_board(board):
                return policy
        raise SpecError(f"no spot of {source} has a board of this texture; choose another")

    return draw


def run_drill(
    policies: Policies,
    wanted: DrillFilter,
    *,
    start: str = "",
    games: int | None = None,
    seed: int | None = None,
    limit: str | None = None,
) -> None:
    """Ask decisions until the person quits; see :class:`Drill`.

    Raises:
        SpecError: an unknown name in the filters, or a time that cannot be read.
    """
    drill = Drill(policies, wanted, start, seed, None if limit is None else seconds_of(limit))
    until_left(drill.one, games, drill.end)


def drill_spot(spot: Spot, wanted: Seat) -> None:
    """Ask decisions of a spot until the person quits; the opponent is a solution of the spot.

    Raises:
        SpecError: the opponent is not a solved spot, or an unknown name in the filters.
        PolicyError: the opponent is a solution of another spot.
    """
    if wanted.against is None or not is_solved_spot(wanted.against):
        raise SpecError("--drill compares answers with a solution; name its file, --against solved.spot")
    policy = SpotGame(spot).policy(wanted.against)
    asked = DrillFilter.of(wanted.more["only"] or "", player_of(wanted.seat))
    start = wanted.more["line"] or ""
    run_drill(lambda rng: policy, asked, start=start, games=wanted.games, seed=wanted.seed, limit=wanted.think)


def player_of(seat: str | None) -> int | None:
    """The player of a position: ``oop`` or ``bb``, ``ip`` or ``btn``.

    Raises:
        SpecError: another name.
    """
    if seat is None:
        return None
    names = {name.lower(): player for player, name in enumerate(NAMES)} | {"bb": 0, "btn": 1, "sb": 1}
    if seat.lower() not in names:
        raise SpecError(f"--seat is {seat!r}; write oop or ip, preflop bb or btn")
    return names[seat.lower()]
