"""Frozen values and policies: copies of tables and networks for playing, storing, and sending to workers.

Traversals of uncompiled games often query a network for a few rows. For few rows, the overhead of a PyTorch call exceeds the
matrix product, so small products use NumPy, and larger ones PyTorch with one thread. The choice depends only on shapes, and
neither library uses several threads, so results are identical in every process.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bools, Floats, Singles
from treeplex.forms.policies.heads import HEADS, masked_softmax, uniform_rows
from treeplex.forms.policies.neural import Layers, outputs_of
from treeplex.learn.common.device import one_thread, torch_module
from treeplex.learn.neural.fitting.infosets import Infosets

GIVEN = "given"
"""Policy head for values that are already probabilities."""
SMALL = 1 << 18
"""Maximum number of multiplications in a NumPy product; up to this size OpenBLAS uses one thread."""


@dataclass(frozen=True, eq=False)
class TableValues:
    """Values float64 [P, A] of a player's numbered infosets, with legal actions ``legal`` bool [P, A]."""

    table: Floats
    legal: Bools

    def __call__(self, rows: NDArray[Any]) -> tuple[Floats, Bools]:
        """Values and legal actions of infosets int32 [n], both [n, A]."""
        return self.table[rows], self.legal[rows]

    def best(self, rows: NDArray[Any]) -> Floats:
        """Largest value over legal actions, float64 [n]; 0 for infoset -1 (none)."""
        largest = np.where(self.legal, self.table, -np.inf).max(axis=1)
        return np.asarray(np.append(largest, 0.0)[rows])

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which ``Inputs.restored`` restores this object."""
        return {"table": self.table}


@dataclass(frozen=True, eq=False)
class NetworkValues:
    """Outputs of a network for rows of features and legal actions side by side.

    Attributes:
        features: number of feature columns.
        layers: copies of matrices and biases.
    """

    features: int
    layers: Layers

    def __call__(self, rows: NDArray[Any]) -> tuple[Floats, Bools]:
        """Outputs and legal actions of rows float32 [n, features + A], both [n, A]."""
        return self.outputs(rows), rows[:, self.features :] > 0.0

    def best(self, rows: NDArray[Any]) -> Floats:
        """Largest value over legal actions, float64 [n]; 0 if there are none."""
        values, legal = self(rows)
        return np.where(legal.any(axis=1), np.where(legal, values, -np.inf).max(axis=1), 0.0)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which ``Inputs.restored`` restores this object."""
        return layer_arrays(self.layers)

    def outputs(self, rows: Singles) -> Floats:
        """The outputs for rows float32 [n, features or more], float64 [n, outputs]."""
        seen = rows[:, : self.features]
        small = len(rows) * max(matrix.size for matrix, _ in self.layers) <= SMALL
        return np.asarray(outputs_of(self.layers, seen) if small else large_outputs(self.layers, seen), np.float64)


Values = Callable[[NDArray[Any]], tuple[Floats, Bools]]
"""Maps rows of one player's infosets to values and legal actions, both [n, A]."""


@dataclass(frozen=True, eq=False)
class DiscountedValues:
    """Discounted positive regrets plus the latest advantages: the values to which VR-DeepPDCFR+ applies regret matching."""

    regrets: Values
    discount: float
    latest: Values

    def __call__(self, rows: NDArray[Any]) -> tuple[Floats, Bools]:
        """Values and legal actions of rows, both [n, A]."""
        (regrets, legal), (latest, _) = self.regrets(rows), self.latest(rows)
        return self.discount * np.maximum(regrets, 0.0) + latest, legal


def large_outputs(layers: Layers, rows: Singles) -> Singles:
    """:func:`treeplex.forms.policies.neural.outputs_of`, computed by PyTorch."""
    torch = torch_module()
    with one_thread(), torch.inference_mode():
        hidden = torch.from_numpy(np.ascontiguousarray(rows))
        for number, (matrix, biases) in enumerate(layers):
            hidden = torch.nn.functional.linear(hidden, torch.from_numpy(matrix), torch.from_numpy(biases))
            if number + 1 < len(layers):
                hidden = hidden.relu_()
        outputs: Singles = hidden.numpy()
    return outputs


@dataclass(frozen=True, eq=False)
class PlayerPolicy:
    """A player's policy at rows of its infosets.

    Attributes:
        values: action values or logits, :data:`Values`.
        head: conversion of values to probabilities, one of :data:`treeplex.forms.policies.heads.HEADS`, or :data:`GIVEN`.
        explore: weight of uniform play.
    """

    values: Any
    head: str
    explore: float = 0.0

    def __call__(self, rows: NDArray[Any]) -> Floats:
        """Probabilities, float64 [n, A], zero for illegal actions."""
        values, legal = self.values(rows)
        policy = values if self.head == GIVEN else HEADS[self.head](values, legal)
        return self.explore * uniform_rows(legal) + (1.0 - self.explore) * policy if self.explore else policy


@dataclass(frozen=True, eq=False)
class Profile:
    """Policies for all players; None for a player without a policy."""

    parts: Sequence[Callable[[NDArray[Any]], Floats] | None]

    def __call__(self, infosets: Infosets) -> Floats:
        """Probabilities at infosets, float64 [P, A]; zero for players without a policy."""
        policy = np.zeros(infosets.legal.shape)
        for player, part in enumerate(self.parts):
            rows = np.flatnonzero(infosets.player == player)
            if part is not None and len(rows):
                policy[rows] = part(infosets.rows(rows))
        return policy


@dataclass(frozen=True, eq=False)
class MatrixProfile:
    """A policy for a compiled game as a matrix of probabilities, float64 [I, A]."""

    matrix: Floats

    def __call__(self, infosets: Infosets) -> Floats:
        """The matrix; ``infosets`` must be all infosets of the game."""
        return self.matrix


@dataclass(frozen=True, eq=False)
class SharedProfile:
    """Softmax policy from one network shared by all players, with the acting player as an input; extra outputs are ignored."""

    players: int
    values: NetworkValues

    def __call__(self, infosets: Infosets) -> Floats:
        """Probabilities at infosets, float64 [P, A]."""
        outputs = self.values.outputs(infosets.with_player(self.players))
        return masked_softmax(outputs[:, : infosets.legal.shape[1]], infosets.legal)


AnyProfile = Callable[[Infosets], Floats]
"""A policy of all players: maps infosets to probabilities float64 [P, A], zero for illegal actions."""


class NetworkLists:
    """Lists of past networks, one list per role (such as a player).

    Attributes:
        of: each role's networks.
    """

    def __init__(self, roles: int) -> None:
        self.of: list[list[Layers]] = [[] for _ in range(roles)]

    def __len__(self) -> int:
        return len(self.of[0])

    def keep(self, networks: Sequence[Layers], index: int | None = None) -> None:
        """Add a network for each role: appended, or replacing the one at ``index``."""
        for past, layers in zip(self.of, networks, strict=True):
            if index is None:
                past.append(layers)
            else:
                past[index] = layers

    @property
    def members(self) -> list[Layers]:
        """All networks in one list, in which those added together are adjacent."""
        return [layers for member in zip(*self.of, strict=True) for layers in member]

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        arrays: dict[str, NDArray[Any]] = {"kept": np.array([len(past) for past in self.of])}
        for role, past in enumerate(self.of):
            for number, layers in enumerate(past):
                arrays |= {f"{role}.{number}.{name}": array for name, array in layer_arrays(layers).items()}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError: the arrays do not fit.
        """
        for role, count in enumerate(arrays["kept"].tolist()):
            starts = [f"{role}.{number}." for number in range(count)]
            self.of[role] = [
                layers_from({name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)})
                for start in starts
            ]


def layer_arrays(layers: Layers) -> dict[str, NDArray[Any]]:
    """Weight matrices and biases of a network, by name."""
    pairs = [zip(("matrix", "biases"), pair, strict=True) for pair in layers]
    return {f"{layer}.{name}": array for layer, pair in enumerate(pairs) for name, array in pair}


def layers_from(arrays: Mapping[str, NDArray[Any]]) -> Layers:
    """Restore a network from the arrays of :func:`layer_arrays`."""
    depth = len(arrays) // 2
    return [(np.array(arrays[f"{layer}.matrix"]), np.array(arrays[f"{layer}.biases"])) for layer in range(depth)]
