"""CFR on limit hold'em in buckets: with sampled chance, or by full sweeps.

Sampled chance is section 4 of Zinkevich, Johanson, Bowling and Piccione 2007, "Regret Minimization in Games with Incomplete
Information": an iteration deals one pair of bucket sequences, traverses the whole betting tree, and updates regrets and
averages of both players. The one difference: a showdown pays its expectation for the two sequences instead of a sampled result,
which has the same mean and less variance. Sweeps are the library's update rules on a form of the game that needs little more
memory than its tables. The compiled game keeps every sequence in double precision; five buckets per street are two gigabytes.
Here streets are traversed one after another, policies are computed when they are needed, and the last street is stored in
single precision, so that ten buckets fit.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from papers.cfr2007.deals import draw_pairs, learn_deals
from papers.cfr2007.game import LimitGame, empty_tables
from papers.cfr2007.street import Tables, update
from papers.cfr2007.walks import Array, BestResponse, OwnPolicy, Place, Reach, StreetWalk
from treeplex.base.arrays import Floats
from treeplex.base.workers.executor import in_threads
from treeplex.engine.tree.learned import DiscountNetwork
from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT, FLOOR, NEGATIVE, POSITIVE, REGRET
from treeplex.errors import AlgorithmError
from treeplex.forms.form import RuleKind
from treeplex.solvers.registry import rule_of
from treeplex.solvers.solver import FormSolver

BATCH = 1 << 20
"""Deals per batch. They depend only on the seed and the number of the batch, so a run can be resumed at any iteration."""
COLUMNS_USED = [POSITIVE, NEGATIVE, REGRET, FLOOR, AVERAGE_DISCOUNT, AVERAGE]
"""Columns of a row of weights, in the order of the kernel's arguments."""


class LimitState(NamedTuple):
    """Regrets and own-reach-weighted sums of policies of both players."""

    regrets: Tables
    average: Tables


class LimitForm:
    """A :class:`~treeplex.forms.form.Form` of limit hold'em in buckets; updates alternate.

    Attributes:
        game: the game, of fixed limit.
    """

    players = 2

    def __init__(self, game: LimitGame) -> None:
        self.game = game

    @property
    def identity(self) -> str:
        """A hash of the game."""
        return self.game.identity

    def allocate(self, kind: RuleKind, needs: frozenset[str], averages: int, network: DiscountNetwork | None) -> LimitState:
        """Tables of zeros.

        Raises:
            AlgorithmError: an update rule that stores more than regrets and one average.
        """
        if kind is not RuleKind.REGRETS or needs - {"regrets", "average"} or averages != 1 or network:
            raise AlgorithmError(
                "keeps more than regrets and one average, which is all that sweeps have; take cfr, cfr+, lcfr, dcfr, dcfr+ or "
                "hs-dcfr"
            )
        return LimitState(empty_tables(self.game), empty_tables(self.game))

    def iterate(self, kind: RuleKind, rows: Floats, state: LimitState, *, alternating: bool) -> None:
        """Run one sweep per row of weights.

        Raises:
            AlgorithmError: updates that do not alternate.
        """
        if not alternating:
            raise AlgorithmError("sweeps of limit hold'em need alternating updates; remove updates=simultaneous")
        for row in rows:
            for hero in range(2):
                Sweep(self.game, hero, state, row[COLUMNS_USED].astype(np.float32)).value(own=True)

    def iterate_learned(
        self, network: DiscountNetwork, state: LimitState, done: int, iterations: int, horizon: int, *, alternating: bool
    ) -> None:
        """Not supported; :meth:`allocate` raises first."""
        raise AlgorithmError("sweeps of limit hold'em do not support learned schedules; use dcfr")

    def arrays(self, state: LimitState) -> Mapping[str, NDArray[Any]]:
        """The arrays of the state."""
        return {
            "early_regrets": state.regrets.early,
            "late_regrets": state.regrets.late,
            "early_average": state.average.early,
            "late_average": state.average.late,
        }

    def policy(self, state: LimitState) -> NDArray[Any]:
        """Sums of the last street; actions are played in proportion to them."""
        return state.average.late

    def values(self, state: LimitState, *, best: bool) -> Floats:
        """Chips that each player wins on average against the other's average policy, float64 [2]."""
        walk = BestResponse if best else OwnPolicy
        return np.array([walk(self.game, hero, state.average).value() for hero in range(2)])


class Sweep(StreetWalk):
    """An update of one player (the hero): regrets over all sequences of the opponent, and the average weighted by the hero's
    reach.
    """

    def __init__(self, game: LimitGame, hero: int, state: LimitState, weights: Array) -> None:
        """``weights``: float32 [6], see :data:`COLUMNS_USED`."""
        super().__init__(game, hero, state.regrets)
        self.state, self.weights = state, weights

    def decide(self, place: Place, values: Sequence[Array], reach: Reach) -> Array:
        """The value under the current policy; updates regrets and average."""
        assert reach.own is not None
        found = np.empty_like(values[0])
        tables = [self.block(each, place.street, place.starts)[:, place.slots] for each in self.state]
        update(np.stack(values), place.policy, reach.own, self.weights, tables[0], tables[1], found)
        return found


class LimitCFR:
    """A solver of a fixed-limit :class:`~papers.cfr2007.game.LimitGame`.

    Attributes:
        game: what is solved.
        seed: of the deals.
        discount_every: 0 for the paper's plain sums. N multiplies all sums by k / (k + 1) after the k-th N iterations: linear
            CFR in steps (Brown and Sandholm 2019), which discounts early iterations.
        threads: 1 is deterministic; with more, deals are traversed in parallel on shared tables without locks, so the last
            bits, and occasionally an update, depend on timing.
        iteration: deals done.
        regrets, average: tables, see :class:`~papers.cfr2007.street.Tables`.
    """

    def __init__(self, game: LimitGame, *, seed: int = 0, discount_every: int = 0, threads: int = 1) -> None:
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
        """Run this number of further iterations (deals)."""
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
        """State for :meth:`restore`; with one thread a restored solver continues bit for bit."""
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

    def __init__(self, game: LimitGame, algorithm: str) -> None:
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
        """State for :meth:`restore`, which continues bit for bit."""
        return {"iteration": np.array(self.iteration), **self.arrays()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a state.

        Raises:
            AlgorithmError: a state of another game.
        """
        self.iteration = fill(self.state(), state, self.game)


def fill(own: Mapping[str, NDArray[Any]], state: Mapping[str, NDArray[Any]], game: LimitGame) -> int:
    """Copy a saved state into a solver's arrays; returns its iteration.

    Raises:
        AlgorithmError: a state of another game.
    """
    if any(name not in state or state[name].shape != own[name].shape for name in own):
        raise AlgorithmError(f"limit cfr: this state is not of {game}; resume with the game it was saved from")
    for name in own:
        if name != "iteration":
            own[name][...] = state[name]
    return int(state["iteration"])


def predicted_bytes(game: LimitGame) -> int:
    """Bytes of a game's tables, a solver, and scratch memory for evaluation."""
    *early, late = game.table_rows
    return 2 * (8 * sum(early) + 4 * late) + 2 * 4 * game.sequences[-1] ** 2 + 200_000_000
