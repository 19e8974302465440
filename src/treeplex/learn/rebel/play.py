"""What self-play of every kind gives and keeps: rows for networks, the networks themselves, and where it stands."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from treeplex.learn.common.fitting import Loss
from treeplex.learn.rebel.nets import load_weights, weights_of
from treeplex.learn.rebel.policy_encoding import PolicyRows

Arrays = Mapping[str, NDArray[Any]]


class Rows(NamedTuple):
    """Rows of self-play, for networks.

    Attributes:
        inputs, targets: of the value network, [K, inputs] and [K, outputs].
        weights: how much each target counts, [K, outputs]; None where all count alike.
        policies: of searches; None where no network learns them.
    """

    inputs: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[Any] | None = None
    policies: PolicyRows | None = None

    @property
    def values(self) -> dict[str, NDArray[Any]]:
        """Training rows of the value network, by name."""
        weights = {} if self.weights is None else {"weights": self.weights}
        return {"inputs": self.inputs, "targets": self.targets, **weights}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it by name, for :meth:`taken`."""
        policies = {} if self.policies is None else self.policies._asdict()
        return {f"rows.{name}": part for name, part in (self.values | with_prefix("policy.", policies)).items()}

    @classmethod
    def taken(cls, arrays: dict[str, NDArray[Any]]) -> "Rows":
        """Rows taken out of arrays that :meth:`arrays` gave, which may have others as well.

        Raises:
            KeyError: some are missing.
        """
        names = [f"rows.policy.{name}" for name in PolicyRows._fields]
        policies = PolicyRows(*(arrays.pop(name) for name in names)) if names[0] in arrays else None
        inputs, targets = arrays.pop("rows.inputs"), arrays.pop("rows.targets")
        return cls(inputs, targets, arrays.pop("rows.weights", None), policies)

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """Rows of the same networks, one after the other."""
        values = zip(*(part.values.values() for part in parts), strict=True)
        policies = [part.policies for part in parts if part.policies is not None]
        found = PolicyRows(*map(np.concatenate, zip(*policies, strict=True))) if policies else None
        inputs, targets, *weights = map(np.concatenate, values)
        return cls(inputs, targets, weights[0] if weights else None, found)


def with_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Arrays with something before their names."""
    return {prefix + name: array for name, array in arrays.items()}


class Play(ABC):
    """Self-play of one kind of game.

    Attributes:
        game: what is played.
        settings: how.
        leaf: networks, as searches use them.
        generator: of everything random.
        solved: how much is done, in the unit of the settings' length.
        empty: no rows, of the shapes and types of all.
        losses: what falls in the value network, and in the policy network.
        burns_rows: whether the settings' ``burn_in`` counts rows, which are learned from afterwards, or what is solved, whose
            rows do not count.
    """

    empty: Rows
    losses: tuple[Loss, Loss]
    burns_rows: ClassVar[bool] = False

    def __init__(self, game: Any, settings: Any, leaf: Any, generator: np.random.Generator) -> None:
        self.game, self.settings, self.leaf, self.generator = game, settings, leaf, generator
        self.solved = 0

    def fork(self, generator: np.random.Generator) -> Self:
        """A fresh copy with its own random numbers."""
        return type(self)(self.game, self.settings, self.leaf, generator)

    def weights(self) -> dict[str, NDArray[Any]]:
        """The weights of its networks, by name."""
        return weights_of(self.leaf)

    def load(self, weights: Arrays) -> None:
        """Put weights into its networks."""
        load_weights(self.leaf, weights)

    @abstractmethod
    def advance(self) -> Rows:
        """Play on; what that teaches."""

    @abstractmethod
    def solved_in(self, rows: Rows) -> int:
        """The increase of ``solved`` by an :meth:`advance`."""

    def state(self) -> dict[str, NDArray[Any]]:
        """State of self-play, as arrays; empty where every game is drawn anew."""
        return {}

    def restore(self, arrays: Arrays) -> None:  # noqa: B027
        """Go on where :meth:`state` was.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
