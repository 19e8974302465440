"""AlphaHoldem's network: two separate convolutional towers, joined for a policy and a value."""

from collections.abc import Sequence
from typing import Any

from treeplex.learn.alphaholdem.net import Net, Tensor
from treeplex.learn.common.device import torch_module


class Towers(Net):
    """The two-tower network; its initial logits and values are close to 0."""

    def __init__(
        self, card_shape: Sequence[int], action_shape: Sequence[int], *, channels: int, layers: int, width: int, seed: int
    ) -> None:
        """Initialise with random weights.

        Args:
            card_shape: planes, suits, ranks.
            action_shape: planes, rows, columns.
            channels: channels per convolution.
            layers: convolutions per tower.
            width: units of the layer that joins the towers.
            seed: seed of the weights.
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

            module = nn.ModuleDict(
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
                module[head].weight *= 0.01
                module[head].bias *= 0.0
        super().__init__(module)

    def outputs(self, cards: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        net, torch = self.module, torch_module()
        joined = net["joined"](torch.cat([net["cards"](cards.float()), net["actions"](actions.float())], dim=1))
        return net["policy"](joined), net["value"](joined)
