"""TensorBoard events for a training run; requires the package ``tensorboard``."""

import math
from collections.abc import Callable
from typing import Any, final

from treeplex.errors import SpecError
from treeplex.learn.common.device import torch_module
from treeplex.run.job.record import Record


@final
class Events:
    """Writes each number of a record as a TensorBoard scalar against training progress."""

    def __init__(self, writer: Any, learner: str) -> None:
        self._writer, self._learner = writer, learner

    def add(self, record: Record) -> None:
        """Write a record's numbers that are not None."""
        for name, value in record.plain().items():
            if name != "done" and isinstance(value, int | float) and math.isfinite(value):
                self._writer.add_scalar(f"{self._learner}/{name}", value, record.done)

    def close(self) -> None:
        """Close the writer."""
        self._writer.close()


def tensorboard_events() -> Callable[[str, int | None, str], Events]:
    """A factory of event writers for a folder; each writer discards an earlier session's events after a given point.

    Raises:
        SpecError: the package is not installed.
    """
    torch_module()
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise SpecError(
            "TensorBoard is not installed; run pip install tensorboard, or leave --tensorboard out, since "
            "metrics.jsonl has the same numbers"
        ) from error
    return lambda folder, gone, learner: Events(SummaryWriter(folder, purge_step=gone), learner)
