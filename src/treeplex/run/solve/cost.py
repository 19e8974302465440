"""Cost of solving a game: estimated memory, and measured time per iteration."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.engine.tree.form import STORED
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import reach
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.numba_rules import PathInfostates
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.solvers import make_solver
from treeplex.solvers.registry import DEFAULT_ALGORITHM

MEASURED = 0.05
"""Seconds of measurement; at least two iterations are measured."""
SAMPLED = 2_000_000
"""Approximate maximum of histories visited per player when measuring a game with walked rules."""
SEQUENCE_NUMBERS, INFOSET_NUMBERS = 5, 2
"""Float64 numbers stored per sequence (regret, policy, strategy, average, value) and per infoset."""
JUDGED_NUMBERS = 3
"""Float64 numbers per sequence in an evaluation (policy, strategy, value), besides the same numbers per infoset."""
NAMES = 1000
"""Number of infostate strings whose sizes are measured."""


@dataclass(frozen=True)
class SolvingCost:
    """The cost of solving.

    Attributes:
        algorithm: the algorithm.
        payoffs: the payoff representation.
        game, run, evaluation: bytes of the compiled game with its infostate strings, of a run's arrays, and of an evaluation's.
        available: free bytes; None if unknown.
        seconds: measured seconds per iteration; None if a run does not fit into memory.
        threads: number of threads used.
    """

    algorithm: str
    payoffs: str
    game: int
    run: int
    evaluation: int
    available: int | None
    seconds: float | None
    threads: int

    def facts(self) -> dict[str, str]:
        """Return display texts by name."""
        free = "" if self.available is None else f"; {megabytes(self.available)} are free"
        time = "a run does not fit into memory" if self.seconds is None else f"{self.seconds:.2g} s"
        threads = f", threads: {self.threads}" if self.threads > 1 else ""
        return {
            "payoffs stored": self.payoffs,
            "memory": f"{megabytes(self.game)} for the game, {megabytes(self.run + self.evaluation)} for a run{free}",
            "an iteration": f"{time}   of {self.algorithm}, measured{threads}",
        }


class SolvingMemory(NamedTuple):
    """Bytes of the compiled game, of a run's arrays, and of an evaluation's."""

    game: int
    run: int
    evaluation: int


def memory_of(game: CompiledGame) -> SolvingMemory:
    """Compute the memory of the default algorithm in double precision from the sizes of arrays and infostate strings."""
    size, infosets = len(game.action_ids), sum(game.infosets)
    walk = game.infostates.walk if isinstance(game.infostates, PathInfostates) else None
    arrays = sum(array.nbytes for array in arrays_in((game.tree, game.payoff, game.action_ids)))
    return SolvingMemory(
        game=arrays + (walk.nbytes if walk else 0) + bytes_of_names(game.infostates),
        run=8 * (SEQUENCE_NUMBERS * size + INFOSET_NUMBERS * infosets),
        evaluation=8 * (JUDGED_NUMBERS * size + INFOSET_NUMBERS * infosets),
    )


def bytes_of_names(names: Sequence[str]) -> int:
    """Estimate the bytes of infostate strings from a sample of them; if they are computed on demand, those of their arrays."""
    if isinstance(names, LazyInfostates):
        return sum(array.nbytes for array in (names.columns() or {}).values())
    some = names[:: max(1, len(names) // NAMES)]
    return sys.getsizeof(names) + (len(names) * sum(map(sys.getsizeof, some)) // len(some) if some else 0)


def cost_of(game: CompiledGame) -> SolvingCost:
    """Estimate the cost of the default algorithm; with walked rules, only part of an iteration is measured."""
    memory, available = memory_of(game), available_memory()
    walk = game.infostates.walk if isinstance(game.infostates, PathInfostates) else None
    fits = available is None or memory.run + memory.evaluation <= available
    seconds = None
    if fits:
        seconds = measured(game) if walk is None else measured_walk(game)
    return SolvingCost(
        algorithm=DEFAULT_ALGORITHM,
        payoffs=payoffs_kept(game),
        game=memory.game,
        run=memory.run,
        evaluation=memory.evaluation,
        available=available,
        seconds=seconds,
        threads=walk.part.parts if walk else 1,
    )


def arrays_in(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)


def payoffs_kept(game: CompiledGame) -> str:
    """Describe the payoff representation of a game."""
    sparse, dense, factors, walk = game.payoff
    if walk != STORED:
        return "none: every iteration walks the rules"
    parts = [
        (len(sparse.values), "pairs of sequences" if game.players == 2 else "combinations of sequences"),
        (len(dense.starts), "matrices over hands"),
        (len(factors.values), "products of two lists"),
    ]
    return ", ".join(f"{count:,} {what}" for count, what in parts if count) or "all are 0"


def measured(game: CompiledGame) -> float:
    """Measure the seconds per iteration of the default algorithm."""
    solver = make_solver(game, DEFAULT_ALGORITHM)
    solver.run(1)
    done, begun = 0, perf_counter()
    while done < 2 or (perf_counter() - begun < MEASURED and done < 1 << 20):
        solver.run(max(1, done))
        done += max(1, done)
    return (perf_counter() - begun) / done


def measured_walk(game: CompiledGame) -> float:
    """Measure the seconds for all players' gradients against uniform play, from a part of the histories."""
    infostates = game.infostates
    assert isinstance(infostates, PathInfostates)
    assert infostates.walk is not None
    strategy, values, policy = np.ones(len(game.action_ids)), np.empty(len(game.action_ids)), uniform_probabilities(game)
    for player in range(game.players):
        reach(game.tree, player, policy, strategy)
    shares = max(1, game.size.histories // SAMPLED)
    with infostates.walk.sampled(shares):
        gradient(game.tree, game.payoff, 0, strategy, values)
        begun = perf_counter()
        for player in range(game.players):
            gradient(game.tree, game.payoff, player, strategy, values)
        return (perf_counter() - begun) * shares
