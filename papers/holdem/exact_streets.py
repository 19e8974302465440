"""Precision of turns and rivers that an agent re-solves, by time: loss to a best response on the same tree, in turns and
rivers of a blueprint's self-play.

For comparison, a search in double precision that goes street by street, on a tree with all-in at every node.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.whole import FOLDER, GAME
from treeplex import agent, load
from treeplex.games import CHANCE
from treeplex.holdem import BetPlan, Spot
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.search.street_solving import StreetSolving
from treeplex.holdem.search.subgames.endgame_search import EndgameSearch
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_spot
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.search import METHODS, NoLeaf, SubgameSearch

SITUATIONS = 10
BIG_BLIND = 2.0
TIMES = {2: (0.25, 0.5, 1.0, 2.0), 3: (0.01, 0.02, 0.04)}
"""Time limits in CPU seconds on one core, for turns and rivers."""
SHORT = (0.1, 0.2)
"""Time limits in CPU seconds on one core, for the smallest tree of a turn."""
TWO = (0.5, 1.0)
"""Time limits in wall-clock seconds, for turns on two threads."""
EARLIER, EARLIER_TIMES = BetPlan.same("75%,a", "a", min_bet=BIG_BLIND).override(2, bets="66%,a"), (1.0, 2.0)
NAMES = {2: "turn", 3: "river"}


def situations(street: int) -> list[Spot]:
    """Spots at the start of a street in self-play of the blueprint, with the ranges reached there."""
    return spots_of_play(FOLDER, StreetSolving(start=street), SITUATIONS, np.random.default_rng(street))


def spots_of_play(blueprint: Path, solving: StreetSolving, count: int, random: np.random.Generator) -> list[Spot]:
    """The given number of spots at the start of the first re-solved street, in self-play of a blueprint."""
    game = load(GAME)
    guide, found = agent(str(blueprint), game, seed=0), list[Spot]()
    while len(found) < count:
        player = WholeHoldemAgent(game.public, guide, solving, random)
        held = game.public.draw(player.state, [np.ones(1326)] * 2, random)
        while (options := game.public.options(player.state)).player >= CHANCE and len(options.labels):
            if options.player == CHANCE:
                gone = {int(card) for hand in held for card in game.public.hands[hand]}
                player.see(int(random.choice([card for card in options.labels if card not in gone])))
            else:
                player.see(player.act(held[options.player]))
            if player.solver is not None:
                found.append(player.solver.game.spot)
                break
    return found


def measured(spot: Spot, times: Sequence[float], *, whole: bool = True, threads: int = 1) -> list[tuple[int, float]]:
    """Iterations after each time limit, and the loss of the average policy, in % of the pot.

    Limits are CPU time with one thread, and wall-clock time with more.
    """
    clock = process_time if threads == 1 else perf_counter
    began = clock()
    subgame = replace(cut_spot(spot, len(spot.streets)), threads=threads)
    assert isinstance(subgame, HoldemSubgame)
    method, found = METHODS[StreetSolving().method], []
    search = EndgameSearch(subgame, method) if whole else SubgameSearch(subgame, method, NoLeaf())
    store = search.store if isinstance(search, EndgameSearch) else search.arrays.store
    spent, crew = clock() - began, judging_crew(subgame.whole, 1)
    for limit in times:
        while spent < limit:
            began = clock()
            search.run(5)
            spent += clock() - began
        judged = judge_spot(subgame.whole, store.average, store, crew, expected=False)
        found.append((search.iteration, 100 * judged.exploitability / spot.pot))
    return found


def rows_of(
    name: str, how: str, spots: list[Spot], times: Sequence[float], *, whole: bool = True, threads: int = 1
) -> list[list[str]]:
    """Rows of the table, one per time limit."""
    measured(spots[0], times[:1], whole=whole, threads=threads)  # kernels are loaded
    each = np.array([measured(spot, times, whole=whole, threads=threads) for spot in spots])
    rows = [
        [name, how, str(threads), f"{1000 * limit:.0f}", f"{np.median(done):.0f}", f"{lost.mean():.2f}", f"{lost.max():.2f}"]
        for limit, (done, lost) in zip(times, each.transpose(1, 2, 0), strict=True)
    ]
    print(*rows, sep="\n", flush=True)
    return rows


def with_plan(spots: list[Spot], street: int, number: int) -> list[Spot]:
    """Spots with one of the agent's trees, largest first."""
    plan = list(StreetSolving().plans(street, BIG_BLIND))[number]
    return [replace(spot, bets=plan) for spot in spots]


@study(title="Turns and rivers of no-limit hold'em", place=5, minutes=3)
def reproduce() -> Result:
    turns, rivers = situations(2), situations(3)
    rows = rows_of("turn", "earlier", [replace(spot, bets=EARLIER) for spot in turns], EARLIER_TIMES, whole=False)
    rows += rows_of("turn", "all sizes", with_plan(turns, 2, 0), TIMES[2])
    two = rows_of("turn", "all sizes", with_plan(turns, 2, 0), TWO, threads=2)
    rows += [*two, *rows_of("turn", "no raises", with_plan(turns, 2, 2), SHORT)]
    exact = rows[5][-2]
    rows += rows_of("river", "all sizes", with_plan(rivers, 3, 0), TIMES[3])
    return Result(
        source="Brown and Sandholm 2017 (Libratus)",
        findings=[
            f"Two seconds on one core solve a turn to {exact}% of the pot, and one second on two cores to {two[-1][-2]}%."
        ],
        tables=[
            Table(
                "Loss of solves to a best response on the same tree, in % of the pot, by milliseconds",
                ["street", "tree", "threads", "ms", "iterations", "mean", "most"],
                rows,
            )
        ],
        notes=[
            f"{SITUATIONS} turns and rivers from self-play of a blueprint of `{GAME}`, with the hands that reach them "
            "and stacks of 2 to 25 pots. *All sizes* and *no raises* are the agent's largest and smallest tree. "
            "*Earlier*: 66% and all-in on the turn, 75% and all-in on the river, raises all-in, searched street by "
            "street in double precision. Times are CPU time with one thread and wall-clock time with two. They include "
            "compiling the spot but not the evaluation."
        ],
        numbers={" ".join(row[:4]): [float(number) for number in row[4:]] for row in rows},
    )
