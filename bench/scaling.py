"""Overhead of many workers: bytes and seconds of jobs, efficiency with one and two processes, and limits beyond.

A job is sent to a worker as bytes and returns as bytes; shared data is sent to each process once (on Ray: to each machine). Six
kinds of work are divided into jobs as in the library. Measured quantities: CPU time of a job in its worker, CPU time of this
process per job (packing, sending, unpacking), bytes, and the time for all jobs.

    python bench/run.py scaling [--quick] [--jobs 24]
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.base.workers.executor import make_executor
from treeplex.engine.tree.regret import Weights
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.forms.sources.load import public_tree
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.split.blocks import FolderBlocks
from treeplex.holdem.forms.split.form import MEMORY_FOLDER
from treeplex.holdem.forms.split.jobs import PartWorker, Step
from treeplex.holdem.forms.split.parts import greatest_extent, split_spot
from treeplex.holdem.spots.known import flop_holdem, holdem
from treeplex.holdem.study.batches.board import BoardTask, solve_board, solve_row
from treeplex.holdem.study.batches.boards import read_boards
from treeplex.learn.discount.episodes import Player, play
from treeplex.learn.neural.walks.compiled import WALKS, WalkKind, WorkerGame, walk_external
from treeplex.learn.rebel.nets import weights_of
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, advance, stream_state
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.search.match.hands import HandPlayer
from treeplex.search.match.settings import MatchSettings
from treeplex.solvers.rules.discount_policy import untrained_discount_policy

LINK = 125e6
"""Bytes per second of a one-gigabit link."""
CLUSTERS = (2, 16, 256)
QUIET = 0.5
"""Load below which a machine counts as idle before the measurements."""
PATIENCE = 120.0
"""Maximum seconds to wait for that load, which falls by half in 40 seconds after another benchmark."""
WARM = 2
"""Warm-up jobs of each worker, for imports, compilation and loading."""


@dataclass(frozen=True)
class Work:
    """Jobs of one kind.

    Attributes:
        name: in the tables.
        step: jobs per synchronised step; None without synchronisation.
        function: of a job.
        shared: data common to all jobs.
        job: the arguments of a numbered job, after the shared data.
    """

    name: str
    step: int | None
    function: Callable[..., Any]
    shared: tuple[Any, ...]
    job: Callable[[int], tuple[Any, ...]]


def works(folder: Path) -> list[Work]:
    """The kinds of work; they write into the folder."""
    dice, settings = "liars_dice(dice_sides=4)", RebelSettings(episodes=64, streams=2)
    rules = public_tree(dice)
    trainer = RebelTrainer(rules, settings)
    weights, state = weights_of(trainer.leaf), stream_state(trainer.play)
    policy = untrained_discount_policy(horizon=1000, hidden=(64, 64), seed=1)
    rows = policy.parameters + 0.05 * np.random.default_rng(0).standard_normal((100, len(policy.parameters)))
    leduc = tp.compile("leduc_poker")
    strategy = uniform_probabilities(leduc)[: sum(leduc.sequences) - leduc.players]
    hands = HandPlayer("leduc_poker", ("uniform", "uniform"), MatchSettings(hands=100_000, sampled=True, aivat="auto"))
    boards = read_boards("subset:200")
    pair = BetPlan.same("50%,a", "a")

    def board(number: int) -> tuple[BoardTask]:
        name = boards[number].name + next(card for card in ("2c", "3d", "4h") if card not in boards[number].name)
        spot = holdem(name, "AA,KK,QQ,AK", "JJ,TT,99,AQ", pot=20, stack=60, bets=pair)
        spot = replace(spot, settings=replace(spot.settings, iterations=50, threads=1))
        return (BoardTask(solve_board, spot, boards[number], {}, None, False, None),)

    return [
        Work(
            "ReBeL, 64 subgames of Liar's Dice", None, advance, (SelfPlayer(dice, settings),), lambda number: (weights, state)
        ),
        Work(
            "DDCFR, one candidate on Leduc",
            100,
            play,
            (Player(("leduc_poker",), policy),),
            lambda number: (0, rows[number : number + 1]),
        ),
        Work(
            f"Deep CFR, {WALKS} walks of Leduc",
            6,
            walk_external,
            (WorkerGame("leduc_poker"), strategy),
            lambda number: (WalkKind(0, 1), WALKS * number, WALKS * (number + 1)),
        ),
        Work(
            "match, 100 hands of Leduc without luck",
            None,
            HandPlayer.play,
            (hands,),
            lambda number: (range(100 * number, 100 * number + 100),),
        ),
        Work("batch, a turn of hold'em, 50 iterations", None, solve_row, (), board),
        part_work(folder),
    ]


def part_work(folder: Path) -> Work:
    """One player's update in a part of flop hold'em with one raise, whose blocks are in a folder."""
    _, parts = split_spot(compile_spot(flop_holdem(1)))
    worker = PartWorker(np.float32, greatest_extent(parts), packed=False, predicts=False, raked=False)
    reach = np.ones(worker.extent.kept, np.float32)
    step = Step(1, 1, np.zeros(len(Weights._fields)), 1.0, 0.0)
    shared = worker, parts[0], FolderBlocks(folder), step, reach
    return Work(f"flop hold'em, a part of {len(parts)}, one update", len(parts), PartWorker.improve, shared, lambda number: ())


def measured(work: Work, size: int, jobs: int) -> dict[str, float]:
    """Run jobs on the given number of processes, after warm-up jobs."""
    with make_executor("processes", size) as executor:
        shared = tuple(executor.share(each) for each in work.shared)

        def some(numbers: range) -> None:
            for _ in executor.map(work.function, ((*shared, *work.job(number)) for number in numbers)):
                pass

        some(range(WARM * size))
        before, own, began = executor.traffic, time.process_time(), time.perf_counter()
        some(range(WARM * size, WARM * size + jobs))
        wall, own = time.perf_counter() - began, time.process_time() - own
        after = executor.traffic
    return {
        "wall": wall,
        "own": own / jobs,
        "seconds": (after.seconds - before.seconds) / jobs,
        "sent": (after.sent - before.sent) / jobs,
        "received": (after.received - before.received) / jobs,
        "shared": after.shared / size,
    }


def efficiency(case: dict[str, Any], workers: int) -> tuple[float, str]:
    """Upper bound on the share of time that the workers are busy, and what limits it.

    A step of J jobs of s seconds takes at least ``ceil(J / W) s``; this process takes p seconds for each of them, and the
    link of one gigabit ``bytes / 125 MB/s``. Without steps there is no first bound.
    """
    step = case["step"]
    count = step or 1000 * workers
    works = math.ceil(count / workers) * case["seconds"]
    takes = {
        "jobs of a step": works,
        "this process": count * case["own"],
        "the link": count * (case["sent"] + case["received"]) / LINK,
    }
    slowest = max(takes, key=lambda name: takes[name])
    share = count * case["seconds"] / workers / takes[slowest]
    return share, "" if share > 0.98 else slowest


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    costs, rows, quiet = [], [], result["load"] < QUIET
    for case in result["cases"]:
        found = [case["seconds"], case["own"]]
        costs.append(
            [
                case["work"],
                *(f"{1000 * each:,.2f}" for each in found),
                *(f"{case[name] / 1000:,.1f}" for name in ("sent", "received", "shared")),
            ]
        )
        bounds = [efficiency(case, workers) for workers in CLUSTERS]
        share = f"{100 * case['measured']:.0f}%" if quiet else "machine busy"
        rows.append([case["work"], share, *(f"{100 * part:.0f}% {why}".strip() for part, why in bounds)])
    first = record.markdown_table(
        ["job", "ms in the worker", "ms in the main process", "kB sent", "kB returned", "kB shared once"], costs, left=1
    )
    head = ["work", "2 processes, measured", *(f"{workers} workers, upper bound" for workers in CLUSTERS)]
    mark = "idle" if quiet else f"busy, so the times of {head[1].split(',')[0]} do not show efficiency"
    load = f"The machine was {mark}: the load of its {result['cores']} cores was {result['load']:.1f} beforehand."
    return f"{first}\n\n{record.markdown_table(head, rows, left=1)}\n\n{load}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of jobs."""
    parser.add_argument("--jobs", type=int, default=24, help="jobs of each kind (default 24)")


@benchmark(
    title="Many workers",
    place=90,
    minutes=3,
    pinned=False,
    about=(
        "Measured efficiency is the time that one process takes for all jobs, divided by twice the time that two processes "
        "take. It can only be measured on an idle machine. The processes run on this machine and share no network link. The "
        "upper bounds for more workers follow from processor time and bytes per job: this process hands out all jobs over "
        "one link of one gigabit per second. A measured value can therefore exceed the bound."
    ),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure all kinds of work."""
    jobs, before = 2 if options.quick else options.jobs, idle_load(0.0 if options.quick else PATIENCE)
    with TemporaryDirectory(dir=MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else None) as folder:
        cases = [case_of(work, jobs) for work in works(Path(folder))]
    return {"jobs": jobs, "cores": len(os.sched_getaffinity(0)), "load": before, "cases": cases}


def idle_load(patience: float) -> float:
    """The load once the machine is idle, or after ``patience`` seconds."""
    until = time.monotonic() + patience
    while (load := os.getloadavg()[0]) >= QUIET and time.monotonic() < until:
        time.sleep(2.0)
    return load


def case_of(work: Work, jobs: int) -> dict[str, Any]:
    """Measure one kind of work with one process and with two."""
    print(work.name, file=sys.stderr, flush=True)
    alone, both = (measured(work, size, jobs) for size in (1, 2))
    one = {**alone, "own": min(alone["own"], both["own"]), "seconds": min(alone["seconds"], both["seconds"])}
    return {"work": work.name, "step": work.step, **one, "measured": alone["wall"] / both["wall"] / 2}
