"""A thousand iterations of DCFR on the two largest games of the DDCFR paper: time and exploitability.

Each run is a fresh process on one core: times to import, compile the game, iterate and evaluate.

    python bench/run.py long_runs [--quick] [--repeats 3]
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from typing import Any

from bench.common import record
from bench.common.benchmark import benchmark
from bench.iteration_speed import battleship

ITERATIONS = 1000
GOAL_SECONDS = 20.0
RUNS = {
    "Battleship-3": {"spec": battleship(3), "paper_hours": 11.2},
    "Big Leduc": {"spec": "big_leduc", "paper_hours": 14.9},
}
"""Hours that DCFR took in Xu et al. (2024), "Dynamic discounted counterfactual regret minimization"."""


def one_run(spec: str, iterations: int) -> dict[str, float]:
    """Load, compile, solve and evaluate in this process."""
    start = time.perf_counter()
    from treeplex.evaluate import judge
    from treeplex.forms.compile.compile_game import compile_game
    from treeplex.solvers.registry import make_solver

    make_solver(compile_game("kuhn_poker"), "dcfr").run(1)
    imported = time.perf_counter()
    game = compile_game(spec)
    compiled = time.perf_counter()
    solver = make_solver(game, "dcfr", horizon=iterations)
    solver.run(iterations)
    solved = time.perf_counter()
    found = judge(game, solver.average_policy())
    return {
        "import_seconds": imported - start,
        "compile_seconds": compiled - imported,
        "iterate_seconds": solved - compiled,
        "judge_seconds": time.perf_counter() - solved,
        "exploitability": found.exploitability,
        "value": found.value[0],
    }


def repeated(spec: str, options: argparse.Namespace) -> list[dict[str, float]]:
    """Run in fresh processes, which compile the game instead of reading it from the cache."""
    command = [sys.executable, "-m", "bench.long_runs", spec, str(options.iterations)]
    settings: dict[str, Any] = {"check": True, "capture_output": True, "text": True, "env": record.compiling()}
    done = [subprocess.run(command, **settings) for _ in range(options.repeats)]
    return [json.loads(each.stdout) for each in done]


def summary(name: str, runs: list[dict[str, float]], iterations: int) -> dict[str, Any]:
    """Medians over the runs, and whether compiling plus iterating meets the goal."""
    medians: dict[str, Any] = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    total = medians["compile_seconds"] + medians["iterate_seconds"]
    complete = iterations == ITERATIONS
    return {
        **RUNS[name],
        **medians,
        "total_seconds": total,
        "goal_seconds": GOAL_SECONDS,
        "met": total < GOAL_SECONDS if complete else None,
        "paper_ratio": RUNS[name]["paper_hours"] * 3600 / total if complete else None,
        "runs": runs,
    }


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = []
    for name, run in result["games"].items():
        verdict = "" if run["met"] is None else f": {'met' if run['met'] else 'missed'}"
        rows.append(
            [
                name,
                f"{run['compile_seconds']:.2f}",
                f"{run['iterate_seconds']:.2f}",
                f"{run['exploitability']:.3e}",
                f"{run['goal_seconds']:g} s{verdict}",
                f"{run['paper_hours']:g} h",
                "" if run["paper_ratio"] is None else f"{record.digits(run['paper_ratio'])} times",
            ]
        )
    header = ["game", "compile, s", "iterate, s", "exploitability", "goal for both times", "time in the paper", "faster by"]
    return f"DCFR, {result['iterations']} iterations.\n\n{record.markdown_table(header, rows)}"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=None, help="fresh processes for each game (default 3; 1 with --quick)")


@benchmark(
    title="A thousand iterations of large games",
    place=3,
    minutes=2,
    about=(
        "Medians over fresh processes on one core, with compiled kernels in the cache. The paper's hours are for its "
        "implementation on the authors' machines."
    ),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    options.repeats = options.repeats or (1 if options.quick else 3)
    options.iterations = 20 if options.quick else ITERATIONS
    games = {name: summary(name, repeated(str(run["spec"]), options), options.iterations) for name, run in RUNS.items()}
    return {"iterations": options.iterations, "games": games}


if __name__ == "__main__":
    print(json.dumps(one_run(sys.argv[1], int(sys.argv[2]))))
