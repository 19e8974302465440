"""VR-DeepDCFR+ and VR-DeepPDCFR+: discounted regrets, learned from the network's own and from one iteration's playthroughs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.recording import matched
from treeplex.engine.tree.form import Floats
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import make_approximator
from treeplex.learn.neural.fitting.averages import AverageSettings, AveragingLearner
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.frame import check_zero_sum, named, under
from treeplex.learn.neural.walks.critics import Critic, CriticSettings, playthroughs
from treeplex.learn.neural.walks.jobs import WalkKind
from treeplex.settings import setting


@dataclass(frozen=True)
class VrDeepDcfrSettings(CriticSettings, AverageSettings):
    """What a training is asked to do."""

    walks: int = setting(10_000, "playthroughs for each player in an iteration", low=1)
    fits: int = setting(750, "gradient steps of each regret network in an iteration", low=1)
    exploration: float = setting(0.6, "probability with which a traverser chooses uniformly", above=0, high=1)
    alpha: float = setting(2.0, "old regrets count t^alpha / (t^alpha + 1)", low=0)
    gamma: float = setting(2.0, "iteration t has weight t^gamma in the average", low=0)
    greedy: bool = setting(False, "where no regret is positive, play the action of the largest instead of all alike")


@dataclass(frozen=True)
class VrDeepPdcfrSettings(VrDeepDcfrSettings):
    """What a training is asked to do."""

    alpha: float = setting(2.3)


class VrDeepDcfr(AveragingLearner):
    """VR-DeepDCFR+: the regrets of DCFR+ in a network that goes on learning, from playthroughs with a critic as baseline.

    At iteration t the advantages r of this iteration's playthroughs alone (outcome sampling, corrected critic; see
    :mod:`treeplex.learn.neural.regrets.dream`) become the targets ``max(R, 0) (t-1)^alpha / ((t-1)^alpha + 1) + r``, with R
    what the network said before; the next policy matches the network's regrets. The average has weights t^gamma.

    The regrets are not weighted by reach: r is the advantage at the infoset, as in the authors' program.
    """

    settings_class = VrDeepDcfrSettings
    spreads = True
    source = "Xu, Li, Fu, Fu, Xing and Cheng 2026, Deep (predictive) discounted counterfactual regret minimization (AAAI)"

    def __init__(self, game: Game, settings: VrDeepDcfrSettings) -> None:
        super().__init__(game, settings)
        self.critic = Critic(self)
        self.regret_values = [np.zeros(regrets.inputs.slots) for regrets in self.regrets]

    def check_game(self) -> None:
        check_zero_sum(self, "variance-reduced deep CFR")

    def step(self) -> Mapping[str, float]:
        """An iteration: each player in turn plays, and learns; then the critic does."""
        self.iteration += 1
        losses = [self.learn(player, self.play(player)) for player in (0, 1)]
        return {"loss": float(np.mean(losses)), "critic_loss": self.critic.fit(self.strategy)}

    def play(self, player: int) -> Rows:
        """The playthroughs of an iteration: rows of the advantages; the average and the critic get theirs."""
        settings, weight = self.settings, float(self.iteration) ** self.settings.gamma
        kind = WalkKind(player, settings.seed, settings.exploration)
        parts = []
        for rows, others, edges in playthroughs(self, self.critic, self.strategy, kind, settings.walks):
            parts.append(rows._replace(weights=np.ones(len(rows.places), np.float32)))
            self.average.met(others, self.strategy, weight)
            self.critic.add(edges)
        self.average.played(player, self.strategy, weight)
        return Rows.joined(parts)

    def learn(self, player: int, rows: Rows) -> float:
        """Fit a player's regrets, and match them; the loss."""
        regrets = self.regrets[player]
        kept = self.kept(self.iteration - 1) * np.maximum(self.regret_values[player], 0.0)
        loss = regrets.fit(shifted(rows, regrets.inputs.first, kept), self.settings.fits, self.generator)
        self.regret_values[player] = regrets.values()
        predicted = self.predicted(player, rows)
        self.strategy[self.slots_of(player)] = matched(regrets.inputs.first, predicted, self.settings.greedy)
        return float(loss)

    def kept(self, iteration: int) -> float:
        """The share of regrets after an iteration that counts in the next."""
        power = float(float(iteration) ** self.settings.alpha)
        return power / (power + 1.0)

    def predicted(self, player: int, rows: Rows) -> Floats:
        """What the next policy matches, float64 [S] of the player: the regrets."""
        return self.regret_values[player]

    def state(self) -> dict[str, NDArray[Any]]:
        values = {f"values{player}": values for player, values in enumerate(self.regret_values)}
        return super().state() | named("critic", self.critic.state()) | values

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(arrays)
        self.critic.restore(under("critic", arrays))
        self.regret_values = [np.array(arrays[f"values{player}"]) for player in range(len(self.regrets))]


class VrDeepPdcfr(VrDeepDcfr):
    """VR-DeepPDCFR+: the next policy expects the advantages of this iteration once more.

    A second network is fitted to the advantages r alone, anew at each iteration; the next policy matches
    ``max(R, 0) t^alpha / (t^alpha + 1) + r``. See :class:`VrDeepDcfr` for the rest.
    """

    settings_class = VrDeepPdcfrSettings

    def __init__(self, game: Game, settings: VrDeepPdcfrSettings) -> None:
        super().__init__(game, settings)
        self.latest = [make_approximator(regrets.inputs, settings, self.generator) for regrets in self.regrets]

    def predicted(self, player: int, rows: Rows) -> Floats:
        latest = self.latest[player]
        latest.reset(self.generator)
        latest.fit(rows, self.settings.fits, self.generator)
        return np.asarray(self.kept(self.iteration) * np.maximum(self.regret_values[player], 0.0) + latest.values())

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = super().state()
        for player, latest in enumerate(self.latest):
            arrays |= named(f"latest{player}", latest.state())
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(arrays)
        for player, latest in enumerate(self.latest):
            latest.restore(under(f"latest{player}", arrays))


def shifted(rows: Rows, first: NDArray[np.int64], added: Floats) -> Rows:
    """Rows whose values are larger by a number of each slot, float64 [S]; beyond a place's last action anything."""
    slots = np.minimum(first[rows.places][:, None] + np.arange(rows.values.shape[1]), len(added) - 1)
    return rows._replace(values=rows.values + added[slots].astype(np.float32))
