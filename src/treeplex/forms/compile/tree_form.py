"""Compiled games as forms: states over sequences, and the kernels of ``engine.tree`` that iterate on them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.fictitious import iterate_best_replies
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.learned import INITIAL, LOWEST, MEMORY, DiscountNetwork, exploitability_of_sums, iterate_learned
from treeplex.engine.tree.regret import ADAPTIVE, FIXED, iterate
from treeplex.engine.tree.sweeps import backup, best_value, normalise, reach, widest_block, workspace
from treeplex.engine.tree.value_tested import iterate_tested
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.form import OPTIMISM, STEP, Kind
from treeplex.forms.policies.tabular import normalised, uniform_probabilities

Floats = NDArray[np.float64]


class TreeState(NamedTuple):
    """What a run on a compiled game keeps, float64; arrays that a rule does not need are empty.

    Attributes:
        regrets: [Q], accumulated counterfactual regrets.
        policy: [Q], the current behaviour policy; of fictitious play the last pure replies.
        strategy: [Q], its sequence form.
        averages: [M, Q], own-reach-weighted sums of policies; of fictitious play the averages themselves.
        previous: [Q], last regrets (APCFR+), or differences of the candidates (value-tested CFR+).
        changes: [2, I], sums of squared changes, or of the tests.
        seen: [Q], the policy at the last decision of a learned rule that looks at how fast it moves.
        memory: [MEMORY], what a learned rule saw and decided last.
        network: [P], its network, so that a changed file changes no run.
    """

    regrets: Floats
    policy: Floats
    strategy: Floats
    averages: Floats
    previous: Floats
    changes: Floats
    seen: Floats
    memory: Floats
    network: Floats


class TreeForm:
    """A compiled game that update rules run on; a :class:`treeplex.forms.form.Form`.

    Attributes:
        game: the compiled game.
    """

    def __init__(self, game: CompiledGame) -> None:
        self.game = game
        self._values, self._infoset_values = workspace(game.tree)
        self._totals = np.empty_like(self._infoset_values)
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
        self, kind: Kind, needs: frozenset[str], averages: int = 1, network: DiscountNetwork | None = None
    ) -> TreeState:
        """The state before the first iteration, at the uniform policy.

        Raises:
            AlgorithmError: a learned rule in a game that is not two-player zero-sum.
        """
        game, learned = self.game, kind is Kind.LEARNED
        if learned and (game.players != 2 or not game.zero_sum):
            raise AlgorithmError("looks at exploitability, which steers it in two-player zero-sum games only")
        policy = uniform_probabilities(game)
        size, infosets = len(policy), len(game.infostates)
        strategy = np.zeros(size)
        for player in range(game.players):
            reach(game.tree, player, policy, strategy)
        state = TreeState(
            regrets=np.zeros(size if "regrets" in needs else 0),
            policy=policy,
            strategy=strategy,
            averages=np.tile(strategy, (averages, 1)) if kind is Kind.REPLIES else np.zeros((averages, size)),
            previous=np.zeros(size if "previous" in needs else 0),
            changes=np.zeros((2, infosets if "changes" in needs else 0)),
            seen=np.zeros(size if "seen" in needs else 0),
            memory=np.zeros(MEMORY if learned else 0),
            network=np.empty(0) if network is None else network.parameters.copy(),
        )
        if kind is Kind.TESTED:
            self._block = np.empty((7, max(widest_block(game.tree, player) for player in range(game.players))))
        if kind is Kind.REPLIES:
            self._target = np.empty(size)
        if network is not None:
            self._activations = np.empty(int(network.sizes.sum()))
            uniform = exploitability_of_sums(game.tree, game.payoff, strategy, self._values, self._infoset_values)
            state.memory[INITIAL] = max(uniform, LOWEST)
        return state

    def iterate(self, kind: Kind, rows: Floats, state: TreeState, *, alternating: bool) -> None:
        """Run one iteration for each row."""
        tree, payoff = self.game.tree, self.game.payoff
        if kind is Kind.REGRETS:
            iterate(
                tree, payoff, rows, alternating, ADAPTIVE if state.previous.size else FIXED, state.regrets, state.policy,
                state.strategy, state.averages[0], state.previous, state.changes, self._values, self._infoset_values,
                self._totals,
            )  # fmt: skip
        elif kind is Kind.TESTED:
            assert self._block is not None
            iterate_tested(
                tree, payoff, rows, alternating, state.regrets, state.previous, state.changes, state.policy, state.strategy,
                state.averages, self._values, self._block,
            )  # fmt: skip
        else:
            assert self._target is not None
            iterate_best_replies(
                tree, payoff, np.ascontiguousarray(rows[:, STEP]), np.ascontiguousarray(rows[:, OPTIMISM]), alternating,
                state.policy, state.strategy, state.averages[0], self._target, self._values, self._infoset_values,
            )  # fmt: skip

    def iterate_learned(
        self, network: DiscountNetwork, state: TreeState, done: int, iterations: int, horizon: int, *, alternating: bool
    ) -> None:
        """Run iterations whose weights a network sets, without leaving compiled code."""
        none = np.empty((0, 0))
        iterate_learned(
            self.game.tree, self.game.payoff, network._replace(parameters=state.network), done, iterations, horizon,
            alternating, none, state.regrets, state.policy, state.strategy, state.averages[0], state.seen, state.memory,
            self._values, self._infoset_values, self._totals, self._activations, none,
        )  # fmt: skip

    def arrays(self, state: TreeState) -> dict[str, Floats]:
        """The arrays that the next iteration depends on, by name; not copies."""
        arrays = state._asdict()
        if len(state.averages) == 1:
            arrays["average"] = arrays.pop("averages")[0]
        return {name: array for name, array in arrays.items() if array.size}

    def policy(self, state: TreeState) -> Floats:
        """The (first) average behaviour policy, [Q]; uniform before the first iteration."""
        return normalised(self.game, state.averages[0])

    def values(self, state: TreeState, *, best: bool) -> Floats:
        """What each player gets against the others' average policies, [N]; see :class:`treeplex.forms.form.Form`."""
        tree, policy, found = self.game.tree, self.policy(state), np.empty(self.players)
        strategy = np.empty_like(policy)
        for player in range(self.players):
            reach(tree, player, policy, strategy)
        for player in range(self.players):
            gradient(tree, self.game.payoff, player, strategy, self._values)
            found[player] = (
                best_value(tree, player, self._values, self._infoset_values)
                if best
                else backup(tree, player, policy, self._values, self._infoset_values)
            )
        return found

    def candidates(self, state: TreeState) -> list[Floats]:
        """The behaviour policies [Q] that value-tested CFR+ chooses from: the averages, then the last iterate."""
        found = [np.empty_like(state.policy) for _ in state.averages]
        for average, policy in zip(state.averages, found, strict=True):
            for player in range(self.players):
                normalise(self.game.tree, player, average, policy)
        return [*found, state.policy.copy()]

    def chosen(self, candidates: list[Floats]) -> list[int]:
        """For each player the candidate against which the opponent's best response gets least.

        In games that are not of two players and constant sum that says nothing about equilibrium; there it is the first.
        """
        if self.players != 2 or self.game.constant is None:
            return [0] * self.players
        return [int(np.argmin([self.opponent_value(policy, player) for policy in candidates])) for player in (0, 1)]

    def opponent_value(self, policy: Floats, player: int) -> float:
        """What a best response of the other player gets against ``player``'s part of a policy [Q], in the game's units."""
        tree, strategy = self.game.tree, np.empty_like(policy)
        reach(tree, player, policy, strategy)
        gradient(tree, self.game.payoff, 1 - player, strategy, self._values)
        return float(best_value(tree, 1 - player, self._values, self._infoset_values))
