"""Policy and value networks: AlphaHoldem's towers, or a table."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import load_weights
from treeplex.learn.common.value_net import network_text

Tensor = Any
Arrays = Mapping[str, NDArray[Any]]


class Net(ABC):
    """A module that maps planes to logits and values.

    Attributes:
        module: a ``torch.nn.Module`` with all weights.
    """

    def __init__(self, module: Any) -> None:
        self.module = module

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {network_text(self.module)}>"

    @abstractmethod
    def outputs(self, cards: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Logits, float32 [B, columns], and values, float32 [B, 1], of planes uint8 [B, *card_shape] and [B, *action_shape]."""

    def __call__(self, cards: Tensor, actions: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """Log probabilities of columns, float32 [B, columns], -inf where illegal, and values, float32 [B].

        Args:
            cards: uint8 [B, *card_shape].
            actions: uint8 [B, *action_shape].
            legal: bool [B, columns].
        """
        torch = torch_module()
        logits, values = self.outputs(cards, actions)
        return torch.log_softmax(logits.masked_fill(~legal, -torch.inf), dim=1), values[:, 0]

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """A copy of all weights."""
        return {name: tensor.numpy().copy() for name, tensor in self.module.state_dict().items()}

    def with_weights(self, weights: Arrays) -> Self:
        """A copy of the network with the given weights.

        Raises:
            KeyError, RuntimeError: the weights do not fit.
        """
        copied = copy(self)
        copied.module = deepcopy(self.module)
        load_weights(copied.module, weights)
        return copied
