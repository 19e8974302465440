"""Goofspiel and Oshi-Zumo without a stored tree: memory, time per iteration, and exploitability of the CFR family."""

import resource
import time
from typing import Any

import treeplex as tp
from papers.common.results import Result, Table, stored
from papers.common.study import study
from treeplex.run.solve.cost import cost_of
from treeplex.solvers import make_solver

BIG = "goofspiel(num_cards=6,imp_info=true)"
"""The game with random order of points, whose terminals are not stored."""
GAMES = {
    "goofspiel(num_cards=5,imp_info=true)": 50,
    "goofspiel(num_cards=6,imp_info=true,points_order=descending)": 500,
    "oshi_zumo(coins=8,size=2,horizon=8,min_bid=1)": 200,
    BIG: 4,
}
"""Games and iterations."""
ALGORITHM = "pcfr+"
COLUMNS = ("game", "payoffs", "histories", "infosets", "memory", "compiling", "an iteration", "iterations", "exploitability")
WALKED, STORED = "walked", "stored"


def seconds(action: Any) -> tuple[Any, float]:
    """Result of a call and its CPU time."""
    began = time.process_time()
    return action(), time.process_time() - began


def measured(spec: str, payoffs: str) -> dict[str, float]:
    """Sizes, memory, times and exploitability of a game with traversed or stored payoffs; peak memory of the process."""
    game, compiling = seconds(lambda: tp.compile(spec, stored=payoffs == STORED))
    cost, solver = cost_of(game), make_solver(game, ALGORITHM)
    solver.run(0)
    _, spent = seconds(lambda: solver.run(GAMES[spec]))
    judged, judging = seconds(lambda: tp.judge(game, solver.average_policy()))
    found = {
        "histories": game.size.histories,
        "infosets": sum(game.infosets),
        "bytes": cost.game + cost.run,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "compiling": compiling,
        "seconds": spent / GAMES[spec],
        "judging": judging,
        "exploitability": judged.exploitability,
        "value": judged.value[0],
    }
    print(spec, payoffs, found, flush=True)
    return found


def size(count: float) -> str:
    """Bytes as MB, or GB from 1000 MB on."""
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"


def duration(spent: float) -> str:
    """Seconds, or milliseconds below one second."""
    return f"{1000 * spent:.3g} ms" if spent < 1.0 else f"{spent:.3g} s"


@study(title="Games without a stored tree", place=1, minutes=25)
def reproduce(*options: str) -> Result:
    """Options: games to measure; others are taken as stored."""
    before: dict[str, Any] = stored("walked/large_games") if options else {}
    numbers: dict[str, Any] = {}
    rows = []
    tp.compile("goofspiel(num_cards=3,imp_info=true)", stored=False)  # kernels
    for spec, iterations in GAMES.items():
        for payoffs in (WALKED,) if spec == BIG else (WALKED, STORED):
            name = f"{spec} {payoffs}"
            found = numbers[name] = before[name] if options and spec not in options else measured(spec, payoffs)
            rows.append(
                [
                    f"`{spec}`" if payoffs == WALKED else "",
                    payoffs,
                    f"{found['histories']:,}",
                    f"{found['infosets']:,}",
                    size(found["bytes"]),
                    f"{found['compiling']:.1f} s",
                    duration(found["seconds"]),
                    f"{iterations}",
                    f"{found['exploitability']:.1e}",
                ]
            )
    big = numbers[f"{BIG} {WALKED}"]
    return Result(
        source="Goofspiel: Ross 1971; Oshi-Zumo: Buro 2004; no published figures at these sizes",
        findings=[],
        tables=[Table("Rules without a stored tree compared with stored terminals", COLUMNS, rows)],
        notes=[
            f"By {ALGORITHM}. CPU time of all threads; the machine was busy with other jobs. Memory is that of the "
            "game and of a run. Exploitabilities with and without a stored tree differ where regrets tie and "
            "rounding decides.",
            f"On the largest game the process took at most {size(big['peak'])}, evaluation included; the evaluation "
            f"took {duration(big['judging'])}. Its value is 0 by symmetry; that of the average policies is "
            f"{big['value']:+.1e}.",
        ],
        numbers=numbers,
        threads=2,
    )
