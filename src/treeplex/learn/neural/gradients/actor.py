"""What learners of softmax policies have in common: logits for every infoset, episodes, and the exact average policy."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.settings import Settings, setting
from treeplex.engine.histories.episodes import Episodes
from treeplex.evaluate.judge import judge
from treeplex.forms.policies.neural import NeuralPolicy, with_player
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.games.base import Game
from treeplex.learn.common.device import one_thread
from treeplex.learn.neural.features import Rows
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.learn.neural.fitting.grid import Grid, MetInfosets
from treeplex.learn.neural.fitting.outputs import Arrays, Network, Outputs, TableOutputs
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings, named, under
from treeplex.learn.neural.walks.row_policies import AllPlayers, RowValues
from treeplex.learn.neural.walks.rules_walks import Met, Playing

AVERAGE, LAST = "average", "last"
RESULT = "which policy is learned: the average over updates, or the last; by the rules always the last"


@dataclass(frozen=True)
class ActorSettings(NeuralSettings):
    """What all of them are asked."""

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
        grid: infosets by actions: all of a compiled game; by the rules those that the last episodes met.
        logits: of actions, [I, A] or more.
        updates: so far.
        average: float64 [Q], sums of strategies in sequence form.
    """

    settings_class: ClassVar[type[Settings]] = ActorSettings
    walks_rules: ClassVar[bool] = True
    spreads = True
    momentum: ClassVar[float] = 0.9
    """Adam's b1."""
    auxiliary: ClassVar[int] = 0
    """Columns that the network has beside logits."""

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.grid: Any = Grid(self.compiled) if self.by_rules is None else MetInfosets(self.by_rules.nothing())
        self.logits = self.outputs(self.grid.legal.shape[1] + self.auxiliary)
        self.updates = 0
        self.average = np.zeros(sum(self.compiled.sequences) if self.by_rules is None else 0)

    def outputs(self, columns: int) -> Outputs:
        """A table, or a new network, of so many columns."""
        if self.settings.approximator == TABLE:
            return TableOutputs(len(self.grid.legal), columns, self.momentum if self.settings.adam else None)
        return Network(self.features, columns, self.settings, self.generator, self.momentum)

    @cached_property
    def features(self) -> Rows:
        """What networks see of each infoset, and whose it is, float32 [I, F + N]; by the rules a row of zeros."""
        if self.by_rules is not None:
            return np.zeros((1, len(self.probed.view.scale) + self.players), np.float32)
        players = np.repeat(np.arange(self.compiled.players), self.compiled.infosets)
        return np.concatenate([super().features, np.eye(self.compiled.players, dtype=np.float32)[players]], axis=1)

    @property
    def current(self) -> Floats:
        """The policy as it stands, float64 [I, A]."""
        policy: Floats = self.grid.softmax(self.logits.values()[:, : self.grid.legal.shape[1]])
        return policy

    @property
    def share(self) -> float:
        """What step sizes are multiplied by now."""
        wanted = self.settings
        limits = [made / most for made, most in ((self.walked, wanted.nodes), (self.played, wanted.episodes)) if most]
        done = max(limits, default=self.updates / wanted.steps)
        return float(max(1.0 - done, 0.0) ** wanted.decay)

    def play(self) -> Episodes:
        """The episodes of an update, by the policy as it stands; :attr:`grid` then has their infosets."""
        batch = self.settings.batch
        seats = np.zeros((batch, self.players), np.int64)
        if self.by_rules is None:
            found = self.episodes(self.grid.table(self.current)[None], seats)
        else:
            assert isinstance(self.logits, Network)
            layers, features = self.logits.layers(), len(self.by_rules.view.scale) + self.players
            policy = AllPlayers(self.players, RowValues(features, layers))
            found, met, *_ = self.by_rules.episodes([policy], seats, Playing(self.settings.seed), self.played)
            self.look(MetInfosets(met))
        self.count(found.nodes, batch)
        return found

    def look(self, grid: Any) -> None:
        """Have other infosets as :attr:`grid`; nothing changes where it is that already, as on compiled games."""
        if grid is not self.grid:
            self.grid = grid
            for _, part in self.parts():
                assert isinstance(part, Network)
                part.look(seen(grid.met, self.players))

    @abstractmethod
    def update(self) -> Mapping[str, float]:
        """Change the policy once; numbers for the records."""

    def step(self) -> Mapping[str, float]:
        """An update, and its policy into the average."""
        with nullcontext() if self.settings.approximator == TABLE else one_thread():
            found = self.update()
            self.updates += 1
            if self.by_rules is None:
                weight = float(self.updates) ** self.settings.weight
                self.average += weight * self.grid.strategy(self.grid.table(self.current))
        return found

    def policies(self) -> dict[str, Policy]:
        """The average policy and the last one, on a compiled game."""
        table = normalised(self.compiled, self.average) if self.updates else self.grid.table(self.current)
        return {AVERAGE: Policy(self.compiled, table), LAST: Policy(self.compiled, self.grid.table(self.current))}

    def policy(self) -> Policy | NeuralPolicy:
        """The one that the setting ``result`` names; by the rules :attr:`resulting`, as a network."""
        if self.by_rules is not None:
            assert isinstance(self.resulting, Network)
            return NeuralPolicy(self.game.spec, self.players, self.probed.view, [self.resulting.layers()])
        return self.policies()[self.settings.result]

    def measure(self) -> Mapping[str, float]:
        """Exploitability of the policy that is the result, and of the others."""
        if self.by_rules is not None or self.judging is None:
            return super().measure()
        found = {name: judge(self.compiled, policy).exploitability for name, policy in self.policies().items()}
        result = found.pop(self.settings.result)
        others = {f"exploitability_of_{name}": value for name, value in found.items()}
        return {"exploitability": result, **others, **self.effort()}

    @property
    def resulting(self) -> Outputs:
        """By the rules, the logits of the policy that is the result: the last."""
        return self.logits

    def parts(self) -> Iterator[tuple[str, Outputs]]:
        """Everything that is fitted, by name."""
        yield "logits", self.logits

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Counts, the average and everything that is fitted."""
        arrays = {"updates": np.array([self.updates]), "average": self.average, **self.counts()}
        for part, each in self.parts():
            arrays |= named(part, each.state())
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Restore all of that."""
        self.updates, self.average = int(arrays["updates"][0]), np.array(arrays["average"])
        self.restore_counts(arrays)
        for part, each in self.parts():
            each.restore(under(part, arrays))


def seen(met: Met, players: int) -> Rows:
    """What the one network of all players sees of infosets, float32 [P, F + N]."""
    return with_player(met.features, met.player.astype(np.int64), players)


def entropy_slopes(policy: Floats) -> Floats:
    """How the entropy of each row of a policy changes with its logits, float64 [I, A].

    dH / d logit_a = -pi_a (log pi_a + H)
    """
    logs = np.log(np.where(policy > 0.0, policy, 1.0))
    slopes: Floats = -policy * (logs - (policy * logs).sum(axis=1, keepdims=True))
    return slopes
