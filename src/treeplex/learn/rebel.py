"""ReBeL: a value network learnt by self-play with search (Brown, Bakhtin, Lerer and Gong 2020, algorithms 1 and 2).

The released code's settings are :data:`PAPER`. The defaults are a recipe that reaches the same quality with a small part of the
work: Discounted CFR of few iterations, a narrow network that gives both players' values at once, subgames in lockstep, many
passes over the rows, and a step size that falls to almost nothing at the end.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.games.public import PublicTree
from treeplex.learn.self_play import SelfPlay, SelfPlaySettings
from treeplex.learn.value_net import NetworkLeaf, torch_module, value_net
from treeplex.search.encoding import Encoding

Singles = NDArray[np.float32]
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class RebelSettings:
    """Everything that decides a training, but the game.

    Attributes:
        method, iterations, depth, episodes, exploration: self-play, see :class:`treeplex.learn.self_play.SelfPlaySettings`.
            An iteration updates both players; the paper's T counts updates of one player, twice as many.
        solves: subgames to be solved in all; the step size falls over them.
        width, layers: of the network.
        rows: the most rows of the buffer.
        fresh: the part of all rows so far, the newest, that is kept; early rows are from a bad network.
        burn_in: rows before the first step.
        batch: rows of a step.
        reuse: how often a row is seen on average.
        rate, last_rate: Adam's step at first and at the end, along half a cosine.
        clip: the most that a gradient's norm may be.
        seed: of everything random.
    """

    method: str = "dcfr"
    iterations: int = 64
    depth: int = 2
    episodes: int = 64
    exploration: float = 0.25
    solves: int = 60_000
    width: int = 128
    layers: int = 2
    rows: int = 100_000
    fresh: float = 0.5
    burn_in: int = 1024
    batch: int = 512
    reuse: float = 64.0
    rate: float = 1e-3
    last_rate: float = 2e-5
    clip: float = 5.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.self_play()
        for name in ("solves", "width", "layers", "rows", "burn_in", "batch"):
            if not 1 <= getattr(self, name) == int(getattr(self, name)):
                raise SpecError(f"{name} must be a whole number of at least 1, not {getattr(self, name)!r}")
        for name in ("reuse", "rate", "last_rate", "clip"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise SpecError(f"{name} must be a number above 0, not {getattr(self, name)!r}")
        if not 0.0 < self.fresh <= 1.0:
            raise SpecError(f"fresh must be above 0 and at most 1, not {self.fresh!r}")

    def self_play(self) -> SelfPlaySettings:
        """The part that is about self-play."""
        return SelfPlaySettings(**{each.name: getattr(self, each.name) for each in fields(SelfPlaySettings)})


PAPER = RebelSettings(
    method="lcfr",
    iterations=512,
    solves=3_264_000,
    width=256,
    rows=2_000_000,
    fresh=1.0,
    reuse=8.0,
    rate=3e-4,
    last_rate=7.5e-5,
)
"""Appendix E and the released configuration, as far as this recipe has the same things: 1,020 epochs of 3,200 subgames, 1,024
updates a solve; there the step size is halved twice, here it falls along half a cosine to the same last value."""


@dataclass(frozen=True)
class Round:
    """What one round of training did.

    Attributes:
        solved: subgames solved in all.
        rows: rows in the buffer.
        steps: gradient steps in all.
        loss: mean Huber loss of the round's steps; NaN before the first.
    """

    solved: int
    rows: int
    steps: int
    loss: float


class RebelTrainer:
    """Self-play and gradient steps in turn; one thread, deterministic.

    Attributes:
        settings: what was asked for.
        net: the network.
        play: the episodes.
        steps: gradient steps so far.
    """

    def __init__(self, rules: PublicTree, settings: RebelSettings | None = None) -> None:
        """Start with a fresh network.

        Raises:
            SpecError: PyTorch is missing.
            GameError: the rules have no features.
        """
        torch = torch_module()
        self.settings = settings or RebelSettings()
        encoding = Encoding(rules)
        self.generator = np.random.default_rng(self.settings.seed)
        self.net = value_net(
            encoding.inputs,
            encoding.outputs,
            width=self.settings.width,
            layers=self.settings.layers,
            seed=self.settings.seed,
        )
        self.play = SelfPlay(rules, self.settings.self_play(), NetworkLeaf(encoding, self.net), self.generator)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=self.settings.rate)
        self.inputs = np.zeros((0, encoding.inputs), np.float32)
        self.targets = np.zeros((0, encoding.outputs), np.float32)
        self.steps = 0
        self._owed = 0.0

    @property
    def finished(self) -> bool:
        """Whether all subgames have been solved."""
        return self.play.solved >= self.settings.solves

    def round(self) -> Round:
        """Solve a batch of subgames, and take the gradient steps that are due.

        Raises:
            AlgorithmError: the loss is not finite; the network is as it was before.
        """
        inputs, targets = self.play.advance()
        self._keep(inputs, targets)
        losses = []
        if self.play.solved >= self.settings.burn_in:
            self._owed += self.settings.reuse * len(inputs) / self.settings.batch
            while self._owed >= 1.0:
                self._owed -= 1.0
                losses.append(self._step())
        return Round(self.play.solved, len(self.inputs), self.steps, float(np.mean(losses)) if losses else math.nan)

    def _keep(self, inputs: Singles, targets: Singles) -> None:
        """Add rows; drop the oldest beyond the newest part and the buffer's size."""
        most = min(self.settings.rows, max(int(self.settings.fresh * self.play.solved), self.settings.batch))
        self.inputs = np.concatenate((self.inputs, inputs))[-most:]
        self.targets = np.concatenate((self.targets, targets))[-most:]

    def _step(self) -> float:
        """One step of Adam on a uniform batch; the loss."""
        torch, settings = torch_module(), self.settings
        done = min(self.play.solved / settings.solves, 1.0)
        rate = settings.last_rate + (settings.rate - settings.last_rate) * 0.5 * (1.0 + math.cos(math.pi * done))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        chosen = self.generator.integers(0, len(self.inputs), settings.batch)
        with torch.enable_grad():
            found = self.net(torch.from_numpy(self.inputs[chosen]))
            loss = torch.nn.functional.huber_loss(found, torch.from_numpy(self.targets[chosen]))
            value = float(loss.detach())
            if not math.isfinite(value):
                raise AlgorithmError(
                    f"the loss is {value} after {self.steps} steps; go on from the last checkpoint with a smaller rate"
                )
            self.optimizer.zero_grad()
            loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), settings.clip)
        self.optimizer.step()
        self.steps += 1
        return value

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs, as arrays."""
        arrays: dict[str, NDArray[Any]] = {
            "counts": np.array([self.play.solved, self.steps], np.int64),
            "owed": np.array([self._owed]),
            "inputs": self.inputs,
            "targets": self.targets,
            "random": random_state(self.generator),
            **self.play.state(),
        }
        for name, tensor in self.net.state_dict().items():
            arrays[f"net.{name}"] = tensor.numpy().copy()
        for number, moments in self.optimizer.state_dict()["state"].items():
            for key in ("step", "exp_avg", "exp_avg_sq"):
                arrays[f"adam.{number}.{key}"] = np.atleast_1d(moments[key].numpy().copy())
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Continue bit for bit from what :meth:`state` returned.

        Raises:
            FileError: the arrays are not of this game and these settings.
        """
        torch = torch_module()
        try:
            weights = {name: torch.from_numpy(np.array(arrays[f"net.{name}"])) for name in self.net.state_dict()}
            self.net.load_state_dict(weights)
            moments = {}
            for number, parameter in enumerate(self.net.parameters()):
                if f"adam.{number}.step" in arrays:
                    moments[number] = {
                        "step": torch.tensor(float(arrays[f"adam.{number}.step"][0])),
                        **{
                            key: torch.from_numpy(np.array(arrays[f"adam.{number}.{key}"]).reshape(parameter.shape))
                            for key in ("exp_avg", "exp_avg_sq")
                        },
                    }
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
            self.inputs, self.targets = np.array(arrays["inputs"]), np.array(arrays["targets"])
            self.play.restore(arrays)
            self.play.solved, self.steps = (int(count) for count in arrays["counts"])
            self._owed = float(arrays["owed"][0])
            set_random_state(self.generator, arrays["random"])
        except (KeyError, ValueError, RuntimeError) as error:
            raise FileError(f"not a state of this training ({error}); start it again") from error


def random_state(generator: np.random.Generator) -> NDArray[np.uint64]:
    """The state of a PCG64 generator as whole numbers, uint64 [6]."""
    state = dict(generator.bit_generator.state)
    inner, mask = state["state"], (1 << 64) - 1
    parts = (inner["state"] & mask, inner["state"] >> 64, inner["inc"] & mask, inner["inc"] >> 64)
    return np.array([*parts, state["has_uint32"], state["uinteger"]], np.uint64)


def set_random_state(generator: np.random.Generator, numbers: NDArray[np.uint64]) -> None:
    """Put a generator where :func:`random_state` found it."""
    low, high, step_low, step_high, has, last = (int(number) for number in numbers)
    state = dict(generator.bit_generator.state)
    state["state"] = {"state": low | high << 64, "inc": step_low | step_high << 64}
    state["has_uint32"], state["uinteger"] = has, last
    generator.bit_generator.state = state
