"""COMA: actors with a centralised critic and a counterfactual baseline over the alternative actions.

The critic sees the history, that is, all players' information and actions, and estimates the common payoff after each action.
The advantage of an action is (Foerster et al. 2018, equation 4)

    A(h, a) = Q(h, a) - sum over b of pi(b | I) Q(h, b)

and actors ascend ``A log pi`` on their own episodes. The critic learns lambda returns computed with a copy of itself
that is updated periodically.

Deviations. If players observe each other's actions, later actions are not held fixed (see ``papers/learners/estimators.py``):
``h`` is the history at which the player acts. The critic is fitted once per batch, not once per time step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from treeplex.base.settings import setting
from treeplex.engine.histories.episodes import Episodes
from treeplex.games.base import Game
from treeplex.learn.common.device import torch_module
from treeplex.learn.neural.features import history_features
from treeplex.learn.neural.fitting.optimised import TrainableModule
from treeplex.learn.neural.gradients.team import TABLES, TeamLearner, TeamSettings, Tensor, traced_returns


@dataclass(frozen=True)
class ComaSettings(TeamSettings):
    """Settings of COMA."""

    renew: int = setting(200, "updates between copies of the critic", low=1)


class Coma(TeamLearner):
    """COMA: counterfactual advantages from a centralised critic, for games in which all players receive the same payoff."""

    settings_class = ComaSettings
    saved = ("updates",)
    presets = TABLES
    source = "Foerster et al. 2018, Counterfactual multi-agent policy gradients (AAAI)"

    def __init__(self, game: Game, settings: ComaSettings) -> None:
        super().__init__(game, settings)
        self.target, self.updates = self.make_critic(), 0

    def make_critic(self) -> TrainableModule:
        """Create a critic that values all actions at every history."""
        rows, outputs = len(self.histories.nodes), self.infosets.legal.shape[1]
        rate, features = self.settings.critic_rate, self.settings.features
        return self.approximator(lambda: history_features(self.compiled, features), rows, outputs, rate=rate, number=1)

    def learn_values(self, episodes: Episodes, played: Tensor) -> tuple[Tensor, float]:
        """See :meth:`TeamLearner.learn_values`."""
        torch = torch_module()
        histories, infosets, actions = (
            torch.from_numpy(column).long() for column in (episodes.history, episodes.infoset, episodes.action)
        )
        with torch.no_grad():
            expected = self.target(histories).gather(1, actions[:, None])[:, 0].numpy()
        returns = torch.from_numpy(traced_returns(episodes, expected, self.settings.trace, own=False))
        values = self.critic(histories)
        taken = values.gather(1, actions[:, None])[:, 0]
        loss = self.critic.descend(((taken - returns) ** 2).mean())
        values = values.detach()
        advantages = taken.detach() - (played[infosets] * values).sum(dim=1)
        self.updates += 1
        if self.updates % self.settings.renew == 0:
            self.target.module.load_state_dict(self.critic.module.state_dict())
        return advantages, loss

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield "target", self.target
