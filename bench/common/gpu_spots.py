"""Hold'em spots on a GPU, against the compiled kernels on two cores of the same machine, for :mod:`bench.gpu`."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from bench.common.holdem_spots import basic, wide
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.policies.judge import judge_spot, judgement_of, judging_crew
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import turn_endgame_holdem
from treeplex.holdem.spots.spot import Spot

EVERY, MOST = 10, 1000
"""Iterations between evaluations, and their largest number."""
TARGET = 0.5
"""Exploitability to reach, in percent of the pot."""
CORES, TIMED = 2, 20
"""Cores for the compiled kernels, and iterations after the target over which a GPU is timed."""


@dataclass(frozen=True)
class GpuSpot:
    """A spot to measure.

    Attributes:
        title: for the table.
        spot: builds it.
        kernels: iterations of the compiled kernels; None for as many as the target needs.
        off_card: iterations on a machine without a GPU; 0 to leave it out, None for as many as the target needs.
        quick: whether quick runs include it.
    """

    title: str
    spot: Callable[[], Spot]
    kernels: int | None = None
    off_card: int | None = 0
    quick: bool = False


def small() -> Spot:
    """The example turn with one bet size."""
    return replace(basic("Td9d6hQc")(), bets=BetPlan.same("75%", "a"))


SPOTS = (
    GpuSpot("river Td9d6hQc2s", basic("Td9d6hQc2s"), off_card=None, quick=True),
    GpuSpot("turn Td9d6hQc, few sizes", small, off_card=20, quick=True),
    GpuSpot("turn Td9d6hQc", basic("Td9d6hQc"), off_card=5),
    GpuSpot("Turn Endgame Hold'em, all hands", turn_endgame_holdem),
    GpuSpot("flop Td9d6h", basic("Td9d6h")),
    GpuSpot("flop Td9d6h, wide ranges", wide, kernels=4),
)


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Allow some cores for a while; benchmarks are pinned to one."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def percent_of(run: HoldemSolver) -> float:
    """A run's exploitability by its own evaluation, in percent of the pot."""
    found = judgement_of(run.game, lambda player, mode: run.form.root_values(run.tables, player, mode), expected=False)
    return 100 * found.exploitability / run.game.spot.pot


def judged_percent(run: HoldemSolver, threads: int) -> float:
    """A run's exploitability by the compiled kernels in double precision, in percent of the pot."""
    average = np.asarray(run.average()[0], np.float64)
    store = HoldemSolver(run.game, threads=1).store
    judged = judge_spot(run.game, average, store._replace(average=average), judging_crew(run.game, threads), expected=False)
    return 100 * judged.exploitability / run.game.spot.pot


def until_target(run: HoldemSolver, evaluate: Callable[[], float], iterations: int | None) -> dict[str, Any]:
    """Iterations, seconds without and with evaluations, and exploitability, at the target or after some iterations."""
    spent, began, percent = 0.0, time.perf_counter(), float("inf")
    while run.iteration < (iterations or MOST) and percent > TARGET:
        start = time.perf_counter()
        run.run(min(EVERY, (iterations or MOST) - run.iteration))
        finish(run)
        spent += time.perf_counter() - start
        percent = evaluate()
    seconds = time.perf_counter() - began
    return {"iterations": run.iteration, "solving": spent, "seconds": seconds, "percent": percent}


def finish(run: HoldemSolver) -> None:
    """Wait for a GPU."""
    if run.device == "cuda":
        torch.cuda.synchronize()


def on_device(game: CompiledSpot, device: str, iterations: int | None) -> dict[str, Any]:
    """A run with tensors: start-up, the run to the target, the time of an iteration, memory, and both evaluations."""
    on_card, start = device == "cuda", time.perf_counter()
    first = HoldemSolver(game, threads=1, device=device)
    first.run(3 if on_card else 1)
    percent_of(first)
    finish(first)
    found: dict[str, Any] = {"start": time.perf_counter() - start, "predicted": first.device_memory}
    del first
    if on_card:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    run = HoldemSolver(game, threads=1, device=device)
    found |= until_target(run, lambda: percent_of(run), iterations)
    found["reserved"] = torch.cuda.max_memory_reserved() if on_card else None
    with on_cores(os.cpu_count() or 1):
        found["judged"] = judged_percent(run, min(os.cpu_count() or 1, 16))
    start = time.perf_counter()
    run.arrays()
    found["copying"] = time.perf_counter() - start
    found["ms"] = 1000 * found["solving"] / found["iterations"]
    if on_card:
        start = time.perf_counter()
        run.run(TIMED)
        finish(run)
        found["ms"] = 1000 * (time.perf_counter() - start) / TIMED
    return found


def on_kernels(game: CompiledSpot, iterations: int | None) -> dict[str, Any]:
    """A run with compiled kernels on two cores."""
    with on_cores(CORES):
        run, crew = HoldemSolver(game, threads=CORES), judging_crew(game, CORES)

        def evaluate() -> float:
            judged = judge_spot(game, run.store.average, run.store, crew, expected=False)
            return 100 * judged.exploitability / game.spot.pot

        run.run(0)
        if iterations is None:
            found = until_target(run, evaluate, None)
            return found | {"ms": 1000 * found["solving"] / found["iterations"]}
        run.run(1)
        start = time.perf_counter()
        run.run(iterations)
        ms = 1000 * (time.perf_counter() - start) / iterations
        return {"iterations": iterations, "seconds": None, "percent": None, "ms": ms}


def one_spot(each: GpuSpot, device: str, iterations: int | None, kernels: int | None) -> dict[str, Any]:
    """Measure a spot on a device, then on two cores; None iterations: as many as the target needs."""
    start = time.perf_counter()
    game = compile_spot(each.spot())
    row = {"spot": each.title, "numbers": game.stored, "building": time.perf_counter() - start}
    return row | {"device": on_device(game, device, iterations), "kernels": on_kernels(game, kernels)}


def spots(device: str, quick: bool) -> Iterator[Callable[[], dict[str, Any]]]:
    """A function that measures, for each spot."""
    on_card = device == "cuda"
    for each in SPOTS:
        if each.quick or (not quick and (on_card or each.off_card != 0)):
            iterations = 2 if quick else None if on_card else each.off_card
            kernels = each.kernels if on_card else iterations
            yield partial(one_spot, each, device, iterations, 2 if quick else kernels)
