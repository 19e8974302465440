"""The value network of ReBeL (Brown et al. 2020, appendix E), in PyTorch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.forms.subgames import Places
from treeplex.search.encoding import Encoding, Prepared
from treeplex.search.leaf import Ranges

Singles = NDArray[np.float32]
Module = Any


def torch_module() -> Any:
    """PyTorch, or a :class:`SpecError` that says how to install it."""
    try:
        import torch
    except ImportError as error:
        raise SpecError("value networks need PyTorch; install the extra: pip install 'treeplex[torch]'") from error
    return torch


def value_net(inputs: int, outputs: int, *, width: int, layers: int, seed: int) -> Module:
    """A multilayer perceptron: ``layers`` times linear, layer norm, GeLU of ``width``, and a linear output, small at first."""
    torch = torch_module()
    generator = torch.Generator().manual_seed(seed)
    parts: list[Any] = []
    for layer in range(layers):
        parts += [torch.nn.Linear(width if layer else inputs, width), torch.nn.LayerNorm(width), torch.nn.GELU()]
    parts.append(torch.nn.Linear(width if layers else inputs, outputs))
    net = torch.nn.Sequential(*parts)
    with torch.no_grad():
        for part in net:
            if isinstance(part, torch.nn.Linear):
                bound = part.in_features**-0.5
                for parameter in (part.weight, part.bias):
                    parameter.uniform_(-bound, bound, generator=generator)
        net[-1].weight.mul_(0.01)
        net[-1].bias.mul_(0.01)
    return net


class NetworkLeaf:
    """Leaf values from a network.

    Attributes:
        encoding: how public belief states look to it.
        net: the network, float32 [K, inputs] to [K, outputs].
        chunk: rows of one forward pass; more do not fit a core's cache.
    """

    def __init__(self, encoding: Encoding, net: Module, *, chunk: int = 512) -> None:
        self.encoding, self.net, self.chunk = encoding, net, chunk
        self._prepared: tuple[Places, Prepared] | None = None

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        prepared = self.prepared(places)
        rows = prepared.write(believed)
        if player is None:
            outputs = self.forward(rows)
        else:  # a fifth to a quarter of the leaves get nothing from the other player's current policy
            counted = reached[1 - player].any(axis=1)
            outputs = np.zeros((len(rows), self.encoding.outputs), np.float32)
            if counted.any():
                outputs[counted] = self.forward(rows[counted])
        return prepared.read(outputs, (believed[0].shape[1], believed[1].shape[1]))

    def prepared(self, places: Places) -> Prepared:
        """Rows for places, kept for as long as the same places are asked for."""
        if self._prepared is None or self._prepared[0] is not places:
            self._prepared = places, self.encoding.prepared(places)
        return self._prepared[1]

    def forward(self, rows: Singles) -> Singles:
        """The network's outputs, float32 [K, outputs]."""
        torch = torch_module()
        with torch.inference_mode():
            parts = [self.net(part).numpy() for part in torch.from_numpy(rows).split(self.chunk)]
        found: Singles = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return found
