"""How many iterations Modicum does with 52 cards within its time to think, street by street, and whether it keeps it."""

from contextlib import ExitStack
from pathlib import Path
from time import process_time
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.whole import GAME
from treeplex.evaluate.match.agents import Seat
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.poker.whole.public import PublicHoldem, hand_of
from treeplex.games.public import pick
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.registry import agent
from treeplex.runs.blueprint.settings import BlueprintTraining
from treeplex.runs.train.train import train

FOLDER, BOARDS = Path("runs/in-time"), 3_000
"""A rough blueprint: decisions take as long as with a good one, or longer, for fewer hands are left out."""
TABLE, OPPONENT = "holdem(stack=100)", "rules(style=caller)"
TIMES, HANDS = (1.0, 2.0), 16
CLOCKS = ("agents.solving", "holdem.continuations", "holdem.whole", "resolving.payoffs")
"""Modules of the search that look at the clock."""
NAMES = ("before the flop", "flop", "turn", "river")


class Decided(NamedTuple):
    """A decision: its street, seconds since the one before, those the opponent took left out, iterations, and boards."""

    street: int
    seconds: float
    iterations: int
    boards: int


def by_processor(think: float, hands: int) -> list[Decided]:
    """The same while the agent's clock is the processor's: what a machine does that has nothing else to do."""
    with ExitStack() as stack:
        for name in CLOCKS:
            stack.enter_context(patch(f"treeplex.search.{name}.perf_counter", process_time))
        return decisions(think, hands)


def decisions(think: float, hands: int) -> list[Decided]:
    """All decisions of Modicum in some hands against who always calls; those of the first two, when kernels load, left out."""
    played = PlayedGame.of(TABLE)
    own, other = (agent(text, played, seed=1) for text in (f"modicum(blueprint={FOLDER},think={think})", OPPONENT))
    game, random, found = played.public, np.random.default_rng(1), list[Decided]()
    assert isinstance(own, Seat)
    assert isinstance(game, PublicHoldem)
    for hand in range(hands + 2):
        seats = [own, other][:: 1 - 2 * (hand % 2)]
        for seat, each in enumerate(seats):
            each.begin(seat, np.random.default_rng((hand, seat)))
        state, spent = game.first_state(), 0.0
        held = game.draw(state, game.first_ranges(), random)
        while (options := game.options(state)).player != TERMINAL:
            began = process_time()
            if options.player == CHANCE:
                label = options.labels[pick(random, game.chances(state, held))]
            else:
                label = seats[options.player].act(held[options.player])
            if options.player >= 0 and seats[options.player] is own:
                thought, spent = own.thought, spent + process_time() - began
                assert thought is not None
                if hand > 1:
                    found.append(Decided(hand_of(state).table.street, spent, thought.iterations, thought.boards))
                spent = 0.0
            other.see(label)
            began = process_time()
            own.see(label)
            spent, state = spent + process_time() - began, game.after(state, label)
    return found


@study(title="Modicum with 52 cards, in time", place=9, minutes=3)
def reproduce() -> Result:
    if not FOLDER.exists():
        train(GAME, "blueprint", settings=BlueprintTraining(boards=BOARDS), out=FOLDER)
    rows, numbers, late = [], {}, 0.0
    for think in TIMES:
        found = by_processor(think, HANDS)
        for street, name in enumerate(NAMES):
            own = [each for each in found if each.street == street]
            solved = [each for each in own if each.iterations]
            late = max(late, *(each.seconds / think for each in own))
            middle = [np.median([each.seconds for each in own]), max(each.seconds for each in own)]
            counts = [""] * 3
            if solved:
                iterations, boards = ([each[k] for each in solved] for k in (2, 3))
                counts = [
                    f"{np.median(iterations):.0f}",
                    str(min(iterations)),
                    f"{np.median(boards):.0f}" if any(boards) else "",
                ]
            row = [f"{think:g}", name, str(len(own)), *(f"{each:.2f}" for each in middle), *counts]
            rows.append(row)
            numbers[f"{think:g} s, {name}"] = [float(each) for each in middle]
            print(row, flush=True)
    return Result(
        source="Brown, Sandholm and Amos 2018",
        findings=[f"The longest decision takes {late:.2f} times the time to think."],
        tables=[
            Table(
                "Decisions by the time to think in seconds, remembered solves left out of iterations and boards",
                ["think", "street", "decisions", "seconds", "most", "iterations", "least", "boards behind a flop"],
                rows,
            )
        ],
        notes=[
            f"{HANDS} hands of `{TABLE}` against `{OPPONENT}`, by `modicum` with a rough blueprint of `{GAME}` and one thread; "
            "medians. Seconds are those since the decision before, cards and bets seen included. All clocks, those of the "
            "agent as well, count the processor's time, for the machine did other work meanwhile. Two hands before, in which "
            "kernels are loaded, do not count.",
        ],
        numbers=numbers,
    )
