"""Monte Carlo CFR on games without a compiled tree: time per history with Numba functions and in Python."""

import time
from typing import Any

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.solvers.sampling.rules_solver import RulesSampler
from treeplex.solvers.sampling.solver import SAMPLINGS

GAMES = (
    "kuhn_poker",
    "leduc_poker",
    "big_leduc",
    "liars_dice",
    "liars_dice(numdice=2)",
    "goofspiel(num_cards=5,imp_info=true)",
    "goofspiel(num_cards=6,imp_info=true)",
    "oshi_zumo(coins=8,size=2,horizon=8,min_bid=1)",
    "phantom_ttt",
    "dark_hex(gameversion=adh)",
)
SCHEMES = ("es-mccfr", "os-mccfr", "vr-mccfr")
HISTORIES, IN_PYTHON = 3_000_000, 30_000


def nanoseconds(sampler: RulesSampler, histories: int) -> float:
    """CPU time per history, after a warm-up."""
    sampler.run(10**9, nodes=1)
    walked, began = sampler.nodes, time.process_time()
    sampler.run(10**9, nodes=walked + histories)
    return 1e9 * (time.process_time() - began) / (sampler.nodes - walked)


@study(title="Sampling by Numba functions", place=2, minutes=5)
def reproduce() -> Result:
    numbers: dict[str, Any] = {}
    rows = []
    for game in GAMES:
        for scheme in SCHEMES:
            began = time.process_time()
            sampler = RulesSampler(game, SAMPLINGS[scheme])
            sampler.run(1)
            compiling = time.process_time() - began
            found = {
                "compiling": compiling,
                "compiled": nanoseconds(sampler, HISTORIES),
                "python": nanoseconds(RulesSampler(game, SAMPLINGS[scheme], functions=False), IN_PYTHON),
                "infosets": sampler.infosets,
                "bytes": sampler.bytes,
            }
            numbers[f"{game} {scheme}"] = found
            rows.append(
                [
                    f"`{game}`" if scheme == SCHEMES[0] else "",
                    f"`{scheme}`",
                    f"{found['compiled']:.0f} ns",
                    f"{found['python'] / 1000:.0f} µs",
                    f"{found['infosets']:,}",
                    f"{found['bytes'] / 1e6:.0f} MB",
                ]
            )
            print(rows[-1], f"{compiling:.1f} s", flush=True)
    worst = max(found["compiled"] for found in numbers.values())
    return Result(
        source="Lanctot et al. 2009, Monte Carlo sampling for regret minimization in extensive games",
        findings=[f"The slowest of these traversals takes {worst:.0f} ns per history."],
        tables=[
            Table(
                f"Time per history, after {HISTORIES:,} of them",
                ["game", "scheme", "Numba functions", "Python", "infosets met", "tables"],
                rows,
            )
        ],
        notes=["CPU time of one thread, without infostate texts and compiling; the machine was busy with other jobs."],
        numbers=numbers,
    )
