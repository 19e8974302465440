"""Curves of hold'em spots on the hand engine, as ``curves.py`` has them for compiled games."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from curves import NOISE, PERTURBED_ITERATIONS
from treeplex.engine.hands.passes import Crew, improve
from treeplex.errors import TreeplexError
from treeplex.evaluate.poker import judge_spot
from treeplex.forms.hand_compile import HandGame
from treeplex.games.poker.libratus import read_endgame
from treeplex.games.poker.spot import Spot
from treeplex.solvers.poker import PokerSolver

ENDGAMES = "TREEPLEX_ENDGAMES"
NOISE_OF = {"float64": NOISE, "float32": 1e-7}
"""Relative change of a perturbed run, of the size of rounding in each kind of numbers."""


def endgame(number: int, decoding: str) -> Spot:
    """Subgame 1 to 4 of LibratusEndgames, from the folder that ``TREEPLEX_ENDGAMES`` names."""
    folder = os.environ.get(ENDGAMES)
    if not folder:
        raise SystemExit(f"set {ENDGAMES} to the folder with subgame1.txt to subgame4.txt of LibratusEndgames")
    try:
        return read_endgame(Path(folder) / f"subgame{number}.txt", decoding=decoding)
    except TreeplexError as error:
        raise SystemExit(f"{ENDGAMES}: {error}") from None


def iterate(solver: PokerSolver, iterations: int, first: int) -> None:
    """Iterations in which player ``first`` updates before the other; 0 is what :meth:`PokerSolver.run` does.

    As in :meth:`Crew.iterate`, the first player's next strategy enters the average when it is played against.
    """
    if first == 0:
        solver.run(iterations)
        return
    crew, store, second = solver.crew, solver.store, 1 - first
    weights = solver.weights(range(solver.iteration + 1, solver.iteration + iterations + 1))
    for k, row in enumerate(weights):
        if k == 0:
            crew.descend(first, store.guesses, store, row[7], row[8], 0.0, crew.last + 1)
        ahead = weights[min(k + 1, iterations - 1)]
        for player, keep, add in ((first, row[7], row[8]), (second, ahead[7], ahead[8] if k + 1 < iterations else 0.0)):
            crew.descend(1 - player, store.guesses, store, keep, add, 0.0, crew.last)
            crew.ascend(improve, player, store, row, keep, add)
    solver.iteration += iterations


def hand_curve(
    game: HandGame,
    algorithm: str,
    points: Sequence[int],
    crew: Crew,
    *,
    storage: str = "float64",
    first: int = 0,
    seed: int | None = None,
    threads: int = 1,
) -> list[float]:
    """Exploitability of the average policy after each of ``points`` iterations, in chips.

    Args:
        game: the compiled spot.
        algorithm: what to run; its horizon is the last point.
        points: iterations, ascending.
        crew: from :func:`treeplex.evaluate.poker.judging_crew`.
        storage: kind of numbers of the solver; the judge's are float64.
        first: who updates first (fictitious play: player 0 only).
        seed: of the perturbation of the first three iterations; None for an undisturbed run.
        threads: of the solver.
    """
    solver = PokerSolver(game, algorithm, threads=threads, storage=storage, horizon=points[-1])
    random = np.random.default_rng(seed)
    if seed is not None:
        for _ in range(PERTURBED_ITERATIONS):
            iterate(solver, 1, first)
            solver.store.regrets[:] *= 1.0 + NOISE_OF[storage] * random.standard_normal(len(solver.store.regrets))
        points = [point for point in points if point > PERTURBED_ITERATIONS]
    found = []
    for point in points:
        iterate(solver, point - solver.iteration, first)
        found.append(judge_spot(game, solver.store.average, solver.store, crew, expected=False).exploitability)
    return found
