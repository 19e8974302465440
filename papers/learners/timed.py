"""Learners and tabular algorithms with the same few seconds of CPU time: their settings and results."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import treeplex as tp
from papers.common.kept import code, kept
from treeplex import Policy, judge, load
from treeplex.learn import Learner
from treeplex.learn.train.registry import NEURAL, neural_class
from treeplex.solvers import make_solver

BUDGET = 6.0
"""CPU seconds per cell."""
TRIED = 0.4
"""CPU seconds of the trial that measures the time of a step."""
SEEDS = range(3)
"""Games; a cell takes seconds, all cells an hour."""


class Entry(NamedTuple):
    """A learner: its use of the game per step, settings besides the defaults for short training, and seeds."""

    sees: str
    settings: Mapping[str, Any] = {}
    seeds: Sequence[int] = SEEDS


ONE = range(1)
"""Seeds of deterministic methods."""
SAMPLES, WHOLE = "samples", "whole game"
FEW: Mapping[str, Any] = {"fits": 100}
FEW_CRITIC: Mapping[str, Any] = {"fits": 100, "critic_fits": 150}
NETWORKS: Mapping[str, Entry] = {
    "sd-cfr": Entry(SAMPLES, FEW),
    "deep-cfr": Entry(SAMPLES, {**FEW, "average_fits": 500}),
    "dream": Entry(SAMPLES, FEW_CRITIC),
    "escher": Entry(SAMPLES, {**FEW_CRITIC, "corrected": True, "average": "exact"}),
    "vr-deep-pdcfr+": Entry(SAMPLES, {**FEW_CRITIC, "walks": 2000, "average": "exact"}),
    "nfsp": Entry(SAMPLES),
    "armac": Entry(SAMPLES, {"critic_fits": 150}),
    "qpg": Entry(SAMPLES),
    "r-nad": Entry(SAMPLES),
    "mmd": Entry(SAMPLES),
    "ppo": Entry(SAMPLES),
    "neurd": Entry(WHOLE),
    "rcfr": Entry(WHOLE),
    "ned": Entry(WHOLE),
}
TABULAR: Mapping[str, Entry] = {
    "es-mccfr": Entry(SAMPLES),
    "os-mccfr": Entry(SAMPLES),
    "ccs-mccfr": Entry("sampled chance"),
    "psro": Entry(WHOLE, seeds=ONE),
    "cfr+": Entry(WHOLE, seeds=ONE),
}
"""Methods without networks; ``psro`` is a learner whose default responses are exact."""
BOTH: Mapping[str, Entry] = {**NETWORKS, **TABULAR}


def clocked(action: Callable[[], Any]) -> float:
    """CPU seconds of a call."""
    began = time.process_time()
    action()
    return time.process_time() - began


def steps_within(step: Callable[[], Any], seconds: float) -> int:
    """Take steps for the given CPU seconds, at least one; skip one that would end more than half a step late."""
    began, steps, longest = time.process_time(), 0, 0.0
    while steps == 0 or time.process_time() - began + longest / 2.0 < seconds:
        longest = clocked(step)
        steps += 1
    return steps


def fresh(name: str, game: str, seed: int, changes: Mapping[str, Any]) -> Learner:
    """A new learner with everything prepared that is not timed."""
    made = neural_class(NEURAL[name])
    settings = made.settings_class().changed({**BOTH[name].settings, **changes, "seed": seed})
    return made(load(game), settings)


def planned(name: str, steps: int) -> dict[str, Any]:
    """Settings for the training length, for schedules that depend on it."""
    plan: dict[str, Any] = {"steps": steps}
    if name == "r-nad":
        plan["phase"] = max(steps // 27, 20)
    if name == "nfsp":
        plan["explore_over"] = 4000 * steps
    return plan


def learned(name: str, game: str, seed: int) -> dict[str, float]:
    """A learner's result within the budget, including the average's network.

    An untimed trial of the learner compiles kernels and determines the number of steps.
    """
    trial = fresh(name, game, seed, {})
    trial.step()
    trial.policy()
    reserved = clocked(trial.policy)
    began = time.process_time()
    tried = steps_within(trial.step, TRIED)
    steps = max(round((BUDGET - reserved) * tried / (time.process_time() - began)), 1)
    student = fresh(name, game, seed, planned(name, steps))
    return timed(student.step, student.policy, BUDGET - reserved)


def solved(name: str, game: str, seed: int) -> dict[str, float]:
    """A tabular algorithm's result within the budget; its steps are batches of iterations of at least 0.01 s."""
    compiled = tp.compile(game)
    trial, chunk = make_solver(compiled, name, seed=seed), 1
    trial.run(1)
    trial.average_policy()
    while clocked(partial(trial.run, chunk)) < 0.01:
        chunk *= 2
    solver = make_solver(compiled, name, seed=seed)
    found = timed(lambda: solver.run(chunk), solver.average_policy, BUDGET)
    return {**found, "steps": solver.iteration}


def timed(step: Callable[[], Any], policy: Callable[[], Policy], seconds: float) -> dict[str, float]:
    """Steps within the time, and the exploitability of the policy at the end."""
    began = time.process_time()
    steps = steps_within(step, seconds)
    result = policy()
    spent = time.process_time() - began
    return {"exploitability": judge(result.game, result).exploitability, "steps": steps, "cpu_seconds": spent}


def measured(name: str, game: str, seed: int) -> dict[str, float]:
    """A cached cell."""
    entry = BOTH[name]
    neural = name in NEURAL
    modules = ("treeplex.learn.neural", "treeplex.engine.histories") if neural else ("treeplex.solvers", "treeplex.engine")
    key = {
        "study": "learners/equal_time",
        "game": game,
        "learner": name,
        "settings": dict(entry.settings),
        "seed": seed,
        "seconds": BUDGET,
    }
    found: dict[str, float] = kept({**key, "code": code(*modules)}, lambda: (learned if neural else solved)(name, game, seed))
    print(game, name, seed, found, flush=True)
    return found
