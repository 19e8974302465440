"""DeepStack's value network: a perceptron with values made zero-sum (Moravčík et al. 2017, supplement)."""

from typing import Any

from treeplex.learn.common.device import torch_module
from treeplex.learn.common.value_net import value_net

Module = Any
UNITS = ("gelu", "prelu")
"""Activations after a linear layer: layer norm and GeLU, as in :func:`treeplex.learn.common.value_net.value_net`, or PReLU."""


def fresh_net(unit: str, inputs: int, outputs: int, *, width: int, layers: int, seed: int) -> Module:
    """Create a network with one of :data:`UNITS`, float32 [n, inputs] to [n, outputs]."""
    make = value_net if unit == "gelu" else perceptron
    return make(inputs, outputs, width=width, layers=layers, seed=seed)


def perceptron(inputs: int, outputs: int, *, width: int, layers: int, seed: int) -> Module:
    """``layers`` blocks (linear, PReLU) of size ``width``, then a linear output with small initial weights."""
    torch = torch_module()
    parts: list[Any] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for layer in range(layers):
            parts += [torch.nn.Linear(width if layer else inputs, width), torch.nn.PReLU()]
        parts.append(torch.nn.Linear(width if layers else inputs, outputs))
    with torch.no_grad():
        parts[-1].weight.mul_(0.01)
        parts[-1].bias.mul_(0.01)
    return torch.nn.Sequential(*parts)


def balanced(outputs: Any, beliefs: Any) -> Any:
    """Make outputs zero-sum: subtract half the sum of both players' expected values; arrays or tensors, [n, 2H] both.

    DeepStack weights counterfactual values by ranges. Here beliefs account for card removal, so values sum to exactly zero even
    if some pairs of hands share cards.
    """
    return outputs - 0.5 * (beliefs * outputs).sum(-1)[:, None]


def situation_loss(net: Module, inputs: Any, targets: Any, met: Any, beliefs: Any) -> Any:
    """Mean Huber loss of counterfactual values as fractions of the pot, over possible hands with a compatible opposing hand."""
    values = balanced(net(inputs), beliefs)
    losses = torch_module().nn.functional.huber_loss(met * values, met * targets, reduction="none")
    counted = (met > 0).float()
    return (losses * counted).sum() / counted.sum().clamp(min=1.0)
