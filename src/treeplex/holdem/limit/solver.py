"""Counterfactual regret minimisation for limit poker with bucketed cards: with sampled chance, or by full sweeps.

Sampled chance is section 4 of Zinkevich, Johanson, Bowling and Piccione 2007, "Regret Minimization in Games with Incomplete
Information": an iteration deals one pair of bucket sequences, walks the whole betting tree, and updates the regrets and the
average of both players. The one difference: the showdown counts with its expectation for the two sequences, not with one
sampled winner, which has the same mean and less noise.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.workers.executor import in_threads
from treeplex.errors import AlgorithmError
from treeplex.holdem.buckets.betting import widths
from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.engine.buckets.deals import draw_pairs, learn_deals
from treeplex.holdem.engine.buckets.street import Tables
from treeplex.holdem.limit.limit_form import LimitForm, LimitState
from treeplex.holdem.limit.policy import empty_tables
from treeplex.solvers.registry import rule_of
from treeplex.solvers.solver import FormSolver

BATCH = 1 << 20
"""Deals drawn at a time. They depend on the seed and the number of the batch only, so that any iteration can be resumed."""


class LimitCFR:
    """A solver of a fixed-limit :class:`~treeplex.holdem.buckets.game.BucketGame`.

    Attributes:
        game: what is solved.
        seed: of the deals.
        discount_every: 0 for the paper's plain sums. Else, after each so many iterations, the k-th time, all sums are
            multiplied by k / (k + 1): linear CFR in steps (Brown and Sandholm 2019), which forgets the beginning.
        threads: 1 is deterministic; with more, deals are walked side by side on shared tables without locks, so that the last
            bits, and now and then an update, depend on timing.
        iteration: deals done.
        regrets, average: tables, see :class:`~treeplex.holdem.engine.buckets.street.Tables`.
    """

    def __init__(self, game: BucketGame, *, seed: int = 0, discount_every: int = 0, threads: int = 1) -> None:
        if threads < 1 or discount_every < 0:
            raise AlgorithmError(
                f"limit cfr: threads is {threads} and discount_every {discount_every}; give at least 1 thread, and at least 0"
            )
        self.game = game
        self.seed = seed
        self.discount_every = discount_every
        self.threads = threads
        self.iteration = 0
        self.regrets = empty_tables(game)
        self.average = empty_tables(game)
        self._sums = game.pairs.sum(axis=1, dtype=np.float64)
        self.walk(np.zeros(0, np.uint16), np.zeros(0, np.uint16), np.zeros(0, np.float32))  # compiles
        self._batch = -1
        self._deals: tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.float32]] | None = None

    def run(self, iterations: int) -> None:
        """Do so many more iterations (deals)."""
        end = self.iteration + iterations
        while self.iteration < end:
            first, second, wins = self.deals(self.iteration // BATCH)
            start = self.iteration % BATCH
            stop = min(BATCH, start + end - self.iteration)
            if self.discount_every:
                stop = min(stop, start + self.discount_every - self.iteration % self.discount_every)
            self.walk(first[start:stop], second[start:stop], wins[start:stop])
            self.iteration += stop - start
            if self.discount_every and self.iteration % self.discount_every == 0:
                self.discount(self.iteration // self.discount_every)

    def discount(self, step: int) -> None:
        """Multiply all sums by step / (step + 1)."""
        factor = step / (step + 1)
        for tables in (self.regrets, self.average):
            np.multiply(tables.early, factor, out=tables.early)
            np.multiply(tables.late, np.float32(factor), out=tables.late)

    def walk(self, first: NDArray[np.uint16], second: NDArray[np.uint16], wins: NDArray[np.float32]) -> None:
        """Walk the betting tree for these deals, split between the threads."""

        def part(number: int) -> None:
            mine = slice(number, None, self.threads)
            deals = (np.ascontiguousarray(first[mine]), np.ascontiguousarray(second[mine]), np.ascontiguousarray(wins[mine]))
            learn_deals(self.game.betting, self.regrets, self.average, *deals)

        for _ in in_threads(self.threads, part, range(self.threads)):
            pass

    def deals(self, batch: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.float32]]:
        """The pairs of sequences of one batch, and the expected sign of each showdown for player 0."""
        if self._deals is None or batch != self._batch:
            random = np.random.default_rng([self.seed, batch])
            draws = np.sort(random.random(BATCH)) * float(self._sums.sum())
            first, second = np.empty(BATCH, dtype=np.uint16), np.empty(BATCH, dtype=np.uint16)
            draw_pairs(self.game.pairs, self._sums, draws, first, second)
            order = random.permutation(BATCH)
            first, second = first[order], second[order]
            chance = self.game.pairs[first, second]
            margin = self.game.wins[first, second]
            wins = np.divide(margin, chance, out=np.zeros_like(margin), where=chance > 0)
            self._batch, self._deals = batch, (first, second, wins)
        return self._deals

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs; with one thread a restored solver goes on bit for bit."""
        return {
            "iteration": np.array(self.iteration),
            "early_regrets": self.regrets.early,
            "late_regrets": self.regrets.late,
            "early_average": self.average.early,
            "late_average": self.average.late,
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a state.

        Raises:
            AlgorithmError: a state of another game.
        """
        self.iteration = fill(self.state(), state, self.game)


class LimitSweeps(FormSolver[LimitState]):
    """Any update rule that keeps regrets and one average, sweeping all sequences of both players; deterministic.

    Attributes:
        game: what is solved.
    """

    form: LimitForm

    def __init__(self, game: BucketGame, algorithm: str) -> None:
        """Start from the uniform policy.

        Args:
            game: of fixed limit.
            algorithm: such as ``dcfr`` or ``lcfr``.

        Raises:
            SpecError, AlgorithmError: an unknown algorithm, or one that does not run here.
        """
        rule, text = rule_of(algorithm, "dcfr")
        super().__init__(LimitForm(game), rule, horizon=None, updates="alternating", algorithm=text)
        self.game = game

    @property
    def average(self) -> Tables:
        """Own-reach-weighted sums of policies."""
        return self.tables.average

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs to go on bit for bit."""
        return {"iteration": np.array(self.iteration), **self.arrays()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a state.

        Raises:
            AlgorithmError: a state of another game.
        """
        self.iteration = fill(self.state(), state, self.game)


def fill(own: Mapping[str, NDArray[Any]], state: Mapping[str, NDArray[Any]], game: BucketGame) -> int:
    """Copy a saved state over a solver's own; the iteration it was saved at.

    Raises:
        AlgorithmError: a state of another game.
    """
    if any(name not in state or state[name].shape != own[name].shape for name in own):
        raise AlgorithmError(f"limit cfr: this state is not of {game}; resume with the game it was saved from")
    for name in own:
        if name != "iteration":
            own[name][...] = state[name]
    return int(state["iteration"])


def predicted_bytes(game: BucketGame) -> int:
    """Bytes that the tables of a game, a solver and scratch of the judge take."""
    early = sum(count * width for count, width in zip(game.sequences[:-1], widths(game.betting), strict=False))
    late = game.sequences[-1] * widths(game.betting)[-1]
    return 2 * (8 * early + 4 * late) + 2 * 4 * game.sequences[-1] ** 2 + 200_000_000
