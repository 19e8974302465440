"""Regression CFR: networks estimate CFR's cumulative regrets, and regret matching on the estimates gives the policies.

An iteration of a player (Waugh et al. 2015, Solving games with functional regret estimation, section 3):

    pi(I, a) ~ max(R~(I, a), 0),    R_t = R_{t-1} + r_t(pi),    R~ fitted to R_t,

with exact regrets ``r_t`` at all infosets from a sweep, one player after the other. Since regret matching is invariant to
scaling an infoset's regrets, each infoset's regrets are divided by the square root of the largest, and then all of a player's
regrets by their root mean square. Network targets thus always have the same scale, on which small regrets are scaled up
but still matter less than large ones. With ``bootstrap``, new regrets are added to the estimates, which are fitted to R_t / t,
so that no table is needed; ``plus`` sets negative regrets to zero, as in regret matching+. The average policy is exact, in
sequence form. With tables in place of networks this is CFR. The paper fits regression trees, and OpenSpiel fits networks to
random batches; here each step of Adam uses all infosets of a player.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.arrays import Bools, Floats
from treeplex.base.settings import setting
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup
from treeplex.forms.policies.heads import matched_rows
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.learn.neural.fitting.averages import ExactAverage
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings

TINY = 1e-300
"""Replaces zero in divisors."""


@dataclass(frozen=True)
class RcfrSettings(NeuralSettings):
    """Settings of RCFR."""

    steps: int = setting(2000, "iterations of CFR", low=1)
    fits: int = setting(10, "gradient steps of each regret network per iteration", low=1)
    plus: bool = setting(False, "set negative regrets to zero", fixed=True)
    bootstrap: bool = setting(False, "add regrets to their estimates instead of keeping a table of them", fixed=True)
    linear: bool = setting(False, "weight the strategy of iteration t by t in the average", fixed=True)


class Rcfr(NeuralLearner):
    """Regression CFR: CFR with regrets estimated by networks from infoset features.

    Attributes:
        estimators: each player's regret estimator.
        regrets: float64 [S], cumulative regrets R; with ``bootstrap``, the estimates times the number of iterations.
        current: float64 [S], the current policy.
        average: unnormalised average policy.
        iteration: number of iterations completed.
    """

    settings_class = RcfrSettings
    saved = ("regrets", "current", "iteration")
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "table": {"approximator": TABLE},
        "plus": {"plus": True, "linear": True},
    }
    source = "Waugh, Morrill, Bagnell and Bowling 2015, Solving games with functional regret estimation (AAAI 2015)"

    def __init__(self, game: Game, settings: RcfrSettings) -> None:
        super().__init__(game, settings)
        players = range(self.compiled.players)
        self.estimators = [self.sampler.approximator(player, self.generator) for player in players]
        self.regrets, self.average = np.zeros(len(self.slots)), ExactAverage(self)
        self.current, self.iteration = self.uniform(), 0

    @property
    def countable(self) -> Sequence[str]:
        """Units of effort: histories only, since no episodes are played."""
        return ("nodes",)

    def step(self) -> Mapping[str, float]:
        """Run an iteration: each player in turn adds its regrets against the current policies and fits its estimator."""
        game, settings, losses = self.compiled, self.settings, []
        tree, (values, infoset_values, _) = game.tree, workspace(game.tree)
        self.iteration += 1
        strategy = self.infosets.strategy(self.table_of(self.current))
        for player, estimator in enumerate(self.estimators):
            player_slots, sequences, infosets = self.slots_of(player), self.sequences_of(player), self.infosets_of(player)
            table, legal = self.table_of(self.current), self.infosets.legal[infosets]
            self.average.add(player, table, self.iteration if settings.linear else 1.0)
            gradient(tree, game.payoff, player, strategy, values)
            backup(tree, player, self.policy_of(self.current).probabilities, values, infoset_values)
            self.regrets[player_slots] += values[self.slots[player_slots]] - np.repeat(
                infoset_values[infosets], legal.sum(axis=1)
            )
            if settings.plus:
                np.maximum(self.regrets[player_slots], 0.0, out=self.regrets[player_slots])
            regrets = np.zeros(legal.shape)
            regrets[legal] = self.regrets[player_slots]
            losses.append(estimator.regress(self.targets(regrets, legal), legal.astype(np.float64), settings.fits))
            estimates = estimator.values()
            if settings.bootstrap:
                self.regrets[player_slots] = estimates[legal] * self.iteration
            self.current[player_slots] = matched_rows(estimates, legal)[legal]
            strategy[sequences] = self.sequence_form(player, self.table_of(self.current))
        self.sampler.count(game.size.histories * game.players, 0)
        return {"loss": float(np.mean(losses))}

    def targets(self, regrets: Floats, legal: Bools) -> Floats:
        """Network targets from a player's regrets, float64 [P, A]."""
        if self.settings.bootstrap:
            return regrets / self.iteration
        even = regrets / np.sqrt(np.maximum(np.abs(regrets).max(axis=1, keepdims=True), TINY))
        return np.asarray(even / max(float(np.sqrt(np.mean(even[legal] ** 2))), TINY))

    def policy(self) -> Policy:
        return self.average.policy(self.iteration)

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield "average", self.average
        yield from ((f"estimator{player}", estimator) for player, estimator in enumerate(self.estimators))
