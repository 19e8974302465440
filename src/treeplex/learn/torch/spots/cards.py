"""Folds and showdowns of all boards at once, as products with matrices of the entries -1, 0 and 1.

A showdown is a product with the matrix of which hand beats which on a board. This takes more arithmetic than the engine's
sweep by strength but runs on a GPU's matrix units. There the matrices have bfloat16 entries, which are exact, and a number
is split into the sum of two bfloat16 numbers, which keeps 16 of its 24 bits; products are summed in float32. A fold sums over
all hands and for each card.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.learn.common.device import torch_module
from treeplex.learn.torch.kernels import Placement, Tensor

CARDS = 52


class Matrices:
    """Products with matrices whose entries are -1, 0 and 1.

    Attributes:
        kind: the entries' type: bfloat16 on a GPU with float32 numbers, otherwise the numbers' own type.
    """

    def __init__(self, at: Placement) -> None:
        torch = torch_module()
        self.at = at
        self.split = at.device.type == "cuda" and at.dtype == torch.float32
        self.kind: Any = torch.bfloat16 if self.split else at.dtype

    def of(self, array: NDArray[Any]) -> Tensor:
        """Copy a matrix to the device."""
        return torch_module().tensor(array, dtype=torch_module().float32).to(device=self.at.device, dtype=self.kind)

    def product(self, rows: Tensor, matrix: Tensor) -> Tensor:
        """``rows @ matrix`` for [..., n, k] and [k, m], or [B, n, k] and [B, k, m]."""
        if not self.split:
            return rows @ matrix
        torch = torch_module()
        high = rows.bfloat16()
        low = (rows - high).bfloat16()
        both = torch.cat((high, low), dim=-2)
        if matrix.dim() == 3:
            out = torch.bmm(both, matrix, out_dtype=torch.float32)
        else:
            out = torch.mm(both.flatten(0, -2), matrix, out_dtype=torch.float32).view(*both.shape[:-1], -1)
        count = rows.shape[-2]
        return out[..., :count, :] + out[..., count:, :]


@dataclass(frozen=True, eq=False)
class Folds:
    """The opposing reach that shares no card with a hand, for one player with n hands against the other with m.

    Attributes:
        matrices: how products are computed.
        gathered: [m, 53], the cards of each opposing hand, and a column of ones.
        spread: [53, n], minus the cards of each own hand, and a row of ones.
        twins: int64 [n], the position of the same hand among the other's; None if both have the same hands.
        paired: [n], 1 if the other player can hold the same hand, 0 otherwise; None likewise, or if hands have one card.
    """

    matrices: Matrices
    gathered: Tensor
    spread: Tensor
    twins: Tensor | None
    paired: Tensor | None
    single: bool

    @classmethod
    def of(cls, own: NDArray[Any], other: NDArray[Any], matrices: Matrices) -> "Folds":
        """Create the operator from the cards of both players' hands, [n, hole] and [m, hole]."""
        held = [(hands[:, :, None] == np.arange(CARDS)).any(axis=1).astype(np.float64) for hands in (own, other)]
        gathered = np.concatenate((held[1], np.ones((len(other), 1))), axis=1)
        spread = np.concatenate((-held[0].T, np.ones((1, len(own)))))
        single = own.shape[1] == 1
        numbers = {tuple(sorted(hand)): k for k, hand in enumerate(other.tolist())}
        twins = np.array([numbers.get(tuple(sorted(hand)), -1) for hand in own.tolist()], np.int64)
        alike = len(own) == len(other) and bool((twins == np.arange(len(own))).all())
        at = matrices.at
        return cls(
            matrices,
            matrices.of(gathered),
            matrices.of(spread),
            None if alike or single else at.places(np.maximum(twins, 0)),
            None if alike or single else at.numbers((twins >= 0).astype(np.float64)),
            single,
        )

    def met(self, reach: Tensor) -> Tensor:
        """Compatible reach, [T, B, n], from the other's reach, [T, B, m]."""
        product = self.matrices.product
        met = product(product(reach, self.gathered), self.spread)
        if self.single:
            return met
        if self.twins is None:
            return met.add_(reach)
        assert self.paired is not None
        return met.add_(reach.index_select(2, self.twins).mul_(self.paired))


@dataclass(frozen=True, eq=False)
class Strengths:
    """The strength of both players' hands on complete boards.

    Attributes:
        matrices: how products are computed.
        ranks: for each player, float [B, hands], strength on each board, ascending; any number for blocked hands.
        apart: [hands, hands], 1 for hands of both players that share no card, otherwise 0.
        edges: the matrices of :meth:`edge` of all boards; None to compute them whenever they are needed.
    """

    matrices: Matrices
    ranks: tuple[Tensor, Tensor]
    apart: Tensor
    edges: Tensor | None = None

    def edge(self, boards: slice) -> Tensor:
        """Matrices [B, hands, hands]: 1 if player 0's hand beats player 1's, -1 if it loses, 0 for ties and shared cards."""
        if self.edges is not None:
            return self.edges[boards]
        first, second = (ranks[boards] for ranks in self.ranks)
        return (first[:, :, None] - second[:, None]).sign_().to(self.matrices.kind).mul_(self.apart)

    def compared(self, reach: Tensor, player: int, edge: Tensor) -> Tensor:
        """The product of the other player's reach, [T, B, m], with the player's side of the matrices, [B, T, n]."""
        matrix = edge.transpose(1, 2) if player == 0 else edge
        return self.matrices.product(reach.transpose(0, 1), matrix)
