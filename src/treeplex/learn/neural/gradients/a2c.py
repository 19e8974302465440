"""Independent advantage actor-critic: each player learns a cooperative game independently, treating the other players as part
of the environment.

A critic estimates each infoset's value for its player and learns lambda returns over the player's own decisions; the advantage
of an action is the return minus that value. This is IAC-V, the baseline of COMA (Foerster et al. 2018), with lambda returns
instead of the one-step error.
"""

from treeplex.engine.histories.episodes import Episodes
from treeplex.learn.common.device import torch_module
from treeplex.learn.neural.fitting.optimised import TrainableModule
from treeplex.learn.neural.gradients.team import TABLES, TeamLearner, Tensor, traced_returns


class IndependentA2C(TeamLearner):
    """Independent advantage actor-critic: each player has its own actor and critic; for cooperative games."""

    presets = TABLES
    source = "Foerster et al. 2018, Counterfactual multi-agent policy gradients (AAAI), independent actor-critic"

    def make_critic(self) -> TrainableModule:
        """Create a critic that values every infoset."""
        return self.approximator(self.seen_by_actors, len(self.infosets), 1, rate=self.settings.critic_rate, number=1)

    def learn_values(self, episodes: Episodes, played: Tensor) -> tuple[Tensor, float]:
        """See :meth:`TeamLearner.learn_values`."""
        torch = torch_module()
        values = self.critic(torch.from_numpy(episodes.infoset).long())[:, 0]
        expected = values.detach()
        returns = torch.from_numpy(traced_returns(episodes, expected.numpy(), self.settings.trace, own=True))
        loss = self.critic.descend(((values - returns) ** 2).mean())
        return returns - expected, loss
