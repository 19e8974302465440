"""Compiled games as forms: states over sequences, and the kernels of ``engine.tree`` that iterate on them."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.fictitious import iterate_best_replies
from treeplex.engine.tree.form import TreeState, Workspace, in_single_precision, iteration_time, new_state, workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.learned import (
    INITIAL,
    LOWEST,
    MEMORY,
    DiscountNetwork,
    LearnedState,
    exploitability_of_sums,
    iterate_learned,
)
from treeplex.engine.tree.regret import iterate
from treeplex.engine.tree.sweeps import backup, best_value, normalise, reach
from treeplex.engine.tree.value_tested import iterate_tested
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.form import OPTIMISM, STEP, RuleKind
from treeplex.forms.policies.tabular import normalised, uniform_probabilities

if TYPE_CHECKING:
    from treeplex.engine.tree.shared import Division, Share

LEAST_TIME = 100_000.0
"""Nanoseconds of an iteration below which several threads cannot pay."""


class TreeTables(NamedTuple):
    """Tables of a run on a compiled game; the learned part is empty unless the rule is learned."""

    state: TreeState
    learned: LearnedState


class TreeForm:
    """A compiled game as a :class:`treeplex.forms.form.Form` for update rules.

    Attributes:
        game: the compiled game.
        threads: number of threads of an iteration, which does not change results; 1 for updates that threads do not share.
    """

    def __init__(self, game: CompiledGame) -> None:
        self.game, self.threads = game, 1
        self._division: tuple[Division, list[Share]] | None = None
        self._work = workspace(game.tree)
        self._operands = game.payoff, self._work
        self._block: Floats | None = None
        self._target: Floats | None = None
        self._activations = np.empty(0)

    @property
    def identity(self) -> str:
        """A hash of structure and payoffs."""
        return self.game.identity

    @property
    def players(self) -> int:
        """The number of players."""
        return self.game.players

    def allocate(
        self, kind: RuleKind, needs: frozenset[str], averages: int = 1, network: DiscountNetwork | None = None
    ) -> TreeTables:
        """Return the initial state at the uniform policy.

        Raises:
            AlgorithmError: the rule is learned, and the game is not two-player zero-sum.
        """
        game = self.game
        if kind is RuleKind.LEARNED and (game.players != 2 or not game.zero_sum):
            raise AlgorithmError("observes exploitability, so it needs a two-player zero-sum game; use another algorithm")
        policy = uniform_probabilities(game)
        size, infosets = len(policy), len(game.infostates)
        strategy = np.zeros(size)
        for player in range(game.players):
            reach(game.tree, player, policy, strategy)
        state = new_state(
            policy,
            regrets=np.zeros(size if "regrets" in needs else 0),
            strategy=strategy,
            averages=np.tile(strategy, (averages, 1)) if kind is RuleKind.REPLIES else np.zeros((averages, size)),
            previous=np.zeros(size if "previous" in needs else 0),
            changes=np.zeros((2, infosets if "changes" in needs else 0)),
        )
        learned = LearnedState(
            seen=np.zeros(size if "seen" in needs else 0),
            memory=np.zeros(MEMORY if kind is RuleKind.LEARNED else 0),
            network=np.empty(0) if network is None else network.parameters.copy(),
        )
        if kind is RuleKind.TESTED:
            self._block = np.empty((7, int(game.tree.blocks[:, 2].max(initial=0))))
        if kind is RuleKind.REPLIES:
            self._target = np.empty(size)
        if network is not None:
            self._activations = np.empty(int(network.sizes.sum()))
            uniform = exploitability_of_sums(game.tree, game.payoff, strategy, self._work)
            learned.memory[INITIAL] = max(uniform, LOWEST)
        return TreeTables(state, learned)

    def iterate(self, kind: RuleKind, rows: Floats, tables: TreeTables, *, alternating: bool) -> None:
        """Run one iteration per row of weights."""
        tree, state, (payoff, work) = self.game.tree, tables.state, self._operands
        if kind is RuleKind.REGRETS and self.threads > 1 and not state.previous.size:
            self._iterate_shared(rows, alternating, state)
        elif kind is RuleKind.REGRETS:
            iterate(tree, payoff, rows, alternating, state, work)
        elif kind is RuleKind.TESTED:
            assert self._block is not None
            iterate_tested(tree, payoff, rows, alternating, state, work.values, self._block)
        else:
            assert self._target is not None
            steps, optimism = np.ascontiguousarray(rows[:, STEP]), np.ascontiguousarray(rows[:, OPTIMISM])
            iterate_best_replies(tree, payoff, steps, optimism, alternating, state, self._target, work)

    def single(self, kind: RuleKind, tables: TreeTables) -> TreeTables:
        """Return the tables in single precision, in which iterations run from now on.

        Averages stay in double precision, since a long sum in single precision loses its small terms.

        Raises:
            AlgorithmError: the rule is not one of regrets, or the game's terminals are not stored.
        """
        if kind is not RuleKind.REGRETS:
            raise AlgorithmError("does not support single precision; leave precision (--precision) out")
        if self.game.payoff.walk >= 0:
            raise AlgorithmError("does not support single precision on walked rules; leave precision (--precision) out")
        parts: list[Any] = [np.empty(len(part), np.float32) for part in self._work]
        self._operands, self._division = (in_single_precision(self.game.payoff), Workspace(*parts)), None
        return tables._replace(state=in_single_precision(tables.state)._replace(averages=tables.state.averages))

    def use_threads(self, most: int) -> None:
        """Use as many threads as pay for this game, at most ``most``."""
        threads = 1
        if most > 1 and iteration_time(self.game.tree, self.game.payoff) > LEAST_TIME:
            from treeplex.engine.tree.shared import threads_for  # imported here, since small games do not need it

            threads = threads_for(self.game.tree, self.game.payoff, most)
        if threads != self.threads:
            self.threads, self._division = threads, None

    def _iterate_shared(self, rows: Floats, alternating: bool, state: TreeState) -> None:
        """Run iterations on all threads."""
        from treeplex.engine.tree.shared import divide, iterate_shared

        tree, (payoff, work) = self.game.tree, self._operands
        if self._division is None:
            self._division = divide(tree, payoff, self.threads)
        division, shares = self._division
        gate = np.zeros(2, np.int64)

        def run(thread: int) -> None:
            iterate_shared(tree, shares[thread], division, rows, alternating, state, work, thread, gate)

        if not len(rows):  # compiled here, since threads that wait for a compiling one would spin
            run(0)
            return
        with ThreadPoolExecutor(self.threads - 1) as pool:
            others = [pool.submit(run, thread) for thread in range(1, self.threads)]
            run(0)
            for other in others:
                other.result()

    def iterate_learned(
        self, network: DiscountNetwork, tables: TreeTables, done: int, iterations: int, horizon: int, *, alternating: bool
    ) -> None:
        """Run iterations whose weights a network sets, without leaving compiled code."""
        scheme, none = network._replace(parameters=tables.learned.network), np.empty((0, 0))
        iterate_learned(
            self.game.tree, self.game.payoff, scheme, done, iterations, horizon, alternating, tables.state, tables.learned,
            self._work, self._activations, none, none,
        )  # fmt: skip

    def arrays(self, tables: TreeTables) -> dict[str, Floats]:
        """Return the arrays that the next iteration depends on, by name, without copying."""
        arrays = tables.state._asdict() | tables.learned._asdict()
        if len(tables.state.averages) == 1:
            arrays["average"] = arrays.pop("averages")[0]
        return {name: array for name, array in arrays.items() if array.size}

    def policy(self, tables: TreeTables) -> Floats:
        """Return the (first) average behaviour policy, [Q]; the current policy while nothing is averaged."""
        average = tables.state.averages[0]
        return normalised(self.game, average) if average.any() else np.array(tables.state.policy, np.float64)

    def values(self, tables: TreeTables, *, best: bool) -> Floats:
        """Return each player's expected value against the others' average policies, or with ``best`` the best-response
        value, [N].
        """
        tree, policy, result = self.game.tree, self.policy(tables), np.empty(self.players)
        strategy = np.empty_like(policy)
        for player in range(self.players):
            reach(tree, player, policy, strategy)
        for player in range(self.players):
            gradient(tree, self.game.payoff, player, strategy, self._work.values)
            result[player] = (
                best_value(tree, player, self._work.values, self._work.infoset_values)
                if best
                else backup(tree, player, policy, self._work.values, self._work.infoset_values)
            )
        return result

    def candidates(self, tables: TreeTables) -> list[Floats]:
        """Return the candidate policies [Q] of value-tested CFR+: the averages, then the last iterate."""
        policies = [np.empty_like(tables.state.policy) for _ in tables.state.averages]
        for average, policy in zip(tables.state.averages, policies, strict=True):
            for player in range(self.players):
                normalise(self.game.tree, player, average, policy)
        return [*policies, tables.state.policy.copy()]

    def chosen(self, candidates: list[Floats]) -> list[int]:
        """Return, for each player, the candidate policy against which the opponent's best response is worth least.

        In other than constant-sum two-player games the first candidate is returned.
        """
        if self.players != 2 or self.game.constant is None:
            return [0] * self.players
        return [int(np.argmin([self.opponent_value(policy, player) for policy in candidates])) for player in (0, 1)]

    def opponent_value(self, policy: Floats, player: int) -> float:
        """Return the opponent's best-response value against ``player``'s policy, a slice of [Q]."""
        tree, strategy = self.game.tree, np.empty_like(policy)
        reach(tree, player, policy, strategy)
        gradient(tree, self.game.payoff, 1 - player, strategy, self._work.values)
        return float(best_value(tree, 1 - player, self._work.values, self._work.infoset_values))
