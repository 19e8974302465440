"""A run of a rule of regrets on a spot's tables: its numbers, iterations, and values of the average strategy."""

from typing import Any

from treeplex.base.arrays import Floats
from treeplex.engine.tree.learned import DiscountNetwork
from treeplex.engine.tree.regret import PREDICTED_NEGATIVE, PREDICTED_POSITIVE, PREDICTION, Weights
from treeplex.errors import SpecError
from treeplex.forms.form import RuleKind
from treeplex.learn.common.device import torch_module
from treeplex.learn.torch.kernels import Placement, Tensor
from treeplex.learn.torch.spots.passes import Answering, Improving, Numbers, State, Way, kernels, root_values
from treeplex.learn.torch.spots.tables import SpotTables

USED = [name != "floor" for name in Weights._fields]
"""The weights of an iteration that the passes read from the device."""


def supported(kind: RuleKind, needs: frozenset[str], network: DiscountNetwork | None) -> bool:
    """Whether tensors run a rule: one of regret matching that neither observes the run nor adapts its predictions."""
    return kind is RuleKind.REGRETS and network is None and not needs & {"seen", "previous", "changes"}


class TensorRun:
    """A run from the uniform policy.

    Attributes:
        tables: the spot.
        numbers: the regrets and averages.
        predicts: whether the rule predicts, so that guesses are stored separately.
        triton: whether updates are kernels of Triton.
    """

    def __init__(self, tables: SpotTables, at: Placement, *, predicts: bool, triton: bool | None = None) -> None:
        """Allocate the numbers.

        Args:
            tables: the spot.
            at: device and number type.
            predicts: whether the rule predicts.
            triton: whether updates are kernels of Triton; None if there is a GPU and Triton is installed.
        """
        self.tables, self.predicts, self._at = tables, predicts, at
        self._on_card = at.device.type == "cuda"
        self.triton = self._on_card and kernels() is not None if triton is None else triton
        self._graphs: dict[Way, Any] = {}
        torch, self.numbers = torch_module(), State()
        for street in tables.streets:
            self.numbers.append([])
            for chunk in street.chunks:
                pair = []
                for side, free in zip(street.sides, chunk.free, strict=True):
                    shape = (side.actions, *free.shape)
                    regrets, average = (torch.zeros(shape, dtype=at.dtype, device=at.device) for _ in range(2))
                    pair.append(Numbers(regrets, torch.zeros_like(regrets) if predicts else regrets, average))
                self.numbers[-1].append((pair[0], pair[1]))

    def iterate(self, rows: Floats) -> None:
        """Run one iteration per row of :class:`treeplex.engine.tree.regret.Weights`, with alternating updates.

        Raises:
            SpecError: a row predicts, but the run has no guesses.
        """
        if not self.predicts and (rows[:, [PREDICTED_POSITIVE, PREDICTED_NEGATIVE, PREDICTION]] != (1.0, 1.0, 0.0)).any():
            raise SpecError(
                "the update rule starts to predict in the middle of a run; make it predict from the first iteration"
            )
        with torch_module().inference_mode():
            weights = self._at.numbers(rows[:, USED])
            for row, named in zip(weights, rows.tolist(), strict=True):
                self._iterate(row, Way(Weights(*named).floor > 0.0, self.predicts, self.triton))

    def values(self, player: int, *, best: bool) -> Tensor:
        """Values of a player's hands at the first street's roots, [roots, B, hands], in chips times the other's reach.

        The other player follows the average strategy. So does the player, or with ``best`` it responds to it.
        """
        with torch_module().inference_mode():
            return root_values(self.tables, Answering(self.numbers, player, best=best))

    def _iterate(self, weights: Tensor, way: Way) -> None:
        """Run one iteration. On a GPU the second of a :class:`Way` is recorded and then replayed, without Python's overhead."""
        torch = torch_module()
        if not self._on_card or way not in self._graphs:
            self._graphs[way] = None
            self._improve(weights, way)
            return
        if self._graphs[way] is None:
            torch.cuda.synchronize(self._at.device)
            graph, given = torch.cuda.CUDAGraph(), weights.clone()
            with torch.cuda.graph(graph):
                self._improve(given, way)
            self._graphs[way] = graph, given
        graph, given = self._graphs[way]
        given.copy_(weights)
        graph.replay()

    def _improve(self, weights: Tensor, way: Way) -> None:
        for player in (0, 1):
            root_values(self.tables, Improving(self.numbers, player, weights, way))
