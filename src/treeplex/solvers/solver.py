"""The solver of update rules: runs any rule on any form."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.tree.learned import OUTSIDE
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.tree_form import TreeForm, TreeTables
from treeplex.forms.form import Form, RuleKind
from treeplex.forms.policies.tabular import Policy
from treeplex.solvers.base import Solver, order_of_updates
from treeplex.solvers.rules.learned import checked_horizon
from treeplex.solvers.rules.rule import UpdateRule
from treeplex.solvers.rules.variants import Variant

CHUNK = 4096
"""Number of iterations whose rows are prepared at a time."""
HORIZON = 1000
"""Default of planned iterations."""

State = TypeVar("State")


class FormSolver(Generic[State]):
    """A run of an update rule on a form.

    Attributes:
        form: the form.
        rule: the update rule.
        tables: the form's state.
        algorithm: canonical text of the rule and its parameters.
        updates: ``alternating`` or ``simultaneous``.
        horizon: planned iterations; some rules depend on it, and learned rules cannot exceed it.
        iteration: iterations done.
        before: iterations that a warm start counts as.
        longest: maximum number of iterations; None for no limit.
    """

    before = 0

    def __init__(
        self, form: Form[State], rule: UpdateRule, *, horizon: int | None, updates: str | None, algorithm: str | None
    ) -> None:
        self.form, self.rule, self.algorithm, self.iteration = form, rule, algorithm or rule.name, 0
        self.updates = order_of_updates(updates or rule.updates)
        self.horizon = HORIZON if horizon is None else horizon
        if rule.network:
            self.horizon = checked_horizon(rule.pace or 0, horizon or 0, self.algorithm)
        self.longest: int | None = self.horizon if rule.network else None
        try:
            self.tables: State = form.allocate(rule.kind, rule.needs, rule.averages, rule.network)
        except AlgorithmError as error:
            raise AlgorithmError(f"{self.algorithm} {error}") from error
        if not rule.network:
            rule.rows((1,), self.horizon)

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations; 0 only compiles the kernels.

        Raises:
            SpecError: the rule has no row or a non-finite one, or the run exceeds a learned rule's horizon.
        """
        alternating, last = self.updates == "alternating", self.iteration + iterations
        if network := self.rule.network:
            checked_horizon(self.horizon, last, self.algorithm)
            self.form.iterate_learned(network, self.tables, self.iteration, iterations, self.horizon, alternating=alternating)
            self.iteration = last
            return
        for start in range(self.iteration, max(last, self.iteration + 1), CHUNK):
            times = range(self.before + start + 1, self.before + min(start + CHUNK, last) + 1)
            rows = self.rule.rows(times, self.before + self.horizon)
            self.form.iterate(self.rule.kind, rows, self.tables, alternating=alternating)
            self.iteration = times.stop - 1 - self.before

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return the arrays that the next iteration depends on, by name, without copying."""
        return self.form.arrays(self.tables)


class GameSolver(FormSolver[TreeTables], Solver):
    """A run of an update rule on a compiled game.

    If a rule has several averages (value-tested CFR+), each player's result is the average or last iterate that minimises the
    opponent's best-response value.

    Attributes:
        chosen: the candidate of each player in the last :meth:`average_policy`, such as ``gamma=5`` or ``last``.
    """

    form: TreeForm
    algorithm: str
    iteration: int
    updates: str

    def __init__(
        self,
        game: CompiledGame,
        rule: UpdateRule,
        *,
        horizon: int | None = None,
        updates: str | None = None,
        algorithm: str | None = None,
    ) -> None:
        """Start from the uniform policy.

        Args:
            game: the compiled game.
            rule: a :class:`Variant`, :class:`FictitiousRule`, :class:`ValueTesting`, :class:`DiscountPolicy` or a custom rule.
            horizon: planned iterations; only some rules need it.
            updates: ``alternating`` or ``simultaneous``; None for the rule's default.
            algorithm: canonical spec for reports; None for the rule's name.

        Raises:
            SpecError: unknown order of updates, a rule without a first row, or a run longer than a learned rule's horizon.
            AlgorithmError: the rule does not support this game.
        """
        self.game = game
        super().__init__(TreeForm(game), rule, horizon=horizon, updates=updates, algorithm=algorithm)
        self.chosen: tuple[str, ...] = (rule.answers[0],) * game.players

    @property
    def regrets(self) -> Floats:
        """Cumulative counterfactual regrets, float64 [Q]."""
        return self.tables.state.regrets

    @property
    def policy(self) -> Floats:
        """The current behaviour policy, float64 [Q]; for fictitious play the last best responses."""
        return self.tables.state.policy

    @property
    def strategy(self) -> Floats:
        """The sequence form of the current policy, float64 [Q]."""
        return self.tables.state.strategy

    @property
    def averages(self) -> Floats:
        """Reach-weighted sums of policies, float64 [M, Q], discounted by the rule."""
        return self.tables.state.averages

    @property
    def average(self) -> Floats:  # type: ignore[override]
        """The first of :attr:`averages`, float64 [Q]."""
        first: Floats = self.tables.state.averages[0]
        return first

    def use_single_precision(self) -> None:
        """Run iterations in single precision from now on.

        Raises:
            AlgorithmError: the rule or the game does not support it.
        """
        try:
            self.tables = self.form.single(self.rule.kind, self.tables)
        except AlgorithmError as error:
            raise AlgorithmError(f"{self.algorithm} {error}") from None

    def average_policy(self) -> Policy:
        """Return the policy that converges to equilibrium; the current policy while the rule averages nothing."""
        if self.rule.kind is not RuleKind.TESTED:
            return Policy(self.game, self.form.policy(self.tables))
        candidates = self.form.candidates(self.tables)
        picks = self.form.chosen(candidates) if self.iteration else [0] * self.game.players
        probabilities, offsets = candidates[0].copy(), self.game.tree.sequence_offsets
        for player, pick in enumerate(picks):
            sequences = slice(int(offsets[player]), int(offsets[player + 1]))
            probabilities[sequences] = candidates[pick][sequences]
        self.chosen = tuple(self.rule.answers[pick] for pick in picks)
        return Policy(self.game, probabilities)

    def current_policy(self) -> Policy:
        """Return the policy of the next iteration."""
        return Policy(self.game, self.policy.copy())

    def notes(self) -> list[str]:
        """Return notes about iterations after the planned ones, and outside the proven ranges of DCFR's exponents."""
        if isinstance(self.rule, Variant) and self.rule.needs_horizon and self.iteration > self.horizon:
            return [
                f"the schedule of {self.algorithm} was planned for {self.horizon:,} iterations, not {self.iteration:,}; "
                "start a new run to plan for more"
            ]
        outside = int(self.tables.learned.memory[OUTSIDE]) if self.rule.network else 0
        if not outside or self.rule.name != "learned dcfr":
            return []
        return [
            f"exponents were outside the ranges of DDCFR's theorem 1 at {outside:,} iterations; convergence is not proved there"
        ]
