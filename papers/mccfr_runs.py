"""Runs of Monte Carlo CFR that the scripts on sampling share: solvers by scheme, judged at given iterations."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treeplex as tp
from kept import code, kept
from treeplex.evaluate import judge
from treeplex.solvers.sampling.solver import SAMPLINGS, MonteCarloCfr, sampling_solver

SEEDS = (1, 2, 3, 4, 5)
CODE = (
    "treeplex.engine.histories.walks",
    "treeplex.engine.histories.streams",
    "treeplex.solvers.sampling.solver",
    "treeplex.solvers.sampling.schedule",
)
"""What decides the numbers of a run, besides its settings; see ``kept.py``."""

Floats = NDArray[np.float64]


def quarters(first: int, last: int) -> list[int]:
    """Four round numbers of iterations a decade, from ``first`` to ``last``: 1000, 1800, 3200, 5600, 10,000, ..."""
    decades = range(len(str(last)))
    return [point for decade in decades for step in (10, 18, 32, 56) if first <= (point := step * 10**decade // 10) <= last]


def solver(game: tp.CompiledGame, scheme: str, seed: int, parameters: Mapping[str, Any]) -> MonteCarloCfr:
    """A fresh run of a scheme."""
    return sampling_solver(game, SAMPLINGS[scheme], parameters, seed=seed, algorithm=scheme)


def judged(
    game: tp.CompiledGame, scheme: str, seed: int, parameters: Mapping[str, Any], points: Sequence[int]
) -> dict[str, list[float]]:
    """Exploitability and value of the average policy, and histories walked, after each of ``points`` iterations."""

    def make() -> dict[str, list[float]]:
        run = solver(game, scheme, seed, parameters)
        found: dict[str, list[float]] = {"exploitability": [], "value": [], "nodes": []}
        for point in points:
            run.run(point - run.iteration)
            judgement = judge(game, run.average_policy())
            found["exploitability"].append(judgement.exploitability)
            found["value"].append(judgement.value[0])
            found["nodes"].append(float(run.nodes))
        return found

    key = {"scheme": scheme, "seed": seed, "parameters": dict(parameters), "points": list(points)}
    return dict(kept({"what": "mccfr", "game": game.identity, **key, "code": code(*CODE)}, make))


def three(value: float) -> str:
    """A number to three significant digits, without an exponent from 1000 on."""
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def over_seeds(runs: Sequence[Mapping[str, Sequence[float]]], field: str, place: int = -1) -> list[float]:
    """One number a run: a field at one of its points."""
    return [run[field][place] for run in runs]


def band(values: Sequence[float], form: str = "#.3g") -> str:
    """The mean of some runs and, in brackets, the least and the greatest."""
    mean, least, most = (format(value, form) for value in (statistics.fmean(values), min(values), max(values)))
    return f"{mean} [{least}, {most}]"


def own_reach(run: MonteCarloCfr, probabilities: Floats) -> Floats:
    """With what probability a player's own actions lead to each infoset, float64 [I].

    Args:
        run: for the layout of its game.
        probabilities: float64 [S], a policy by slots.
    """
    arrived, reach = np.empty(len(run.layout.infosets)), np.empty(len(probabilities))
    for infoset, (first, actions, before) in enumerate(run.layout.infosets):
        arrived[infoset] = reach[before] if before >= 0 else 1.0
        reach[first : first + actions] = arrived[infoset] * probabilities[first : first + actions]
    return arrived
