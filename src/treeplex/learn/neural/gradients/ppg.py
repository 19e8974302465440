"""Phasic policy gradient (Cobbe et al. 2021): PPO with periodic phases in which the policy network also learns values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.settings import setting
from treeplex.engine.histories.episodes import Episodes
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.infosets import Infosets
from treeplex.learn.neural.fitting.outputs import Arrays
from treeplex.learn.neural.frame import named, under
from treeplex.learn.neural.gradients.ppo import Ppo, PpoSettings


@dataclass(frozen=True)
class PpgSettings(PpoSettings):
    """Settings of PPG."""

    phase: int = setting(16, "updates between auxiliary phases", low=1)
    auxiliary_passes: int = setting(6, "gradient steps per auxiliary phase", low=1)
    cloning: float = setting(1.0, "weight of the policy's divergence in an auxiliary phase", low=0)


class Ppg(Ppo):
    """Phasic policy gradient: PPO whose policy network also learns values, in separate phases.

    The policy network has an additional value output. In an auxiliary phase it and the critic are fitted to the returns of all
    updates since the last phase, while the policy is kept close to its state before the phase:

        (V_aux - G)^2 / 2 + cloning KL(pi_before || pi)      (equation 3)

    With a table, whose entries are independent, an auxiliary phase changes only the critic.

    Policies ignore the value output, since a neural policy uses only the action outputs.

    Attributes:
        phase_infosets: infosets of the rows since the last phase.
        visits, sums: float64 [I, 1], number of rows at each of these infosets, and the sum of their returns.
    """

    settings_class = PpgSettings
    saved = (*Ppo.saved, "visits", "sums")
    source = "Cobbe et al. 2021, Phasic policy gradient (ICML; arXiv 2009.04416)"
    auxiliary: ClassVar[int] = 1

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.begin()

    def begin(self) -> None:
        """Start a new phase without rows."""
        self.phase_infosets = self.sampler.infosets
        self.visits, self.sums = np.zeros((2, len(self.phase_infosets), 1))

    def returns(self, episodes: Episodes) -> tuple[Floats, Floats]:
        """PPO's returns, also stored for the next auxiliary phase."""
        returns, count = super().returns(episodes), len(self.seen)
        visits = np.bincount(episodes.infoset, minlength=count).astype(np.float64)[:, None]
        sums = np.bincount(episodes.infoset, returns[0], count)[:, None]
        if self.sampler.numbered:
            self.visits, self.sums = self.visits + visits, self.sums + sums
        else:
            self.phase_infosets = Infosets.joined([self.phase_infosets, self.seen])
            self.visits, self.sums = np.concatenate([self.visits, visits]), np.concatenate([self.sums, sums])
        return returns

    def update(self) -> Mapping[str, float]:
        """Run PPO's update, and an auxiliary phase if one is due."""
        numbers = super().update()
        if (self.updates + 1) % self.settings.phase == 0:
            self.auxiliary_phase()
        return numbers

    def auxiliary_phase(self) -> None:
        """Run an auxiliary phase: fit the values while keeping the policy close to its state before the phase."""
        self.look(self.phase_infosets)
        settings, before = self.settings, self.current
        total, targets = self.visits.sum(), self.sums / np.maximum(self.visits, 1.0)
        for _ in range(settings.auxiliary_passes):
            pull = settings.cloning * self.visits * (self.current - before)
            wrong = self.visits * (self.logits.values()[:, -1:] - targets)
            self.logits.move(np.concatenate([pull, wrong], axis=1) / total, settings.rate * self.share)
            self.critic.fit(targets, self.visits, settings.critic_rate * self.share)
        self.begin()

    def state(self) -> Mapping[str, NDArray[Any]]:
        """PPO's state and, in uncompiled games, the infosets of the rows since the last phase."""
        return {**super().state(), **({} if self.sampler.numbered else named("seen", self.phase_infosets.columns()))}

    def restore(self, arrays: Arrays) -> None:
        """Restore the state that :meth:`state` returned."""
        super().restore(arrays)
        if not self.sampler.numbered:
            self.phase_infosets = Infosets(**under("seen", arrays))
