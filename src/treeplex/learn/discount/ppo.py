"""Proximal policy optimisation, used instead of evolution strategies in DDCFR's ablation (DDCFR-rl in table 1).

An episode is a run of T iterations on one game; a decision is an evaluation of the network, and an action is the set of
discount parameters. The network's outputs are the actor: a continuous exponent is ``tanh`` of a Gaussian around its output, and
a discrete choice (an integer exponent, or how long to hold) is the largest of its logits plus Gumbel noise, which samples from
their softmax exactly (Maddison, Tarlow and Minka 2014, "A* sampling", section 2). Since both add noise to the outputs, the
noise can be drawn in advance, and episodes run in compiled code.

The update is the clipped objective of Schulman et al. 2017 ("Proximal policy optimization algorithms", equations 7 and 9), with
a critic that sees the actor's features and the game. Rewards come at the end of an episode
(``learn.discount.advantages.rewards``). The DDCFR paper gives no settings for PPO. Those of :class:`PPO` are common defaults,
except that rewards are not discounted, since the horizon is finite.

PyTorch is the extra ``torch``; it is imported only when a trainer is created.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.workers.executor import in_threads
from treeplex.engine.networks.mlp_single import parameter_count
from treeplex.engine.tree.learned import HEAD, trace_episode
from treeplex.errors import FileError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.learn.common.device import one_thread, torch_module
from treeplex.learn.discount.advantages import Decisions, estimate_advantages, rewards
from treeplex.learn.discount.fitness import Fitness, exploitability_of
from treeplex.learn.discount.trainer import Arrays, EpochReport, Watch, unwatched
from treeplex.solvers.rules.discount_policy import DiscountPolicy

Tensor = Any
MOMENTS = {"mean": "exp_avg", "square": "exp_avg_sq"}
"""Adam's moments: names in the state and in PyTorch."""
EPSILON = 1e-5
"""Adam's epsilon, usual with PPO."""
MAY_BE_ZERO = ("smoothing", "entropy", "value", "shaped", "seed")


@dataclass(frozen=True)
class PPO:
    """Settings of PPO.

    Attributes:
        episodes: episodes per game and epoch; the same number as evolution strategies with a population of this size.
        learning_rate: Adam's step size.
        clip: PPO's clip range of the probability ratio.
        passes: passes over an epoch's decisions.
        minibatches: gradient steps per pass; fewer if minibatches would otherwise be smaller than ``smallest``.
        smallest, largest: decisions per minibatch. If an epoch has more decisions, each pass uses a different random subset,
            which bounds the time per pass (an episode has between T/20 and T decisions).
        discount: discount factor of rewards per iteration.
        smoothing: lambda of the advantage estimates.
        entropy: weight of the entropy bonus.
        value: weight of the critic's squared error.
        norm: maximum gradient norm; larger gradients are clipped.
        spread: initial standard deviation of continuous outputs, which is then learned.
        shaped: reward each decision for its own progress (not in the paper); see ``learn.discount.advantages.rewards``.
        seed: seed of noise, minibatches and the critic; epoch e is seeded by (seed, e), independently of earlier epochs.
    """

    episodes: int = 100
    learning_rate: float = 3e-4
    clip: float = 0.2
    passes: int = 10
    minibatches: int = 32
    smallest: int = 64
    largest: int = 1024
    discount: float = 1.0
    smoothing: float = 0.95
    entropy: float = 0.001
    value: float = 0.5
    norm: float = 0.5
    spread: float = 0.5
    shaped: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value, least = getattr(self, field.name), "at least" if field.name in MAY_BE_ZERO else "above"
            if not (math.isfinite(value) and (value > 0 or (value == 0 and field.name in MAY_BE_ZERO))):
                raise SpecError(f"{field.name} of PPO must be a number {least} 0, not {value!r}")
        for name in ("discount", "smoothing"):
            if getattr(self, name) > 1:
                raise SpecError(f"{name} of PPO is {getattr(self, name)}; it must be at most 1")
        if self.smallest > self.largest:
            raise SpecError(f"smallest of PPO is {self.smallest}; it must be at most 'largest' ({self.largest})")


class PPOTrainer:
    """Trains a discount policy by proximal policy optimisation: a :class:`treeplex.learn.discount.trainer.Trainer`.

    Attributes:
        games: the training games.
        fitness: fitness for reports; its game weights also scale the advantages.
        ppo: settings of the algorithm.
        watch: see :class:`treeplex.learn.discount.trainer.Trainer`.
        epoch: number of epochs completed.
    """

    def __init__(
        self,
        policy: DiscountPolicy,
        games: Sequence[CompiledGame],
        fitness: Fitness,
        *,
        ppo: PPO | None = None,
        workers: int = 1,
    ) -> None:
        """Start from a policy.

        Args:
            policy: the initial actor; only its network is trained.
            games: the training games.
            fitness: see :class:`PPOTrainer`.
            ppo: settings; None for the defaults.
            workers: threads that run episodes; results do not depend on their number.

        Raises:
            SpecError: PyTorch is not installed, or rewards are shaped but the policy lacks the exploitability feature.
        """
        self._torch = torch = torch_module()
        self.games, self.fitness, self.ppo = tuple(games), fitness, ppo or PPO()
        self.watch: Watch = unwatched
        self.epoch = 0
        if self.ppo.shaped and "exploitability" not in policy.features:
            raise SpecError(
                "shaped rewards need a policy with the exploitability feature; add the feature, or set shaped=False"
            )
        self._start, self._workers = policy, workers
        self._critic_sizes = np.array([len(policy.features) + len(self.games), *policy.hidden, 1], np.int64)
        critic = initial_parameters(self._critic_sizes, np.random.default_rng([self.ppo.seed, 0, 1]))
        log_spread = np.full(policy.levels.count(0), math.log(self.ppo.spread))
        start = {"parameters": policy.compiled.parameters, "critic": critic, "log_spread": log_spread}
        self._tensors = {name: torch.tensor(value).requires_grad_() for name, value in start.items()}
        self._adam = torch.optim.Adam(self._tensors.values(), lr=self.ppo.learning_rate, eps=EPSILON)

    @property
    def policy(self) -> DiscountPolicy:
        """The current policy, without noise."""
        return self._start.with_parameters(self._tensors["parameters"].detach().numpy().copy())

    def step(self) -> EpochReport:
        """Run the epoch's episodes with noise, update actor and critic, and evaluate the new policy."""
        decisions = self._play()
        with one_thread():
            self._improve(decisions)
        self.epoch += 1
        candidates = self.fitness.of(decisions.final.reshape(len(self.games), -1).T)
        reached = exploitability_of(self.policy, self.games)
        return EpochReport(
            epoch=self.epoch,
            fitness=float(self.fitness.of(reached)),
            mean=float(candidates.mean()),
            best=float(candidates.max()),
            exploitability=tuple(float(value) for value in reached),
        )

    def state(self) -> Arrays:
        """Actor, critic, spread, their Adam moments and steps, and the epoch."""
        steps = 0
        arrays: dict[str, NDArray[Any]] = {}
        for name, tensor in self._tensors.items():
            arrays[name] = tensor.detach().numpy().copy()
            adam = self._adam.state.get(tensor)
            steps = int(adam["step"]) if adam else 0
            for key, moment in MOMENTS.items():
                arrays[f"{name}.{key}"] = adam[moment].numpy().copy() if adam else np.zeros(tensor.shape)
        return {"epoch": np.array([self.epoch], np.int64), "steps": np.array([steps], np.int64), **arrays}

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            FileError: the arrays are from a different network, different games, or a different algorithm.
        """
        torch = self._torch
        for name, wanted in self.state().items():
            stored = arrays.get(name)
            if stored is None or stored.shape != wanted.shape or stored.dtype != wanted.dtype or not np.isfinite(stored).all():
                raise FileError(f"{name!r} must have {wanted.size} {'integers' if wanted.dtype == np.int64 else 'numbers'}")
        steps = float(arrays["steps"][0])
        for name, tensor in self._tensors.items():
            with torch.no_grad():
                tensor.copy_(torch.tensor(arrays[name]))
            moments = {moment: torch.tensor(arrays[f"{name}.{key}"]) for key, moment in MOMENTS.items()}
            self._adam.state[tensor] = {"step": torch.tensor(steps), **moments}
        self.epoch = int(arrays["epoch"][0])

    def close(self) -> None:
        """Do nothing, since threads end with each epoch."""

    def _play(self) -> Decisions:
        """Run the epoch's episodes, game by game, each with its own random stream."""
        policy, episodes, total = self.policy, self.ppo.episodes, self.ppo.episodes * len(self.games)
        spread = np.exp(self._tensors["log_spread"].detach().numpy())

        def play(number: int) -> tuple[float, Floats]:
            game, random = self.games[number // episodes], self._random(1 + number)
            noise = draw_noise(policy, spread, random)
            return trace_episode(game.tree, game.payoff, policy.compiled, policy.horizon, noise)

        final, traces = [], []
        for reached, trace in in_threads(self._workers, play, range(total)):
            final.append(max(reached, self.fitness.floor))
            traces.append(trace)
            self.watch()
        rows, outputs = np.concatenate(traces), HEAD + len(policy.features)
        return Decisions(
            offsets=np.cumsum([0, *map(len, traces)]),
            game=np.repeat(np.arange(len(self.games)), episodes),
            final=np.array(final),
            features=rows[:, HEAD:outputs].copy(),
            sampled=rows[:, outputs:].copy(),
            before=np.maximum(rows[:, 1], self.fitness.floor),
            holds=rows[:, 6].copy(),
        )

    def _random(self, stream: int) -> np.random.Generator:
        """A random stream of the epoch: 0 for minibatches, 1 and up for episodes."""
        return np.random.default_rng([self.ppo.seed, self.epoch + 1, stream])

    def _improve(self, decisions: Decisions) -> None:
        """Maximise the clipped objective."""
        torch, ppo, random = self._torch, self.ppo, self._random(0)
        game = decisions.game[decisions.episode]
        features, sampled = torch.tensor(decisions.features), torch.tensor(decisions.sampled)
        seen = torch.tensor(np.hstack([decisions.features, np.eye(len(self.games))[game]]))
        with torch.no_grad():
            values, (old, _) = self._values(seen).numpy(), self._judge(features, sampled)
        advantages = estimate_advantages(decisions, rewards(decisions, shaped=ppo.shaped), values, ppo.discount, ppo.smoothing)
        targets = torch.tensor(advantages + values)
        weights = self.fitness.weights / self.fitness.weights.mean()
        gains = torch.tensor((advantages - advantages.mean()) / max(advantages.std(), 1e-8) * weights[game])
        parts = min(ppo.minibatches, math.ceil(len(gains) / ppo.smallest))
        for _ in range(ppo.passes):
            for batch in torch.tensor(random.permutation(len(gains))[: parts * ppo.largest]).tensor_split(parts):
                chances, entropy = self._judge(features[batch], sampled[batch])
                gain = clipped_gain(torch, chances - old[batch], gains[batch], ppo.clip)
                error = (self._values(seen[batch]) - targets[batch]).square()
                self._adam.zero_grad()
                (0.5 * ppo.value * error - gain - ppo.entropy * entropy).mean().backward()
                torch.nn.utils.clip_grad_norm_(self._tensors.values(), ppo.norm)
                self._adam.step()

    def _values(self, seen: Tensor) -> Tensor:
        """The critic's value estimates, [N], from features and the one-hot game."""
        return forward(self._torch, self._critic_sizes, self._tensors["critic"], seen)[:, 0]

    def _judge(self, features: Tensor, sampled: Tensor) -> tuple[Tensor, Tensor]:
        """Log probabilities of the sampled outputs, and entropies; see :func:`log_probabilities`."""
        outputs = forward(self._torch, self._start.sizes, self._tensors["parameters"], features)
        return log_probabilities(self._torch, self._start, outputs, self._tensors["log_spread"], sampled)


def initial_parameters(sizes: Ints, random: np.random.Generator) -> Floats:
    """Initialise a network, float64 [P]: weights and biases uniform in ``+-1 / sqrt(inputs)``, as for the actor."""
    bounds = np.repeat(1.0 / np.sqrt(sizes[:-1]), (sizes[:-1] + 1) * sizes[1:])
    return random.uniform(-1.0, 1.0, parameter_count(sizes)) * bounds


def forward(torch: Any, sizes: Ints, parameters: Tensor, inputs: Tensor) -> Tensor:
    """Differentiable ``engine.networks.mlp_single.forward``: inputs [N, F] to outputs [N, O]."""
    offset, values = 0, inputs
    for layer in range(len(sizes) - 1):
        rows, columns = int(sizes[layer]), int(sizes[layer + 1])
        biases = offset + rows * columns
        hidden = torch.nn.functional.elu(values) if layer else values
        values = hidden @ parameters[offset:biases].reshape(rows, columns) + parameters[biases : biases + columns]
        offset = biases + columns
    return values


def output_blocks(policy: DiscountPolicy) -> tuple[list[int], list[slice]]:
    """Output columns of the continuous exponents, and columns of logits for each discrete choice."""
    continuous, choices, column = [], [], 0
    for level in (*policy.levels, *([len(policy.holds)] if policy.holds else [])):
        if level == 0:
            continuous.append(column)
        else:
            choices.append(slice(column, column + level))
        column += max(level, 1)
    return continuous, choices


def draw_noise(policy: DiscountPolicy, spread: Floats, random: np.random.Generator) -> Floats:
    """Noise for the outputs of every possible decision of an episode, float64 [T, O].

    Noise for exponents is normal with standard deviations ``spread`` [continuous exponents]; noise for logits is standard
    Gumbel.
    """
    continuous, _ = output_blocks(policy)
    noise = random.gumbel(size=(policy.horizon, int(policy.sizes[-1])))
    noise[:, continuous] = spread * random.standard_normal((policy.horizon, len(continuous)))
    return noise


def log_probabilities(
    torch: Any, policy: DiscountPolicy, outputs: Tensor, log_spread: Tensor, sampled: Tensor
) -> tuple[Tensor, Tensor]:
    """Log probabilities of sampled outputs.

    For continuous exponents this is the log density before ``tanh``, whose Jacobian is the same under every policy and cancels
    in ratios.

    Args:
        torch: the PyTorch module.
        policy: determines the meaning of each output.
        outputs: [N, O], the actor's outputs without noise.
        log_spread: [continuous exponents], logarithms of standard deviations.
        sampled: [N, O], outputs with the sampled noise.

    Returns:
        Log probabilities (densities) of the sampled outputs, and entropies, both before ``tanh``, [N] each.
    """
    continuous, choices = output_blocks(policy)
    distances = (sampled[:, continuous] - outputs[:, continuous]) * torch.exp(-log_spread)
    constant = 0.5 * math.log(2.0 * math.pi)
    chances = (-0.5 * distances.square() - log_spread - constant).sum(dim=1)
    entropy = (log_spread + (constant + 0.5)).sum().expand(len(outputs))
    for columns in choices:
        logs = torch.log_softmax(outputs[:, columns], dim=1)
        chosen = sampled[:, columns].argmax(dim=1, keepdim=True)
        chances = chances + logs.gather(1, chosen)[:, 0]
        entropy = entropy - (logs.exp() * logs).sum(dim=1)
    return chances, entropy


def clipped_gain(torch: Any, log_ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """``min(r A, clip(r, 1 - c, 1 + c) A)`` with r the probability ratio, [N] (Schulman et al. 2017, equation 7)."""
    ratio = torch.exp(log_ratio)
    return torch.minimum(ratio * advantages, ratio.clamp(1.0 - clip, 1.0 + clip) * advantages)
