"""Networks of infosets that rows describe, for walks by the rules; numbered ones have ``learn.neural.fitting.approximator``."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Singles
from treeplex.forms.policies.heads import masked_softmax
from treeplex.forms.policies.neural import Layers
from treeplex.forms.policies.views import View
from treeplex.learn.common.device import torch_module
from treeplex.learn.neural.fitting.approximator import POLICY, VALUES, Inputs, Network, NetworkSettings, Targets
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.fitting.outputs import layers_of
from treeplex.learn.neural.walks.row_policies import RowValues


class RowNetwork:
    """A network of values or of a policy; a row is features and which actions there are, side by side."""

    def __init__(
        self, features: int, columns: int, settings: NetworkSettings, generator: np.random.Generator, kind: str = VALUES
    ) -> None:
        self.features, self.columns = features, columns
        one = Inputs(np.zeros((1, self.features), np.float32), np.array([0, self.columns]), np.arange(self.columns))
        self.inner = Network(one, settings, generator, kind)

    @classmethod
    def of_infosets(
        cls, view: View, settings: NetworkSettings, generator: np.random.Generator, kind: str = VALUES
    ) -> "RowNetwork":
        """A network of infosets as a view has them."""
        return cls(len(view.scale), len(view.actions), settings, generator, kind)

    def values(self, rows: Singles) -> Floats:
        """The numbers of rows float32 [n, F + columns], float64 [n, columns]; of a policy its probabilities."""
        with torch_module().inference_mode():
            found = self.inner.module(torch_module().from_numpy(np.ascontiguousarray(rows[:, : self.features]))).numpy()
        return masked_softmax(found, self.legal(rows)) if self.inner.kind == POLICY else np.asarray(found, np.float64)

    def copied(self) -> RowValues:
        """Its outputs, of a policy logits, by copies of the layers."""
        return RowValues(self.features, self.layers())

    def at(self, rows: Rows) -> Floats:
        """The numbers of the rows' places, float64 as their values."""
        return self.values(rows.places)

    def legal(self, rows: Singles) -> NDArray[np.bool_]:
        """Which actions there are, bool [n, columns]."""
        return np.asarray(rows[:, self.features :] > 0.0)

    def fit(self, rows: Rows, steps: int, generator: np.random.Generator) -> float:
        """Steps of Adam toward rows, whose values are no numbers where nothing is known; the loss.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        if not rows.weights.any():
            return 0.0
        known = ~np.isnan(rows.values)
        wanted, parts = np.where(known, rows.values, np.float32(0.0)), known.astype(np.float32)
        targets = Targets(rows.places[:, : self.features], wanted, parts, self.legal(rows.places))
        shares = rows.weights.astype(np.float64)
        return self.inner.descend(targets, shares / shares.sum(), steps, generator)

    def reset(self, generator: np.random.Generator) -> None:
        """Forget everything."""
        self.inner.reset(generator)

    def layers(self) -> Layers:
        """Copies of its matrices and biases."""
        return layers_of(self.inner.module)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        return self.inner.state()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.inner.restore(arrays)
