"""Sittings of trainings: from a start, or from where a checkpoint stands, to the end or Ctrl-C."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar

from treeplex.errors import AlgorithmError, FileError
from treeplex.learn.rebel.value_net import torch_module
from treeplex.runs.job.checkpoint import Arrays, Checkpoint
from treeplex.runs.job.folder import METRICS, STATE, AnyRecord, CheckpointFolder
from treeplex.runs.job.interrupt import Interrupt

CHECKPOINT_SECONDS, RECORD_SECONDS = 40.0, 5.0
AnyRun = TypeVar("AnyRun")


@dataclass(frozen=True)
class Trained(Generic[AnyRun, AnyRecord]):
    """A training as it ended.

    Attributes:
        run: what was asked for.
        records: the records.
        status: ``finished`` or ``interrupted``.
        folder: where it is.
    """

    run: AnyRun
    records: tuple[AnyRecord, ...]
    status: str
    folder: Path


class UnderWay(Protocol):
    """What :func:`iterate` asks of a training."""

    saved_at: float

    @property
    def records(self) -> Sequence[object]:
        """The records so far."""

    @property
    def finished(self) -> bool:
        """Whether all that was asked for is done."""

    def round(self) -> None:
        """Train a little."""

    def record(self) -> None:
        """Write down where the training stands."""

    def save(self, status: str) -> None:
        """Write a checkpoint."""


def iterate(sitting: UnderWay, interrupt: Interrupt, tell: Callable[[], None]) -> str:
    """Train until the end or Ctrl-C; return which. ``tell`` is called after each round."""
    if not sitting.records:
        sitting.record()
    recorded = perf_counter()
    while not sitting.finished:
        if interrupt.requested:
            return "interrupted"
        sitting.round()
        now = perf_counter()
        if now - recorded >= RECORD_SECONDS:
            sitting.record()
            recorded = perf_counter()
        if now - sitting.saved_at >= CHECKPOINT_SECONDS:
            sitting.save("running")
        tell()
    return "finished"


def stopped_by(error: AlgorithmError, folder: CheckpointFolder[Any], what: str) -> AlgorithmError:
    """What to say when a training cannot go on: the last good checkpoint, counted in ``what``, stays as it is."""
    if not (folder.path / STATE).exists():
        return AlgorithmError(f"{error}; there is no checkpoint yet, so start again with --force")
    return AlgorithmError(f"{error}; {folder.path} has a checkpoint at {folder.state().iteration:,} {what}")


def restored(
    folder: CheckpointFolder[AnyRecord],
    checkpoint: Checkpoint,
    restore: Callable[[Arrays], None],
    done: Callable[[AnyRecord], int],
) -> tuple[list[AnyRecord], float]:
    """Put a trainer where a checkpoint stands, and ``metrics.jsonl`` as well.

    Args:
        folder: where the training is.
        checkpoint: its last one.
        restore: takes the trainer there.
        done: how far the training was at a record, in the checkpoint's iterations.

    Returns:
        The records until then, and the processor time.

    Raises:
        FileError: the checkpoint or the records are not of this training.
    """
    try:
        restore(checkpoint.arrays)
        cpu_seconds = float(checkpoint.arrays["time"][0])
    except (FileError, KeyError, IndexError) as error:
        raise FileError(f"{folder.path / STATE}: {error}") from error
    found = folder.records()
    records = [record for record in found if done(record) <= checkpoint.iteration]
    if not records and found:
        raise FileError(f"{folder.path / METRICS}: not the records of this training; put back a copy")
    folder.rewrite(records)
    return records, cpu_seconds


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch with one thread: these networks are small, and the cores are for self-play."""
    torch = torch_module()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
