"""Value-tested CFR+: PDCFR+'s discount with a growing exponent, prediction as strong as it has proved worth, five answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.value_tested import DECAY, ROUNDING
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.regret import Weights
from treeplex.engine.tree.sweeps import best_value, normalise, reach, widest_block, workspace
from treeplex.engine.tree.value_tested import ValueTest, iterate_tested
from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers.base import Solver, order_of_updates
from treeplex.solvers.cfr import CHUNK
from treeplex.solvers.rules.variants import average_discount, discount

Floats = NDArray[np.float64]

NAME = "vt-cfr+"
GAMMAS = (2.0, 5.0, 15.0)
"""Exponents of the averages that are kept; the first is the answer where there is no choice.

Behind them comes the matched average, which is multiplied by the regrets' own discount: iteration t has weight
``w_t = 1 / (d(2) ... d(t))``. Of it convergence is proved for simultaneous updates, see ``docs/one-scheme.md``.
"""
HAND_GAMMA = 5.0
"""Exponent of the one average that the hand engine keeps."""


@dataclass(frozen=True)
class ValueTesting:
    """The constants of value-tested CFR+.

    Attributes:
        alpha0, ramp: regrets are discounted by ``d(t) = (t-1)^a / ((t-1)^a + 1)`` with ``a = alpha0 + ramp * log10 t``.
        memory: the sums of the test are multiplied by ``((t-1)/t)^memory``: iteration t counts about as ``t^memory``.
        strength: prediction strength is ``1/2 + strength * A / B`` within [0, 1].
        untested: prediction strength where the candidates have never differed, within [0, 1].
        rounding: differences of candidates, or of their values as a share of the terms, up to this count as none; in [0, 1].
    """

    alpha0: float = 0.5
    ramp: float = 0.7
    memory: float = 4.0
    strength: float = 1.0
    untested: float = 1.0
    rounding: float = 0.0

    def __post_init__(self) -> None:
        """Check the constants.

        Raises:
            SpecError: one of them is not finite, memory or strength is negative, or untested or rounding outside.
        """
        for name, value in vars(self).items():
            if not math.isfinite(value):
                raise SpecError(f"{name} of {NAME} must be a finite number, not {value!r}")
        for name in ("memory", "strength"):
            if getattr(self, name) < 0.0:
                raise SpecError(f"{name} of {NAME} must be a number >= 0, not {getattr(self, name)!r}")
        for name in ("untested", "rounding"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise SpecError(f"{name} of {NAME} must be a number from 0 to 1, not {getattr(self, name)!r}")

    def discount(self, t: int) -> float:
        """The share of regrets that is kept at iteration t, from 1."""
        return discount(t - 1, self.alpha0 + self.ramp * math.log10(t))

    def test(self, t: int) -> ValueTest:
        """The engine's row of iteration t, from 1."""
        discounts = self.discount(t), self.discount(t + 1)
        return ValueTest(*discounts, average_discount(t, self.memory), self.strength, self.untested, self.rounding)

    def rows(self, times: Sequence[int], gammas: Sequence[float] = GAMMAS) -> Floats:
        """The rows of these iterations with the factors on the averages, the matched one last, float64 [K, 6 + M]."""
        rows = [(*self.test(t), *(average_discount(t, gamma) for gamma in gammas), self.discount(t)) for t in times]
        return np.array(rows, np.float64).reshape(-1, len(ValueTest._fields) + len(gammas) + 1)

    @property
    def name(self) -> str:
        """What the command line calls the algorithm."""
        return NAME

    def hand_rows(self, times: Sequence[int], gamma: float = HAND_GAMMA) -> Floats:
        """The hand engine's rows of these iterations, float64 [K, 12] (:mod:`treeplex.engine.holdem.value_tested`)."""
        rows = np.empty((len(times), ROUNDING + 1))
        for row, t in zip(rows, times, strict=True):
            test = self.test(t)
            row[:DECAY] = Weights(
                positive=test.discount,
                negative=0.0,
                floor=1.0,
                predicted_positive=test.next_discount,
                predicted_negative=0.0,
                prediction=test.strength,
                average_discount=average_discount(t, gamma),
            )
            row[DECAY:] = test.decay, test.untested, test.rounding
        return rows


class ValueTestedSolver(Solver):
    """Value-tested CFR+ on a compiled game.

    In two-player games of constant sum the answer is chosen for each player separately, among the averages and the last
    iterate: the one against which the opponent's best response gets least. In other games, where that says nothing about
    equilibrium, it is the first average.

    Attributes:
        regrets: float64 [Q], accumulated counterfactual regrets, >= 0.
        policy: float64 [Q], the current behaviour policy (the last iterate).
        strategy: float64 [Q], its sequence form.
        averages: float64 [M, Q], own-reach-weighted sums of policies, by the exponents ``GAMMAS``, then the matched one;
            ``average`` is the first.
        chosen: for each player which candidate :meth:`average_policy` returned last, such as ``gamma=5`` or ``last``.
    """

    def __init__(
        self,
        game: CompiledGame,
        testing: ValueTesting | None = None,
        *,
        updates: str | None = None,
        algorithm: str = NAME,
    ) -> None:
        """Start from the uniform policy.

        Args:
            game: the compiled game.
            testing: the constants; None for the usual ones.
            updates: ``alternating`` or ``simultaneous``; None for alternating.
            algorithm: canonical text for reports.

        Raises:
            SpecError: an unknown order of updates.
        """
        self.game, self.testing, self.algorithm = game, testing or ValueTesting(), algorithm
        self.updates = order_of_updates(updates or "alternating")
        self.policy = uniform_probabilities(game)
        self.strategy, self.regrets, self._differences = (np.zeros_like(self.policy) for _ in range(3))
        self.averages = np.zeros((len(GAMMAS) + 1, len(self.policy)))
        self.average = self.averages[0]
        self._tests = np.zeros((2, len(game.infostates)))
        for player in range(game.players):
            reach(game.tree, player, self.policy, self.strategy)
        self._values, self._infoset_values = workspace(game.tree)
        self._scratch = np.empty((7, max(widest_block(game.tree, player) for player in range(game.players))))
        self.chosen: tuple[str, ...] = (candidate_names()[0],) * game.players

    def run(self, iterations: int) -> None:
        """Do so many more iterations."""
        last = self.iteration + iterations
        for start in range(self.iteration, max(last, self.iteration + 1), CHUNK):
            times = range(start + 1, min(start + CHUNK, last) + 1)
            iterate_tested(
                self.game.tree,
                self.game.payoff,
                self.testing.rows(times),
                self.updates == "alternating",
                self.regrets,
                self._differences,
                self._tests,
                self.policy,
                self.strategy,
                self.averages,
                self._values,
                self._scratch,
            )
            self.iteration = times.stop - 1

    def candidates(self) -> list[Floats]:
        """The behaviour policies [Q] to choose from: the averages, then the last iterate."""
        found = [np.empty_like(self.policy) for _ in self.averages]
        for average, policy in zip(self.averages, found, strict=True):
            for player in range(self.game.players):
                normalise(self.game.tree, player, average, policy)
        return [*found, self.policy.copy()]

    def average_policy(self) -> Policy:
        """The policy that approaches equilibrium: each player's best candidate; uniform before the first iteration."""
        candidates = self.candidates()
        picks = [0] * self.game.players
        if self.iteration and self.game.players == 2 and self.game.constant is not None:
            for player in (0, 1):
                losses = [self.opponent_value(policy, player) for policy in candidates]
                picks[player] = int(np.argmin(losses))
        found, offsets = candidates[0].copy(), self.game.tree.sequence_offsets
        for player, pick in enumerate(picks):
            found[offsets[player] : offsets[player + 1]] = candidates[pick][offsets[player] : offsets[player + 1]]
        names = candidate_names()
        self.chosen = tuple(names[pick] for pick in picks)
        return Policy(self.game, found)

    def opponent_value(self, policy: Floats, player: int) -> float:
        """What a best response of the other player gets against ``player``'s part of a policy [Q], in the game's units."""
        tree, strategy = self.game.tree, np.empty_like(policy)
        reach(tree, player, policy, strategy)
        gradient(tree, self.game.payoff, 1 - player, strategy, self._values)
        return float(best_value(tree, 1 - player, self._values, self._infoset_values))

    def current_policy(self) -> Policy:
        """The policy of the next iteration."""
        return Policy(self.game, self.policy.copy())

    def arrays(self) -> dict[str, Floats]:
        """Regrets, differences of the candidates, tests, policies and averages."""
        return {
            "regrets": self.regrets,
            "differences": self._differences,
            "tests": self._tests,
            "policy": self.policy,
            "strategy": self.strategy,
            "averages": self.averages,
        }


def candidate_names() -> list[str]:
    """What :attr:`ValueTestedSolver.chosen` calls the candidates, in order."""
    return [*(f"gamma={gamma:g}" for gamma in GAMMAS), "matched", "last"]
