"""What ReBeL's trainer learns from, by kind of game: an interface, and public trees."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.games.public import PublicTree
from treeplex.learn.common.device import torch_device
from treeplex.learn.common.fitting import Fitting, huber, of_known, squared
from treeplex.learn.common.networks import NetFactory
from treeplex.learn.common.replay import Replay
from treeplex.learn.rebel.policy_encoding import PolicyRows
from treeplex.learn.rebel.policy_net import PREFIX, GuidedLeaf, networks, policy_entropy, policy_loss
from treeplex.learn.rebel.self_play import SelfPlay
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.whole.settings import WholeRebelSettings

Arrays = Mapping[str, NDArray[Any]]
OF_VALUES = {"huber": huber, "squared": squared}
OF_POLICIES = {"squared": policy_loss, "cross-entropy": policy_entropy}
"""Losses by their names in the settings."""


class Lesson(Protocol):
    """What differs between kinds of games: where rows come from, and which networks are fitted to them.

    Attributes:
        play: self-play; its ``state`` and ``restore`` are the lesson's.
        leaf: the networks as searches use them.
        net: the value network.
        fittings: the value network's first, then others'; the key goes before the names of their arrays.
        done: how much of the training's whole length is done, in its own unit.
    """

    play: Any
    fittings: dict[str, Fitting]
    done: int

    @property
    def leaf(self) -> Any: ...

    @property
    def net(self) -> Any: ...

    def advance(self) -> int:
        """Play on and keep the rows; how many of them are to be learned from."""
        ...

    @property
    def begun(self) -> bool:
        """Whether there are rows enough for steps."""
        ...

    def state(self) -> dict[str, NDArray[Any]]:
        """What play has to remember, as arrays."""
        ...

    def restore(self, arrays: Arrays) -> None:
        """Go on where :meth:`state` was."""
        ...


class SelfPlayLesson:
    """What lessons of self-play have in common; see :class:`Lesson`.

    Attributes:
        settings: of the training.
        play, leaf, fittings: see :class:`Lesson`.
    """

    settings: RebelSettings | WholeRebelSettings
    play: Any
    leaf: Any
    fittings: dict[str, Fitting]

    @property
    def net(self) -> Any:
        """The value network."""
        return self.leaf.net

    @property
    def done(self) -> int:
        """Subgames, or streets, solved."""
        return int(self.play.solved)

    @done.setter
    def done(self, count: int) -> None:
        self.play.solved = count

    @property
    def begun(self) -> bool:
        """Whether the first ones, whose rows are not counted, are behind."""
        return self.play.solved >= self.settings.burn_in and len(self.fittings[""].rows) > 0

    def _most(self, seen: int) -> int:
        """How many of so many rows are kept: the newest part, as far as the buffer goes."""
        return min(self.settings.rows, max(int(self.settings.fresh * seen), self.settings.batch))


class PublicLesson(SelfPlayLesson):
    """Episodes of a public tree, a value network over its hands, and a policy network if asked for; see :class:`Lesson`."""

    def __init__(
        self, rules: PublicTree, settings: RebelSettings, generator: np.random.Generator, net: NetFactory | None = None
    ) -> None:
        self.settings = settings
        self.leaf = networks(rules, settings, net)
        encoding, room, device = self.leaf.encoding, settings.rows, torch_device(settings.device)
        rows = np.zeros((0, encoding.inputs), np.float32), np.zeros((0, encoding.outputs), np.float32)
        loss = OF_VALUES[settings.value_loss]
        loss = of_known(loss) if settings.targets == "rewards" else loss
        self.fittings = {"": Fitting(self.leaf.net, Replay(*rows, room=room), ("inputs", "targets"), loss, device=device)}
        if isinstance(self.leaf, GuidedLeaf):
            actions = len(self.leaf.guess.encoding.labels)
            examples = PolicyRows(rows[0], np.zeros((0, encoding.hands, actions), np.uint8), np.zeros((0, actions), np.bool_))
            kept = Replay(*examples, room=room)
            self.fittings[PREFIX] = Fitting(
                self.leaf.guess.net, kept, PolicyRows._fields, OF_POLICIES[settings.policy_loss], device=device
            )
        self.play = SelfPlay(rules, settings, self.leaf, generator)
        self._examples = 0

    def advance(self) -> int:
        """Solve a batch of subgames."""
        inputs, targets, examples = self.play.advance()
        if len(inputs):
            self.fittings[""].rows.add((inputs, targets), self._most(self.play.solved))
        if PREFIX in self.fittings and examples is not None:
            self._examples += len(examples.inputs)
            self.fittings[PREFIX].rows.add(examples, self._most(self._examples))
        return len(inputs) if self.begun else 0

    def state(self) -> dict[str, NDArray[Any]]:
        """Where the episodes stand."""
        counted = {PREFIX + "count": np.array([self._examples], np.int64)} if PREFIX in self.fittings else {}
        return {**self.play.state(), **counted}

    def restore(self, arrays: Arrays) -> None:
        """Put the episodes where they stood."""
        if PREFIX in self.fittings:
            self._examples = int(arrays[PREFIX + "count"][0])
        self.play.restore(arrays)
