"""AlphaHoldem's network: two towers of convolutions that share nothing, joined for a policy and a value."""

from collections.abc import Sequence
from typing import Any

from treeplex.learn.torch.device import torch_module

Net = Any
Tensor = Any


def towers(card_shape: Sequence[int], action_shape: Sequence[int], *, channels: int, layers: int, width: int, seed: int) -> Net:
    """A fresh network, a ``torch.nn.ModuleDict``; logits and values begin near 0.

    Args:
        card_shape: planes, suits, ranks.
        action_shape: planes, rows, columns.
        channels: of each convolution.
        layers: convolutions of a tower.
        width: units of what joins them.
        seed: of its weights.
    """
    torch = torch_module()
    nn = torch.nn
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)

        def tower(shape: Sequence[int]) -> Any:
            parts, before = list[Any](), shape[0]
            for _ in range(layers):
                parts += [nn.Conv2d(before, channels, 3, padding=1), nn.ReLU()]
                before = channels
            return nn.Sequential(*parts, nn.Flatten(), nn.Linear(before * shape[1] * shape[2], width), nn.ReLU())

        net = nn.ModuleDict(
            {
                "cards": tower(card_shape),
                "actions": tower(action_shape),
                "joined": nn.Sequential(nn.Linear(2 * width, width), nn.ReLU()),
                "policy": nn.Linear(width, action_shape[2]),
                "value": nn.Linear(width, 1),
            }
        )
    with torch.no_grad():
        for head in ("policy", "value"):
            net[head].weight *= 0.01
            net[head].bias *= 0.0
    return net


def forward(net: Net, cards: Tensor, actions: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
    """The log probability of each column, float32 [B, columns], -inf where it is not on offer; and the value, float32 [B].

    Args:
        net: made by :func:`towers`.
        cards: uint8 [B, *card_shape].
        actions: uint8 [B, *action_shape].
        legal: bool [B, columns].
    """
    torch = torch_module()
    found = net["joined"](torch.cat([net["cards"](cards.float()), net["actions"](actions.float())], dim=1))
    logits = net["policy"](found).masked_fill(~legal, -torch.inf)
    return torch.log_softmax(logits, dim=1), net["value"](found)[:, 0]
