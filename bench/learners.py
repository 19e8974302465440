"""Deep CFR and neural fictitious self-play on Leduc poker compared with OpenSpiel's in PyTorch: same networks and gradient
steps.

Measures rates of traversals or episodes and of gradient steps, on one core in one process, and the time per iteration of a
published training run. Times are CPU time.
"""

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.learn.common.device import one_thread
from treeplex.learn.neural.regrets.deep_cfr import SingleDeepCfr, SingleDeepCfrSettings
from treeplex.learn.neural.responses.nfsp import Nfsp, NfspSettings

GAME, LAYERS, BATCH, RATE = "leduc_poker", (64, 64, 64), 2048, 1e-3
WALKS, STEPS = 1500, 750
"""Traversals and gradient steps per iteration and player in published training runs."""
ROUNDS, THEIR_WALKS, THEIR_STEPS = 20, 600, 50
EVERY, NFSP_BATCH, NFSP_ROOM = 128, 128, 200_000
"""Settings of NFSP in OpenSpiel's paper: environment steps per gradient step, rows per gradient step, and buffer size."""
PLAYS, THEIR_PLAYS, THEIR_FIRST = 5000, 1500, 600
"""Measured episodes; OpenSpiel's follow some episodes that fill its buffers."""


def rates(walk: Callable[[], object], fit: Callable[[], object], walks: int, steps: int) -> dict[str, float]:
    """Traversals and gradient steps per CPU second, and the resulting seconds per iteration of two players."""
    began = process_time()
    walk()
    walked = process_time()
    fit()
    fitted = process_time()
    found = {"walks": walks / (walked - began), "steps": steps / (fitted - walked)}
    return found | {"iteration": 2 * (WALKS / found["walks"] + STEPS / found["steps"])}


def our_deep_cfr(steps: int) -> dict[str, float]:
    """Rates of this library's Deep CFR."""
    learner = SingleDeepCfr(tp.load(GAME), SingleDeepCfrSettings(walks=WALKS, width=64, layers=3, batch=BATCH, rate=RATE))
    learner.step()  # kernels are compiled
    network, memory = learner.regrets[0], learner.memories[0]

    def walk() -> None:
        for _ in range(ROUNDS):
            learner.iteration += 1
            learner.walk(0)

    return rates(walk, lambda: network.fit(memory.rows, steps, learner.generator), ROUNDS * WALKS, steps)


def their_deep_cfr(walks: int, steps: int) -> dict[str, float]:
    """Rates of OpenSpiel's Deep CFR."""
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


def their_nfsp(plays: int) -> dict[str, float]:
    """CPU seconds for 10,000 episodes of OpenSpiel's NFSP, and its gradient steps of each network in them."""
    from open_spiel.python import rl_environment
    from open_spiel.python.pytorch.nfsp import NFSP

    environment = rl_environment.Environment(GAME)
    size, actions = environment.observation_spec()["info_state"][0], environment.action_spec()["num_actions"]
    agents = [
        NFSP(
            player,
            state_representation_size=size,
            num_actions=actions,
            hidden_layers_sizes=list(LAYERS),
            reservoir_buffer_capacity=1_000_000,
            anticipatory_param=0.1,
            batch_size=NFSP_BATCH,
            min_buffer_size_to_learn=NFSP_BATCH,
            learn_every=EVERY,
            replay_buffer_capacity=NFSP_ROOM,
        )
        for player in range(2)
    ]

    def play(count: int) -> None:
        for _ in range(count):
            step = environment.reset()
            while not step.last():
                step = environment.step([agents[step.observations["current_player"]].step(step).action])
            for agent in agents:
                agent.step(step)

    play(THEIR_FIRST)
    before, began = [agent.step_counter for agent in agents], process_time()
    play(plays)
    spent = process_time() - began
    made = sum(agent.step_counter - first for agent, first in zip(agents, before, strict=True)) / 2 / EVERY
    return {"seconds": spent * 10_000 / plays, "steps": made * 10_000 / plays}


def our_nfsp(steps: float) -> dict[str, float]:
    """CPU seconds for 10,000 episodes of this library's NFSP with at least as many gradient steps of each network."""
    fits = int(-(-steps * PLAYS // 10_000))
    settings = NfspSettings(width=64, layers=3, plays=PLAYS, fits=fits, memory=NFSP_ROOM)
    learner = Nfsp(tp.load(GAME), settings)
    learner.step()  # kernels are compiled
    began = process_time()
    for _ in range(2):
        learner.step()
    return {"seconds": (process_time() - began) * 10_000 / (2 * PLAYS), "steps": fits * 10_000 / PLAYS}


@benchmark(
    title="Deep CFR and neural fictitious self-play compared with OpenSpiel",
    place=13,
    minutes=2,
    about="CPU time in one process on one core, with networks of equal size and equal numbers of gradient steps.",
    needs=("torch", "pyspiel", "tree"),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    with one_thread():
        mine = our_deep_cfr(STEPS // 10 if options.quick else STEPS)
        other = their_deep_cfr(THEIR_WALKS, THEIR_STEPS // 5 if options.quick else THEIR_STEPS)
        their_play = their_nfsp(THEIR_PLAYS // 10 if options.quick else THEIR_PLAYS)
        my_play = our_nfsp(their_play["steps"])
    return {
        "deep cfr": {"treeplex": mine, "openspiel": other},
        "nfsp": {"treeplex": my_play, "openspiel": their_play},
        "times": {"deep cfr": other["iteration"] / mine["iteration"], "nfsp": their_play["seconds"] / my_play["seconds"]},
    }


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    names = {"treeplex": "Treeplex", "openspiel": "OpenSpiel, PyTorch"}
    walked = [
        [name, f"{found['walks']:,.0f}", f"{found['steps']:,.0f}", f"{found['iteration']:,.1f}"]
        for name, found in ((names[key], result["deep cfr"][key]) for key in names)
    ]
    played = [
        [name, f"{found['steps']:,.0f}", f"{found['seconds']:,.2f}"]
        for name, found in ((names[key], result["nfsp"][key]) for key in names)
    ]
    heads = [
        "Deep CFR",
        "traversals per second",
        "gradient steps per second",
        f"seconds for {WALKS:,} traversals and {STEPS} steps per player",
    ]
    others = ["neural fictitious self-play", "gradient steps of each network in 10,000 episodes", "seconds for 10,000 episodes"]
    times = result["times"]
    return (
        f"{record.markdown_table(heads, walked)}\n\n{record.markdown_table(others, played)}\n\n"
        f"Deep CFR is {times['deep cfr']:.0f} times as fast as in OpenSpiel, and neural fictitious self-play "
        f"{times['nfsp']:.0f} times. An OpenSpiel gradient step uses {BATCH:,} rows in Deep CFR and {NFSP_BATCH} in self-play. "
        "A Treeplex step uses all infosets, because it merges their rows."
    )
