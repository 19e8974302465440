"""Phantom tic-tac-toe and dark hex on full boards: exact exploitability, and tabular curves of the CFR family."""

import time
from collections.abc import Mapping
from typing import Any

import treeplex as tp
from papers.common.results import Result, Table, stored
from papers.common.study import study
from treeplex import CompiledGame
from treeplex.solvers import make_solver

KNOWN = {
    "phantom_ttt": {"histories": 19_934_533_171, "value": 0.6667, "uniform": (0.296825, 0.953125, 0.624339, 0.78873)},
    "dark_hex": {"histories": 19_119_486_979, "value": 1.0, "uniform": (1 / 3, 1.0, 0.832804, 0.91640)},
}
"""Histories and values of Rudolph et al. 2025; for the uniform policy its value, both best responses and exploitability."""
ALGORITHMS = ("cfr+", "dcfr", "pcfr+", "pdcfr+")
CHECKED = (10, 20, 50, 100, 200)
LONG = {"phantom_ttt": ("dcfr", (200, 500, 1000, 2000))}
"""A long run of the algorithm that is best after 200 iterations."""


def seconds(action: Any) -> tuple[Any, float]:
    """Result of a call and its CPU time."""
    began = time.process_time()
    return action(), time.process_time() - began


def curve(game: CompiledGame, algorithm: str, checks: tuple[int, ...] = CHECKED) -> list[dict[str, float]]:
    """Exploitability, value of player 0 and CPU time after each number of iterations."""
    solver, found, spent = make_solver(game, algorithm), [], 0.0
    for checked in checks:
        spent += seconds(lambda solver=solver, checked=checked: solver.run(checked - solver.iteration))[1]
        judged, judging = seconds(lambda solver=solver: tp.judge(game, solver.average_policy()))
        found.append(
            {
                "iterations": checked,
                "exploitability": judged.exploitability,
                "value": judged.value[0],
                "seconds": spent,
                "judging": judging,
            }
        )
        print(algorithm, found[-1], flush=True)
    return found


def shown(row: Mapping[str, float]) -> list[str]:
    """Exploitability, value and CPU time at a point of a curve, as text."""
    return [f"{row['exploitability']:.1e}", f"{row['value']:.6f}", f"{row['seconds']:.0f} s"]


def measured(name: str) -> dict[str, Any]:
    """The uniform policy of a board, and the curves of all algorithms."""
    game, compiling = seconds(lambda: tp.compile(name))
    uniform = tp.Policy.uniform(game)
    tp.judge(game, uniform)
    judged, judging = seconds(lambda: tp.judge(game, uniform))
    best = [own + gain for own, gain in zip(judged.value, judged.gains, strict=True)]
    return {
        "uniform": (judged.value[0], *best, judged.exploitability),
        "compiling": compiling,
        "judging": judging,
        "curves": {algorithm: curve(game, algorithm) for algorithm in ALGORITHMS},
    }


@study(title="Phantom tic-tac-toe and dark hex, exactly", place=1, minutes=40)
def reproduce(*options: str) -> Result:
    """With the option ``long`` only the long run is made; the rest is taken as stored."""
    before = stored("phantom/whole_boards") if options else {}
    tp.compile("phantom_ttt(rows=2,columns=2,line=2)")  # kernels
    tp.compile("dark_hex(board_size=2)")
    numbers: dict[str, Any] = {name: before[name] if options else measured(name) for name in KNOWN}
    numbers["long"] = {name: curve(tp.compile(name), *run) for name, run in LONG.items()}
    anchors, curves = [], []
    for name, known in KNOWN.items():
        found = numbers[name]
        anchors += [
            [f"`{name}`", "published", f"{known['histories']:,}", *(f"{each:.6f}" for each in known["uniform"]), "", ""],
            [
                "",
                "measured",
                f"{tp.compile(name).size.histories:,}",
                *(f"{each:.6f}" for each in found["uniform"]),
                f"{found['compiling']:.0f} s",
                f"{found['judging']:.2f} s",
            ],
        ]
        for algorithm, each in found["curves"].items():
            curves.append(
                [
                    f"`{name}`",
                    f"`{algorithm}`",
                    *(f"{row['exploitability']:.1e}" for row in each),
                    *shown(each[-1])[1:],
                ]
            )
    runs = [
        [f"`{name}`", f"`{LONG[name][0]}`", str(row["iterations"]), *shown(row)]
        for name, rows in numbers["long"].items()
        for row in rows
    ]
    return Result(
        source="Rudolph et al. 2025, Reevaluating Policy Gradient Methods for Imperfect-Information Games (arXiv 2502.08938)",
        findings=[],
        tables=[
            Table(
                "The uniform policy",
                [
                    "game",
                    "",
                    "histories",
                    "value",
                    "best response 0",
                    "best response 1",
                    "exploitability",
                    "compiling",
                    "judging",
                ],
                anchors,
            ),
            Table(
                "Exploitability by number of iterations",
                ["game", "algorithm", *map(str, CHECKED), "value at the end", "CPU time"],
                curves,
            ),
            Table("A long run", ["game", "algorithm", "iterations", "exploitability", "value", "CPU time"], runs),
        ],
        notes=[
            "CPU time of one thread; the machine was busy with other jobs. Published values of the games: .6667 and "
            "1.0. Published evaluators of these games take 30 to 90 seconds on 16 threads (exp-a-spiel) for an "
            "exploitability.",
        ],
        numbers=numbers,
    )
