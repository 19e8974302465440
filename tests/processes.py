"""The command line as a program of its own, which no test leaves behind, and Ctrl-C."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from treeplex.run.job.record import Progress


@contextmanager
def spawned(*arguments: object, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """Start the command line with pipes for what it says, as the leader of a group that is ended whatever happens.

    Ctrl-C reaches it as from a terminal, also where whoever runs the tests ignores it.
    """
    command = [sys.executable, "-m", "treeplex.run.cli.main", *map(str, arguments)]
    options = {"env": {**os.environ, "PYTHONUNBUFFERED": "1"}} | options
    if os.name == "posix":
        options |= {"start_new_session": True, "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            if os.name == "posix":
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


def interrupt_after(count: int) -> Callable[[Progress], None]:
    """Return a progress function that sends SIGINT once a number of units are done."""
    sent: list[int] = []

    def watch(progress: Progress) -> None:
        if progress.done >= count and not sent:
            sent.append(progress.done)
            signal.raise_signal(signal.SIGINT)

    return watch
