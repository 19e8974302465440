"""The exact equilibrium of a two-player zero-sum game: sequence-form linear programming with HiGHS."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from treeplex.engine.tree.sweeps import normalise, value_and_best_response
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.matrix_form import payoff_matrix
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.solvers.base import Solver

LARGE = 20_000
"""Number of payoffs (entries of A) from which HiGHS uses an interior-point method."""
WORST, ROUNDING = 1e-3, 1e-10
"""Gain of a best response, relative to payoffs of play and to the largest payoff, above which a solution is rejected."""
PATIENCE_SECONDS = 30.0
"""Expected seconds above which a notice is shown."""


class LinearProgram(Solver):
    """One linear program for player 0's strategy; player 1's are its dual prices (Koller, Megiddo and von Stengel 1996)."""

    exact = True

    def __init__(self, game: CompiledGame) -> None:
        """Check the game; :meth:`run` solves it.

        Raises:
            AlgorithmError: the game does not have two players, or is not constant-sum.
        """
        if game.players != 2 or game.constant is None:
            raise AlgorithmError(
                f"lp needs a two-player game with constant-sum payoffs; {game} has {game.players} players"
                + ("" if game.constant is not None else " and general-sum payoffs")
            )
        self.game, self.algorithm = game, "lp"
        self.average = uniform_probabilities(game)

    @cached_property
    def payoffs(self) -> csr_array:
        """The payoff matrix, which :meth:`run` deletes."""
        return payoff_matrix(self.game)

    def announcement(self) -> str:
        if self.iteration or (seconds := expected_seconds(entries := self.payoffs.nnz)) < PATIENCE_SECONDS:
            return ""
        return (
            f"a linear program with {sum(self.game.sequences):,} sequences and {entries:,} payoffs takes about "
            f"{time_text(seconds)} without progress reports; pcfr+ is faster (solve -a pcfr+ --target 1e-6)"
        )

    def run(self, iterations: int) -> None:
        """Solve; further iterations change nothing."""
        if self.iteration == 0 and iterations > 0:
            self.average[:] = checked_equilibrium(self.game, self.payoffs)
            del self.payoffs
        self.iteration += iterations

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return the solution."""
        return {"average": self.average}


def expected_seconds(entries: int) -> float:
    """Estimate the seconds to solve a linear program, fitted to Leduc poker with 7 to 13 ranks on one core."""
    return float(5.0 * (entries / 214_000) ** 1.7)


def time_text(seconds: float) -> str:
    """Format seconds as seconds, minutes or hours."""
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} seconds"


def scaled(values: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """Divide ``values`` by a power of two near ``largest``, without rounding."""
    exponent = int(np.frexp(largest)[1])
    return np.asarray(np.ldexp(values, -exponent), np.float64)


def equilibrium(game: CompiledGame, payoffs: csr_array) -> NDArray[np.float64]:
    """Return equilibrium strategies of both players in sequence form, float64 [Q], from a game's payoff matrix.

    Maximise ``v[root]`` over x and v with ``E x = e``, ``x >= 0`` and, for every sequence q of player 1,
    ``v[infoset of q] - sum of v[infosets right below q] - (A' x)[q] <= 0``; the dual prices of these rows are y. HiGHS treats
    numbers below 1e-9 as zero and above 1e20 as infinite, so A is scaled by a power of two to entries of at most 1. Large
    programs are solved by an interior-point method with crossover to a vertex, three times as fast as by the simplex method.
    """
    if (largest := float(np.abs(payoffs.data).max(initial=0.0))) > 0.0:
        payoffs = csr_array((scaled(payoffs.data, largest), payoffs.indices, payoffs.indptr), payoffs.shape)
    constraints, opposing_constraints = realisation_constraints(game, 0), realisation_constraints(game, 1)
    sequences, infosets = payoffs.shape[0], opposing_constraints.shape[0]
    objective = np.zeros(sequences + infosets)
    objective[sequences] = -1.0
    start = np.zeros(constraints.shape[0])
    start[0] = 1.0

    def solved(method: str) -> Any:
        return linprog(
            objective,
            A_ub=hstack([-payoffs.T, opposing_constraints.T], format="csr"),
            b_ub=np.zeros(payoffs.shape[1]),
            A_eq=hstack([constraints, csr_array((constraints.shape[0], infosets))], format="csr"),
            b_eq=start,
            bounds=[(0.0, None)] * sequences + [(None, None)] * infosets,
            method=method,
        )

    result = solved("highs-ipm" if payoffs.nnz > LARGE else "highs")
    if result.status != 0 and payoffs.nnz > LARGE:
        result = solved("highs")
    if result.status != 0:
        raise AlgorithmError(f"could not solve the linear program of {game}: {result.message}")
    strategies = np.concatenate((result.x[:sequences], -result.ineqlin.marginals))
    return np.asarray(np.maximum(strategies, 0.0), np.float64)


def checked_equilibrium(game: CompiledGame, payoffs: csr_array) -> NDArray[np.float64]:
    """:func:`equilibrium`, with its exploitability checked: payoffs of very different sizes are beyond HiGHS' tolerances.

    Raises:
        AlgorithmError: a best response gains more than :data:`WORST` of the largest difference between payoffs of play.
    """
    strategies = equilibrium(game, payoffs)
    size, infosets = int(game.tree.sequence_offsets[1]), int(game.tree.infoset_offsets[-1])
    probabilities, results = np.empty_like(strategies), np.empty((2, 2))
    for player in range(2):
        normalise(game.tree, player, strategies, probabilities)
    scratch = np.empty_like(strategies), np.empty_like(strategies), np.empty(infosets)
    value_and_best_response(game.tree, game.payoff, probabilities, *scratch, results)
    gap = float(results[1].sum() - results[0].sum())
    entries = payoffs.tocoo()
    played = (strategies[entries.row] > 0.0) & (strategies[size + entries.col] > 0.0)
    spread = float(np.ptp(entries.data[played])) if played.any() else 0.0
    if gap > WORST * spread + ROUNDING * float(np.abs(payoffs.data).max(initial=0.0)):
        raise AlgorithmError(
            f"the linear program of {game} is beyond its solver's tolerances: a best response still gains {gap / 2:.3g}; "
            "subtract a constant from large payoffs, remove dominated actions with huge losses, or use another algorithm, such "
            "as pcfr+"
        )
    return strategies


def realisation_constraints(game: CompiledGame, player: int) -> csr_array:
    """Return ``E`` of ``E x = (1, 0, ...)``: row 0 for the empty sequence, row 1+k for infoset k."""
    tree = game.tree
    q0, q1 = (int(n) for n in tree.sequence_offsets[player : player + 2])
    i0, i1 = (int(n) for n in tree.infoset_offsets[player : player + 2])
    inner = np.arange(q0 + 1, q1)
    rows = np.concatenate(([0], tree.sequence_infoset[inner] - i0 + 1, np.arange(i1 - i0) + 1))
    columns = np.concatenate(([0], inner - q0, tree.infoset_parent[i0:i1] - q0))
    entries = np.concatenate((np.ones(len(inner) + 1), -np.ones(i1 - i0)))
    return csr_array((entries, (rows, columns)), shape=(i1 - i0 + 1, q1 - q0))
