"""TensorBoard events of a training, where the package ``tensorboard`` is installed."""

import math
from collections.abc import Callable
from typing import Any, Protocol

from treeplex.errors import SpecError
from treeplex.learn.rebel.value_net import torch_module
from treeplex.runs.job.record import Record


class Events(Protocol):
    """Where records go besides ``metrics.jsonl``."""

    def add(self, record: Record) -> None:
        """Write a record."""

    def close(self) -> None:
        """Write what is left."""


class _Nowhere:
    """No events."""

    def add(self, record: Record) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class _TensorBoard:
    """Events by PyTorch's writer, one scalar a field, against subgames solved."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def add(self, record: Record) -> None:
        """Write the numbers that there are."""
        for name in ("loss", "policy_loss", "rate", "rows", "steps", "seconds", "cpu_seconds", "lost", "exploitability"):
            value = getattr(record, name)
            if value is not None and math.isfinite(value):
                self._writer.add_scalar(f"rebel/{name}", value, record.done)

    def close(self) -> None:
        """Close the writer."""
        self._writer.close()


def no_events() -> Events:
    """Events that go nowhere."""
    return _Nowhere()


def tensorboard() -> Callable[[str, int | None], Events]:
    """How to write events into a folder, where events of an earlier sitting from a number of subgames on count no more.

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
    return lambda folder, gone: _TensorBoard(SummaryWriter(folder, purge_step=gone))
