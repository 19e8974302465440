"""Goofspiel and Oshi-Zumo without a stored tree: memory, time of an iteration, and how far the CFR family gets."""

import resource
import time
from typing import Any

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.runs.solve.cost import cost_of
from treeplex.solvers import make_solver

GAMES = {
    "goofspiel(num_cards=5,imp_info=true)": 50,
    "goofspiel(num_cards=6,imp_info=true,points_order=descending)": 500,
    "oshi_zumo(coins=8,size=2,horizon=8,min_bid=1)": 200,
}
"""Games and iterations."""
ALGORITHM = "pcfr+"


def seconds(action: Any) -> tuple[Any, float]:
    """What a call gives, and the processor time it took."""
    began = time.process_time()
    return action(), time.process_time() - began


@study(title="Games without a stored tree", place=1, minutes=10)
def reproduce() -> Result:
    numbers: dict[str, Any] = {}
    rows = []
    tp.compile("goofspiel(num_cards=3,imp_info=true)", stored=False)  # kernels
    for spec, iterations in GAMES.items():
        for stored in (False, True):
            game, compiling = seconds(lambda spec=spec, stored=stored: tp.compile(spec, stored=stored))
            cost, solver = cost_of(game), make_solver(game, ALGORITHM)
            solver.run(0)
            _, spent = seconds(lambda solver=solver, iterations=iterations: solver.run(iterations))
            judged, judging = seconds(lambda game=game, solver=solver: tp.judge(game, solver.average_policy()))
            numbers[f"{spec} {'stored' if stored else 'walked'}"] = {
                "histories": game.size.histories,
                "infosets": sum(game.infosets),
                "bytes": cost.game + cost.run,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                "compiling": compiling,
                "seconds": spent / iterations,
                "judging": judging,
                "exploitability": judged.exploitability,
                "value": judged.value[0],
            }
            rows.append(
                [
                    "" if stored else f"`{spec}`",
                    "stored" if stored else "walked",
                    f"{game.size.histories:,}",
                    f"{sum(game.infosets):,}",
                    f"{(cost.game + cost.run) / 1e6:.1f} MB",
                    f"{compiling:.1f} s",
                    f"{1000 * spent / iterations:.3g} ms",
                    f"{iterations}",
                    f"{judged.exploitability:.1e}",
                ]
            )
            print(rows[-1], flush=True)
    return Result(
        source="Goofspiel: Ross 1971; Oshi-Zumo: Buro 2004; no published figures at these sizes",
        findings=[],
        tables=[
            Table(
                "Walked rules beside stored terminals",
                [
                    "game",
                    "payoffs",
                    "histories",
                    "infosets",
                    "memory",
                    "compiling",
                    "an iteration",
                    "iterations",
                    "exploitability",
                ],
                rows,
            )
        ],
        notes=[
            f"By {ALGORITHM}. Processor time of all threads; the machine did other work meanwhile. Memory is that of the game "
            "and of a run. Exploitabilities of walked and stored games differ where regrets tie and rounding decides.",
        ],
        numbers=numbers,
        threads=2,
    )
