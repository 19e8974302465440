"""Time an epoch of training as in the DDCFR paper: 100 candidates, four games, 1000 iterations with exploitability at each.

``python bench/training.py`` prints seconds an epoch with one worker and with one a core, and what an episode is made of.
"""

import os
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import treeplex as tp
from treeplex.engine.networks.mlp_single import forward
from treeplex.engine.tree.learned import play_episode, trace_episode
from treeplex.runs.discount.settings import GAMES
from treeplex.solvers.rules.discount_policy_files import shipped_discount_policy

EPOCHS, ROUNDS, HORIZON = 4, 5, 1000


def epochs(workers: int) -> float:
    """The median time of an epoch, after the first, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        training = tp.train(GAMES, "ddcfr", settings={"epochs": EPOCHS + 1}, out=Path(folder) / "run", workers=workers)
    marks = [record.seconds for record in training.records]
    return median(np.diff(marks)[1:])


def episodes(game: tp.CompiledGame) -> tuple[float, float, int]:
    """The least time of an episode and of its evaluations of the network, in seconds, and their number."""
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
    return best[0], best[1], decisions


def main() -> None:
    for spec in GAMES:
        whole, network, decisions = episodes(tp.compile(spec))
        print(f"{spec}: {1e3 * whole:.2f} ms an episode, {decisions} decisions, network at most {1e3 * network:.2f} ms")
    for workers in sorted({1, os.cpu_count() or 1}):
        print(f"{workers} workers: {epochs(workers):.2f} s an epoch")


if __name__ == "__main__":
    main()
