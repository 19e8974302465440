"""How many iterations Modicum does with 52 cards within its time to think, street by street, and whether it keeps it."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.whole import FOLDER, GAME
from treeplex.evaluate.match.agents import Seat
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.poker.whole.public import PublicHoldem, hand_of
from treeplex.games.public import pick
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.registry import agent

TABLE, OPPONENT = "holdem(stack=100)", "rules(style=caller)"
TIMES, HANDS = (1.0, 2.0), 16
NAMES = ("before the flop", "flop", "turn", "river")


class Decided(NamedTuple):
    """A decision: its street, seconds since the one before, those the opponent took left out, iterations, and boards."""

    street: int
    seconds: float
    iterations: int
    boards: int


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
            began = perf_counter()
            if options.player == CHANCE:
                label = options.labels[pick(random, game.chances(state, held))]
            else:
                label = seats[options.player].act(held[options.player])
            if options.player >= 0 and seats[options.player] is own:
                thought, spent = own.thought, spent + perf_counter() - began
                assert thought is not None
                if hand > 1:
                    found.append(Decided(hand_of(state).table.street, spent, thought.iterations, thought.boards))
                spent = 0.0
            other.see(label)
            began = perf_counter()
            own.see(label)
            spent, state = spent + perf_counter() - began, game.after(state, label)
    return found


@study(title="Modicum with 52 cards, in time", place=9, minutes=3)
def reproduce() -> Result:
    rows, numbers, late = [], {}, 0.0
    for think in TIMES:
        found = decisions(think, HANDS)
        for street, name in enumerate(NAMES):
            own = [each for each in found if each.street == street]
            solved = [each for each in own if each.iterations]
            late = max(late, *(each.seconds / think for each in own))
            middle = [np.median([each.seconds for each in own]), max(each.seconds for each in own)]
            counts = [f"{np.median([each.iterations for each in solved]):.0f}", f"{min(e.iterations for e in solved)}"]
            boards = f"{np.median([each.boards for each in solved]):.0f}" if solved and solved[0].boards else ""
            row = [
                f"{think:g}",
                name,
                str(len(own)),
                *(f"{each:.2f}" for each in middle),
                *(counts if solved else ["", ""]),
                boards,
            ]
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
            f"{HANDS} hands of `{TABLE}` against `{OPPONENT}`, by `modicum` with a blueprint of `{GAME}` and one thread; "
            "medians. Seconds are those of the wall clock since the decision before, cards and bets seen included; the machine "
            "did other work meanwhile. Two hands before, in which kernels are loaded, do not count.",
        ],
        numbers=numbers,
    )
