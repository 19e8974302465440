"""Leduc poker with three players: distance of CFR's averages from equilibrium, per player, and cost.

These numbers are the library's own; no paper has published them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import treeplex as tp
from papers.common.results import Result, Table, short
from papers.common.study import study
from treeplex import CompiledGame, judge
from treeplex.engine import gradient, workspace
from treeplex.solvers import GameSolver, make_solver

WHOLE = "leduc_poker(players=3)"
FOUR_CARDS = "leduc_poker(players=3,ranks=2,raises=1)"
NAMES = ("cfr", "cfr+", "lcfr", "dcfr", "pcfr+")
ORDERS = ("alternating", "simultaneous")
WHOLE_POINTS = (10, 100, 1000)
ROUNDS = 100
LONG_POINTS = (100, 1000, 10_000, 100_000)


@dataclass(frozen=True)
class Run:
    """One algorithm in one order of updates.

    Attributes:
        name, updates: the algorithm.
        nash_conv: after each number of iterations.
        gains, value: of each player, at the end.
        seconds: CPU time in the solver.
    """

    name: str
    updates: str
    nash_conv: list[float]
    gains: list[float]
    value: list[float]
    seconds: float


def measured(game: CompiledGame, name: str, updates: str, points: Sequence[int]) -> Run:
    """Run to the last point, evaluating at each."""
    solver = make_solver(game, name, updates=updates, horizon=points[-1])
    solver.run(0)
    seconds, found = 0.0, []
    for point in points:
        begun = time.process_time()
        solver.run(point - solver.iteration)
        seconds += time.process_time() - begun
        found.append(judge(game, solver.average_policy()))
    last = found[-1]
    print(f"{game.spec}  {name}, {updates}: NashConv {last.nash_conv:.2e}", flush=True)
    return Run(name, updates, [each.nash_conv for each in found], list(last.gains), list(last.value), round(seconds, 2))


def table(caption: str, runs: Sequence[Run], points: Sequence[int]) -> Table:
    """One row per run: NashConv at the points, then final gains and values."""
    columns = ["algorithm, updates", *(f"{point:,}" for point in points), "gain of each player", "value of each player"]
    rows = [
        [
            f"`{run.name}`, {run.updates}",
            *map(short_of, run.nash_conv),
            ", ".join(map(short_of, run.gains)),
            ", ".join(f"{round(value, 3) + 0.0:+.3f}" for value in run.value),
        ]
        for run in runs
    ]
    return Table(caption, columns, rows)


def short_of(number: float) -> str:
    """A number with two digits."""
    return short(number, 2)


def passes(game: CompiledGame) -> tuple[float, float, float]:
    """Milliseconds per iteration, of its gradients for all players, and of summing the arrays that they read."""
    solver, sparse = make_solver(game, "cfr"), game.payoff.sparse
    assert isinstance(solver, GameSolver)
    values = workspace(game.tree).values

    def gradients() -> None:
        for player in range(game.players):
            gradient(game.tree, game.payoff, player, solver.strategy, values)

    def plain() -> None:
        sparse.values.sum()
        sparse.others.reshape(-1).view(np.int64).sum()

    return quickest(lambda: solver.run(1)), quickest(gradients), quickest(plain)


def quickest(work: Callable[[], None]) -> float:
    """CPU milliseconds, the minimum over some rounds."""
    found = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        found.append(1e3 * (time.process_time() - begun))
    return min(found)


@study(title="Leduc poker with three players", place=None, minutes=4)
def reproduce() -> Result:
    begun = time.process_time()
    whole = tp.compile(WHOLE)
    compile_seconds = time.process_time() - begun
    iteration, gradients, plain = passes(whole)
    four_cards = tp.compile(FOUR_CARDS)
    large = [measured(whole, name, updates, WHOLE_POINTS) for updates in ORDERS for name in NAMES]
    small = [measured(four_cards, name, updates, LONG_POINTS) for updates in ORDERS for name in NAMES]
    best, worst = min(large, key=lambda run: run.nash_conv[-1]), max(small, key=lambda run: run.nash_conv[-1])
    size, sparse = whole.size, whole.payoff.sparse
    megabytes = (sparse.values.nbytes + sparse.others.nbytes) / 1e6
    return Result(
        source="No published table: the library's own numbers",
        findings=[
            f"Leduc poker with three players has {size.histories:,} histories and {whole.infosets[0]:,} infostates "
            f"per player. It compiles in {compile_seconds:.0f} s to {len(sparse.values):,} payoff entries, and an "
            f"iteration of all three players takes {iteration:.1f} ms. The gradients are "
            f"{min(1.0, gradients / iteration):.0%} of that. Summing the {megabytes:.0f} MB that they read takes "
            f"{plain:.1f} ms.",
            f"After {WHOLE_POINTS[-1]:,} iterations `{best.name}` with {best.updates} updates is nearest to "
            f"equilibrium: NashConv is {short_of(best.nash_conv[-1])}, and the largest gain of a player is "
            f"{short_of(max(best.gains))} chips.",
            f"With four cards and one raise per round, `{worst.name}` with {worst.updates} updates does not get "
            f"closer: NashConv is {short_of(worst.nash_conv[0])} after {LONG_POINTS[0]:,} iterations and "
            f"{short_of(worst.nash_conv[-1])} after {LONG_POINTS[-1]:,}.",
        ],
        tables=[
            table(f"NashConv on `{WHOLE}` by number of iterations", large, WHOLE_POINTS),
            table(f"NashConv on `{FOUR_CARDS}` by number of iterations", small, LONG_POINTS),
        ],
        notes=[
            "Gains and values are those after the last number of iterations, in chips (the ante is one), player 0 "
            f"first. Times are CPU times. For an iteration it is the best of {ROUNDS}."
        ],
        numbers={"whole": [run.__dict__ for run in large], "four cards": [run.__dict__ for run in small]},
    )
