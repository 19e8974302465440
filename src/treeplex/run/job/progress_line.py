"""The progress line of jobs: where a run stands, how fast it is, and how long it goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from treeplex.base.notices import Line, listening, tell
from treeplex.run.job.record import Progress, Watcher, words_of

KERNELS = "the first use compiles kernels, some 15 seconds"
"""What to say before the first call of kernels, which takes long where Numba has them in no cache yet."""


class ProgressLine(Line):
    """A line that shows where a job stands as well."""

    def watch(self, progress: Progress) -> None:
        """Show where a run of a solver stands."""
        done, total, budget = progress.done, progress.total, progress.numbers.get("budget")
        if budget is not None:
            done, total = min(progress.numbers["nodes"], budget), budget
        self.update(line_of(progress), done, total)


class Relay(ProgressLine):
    """Hands what it is given to whoever listens already, so that there is one line only."""

    visible = True

    def update(self, text: str, done: float = 0.0, total: float | None = None) -> None:
        """Tell it."""
        tell(text)


AnyProgress: TypeAlias = Watcher | ProgressLine | bool | None
"""How to show progress: None where a person looks (one line on a terminal or in a notebook, ``logging`` at level INFO in
scripts), True for a line on stderr at once, False for none; a function is called with a
:class:`treeplex.run.job.record.Progress` instead."""


@contextmanager
def line_for(progress: AnyProgress) -> Iterator[ProgressLine]:
    """The line to use for what a caller gave as ``progress``.

    A line that is there already stays as it is; True, False and None say whether to show a new one; a function is called in
    place of one.
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
    """What to call with where a job stands: the function given, or one that shows it as ``progress`` says, after ``text``."""
    if callable(progress):
        yield progress
    else:
        with line_for(progress) as line:
            line.say(text)
            yield line.watch


def line_of(progress: Progress) -> str:
    """One line: algorithm, iteration, what the algorithm aims at, iterations per second, time left.

    Where histories are counted, they stand in place of the iterations asked for.
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
    """A duration as 0:07, 12:30 or 3:05:00."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
