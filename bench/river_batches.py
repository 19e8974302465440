"""Rivers per second with narrow ranges: one at a time and side by side, on one core.

python bench/run.py river_batches [--quick]
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bench.common import record
from bench.common.benchmark import benchmark
from bench.common.holdem_spots import example
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.engine.passes import EXPECT
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.river_batch import solve_rivers
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.spot import Spot

HANDS, RIVERS, ITERATIONS = (10, 30, 100, 300), 200, 100
GOAL, NARROW = 3.0, 30
"""Goal for the speed-up, and the number of hands up to which it holds."""


def random_rivers(hands: int, count: int) -> list[Spot]:
    """Rivers with random boards and hands, and three stacks."""
    random = np.random.default_rng(0)
    base, spots = example("Td9d6hQc2s", BetPlan.same("75%,a", "a")), []
    for number in range(count):
        board = tuple(int(card) for card in random.choice(52, 5, replace=False))
        possible = np.flatnonzero(~np.isin(base.format.hands, board).any(axis=1))
        ranges = np.zeros((2, len(base.format.hands)))
        for weights in ranges:
            weights[random.choice(possible, hands, replace=False)] = 1.0
        spots.append(replace(base, board=board, stack=(500.0, 900.0, 1400.0)[number % 3], ranges=(ranges[0], ranges[1])))
    return spots


def one_at_a_time(spots: list[Spot]) -> None:
    """Solve each river on its own, as for training data."""
    for spot in spots:
        solver = HoldemSolver(compile_spot(spot, isomorphism=False), "dcfr", threads=1, horizon=ITERATIONS)
        solver.run(ITERATIONS)
        for player in (0, 1):
            solver.crew.answer(player, EXPECT, solver.store.average, solver.store.average_scales, solver.store)


def side_by_side(spots: list[Spot]) -> None:
    """Solve the rivers in batches."""
    solve_rivers(spots, ITERATIONS)


def per_second(solve: Callable[[list[Spot]], None], spots: list[Spot]) -> float:
    """Rivers per CPU second."""
    begun = time.process_time()
    solve(spots)
    return len(spots) / (time.process_time() - begun)


@benchmark(
    title="Many rivers at once",
    place=12,
    minutes=0.5,
    about=(
        "Random rivers with bets of 75% of the pot and all-in, three stacks, 100 iterations of DCFR each, in rivers per CPU "
        "second. Building is included. Both ways take turns, and the table shows the best of five. Their values are equal."
    ),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    found = []
    for hands in HANDS[:1] if options.quick else HANDS:
        spots = random_rivers(hands, 20 if options.quick else RIVERS)
        ways = {"alone": one_at_a_time, "together": side_by_side}
        best = dict.fromkeys(ways, 0.0)
        for solve in ways.values():
            solve(spots[:3])
        for _ in range(1 if options.quick else 5):
            best = {name: max(best[name], per_second(solve, spots)) for name, solve in ways.items()}
        found.append({"hands": hands, **best})
    return {"rivers": found}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = []
    for each in result["rivers"]:
        faster = each["together"] / each["alone"]
        goal = "" if each["hands"] > NARROW else f"{GOAL:g}: {'met' if faster >= GOAL else 'missed'}"
        rows.append([str(each["hands"]), *(record.digits(each[name]) for name in ("alone", "together")), f"{faster:.2f}", goal])
    return record.markdown_table(["hands per player", "one at a time", "side by side", "speed-up", "goal"], rows)
