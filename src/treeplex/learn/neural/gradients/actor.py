"""Shared parts of softmax-policy learners: logits for every infoset, episodes, and the exact average policy."""

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
RESULT = "which policy is learned: the average over updates, or the last; by the rules always the last"


@dataclass(frozen=True)
class ActorSettings(NeuralSettings):
    """Settings that all softmax-policy learners share."""

    steps: int = setting(10_000, "updates of the policy", low=1)
    width: int = setting(128, "units of each hidden layer", low=1, fixed=True)
    layers: int = setting(2, "hidden layers", low=1, fixed=True)
    batch: int = setting(256, "episodes played for an update", low=1)
    rate: float = setting(0.001, "step size of the policy", above=0)
    adam: bool = setting(True, "tables too take the steps of Adam, not plain ones", fixed=True)
    decay: float = setting(0.0, "power of the part of the training still ahead that step sizes are multiplied by", low=0)
    result: str = setting(AVERAGE, RESULT, choices=(AVERAGE, LAST))
    weight: float = setting(1.0, "power of an update's number that its policy has in the average", low=0)


class Actor(NeuralLearner):
    """A softmax policy over logits of all infosets, one network for all players.

    The average policy is exact: after every update the policy is read into a table, and each player's tables are averaged by
    own reach and a power of the update's number. By the rules there are no such tables, and the policy is the last one.

    Attributes:
        seen: the infosets that networks are asked for: all of a compiled game; by the rules those that the last episodes met.
        logits: of actions, [I, A] or more.
        updates: so far.
        average: float64 [Q], sums of strategies in sequence form.
    """

    settings_class: ClassVar[type[Settings]] = ActorSettings
    saved: ClassVar[Sequence[str]] = ("updates", "average")
    walks_rules: ClassVar[bool] = True
    spreads = True
    momentum: ClassVar[float] = 0.9
    """Adam's b1."""
    auxiliary: ClassVar[int] = 0
    """Columns of the network in addition to logits."""

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.seen: Infosets = self.sampler.infosets
        self.logits = self.outputs(self.seen.legal.shape[1] + self.auxiliary)
        self.updates = 0
        self.average = np.zeros(sum(self.compiled.sequences) if self.sampler.numbered else 0)

    def outputs(self, columns: int) -> Outputs:
        """A table, or a new network, with ``columns`` columns."""
        if self.settings.approximator == TABLE:
            return TableOutputs(len(self.seen), columns, self.momentum if self.settings.adam else None)
        return Network(self.seen.with_player(self.players), columns, self.settings, self.generator, self.momentum)

    @property
    def current(self) -> Floats:
        """The policy as it stands, float64 [I, A]."""
        return self.seen.softmax(self.logits.values()[:, : self.seen.legal.shape[1]])

    @property
    def profile(self) -> AnyProfile:
        """The policy as it stands, to be played."""
        if self.sampler.numbered:
            return MatrixProfile(self.current)
        layers = self.logits.copied_layers()
        return SharedProfile(self.players, NetworkValues(layers[0][0].shape[1], layers))

    @property
    def share(self) -> float:
        """The current multiplier of step sizes."""
        wanted, made = self.settings, self.sampler
        limits = [done / most for done, most in ((made.walked, wanted.nodes), (made.played, wanted.episodes)) if most]
        done = max(limits, default=self.updates / wanted.steps)
        return float(max(1.0 - done, 0.0) ** wanted.decay)

    def play(self) -> Episodes:
        """The episodes of an update, by the policy as it stands; :attr:`seen` then has their infosets."""
        played = self.sampler.episodes([self.profile], np.zeros((self.settings.batch, self.players), np.int64))
        self.look(played.infosets)
        return played.episodes

    def look(self, infosets: Infosets) -> None:
        """Have networks see other infosets; nothing changes where they see them already, as on compiled games."""
        if infosets is not self.seen:
            self.seen = infosets
            for _, part in self.parts():
                part.look(infosets.with_player(self.players))

    @abstractmethod
    def update(self) -> Mapping[str, float]:
        """Change the policy once; numbers for the records."""

    def step(self) -> Mapping[str, float]:
        """An update, and its policy into the average."""
        with nullcontext() if self.settings.approximator == TABLE else one_thread():
            found = self.update()
            self.updates += 1
            if self.sampler.numbered:
                weight = float(self.updates) ** self.settings.weight
                self.average += weight * self.infosets.strategy(self.infosets.table(self.current))
        return found

    def policies(self) -> dict[str, Policy]:
        """The average policy and the last one, on a compiled game."""
        table = normalised(self.compiled, self.average) if self.updates else self.infosets.table(self.current)
        return {AVERAGE: Policy(self.compiled, table), LAST: Policy(self.compiled, self.infosets.table(self.current))}

    def policy(self) -> Policy | NeuralPolicy:
        """The one that the setting ``result`` names; by the rules :attr:`resulting`, as a network."""
        if self.sampler.numbered:
            return self.policies()[self.settings.result]
        return self.sampler.neural_policy([self.resulting.copied_layers()])

    def measure(self) -> Mapping[str, float]:
        """Exploitability of the policy that is the result, and of the others."""
        if not self.sampler.numbered or self.judging is None:
            return super().measure()
        found = {name: judge(self.compiled, policy).exploitability for name, policy in self.policies().items()}
        result = found.pop(self.settings.result)
        others = {f"exploitability_of_{name}": value for name, value in found.items()}
        return {"exploitability": result, **others, **self.effort()}

    @property
    def resulting(self) -> Outputs:
        """By the rules, the logits of the policy that is the result: the last."""
        return self.logits

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Everything that is fitted, by name."""
        yield "logits", self.logits


def entropy_slopes(policy: Floats) -> Floats:
    """Gradient of each row's entropy by its logits, float64 [I, A].

    dH / d logit_a = -pi_a (log pi_a + H)
    """
    logs = np.log(np.where(policy > 0.0, policy, 1.0))
    slopes: Floats = -policy * (logs - (policy * logs).sum(axis=1, keepdims=True))
    return slopes
