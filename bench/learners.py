"""Deep CFR on Leduc poker beside OpenSpiel's in PyTorch: walks and gradient steps a second of one core, in one process.

The same networks (three layers of 64 units), 2,048 rows a step, external sampling and regrets in reservoirs. Time is that of
the processor.
"""

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.learn.neural.deep_cfr import SingleDeepCfr, SingleDeepCfrSettings
from treeplex.learn.torch.device import one_thread

GAME, LAYERS, BATCH, RATE = "leduc_poker", (64, 64, 64), 2048, 1e-3
WALKS, STEPS = 1500, 750
"""Of an iteration for each player, as published trainings have it."""
ROUNDS, THEIR_WALKS, THEIR_STEPS = 20, 600, 50


def rates(walk: Callable[[], object], fit: Callable[[], object], walks: int, steps: int) -> dict[str, float]:
    """Walks and gradient steps a second of processor time, and seconds of a whole iteration of two players at that."""
    began = process_time()
    walk()
    walked = process_time()
    fit()
    fitted = process_time()
    found = {"walks": walks / (walked - began), "steps": steps / (fitted - walked)}
    return found | {"iteration": 2 * (WALKS / found["walks"] + STEPS / found["steps"])}


def ours(steps: int) -> dict[str, float]:
    """Of this library."""
    learner = SingleDeepCfr(tp.load(GAME), SingleDeepCfrSettings(walks=WALKS, width=64, layers=3, batch=BATCH, rate=RATE))
    learner.step()  # kernels are compiled
    network, memory = learner.regrets[0], learner.memories[0]

    def walk() -> None:
        for _ in range(ROUNDS):
            learner.iteration += 1
            learner.walk(0)

    return rates(walk, lambda: network.fit(memory.rows, steps, learner.generator), ROUNDS * WALKS, steps)


def theirs(walks: int, steps: int) -> dict[str, float]:
    """Of OpenSpiel."""
    import pyspiel
    from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver

    solver = DeepCFRSolver(
        pyspiel.load_game(GAME),
        policy_network_layers=LAYERS,
        advantage_network_layers=LAYERS,
        num_traversals=walks,
        learning_rate=RATE,
        batch_size_advantage=BATCH,
        batch_size_strategy=BATCH,
        memory_capacity=1_000_000,
        advantage_network_train_steps=steps,
    )
    root = solver._root_node

    def walk() -> None:
        for _ in range(walks):
            solver._traverse_game_tree(root, 0)

    return rates(walk, lambda: solver._learn_advantage_network(0), walks, steps)


@benchmark(
    title="Deep CFR beside OpenSpiel",
    place=None,
    minutes=1,
    about="The same networks, rows a step and walks in one process on one core; processor time.",
    needs=("torch", "pyspiel", "tree"),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    with one_thread():
        mine = ours(STEPS // 10 if options.quick else STEPS)
        other = theirs(THEIR_WALKS, THEIR_STEPS // 5 if options.quick else THEIR_STEPS)
    return {"treeplex": mine, "openspiel": other, "times": other["iteration"] / mine["iteration"]}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    names = {"treeplex": "`sd-cfr`", "openspiel": "OpenSpiel's Deep CFR in PyTorch"}
    rows = [
        [name, f"{result[key]['walks']:,.0f}", f"{result[key]['steps']:,.0f}", f"{result[key]['iteration']:,.1f}"]
        for key, name in names.items()
    ]
    columns = [
        "program",
        "walks a second",
        "gradient steps a second",
        f"seconds for {WALKS:,} walks and {STEPS} steps a player",
    ]
    return f"{record.markdown_table(columns, rows)}\n\nAn iteration is {result['times']:.0f} times as fast."
