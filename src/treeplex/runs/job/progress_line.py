"""The progress line: through rich on a terminal, as one output in a notebook, and nothing where nobody looks."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Self

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TaskID, TextColumn
from rich.progress import Progress as Display

from treeplex.errors import printable
from treeplex.notices import telling
from treeplex.runs.job.record import Progress, words_of

PATIENCE_SECONDS = 1.0
NOTEBOOK_SECONDS = 0.25
"""Between two updates of a notebook's output."""
WIDE = 110
KERNELS = "the first use compiles kernels, some 15 seconds"
"""What to say before the first call of kernels, which takes long where Numba has them in no cache yet."""


class ProgressLine:
    """A line that appears when the work takes longer than a second and goes away when it is done.

    Args:
        shown: True to show it at once and wherever stderr goes, False never, None on a terminal and in a notebook only.
    """

    def __init__(self, shown: bool | None) -> None:
        console = Console(stderr=True, force_terminal=True if shown else None)
        self._notebook: Final = in_notebook()
        self._wanted: Final = shown if shown is not None else sys.stderr.isatty() or self._notebook
        columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
        if console.width >= WIDE:
            columns.append(BarColumn(16))
        self._display = Display(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        self._task: TaskID = self._display.add_task("", total=None)
        self._text, self._written, self._output = "", -NOTEBOOK_SECONDS, NotebookOutput()
        self._started = False
        self._told = telling(self.say)
        self._timer = threading.Timer(0.0 if shown else PATIENCE_SECONDS, self._start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._told.__enter__()
        if self._wanted:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._told.__exit__(kind, error, trace)
        if self._wanted:
            self._timer.cancel()
            self._timer.join()
            if self._notebook:
                self._output.clear()
            else:
                self._display.stop()

    @property
    def visible(self) -> bool:
        """Whether it is shown to anybody."""
        return self._wanted

    def say(self, text: str) -> None:
        """Show what is going on, of unknown length."""
        self._update(text)

    def walked(self, histories: int) -> None:
        """Show how far a walk over the rules has come."""
        self._update(f"compiling the game: {histories:,} histories")

    def watch(self, progress: Progress) -> None:
        """Show where a run of a solver stands."""
        done, total, budget = progress.done, progress.total, progress.numbers.get("budget")
        if budget is not None:
            done, total = min(progress.numbers["nodes"], budget), budget
        self._update(line_of(progress), done, total)

    def _start(self) -> None:
        self._started = True
        if self._notebook:
            self._output.write(self._text)
        else:
            self._display.start()

    def _update(self, text: str, done: float = 0, total: float | None = None) -> None:
        self._text = text
        if not self._notebook:
            self._display.update(self._task, description=printable(text), completed=done, total=total)
        elif self._started and (now := perf_counter()) >= self._written + NOTEBOOK_SECONDS:
            self._written = now
            self._output.write(text)


class NotebookOutput:
    """One output of a notebook's cell, which is replaced as often as one likes; needs no widgets."""

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str) -> None:
        """Show a text in place of the last one."""
        from IPython.display import display

        if self._handle is None:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)

    def clear(self) -> None:
        """Show nothing any more."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter notebook or something like it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ in ("ZMQInteractiveShell", "Shell")


@contextmanager
def line_for(progress: "Callable[[Progress], None] | ProgressLine | bool | None") -> Iterator[ProgressLine]:
    """The line to use for what a caller gave as ``progress``.

    A line that is there already stays as it is; True, False and None say whether to show a new one; a function is called in
    place of one.
    """
    if isinstance(progress, ProgressLine):
        yield progress
        return
    with ProgressLine(progress if progress is None or isinstance(progress, bool) else False) as line:
        yield line


def line_of(progress: Progress) -> str:
    """One line: algorithm, iteration, what the algorithm aims at, iterations per second, time left.

    Where histories are counted, they stand in place of the iterations asked for.
    """
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
