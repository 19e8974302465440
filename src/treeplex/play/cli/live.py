"""The live progress line on stderr."""

import sys
import threading
from contextlib import redirect_stdout
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, final

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TaskID, TextColumn
from rich.progress import Progress as Display

if TYPE_CHECKING:
    from treeplex.runs.job.record import Progress

PATIENCE_SECONDS = 1.0
WIDE = 110


@final
class Live:
    """A line that appears when the work takes longer than a second and goes away when it is done.

    Meanwhile what rules of a user's print goes to stderr, so that stdout holds results only.

    Args:
        shown: True to show it at once and wherever stderr goes, False never, None on a terminal only.
    """

    def __init__(self, shown: bool | None) -> None:
        console = Console(stderr=True, force_terminal=True if shown else None)
        self._wanted: Final = shown if shown is not None else sys.stderr.isatty()
        columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
        if console.width >= WIDE:
            columns.append(BarColumn(16))
        self._display = Display(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        self._task: TaskID = self._display.add_task("", total=None)
        self._timer = threading.Timer(0.0 if shown else PATIENCE_SECONDS, self._display.start)
        self._timer.daemon = True
        self._prints = redirect_stdout(sys.stderr)

    def __enter__(self) -> Self:
        self._prints.__enter__()
        if self._wanted:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
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
        """Show where a run of a solver stands."""
        done, total, budget = progress.done, progress.total, progress.numbers.get("budget")
        if budget is not None:
            done, total = min(progress.numbers["nodes"], budget), budget
        self._display.update(self._task, description=line_of(progress), completed=done, total=total)


def line_of(progress: "Progress") -> str:
    """One line: algorithm, iteration, what the algorithm aims at, iterations a second, time left.

    Where histories are counted, they stand in place of the iterations asked for.
    """
    from treeplex.runs.job.record import words_of

    budget = progress.numbers.get("budget")
    if budget is None:
        of = "" if progress.total is None else f"/{progress.total:,}"
        parts = [f"{progress.name}  iteration {progress.done:,}{of}"]
    else:
        share = min(1.0, progress.numbers["nodes"] / budget)
        parts = [f"{progress.name}  iteration {progress.done:,}", f"{share:.0%} of {budget:,} nodes"]
    objective = progress.numbers.get("objective", "exploitability")
    value = {**progress.numbers, **progress.numbers.get("measures", {})}.get(objective)
    if value is not None:
        parts.append(f"{words_of(objective)} {value:.2e}")
    parts.append(f"{progress.rate:,.0f} it/s" if progress.rate >= 10 else f"{progress.rate:.2g} it/s")
    if progress.seconds_left is not None:
        parts.append(f"{clock(progress.seconds_left)} left")
    return "  ".join(parts)


def clock(seconds: float) -> str:
    """A duration as 0:07, 12:30 or 3:05:00."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
