"""Networks of the past, as matrices and biases: those of each iteration, a few for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.forms.policies.neural import Layers


class KeptLayers:
    """Lists of networks, one list for each of some roles, such as players.

    Attributes:
        of: for each role its networks.
    """

    def __init__(self, roles: int) -> None:
        self.of: list[list[Layers]] = [[] for _ in range(roles)]

    def __len__(self) -> int:
        return len(self.of[0])

    def keep(self, networks: Sequence[Layers], place: int | None = None) -> None:
        """Keep a network of each role, as the last or in place of another."""
        for kept, layers in zip(self.of, networks, strict=True):
            if place is None:
                kept.append(layers)
            else:
                kept[place] = layers

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        arrays: dict[str, NDArray[Any]] = {"kept": np.array([len(kept) for kept in self.of])}
        for role, kept in enumerate(self.of):
            for number, layers in enumerate(kept):
                for layer, (matrix, biases) in enumerate(layers):
                    arrays |= {f"{role}.{number}.{layer}.matrix": matrix, f"{role}.{number}.{layer}.biases": biases}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError: the arrays do not fit.
        """
        for role, count in enumerate(arrays["kept"].tolist()):
            self.of[role] = []
            for number in range(count):
                start = f"{role}.{number}."
                depth = sum(name.startswith(start) for name in arrays) // 2
                names = [(f"{start}{layer}.matrix", f"{start}{layer}.biases") for layer in range(depth)]
                self.of[role].append([(np.array(arrays[matrix]), np.array(arrays[biases])) for matrix, biases in names])
