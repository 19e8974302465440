"""The live progress line on stderr."""

import sys
import threading
from contextlib import redirect_stdout
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, final

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TaskID, TextColumn
from rich.progress import Progress as Display

from treeplex.notices import compilation_announced

if TYPE_CHECKING:
    from treeplex.runs.record import Progress

PATIENCE_SECONDS = 1.0
WIDE = 110


@final
class Live:
    """A line that appears when the work takes longer than a second and goes away when it is done.

    Meanwhile what rules of a user's print goes to stderr, so that stdout holds results only. That kernels are being compiled is
    said on stderr even where the line is not shown, unless ``shown`` is False.

    Args:
        shown: True to show it at once and wherever stderr goes, False never, None on a terminal only.
    """

    def __init__(self, shown: bool | None) -> None:
        console = Console(stderr=True, force_terminal=True if shown else None)
        self._wanted: Final = shown if shown is not None else sys.stderr.isatty()
        columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
        if console.width >= WIDE:
            columns.append(BarColumn(16))
        self._display = Display(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=True)
        self._task: TaskID = self._display.add_task("", total=None)
        self._timer = threading.Timer(0.0 if shown else PATIENCE_SECONDS, self._display.start)
        self._timer.daemon = True
        self._prints = redirect_stdout(sys.stderr)
        self._announced = compilation_announced(shown is not False)

    def __enter__(self) -> Self:
        self._prints.__enter__()
        self._announced.__enter__()
        if self._wanted:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._announced.__exit__(kind, error, trace)
        self._prints.__exit__(kind, error, trace)
        if self._wanted:
            self._timer.cancel()
            self._timer.join()
            self._display.stop()

    def say(self, text: str) -> None:
        """Show what is going on, of unknown length."""
        self._display.update(self._task, description=text, total=None)

    def walked(self, histories: int) -> None:
        """Show how far a walk over the rules has come."""
        self._display.update(self._task, description=f"walking the rules: {histories:,} histories", total=None)

    def watch(self, progress: "Progress") -> None:
        """Show where a run stands."""
        done, total = progress.iteration, counted_iterations(progress)
        if progress.budget is not None:
            done, total = min(progress.nodes, progress.budget), progress.budget
        self._display.update(self._task, description=line_of(progress), completed=done, total=total)


def line_of(progress: "Progress") -> str:
    """One line: algorithm, iteration, what the algorithm aims at, iterations a second, time left.

    Where histories are counted, they stand in place of the iterations asked for.
    """
    if progress.budget is None:
        total = counted_iterations(progress)
        of = "" if total is None else f"/{total:,}"
        parts = [f"{progress.algorithm}  iteration {progress.iteration:,}{of}"]
    else:
        share = min(1.0, progress.nodes / progress.budget)
        parts = [f"{progress.algorithm}  iteration {progress.iteration:,}", f"{share:.0%} of {progress.budget:,} nodes"]
    if progress.objective is not None:
        from treeplex.runs.record import words_of

        name, value = progress.objective
        parts.append(f"{words_of(name)} {value:.2e}")
    elif progress.exploitability is not None:
        parts.append(f"exploitability {progress.exploitability:.2e}")
    parts.append(f"{progress.rate:,.0f} it/s" if progress.rate >= 10 else f"{progress.rate:.2g} it/s")
    if progress.seconds_left is not None:
        parts.append(f"{clock(progress.seconds_left)} left")
    return "  ".join(parts)


def counted_iterations(progress: "Progress") -> int | None:
    """The iterations asked for; None where something else stops the run."""
    from treeplex.runs.record import UNCOUNTED_ITERATIONS

    return progress.iterations if progress.iterations < UNCOUNTED_ITERATIONS else None


def clock(seconds: float) -> str:
    """A duration as 0:07, 12:30 or 3:05:00."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
