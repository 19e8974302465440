"""Progress reports: one updating line on a terminal, log records if logging is enabled, otherwise nothing.

Long work calls :func:`tell` or runs within :func:`reporting`. Work shorter than :data:`PATIENCE_SECONDS` shows nothing.
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
"""Seconds of work before anything is shown."""
LOG_SECONDS = 10.0
"""Seconds between two log records."""
NOTEBOOK_SECONDS = 0.25
"""Seconds between two updates of a notebook's output."""
WIDE = 110
"""Smallest terminal width, in columns, that shows a progress bar."""

_listeners: list[Callable[[str], None]] = []
_lines: list["Line"] = []
_announced = False


def notify(text: str) -> None:
    """Print one line on stderr at once; safe in signal handlers and with stderr closed."""
    with suppress(OSError, ValueError, RuntimeError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def telling(say: Callable[[str], None]) -> Iterator[None]:
    """Redirect messages of :func:`tell` to ``say``; the innermost context wins."""
    _listeners.append(say)
    try:
        yield
    finally:
        _listeners.remove(say)


def tell(text: str) -> None:
    """Report the current step of long work to the innermost listener, if any."""
    if _listeners:
        _listeners[-1](text)


def tell_histories(count: int) -> None:
    """Report the number of histories visited while compiling a game."""
    tell(f"compiling the game: {count:,} histories")


def listening() -> bool:
    """Return whether :func:`tell` has a listener."""
    return bool(_listeners)


def silence() -> AbstractContextManager[None]:
    """Return a context without progress reports, as in worker processes."""
    return telling(lambda text: None)


@contextmanager
def reporting(progress: object = None, text: str = "") -> Iterator[None]:
    """Show the progress messages of the enclosed work.

    Args:
        progress: None shows progress on a terminal, in a notebook or through ``logging``. True shows it on stderr at once,
            False shows nothing. For any other value the caller shows progress itself. An existing listener takes precedence.
        text: the first message.
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
    """A destination of the progress line.

    Attributes:
        seconds: minimum time between two updates.
    """

    seconds: ClassVar[float]

    def write(self, text: str, done: float, total: float | None) -> None:
        """Replace the last message."""

    def close(self) -> None:
        """Close the output."""


class Line:
    """A progress line that appears during long work and disappears afterwards.

    On a terminal and in a notebook it is one updating line. If the logger ``treeplex`` has level INFO enabled, log records
    replace the line, except in a notebook.

    Args:
        shown: True shows it at once on stderr, False never; None on a terminal, in a notebook or in the log.
    """

    announces: bool = False
    """Whether to print a notice that kernels are being compiled if the line is not shown."""

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
        """Whether the line is shown."""
        return self._wanted

    def say(self, text: str) -> None:
        """Show a message for work of unknown length."""
        self.update(text)

    def walked(self, histories: int) -> None:
        """Show the number of histories visited while compiling a game."""
        self.update(f"compiling the game: {histories:,} histories")

    def update(self, text: str, done: float = 0.0, total: float | None = None) -> None:
        """Show a message and the completed fraction of the work."""
        self._text, self._done, self._total = text, done, total
        self._show()

    def compiling(self, now: bool) -> None:
        """Show that kernels are being compiled (``now``), or restore the previous message."""
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
    """A terminal line, with a progress bar if there is room."""

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
        """Replace the last message."""
        self._display.update(self._task, description=printable(text), completed=done, total=total)

    def close(self) -> None:
        """Remove the line."""
        self._display.stop()


class NotebookOutput:
    """An output of a notebook cell that is updated in place; needs no widgets."""

    seconds: ClassVar[float] = NOTEBOOK_SECONDS

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str, done: float, total: float | None) -> None:
        """Replace the last message."""
        from IPython.display import display

        if self._handle is None:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)

    def close(self) -> None:
        """Close the output."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


class LogOutput:
    """Progress messages as log records: logger ``treeplex``, level INFO."""

    seconds: ClassVar[float] = LOG_SECONDS

    def write(self, text: str, done: float, total: float | None) -> None:
        """Log a message."""
        if text:
            LOGGER.info("%s", text)

    def close(self) -> None:
        """Do nothing."""


def in_notebook() -> bool:
    """Return whether the code runs in a Jupyter notebook or a similar front end."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ in ("ZMQInteractiveShell", "Shell")


def on_compilation(now: bool) -> None:
    """Report that Numba has started (``now``) or finished compiling a kernel. Called by the engine.

    The innermost visible line shows the notice. Without one it is printed once per process: at once by the command line, in
    other programs only after compiling has taken long.
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
    elif not listening() and compile_times()[0] > PATIENCE_SECONDS:  # such as solvers stepped by hand
        _announced = True
        if in_notebook() or sys.stderr.isatty():
            notify(COMPILING)
        else:
            LOGGER.info(COMPILING)
