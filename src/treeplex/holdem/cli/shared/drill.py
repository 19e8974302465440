"""Drills at the terminal: decisions of a solved spot, compared with its solution."""

import sys
from collections.abc import Sequence

import numpy as np

from treeplex.errors import SpecError
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.solve.spot_game import SpotGame
from treeplex.holdem.spots.solved import is_solved_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.drill import DrillFilter, Question, deal
from treeplex.holdem.tables.spot import NAMES
from treeplex.run.cli.shared.console import counted, print_table, say
from treeplex.search.cli.play import QUIT, PlayerLeft, Seat, listed, until_left

VERDICTS = {"best": "best", "mix": "in the mix", "inaccuracy": "inaccuracy", "mistake": "mistake"}
"""Names of the verdicts of :meth:`treeplex.holdem.study.drill.Question.verdict`."""


class Drill:
    """A session of decisions at the terminal.

    Attributes:
        losses: EV lost by each answer, as shares of the pot.
        frequencies: frequency of each answer in the solution, relative to the most frequent action.
    """

    def __init__(self, policy: HoldemPolicy, wanted: DrillFilter, start: str, seed: int | None) -> None:
        self.policy, self.wanted, self.start = policy, wanted, start
        self.rng = np.random.default_rng(seed)
        self.losses: list[float] = []
        self.frequencies: list[float] = []

    def one(self, number: int) -> None:
        """Ask one question and show the answer."""
        question = deal(self.policy, self.wanted, self.rng, self.start)
        node, unit = question.node, self.policy.spot.unit
        say(f"{number + 1}: {NAMES[question.player]} with {question.hand} on {node.board}", bold=True)
        say(f"  {question.line or 'first decision'}; the pot is {node.pot:,.6g} {unit}")
        action = chosen(node.actions)
        self.losses.append(question.loss(action) / float(node.pot))
        self.frequencies.append(float(question.mix[action] / question.mix.max()))
        say(f"  {VERDICTS[question.verdict(action)]}, loses {question.loss(action):,.3g} {unit}")
        print_table(["action", "mix", "EV", "EV loss"], rows_of(question, action), right=(1, 2, 3))

    def end(self) -> None:
        """Print the score."""
        if not self.losses:
            say("no decision was answered")
            return
        say(
            f"{counted(len(self.losses), 'decision')}: EV loss {100 * np.mean(self.losses):.2f}% of the pot on average, "
            f"frequency score {100 * np.mean(self.frequencies):.0f}%"
        )


def rows_of(question: Question, action: int) -> list[list[str]]:
    """The rows of the table after an answer."""
    return [
        [
            f"{name} (you)" if number == action else name,
            f"{100 * question.mix[number]:.1f}%",
            f"{question.ev[number]:.2f}",
            f"{question.loss(number):.2f}",
        ]
        for number, name in enumerate(question.node.actions)
    ]


def chosen(names: Sequence[str]) -> int:
    """Read an action from the person: its number or its name."""
    say("  " + "   ".join(listed(list(names))))
    while True:
        say("  your move: ", nl=False)
        line = sys.stdin.readline()
        text = line.strip().lower()
        if not line or text in QUIT:
            raise PlayerLeft
        near = [number for number, name in enumerate(names) if text and name.lower().startswith(text)]
        if text.isdecimal() and 1 <= int(text) <= len(names):
            return int(text) - 1
        if len(near) == 1:
            return near[0]
        say("  type a number or a name, or quit")


def drill_spot(spot: Spot, wanted: Seat) -> None:
    """Ask decisions of a spot until the person quits; the opponent is a solution of the spot.

    Raises:
        SpecError: the opponent is not a solved spot, or an unknown name in the filters.
        PolicyError: the opponent is a solution of another spot.
    """
    if wanted.against is None or not is_solved_spot(wanted.against):
        raise SpecError("--drill compares answers with a solution; name its file, --against solved.spot")
    groups = tuple(name.strip() for name in (wanted.more["only"] or "").split(",") if name.strip())
    player = None if wanted.seat is None else [name.lower() for name in NAMES].index(wanted.seat)
    policy = SpotGame(spot).policy(wanted.against)
    drill = Drill(policy, DrillFilter(player, hands=groups), wanted.more["line"] or "", wanted.seed)
    until_left(drill.one, wanted.games, drill.end)
