"""Value networks: ReBeL's multilayer perceptron (Brown et al. 2020, appendix E), custom networks, and fast evaluation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from treeplex.base.arrays import Ints, Singles
from treeplex.engine.networks.mlp_batch import EPSILON, forward, packed
from treeplex.errors import SpecError
from treeplex.forms.sources.user_module import ObjectKind, load_user_object
from treeplex.learn.common.device import torch_module

Module = Any


def value_net(inputs: int, outputs: int, *, width: int, layers: int, seed: int) -> Module:
    """Multilayer perceptron: ``layers`` blocks (linear, layer norm, GeLU) of size ``width``, then a linear output with small
    initial weights."""
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


NetFactory = Callable[[int, int], Module]
"""Creates a value network: maps numbers of inputs and outputs to a PyTorch module, float32 [K, inputs] to [K, outputs]."""
NETWORK = ObjectKind("network", "my_net", "function of inputs and outputs that makes a network", callable, lambda thing: False)
"""Description, in messages, of the object loaded from a custom network's file."""


def custom_net(factory: NetFactory | str, inputs: int, outputs: int, *, seed: int) -> Module:
    """Create a custom network; ``file.py:NAME`` or ``file.py:NAME(width=64)`` names a function, and its file is executed.

    Raises:
        SpecError: PyTorch or the function is missing, the function raises an exception, or the result is not a network with
            these inputs and outputs.
    """
    torch = torch_module()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = load_user_object(factory, NETWORK, inputs, outputs) if isinstance(factory, str) else factory(inputs, outputs)
    if not isinstance(made, torch.nn.Module):
        raise SpecError(f"{factory} returned a {type(made).__name__}; it must return a torch.nn.Module")
    with torch.inference_mode():
        shape = tuple(made(torch.zeros(2, inputs)).shape)
    if shape != (2, outputs):
        raise SpecError(f"{factory}: the network maps [2, {inputs}] to {list(shape)}; its output must be [2, {outputs}]")
    return made


def network_text(net: Module) -> str:
    """A one-line description of a network: its class and number of parameters."""
    return f"{type(net).__name__}, {sum(tensor.numel() for tensor in net.parameters()):,} parameters"


class Forward:
    """Evaluation of a network on rows without gradients: in the engine if :func:`value_net` created it, otherwise in PyTorch.

    The engine uses a copy of the weights. To detect an outdated copy, every call checks PyTorch's counters of in-place changes,
    which optimizers and ``load_state_dict`` increase. Call :meth:`refresh` after changing a parameter's ``data``, which PyTorch
    does not count.

    Attributes:
        net: the network, float32 [K, inputs] to [K, outputs].
    """

    def __init__(self, net: Module) -> None:
        self.net = net
        self.refresh()

    def __repr__(self) -> str:
        return f"<outputs of {network_text(self.net)}>"

    def refresh(self) -> None:
        """Refresh the copy of the weights."""
        self._tensors = list(self.net.parameters())
        self._counted, self._layers = self._changes(), layers_of(self.net)

    def __call__(self, rows: Singles, chosen: Ints | None = None) -> Singles:
        """Outputs, float32 [K, outputs], for rows, float32 [K, inputs]; with ``chosen``, int64 [n], only those rows are
        evaluated and the others are 0.

        Raises:
            ValueError: the rows have another length.
        """
        if self._changes() != self._counted:
            self.refresh()
        if chosen is None:
            chosen = np.arange(len(rows))
        if self._layers is None:
            return self._by_torch(rows, chosen)
        sizes, parameters = self._layers
        if rows.shape[1] != sizes[0]:
            raise ValueError(f"rows have {rows.shape[1]} numbers, but the network has {sizes[0]} inputs")
        outputs = np.zeros((len(rows), sizes[-1]), np.float32)
        forward(sizes, parameters, np.ascontiguousarray(rows), chosen, outputs)
        return outputs

    def _by_torch(self, rows: Singles, chosen: Ints) -> Singles:
        """Outputs of the chosen rows computed with PyTorch, float32 [K, outputs]; other rows are zero."""
        torch = torch_module()
        with torch.inference_mode():
            results = self.net(torch.from_numpy(rows[chosen])).numpy()
        outputs = np.zeros((len(rows), results.shape[1]), np.float32)
        outputs[chosen] = results
        return outputs

    def _changes(self) -> int:
        """Number of in-place changes to the weights."""
        return sum(tensor._version for tensor in self._tensors)


def layers_of(net: Module) -> tuple[Ints, Singles] | None:
    """Sizes and parameters of a network in the engine's form; None unless it has :func:`value_net`'s layers."""
    torch = torch_module()
    nn = torch.nn
    parts = list(net) if isinstance(net, nn.Sequential) else []
    linear, norms, bends = parts[::3], parts[1::3], parts[2::3]
    known = [nn.Linear, nn.LayerNorm, nn.GELU] * len(norms) + [nn.Linear]
    if (
        [type(part) for part in parts] != known
        or any(part.weight is None or part.bias is None for part in linear + norms)
        or any(norm.eps != EPSILON for norm in norms)
        or any(bend.approximate != "none" for bend in bends)
        or any(tensor.device.type != "cpu" or tensor.dtype != torch.float32 for tensor in net.parameters())
    ):
        return None
    sizes = np.array([linear[0].in_features, *(part.out_features for part in linear)], np.int64)
    groups = [[part.weight for part in linear], [part.bias for part in linear]]
    groups += [[part.weight for part in norms], [part.bias for part in norms]]
    return sizes, packed(*([tensor.detach().numpy() for tensor in group] for group in groups))
