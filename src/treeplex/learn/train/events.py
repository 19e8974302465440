"""TensorBoard events of a training, where the package ``tensorboard`` is installed."""

import math
from collections.abc import Callable
from typing import Any, final

from treeplex.errors import SpecError
from treeplex.learn.common.device import torch_module
from treeplex.run.job.record import Record


@final
class Events:
    """Events by PyTorch's writer, one scalar for each number of a record, against how far the training is."""

    def __init__(self, writer: Any, learner: str) -> None:
        self._writer, self._learner = writer, learner

    def add(self, record: Record) -> None:
        """Write the numbers that there are."""
        for name, value in record.plain().items():
            if name != "done" and isinstance(value, int | float) and math.isfinite(value):
                self._writer.add_scalar(f"{self._learner}/{name}", value, record.done)

    def close(self) -> None:
        """Close the writer."""
        self._writer.close()


def tensorboard_events() -> Callable[[str, int | None, str], Events]:
    """How to write events into a folder, where events of an earlier session from a number of units on count no more.

    Raises:
        SpecError: the package is not installed.
    """
    torch_module()
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise SpecError(
            "TensorBoard events need the package: pip install tensorboard, or leave --tensorboard out; metrics.jsonl has the "
            "same numbers"
        ) from error
    return lambda folder, gone, learner: Events(SummaryWriter(folder, purge_step=gone), learner)
