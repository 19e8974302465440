"""The progress line of jobs: progress, speed and time left."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from treeplex.base.notices import Line, listening, tell
from treeplex.run.job.record import Progress, Watcher, words_of

KERNELS = "compiling kernels on first use, about 15 seconds"
"""Notice before the first kernel call, which is slow if kernels are not cached."""


class ProgressLine(Line):
    """A progress line that also shows the progress of a job."""

    def watch(self, progress: Progress) -> None:
        """Show the progress of a job."""
        done, total, budget = progress.done, progress.total, progress.numbers.get("budget")
        if budget is not None:
            done, total = min(progress.numbers["nodes"], budget), budget
        self.update(line_of(progress), done, total)


class Relay(ProgressLine):
    """Forwards messages to an existing listener, so that only one line is shown."""

    visible = True

    def update(self, text: str, done: float = 0.0, total: float | None = None) -> None:
        """Forward a message."""
        tell(text)


AnyProgress: TypeAlias = Watcher | ProgressLine | bool | None
"""How to show progress: None for automatic (one line on a terminal or in a notebook, ``logging`` at level INFO in
scripts), True for a line on stderr at once, False for none; a function is called with a
:class:`treeplex.run.job.record.Progress` instead."""


@contextmanager
def line_for(progress: AnyProgress) -> Iterator[ProgressLine]:
    """Return the progress line for the argument ``progress``.

    An existing line is reused. True, False and None decide whether to show a new one; a function replaces the line.
    """
    if isinstance(progress, ProgressLine):
        yield progress
        return
    if progress is None and listening():
        yield Relay(False)
        return
    with ProgressLine(progress if progress is None or isinstance(progress, bool) else False) as line:
        yield line


@contextmanager
def watcher_for(progress: AnyProgress, text: str) -> Iterator[Watcher]:
    """Return the function to call with progress: the given one, or one that updates a progress line."""
    if callable(progress):
        yield progress
    else:
        with line_for(progress) as line:
            line.say(text)
            yield line.watch


def line_of(progress: Progress) -> str:
    """Format a progress line: algorithm, iteration, objective, iterations per second, time left.

    With a limit of nodes, the share of nodes replaces the total of iterations.
    """
    budget = progress.numbers.get("budget")
    unit, short = ("iteration", "it") if progress.unit == "iterations" else (progress.unit, progress.unit)
    if budget is None:
        of = "" if progress.total is None else f"/{progress.total:,}"
        parts = [f"{progress.name}  {unit} {progress.done:,}{of}"]
    else:
        share = min(1.0, progress.numbers["nodes"] / budget)
        parts = [f"{progress.name}  iteration {progress.done:,}", f"{share:.0%} of {budget:,} nodes"]
    objective = progress.numbers.get("objective", "exploitability")
    value = {**progress.numbers, **progress.numbers.get("measures", {})}.get(objective)
    if isinstance(value, float):
        parts.append(f"{words_of(objective)} {value:.2e}")
    parts.append(f"{progress.rate:,.0f} {short}/s" if progress.rate >= 10 else f"{progress.rate:.2g} {short}/s")
    if progress.seconds_left is not None:
        parts.append(f"{clock(progress.seconds_left)} left")
    return "  ".join(parts)


def clock(seconds: float) -> str:
    """Format a duration as 0:07, 12:30 or 3:05:00."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
