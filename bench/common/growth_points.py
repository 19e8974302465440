"""One point of a growth curve, measured in a process of its own: ``python -m bench.common.growth_points KIND JSON``.

The smallest instance of the same kind runs first, so that kernels are loaded and imports are done. Memory is the highest
resident size afterwards minus the resident size before.
"""

import gc
import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

SECONDS, LONGEST = 0.5, 400
"""Seconds over which iterations are timed, and the largest number of them."""

Settings = Mapping[str, Any]


def resident_bytes(field: str = "VmRSS") -> int:
    """A resident size of this process (``VmRSS`` now, ``VmHWM`` at most), in bytes."""
    found = re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None
    return 1024 * int(found.group(1))


def forget_peak() -> None:
    """Let the highest resident size start from the present one."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def seconds_each(step: Callable[[int], object], longest: int = LONGEST) -> float:
    """Seconds of one iteration: the least of three stretches, after one iteration; one stretch if they are long."""
    step(1)
    done, begun = 0, time.perf_counter()
    while done < 1 or (done < longest and time.perf_counter() - begun < SECONDS / 4):
        step(count := min(max(1, done), longest - done))
        done += count
    best = (time.perf_counter() - begun) / done
    for _ in range(2 if best * done < SECONDS else 0):
        begun = time.perf_counter()
        step(done)
        best = min(best, (time.perf_counter() - begun) / done)
    return best


def tree(settings: Settings) -> dict[str, Any]:
    """DCFR on a compiled game, evaluated once; ``threads`` and ``precision`` are options."""
    import treeplex as tp
    from treeplex.forms.compile.compile_game import compile_game
    from treeplex.run.solve.cost import memory_of

    begun = time.perf_counter()
    game = compile_game(settings["game"])
    built, compiling = time.perf_counter() - begun, resident_bytes("VmHWM")
    gc.collect()
    forget_peak()
    threads, precision = settings.get("threads", 1), settings.get("precision", "double")
    solver = tp.solvers.make_solver(game, settings.get("algorithm", "dcfr"))
    if precision == "single":
        solver.use_single_precision()
    solver.form.use_threads(threads)
    seconds = seconds_each(solver.run)
    tp.judge(game, solver.average_policy())
    predicted = {"predicted_bytes": sum(memory_of(game))} if threads == 1 and precision == "double" else {}
    return {
        "size": sum(game.infosets),
        "threads": solver.form.threads,
        "build_seconds": built,
        "building_peak": compiling,
        "seconds": seconds,
        **predicted,
    }


def sampling(settings: Settings) -> dict[str, Any]:
    """External sampling on rules until a number of histories; the size is the number of stored infosets."""
    from treeplex.solvers.sampling.rules_solver import RulesSampler
    from treeplex.solvers.sampling.solver import SAMPLINGS

    sampler = RulesSampler(settings["game"], SAMPLINGS["es-mccfr"])
    begun = time.perf_counter()
    sampler.run(1)
    while sampler.nodes < settings["histories"]:
        sampler.run(max(1, (settings["histories"] - sampler.nodes) * sampler.iteration // (2 * sampler.nodes)))
    return {
        "size": sampler.walks.infosets,
        "build_seconds": 0.0,
        "seconds": (time.perf_counter() - begun) / sampler.iteration,
        "predicted_bytes": sampler.bytes,
    }


def spot(settings: Settings) -> dict[str, Any]:
    """DCFR on a hold'em spot, evaluated once; the size is the number of stored numbers of an array."""
    from treeplex.holdem.forms.compile_spot import compile_spot
    from treeplex.holdem.policies.judge import judge_spot, judging_crew
    from treeplex.holdem.solve.estimate import estimate_spot
    from treeplex.holdem.solve.solver import HoldemSolver

    given, storage, threads = spot_of(settings), settings.get("storage", "float32"), settings.get("threads", 1)
    algorithm = settings.get("algorithm", "dcfr")
    estimate = estimate_spot(given, algorithm, threads=threads)
    if not estimate.fits(storage):
        raise SystemExit(f"{given} does not fit into memory")
    begun = time.perf_counter()
    game = compile_spot(given)
    built = time.perf_counter() - begun
    solver = HoldemSolver(game, algorithm, threads=threads, storage=storage)
    seconds = seconds_each(solver.run)
    if storage == "packed":
        solver.form.exploitability(solver.tables)
    else:
        judge_spot(game, solver.store.average, solver.store, judging_crew(game, threads), expected=False)
    return {
        "size": game.size.infosets,
        "numbers": game.size.stored,
        "build_seconds": built,
        "seconds": seconds,
        "predicted_bytes": estimate.memory[storage],
    }


def spot_of(settings: Settings) -> Any:
    """The example spot on a board, with a number of bet sizes, random ranges or the example's, and some or all boards."""
    import numpy as np

    from bench.common.holdem_spots import example
    from treeplex.holdem.betting.bet_plan import BetPlan

    sizes, raises = SIZES[settings.get("sizes", 1)]
    made = example(settings["board"], BetPlan.same(sizes, raises))
    if "hands" in settings:
        possible = ~np.isin(made.format.hands, made.board).any(axis=1)
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(possible))[: settings["hands"]]
        weights = np.zeros(len(possible))
        weights[chosen] = 1.0
        made = replace(made, ranges=(weights, weights))
    if "runouts" in settings:
        made = replace(made, runouts=tuple(settings["runouts"]))
    return made


SIZES = {1: ("75%", "a"), 2: ("50%,a", "60%,a"), 3: ("33%,75%,a", "60%,a"), 5: ("25%,50%,75%,125%,a", "50%,100%,a")}
"""Bets and raises by the number of bet sizes."""


def blueprint(settings: Settings) -> dict[str, Any]:
    """The blueprint sampler on whole hold'em; the size is the number of infosets."""
    from treeplex.forms.sources.load import load
    from treeplex.holdem.betting.tree_size import betting_size
    from treeplex.holdem.blueprint.solver import BlueprintSolver, predicted_bytes
    from treeplex.learn.blueprint.job import bucket_rows_of, shares_of

    game = load(settings["game"])
    rows = bucket_rows_of(game, (), "percentile", recall=False)
    begun = time.perf_counter()
    solver = BlueprintSolver(game.rules, rows)
    built = time.perf_counter() - begun
    seconds = seconds_each(solver.run)
    shares = shares_of(solver.tables.average, solver.nodes, rows.counts)
    return {
        "size": sum(rows.counts[street] for street in solver.nodes.street),
        "numbers": len(shares),
        "build_seconds": built,
        "seconds": seconds,
        "predicted_bytes": predicted_bytes(betting_size(game.rules.betting), rows.counts),
    }


def parts(settings: Settings) -> dict[str, Any]:
    """DCFR on a spot in parts, on worker processes; the size is the number of infosets. Memory is that of this process."""
    from treeplex.base.workers.executor import make_executor
    from treeplex.holdem.forms.compile_spot import compile_spot
    from treeplex.holdem.solve.solver import HoldemSolver

    workers = settings["workers"]
    begun = time.perf_counter()
    game = compile_spot(spot_of(settings))
    with make_executor("processes", workers) as executor:
        solver = HoldemSolver(game, "dcfr", threads=1, executor=executor)
        built = time.perf_counter() - begun
        seconds = seconds_each(solver.run, 20)
        solver.close()
    return {"size": game.size.infosets, "build_seconds": built, "seconds": seconds}


KINDS: dict[str, Callable[[Settings], dict[str, Any]]] = {
    "tree": tree,
    "sampling": sampling,
    "spot": spot,
    "blueprint": blueprint,
    "parts": parts,
}


def measured(kind: str, smallest: Settings, settings: Settings) -> dict[str, Any]:
    """Measure a point after the smallest one of its kind."""
    KINDS[kind](smallest)
    gc.collect()
    forget_peak()
    before = resident_bytes()
    found = KINDS[kind](settings)
    compiling = {"building_bytes": max(found.pop("building_peak") - before, 0)} if "building_peak" in found else {}
    return found | compiling | {"peak_bytes": max(resident_bytes("VmHWM") - before, 0), "start_bytes": before}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], *json.loads(sys.argv[2]))))
