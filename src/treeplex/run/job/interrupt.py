"""Ctrl-C and SIGTERM as requests to stop: a job stops between two steps, where its state is consistent."""

import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn, Self, final

NOTICE = "stopping after this step; again to stop at once"


class StepAbandoned(Exception):  # noqa: N818 (no error)
    """Raised to abandon a step on request; the job's state remains that before the step."""


def stop_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """Signal handler that raises KeyboardInterrupt."""
    raise KeyboardInterrupt


@final
class Interrupt:
    """While active, the first Ctrl-C or SIGTERM sets ``requested`` with a notice; the second raises KeyboardInterrupt.

    Active only in the main thread, and only for signals with their default handlers; custom handlers of a program are kept.
    """

    def __init__(self, *, wanted: bool = True) -> None:
        self.requested = False
        self._wanted: Final = wanted
        self._before: dict[int, Any] = {}
        self._depth = 0

    def __enter__(self) -> Self:
        self._depth += 1
        if self._wanted and self._depth == 1 and threading.current_thread() is threading.main_thread():
            usual = {signal.SIGINT: (signal.default_int_handler,), signal.SIGTERM: (signal.SIG_DFL, stop_at_once)}
            for number, handlers in usual.items():
                before = signal.getsignal(number)
                if before in handlers:
                    self._before[number] = before
                    signal.signal(number, self._request)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._depth -= 1
        if self._depth == 0:
            for number, before in self._before.items():
                signal.signal(number, before)
            self._before.clear()

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            stop_at_once(number, frame)
        self.requested = True
        try:
            print(("\n" if sys.stderr.isatty() else "") + NOTICE, file=sys.stderr, flush=True)
        except RuntimeError:  # the signal arrived during printing
            os.write(2, f"\n{NOTICE}\n".encode())
        except (OSError, ValueError):  # the reader is gone
            pass
