"""Time of a training epoch as in the DDCFR paper: 100 candidates, four games, 1000 iterations with exploitability at each.

Seconds per epoch with one worker and with one per core, and the parts of an episode.
"""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.engine.networks.mlp_single import forward
from treeplex.engine.threads import available_cores
from treeplex.engine.tree.learned import play_episode, trace_episode
from treeplex.learn.discount.settings import GAMES
from treeplex.solvers.rules.discount_policy_files import shipped_discount_policy

EPOCHS, ROUNDS, HORIZON = 4, 5, 1000


def epochs(workers: int, count: int) -> float:
    """The median time of an epoch, after the first, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        training = tp.train(GAMES, "ddcfr", settings={"epochs": count + 1}, out=Path(folder) / "run", workers=workers)
    marks = [record.seconds for record in training.records]
    return median(np.diff(marks))


def episodes(game: tp.CompiledGame) -> dict[str, float]:
    """Minimum seconds of an episode and of its network evaluations, and the number of evaluations."""
    policy = shipped_discount_policy("ddcfr")
    decisions = len(trace_episode(game.tree, game.payoff, policy.compiled, HORIZON)[1])
    activations, best = np.full(int(policy.sizes.sum()), 0.5), [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        start = time.perf_counter()
        play_episode(game.tree, game.payoff, policy.compiled, HORIZON)
        middle = time.perf_counter()
        for _ in range(decisions):
            forward(policy.sizes, policy.compiled.parameters, activations)
        best = [min(best[0], middle - start), min(best[1], time.perf_counter() - middle)]
    return {"seconds": best[0], "network_seconds": best[1], "decisions": decisions}


@benchmark(
    title="Training a discount policy",
    place=None,
    minutes=2,
    pinned=False,
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    count = 1 if options.quick else EPOCHS
    found = [{"game": spec, **episodes(tp.compile(spec))} for spec in GAMES]
    seconds = {str(workers): epochs(workers, count) for workers in sorted({1, available_cores()})}
    return {"episodes": found, "epoch_seconds": seconds}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = [
        [f"`{each['game']}`", f"{1e3 * each['seconds']:.2f}", str(each["decisions"]), f"{1e3 * each['network_seconds']:.2f}"]
        for each in result["episodes"]
    ]
    table = record.markdown_table(["game", "ms per episode", "decisions", "ms of the network, at most"], rows)
    workers = (f"{workers} workers: {seconds:.2f} s per epoch" for workers, seconds in result["epoch_seconds"].items())
    return "\n\n".join([table, *workers])
