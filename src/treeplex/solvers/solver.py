"""The solver of update rules: it feeds the rows of a rule to a form, whatever the game and the rule."""

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

CHUNK = 4096
"""Iterations whose rows are prepared at a time."""
HORIZON = 1000
"""Iterations planned, where nobody says."""

State = TypeVar("State")


class FormSolver(Generic[State]):
    """A run of an update rule on a form.

    Attributes:
        form: the form.
        rule: the update rule.
        tables: the form's state.
        algorithm: canonical text of the rule and its parameters.
        updates: ``alternating`` or ``simultaneous``.
        horizon: iterations planned, which some rules pace themselves for; learned ones do no more.
        iteration: iterations done.
        before: iterations that a warm start counts as, which the schedule goes on from.
        longest: the most iterations that it can do in all; None for any number.
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
            SpecError: the rule has no rows there or one that is not finite, or the run leaves a learned rule's horizon.
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
        """The arrays that the next iteration depends on, by name; not copies."""
        return self.form.arrays(self.tables)


class GameSolver(FormSolver[TreeTables], Solver):
    """A run of an update rule on a compiled game.

    Where a rule keeps several averages (value-tested CFR+) the answer is chosen for each player separately among them and the
    last iterate: the one against which the opponent's best response gets least.

    Attributes:
        chosen: then for each player which candidate :meth:`average_policy` returned last, such as ``gamma=5`` or ``last``.
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
            rule: a :class:`Variant`, :class:`FictitiousRule`, :class:`ValueTesting`, :class:`DiscountPolicy` or your own.
            horizon: iterations planned; only rules that pace themselves need it.
            updates: ``alternating`` or ``simultaneous``; None for the rule's usual one.
            algorithm: canonical text for reports; None for the rule's name.

        Raises:
            SpecError: an unknown order of updates, a rule without a first row, or a run longer than a learned rule's horizon.
            AlgorithmError: the rule is not defined for this game.
        """
        self.game = game
        super().__init__(TreeForm(game), rule, horizon=horizon, updates=updates, algorithm=algorithm)
        self.chosen: tuple[str, ...] = (rule.answers[0],) * game.players

    @property
    def regrets(self) -> Floats:
        """Accumulated counterfactual regrets, float64 [Q]."""
        return self.tables.state.regrets

    @property
    def policy(self) -> Floats:
        """The current behaviour policy, float64 [Q]; of fictitious play the last pure replies."""
        return self.tables.state.policy

    @property
    def strategy(self) -> Floats:
        """Its sequence form, float64 [Q]."""
        return self.tables.state.strategy

    @property
    def averages(self) -> Floats:
        """Own-reach-weighted sums of policies, float64 [M, Q], discounted as the rule says."""
        return self.tables.state.averages

    @property
    def average(self) -> Floats:  # type: ignore[override]
        """The first of :attr:`averages`, float64 [Q]."""
        first: Floats = self.tables.state.averages[0]
        return first

    def average_policy(self) -> Policy:
        """The policy that approaches equilibrium; uniform before the first iteration."""
        if self.rule.kind is not RuleKind.TESTED:
            return Policy(self.game, self.form.policy(self.tables))
        candidates = self.form.candidates(self.tables)
        picks = self.form.chosen(candidates) if self.iteration else [0] * self.game.players
        found, offsets = candidates[0].copy(), self.game.tree.sequence_offsets
        for player, pick in enumerate(picks):
            own = slice(int(offsets[player]), int(offsets[player + 1]))
            found[own] = candidates[pick][own]
        self.chosen = tuple(self.rule.answers[pick] for pick in picks)
        return Policy(self.game, found)

    def current_policy(self) -> Policy:
        """The policy of the next iteration."""
        return Policy(self.game, self.policy.copy())

    def notes(self) -> list[str]:
        """Iterations at which what is proved about DCFR's exponents does not hold."""
        outside = int(self.tables.learned.memory[OUTSIDE]) if self.rule.network else 0
        if not outside or self.rule.name != "learned dcfr":
            return []
        return [
            f"exponents were outside the ranges of DDCFR's theorem 1 at {outside:,} iterations; convergence is not proved there"
        ]
