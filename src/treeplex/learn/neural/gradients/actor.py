"""Base class for softmax-policy learners: logits for every infoset, episodes, and the exact average policy."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.settings import Settings, setting
from treeplex.engine.histories.episodes import Episodes
from treeplex.evaluate.judge import judge
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.games.base import Game
from treeplex.learn.common.device import one_thread
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.learn.neural.fitting.infosets import Infosets
from treeplex.learn.neural.fitting.outputs import Network, Outputs, TableOutputs
from treeplex.learn.neural.fitting.policies import AnyProfile, MatrixProfile, NetworkValues, SharedProfile
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings

AVERAGE, LAST = "average", "last"
RESULT = "the resulting policy: the average over updates, or the last (always the last in uncompiled games)"


@dataclass(frozen=True)
class ActorSettings(NeuralSettings):
    """Settings shared by all softmax-policy learners."""

    steps: int = setting(10_000, "updates of the policy", low=1)
    width: int = setting(128, "units per hidden layer", low=1, fixed=True)
    layers: int = setting(2, "hidden layers", low=1, fixed=True)
    batch: int = setting(256, "episodes per update", low=1)
    rate: float = setting(0.001, "step size of the policy", above=0)
    adam: bool = setting(True, "use Adam for tables too, instead of plain gradient steps", fixed=True)
    decay: float = setting(0.0, "multiply step sizes by the remaining fraction of training raised to this power", low=0)
    result: str = setting(AVERAGE, RESULT, choices=(AVERAGE, LAST))
    weight: float = setting(1.0, "exponent p of the weight t^p of update t in the average", low=0)


class Actor(NeuralLearner):
    """A softmax policy from logits at all infosets, with one network for all players.

    The average policy is exact: after every update the policy is tabulated, and each player's tables are averaged with weights
    given by own reach and a power of the update number. In uncompiled games policies cannot be tabulated, and the result is the
    last policy.

    Attributes:
        seen: infosets that networks evaluate: all of a compiled game, otherwise those visited by the last episodes.
        logits: action logits, [I, A] or more.
        updates: number of updates so far.
        average: float64 [Q], sums of strategies in sequence form.
    """

    settings_class: ClassVar[type[Settings]] = ActorSettings
    saved: ClassVar[Sequence[str]] = ("updates", "average")
    walks_rules: ClassVar[bool] = True
    spreads = True
    momentum: ClassVar[float] = 0.9
    """Adam's beta_1."""
    auxiliary: ClassVar[int] = 0
    """Number of network outputs in addition to logits."""

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.seen: Infosets = self.sampler.infosets
        self.logits = self.outputs(self.seen.legal.shape[1] + self.auxiliary)
        self.updates = 0
        self.average = np.zeros(sum(self.compiled.sequences) if self.sampler.numbered else 0)

    def outputs(self, columns: int) -> Outputs:
        """Create a table or a network with ``columns`` columns."""
        if self.settings.approximator == TABLE:
            return TableOutputs(len(self.seen), columns, self.momentum if self.settings.adam else None)
        return Network(self.seen.with_player(self.players), columns, self.settings, self.generator, self.momentum)

    @property
    def current(self) -> Floats:
        """The current policy, float64 [I, A]."""
        return self.seen.softmax(self.logits.values()[:, : self.seen.legal.shape[1]])

    @property
    def profile(self) -> AnyProfile:
        """The current policy, in the form that samplers use."""
        if self.sampler.numbered:
            return MatrixProfile(self.current)
        layers = self.logits.copied_layers()
        return SharedProfile(self.players, NetworkValues(layers[0][0].shape[1], layers))

    @property
    def share(self) -> float:
        """The current factor on step sizes."""
        wanted, made = self.settings, self.sampler
        limits = [done / most for done, most in ((made.walked, wanted.nodes), (made.played, wanted.episodes)) if most]
        done = max(limits, default=self.updates / wanted.steps)
        return float(max(1.0 - done, 0.0) ** wanted.decay)

    def play(self) -> Episodes:
        """Play an update's episodes with the current policy and set :attr:`seen` to the infosets visited."""
        played = self.sampler.episodes([self.profile], np.zeros((self.settings.batch, self.players), np.int64))
        self.look(played.infosets)
        return played.episodes

    def look(self, infosets: Infosets) -> None:
        """Set the infosets that networks evaluate; has no effect in compiled games, where networks evaluate all infosets."""
        if infosets is not self.seen:
            self.seen = infosets
            for _, part in self.parts():
                part.look(infosets.with_player(self.players))

    @abstractmethod
    def update(self) -> Mapping[str, float]:
        """Run one policy update; returns numbers for the records."""

    def step(self) -> Mapping[str, float]:
        """Run an update and add its policy to the average."""
        with nullcontext() if self.settings.approximator == TABLE else one_thread():
            numbers = self.update()
            self.updates += 1
            if self.sampler.numbered:
                weight = float(self.updates) ** self.settings.weight
                self.average += weight * self.infosets.strategy(self.infosets.table(self.current))
        return numbers

    def policies(self) -> dict[str, Policy]:
        """The average and the last policy of a compiled game."""
        table = normalised(self.compiled, self.average) if self.updates else self.infosets.table(self.current)
        return {AVERAGE: Policy(self.compiled, table), LAST: Policy(self.compiled, self.infosets.table(self.current))}

    def policy(self) -> Policy | NeuralPolicy:
        """The policy selected by the setting ``result``; in uncompiled games, the policy of :attr:`resulting`."""
        if self.sampler.numbered:
            return self.policies()[self.settings.result]
        return self.sampler.neural_policy([self.resulting.copied_layers()])

    def measure(self) -> Mapping[str, float]:
        """Exploitability of the resulting policy, and of the other policies in :meth:`policies`."""
        if not self.sampler.numbered or self.judging is None:
            return super().measure()
        numbers = {name: judge(self.compiled, policy).exploitability for name, policy in self.policies().items()}
        result = numbers.pop(self.settings.result)
        others = {f"exploitability_of_{name}": value for name, value in numbers.items()}
        return {"exploitability": result, **others, **self.effort()}

    @property
    def resulting(self) -> Outputs:
        """In uncompiled games, the logits of the resulting policy, which is the last one."""
        return self.logits

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Trainable objects to save, by name."""
        yield "logits", self.logits


def entropy_slopes(policy: Floats) -> Floats:
    """Gradient of each row's entropy with respect to its logits, float64 [I, A].

    dH / d logit_a = -pi_a (log pi_a + H)
    """
    logs = np.log(np.where(policy > 0.0, policy, 1.0))
    slopes: Floats = -policy * (logs - (policy * logs).sum(axis=1, keepdims=True))
    return slopes
