"""Environment steps per second, compared with OpenSpiel's Python ``rl_environment``, in one process, taking turns.

Every decision is a random legal action. A step is one call of ``step``: in ``GameEnv`` it includes chance and the opponent's
reply, elsewhere it is one player's decision.

    python bench/run.py environments [--quick] [--rounds 5]
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.environments import GameAEC, GameEnv, GameVectorEnv

GAMES = {"Kuhn poker": "kuhn_poker", "Leduc poker": "leduc_poker"}
ENV, AEC, VECTOR, OPENSPIEL = "`GameEnv`", "`GameAEC`", "`GameVectorEnv`, 1,024 games", "OpenSpiel, `rl_environment`"
GOAL = 1.2
SIDE_BY_SIDE = 1024


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = []
    for each in result["cases"]:
        rates = [f"{each['rates'][system]:,.0f}" for system in (ENV, AEC, VECTOR, OPENSPIEL)]
        goal = f"{GOAL:g}: {'met' if each['ratio'] >= GOAL else 'missed'}"
        rows.append([each["game"], *rates, f"{each['ratio']:.2f}", goal])
    header = ["steps per second", ENV, AEC, VECTOR, OPENSPIEL, "`GameEnv` / OpenSpiel", "goal"]
    return record.markdown_table(header, rows, left=1)


def gymnasium_steps(spec: str) -> Callable[[int], int]:
    """Episodes of :class:`GameEnv`; returns the steps taken."""
    env, generator = GameEnv(spec), random.Random(0)
    env.reset(seed=0)

    def run(episodes: int) -> int:
        steps = 0
        for _ in range(episodes):
            (_, info), over = env.reset(), False
            while not over:
                _, _, over, _, info = env.step(generator.choice(np.flatnonzero(info["action_mask"]).tolist()))
                steps += 1
        return steps

    return run


def pettingzoo_steps(spec: str) -> Callable[[int], int]:
    """Episodes of :class:`GameAEC`; returns the decisions made."""
    env, generator = GameAEC(spec), random.Random(0)
    env.reset(seed=0)

    def run(episodes: int) -> int:
        steps = 0
        for _ in range(episodes):
            env.reset()
            for _ in env.agent_iter():
                observation, _, over, _, _ = env.last()
                if over:
                    env.step(None)
                    continue
                env.step(generator.choice(np.flatnonzero(observation["action_mask"]).tolist()))
                steps += 1
        return steps

    return run


def vector_steps(spec: str) -> Callable[[int], int]:
    """Parallel games in :class:`GameVectorEnv`; returns their total steps."""
    envs, generator = GameVectorEnv(spec, SIDE_BY_SIDE), np.random.default_rng(0)
    _, infos = envs.reset(seed=0)

    def run(episodes: int) -> int:
        nonlocal infos
        rounds = max(1, episodes * 20 // SIDE_BY_SIDE)
        for _ in range(rounds):
            mask = infos["action_mask"]
            *_, infos = envs.step(np.argmax(mask * generator.random(mask.shape), axis=1))
        return rounds * SIDE_BY_SIDE

    return run


def openspiel_steps(spec: str) -> Callable[[int], int]:
    """Episodes of OpenSpiel's environment; returns the decisions made."""
    from open_spiel.python import rl_environment

    env, generator = rl_environment.Environment(spec), random.Random(0)

    def run(episodes: int) -> int:
        steps = 0
        for _ in range(episodes):
            time_step = env.reset()
            while not time_step.last():
                seen = time_step.observations
                time_step = env.step([generator.choice(seen["legal_actions"][seen["current_player"]])])
                steps += 1
        return steps

    return run


def case(title: str, rounds: int, episodes: int) -> dict[str, Any]:
    """All systems on one game, taking turns."""
    spec = GAMES[title]
    builders = {ENV: gymnasium_steps, AEC: pettingzoo_steps, VECTOR: vector_steps, OPENSPIEL: openspiel_steps}
    turns = {system: build(spec) for system, build in builders.items()}
    rates: dict[str, list[float]] = {system: [] for system in turns}
    for _ in range(rounds):
        for system, run in turns.items():
            began = time.process_time()
            steps = run(episodes)
            rates[system].append(steps / (time.process_time() - began))
    medians = {system: statistics.median(each) for system, each in rates.items()}
    ratio = medians[ENV] / medians[OPENSPIEL]
    print(f"{title}: {medians[ENV]:,.0f} steps per CPU second, {ratio:.2f} times OpenSpiel's", flush=True)
    return {"game": title, "spec": spec, "rates": medians, "ratio": ratio}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=None, help="turns of each system (default 5; 1 with --quick)")


@benchmark(
    title="Environments",
    place=None,
    minutes=1,
    about=(
        "One process on one core. The systems take turns, and the result is the median per second of processor time. Every "
        "decision is a random legal action. A step is one call of `step`: in `GameEnv` and `GameVectorEnv` it includes "
        "chance and the opponent's reply, in `GameAEC` and OpenSpiel's environment it is one player's decision. The first "
        "turn includes what `GameEnv` and `GameAEC` compute once per history."
    ),
    needs=("pyspiel", "gymnasium", "pettingzoo"),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    rounds, episodes = options.rounds or (1 if options.quick else 5), 200 if options.quick else 4000
    return {"rounds": rounds, "episodes": episodes, "cases": [case(title, rounds, episodes) for title in GAMES]}
