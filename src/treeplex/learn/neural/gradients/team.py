"""Shared parts of cooperative actor-critic learners: all players receive the same payoff and learn from shared episodes."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.settings import Settings, setting
from treeplex.engine.histories.episodes import Episodes
from treeplex.errors import AlgorithmError
from treeplex.evaluate.judge import judge
from treeplex.forms.policies.heads import best_rows
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.common.device import torch_module
from treeplex.learn.neural.features import Rows
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.learn.neural.fitting.optimised import TrainableModule, perceptron, zero_table
from treeplex.learn.neural.fitting.policies import MatrixProfile
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings

Tensor = Any
TABLES: Mapping[str, Mapping[str, Any]] = {"table": {"approximator": TABLE, "rate": 0.02, "critic_rate": 0.01}}
"""Settings changes for tables, which learn faster than networks."""
SMALLEST = 1e-5
"""Epsilon of RMSprop, added to the root of the mean square."""


@dataclass(frozen=True)
class TeamSettings(NeuralSettings):
    """Settings shared by learners for cooperative games."""

    steps: int = setting(3000, "updates", low=1)
    batch: int = setting(8, "episodes per update", low=1)
    width: int = setting(64, "units per hidden layer of a network", low=1, fixed=True)
    layers: int = setting(2, "hidden layers of a network", low=1, fixed=True)
    rate: float = setting(0.001, "learning rate of the actors (RMSprop)", above=0)
    critic_rate: float = setting(0.005, "learning rate of the critic (RMSprop)", above=0)
    trace: float = setting(0.8, "lambda of the critic's target returns", low=0, high=1)
    explore: float = setting(0.5, "initial weight of uniform play", low=0, high=1)
    explored: float = setting(0.01, "final weight of uniform play", low=0, high=1)
    exploring: int = setting(16_000, "episodes over which exploration falls linearly", low=1)
    clip: float = setting(10.0, "maximum gradient norm, to which gradients are clipped", above=0)


class TeamLearner(NeuralLearner):
    """Actor-critic learner for cooperative games: actors for all infosets and a critic, trained on shared episodes.

    Actors play and optimise the mixture ``(1 - e) softmax + e uniform``, as in COMA; the resulting policy is the softmax
    without exploration.

    Attributes:
        actor: a table of logits, or a network of infoset features.
        critic: the critic of the derived class.
    """

    settings_class: ClassVar[type[Settings]] = TeamSettings
    for_teams: ClassVar[bool] = True
    spreads = True

    def __init__(self, game: Game, settings: TeamSettings) -> None:
        super().__init__(game, settings)
        self.allowed = torch_module().from_numpy(self.infosets.legal)
        self.equally = self.allowed / self.allowed.sum(dim=1, keepdim=True)
        self.actor = self.approximator(self.seen_by_actors, *self.infosets.legal.shape, rate=settings.rate, number=0)
        self.critic = self.make_critic()

    def check_game(self) -> None:
        if not self.sampler.cooperative:
            raise AlgorithmError(
                f"{self.game} does not give all players the same payoff, which this learner needs; use a "
                "cooperative game such as openspiel:tiny_hanabi, or another learner (treeplex train --list)"
            )

    def seen_by_actors(self) -> Rows:
        """Network inputs of infosets, with the one-hot player, float32 [I, F + N]."""
        return self.infosets.with_player(self.players)

    def approximator(
        self, features: Callable[[], Rows], rows: int, outputs: int, *, rate: float, number: int
    ) -> TrainableModule:
        """Create a table with ``rows`` rows, or a network on features, with ``outputs`` outputs per row.

        Args:
            features: function that computes network inputs, float32 [rows, F].
            rows: rows of the table.
            outputs: outputs per row.
            rate: learning rate.
            number: index that distinguishes the seeds of the learner's networks.
        """
        torch, settings = torch_module(), self.settings
        if settings.approximator == TABLE:
            module, inputs = zero_table(rows, outputs)
        else:
            inputs = torch.from_numpy(features())
            hidden = (settings.width,) * settings.layers
            module = perceptron(inputs.shape[1], hidden, outputs, 2 * settings.seed + number)
        optimizer = torch.optim.RMSprop(module.parameters(), lr=rate, alpha=0.99, eps=SMALLEST)
        return TrainableModule(module, inputs, optimizer, most=settings.clip)

    @abstractmethod
    def make_critic(self) -> TrainableModule:
        """Create an untrained critic."""

    @abstractmethod
    def learn_values(self, episodes: Episodes, played: Tensor) -> tuple[Tensor, float]:
        """Fit the critic to episodes.

        Args:
            episodes: episodes under the current policy; payoffs as fractions of the largest.
            played: float32 [I, A], the mixture that was played; without gradients.

        Returns:
            The advantage of each decision's action, float32 [D], from the critic before the update; and the critic's loss.
        """

    @property
    def exploration(self) -> float:
        """Current weight of uniform play."""
        settings, done = self.settings, min(1.0, self.sampler.played / self.settings.exploring)
        return float(settings.explore + (settings.explored - settings.explore) * done)

    def step(self) -> dict[str, float]:
        """Play a batch of episodes, fit the critic, and take a gradient step for the actors."""
        torch, settings = torch_module(), self.settings
        share = self.exploration
        played = (1.0 - share) * self.softmax() + share * self.equally
        fixed = played.detach()
        seats = np.zeros((settings.batch, self.players), np.int64)
        matrix = np.where(self.infosets.legal, fixed.double().numpy(), 0.0)
        episodes = self.sampler.episodes([MatrixProfile(matrix)], seats).episodes
        advantages, loss = self.learn_values(episodes._replace(payoffs=episodes.payoffs / self.scale), fixed)
        infosets, actions = (torch.from_numpy(column).long() for column in (episodes.infoset, episodes.action))
        actor_loss = self.actor.descend(-(advantages * torch.log(played[infosets, actions])).mean())
        return {"actor_loss": actor_loss, "critic_loss": loss}

    def softmax(self) -> Tensor:
        """The policy of all infosets, float32 [I, A], 0 for missing actions."""
        torch = torch_module()
        logits = self.actor().masked_fill(~self.allowed, -torch.inf)
        return torch.softmax(logits, dim=1)

    def of_slots(self, played: Tensor) -> Floats:
        """Convert a policy [I, A] to probabilities of slots, float64 [S]."""
        probabilities: Floats = played.double().numpy()[self.infosets.legal]
        return probabilities

    def policy(self) -> Policy:
        """The softmax, without exploration."""
        with torch_module().no_grad():
            return self.policy_of(self.of_slots(self.softmax()))

    def measure(self) -> Mapping[str, float]:
        """Mean team payoff of the policy, and of its most probable actions."""
        policy = self.policy()
        likeliest = best_rows(self.infosets.matrix(policy.probabilities), self.infosets.legal)
        greedy = Policy(self.compiled, self.infosets.table(likeliest))
        numbers = {
            name: judge(self.compiled, judged_policy).value[0]
            for name, judged_policy in (("return", policy), ("greedy_return", greedy))
        }
        return numbers | {"exploration": self.exploration}

    def parts(self) -> Iterator[tuple[str, Any]]:
        yield from super().parts()
        yield from (("actor", self.actor), ("critic", self.critic))


def traced_returns(episodes: Episodes, values: Rows, trace: float, *, own: bool) -> Rows:
    """Lambda returns after each decision, float32 [D]: the critic's targets.

    The recursion runs backwards from the last decision: ``G_t = (1 - lambda) v_{t+1} + lambda G_{t+1}``, where the last return
    is the acting player's payoff.

    Args:
        episodes: D decisions.
        values: float32 [D], the critic's value at each decision.
        trace: lambda.
        own: whether "next decision" means the same player's next decision, or that of any player.
    """
    returns = np.empty(len(values), np.float32)
    for episode, payoffs in enumerate(episodes.payoffs):
        later: dict[int, tuple[float, float]] = {}
        for at in range(episodes.first[episode + 1] - 1, episodes.first[episode] - 1, -1):
            lane = int(episodes.player[at]) if own else 0
            value, following = later.get(lane, (0.0, 0.0))
            target = (1.0 - trace) * value + trace * following if lane in later else payoffs[episodes.player[at]]
            returns[at] = target
            later[lane] = float(values[at]), float(target)
    return returns
