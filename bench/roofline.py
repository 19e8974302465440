"""Nanoseconds per sequence and per payoff entry of the engine's passes, compared with a plain pass over the same bytes.

For each pass the bytes it must move are counted: every array element it reads and writes, once. Plain loops that read, rewrite
and write as many bytes, in arrays of these sizes, are timed on the same core; the ratio shows the distance from the limit of
memory bandwidth (or of the cache, for a small game).

    python bench/run.py roofline [--quick] [--rounds 7]
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bench.common import passes, record
from bench.common.benchmark import benchmark
from bench.iteration_speed import GOOFSPIEL, battleship
from treeplex.engine.tree.form import new_state, workspace
from treeplex.engine.tree.regret import Weights
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.solvers.registry import make_solver
from treeplex.solvers.solver import GameSolver

GAMES = {
    "Leduc poker": "leduc_poker",
    "Liar's Dice, 6 faces": "liars_dice(numdice=1,dice_sides=6)",
    "Goofspiel-5": GOOFSPIEL,
    "Battleship-3": battleship(3),
    "Big Leduc": "big_leduc",
}
QUICK_GAMES = ("Leduc poker", "Goofspiel-5")
WARM_UP = 20
PASSES = ("gradient", "average", "update", "reach")
FLOAT = 8


def entries(game: CompiledGame) -> int:
    """Multiply-adds of all gradients: entries of each player's rows, or nonzeros of the matrices times their terminals."""
    sparse, dense, *_ = game.payoff
    found = sparse.values.size
    for offset, rows, columns, first, last in dense.groups:
        found += game.players * int(np.count_nonzero(dense.matrices[offset : offset + rows * columns])) * int(last - first)
    return int(found)


class Traffic(NamedTuple):
    """Bytes of the arrays that a pass only reads, reads and writes, or only writes; repeated accesses count once."""

    read_only: int
    in_place: int
    write_only: int

    @property
    def moved(self) -> int:
        """Bytes read and bytes written."""
        return self.read_only + 2 * self.in_place + self.write_only


def must_move(game: CompiledGame) -> dict[str, Traffic]:
    """The traffic of each pass over all players."""
    (sparse, dense, *_), tree = game.payoff, game.tree
    sequences, infosets, parents = FLOAT * sum(game.sequences), FLOAT * sum(game.infosets), tree.infoset_parent.nbytes
    if dense.groups.size:
        operator = dense.matrices.nbytes + game.players * (dense.starts.nbytes + dense.scales.nbytes)
        gradient = Traffic(sequences + operator, sequences, 0)
    else:
        operator = sparse.values.nbytes + sparse.others.nbytes + sparse.pointers.nbytes
        gradient = Traffic(sequences + operator, 0, sequences)
    return {
        "gradient": gradient,
        "average": Traffic(sequences, sequences, 0),
        "update": Traffic(sequences + parents, 2 * sequences + 2 * infosets, 0),
        "reach": Traffic(sequences + parents, 0, sequences),
    }


def nanoseconds(work: Callable[[int], object], options: argparse.Namespace) -> float:
    """The median time of one repetition of ``work(times)``, compiled and warm."""
    work(1)
    start = time.perf_counter()
    work(2)
    times = max(1, round(options.batch / ((time.perf_counter() - start) / 2)))
    found = []
    for _ in range(options.rounds):
        start = time.perf_counter()
        work(times)
        found.append((time.perf_counter() - start) / times)
    return 1e9 * statistics.median(found)


def run_game(spec: str, options: argparse.Namespace) -> dict[str, Any]:
    """Time all passes on one game, in the middle of a CFR run."""
    game = compile_game(spec)
    solver = make_solver(game, "cfr")
    assert isinstance(solver, GameSolver)
    solver.run(WARM_UP)
    passing = {name: nanoseconds(work, options) for name, work in engine_passes(game, solver).items()}
    passing["update"] = max(passing["update"] - passing.pop("copy"), 0.0)
    needed = must_move(game)
    rows = {name: row(passing[name], needed[name], options) for name in PASSES}
    whole = Traffic(*map(sum, zip(*needed.values(), strict=True)))
    rows["whole iteration"] = row(nanoseconds(solver.run, options), whole, options)
    return {
        "spec": spec,
        "operator": "shared dense" if game.payoff.dense.groups.size else "sparse",
        "sequences": sum(game.sequences),
        "infosets": sum(game.infosets),
        "entries": entries(game),
        "passes": rows,
    }


def engine_passes(game: CompiledGame, solver: GameSolver) -> dict[str, Callable[[int], object]]:
    """Each pass as a function of the number of repetitions, on copies of the solver's arrays."""
    tree, payoff = game.tree, game.payoff
    policy, strategy, average, regrets = (
        array.copy() for array in (solver.policy, solver.strategy, solver.average, solver.regrets)
    )
    fresh, values = np.empty_like(policy), np.empty_like(policy)
    passes.gradients(1, tree, payoff, strategy, fresh)
    rule, state, work = np.array(Weights()), new_state(policy.copy(), regrets=regrets), workspace(tree)
    return {
        "gradient": lambda times: passes.gradients(times, tree, payoff, strategy, values),
        "average": lambda times: passes.averages(times, tree, strategy, average),
        "update": lambda times: passes.updates(times, tree, rule, fresh, state, work),
        "copy": lambda times: passes.copies(times, fresh, values),
        "reach": lambda times: passes.reaches(times, tree, policy, strategy),
    }


def row(ns: float, traffic: Traffic, options: argparse.Namespace) -> dict[str, float]:
    """Row of one pass, compared with the plain pass."""
    arrays = passes.plain_arrays(*traffic)
    plain = nanoseconds(lambda times: passes.plain(times, *arrays), options)
    return {"ns": ns, "moved_bytes": traffic.moved, **traffic._asdict(), "plain_ns": plain, "times_plain": ns / plain}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = []
    for name, game in result["games"].items():
        for kind, found in game["passes"].items():
            moved = found["moved_bytes"]
            with_entries = kind in ("gradient", "whole iteration")
            rows.append(
                [
                    f"{name} ({game['operator']})",
                    kind,
                    record.digits(found["ns"] * 1e-3),
                    record.digits(found["ns"] / game["sequences"]),
                    record.digits(found["ns"] / game["entries"]) if with_entries else "",
                    record.digits(moved / 2**10),
                    record.digits(moved / found["ns"]),
                    record.digits(moved / found["plain_ns"]),
                    record.digits(found["times_plain"]),
                ]
            )
    header = [
        "game",
        "pass",
        "µs",
        "ns per sequence",
        "ns per payoff entry",
        "KiB to move",
        "GB/s",
        "GB/s, plain pass",
        "times the plain pass",
    ]
    counts = "; ".join(
        f"{name} {game['sequences']:,} sequences and {game['entries']:,} payoff entries"
        for name, game in result["games"].items()
    )
    note = f"Totals over all players: {counts} (entries are counted once per player's gradient)."
    return f"{record.markdown_table(header, rows, left=2)}\n\n{note}"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=None, help="batches for each figure (default 7; 3 with --quick)")
    parser.add_argument("--batch", type=float, default=None, help="target seconds per batch (default 0.2; 0.01 with --quick)")


@benchmark(
    title="Distance from memory bandwidth",
    place=8,
    minutes=2,
    about=(
        "Passes over all players in the middle of a CFR run, on one core with one thread. The column KiB to move counts "
        "every array element that a pass reads or writes once. The plain pass reads, updates and writes as many bytes in "
        "simple loops. The shared dense operator does many multiply-adds per byte, so bandwidth does not limit its gradient."
    ),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    options.rounds = options.rounds or (3 if options.quick else 7)
    options.batch = options.batch or (0.01 if options.quick else 0.2)
    games = {}
    for name in QUICK_GAMES if options.quick else GAMES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        games[name] = run_game(GAMES[name], options)
    return {"games": games}
