"""Iterations, time and memory of re-solving agents with 52 cards and a time limit, by street: Modicum, the agent that
re-solves turns and rivers, and ``resolver``.

Each time limit is measured in a separate process, and so is the training of the blueprint, because a process's peak memory
never falls.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import NamedTuple, ParamSpec, TypeVar
from unittest.mock import patch

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.whole import GAME
from treeplex import agent, load, train
from treeplex.games import CHANCE, TERMINAL
from treeplex.games.public import pick
from treeplex.holdem.whole.public import PublicHoldem, hand_of
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.search import BaseAgent

FOLDER, BOARDS = Path("runs/in-time"), 3_000
"""A rough blueprint; decisions take at least as long as with a good one, because fewer hands are excluded."""
TABLE, OPPONENT = "holdem(stack=100)", "rules(style=caller)"
AGENTS = {
    "modicum": f"modicum(blueprint={FOLDER},think=THINK)",
    "endgames": f"endgames(blueprint={FOLDER},think=THINK,threads=1)",
    "resolver": "resolver(think=THINK,threads=1)",
}
"""One thread each, since CPU time is that of all threads."""
TIMES, HANDS = (0.1, 0.25, 1.0, 2.0), 16
CLOCKS = (
    *("search.agents.solving", "holdem.search.leaves.continuations", "holdem.search.leaves.street_end_values"),
    *("holdem.search.leaves.walk", "holdem.search.whole"),
)
"""Modules that read the clock during search."""
NAMES = ("before the flop", "flop", "turn", "river")


P, T = ParamSpec("P"), TypeVar("T")


class TimedDecision(NamedTuple):
    """A decision: its street, seconds since the one before, those the opponent took left out, iterations, and boards."""

    street: int
    seconds: float
    iterations: int
    boards: int


class TimedPlay(NamedTuple):
    """What hands showed: the decisions, and resident memory in bytes at most, when the agent had sat down and at the end."""

    decisions: list[TimedDecision]
    seated: int
    peak: int


def in_own_process(function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Call a function of this module in a new process; returns its result."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *given, **named).result()


def train_blueprint(boards: int = BOARDS) -> None:
    """Train the agent's blueprint."""
    train(GAME, "blueprint", settings=BlueprintTraining(boards=boards), out=FOLDER)


def peak_memory() -> int:
    """Peak resident memory of this process, in bytes."""
    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def by_processor(name: str, think: float, hands: int) -> TimedPlay:
    """Decisions of an agent whose clock is CPU time, as on an idle machine."""
    with ExitStack() as stack:
        for module in CLOCKS:
            stack.enter_context(patch(f"treeplex.{module}.perf_counter", process_time))
        return decisions(name, think, hands)


def decisions(name: str, think: float, hands: int) -> TimedPlay:
    """All decisions of an agent in some hands against always-call, without the first two hands, in which kernels load."""
    played = load(TABLE)
    texts = (AGENTS[name].replace("THINK", f"{think}"), OPPONENT)
    own, other = (agent(text, played, seed=1) for text in texts)
    game, random, found, seated = played.public, np.random.default_rng(1), list[TimedDecision](), peak_memory()
    assert isinstance(own, BaseAgent)
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
                    found.append(TimedDecision(hand_of(state).table.street, spent, thought.iterations, thought.boards))
                spent = 0.0
            other.see(label)
            began = process_time()
            own.see(label)
            spent, state = spent + process_time() - began, game.after(state, label)
    return TimedPlay(found, seated, peak_memory())


@study(title="Re-solving agents with 52 cards: time limits and memory", place=9, minutes=10)
def reproduce() -> Result:
    if not FOLDER.exists():
        in_own_process(train_blueprint)
    rows, memory, numbers = list[list[str]](), list[list[str]](), dict[str, list[float]]()
    late: dict[str, list[float]] = {name: [] for name in AGENTS}
    for name in AGENTS:
        for think in TIMES:
            played = in_own_process(by_processor, name, think, HANDS)
            late[name].append(max(each.seconds for each in played.decisions) / think)
            memory.append([name, f"{think:g}", f"{played.seated / 1e6:.0f}", f"{played.peak / 1e6:.0f}"])
            numbers[f"{name}, {think:g} s, memory"] = [float(played.seated), float(played.peak)]
            for street, title in enumerate(NAMES):
                own = [each for each in played.decisions if each.street == street]
                if not own:
                    continue
                rows.append([name, f"{think:g}", title, str(len(own)), *row_of(own)])
                seconds = [each.seconds for each in own]
                numbers[f"{name}, {think:g} s, {title}"] = [float(np.median(seconds)), max(seconds)]
                print(rows[-1], flush=True)
            print(memory[-1], flush=True)
    return Result(
        source="Brown, Sandholm and Amos 2018",
        findings=[
            f"The longest decisions of `{name}` take "
            + ", ".join(f"{times:.2f} times {think:g} s" for times, think in zip(late[name], TIMES, strict=True))
            + f"; it takes at most {max(float(row[-1]) for row in memory if row[0] == name):,.0f} MB of memory."
            for name in AGENTS
        ],
        tables=[
            Table(
                "Decisions by time limit in seconds; cached solves are excluded from iterations and boards",
                ["agent", "think", "street", "decisions", "seconds", "most", "iterations", "least", "boards behind a flop"],
                rows,
            ),
            Table(
                "Peak resident memory (MB): after seating, with blueprint, buckets and network loaded, and after all hands",
                ["agent", "think", "seated", "played"],
                memory,
            ),
        ],
        notes=[
            f"{HANDS} hands of `{TABLE}` against `{OPPONENT}`, with a rough blueprint of `{GAME}` and one thread; "
            "medians. Seconds are measured from the previous decision and include observing cards and bets. All times, "
            "including the agents' clocks, are CPU time, because the machine was busy with other jobs. Two warm-up hands "
            "that load kernels are not included. Each time limit runs in a separate process, whose memory includes Python "
            "and its packages.",
        ],
        numbers=numbers,
    )


def row_of(decided: list[TimedDecision]) -> list[str]:
    """A row: median and longest seconds of decisions; for solved ones iterations, the fewest iterations, and boards."""
    solved = [each for each in decided if each.iterations]
    seconds = [f"{np.median([each.seconds for each in decided]):.2f}", f"{max(each.seconds for each in decided):.2f}"]
    if not solved:
        return [*seconds, "", "", ""]
    iterations, boards = [each.iterations for each in solved], [each.boards for each in solved]
    return [
        *seconds,
        f"{np.median(iterations):.0f}",
        str(min(iterations)),
        f"{np.median(boards):.0f}" if any(boards) else "",
    ]
