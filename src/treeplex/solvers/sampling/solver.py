"""Monte Carlo CFR on compiled games: schemes as data, unbiased averages, baselines, threads."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.spec import nearest
from treeplex.base.workers.crew import Inline, Threads
from treeplex.base.workers.executor import Executor
from treeplex.engine.histories.form import Histories
from treeplex.engine.sampling import schemes
from treeplex.engine.sampling.sampled_tables import (
    AVERAGE,
    MARK,
    POLICY,
    REGRET,
    Layout,
    Tables,
    average_regrets,
    settle,
    settle_tables,
)
from treeplex.engine.sampling.schemes import SchemeCodes
from treeplex.engine.sampling.walks import iterate_sampled, scratch
from treeplex.engine.threads import available_cores
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers.base import Solver
from treeplex.solvers.rules.variants import Variant
from treeplex.solvers.sampling.schedule import SampledSchedule

AVERAGING: Mapping[str, int] = {
    "lazy": schemes.LAZY,
    "full": schemes.FULL,
    "stochastic": schemes.STOCHASTIC,
    "optimistic": schemes.OPTIMISTIC,
    "opponent": schemes.OPPONENT,
    "naive": schemes.NAIVE,
}
"""Averaging methods; ``sigma`` is the policy of a visited infoset of the traverser, before its regrets change.

``lazy``: deferred updates. Every own action accumulates the weights with which it is reached; a visit adds ``sigma`` times the
weight since the last visit. Exact, O(1) per visit, since a policy changes only at visits.
``full``: the traverser's policy at all infosets in every iteration. Exact, O(sequences) per iteration.
``stochastic``: ``own reach / q(h) sigma``, q the sampling reach of this history. Unbiased (up to the number of histories in the
infoset) only if no action has probability 0, which regret matching does not guarantee. High variance.
``optimistic``: ``(t - c) own reach sigma``, c the iteration of the last visit. Unbiased only if own reach is constant, and with
one thread, since means of regrets also change policies that no visit has counted.
``opponent``: ``sigma`` at the infosets of the *other* players on the walk. Unbiased, up to a constant per infoset, with two
players, if the traverser's followed actions do not depend on the policy (all of them or a uniform subset).
``naive``: ``own reach sigma``. Biased by the probability of a visit, which changes over time; for comparison.
"""
SOUND = ("lazy", "full")
"""Averaging methods that are unbiased for any number of players."""
BASELINES = {"none": schemes.NO_BASELINE, "learned": schemes.LEARNED, "oracle": schemes.ORACLE}
KEYS = ("history", "infoset")
MOST_THREADS = 256
LEAST_NODES = 1 << 17
"""Least number of histories that a thread walks between means of regrets, a few milliseconds."""
NODES_PER_SLOT = 8
"""In large games, histories per action of an infoset that a thread walks between means, so that means take a few percent."""
SHARED_NODES = 1 << 13
"""Least number of histories that several threads walk together; fewer are walked by the calling thread, with equal results."""


CODES = {"all": schemes.ALL, "one": schemes.ONE, "each": schemes.EACH, "subset": schemes.SUBSET}


@dataclass(frozen=True)
class SamplingScheme:
    """A sampling scheme.

    Attributes:
        name: its name on the command line.
        summary: one line.
        reference: the paper.
        own: followed actions of the traverser: ``all``, ``one`` (epsilon-on-policy), ``each`` (average strategy sampling) or
            ``subset`` (of ``k`` actions).
        others: followed actions of the other players: ``all``, or ``one`` by the policy. Chance is always sampled.
        parameters: its defaults for fields of :class:`SamplingOptions`: numbers such as ``k``, which a spec may override, or
            ``variant``, ``averaging`` and so on.
        baseline: the default baseline.

    Raises:
        SpecError: a value is unknown.
    """

    name: str
    summary: str
    reference: str
    own: str
    others: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    baseline: str = "none"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("own", self.own, CODES),
            ("others", self.others, ("all", "one")),
            ("baseline", self.baseline, BASELINES),
        ):
            if value not in known:
                raise SpecError(f"{self.name}: unknown {name} {value!r}{nearest(str(value), known)}")
        for name in self.parameters:
            if name not in SamplingOptions.__dataclass_fields__:
                raise SpecError(f"{self.name} has no parameter {name!r}{nearest(name, SamplingOptions.__dataclass_fields__)}")

    def options(self, parameters: Mapping[str, Any]) -> "SamplingOptions":
        """Return the scheme's options with these parameters set.

        Raises:
            SpecError: a value is out of range.
        """
        return SamplingOptions(**{**self.parameters, **parameters})


@dataclass(frozen=True)
class SamplingOptions:
    """Options of a sampling scheme.

    Attributes:
        variant: a CFR variant without prediction: a spec such as ``lcfr``, ``dcfr(alpha=2)`` or ``my.py:DAMPED``, or an object.
        averaging: one of :data:`AVERAGING`.
        baseline: ``none``, ``learned`` (running averages of samples) or ``oracle`` (exact values of the current policies, one
            sweep per walk); None for the scheme's default.
        rate: step size of learned baselines, in (0, 1].
        key: key of learned baselines: ``history`` and action, or ``infoset`` (of the actor) and action.
        threads: number of threads, each with tables of its own; results depend on it.
        exploration, epsilon, beta, tau, k: parameters of individual schemes.
        quantiles: 1 to select chance outcomes by evenly spaced quantiles over the visits of each chance node instead of at
            random.
        prune, prune_after, prune_below: for schemes that follow all of the traverser's actions: fraction of walks that skip
            actions with very negative regrets, number of iterations before pruning starts, and the threshold in the game's
            units, where a new regret has weight 1.
    """

    variant: str | Variant = "cfr"
    averaging: str = "lazy"
    baseline: str | None = None
    rate: float = 0.5
    key: str = "history"
    threads: float = 1
    exploration: float = 0.6
    epsilon: float = 0.05
    beta: float = 1e6
    tau: float = 1e3
    k: float = 1
    quantiles: float = 0
    prune: float = 0.0
    prune_after: float = 1000
    prune_below: float = 300.0

    def __post_init__(self) -> None:
        for name, known in (("averaging", AVERAGING), ("baseline", BASELINES), ("key", KEYS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise SpecError(f"unknown {name} {value!r}{nearest(str(value), known)}")
        for name in ("exploration", "epsilon", "rate"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise SpecError(f"{name} must be above 0 and at most 1, not {getattr(self, name)!r}")
        if not 0.0 <= self.prune < 1.0:
            raise SpecError(f"prune must be a fraction of walks, at least 0 and below 1, not {self.prune!r}")
        if self.quantiles not in (0, 1):
            raise SpecError(f"quantiles must be 0 or 1, not {self.quantiles!r}")
        for name in ("beta", "tau", "prune_after", "prune_below"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise SpecError(f"{name} must be a number >= 0, not {getattr(self, name)!r}")
        for name, most in (("threads", MOST_THREADS), ("k", math.inf)):
            value = getattr(self, name)
            if not 1 <= value <= most or not float(value).is_integer():
                up_to = f" to {most}" if most < math.inf else ""
                raise SpecError(f"{name} must be an integer from 1{up_to}, not {value!r}")

    def rules(self, scheme: SamplingScheme, schedule: SampledSchedule) -> SchemeCodes:
        """Return the scheme with these options in the engine's form.

        Raises:
            SpecError: pruning is set, but the scheme does not follow all of the traverser's actions.
        """
        if self.prune > 0.0 and scheme.own != "all":
            raise SpecError(f"{scheme.name} does not follow all of the traverser's actions, which 'prune' needs; leave it out")
        return SchemeCodes(
            own=CODES[scheme.own],
            others=CODES[scheme.others],
            exploration=float(self.exploration),
            least=float(self.epsilon),
            bonus=float(self.beta),
            scale=float(self.tau),
            size=int(min(self.k, 2**31)),
            averaging=AVERAGING[self.averaging],
            baseline=BASELINES[self.baseline or scheme.baseline],
            rate=float(self.rate),
            floor=schedule.floor,
            discounts=schedule.discounts,
            prune=float(self.prune),
            prune_after=int(min(self.prune_after, 2**53)),
            prune_below=float(self.prune_below),
        )


LANCTOT = "Lanctot, Waugh, Zinkevich and Bowling 2009, Monte Carlo Sampling for Regret Minimization in Extensive Games"

SAMPLINGS: Mapping[str, SamplingScheme] = {
    sampling.name: sampling
    for sampling in (
        SamplingScheme("cs-mccfr", "chance sampling: one deal, all actions of all players", LANCTOT, "all", "all"),
        SamplingScheme(
            "es-mccfr",
            "external sampling: all actions of the traverser, one of each opponent and of chance",
            LANCTOT,
            "all",
            "one",
        ),
        SamplingScheme(
            "ccs-mccfr",
            "external sampling with correlated chance: evenly spaced chance outcomes",
            "Li, Chen and Huang 2026, Correlated Chance Sampling for Monte Carlo Counterfactual Regret Minimization (arXiv "
            "2607.27035)",
            "all",
            "one",
            {"quantiles": 1},
        ),
        SamplingScheme(
            "os-mccfr", "outcome sampling: one playthrough with exploration", LANCTOT, "one", "one", {"exploration": 0.6}
        ),
        SamplingScheme(
            "as-mccfr",
            "average strategy sampling: own actions sampled by their probability in the average",
            "Gibson, Burch, Lanctot and Szafron 2012, Efficient Monte Carlo Counterfactual Regret Minimization in Games with "
            "Many Player Actions",
            "each",
            "one",
            {"epsilon": 0.05, "beta": 1e6, "tau": 1e3},
        ),
        SamplingScheme(
            "rs-mccfr",
            "robust sampling: k actions of the traverser, one of each opponent and of chance",
            "Li, Hu, Ge, Jiang, Qi and Song 2020, Double Neural Counterfactual Regret Minimization (arXiv 1812.10607)",
            "subset",
            "one",
            {"k": 1.0},
        ),
        SamplingScheme(
            "vr-mccfr",
            "outcome sampling with learned baselines, which reduce most of the variance",
            "Schmid, Burch, Lanctot, Moravcik, Kadlec and Bowling 2019, Variance Reduction in Monte Carlo Counterfactual "
            "Regret Minimization (VR-MCCFR) for Extensive Form Games using Baselines (arXiv 1809.03057)",
            "one",
            "one",
            {"exploration": 0.6},
            "learned",
        ),
        SamplingScheme(
            "pluribus-mccfr",
            "external sampling with linear weights and pruning of very negative regrets, as in Pluribus",
            "Brown and Sandholm 2019, Superhuman AI for multiplayer poker, supplementary materials",
            "all",
            "one",
            {"variant": "lcfr", "prune": 0.95, "prune_after": 1000.0, "prune_below": 300.0},
        ),
    )
}
"""The schemes by name."""


def check_averaging(scheme: SamplingScheme, averaging: str, players: int) -> None:
    """Check that an averaging method is unbiased.

    Raises:
        AlgorithmError: it is biased for this number of players, or does not apply to this scheme.
    """
    if players > 2 and averaging not in SOUND:
        raise AlgorithmError(
            f"averaging={averaging} is biased with {players} players; use {', '.join(SOUND[:-1])} or {SOUND[-1]}"
        )
    if averaging == "opponent" and players < 2:
        raise AlgorithmError("averaging=opponent needs more than one player; use lazy")
    if averaging == "opponent" and scheme.others == "all":
        raise AlgorithmError(
            f"averaging=opponent counts sampled visits, but {scheme.name} follows all actions of the other players; use lazy"
        )


class MonteCarloCfr(Solver):
    """Any :class:`SamplingScheme` on a compiled game; an iteration is one walk per player.

    Runs are reproducible from the seed and the number of threads, interrupted or not, on any number of cores.

    With several threads each has its own tables and samples its own iterations, in turn. From time to time the regrets of all
    are replaced by their mean, which estimates the same average regrets with less noise: regret matching ignores their scale.
    (Sums would overshoot, since every thread alone moves towards equilibrium.) The average strategy is the sum of all threads'.
    The first :data:`LEAST_NODES` histories are walked by one thread.

    Attributes:
        tables: :class:`treeplex.engine.sampling.sampled_tables.Tables`; with several threads, all arrays have one more
            dimension, the thread, before the others.
        slots: int64 [S], the sequence of each slot.
        division: float64 [2], the iteration after which threads sample separately and the number of iterations between means;
            both 0 until then.
    """

    updates = "alternating"

    def __init__(
        self,
        game: CompiledGame,
        scheme: SamplingScheme,
        options: SamplingOptions | None = None,
        *,
        seed: int = 0,
        algorithm: str | None = None,
    ) -> None:
        """Start from the uniform policy.

        Raises:
            SpecError: an option is out of range.
            AlgorithmError: the variant or averaging method is unsound here.
        """
        self.game, self.scheme, self.options = game, scheme, options or SamplingOptions()
        self.algorithm, self.seed = algorithm or scheme.name, seed % 2**63
        check_averaging(scheme, self.options.averaging, game.players)
        self.schedule = SampledSchedule(self.options.variant)
        self.rules = self.options.rules(scheme, self.schedule)
        key = "history" if self.rules.baseline == schemes.ORACLE else self.options.key  # which is of learned baselines
        self.layout, self.histories, self.slots = laid_out(game, key)
        threads = int(self.options.threads)
        rows = np.zeros((threads, len(self.slots), 4))
        rows[:, :, POLICY] = uniform_probabilities(game)[self.slots]
        outcomes = len(self.histories.chance) if self.options.quantiles else 0
        columns = int(self.layout.edges.max(initial=-1)) + 1 if self.rules.baseline else 0
        tables = Tables(
            rows=rows,
            logs=np.zeros((threads, len(self.slots) if self.rules.discounts else 0, 2)),
            totals=np.zeros((threads, game.players)),
            baselines=np.zeros((threads, game.players, columns)),
            quantiles=np.random.default_rng(self.seed).random((threads, game.players, outcomes)),
        )
        self._replicas = [Tables(*(array[thread] for array in tables)) for thread in range(threads)]
        self.tables = tables if threads > 1 else self._replicas[0]
        self.division = np.zeros(2)
        self.walked = np.zeros(1)
        self.average = np.zeros(int(game.tree.sequence_offsets[-1]))
        self._rooms = [scratch(self.histories, self.layout, self.rules, game.size.depth) for _ in range(threads)]

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations."""
        cores = min(len(self._replicas), available_cores())
        with Executor(Threads(cores) if cores > 1 else Inline()) as executor:
            for weights in self.schedule.chunks(self.iteration, iterations):
                while len(weights):
                    count = self._iterate_divided(executor, weights) if self.division[1] else self._iterate_alone(weights)
                    self.iteration += count
                    weights = weights[count:]
        if iterations == 0:
            self._compile()

    def _iterate_alone(self, weights: Floats) -> int:
        """Run iterations on one thread, with several threads at most until they divide the work; return how many."""
        count = len(weights)
        if len(self._replicas) > 1:
            count = min(count, power_above(self.iteration) - self.iteration)
        self.walked += self._walk(0, self.iteration + 1, 1, weights[:count])
        done = self.iteration + count
        if len(self._replicas) > 1 and power_above(done - 1) == done and self.walked[0] >= LEAST_NODES:
            self._divide(done)
        return count

    def _iterate_divided(self, executor: Executor, weights: Floats) -> int:
        """Run iterations on all threads, at most until the next means of regrets; return how many."""
        start, period = (int(number) for number in self.division)
        threads, done = len(self._replicas), (self.iteration - start) % period
        count = min(len(weights), period - done)
        ends = done + count == period
        jobs = [(thread, (thread - done) % threads, weights[:count], ends) for thread in range(threads)]
        if count * self.walked[0] < SHARED_NODES * self.iteration:
            self.walked += sum(self._walk_share(*job) for job in jobs)
        else:
            self.walked += sum(executor.map(self._walk_share, jobs))
        if ends:
            average_regrets(self.layout.infosets, self.tables.rows)
        return count

    def _walk_share(self, thread: int, first: int, weights: Floats, ends: bool) -> int:
        """Walk a thread's iterations, row ``first`` and on; settle its tables if means follow. Returns histories visited."""
        walked = self._walk(thread, self.iteration + 1 + first, len(self._replicas), weights[first:])
        if ends:
            rules = self.rules if self.rules.averaging == schemes.LAZY else self.rules._replace(averaging=schemes.FULL)
            settle_tables(self.layout, rules, self._replicas[thread], weights[-1])
        return walked

    def _walk(self, thread: int, first: int, step: int, weights: Floats) -> int:
        """Run iteration ``first`` and every ``step``-th of the following rows; return the number of histories visited."""
        return int(
            iterate_sampled(
                self.histories,
                self.layout,
                self.rules,
                self._replicas[thread],
                self._rooms[thread],
                self.seed,
                first,
                step,
                weights,
            )
        )

    def _divide(self, iteration: int) -> None:
        """Let threads sample separately after an iteration, from the regrets of the first thread."""
        threads, rows = len(self._replicas), self.tables.rows
        rows[1:, :, [REGRET, POLICY]] = rows[0][:, [REGRET, POLICY]]
        self.tables.logs[1:], self.tables.baselines[1:] = self.tables.logs[0], self.tables.baselines[0]
        nodes = max(LEAST_NODES, NODES_PER_SLOT * rows.shape[1])
        self.division[:] = iteration, threads * math.ceil(nodes * iteration / self.walked[0])

    def _compile(self) -> None:
        """Compile the kernels without changing the tables."""
        self._walk(0, self.iteration + 1, 1, np.empty((0, 4)))
        if len(self._replicas) > 1:
            empty = self.layout._replace(offsets=np.zeros_like(self.layout.offsets))
            settle_tables(empty, self.rules, self._replicas[0], np.zeros(4))
            average_regrets(self.layout.infosets[:0], self.tables.rows)

    @property
    def nodes(self) -> int:
        """Number of visited histories so far."""
        return int(self.walked[0])

    def average_policy(self) -> Policy:
        """Return the average policy; lazy updates are applied to a copy, so the run is not affected."""
        total = np.zeros(len(self.slots))
        for tables in self._replicas:
            average = tables.rows[:, AVERAGE].copy()
            if self.rules.averaging == schemes.LAZY:
                policy, mark = tables.rows[:, POLICY].copy(), tables.rows[:, MARK].copy()
                settle(self.layout, tables.totals, policy, mark, average)
            total += average
        self.average[self.slots] = total
        return super().average_policy()

    def current_policy(self) -> Policy:
        """Return the policy of the next iteration."""
        start, period = self.division
        thread = int(self.iteration - start) % len(self._replicas) if period else 0
        probabilities = np.ones_like(self.average)
        probabilities[self.slots] = self._replicas[thread].rows[:, POLICY]
        return Policy(self.game, probabilities)

    def arrays(self) -> dict[str, Floats]:
        """Return tables, cumulative discounts, the number of visited histories, and the division among threads."""
        arrays = {**self.tables._asdict(), "schedule": self.schedule.running, "walked": self.walked}
        return arrays if len(self._replicas) == 1 else {**arrays, "division": self.division}


def power_above(number: int) -> int:
    """Return the smallest power of two above a number >= 0."""
    return 1 << number.bit_length()


def laid_out(game: CompiledGame, key: str) -> tuple[Layout, Histories, NDArray[np.int64]]:
    """Lay out slots: contiguous actions of an infoset, infosets in compiled order, parents first.

    Returns:
        The layout, the histories with first slots as keys of decisions, and the sequence of each slot.
    """
    tree, histories = game.tree, histories_of(game)
    first, stride, actions = tree.infoset_layout.T
    starts = np.concatenate(([0], np.cumsum(actions)))
    slots = np.empty(int(starts[-1]), np.int64)
    slot_of = np.full(int(tree.sequence_offsets[-1]), -1, np.int64)
    for a in range(int(actions.max(initial=0))):
        has = actions > a
        slots[starts[:-1][has] + a] = first[has] + a * stride[has]
    slot_of[slots] = np.arange(len(slots))
    infosets = np.stack((starts[:-1], actions, slot_of[tree.infoset_parent]), axis=1)
    nodes = histories.nodes.copy()
    decisions = nodes[:, 0] >= 0
    nodes[decisions, 3] = starts[nodes[decisions, 3]]
    edges = np.arange(len(nodes), dtype=np.int32)
    if key == "infoset":
        edges[:] = -1
        _, child, children, slot = nodes[decisions].T
        below = np.arange(int(children.sum())) - np.repeat(np.cumsum(children) - children, children)
        edges[np.repeat(child, children) + below] = np.repeat(slot, children) + below
    return Layout(np.ascontiguousarray(infosets), tree.infoset_offsets, edges), histories._replace(nodes=nodes), slots
