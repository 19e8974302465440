"""Compressed storage of regrets and averages: a flop of no-limit hold'em and flop hold'em with one raise, in up to five
formats.

With the name of a game and a storage format as options only that run is made (and cached); otherwise all.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from papers.common.kept import kept
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.holdem import BetPlan, CompiledSpot, HoldemSolver, Spot, flop_holdem
from treeplex.holdem import compile as compile_spot
from treeplex.holdem.forms.split.form import SplitForm, SplitState
from treeplex.holdem.policies.judge import judge_spot, judgement_of, judging_crew
from treeplex.holdem.spots.known import holdem

OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
GAMES: dict[str, tuple[Callable[[], Spot], int, float, str]] = {
    "flop": (
        lambda: holdem("Td9d6h", OOP, IP, pot=200, stack=900, bets=BetPlan.same("60%", "a")),
        100,
        2.0,
        "percent of the pot",
    ),
    "flop hold'em, 1 raise": (lambda: flop_holdem(1), 60, 0.1, "mbb/hand"),
}
"""Each spot with its iterations, the divisor of exploitability in chips, and the resulting unit."""
STORAGES = ("float32", "int16", "int8", "packed", "disk")
"""Storage formats; the last one only for the flop."""
THREADS = 1


@cache
def compiled(name: str) -> CompiledSpot:
    """A spot, compiled once."""
    return compile_spot(GAMES[name][0]())


def judged(solver: HoldemSolver) -> float:
    """Exploitability in chips, in double precision."""
    form, tables = solver.form, solver.tables
    if isinstance(form, SplitForm):
        return judgement_of(solver.game, partial(form.root_values, tables), expected=False).exploitability
    crew = judging_crew(solver.game, THREADS)
    return judge_spot(solver.game, solver.store.average, solver.store, crew, expected=False).exploitability


def run(name: str, storage: str) -> dict[str, float]:
    """CPU time per iteration, exploitability, bytes per number, and disk traffic."""
    game, (_, iterations, unit, _) = compiled(name), GAMES[name]
    folder = tempfile.mkdtemp(prefix="treeplex-storage-")
    solver = HoldemSolver(game, "dcfr", threads=THREADS, storage=f"disk:{folder}/run" if storage == "disk" else storage)
    solver.run(0)
    began, wall = time.process_time(), time.perf_counter()
    solver.run(iterations)
    spent, waited = time.process_time() - began, time.perf_counter() - wall
    found = {"seconds": spent / iterations, "wall": waited / iterations, "exploitability": judged(solver) / unit}
    if isinstance(solver.tables, SplitState):
        assert isinstance(solver.form, SplitForm)
        size, seconds = solver.form.moved
        found |= {
            "bytes": solver.tables.blocks.size / game.stored,
            "moved": size / iterations,
            "rate": size / max(seconds, 1e-9),
        }
    else:
        arrays = solver.arrays()
        found["bytes"] = sum(array.nbytes for array in arrays.values()) / game.stored
    shutil.rmtree(folder)
    return found


@study(title="Compressed storage", place=2, minutes=6)
def reproduce(*options: str) -> Result | None:
    runs: dict[str, Any] = {}
    for name in GAMES:
        for storage in STORAGES if name == "flop" else STORAGES[:-1]:
            if not options or options == (name, storage):
                key = {"study": "storage", "game": name, "storage": storage, "at": 1}
                found = kept(key, partial(run, name, storage))
                runs.setdefault(name, {})[storage] = found
                print(name, storage, found, flush=True)
    if options:
        return None
    rows, findings = [], []
    for name, of_game in runs.items():
        base = of_game["int16"]
        for storage, found in of_game.items():
            rate = f"{found['moved'] / 1e6:,.0f}; {found['rate'] / 1e6:,.0f}" if storage == "disk" else ""
            cells = [f"{found['exploitability']:.3f}", f"{found['bytes']:.2f}", f"{base['bytes'] / found['bytes']:.2f}"]
            rows.append(
                [name, storage, *cells, f"{1000 * found['seconds']:.0f}", f"{found['seconds'] / base['seconds']:.2f}", rate]
            )
        for storage in ("int8", "packed"):
            found = of_game[storage]
            findings.append(
                f"{name.capitalize()}: `{storage}` takes {base['bytes'] / found['bytes']:.2f} times less memory than "
                f"`int16`, at {found['seconds'] / base['seconds']:.2f} times the CPU time. Exploitability after "
                f"{GAMES[name][1]} iterations is {found['exploitability']:.3f} {GAMES[name][3]}, with `int16` "
                f"{base['exploitability']:.3f}."
            )
    return Result(
        source="A study of our own: `dcfr` on one thread",
        findings=findings,
        tables=[
            Table(
                "Regrets and averages in five formats",
                (
                    "spot",
                    "storage",
                    "exploitability",
                    "bytes for regret and average",
                    "times less than int16",
                    "CPU ms per iteration",
                    "times int16",
                    "disk: MB per iteration; MB/s",
                ),
                rows,
            )
        ],
        notes=[
            *(f"{name}: {compiled(name).stored:,} numbers per array; exploitability in {GAMES[name][3]}." for name in GAMES),
            "`int8` has 127 steps up and down. `packed` and `disk` have a step size of 129 of 32,767, in blocks of "
            "32 hands. All three round at random without bias. The rate is for reading and writing files on a machine with "
            "enough memory to cache them.",
        ],
        numbers={"runs": runs},
        threads=THREADS,
    )
