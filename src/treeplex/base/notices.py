"""Progress reports: one updating line on terminals, log records in scripts, else nothing.

Work calls :func:`tell`, or is called within :func:`reporting`; what takes less than :data:`PATIENCE_SECONDS` shows nothing.
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from time import perf_counter
from types import TracebackType
from typing import Any, ClassVar, Final, Protocol, Self

from treeplex.base.work_clock import compile_times
from treeplex.errors import printable

LOGGER = logging.getLogger("treeplex")
LOGGER.addHandler(logging.NullHandler())

COMPILING = "compiling kernels (once; up to a minute)"
PATIENCE_SECONDS = 2.0
"""Work that takes less shows nothing."""
LOG_SECONDS = 10.0
"""Between two log records."""
NOTEBOOK_SECONDS = 0.25
"""Between two updates of a notebook's output."""
WIDE = 110
"""Columns of a terminal from which on there is a bar."""

_listeners: list[Callable[[str], None]] = []
_lines: list["Line"] = []
_announced = False


def notify(text: str) -> None:
    """Print one line on stderr at once; safe in signal handlers and with stderr closed."""
    with suppress(OSError, ValueError, RuntimeError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def telling(say: Callable[[str], None]) -> Iterator[None]:
    """Redirect texts of :func:`tell` to ``say``; the innermost context wins."""
    _listeners.append(say)
    try:
        yield
    finally:
        _listeners.remove(say)


def tell(text: str) -> None:
    """Say what long work is at, if anybody listens."""
    if _listeners:
        _listeners[-1](text)


def tell_histories(count: int) -> None:
    """Say how far a walk over the rules of a game has come."""
    tell(f"compiling the game: {count:,} histories")


def listening() -> bool:
    """Whether somebody listens to :func:`tell`."""
    return bool(_listeners)


def silence() -> AbstractContextManager[None]:
    """A context in which nothing is reported, as in worker processes."""
    return telling(lambda text: None)


@contextmanager
def reporting(progress: object = None, text: str = "") -> Iterator[None]:
    """Report what the work within tells.

    Args:
        progress: None to show it where a person looks or where ``logging`` is on, True to show it on stderr at once, False
            to show nothing; anything else is shown by whoever gave it. Where somebody listens already, that is enough.
        text: what the work is, to begin with.
    """
    if progress is not None and not isinstance(progress, bool):
        yield
    elif listening() and progress is not False:
        tell(text)
        yield
    else:
        with Line(progress) as line:
            line.say(text)
            yield


class Output(Protocol):
    """Where a line is shown.

    Attributes:
        seconds: the least time between two texts.
    """

    seconds: ClassVar[float]

    def write(self, text: str, done: float, total: float | None) -> None:
        """Show a text in place of the last one."""

    def close(self) -> None:
        """Show nothing any more."""


class Line:
    """A line about what is going on, which appears when that takes long and goes away when it is done.

    On a terminal and in a notebook it is one line that is updated. Where ``logging`` lets records of the logger ``treeplex``
    at level INFO through, these take its place, but in a notebook.

    Args:
        shown: True to show it at once and wherever stderr goes, False never, None where a person looks or records are wanted.
    """

    announces: bool = False
    """Whether to print that kernels are compiled where the line is not shown."""

    def __init__(self, shown: bool | None = None) -> None:
        notebook = in_notebook()
        logs = not notebook and LOGGER.isEnabledFor(logging.INFO)
        self._wanted: Final = (notebook or logs or sys.stderr.isatty()) if shown is None else shown
        make: Callable[[], Output] = LogOutput if logs and shown is None else partial(TerminalOutput, shown)
        self._make = NotebookOutput if notebook else make
        self._output: Output | None = None
        self._text, self._done = "", 0.0
        self._total: float | None = None
        self._compiling, self._written = False, 0.0
        self._timer = None if shown or not self._wanted else threading.Timer(PATIENCE_SECONDS, self._start)
        self._told = telling(self.say)

    def __enter__(self) -> Self:
        self._told.__enter__()
        _lines.append(self)
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        elif self._wanted:
            self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _lines.remove(self)
        self._told.__exit__(kind, error, trace)
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._output is not None:
            self._output.close()

    @property
    def visible(self) -> bool:
        """Whether it is shown to anybody."""
        return self._wanted

    def say(self, text: str) -> None:
        """Show what is going on, of unknown length."""
        self.update(text)

    def walked(self, histories: int) -> None:
        """Show how far a walk over the rules has come."""
        self.update(f"compiling the game: {histories:,} histories")

    def update(self, text: str, done: float = 0.0, total: float | None = None) -> None:
        """Show a text, and how much of a total is done."""
        self._text, self._done, self._total = text, done, total
        self._show()

    def compiling(self, now: bool) -> None:
        """Show that kernels are compiled, and then again what was shown before."""
        self._compiling = now
        self._show()

    def _start(self) -> None:
        self._output = self._make()
        self._show(at_once=True)

    def _show(self, *, at_once: bool = False) -> None:
        output, now = self._output, perf_counter()
        if output is not None and (at_once or now >= self._written + output.seconds):
            self._written = now
            output.write(COMPILING if self._compiling else self._text, self._done, self._total)


class TerminalOutput:
    """A line of a terminal, with a bar where there is room."""

    seconds: ClassVar[float] = 0.0

    def __init__(self, shown: bool | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn

        console = Console(stderr=True, force_terminal=True if shown else None)
        columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
        if console.width >= WIDE:
            columns.append(BarColumn(16))
        self._display = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        self._task = self._display.add_task("", total=None)
        self._display.start()

    def write(self, text: str, done: float, total: float | None) -> None:
        """Show a text in place of the last one."""
        self._display.update(self._task, description=printable(text), completed=done, total=total)

    def close(self) -> None:
        """Remove the line."""
        self._display.stop()


class NotebookOutput:
    """One output of a notebook's cell, which is replaced as often as one likes; needs no widgets."""

    seconds: ClassVar[float] = NOTEBOOK_SECONDS

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str, done: float, total: float | None) -> None:
        """Show a text in place of the last one."""
        from IPython.display import display

        if self._handle is None:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)

    def close(self) -> None:
        """Show nothing any more."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


class LogOutput:
    """Records of the logger ``treeplex``, at level INFO."""

    seconds: ClassVar[float] = LOG_SECONDS

    def write(self, text: str, done: float, total: float | None) -> None:
        """Log a text."""
        if text:
            LOGGER.info("%s", text)

    def close(self) -> None:
        """Nothing."""


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter notebook or something like it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ in ("ZMQInteractiveShell", "Shell")


def on_compilation(now: bool) -> None:
    """Report that Numba begins to compile a kernel, or has ended; called by the engine.

    The innermost line that is shown says so. Where none is, it is said once per process: by the command line at once, without
    any line once compiling has taken long.
    """
    global _announced
    line = next((line for line in reversed(_lines) if line.visible), None)
    if line is not None:
        line.compiling(now)
    elif _announced:
        return
    elif _lines and _lines[0].announces:
        _announced = True
        notify(COMPILING)
    elif not listening() and compile_times()[0] > PATIENCE_SECONDS:  # solvers stepped by hand, say
        _announced = True
        if in_notebook() or sys.stderr.isatty():
            notify(COMPILING)
        else:
            LOGGER.info(COMPILING)
