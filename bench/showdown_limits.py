"""Each pass of the hold'em hand engine compared with the machine's limits: memory, cache and arithmetic.

For each pass three lower bounds on its time are computed: the bytes of stored arrays (regrets, averages), read and written
once, at the speed of plain passes over as many bytes; its loads and stores, at the speed of additions in the first-level cache;
its additions, multiplications and comparisons, at the speed of multiply-adds in registers. The largest of the three is the
limit. Loads, stores and operations are counted from the loops of the kernels (:data:`COSTS`).

    python bench/run.py showdown_limits [--quick] [--rounds 7]
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bench.common import holdem_passes, passes, record
from bench.common.benchmark import benchmark
from bench.common.holdem_spots import basic
from bench.roofline import nanoseconds
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.form import ACTIONS, BOARDS, COUNT, FOLDS, NODES, SHOWDOWNS
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.known import all_hands, turn_endgame_holdem
from treeplex.holdem.spots.spot import Spot

WARM_UP = 20
NUMBER = 4
CACHED = 2048
"""Elements of an array that fits into the first-level cache."""


def river() -> Spot:
    """One river board with all hands and the bet sizes of Turn Endgame Hold'em."""
    return Spot(parse_cards("3s7hTdKs2c"), 2000, 19000, all_hands(HOLDEM), BetPlan.same("50%,100%,a", "75%,a"))


GAMES: dict[str, Callable[[], Spot]] = {
    "River, all hands": river,
    "Turn Endgame Hold'em": turn_endgame_holdem,
    "Turn, example ranges": basic("Td9d6hQc"),
}
QUICK_GAMES = ("River, all hands",)


class Work(NamedTuple):
    """Work of a pass: elements of stored arrays moved, loads and stores, operations."""

    stored: float
    accesses: float
    operations: float


class Size(NamedTuple):
    """Size of the last street over both players and all boards: actions, nodes and terminals, each times hands."""

    edges: int
    nodes: int
    showdowns: int
    folds: int


COSTS: dict[str, Callable[[Size], Work]] = {
    "reach": lambda s: Work(s.edges, 7 * s.edges + 5 * s.nodes, 6 * s.edges + 4 * s.nodes),
    "average": lambda s: Work(2 * s.edges, 3 * s.edges, 2 * s.edges),
    "to terminals": lambda s: Work(0, 4 * (s.showdowns + s.folds), s.showdowns + s.folds),
    "showdowns": lambda s: Work(0, 23 * s.showdowns, 11 * s.showdowns),
    "folds": lambda s: Work(0, 12 * s.folds, 6 * s.folds),
    "from terminals": lambda s: Work(0, 5 * (s.showdowns + s.folds), s.showdowns + s.folds),
    "update": lambda s: Work(2 * s.edges, 12 * s.edges + 11 * s.nodes, 12 * s.edges + 5 * s.nodes),
    "best response": lambda s: Work(0, 3 * s.edges + 3 * s.nodes, s.edges + s.nodes),
}
"""Work counted from the loops of each pass.

Terminals are visited once for the player's hands and once or twice for the opponent's; summed over both players the numbers of
hands are equal.
"""
LIMITS = ("memory", "cache", "arithmetic")
ITERATION = tuple(name for name in COSTS if name != "best response")


def size_of(game: CompiledSpot) -> Size:
    """Sizes of the last street, summed over players and boards."""
    form, street = game.form, game.form.streets[-1]
    hands = [form.boards[street[BOARDS] : street[BOARDS + 1], COUNT + player].sum() for player in (0, 1)]
    return Size(
        edges=int(sum(street[ACTIONS + player] * hands[player] for player in (0, 1))),
        nodes=int(sum((street[NODES + player + 1] - street[NODES + player]) * hands[player] for player in (0, 1))),
        showdowns=int((street[SHOWDOWNS + 1] - street[SHOWDOWNS]) * sum(hands)),
        folds=int((street[FOLDS + 1] - street[FOLDS]) * sum(hands)),
    )


def engine_passes(solver: HoldemSolver) -> dict[str, Callable[[int], object]]:
    """Each pass as a function of the number of repetitions, on copies of the solver's arrays."""
    form, work = solver.game.form, solver.crew.work
    regrets, average = solver.store.regrets.copy(), solver.store.average.copy()
    weights = solver.rule.rows([WARM_UP], solver.horizon)[0]
    rows, scratch, turned = work.rows[0].copy(), work.scratch[0].copy(), work.turned[0].copy()
    reached, valued, total, by_card = (getattr(work, name)[0].copy() for name in ("reached", "valued", "total", "by_card"))
    random = np.random.default_rng(1)
    reached[:] = random.random(reached.size)
    fresh = random.standard_normal(rows.shape).astype(rows.dtype)
    chips = np.ones(int(max(form.streets[-1, SHOWDOWNS + 1], form.streets[-1, FOLDS + 1])), rows.dtype)
    locked = solver.store.locked
    return {
        "reach": lambda times: holdem_passes.reaches(times, form, regrets, rows, scratch),
        "average": lambda times: holdem_passes.averages(times, form, average, rows),
        "to terminals": lambda times: holdem_passes.turns(times, form, True, chips, rows, turned, valued),
        "showdowns": lambda times: holdem_passes.evaluations(times, form, 0, reached, valued, total, by_card),
        "folds": lambda times: holdem_passes.evaluations(times, form, 1, reached, valued, total, by_card),
        "from terminals": lambda times: holdem_passes.turns(times, form, False, chips, rows, turned, valued),
        "update": lambda times: holdem_passes.updates(times, form, regrets, weights, fresh, rows, scratch),
        "best response": lambda times: holdem_passes.bests(times, form, regrets, locked, fresh, rows, scratch),
        "copy": lambda times: holdem_passes.copies(times, form, fresh, rows),
    }


def machine_rates(options: argparse.Namespace) -> dict[str, float]:
    """Loads and stores, and multiply-adds, per nanosecond."""
    source, target = holdem_passes.machine_arrays(CACHED)
    added = nanoseconds(lambda times: holdem_passes.additions(times, source, target), options)
    half, one = np.float32(0.5), np.float32(1.0)
    chained = nanoseconds(lambda times: holdem_passes.chains(times, source, half, one), options)
    return {"accesses": 3 * CACHED / added, "operations": 16 * CACHED / chained}


def memory_ns(name: str, moved: Work, options: argparse.Namespace) -> float:
    """Time of plain passes over as many bytes: read only for the reach, read and rewritten for the others."""
    stored = NUMBER * moved.stored
    if not stored:
        return 0.0
    parts = (0.0, stored / 2, 0.0) if name in ("average", "update") else (stored, 0.0, 0.0)
    arrays = passes.plain_arrays(*parts)
    return nanoseconds(lambda times: passes.plain(times, *arrays), options)


def row(ns: float, work: Work, memory: float, rates: dict[str, float]) -> dict[str, Any]:
    """Row of one pass and its limits."""
    limits = {
        "memory": memory,
        "cache": work.accesses / rates["accesses"],
        "arithmetic": work.operations / rates["operations"],
    }
    which = max(limits, key=lambda name: limits[name])
    return {"ns": ns, "limits": limits, "limit": which, "times_limit": ns / limits[which], **work._asdict()}


def run_game(make: Callable[[], Spot], rates: dict[str, float], options: argparse.Namespace) -> dict[str, Any]:
    """All passes of one spot, in the middle of a run."""
    solver = HoldemSolver(compile_spot(make()), threads=1)
    solver.run(WARM_UP)
    size = size_of(solver.game)
    times = {name: nanoseconds(work, options) for name, work in engine_passes(solver).items()}
    copy = times.pop("copy")
    rows = {}
    for name, cost in COSTS.items():
        ns = max(times[name] - (copy if name in ("update", "best response") else 0.0), 1.0)
        rows[name] = row(ns, cost(size), memory_ns(name, cost(size), options), rates)
    total = Work(*(sum(rows[name][field] for name in ITERATION) for field in Work._fields))
    memory = sum(rows[name]["limits"]["memory"] for name in ITERATION)
    rows["whole iteration"] = row(nanoseconds(solver.run, options), total, memory, rates)
    rows["whole iteration"]["sum_of_limits_ns"] = sum(max(rows[name]["limits"].values()) for name in ITERATION)
    return {**size._asdict(), "stored_bytes": 2 * NUMBER * solver.game.stored, "passes": rows}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = []
    for name, game in result["games"].items():
        for kind, found in game["passes"].items():
            limits = found["limits"]
            unit = {"showdowns": game["showdowns"], "folds": game["folds"]}.get(kind, game["edges"])
            if kind in ("to terminals", "from terminals"):
                unit = game["showdowns"] + game["folds"]
            times = [1e-3 * found["ns"], found["ns"] / unit, *(1e-3 * limits[limit] for limit in LIMITS)]
            quotient = f"{record.digits(found['times_limit'])} ({found['limit']})"
            rows.append([name, kind, *(record.digits(time) if time else "" for time in times), quotient])
    header = ["spot", "pass", "µs", "ns per number", *(f"{limit} limit, µs" for limit in LIMITS), "times the limit"]
    rates = result["rates"]
    sizes = "; ".join(
        f"{name} {game['edges']:,} actions, {game['showdowns'] + game['folds']:,} terminals, "
        f"{game['stored_bytes'] / 2**20:.1f} MiB stored"
        for name, game in result["games"].items()
    )
    note = (
        f"The first-level cache of this core sustains {rates['accesses']:.1f} loads and stores of float32 "
        f"per nanosecond, and its registers sustain {rates['operations']:.1f} multiply-adds. Actions and terminals are counted "
        f"once per hand. Counts on the last street: {sizes}"
    )
    return f"{record.markdown_table(header, rows, left=2)}\n\n{note}."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=None, help="batches for each figure (default 7; 2 with --quick)")
    parser.add_argument("--batch", type=float, default=None, help="target seconds per batch (default 0.2; 0.01 with --quick)")


@benchmark(
    title="Hold'em compared with hardware limits",
    place=6,
    minutes=1,
    about=(
        "Measured on one core with one thread in the middle of a run, over all boards of the last street and both players. The "
        "limit is the largest of three times: plain passes over the stored bytes, all loads and stores at the speed of the "
        "first-level cache, and all operations as multiply-adds in registers. Limits of a whole iteration do not include "
        "earlier streets."
    ),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    options.rounds = options.rounds or (2 if options.quick else 7)
    options.batch = options.batch or (0.01 if options.quick else 0.2)
    rates, games = machine_rates(options), {}
    for name in QUICK_GAMES if options.quick else GAMES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        games[name] = run_game(GAMES[name], rates, options)
    return {"rates": rates, "games": games}
