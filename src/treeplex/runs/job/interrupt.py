"""Ctrl-C and SIGTERM as requests: a run stops between two iterations, where its state is whole."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Final, Self, final

from treeplex.notices import notify


@final
class Interrupt:
    """While active, the first Ctrl-C or SIGTERM sets ``requested`` and says so; the second raises KeyboardInterrupt.

    Active only in the main thread. A signal for which the program has a handler of its own keeps it.
    """

    def __init__(self, *, wanted: bool = True) -> None:
        """Not active yet; without ``wanted`` it never becomes active, and somebody else sets ``requested``."""
        self.requested = False
        self._wanted: Final = wanted
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if self._wanted and threading.current_thread() is threading.main_thread():
            for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
                if signal.getsignal(number) is usual:
                    self._before[number] = usual
                    signal.signal(number, self._request)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        notify("stopping after this iteration; press Ctrl-C again to stop at once")
