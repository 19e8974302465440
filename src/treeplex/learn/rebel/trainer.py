"""ReBeL: a value network learnt by self-play with search (Brown, Bakhtin, Lerer and Gong 2020, algorithms 1 and 2).

The paper's settings are :data:`PAPER` and, for games of cards, :data:`PAPER_CARDS`. The defaults are a recipe that reaches the
same quality with a small part of the work: Discounted CFR of few iterations, a narrow network that gives both players' values
at once, subgames in lockstep, many passes over the rows, and a step size that falls to almost nothing at the end.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.games.public import PublicTree
from treeplex.learn.common.fitting import Fitting, huber
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.schedules import check_learning, falling_rate
from treeplex.learn.rebel.policy_net import PREFIX, GuidedLeaf, networks, policy_loss
from treeplex.learn.rebel.self_play import SelfPlay, SelfPlaySettings
from treeplex.learn.torch.search import torch_device
from treeplex.search.policy_encoding import PolicyRows

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class RebelSettings:
    """Everything that decides a training, but the game.

    Attributes:
        method, iterations, depth, rounds, endgame, episodes, exploration, source, draw: self-play, see
            ``learn.rebel.self_play.SelfPlaySettings``. An iteration updates both players; the paper's T counts updates
            of one player, twice as many.
        policy_net: whether a second network learns the average policies, from which searches start.
        warm: iterations of a search, of ``iterations`` in all, that its guess counts as; 0: it is learnt, but not used.
        solves: subgames to be solved in all; the step size falls over them.
        width, layers: of the networks.
        rows: the most rows of the buffer; of the policy network's as well.
        fresh: the part of all rows so far, the newest, that is kept; early rows are from a bad network.
        burn_in: subgames before the first step.
        batch: rows of a step.
        reuse: how often a row is seen on average.
        rate, last_rate: Adam's step at first and at the end, along half a cosine.
        halve: instead, the part of the training after which the step is halved, again and again; 0: it is not.
        clip: the most that a gradient's norm may be.
        seed: of everything random.
        device: where subgames are solved and gradient steps are taken, one of :data:`treeplex.learn.torch.search.DEVICES`.
    """

    method: str = "dcfr"
    iterations: int = 64
    depth: int = 2
    rounds: bool = False
    endgame: int = 0
    episodes: int = 64
    exploration: float = 0.25
    source: str = "self-play"
    policy_net: bool = False
    draw: str = "uniform"
    warm: int = 15
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
    halve: float = 0.0
    clip: float = 5.0
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        self.self_play()
        check_learning(self, "solves")
        if not 0 <= self.warm == int(self.warm):
            raise SpecError(f"warm must be a whole number of at least 0, not {self.warm!r}")
        if self.policy_net and self.warm >= self.iterations:
            raise SpecError(
                f"warm must be less than iterations, {self.iterations}, not {self.warm!r}; a search begins after it"
            )
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
    rows=1_000_000,
    fresh=1.0,
    burn_in=512,
    reuse=8.0,
    rate=3e-4,
    halve=0.392,
)
"""Liar's Dice in appendix E, with what the released configuration adds: 1,020 epochs of 50 steps and 3,200 subgames, 1,024
updates a solve, the step size halved after 400 and 800 epochs, iterations drawn uniformly where algorithm 2 draws them
linearly (``draw=average``). A row is both players' values, so half as many rows are as much
of the past, and 512 subgames are 1,024 rows of a player."""
PAPER_CARDS = replace(
    PAPER,
    method="lcfr-avg-modified",
    depth=0,
    rounds=True,
    draw="average",
    policy_net=True,
    solves=96_000_000,
    width=1536,
    layers=6,
    rows=6_000_000,
    fresh=0.5,
    batch=1024,
    rate=4e-4,
    halve=1 / 3,
)
"""Turn endgame hold'em in appendix E: 300 epochs of 2,560,000 examples, the step size halved every 100. Subgames end
with betting rounds, and iterations are drawn as in algorithm 2. How many subgames there are and T it does not say; here
rows are seen as often as in Liar's Dice, and T is the same. Half of the data go after 20 epochs there; here, of all
rows so far the newer half is kept."""


@dataclass(frozen=True)
class Round:
    """What one round of training did.

    Attributes:
        solved: subgames solved in all.
        rows: rows in the buffer.
        steps: gradient steps in all.
        loss: mean Huber loss of the round's steps; NaN before the first.
        policy_loss: mean loss of the policy network's; NaN without one.
    """

    solved: int
    rows: int
    steps: int
    loss: float
    policy_loss: float = math.nan


class RebelTrainer:
    """Self-play and gradient steps in turn; one thread, deterministic.

    Attributes:
        settings: what was asked for.
        leaf: the networks as searches use them.
        values: the value network's fitting.
        policies: the policy network's; None without one.
        play: the episodes.
        steps: gradient steps so far, of each network.
    """

    def __init__(self, rules: PublicTree, settings: RebelSettings | None = None) -> None:
        """Start with fresh networks.

        Raises:
            SpecError: PyTorch is missing, or the device, or a method that it knows.
            GameError: the rules have no features.
        """
        self.settings = settings or RebelSettings()
        self.generator = np.random.default_rng(self.settings.seed)
        self.leaf = networks(rules, self.settings)
        encoding, room, device = self.leaf.encoding, self.settings.rows, torch_device(self.settings.device)
        rows = np.zeros((0, encoding.inputs), np.float32), np.zeros((0, encoding.outputs), np.float32)
        self.values = Fitting(self.leaf.net, Replay(*rows, room=room), ("inputs", "targets"), huber, device=device)
        self.policies: Fitting | None = None
        if isinstance(self.leaf, GuidedLeaf):
            actions = len(self.leaf.guess.encoding.labels)
            examples = PolicyRows(rows[0], np.zeros((0, encoding.hands, actions), np.uint8), np.zeros((0, actions), np.bool_))
            kept = Replay(*examples, room=room)
            self.policies = Fitting(self.leaf.guess.net, kept, PolicyRows._fields, policy_loss, device=device)
        self.play = SelfPlay(rules, self.settings.self_play(), self.leaf, self.generator)
        self.steps = 0
        self._owed = 0.0
        self._examples = 0

    @property
    def net(self) -> Any:
        """The value network."""
        return self.leaf.net

    @property
    def finished(self) -> bool:
        """Whether all subgames have been solved."""
        return self.play.solved >= self.settings.solves

    def round(self) -> Round:
        """Solve a batch of subgames, and take the gradient steps that are due.

        Raises:
            AlgorithmError: the loss is not finite; the network is as it was before.
        """
        inputs, targets, examples = self.play.advance()
        self.values.rows.add((inputs, targets), self._most(self.play.solved))
        if self.policies is not None and examples is not None:
            self._examples += len(examples.inputs)
            self.policies.rows.add(examples, self._most(self._examples))
        losses: list[tuple[float, float]] = []
        if self.play.solved >= self.settings.burn_in:
            self._owed += self.settings.reuse * len(inputs) / self.settings.batch
            while self._owed >= 1.0:
                self._owed -= 1.0
                losses.append(self._step())
            for fitting in (self.values, self.policies):
                if fitting is not None:
                    fitting.publish()
        loss, policy_loss = np.mean(losses, axis=0).tolist() if losses else (math.nan, math.nan)
        return Round(self.play.solved, len(self.values.rows), self.steps, loss, policy_loss)

    def _most(self, seen: int) -> int:
        """How many of so many rows are kept: the newest part, as far as the buffer goes."""
        return min(self.settings.rows, max(int(self.settings.fresh * seen), self.settings.batch))

    def _step(self) -> tuple[float, float]:
        """One step of Adam of each network on a uniform batch; the losses, NaN of a policy network that is not there."""
        settings = self.settings
        rate = falling_rate(settings, self.play.solved / settings.solves)
        try:
            loss, policy_loss = self.values.step(self.generator, batch=settings.batch, rate=rate, clip=settings.clip), math.nan
            if self.policies is not None:
                policy_loss = self.policies.step(self.generator, batch=settings.batch, rate=rate, clip=settings.clip)
        except AlgorithmError as error:
            why = f"{error} after {self.steps} steps; go on from the last checkpoint with a smaller rate"
            raise AlgorithmError(why) from error
        self.steps += 1
        return loss, policy_loss

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs, as arrays."""
        arrays: dict[str, NDArray[Any]] = {
            "counts": np.array([self.play.solved, self.steps], np.int64),
            "owed": np.array([self._owed]),
            "random": random_state(self.generator),
            **self.values.state(),
            **self.play.state(),
        }
        if self.policies is not None:
            arrays |= {PREFIX + name: array for name, array in self.policies.state().items()}
            arrays[PREFIX + "count"] = np.array([self._examples], np.int64)
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Continue bit for bit from what :meth:`state` returned.

        Raises:
            FileError: the arrays are not of this game and these settings.
        """
        try:
            self.values.restore(arrays)
            if self.policies is not None:
                own = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
                self.policies.restore(own)
                self._examples = int(own["count"][0])
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
