"""VR-DeepDCFR+ and VR-DeepPDCFR+: discounted regrets, bootstrapped from the network's own output and one iteration's
playthroughs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import AlgorithmError
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.averages import EXACT, NETWORK, Average, AverageSettings, AveragingLearner
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.fitting.policies import DiscountedValues, Values
from treeplex.learn.neural.walks.critics import CriticSettings, make_critic


@dataclass(frozen=True)
class VrDeepDcfrSettings(CriticSettings, AverageSettings):
    """Settings of VR-DeepDCFR+."""

    walks: int = setting(10_000, "playthroughs per player and iteration", low=1)
    fits: int = setting(750, "gradient steps of each regret network per iteration", low=1)
    exploration: float = setting(0.6, "probability with which the traverser acts uniformly at random", above=0, high=1)
    alpha: float = setting(2.0, "exponent of the discount t^alpha / (t^alpha + 1) of old regrets", low=0)
    gamma: float = setting(2.0, "exponent of the weight t^gamma of iteration t in the average", low=0)
    greedy: bool = setting(False, "if no regret is positive, play the action with the largest regret instead of uniformly")


@dataclass(frozen=True)
class VrDeepPdcfrSettings(VrDeepDcfrSettings):
    """Settings of VR-DeepPDCFR+."""

    alpha: float = 2.3


class VrDeepDcfr(AveragingLearner):
    """VR-DeepDCFR+: a network learns DCFR+ regrets over all iterations, from playthroughs with a critic as baseline.

    At iteration t the advantages r of this iteration's playthroughs (outcome sampling, corrected critic; see
    :mod:`treeplex.learn.neural.regrets.dream`) give the targets ``max(R, 0) (t-1)^alpha / ((t-1)^alpha + 1) + r``, where R is
    the network's previous output; regret matching gives the next policy. Iteration t has weight t^gamma in the average policy.

    Regrets are not weighted by reach: r is the advantage at the infoset, as in the authors' code. The rows of an average-policy
    network are also weighted by the exploring traverser's reach, which changes with its policy; ``average=exact`` avoids this.
    """

    settings_class = VrDeepDcfrSettings
    spreads = True
    walks_rules: ClassVar[bool] = True
    zero_sum = "variance-reduced deep CFR"
    source = "Xu, Li, Fu, Fu, Xing and Cheng 2026, Deep (predictive) discounted counterfactual regret minimization (AAAI)"

    def __init__(self, game: Game, settings: VrDeepDcfrSettings) -> None:
        super().__init__(game, settings)
        self.critic = make_critic(self)

    def step(self) -> Mapping[str, float]:
        """Run an iteration: for each player in turn, run playthroughs and fit its regrets; then fit the critic."""
        self.iteration += 1
        losses = [self.learn(player, self.play(player)) for player in (0, 1)]
        return {"loss": float(np.mean(losses)), "critic_loss": self.critic.fit(self.strategy)}

    def play(self, player: int) -> Rows:
        """Run an iteration's playthroughs; returns rows of advantages, and adds rows for the average and the critic."""
        settings, weight = self.settings, float(self.iteration) ** self.settings.gamma
        parts = []
        for walks in self.critic.playthroughs(player, settings.walks, settings.exploration):
            rows = walks.regrets()
            parts.append(rows._replace(weights=np.ones(len(rows.places), np.float32)))
            self.average.met(walks, weight)
            self.critic.add(walks.transitions)
        self.average.played(player, weight)
        return Rows.joined(parts)

    def learn(self, player: int, rows: Rows) -> float:
        """Fit a player's regrets and update its policy; returns the loss."""
        regrets = self.regrets[player]
        known = self.regret_discount(self.iteration - 1) * np.maximum(regrets.values(rows.places), 0.0)
        wanted = rows._replace(values=rows.values + known.astype(np.float32))
        loss = regrets.fit(wanted, self.settings.fits, self.generator)
        self.predict(player, rows)
        self.follow(player)
        return float(loss)

    def regret_discount(self, iteration: int) -> float:
        """Discount factor of the regrets after an iteration."""
        power = float(float(iteration) ** self.settings.alpha) if iteration else 0.0
        return power / (power + 1.0)

    def predict(self, player: int, rows: Rows) -> None:
        """Train a prediction of the next advantages; here a no-op."""

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield "critic", self.critic


class VrDeepPdcfr(VrDeepDcfr):
    """VR-DeepPDCFR+: predicts that the next advantages equal this iteration's.

    A second network is fitted to the advantages r alone, retrained at each iteration; the next policy is given by regret
    matching on ``max(R, 0) t^alpha / (t^alpha + 1) + r``. See :class:`VrDeepDcfr` for the rest.
    """

    settings_class = VrDeepPdcfrSettings

    def __init__(self, game: Game, settings: VrDeepPdcfrSettings) -> None:
        super().__init__(game, settings)
        self.latest: list[Any] = [self.sampler.approximator(player, self.generator) for player in range(2)]

    def make_average(self) -> Average:
        if not self.sampler.numbered and self.settings.average == EXACT:
            raise AlgorithmError(
                f"average={EXACT} stores one network per policy, but this learner's policies have two; set average={NETWORK}"
            )
        return super().make_average()

    def predict(self, player: int, rows: Rows) -> None:
        self.latest[player].reset(self.generator)
        self.latest[player].fit(rows, self.settings.fits, self.generator)

    def matched(self, player: int) -> Values:
        return DiscountedValues(super().matched(player), self.regret_discount(self.iteration), self.latest[player].frozen())

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield from ((f"latest{player}", latest) for player, latest in enumerate(self.latest))
