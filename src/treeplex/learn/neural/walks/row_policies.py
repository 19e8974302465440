"""Policies of rows for walks by the rules: data that travels to workers, with copies of the networks that they ask.

A network is asked for a few rows very often, where a call of PyTorch costs more than the product, so small products are
NumPy's; larger ones are PyTorch's with one thread. Which it is depends on the shapes alone, and neither has several threads: so
the numbers are the same in every process.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Singles
from treeplex.forms.policies.heads import HEADS, masked_softmax, uniform_rows
from treeplex.forms.policies.neural import Layers, outputs_of, with_player
from treeplex.learn.common.device import one_thread, torch_module
from treeplex.learn.neural.walks.rules_walks import Met

SMALL = 1 << 18
"""Multiplications of the largest product of NumPy's; OpenBLAS gives no more than these to one thread."""


@dataclass(frozen=True, eq=False)
class RowValues:
    """Outputs of a network whose input are the first columns of rows.

    Attributes:
        features: how many columns these are.
        layers: copies of matrices and biases.
    """

    features: int
    layers: Layers

    def values(self, rows: Singles) -> Floats:
        """The outputs for rows float32 [n, features or more], float64 [n, outputs]."""
        seen = rows[:, : self.features]
        small = len(rows) * max(matrix.size for matrix, _ in self.layers) <= SMALL
        return np.asarray(outputs_of(self.layers, seen) if small else large_outputs(self.layers, seen), np.float64)


def large_outputs(layers: Layers, rows: Singles) -> Singles:
    """:func:`treeplex.forms.policies.neural.outputs_of` by PyTorch."""
    torch = torch_module()
    with one_thread(), torch.inference_mode():
        found = torch.from_numpy(np.ascontiguousarray(rows))
        for number, (matrix, biases) in enumerate(layers):
            found = torch.nn.functional.linear(found, torch.from_numpy(matrix), torch.from_numpy(biases))
            if number + 1 < len(layers):
                found = found.relu_()
        outputs: Singles = found.numpy()
    return outputs


@dataclass(frozen=True, eq=False)
class RowPolicy:
    """What somebody plays at rows of features and of legal actions side by side.

    Attributes:
        features: columns of features.
        asked: a network's outputs (``asked.values(rows)``); None to choose uniformly.
        head: what outputs say, of :data:`treeplex.forms.policies.heads.HEADS`.
        explore: the share of uniform choices.
    """

    features: int
    asked: Any
    head: str
    explore: float = 0.0

    def __call__(self, rows: Singles) -> Floats:
        """Probabilities at rows float32 [n, features + columns], float64 [n, columns]."""
        legal = rows[:, self.features :] > 0.0
        if self.asked is None:
            return uniform_rows(legal)
        found = HEADS[self.head](self.asked.values(rows), legal)
        return self.explore * uniform_rows(legal) + (1.0 - self.explore) * found if self.explore else found


@dataclass(frozen=True, eq=False)
class EachPlayer:
    """A policy that has a part for each player; None where nobody will ask."""

    parts: Sequence[Callable[[NDArray[np.float32]], Floats] | None]

    def __call__(self, met: Met) -> Floats:
        """Probabilities at infosets, float64 [P, columns]."""
        found, rows = np.zeros(met.legal.shape), met.described()
        for player, part in enumerate(self.parts):
            own = met.player == player
            if part is not None and own.any():
                found[own] = part(rows[own])
        return found


@dataclass(frozen=True, eq=False)
class AllPlayers:
    """The softmax of one network's outputs, which sees who acts as well; outputs beyond the columns of actions are not used."""

    players: int
    asked: RowValues

    def __call__(self, met: Met) -> Floats:
        """Probabilities at infosets, float64 [P, columns]."""
        outputs = self.asked.values(with_player(met.features, met.player.astype(np.int64), self.players))
        return masked_softmax(outputs[:, : met.legal.shape[1]], met.legal)
