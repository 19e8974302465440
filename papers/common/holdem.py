"""Exploitability curves of hold'em spots on the hand engine, like those of ``curves.py`` for compiled games."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from papers.common.curves import NOISE, PERTURBED_ITERATIONS
from treeplex.errors import TreeplexError
from treeplex.holdem import CompiledSpot, HoldemSolver, Spot, read_libratus_endgame
from treeplex.holdem import compile as compile_spot
from treeplex.holdem.betting.tree import BettingTree, Decision, Fold, Node
from treeplex.holdem.engine.passes import BoardPool
from treeplex.holdem.forms.betting_forest import forests_of
from treeplex.holdem.forms.boards import boards_of
from treeplex.holdem.forms.compile_spot import arrays_of
from treeplex.holdem.forms.suit_symmetry import Hands
from treeplex.holdem.policies.judge import judge_spot
from treeplex.solvers import DiscountPolicy

ENDGAMES = "TREEPLEX_ENDGAMES"
NOISE_OF = {"float64": NOISE, "float32": 1e-7}
"""Relative perturbation by floating-point type, of the size of its rounding."""


def endgame(number: int, decoding: str) -> Spot:
    """Subgame 1 to 4 of LibratusEndgames, from the folder that ``TREEPLEX_ENDGAMES`` names."""
    folder = os.environ.get(ENDGAMES)
    if not folder:
        raise SystemExit(f"set {ENDGAMES} to the folder with subgame1.txt to subgame4.txt of LibratusEndgames")
    try:
        return read_libratus_endgame(Path(folder) / f"subgame{number}.txt", decoding=decoding)
    except TreeplexError as error:
        raise SystemExit(f"{ENDGAMES}: {error}") from None


def compile_renumbered(spot: Spot) -> CompiledSpot:
    """Compile a spot with its players exchanged, so that the player in position updates first."""
    game = compile_spot(spot)
    other = replace(spot, ranges=(spot.ranges[1], spot.ranges[0]))
    betting = BettingTree(tuple(map(renumbered, game.betting.nodes)), game.betting.streets)
    forests, boards = forests_of(betting, spot.rake), boards_of(other)
    form = arrays_of(other, forests, boards, Hands(other))
    return replace(game, spot=other, betting=betting, forests=forests, boards=boards, form=form)


def renumbered(node: Node) -> Node:
    """A node with players 0 and 1 exchanged."""
    node = replace(node, contributions=node.contributions[::-1])
    if isinstance(node, Decision):
        return replace(node, player=1 - node.player, street_bets=node.street_bets[::-1])
    return replace(node, loser=1 - node.loser) if isinstance(node, Fold) else node


def hand_curve(
    game: CompiledSpot,
    algorithm: str | DiscountPolicy,
    points: Sequence[int],
    crew: BoardPool,
    *,
    storage: str = "float64",
    seed: int | None = None,
    threads: int = 1,
    unit: float | None = None,
) -> list[float]:
    """Exploitability of the average policy after each of ``points`` iterations, in chips; player 0 updates first.

    Args:
        game: the compiled spot.
        algorithm: its horizon is the last point.
        points: iterations, ascending.
        crew: from :func:`treeplex.holdem.policies.judge.judging_crew`.
        storage: floating-point type of the solver; evaluation uses float64.
        seed: of the perturbation of the first three iterations; None for an unperturbed run.
        threads: of the solver.
        unit: unit in chips of the exploitability that a learned scheme observes; None for the starting pot.
    """
    solver = HoldemSolver(game, algorithm, threads=threads, storage=storage, horizon=points[-1])
    if unit is not None:
        solver.form.unit = unit
    random = np.random.default_rng(seed)
    if seed is not None:
        for _ in range(PERTURBED_ITERATIONS):
            solver.run(1)
            solver.store.regrets[:] *= 1.0 + NOISE_OF[storage] * random.standard_normal(len(solver.store.regrets))
        points = [point for point in points if point > PERTURBED_ITERATIONS]
    found = []
    for point in points:
        solver.run(point - solver.iteration)
        found.append(judge_spot(game, solver.store.average, solver.store, crew, expected=False).exploitability)
    return found
