"""Exploitability curves, and their variation under rounding."""

from collections.abc import Callable, Sequence

import numpy as np

from treeplex import CompiledGame, Policy, judge
from treeplex.solvers import FictitiousRule, Solver, Variant, make_solver

NOISE = 1e-14
"""Relative change of a perturbed run, of the size of rounding."""
PERTURBED_ITERATIONS = 3
SEEDS = range(1, 9)

Averaging = Callable[[Solver], Policy]


def log_points(last: int, *, a_decade: int = 12, also: Sequence[int] = ()) -> list[int]:
    """Iterations evenly spaced on a logarithmic axis, from 1 to ``last``, plus those of ``also``."""
    spaced = np.geomspace(1, last, max(2, round(a_decade * np.log10(last))) + 1)
    return sorted({round(float(point)) for point in spaced} | {point for point in also if point <= last})


def average_of(solver: Solver) -> Policy:
    """The evaluated policy unless a script chooses another."""
    return solver.average_policy()


def curve(
    game: CompiledGame,
    algorithm: str | Variant | FictitiousRule,
    points: Sequence[int],
    *,
    seed: int | None = None,
    averaging: Averaging = average_of,
) -> list[float]:
    """Exploitability of the average policy after each of ``points`` iterations, in game units.

    Args:
        game: the compiled game.
        algorithm: with alternating updates; its horizon is the last point.
        points: iterations, ascending.
        seed: of the perturbation; None for an unperturbed run.
        averaging: the policy to evaluate.
    """
    solver = make_solver(game, algorithm, horizon=points[-1])
    random = np.random.default_rng(seed)
    if seed is not None:
        for _ in range(PERTURBED_ITERATIONS):
            solver.run(1)
            perturb(solver, random)
        points = [point for point in points if point > PERTURBED_ITERATIONS]
    found = []
    for point in points:
        solver.run(point - solver.iteration)
        found.append(judge(game, averaging(solver)).exploitability)
    return found


def perturb(solver: Solver, random: np.random.Generator) -> None:
    """Perturb regrets, or in fictitious play averages, by a relative :data:`NOISE`."""
    state = solver.state()
    target = state["regrets" if "regrets" in state else "average"]
    target *= 1.0 + NOISE * random.standard_normal(target.shape)
    solver.restore(state)


def noise_runs(
    game: CompiledGame,
    algorithm: str | Variant | FictitiousRule,
    iterations: int,
    *,
    seeds: Sequence[int] = SEEDS,
    averaging: Averaging = average_of,
) -> list[float]:
    """Exploitability after ``iterations``, one perturbed run per seed."""
    return [curve(game, algorithm, [iterations], seed=seed, averaging=averaging)[-1] for seed in seeds]
