"""Preflop charts from solves on some flops: how far charts of few flops, turns and rivers are from those of more, and push or
fold on the same boards beside the exact equilibrium.

Solves are kept in ``runs/preflop``, so that a call goes on with what is missing.
"""

from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.games.poker.cards.cards import CLASSES
from treeplex.games.poker.spots.files import read_spot_file, request_from_options
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.preflop_charts import chart_distance, read_solved, shipped_charts, solution_chart
from treeplex.runs.holdem.solution import HoldemSolution
from treeplex.runs.holdem.solve import solve_spot
from treeplex.solvers.holdem.push_fold import push_fold

SPOT, FOLDER = Path("examples/spots/preflop.yaml"), Path("runs/preflop")
DEALT = ((5, 6, 6), (10, 6, 6), (20, 6, 6), (40, 6, 6), (10, 3, 3), (10, 12, 12))
PUSHED = ((5, 6, 6), (10, 6, 6), (20, 6, 6), (40, 6, 6), (40, 12, 12))
ITERATIONS, PUSH_STACK = 80, 10
LINES = {"": "first", "c": "after a limp", "r2": "after a raise", "a": "after all-in"}


def solved(spot: Spot, name: str, iterations: int) -> tuple[HoldemSolution, float]:
    """A solution and the seconds of one core that it took, from its file where there is one."""
    path = FOLDER / f"{name}.spot"
    if not path.exists():
        began = process_time()
        found = solve_spot(spot, iterations=iterations, target=0.0, threads=1, every=iterations)
        FOLDER.mkdir(parents=True, exist_ok=True)
        found.save(path, resumable=False, streets=1)
        print(name, f"{process_time() - began:.0f} s", f"{1000 * found.exploitability:.1f} mbb", flush=True)
    found = read_solved(str(path))
    assert found is not None
    return found, found.records[-1].cpu_seconds


def named(dealt: tuple[int, ...]) -> str:
    return " x ".join(map(str, dealt))


def charts(spot: Spot) -> tuple[list[list[str]], dict]:
    """How far charts are from that of the most flops."""
    found = {dealt: solved(replace(spot, runouts=(0, *dealt)), "x".join(map(str, dealt)), ITERATIONS) for dealt in DEALT}
    best, rows, numbers = found[max(DEALT)][0], [], {}
    for dealt, (solution, seconds) in found.items():
        away = {line: chart_distance(solution_chart(solution, line), solution_chart(best, line)) for line in LINES}
        often = solution_chart(solution).often
        numbers[named(dealt)] = {
            "distance": away,
            "often": often,
            "value": solution.ev[1],
            "exploitability": solution.exploitability,
        }
        rows.append(
            [named(dealt)]
            + [f"{solution.game.stored / 1e6:.0f}", f"{seconds:.0f}", f"{1000 * solution.exploitability:.1f}"]
            + [f"{1000 * solution.ev[1]:+.0f}"]
            + [f"{100 * share:.1f}" for share in often.values()]
            + [f"{100 * each:.1f}" for each in away.values()]
        )
    return rows, numbers


def pushes() -> tuple[list[list[str]], dict]:
    """Push or fold on some boards beside push or fold on all."""
    exact, rows, numbers = push_fold(PUSH_STACK), [], {}
    fields = {"blinds": "0.5, 1", "pot": 0, "stack": PUSH_STACK, "oop": "all", "ip": "all", "bets": "none"}
    plain = request_from_options({**fields, "raises": "{preflop: {ip: 'a', oop: none}, default: none}"}).spot()
    for dealt in PUSHED:
        solution, seconds = solved(replace(plain, runouts=(0, *dealt)), "push-" + "x".join(map(str, dealt)), 300)
        first = solution_chart(solution)
        pushed = first.shares[[kind == "allin" for kind in first.kinds]].sum(axis=0)
        members = np.array([{2: 6, 3: 4 if name.endswith("s") else 12}[len(name)] for name in CLASSES])
        away = float(np.abs(pushed - exact.push) @ members / 1326)
        numbers[named(dealt)] = {"distance": away, "pushed": float(pushed @ members / 1326), "value": solution.ev[1]}
        rows.append([named(dealt), f"{seconds:.0f}", f"{100 * away:.1f}", f"{100 * float(pushed @ members) / 1326:.1f}"])
    rows.append(["all", "", "0", f"{100 * exact.pushed:.1f}"])
    return rows, numbers | {"exact": exact.pushed}


def shipped() -> list[list[str]]:
    """What ships."""
    rows = []
    for name in shipped_charts():
        solution = read_solved(name)
        assert solution is not None
        often, spot = solution_chart(solution).often, solution.spot
        rows.append(
            [
                f"`{name}`",
                named(spot.runouts[1:]),
                f"{solution.iterations}",
                f"{solution.records[-1].cpu_seconds:.0f}",
                f"{1000 * solution.exploitability:.1f}",
                ", ".join(f"{key} {100 * each:.1f}%" for key, each in often.items()),
            ]
        )
    return rows


@study(title="Preflop charts from some flops", place=3, minutes=20)
def reproduce() -> Result:
    spot = read_spot_file(SPOT).spot()
    rows, numbers = charts(spot)
    pushed, numbers["push"] = pushes()
    first = list(next(iter(numbers.values()))["often"])
    return Result(
        source="the library's own",
        findings=["Charts of few flops are rough hand by hand, while how often each action is taken is settled early."],
        tables=[
            Table(
                "Flops x turns of each x rivers of each: numbers stored (millions), seconds of one core, exploitability in the "
                "smaller game and the small blind's value (mbb a hand), how often it takes each action (%), and how far charts "
                f"are from those of {named(max(DEALT))} (% of all hands' play)",
                ["dealt", "numbers", "s", "exploitability", "value", *first, *LINES.values()],
                rows,
            ),
            Table(
                f"Push or fold with {PUSH_STACK} bb beside the exact equilibrium over all boards (% of hands)",
                ["dealt", "s", "different", "pushed"],
                pushed,
            ),
            Table(
                "Charts that ship",
                ["chart", "dealt", "iterations", "s", "exploitability, mbb", "first decision"],
                shipped(),
            ),
        ],
        notes=[f"{SPOT}, DCFR, {ITERATIONS} iterations; push or fold 300."],
        numbers=numbers,
    )
