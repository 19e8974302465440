"""Phantom tic-tac-toe and dark hex on whole boards: exact exploitability, and tabular curves of the CFR family."""

import time
from typing import Any

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.solvers import make_solver

KNOWN = {
    "phantom_ttt": {"histories": 19_934_533_171, "value": 0.6667, "uniform": (0.296825, 0.953125, 0.624339, 0.78873)},
    "dark_hex": {"histories": 19_119_486_979, "value": 1.0, "uniform": (1 / 3, 1.0, 0.832804, 0.91640)},
}
"""Histories and values of Rudolph et al. 2025; of the uniform policy its value, best responses of both and exploitability."""
ALGORITHMS = ("cfr+", "dcfr", "pcfr+", "pdcfr+")
CHECKED = (10, 20, 50, 100, 200)


def seconds(action: Any) -> tuple[Any, float]:
    """What a call gives, and the processor time it took."""
    began = time.process_time()
    return action(), time.process_time() - began


def curve(game: CompiledGame, algorithm: str, checks: tuple[int, ...] = CHECKED) -> list[dict[str, float]]:
    """Exploitability, value of player 0 and processor time after each number of iterations."""
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


@study(title="Phantom tic-tac-toe and dark hex, exactly", place=1, minutes=30)
def reproduce() -> Result:
    numbers: dict[str, Any] = {}
    anchors, curves = [], []
    for name, known in KNOWN.items():
        tp.compile(f"{name}(rows=2,columns=2,line=2)" if name == "phantom_ttt" else "dark_hex(board_size=2)")  # kernels
        game, compiling = seconds(lambda name=name: tp.compile(name))
        uniform = tp.Policy.uniform(game)
        tp.judge(game, uniform)
        judged, judging = seconds(lambda game=game, uniform=uniform: tp.judge(game, uniform))
        best = [own + gain for own, gain in zip(judged.value, judged.gains, strict=True)]
        found = (judged.value[0], *best, judged.exploitability)
        anchors += [
            [f"`{name}`", "published", f"{known['histories']:,}", *(f"{each:.6f}" for each in known["uniform"]), "", ""],
            [
                "",
                "measured",
                f"{game.size.histories:,}",
                *(f"{each:.6f}" for each in found),
                f"{compiling:.0f} s",
                f"{judging:.2f} s",
            ],
        ]
        numbers[name] = {"uniform": found, "compiling": compiling, "judging": judging, "curves": {}}
        for algorithm in ALGORITHMS:
            each = numbers[name]["curves"][algorithm] = curve(game, algorithm)
            curves.append(
                [
                    f"`{name}`",
                    f"`{algorithm}`",
                    *(f"{row['exploitability']:.1e}" for row in each),
                    f"{each[-1]['value']:.6f}",
                    f"{each[-1]['seconds']:.0f} s",
                ]
            )
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
                "Exploitability after so many iterations",
                ["game", "algorithm", *map(str, CHECKED), "value at the end", "processor time"],
                curves,
            ),
        ],
        notes=[
            "Processor time of one thread; the machine did other work meanwhile. Published values of the games: .6667 and 1.0. "
            "Published evaluators of these games take 30 to 90 seconds on 16 threads (exp-a-spiel) for an exploitability.",
        ],
        numbers=numbers,
    )
