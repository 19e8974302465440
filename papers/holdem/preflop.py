"""Preflop charts on subsets of flops: distance between charts on fewer and more boards, and error of equities on the same
boards.

Solves are cached in ``runs/preflop``, so that a call computes only missing ones.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.charts import FOLDER, LINES, equity_errors, solved_once
from treeplex.holdem import HoldemSolution, Spot
from treeplex.holdem.forms.boards import weighted_boards
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.study.preflop_charts import chart_distance, solution_chart

SPOT = Path("examples/spots/preflop.yaml")
DEALT = ((10, 3, 3), (20, 3, 3), (40, 2, 2), (40, 3, 3))
EQUITIES = ((25, 4, 4), (25, 8, 8), (25, 12, 12), (50, 4, 4), (100, 4, 4), (200, 4, 4), (400, 4, 4))
ITERATIONS = 40
MOST = (40, 3, 3)


def solved(spot: Spot, dealt: tuple[int, ...]) -> HoldemSolution:
    """The solved spot with the given numbers of flops, turns and rivers, from its file if there is one."""
    spot = replace(spot, runouts=(0, *dealt))
    solve = partial(solve_spot, spot, iterations=ITERATIONS, target=0.0, threads=1, every=ITERATIONS)
    return solved_once(FOLDER / f"{'x'.join(map(str, dealt))}.spot", solve)


def named(dealt: tuple[int, ...]) -> str:
    return " x ".join(map(str, dealt))


def charts(spot: Spot) -> tuple[list[list[str]], dict]:
    """Distance of charts from that with the most flops."""
    found = {dealt: solved(spot, dealt) for dealt in DEALT}
    best, rows, numbers = found[MOST], [], {}
    for dealt, solution in found.items():
        away = {line: chart_distance(solution_chart(solution, line), solution_chart(best, line)) for line in LINES}
        often = solution_chart(solution).often
        numbers[named(dealt)] = {
            "distance": away,
            "often": often,
            "value": solution.ev[1],
            "exploitability": solution.exploitability,
        }
        rows.append(
            [named(dealt), f"{solution.game.stored / 1e6:.0f}", f"{solution.records[-1].cpu_seconds:.0f}"]
            + [f"{1000 * solution.exploitability:.1f}"]
            + [f"{1000 * solution.ev[1]:+.0f}"]
            + [f"{100 * share:.1f}" for share in often.values()]
            + [f"{100 * each:.1f}" for each in away.values()]
        )
    return rows, numbers


def equities_on_some(spot: Spot) -> tuple[list[list[str]], dict]:
    """Error of equities of hand classes on some boards compared with all, weighted by pairs of hands."""
    rows, numbers = [], {}
    for dealt in EQUITIES:
        boards, weights = weighted_boards(replace(spot, runouts=(0, *dealt)))
        numbers[named(dealt)], most = equity_errors(boards, weights)
        rows.append([named(dealt), f"{len(boards):,}", f"{100 * numbers[named(dealt)]:.1f}", f"{100 * most:.1f}"])
    return rows, numbers


@study(title="Preflop charts on subsets of flops", place=3, minutes=20)
def reproduce() -> Result:
    spot = read_spot_file(SPOT).spot()
    rows, numbers = charts(spot)
    equities, numbers["equities"] = equities_on_some(spot)
    first = list(next(iter(numbers.values()))["often"])
    return Result(
        source="a study of our own",
        findings=["Many flops with few turns and rivers each are closer to all boards than few flops with many."],
        tables=[
            Table(
                "Flops x turns of each x rivers of each: numbers stored (millions), CPU seconds, exploitability in "
                "the smaller game and the small blind's value (mbb/hand), action frequencies (%), and distance of "
                f"charts from those of {named(MOST)} (% of all hands' play)",
                ["dealt", "numbers", "s", "exploitability", "value", *first, *LINES.values()],
                rows,
            ),
            Table(
                "Equities of hand classes all-in before the flop, on some boards compared with all (% of the pot)",
                ["dealt", "rivers", "root mean square error", "largest"],
                equities,
            ),
        ],
        notes=[f"{SPOT}, DCFR, {ITERATIONS} iterations."],
        numbers=numbers,
    )
