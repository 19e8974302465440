"""Magnetic mirror descent (Sokota et al. 2023) with the uniform policy as magnet.

With exact values and a table, the policy at every infoset is updated in closed form (behavioural form, section 4.3):

    pi_t+1(a)  proportional to  [pi_t(a) exp(eta q(a))]^(1 / (1 + alpha eta)),

where q(a) is the acting player's expected payoff, as a fraction of the game's largest payoff. At a fixed temperature alpha its
fixed point is the agent quantal response equilibrium ``pi proportional to exp(q / alpha)``; a falling temperature leads to a
Nash equilibrium. With sampled episodes MMD is PPO with a penalty ``kl`` on the divergence from the sampling policy, and with
the temperature as entropy weight, as in Rudolph et al. 2025 (arXiv 2502.08938).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import NETWORK, TABLE
from treeplex.learn.neural.fitting.outputs import TableOutputs
from treeplex.learn.neural.gradients.policy_gradient import EXACT, LEARNED, check_critic
from treeplex.learn.neural.gradients.ppo import Ppo, PpoSettings


@dataclass(frozen=True)
class MmdSettings(PpoSettings):
    """Settings of MMD."""

    critic: str = setting(LEARNED, "source of action values (exact needs a table)", choices=(EXACT, LEARNED), fixed=True)
    kl: float = setting(0.05, "weight of the divergence from the sampling policy, with learned values", low=0)
    temperature: float = setting(0.4, "alpha of the first step with exact values, as a fraction of the largest payoff", above=0)
    cooling: float = setting(0.5, "exponent p of the temperature's decay t^-p over steps t", low=0, high=1)
    ratio: float = setting(10.0, "step size with exact values, as a multiple of the temperature", above=0)

    def check(self) -> None:
        """Check that exact values are used only with a table."""
        if self.critic == EXACT and self.approximator == NETWORK:
            raise SpecError("MMD with critic=exact updates a table; set approximator=table as well")


class Mmd(Ppo):
    """Magnetic mirror descent: policies are regularised toward uniform play, less so as the temperature falls."""

    settings_class = MmdSettings
    source = (
        "Sokota et al. 2023, A unified approach to reinforcement learning, quantal response equilibria, and ... games (ICLR)"
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "exact": {"critic": EXACT, "approximator": TABLE, "steps": 10_000},
    }

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        check_critic(self)

    @property
    def countable(self) -> Sequence[str]:
        """Units of effort: histories, and episodes unless values are exact."""
        return ("nodes",) if self.settings.critic == EXACT else super().countable

    def update(self) -> Mapping[str, float]:
        """Run PPO's update or, with exact values, a step in closed form."""
        if self.settings.critic == LEARNED:
            return super().update()
        settings, policy = self.settings, self.current
        temperature = settings.temperature / float(self.updates + 1) ** settings.cooling
        rate = settings.ratio * temperature
        reaches = self.infosets.opposing_reaches(policy)[:, None]
        values = self.infosets.action_values(policy).values / np.where(reaches > 0.0, reaches, 1.0)
        self.sampler.count(self.compiled.size.histories, 0)
        logits = self.logits
        if isinstance(logits, TableOutputs):
            moved = (logits.numbers + rate * values / self.scale) / (1.0 + temperature * rate)
            logits.numbers[:] = self.infosets.centred(moved)
        return {"temperature": temperature}
