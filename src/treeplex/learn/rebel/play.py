"""Base class of self-play: training rows, networks and a resumable state."""

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
    """Training rows from self-play.

    Attributes:
        inputs, targets: value-network rows, [K, inputs] and [K, outputs].
        weights: weights of targets, [K, outputs]; None for equal weights.
        policies: policy-network rows from searches; None without a policy network.
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
        """All arrays by name, for :meth:`taken`."""
        policies = {} if self.policies is None else self.policies._asdict()
        return {f"rows.{name}": part for name, part in (self.values | with_prefix("policy.", policies)).items()}

    @classmethod
    def taken(cls, arrays: dict[str, NDArray[Any]]) -> "Rows":
        """Remove the arrays of :meth:`arrays` from a dictionary that may contain others; returns them as rows.

        Raises:
            KeyError: an array is missing.
        """
        names = [f"rows.policy.{name}" for name in PolicyRows._fields]
        policies = PolicyRows(*(arrays.pop(name) for name in names)) if names[0] in arrays else None
        inputs, targets = arrays.pop("rows.inputs"), arrays.pop("rows.targets")
        return cls(inputs, targets, arrays.pop("rows.weights", None), policies)

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """Concatenate rows for the same networks."""
        values = zip(*(part.values.values() for part in parts), strict=True)
        policies = [part.policies for part in parts if part.policies is not None]
        joined_policies = PolicyRows(*map(np.concatenate, zip(*policies, strict=True))) if policies else None
        inputs, targets, *weights = map(np.concatenate, values)
        return cls(inputs, targets, weights[0] if weights else None, joined_policies)


def with_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Prepend a prefix to the names of arrays."""
    return {prefix + name: array for name, array in arrays.items()}


class Play(ABC):
    """Base class for self-play in one game type.

    Attributes:
        game: the game played.
        settings: training settings.
        leaf: the networks, as searches use them.
        generator: random number generator.
        solved: progress, in the unit of the settings' length.
        empty: zero rows, with the shapes and types of training rows.
        losses: losses of the value network and of the policy network.
        burns_rows: whether ``burn_in`` counts rows, which are used for training, instead of solved subgames, whose rows are
            discarded.
    """

    empty: Rows
    losses: tuple[Loss, Loss]
    burns_rows: ClassVar[bool] = False

    def __init__(self, game: Any, settings: Any, leaf: Any, generator: np.random.Generator) -> None:
        self.game, self.settings, self.leaf, self.generator = game, settings, leaf, generator
        self.solved = 0

    def fork(self, generator: np.random.Generator) -> Self:
        """A new instance, in its initial state, with another random number generator."""
        return type(self)(self.game, self.settings, self.leaf, generator)

    def weights(self) -> dict[str, NDArray[Any]]:
        """The networks' weights, by name."""
        return weights_of(self.leaf)

    def load(self, weights: Arrays) -> None:
        """Load the networks' weights."""
        load_weights(self.leaf, weights)

    @abstractmethod
    def advance(self) -> Rows:
        """Continue self-play until there are new training rows; returns them."""

    @abstractmethod
    def solved_in(self, rows: Rows) -> int:
        """Increase of ``solved`` caused by the call of :meth:`advance` that returned ``rows``."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs; empty if games are sampled independently."""
        return {}

    def restore(self, arrays: Arrays) -> None:  # noqa: B027
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
